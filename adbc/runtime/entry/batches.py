"""The way in for batches of tangents: `jvp` and forward rules of a given width.

From outside a batch has the structure of a tangent with one more axis in front: an array of shape ``(N,)`` for
a number, of shape ``(N, *S)`` for an array of shape S.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import ArgumentError, BatchError, InvalidTangentError
from adbc.runtime.entry.constants import constant_arguments, hold_constants
from adbc.runtime.entry.described import lists_in
from adbc.runtime.entry.entering import enter
from adbc.runtime.entry.results import pair
from adbc.runtime.report.messages import describe
from adbc.runtime.state.batches import memo_of, of_width
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_TANGENT, Const, Dual, MutableTangent, Tangent, zero_tangent
from adbc.tangents.array_batches import BatchedArray, BatchedNumber, install
from adbc.tangents.fit import as_numbers, misfit
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of
from adbc.tangents.scalars import ScalarKind
from adbc.tangents.walk import STRUCTURES

__all__ = ["check_width", "dual_call", "rule_call", "value_and_tangents"]


def value_and_tangents(
    engine: EngineView,
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    width: int,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """``f(*primals)``, called once, and its derivatives in the `width` directions `tangents`; with `has_aux`
    also what `f` returns besides."""
    check_width(width)
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"jvp needs one tangent per argument: {len(primals)} arguments, {len(tangents)} tangents"
        )
    out, whole = dual_call(engine, f, None, primals, tangents, width)
    found = _Giving(width).give(whole)
    if not has_aux:
        return out, found
    value, aux = pair(f, out)
    if found is NO_TANGENT:
        return value, _Giving(width).give(zero_tangent(value, memo_of(width))), aux
    return value, found[0], aux


def check_width(width: Any) -> None:
    """Raise `ArgumentError` if `width` is no width of a batch."""
    if type(width) is bool or not isinstance(width, int) or width < 1:
        raise ArgumentError(f"the width of a batch of tangents is a number from 1 on, not {width!r}")


def dual_call(
    engine: EngineView,
    f: Callable[..., Any],
    df: Any,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    width: int,
    names: tuple[str, ...] = (),
    taking: _Taking | None = None,
) -> tuple[Any, Any]:
    """The value of ``f(*primals)``, of which the last have `names`, and its batch of tangents, as it is
    inside.  `df` is the batch of tangents of `f` itself, None if that has none."""
    install()
    context = Context()
    context.is_forward = True
    context.shadows.start_with(memo_of(width))
    for i, (x, t) in enumerate(zip(primals, tangents, strict=True)):
        if type(x) is Const and t is not None and t is not NO_TANGENT:
            raise InvalidTangentError(
                f"argument {i} is declared adbc.Const, so it has no tangent: give None, not {t!r:.60}"
            )
    f, *primals = hold_constants(context, (f, *primals))
    given = [None if t is NO_TANGENT else t for t in tangents]
    taking = _Taking(width) if taking is None else taking
    directions: list[Any] = []
    if df is not None and df is not NO_TANGENT:
        taking.take(context, f, df, "the function")
    for i, (x, t) in enumerate(zip(primals, given, strict=True)):
        what = f"argument {i} of {describe(f)}"
        directions.append(None if t is None else taking.take(context, x, t, what))
    taking.check()
    nothing = {i for i, t in enumerate(given) if t is None}
    constants = constant_arguments(engine, context, f, primals, names, nothing)
    for i, x in enumerate(primals):
        if i in nothing and i not in constants:
            directions[i] = context.known_tangent(x)
    call = engine.forward_calls.call_from_outside
    shadow = context.known_tangent(f)
    with of_width(width):
        out, dout = enter(
            call, context, names, f, shadow, tuple(primals), tuple(directions), lists_in(primals)
        )
        return out, zero_tangent(out, memo_of(width)) if dout is None else as_numbers(out, dout)


def rule_call(
    engine: EngineView, duals: Sequence[Dual], names: tuple[str, ...], width: int
) -> Dual:
    """What a forward rule of this width gives for the dual numbers of a function and its arguments, the last
    of which have `names`: their tangents are changed as the arguments are."""
    f, *others = duals
    taking = _Taking(width)
    out, whole = dual_call(
        engine,
        f.primal,
        f.tangent,
        [d.primal for d in others],
        [d.tangent for d in others],
        width,
        names,
        taking,
    )
    giving = _Giving(width)
    for inside, t in taking.objects:
        giving.known[id(inside)] = t
    for inside, t in taking.written:
        giving.known[id(inside)] = t
        t[...] = inside.data
    found = giving.give(whole)
    for inside, _ in taking.objects:
        giving.fill(inside)
    return Dual(out, found)


class _Taking:
    """Takes batches from outside: makes the tangents of arguments, zeros of one memo, and fills them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.seen: dict[int, tuple[Any, Any]] = {}
        self.objects: list[tuple[Any, Any]] = []
        """Lists, dicts and the like, inside and outside."""
        self.written: list[tuple[BatchedArray, Any]] = []

    def take(self, context: Context, x: Any, t: Any, what: str) -> Any:
        """The tangent of `x`, which is given as `t`."""
        problem = misfit(x, self._first(t, what), context.shadows.is_constant)
        if problem is not None:
            raise InvalidTangentError(f"this is not a batch of tangents of {what}: in each lane, {problem}")
        return self._filled(x, t, context.shadows.tangent(x))

    def _first(self, t: Any, what: str) -> Any:
        """The first lane of `t`."""
        cls = type(t)
        if isinstance(t, np.ndarray):
            if not t.ndim or len(t) != self.width:
                found = f"of shape {t.shape}" if not t.ndim else f"of {len(t)}"
                raise InvalidTangentError(
                    f"the tangents of {what} are a batch {found}, but the width is {self.width}: the first axis"
                    " of each array in them is that of the tangents"
                )
            return t[0] if t.ndim > 1 else t[0].item() if t.dtype.kind in "iu" else t[0]
        if cls is tuple or cls is list:
            return cls([self._first(part, what) for part in t])
        if cls is dict:
            return {key: self._first(part, what) for key, part in t.items()}
        if cls is Tangent:
            return Tangent(**{key: self._first(part, what) for key, part in t.__dict__.items()})
        if cls is MutableTangent:
            made = MutableTangent()
            made.__dict__.update({key: self._first(part, what) for key, part in t.__dict__.items()})
            return made
        if t is NO_TANGENT or t is None:
            return t
        raise InvalidTangentError(
            f"the tangents of {what} are a {cls.__name__}, but a batch of {self.width} is an array of"
            f" that length, or has such arrays in it"
        )

    def _filled(self, x: Any, t: Any, zero: Any) -> Any:
        """`zero`, the tangent of `x`, with the numbers of `t`."""
        if t is NO_TANGENT or t is None or zero is NO_TANGENT:
            return zero
        kind = kind_of(type(x))
        if isinstance(kind, ScalarKind):
            return BatchedNumber(np.array(t)).as_number(kind.tangent, kind.is_complex)
        if isinstance(zero, BatchedArray):
            zero.data[...] = t
            self.written.append((zero, t))
            return zero
        if isinstance(kind, ValueKind):
            return kind.join(x, [(k, self._filled(c, kind.part(t, k), kind.part(zero, k))) for k, c in kind.parts(x)])
        if isinstance(kind, AddressKind):
            known = self.seen.get(id(x))
            if known is not None:
                if known[1] is not t:
                    raise _several()
                return zero
            self.seen[id(x)] = (x, t)
            self.objects.append((zero, t))
            parts = [(k, self._filled(c, kind.part(t, k), kind.part(zero, k))) for k, c in kind.parts(x)]
            if isinstance(zero, list | dict | deque):
                zero.clear()
            kind.fill(zero, parts)
            return zero
        raise InvalidTangentError(f"batches of tangents of a {type(x).__name__} are not taken from outside")

    def check(self) -> None:
        """Raise if one memory was given several tangents."""
        if len(self.written) > 1 and not all(
            np.array_equal(zero.data, np.asarray(t, zero.data.dtype), equal_nan=True) for zero, t in self.written
        ):
            raise _several()


