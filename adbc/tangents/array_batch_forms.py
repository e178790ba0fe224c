"""The form that batches have outside: one more axis in front, in the arrays of a tangent.

An array of shape ``(N,)`` stands for a number, one of shape ``(N, *S)`` for an array of shape S; containers
and objects hold those.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import BatchError, InvalidTangentError
from adbc.tangents.array_batches import BatchedArray, BatchedNumber
from adbc.tangents.duals import MutableTangent
from adbc.tangents.fit import misfit
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of
from adbc.tangents.scalars import ScalarKind
from adbc.tangents.walk import STRUCTURES

__all__ = ["Giving", "Taking", "simple_batches"]


def simple_batches(primals: Sequence[Any], tangents: Sequence[Any], width: int) -> list[Any] | None:
    """The batches of tangents of numbers, of lists of floats and of arrays that each are all of some memory,
    None for what has none; None if a tangent of something else is given."""
    found: list[Any] = []
    seen = set()
    for x, t in zip(primals, tangents, strict=True):
        if t is None or t is NO_TANGENT:
            found.append(None)
            continue
        if x.__class__ is list:
            numbers = _of_floats(x, t, width)
            if numbers is None or id(x) in seen:
                return None
            seen.add(id(x))
            found.append(numbers)
            continue
        if t.__class__ is not np.ndarray or not t.ndim or len(t) != width:
            return None
        if x.__class__ is float:
            if t.ndim != 1 or t.dtype.char != "d":
                return None
            found.append(BatchedNumber(t.copy()))
            continue
        if x.__class__ is not np.ndarray:
            return None
        owner = x if x.base is None else x.base
        if (
            not (owner is x or _fills(x, owner))
            or not x.flags.c_contiguous
            or not x.size
            or id(owner) in seen
            or x.dtype.char not in "df"
            or x.dtype != t.dtype
            or x.shape != t.shape[1:]
        ):
            return None
        seen.add(id(owner))
        found.append(BatchedArray(t.copy("C")))
    return found


def _of_floats(x: list[Any], t: Any, width: int) -> list[Any] | None:
    """The batch of tangents of a list of floats, given as a list of arrays; None if they are something
    else."""
    if t.__class__ is not list or len(t) != len(x) or not x or {*map(type, x)} != {float}:
        return None
    if {*map(type, t)} != {np.ndarray} or any(a.dtype.char != "d" or a.shape != (width,) for a in t):
        return None
    return [BatchedNumber(a) for a in np.array(t)]


def _fills(x: Any, owner: Any) -> bool:
    """Whether the array `x` is all of the array `owner`, perhaps in another shape."""
    return (
        owner.__class__ is np.ndarray
        and owner.base is None
        and owner.size == x.size
        and owner.dtype == x.dtype
        and bool(owner.flags.c_contiguous)
    )


class Taking:
    """Takes batches from outside: makes the tangents of arguments, zeros of one memo, and fills them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.seen: dict[int, tuple[Any, Any]] = {}
        self.firsts: dict[int, Any] = {}
        """By address of an object outside, its first lane."""
        self.objects: list[tuple[Any, Any]] = []
        """Lists, dicts and the like, inside and outside."""
        self.written: list[tuple[BatchedArray, Any]] = []

    def take(
        self, x: Any, t: Any, zero: Any, what: str, held: Callable[[Any], bool], allow_none: bool = False
    ) -> Any:
        """The tangent of `x`, which is given as `t`: `zero`, which gets the numbers of that.  `held` says
        whether an object is a constant, `allow_none` whether None may stand for a zero in `t`."""
        problem = misfit(x, self.first(t, what), held, allow_none=allow_none)
        if problem is not None:
            raise InvalidTangentError(f"this is not a batch of tangents of {what}: in each lane, {problem}")
        return self._filled(x, t, zero)

    def first(self, t: Any, what: str) -> Any:
        """The first lane of `t`."""
        cls = type(t)
        if issubclass(type(t), np.ndarray):
            if not t.ndim or len(t) != self.width:
                found = f"of shape {t.shape}" if not t.ndim else f"of {len(t)}"
                raise InvalidTangentError(
                    f"the tangents of {what} are a batch {found}, but the width is {self.width}: the first"
                    " axis of each array in them is that of the tangents"
                )
            return t[0] if t.ndim > 1 else t[0].item() if t.dtype.kind in "iu" else t[:1].reshape(())
        structure = STRUCTURES.get(cls)
        if structure is not None:
            if structure.address and id(t) in self.firsts:
                return self.firsts[id(t)]
            target = t
            if structure.address:
                target = self.firsts[id(t)] = structure.shell(t)
            keys = structure.keys(t)
            return structure.put(target, keys, [self.first(part, what) for part in structure.get(t, keys)])
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
            return kind.join(
                x, [(k, self._filled(c, kind.part(t, k), kind.part(zero, k))) for k, c in kind.parts(x)]
            )
        if isinstance(kind, AddressKind):
            known = self.seen.get(id(x))
            if known is not None:
                if known[1] is not t:
                    raise _several()
                return zero
            self.seen[id(x)] = (x, t)
            self.objects.append((zero, t))
            parts = [(k, self._filled(c, kind.part(t, k), kind.part(zero, k))) for k, c in kind.parts(x)]
            if issubclass(type(zero), list | dict | deque):
                zero.clear()
            kind.fill(zero, parts)
            return zero
        raise InvalidTangentError(f"batches of tangents of a {type(x).__name__} are not taken from outside")

    def check(self) -> None:
        """Raise if one memory was given several tangents."""
        if len(self.written) > 1 and not all(
            np.array_equal(zero.data, np.asarray(t, zero.data.dtype), equal_nan=True)
            for zero, t in self.written
        ):
            raise _several()


def _several() -> InvalidTangentError:
    return InvalidTangentError(
        "one object in the arguments, or one memory, has several tangents. One object has one tangent: give"
        " that wherever the object stands, or pass copies"
    )


class Giving:
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
            if issubclass(type(t), int | float | complex | np.number):
                return np.full(self.width, t)
            if issubclass(type(t), np.ndarray) and t.dtype.kind in "fc":  # the same in all lanes
                return np.stack([t] * self.width)
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
        if issubclass(type(target), dict):
            target.clear()
        elif isinstance(target, MutableTangent):
            target.__dict__.clear()
        structure.put(target, keys, parts)
