"""The way in for batches: `jvp`, `vjp` and forward rules of a given width.

From outside a batch has the structure of a tangent with one more axis in front: an array of shape ``(N,)``
for a number, of shape ``(N, *S)`` for an array of shape S.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from adbc.errors import ArgumentError, PullbackConsumedError
from adbc.runtime.entry.constants import check_constants, constant_arguments, hold_constants
from adbc.runtime.entry.described import lists_in
from adbc.runtime.entry.entering import enter, go_back
from adbc.runtime.entry.first import FirstCall
from adbc.runtime.entry.forward import learn, on_known_way
from adbc.runtime.entry.results import kept, pair, snapshot
from adbc.runtime.entry.reusable import Unchanged
from adbc.runtime.entry.selection import completed
from adbc.runtime.report.messages import describe
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.batches import of_width
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_FDATA, NO_TANGENT, Dual, FData, RData, increment, scale, zero_tangent
from adbc.tangents.array_batch_forms import Giving, Taking, simple_batches
from adbc.tangents.array_batch_memory import install, memo_of
from adbc.tangents.fit import as_numbers
from adbc.tangents.protocol import kind_of

__all__ = ["BatchedPullback", "check_width", "dual_call", "rule_call", "value_and_tangents"]


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
    if type(f) is FunctionType and f.__defaults__:
        primals = completed(f, tuple(primals))
        tangents = (*tangents, *[None] * (len(primals) - len(tangents)))
    install()
    taken = simple_batches(primals, tangents, width)
    answer = None
    if taken is not None:
        with of_width(width):
            answer = on_known_way(engine, f, primals, taken, width)
            if answer is not None:
                answer = _whole(width, *answer)
    out, whole = answer or dual_call(engine, f, None, primals, tangents, width, simple=taken)
    found = Giving(width).give(whole)
    if not has_aux:
        return out, found
    value, aux = pair(f, out)
    if found is NO_TANGENT:
        return value, Giving(width).give(zero_tangent(value, memo_of(width))), aux
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
    taking: Taking | None = None,
    simple: list[Any] | None = None,
) -> tuple[Any, Any]:
    """The value of ``f(*primals)``, of which the last have `names`, and its batch of tangents, as it is
    inside.  `df` is the batch of tangents of `f` itself, None if that has none.

    simple: the batches as they are inside, if they are of numbers, arrays and lists alone; then the way in is
    kept (`forward.learn`).
    """
    install()
    context = Context()
    context.is_forward = True
    context.shadows.start_with(memo_of(width))
    if simple is not None and None not in simple and type(f) is FunctionType and not _has_state(f):
        for x, t in zip(primals, simple, strict=True):
            if type(x) is not float:
                context.shadows.later(x, t)
        answer = _entered(engine, context, f, None, primals, simple, width, names)
        learn(engine, f, primals, simple, simple)
        return answer
    check_constants(primals, tangents)
    f, *primals = hold_constants(context, (f, *primals))
    given = [None if t is NO_TANGENT else t for t in tangents]
    taking = Taking(width) if taking is None else taking
    directions: list[Any] = []
    held = context.shadows.is_constant
    if df is not None and df is not NO_TANGENT:
        taking.take(f, df, context.shadows.tangent(f), "the function", held)
    for i, (x, t) in enumerate(zip(primals, given, strict=True)):
        what = f"argument {i} of {describe(f)}"
        zero = None if t is None else context.shadows.tangent(x)
        directions.append(None if t is None else taking.take(x, t, zero, what, held))
    taking.check()
    nothing = {i for i, t in enumerate(given) if t is None}
    constants = constant_arguments(engine, context, f, primals, names, nothing)
    for i, x in enumerate(primals):
        if i in nothing and i not in constants:
            directions[i] = context.known_tangent(x)
    shadow = context.known_tangent(f)
    answer = _entered(engine, context, f, shadow, primals, directions, width, names)
    if simple is not None:
        learn(engine, f, primals, simple, directions)
    return answer


def _has_state(f: FunctionType) -> bool:
    return bool(f.__closure__ or f.__defaults__ or f.__kwdefaults__)


def _entered(
    engine: EngineView,
    context: Context,
    f: Callable[..., Any],
    shadow: Any,
    primals: Sequence[Any],
    directions: Sequence[Any],
    width: int,
    names: tuple[str, ...],
) -> tuple[Any, Any]:
    """What `dual_call` gives, once the tangents of all arguments are known."""
    call = engine.forward_calls.call_from_outside
    with of_width(width):
        out, dout = enter(
            call, context, names, f, shadow, tuple(primals), tuple(directions), lists_in(primals)
        )
        return _whole(width, out, dout)


def _whole(width: int, out: Any, dout: Any) -> tuple[Any, Any]:
    """A value, and the batch of its tangents, None for zero, as a batch of its structure."""
    return out, zero_tangent(out, memo_of(width)) if dout is None else as_numbers(out, dout)


def rule_call(engine: EngineView, duals: Sequence[Dual], names: tuple[str, ...], width: int) -> Dual:
    """What a forward rule of this width gives for the dual numbers of a function and its arguments, the last
    of which have `names`: their tangents are changed as the arguments are."""
    f, *others = duals
    taking = Taking(width)
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
    giving = Giving(width)
    for inside, t in taking.objects:
        giving.known[id(inside)] = t
    for inside, t in taking.written:
        giving.known[id(inside)] = t
        t[...] = inside.data
    found = giving.give(whole)
    for inside, _ in taking.objects:
        giving.fill(inside)
    return Dual(out, found)


# -- reverse mode --------------------------------------------------------------------------------------------


class BatchedPullback:
    """The pullback of ``f(*primals)`` for `width` cotangents at a time; the forwards pass is run when it is
    made.

    value: the value of the call, or of `f` without what it returns besides, which `aux` then holds.
    is_kept: what a run changes is noted, so that it may run any number of times; else it runs once.
    has_run: whether it has begun to run.
    """

    def __init__(
        self,
        engine: EngineView,
        f: Callable[..., Any],
        primals: tuple[Any, ...],
        width: int,
        has_aux: bool = False,
        is_kept: bool = False,
    ) -> None:
        check_width(width)
        install()
        self.width, self.has_aux = width, has_aux
        self._unchanged = Unchanged((f, *primals)) if is_kept else None
        with of_width(width):
            self._call = FirstCall(
                engine, f, primals, {}, tuple(range(len(primals))), strict=False, memo=memo_of(width)
            )
        self.aux: tuple[Any, ...] = ()
        out = self._call.out
        if has_aux:
            value, aux = pair(f, out)
            self.value, self.aux = kept(value, primals), (snapshot(f, aux),)
        else:
            self.value = kept(out, primals)
        self._memory = self._call.memory() if is_kept else None
        self.has_run = False

    @property
    def can_run_again(self) -> bool:
        """Whether it may run more than once."""
        return self._memory is not None

    def __call__(self, cotangents: Any) -> tuple[Any, ...]:
        """The batch of cotangents of each argument, for a batch of those of the value."""
        if self.has_run and self._memory is None:
            raise PullbackConsumedError(
                "this pullback has been run already; the values it needs are gone."
                " Call adbc.vjp again for another."
            )
        try:
            if self.has_run:
                assert self._unchanged is not None and self._memory is not None
                self._unchanged.check()
                return self._memory.again(lambda: self._back(cotangents))  # type: ignore[no-any-return]  # a tuple
            return self._back(cotangents)
        except BaseException as error:  # any exception of the user's is passed on
            leave(error)
            raise

    def _back(self, cotangents: Any) -> tuple[Any, ...]:
        call = self._call
        out, fout = call.out, call.fout
        if self.has_aux:
            out, fout = out[0], None if fout is None else fout[0]
        self._check(out, cotangents)
        first, self.has_run = not self.has_run, True
        with of_width(self.width):
            rdata = self._seed(out, fout, cotangents)
            if self.has_aux:
                rdata = None if rdata is None else (rdata, None)
            found = call.gradients(go_back(call._pullback, rdata))
        giving = Giving(self.width)
        given = tuple([giving.give(t) for t in found])
        if first and self._memory is not None:
            given = scale(1.0, given)  # shadows are part of it
            self._memory.settle()
        return given

    def _check(self, out: Any, given: Any) -> None:
        """Raise `InvalidTangentError`, before anything is done, if `given` is no batch of cotangents of
        `out`; what stands in several places of a tuple has a cotangent for each."""
        if given is None or given is NO_TANGENT:
            return
        if type(out) is type(given) is tuple and len(out) == len(given):
            for part, of_part in zip(out, given, strict=True):
                self._check(part, of_part)
        else:
            self._take(out, given)

    def _take(self, out: Any, given: Any) -> Any:
        """The batch `given` of cotangents of `out`, as it is inside."""
        taking, zero = Taking(self.width), zero_tangent(out, memo_of(self.width))
        held = self._call.context.shadows.is_constant
        taken = taking.take(out, given, zero, "the value", held, allow_none=True)
        taking.check()
        return taken

    def _seed(self, out: Any, fout: Any, given: Any) -> Any:
        """What `results.seed` does, with a batch of cotangents of `out`."""
        if given is None or given is NO_TANGENT or fout is None:
            return None
        if type(fout) is tuple:
            return tuple(map(self._seed, out, fout, given))
        if type(fout) is FData:
            kind: Any = kind_of(type(out))
            of, parts = fout.__dict__, given.__dict__
            return RData(**{k: self._seed(c, of.get(k), parts[k]) for k, c in kind.parts(out)})
        taken = self._take(out, given)
        if fout is NO_FDATA:
            return as_numbers(out, taken)
        increment(fout, taken)
        return None