def _several() -> InvalidTangentError:
    return InvalidTangentError(
        "one object in the arguments, or one memory, has several tangents. One object has one tangent: give"
        " that wherever the object stands, or pass copies"
    )


class _Giving:
    """Gives batches to the outside: arrays in their place, and what was taken from there as itself."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.known: dict[int, Any] = {}
        self.filled: set[int] = set()

    def give(self, t: Any) -> Any:
        if isinstance(t, BatchedNumber):
            return t.data.copy()
        if t is None or t is NO_TANGENT:
            return t
        found = self.known.get(id(t))
        if isinstance(t, BatchedArray):
            if found is None:
                found = self.known[id(t)] = t.data if t.data.base is None else t.data.copy()
            return found
        structure = STRUCTURES.get(type(t))
        if structure is None:
            if isinstance(t, int | float | complex | np.number):
                return np.full(self.width, t)
            raise BatchError(
                f"a value whose tangents are a {type(t).__name__} is given out with a batch of tangents",
                "there is no form for a batch of these",
                "return numbers, arrays or containers of such",
            )
        if not structure.address:
            keys = structure.keys(t)
            return structure.put(t, keys, [self.give(part) for part in structure.get(t, keys)])
        if found is None:
            found = self.known[id(t)] = structure.shell(t)
        self.fill(t)
        return found

    def fill(self, t: Any) -> None:
        """Give the parts of the object `t` to what stands for it outside."""
        if id(t) in self.filled:
            return
        self.filled.add(id(t))
        structure = STRUCTURES[type(t)]
        keys = structure.keys(t)
        parts = [self.give(part) for part in structure.get(t, keys)]
        target = self.known[id(t)]
        if isinstance(target, dict):
            target.clear()
        elif isinstance(target, MutableTangent):
            target.__dict__.clear()
        structure.put(target, keys, parts)
