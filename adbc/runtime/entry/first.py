"""The long way in, for the first call with arguments of their kind, and for all that are not simple."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import ArgumentError, InvalidTangentError
from adbc.runtime.calls.replaying import Memory, memory_of
from adbc.runtime.entry.constants import check_constants, constant_arguments, hold_constants
from adbc.runtime.entry.described import lists_in
from adbc.runtime.entry.entering import enter, go_back, start_waiting
from adbc.runtime.entry.results import check_differentiable, seed
from adbc.runtime.entry.selection import label
from adbc.runtime.report.messages import describe
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_TANGENT, Const, slot_increment, slot_shadow
from adbc.tangents.activity_marks import activate
from adbc.tangents.aliasing import divides_memory, is_consistent, shared_memory_conflict
from adbc.tangents.fit import as_numbers, misfit
from adbc.tangents.protocol import ValueKind, kind_of

__all__ = ["FirstCall", "Forwards", "first_dual_call"]


class Forwards:
    """A forwards pass called from outside, which waits for a cotangent of its value `out`."""

    out: Any
    fout: Any
    context: Context
    done = False
    """Whether the pullback has been run."""
    _pullback: Callable[[Any], Sequence[Any]]
    """What gives the cotangents of the arguments."""

    def check(self, cotangent: Any) -> None:
        """Raise `InvalidTangentError`, before anything is done, if `cotangent` is none of the value."""
        out = self.out
        if type(out) is float and type(cotangent) is float:
            return
        if cotangent is NO_TANGENT or (isinstance(out, int) and type(cotangent) in (int, float)):
            return
        problem = misfit(out, cotangent, self.context.shadows.is_constant, allow_none=True)
        if problem is not None:
            raise InvalidTangentError(
                f"this is not a cotangent of the value, which has the structure of a tangent: {problem}"
            )
        if any(divides_memory(x, c) for x, c in _with_memory(out, cotangent)):
            raise InvalidTangentError(
                "one object stands in the value at several places, or arrays there share memory, and their"
                " cotangents do not share it in the same way. One object has one cotangent: give the sum of"
                " both wherever it stands, or let the function return copies"
            )

    def pullback(self, cotangent: Any) -> Sequence[Any]:
        """What comes back to the arguments for a cotangent of the value."""
        rdata = seed(self.out, self.fout, cotangent)
        self.done = True
        result: Sequence[Any] = go_back(self._pullback, rdata)
        return result


class FirstCall(Forwards):
    """A forwards pass called from outside, with arguments of which nothing is known: these get shadows from
    one memo, then the rule is called.

    numbers: the places of the arguments whose cotangents are asked for, those given by keyword behind the
    others.
    memo: what shadows are entered into, if that has something to begin with.
    """

    def __init__(
        self,
        engine: EngineView,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        numbers: Sequence[int],
        strict: bool = True,
        memo: dict[Any, tuple[Any, Any]] | None = None,
    ) -> None:
        self.numbers = numbers
        self.context = context = Context()
        if memo is not None:
            context.shadows.start_with(memo)
        context.start_waiting = start_waiting if engine.reverse.watch is None else None
        names = tuple(kwargs)
        given = (*args, *kwargs.values())
        constants: list[int] = []
        if isinstance(f, Const) or Const in map(type, given):
            held = {i for i, x in enumerate(given) if type(x) is Const}
            for i in numbers:
                if strict and i in held:
                    raise ArgumentError(
                        f"argument {label(i, names, len(args))} of {describe(f)} is declared adbc.Const, but"
                        " argnums asks for its gradient"
                    )
            f, *given_values = hold_constants(context, (f, *given))
            given = tuple(given_values)
            args, kwargs = given[: len(args)], dict(zip(names, given[len(args) :], strict=True))
        else:
            constants = constant_arguments(
                engine, context, f, given, names, set(range(len(given))) - set(self.numbers)
            )
            held = set(constants)
        # What nobody asks for is constant, and so is the very object if it is met elsewhere.
        context.given = [given[i] for i in numbers]
        has_met = "shadows" in vars(context)
        asked = {i: context.shadows.tangent(given[i]) for i in numbers if i not in held}
        if has_met:  # perhaps as constants that the function holds
            for tangent in asked.values():
                activate(tangent)
        # What shares memory with these was met with them; the rest is constant until it is written to.
        others = (i for i in range(len(args)) if i not in held and i not in asked)
        asked |= {i: context.met(given[i]) for i in others}
        self.tangents = [asked.get(i, NO_TANGENT) for i in range(len(given))]
        if strict:
            for i in numbers:
                check_differentiable(f, i, given[i], self.tangents[i], names, len(args))
        shadows = []
        for i, (x, tangent) in enumerate(zip(args, self.tangents, strict=False)):
            shadow = slot_shadow(tangent)
            shadows.append(shadow if i in numbers or shadow is None else context.known_shadow(x))
        for i, x in enumerate(kwargs.values(), len(args)):
            is_asked = i in numbers or i in constants
            shadows.append(slot_shadow(self.tangents[i]) if is_asked else context.known_shadow(x))
        self.shadows = shadows
        self._given = f, given
        self.constants = constants
        self.out, self.fout, pullback = enter(
            engine.reverse_calls.call_from_outside,
            context,
            names,
            f,
            context.known_shadow(f),
            given,
            tuple(shadows),
            lists_in(args),
        )
        of_all = context.backwards(pullback)
        self._pullback = lambda bout: of_all(bout)[1:]  # without the function

    def memory(self) -> Memory | None:
        """What the pullback may change, as it is now: before its first run.  None if that is not known."""
        context = self.context
        roots = [self._pullback, self.out, self.fout, self.tangents, self.shadows, vars(context), self._given]
        return memory_of(roots, [self.out])

    def gradients(self, bargs: Sequence[Any]) -> tuple[Any, ...]:
        """The cotangents that were asked for, once the pullback has returned `bargs`."""
        found = tuple([slot_increment(self.tangents[i], bargs[i]) for i in self.numbers])
        if self.context.waiting is not None:
            self.context.waiting.check(found)
        return found


def _with_memory(out: Any, cotangent: Any) -> list[tuple[Any, Any]]:
    """The parts of a value that have memory, with their cotangents; those of a tuple or a record add up, as
    each comes back by itself."""
    found, pending = [], [(out, cotangent)]
    while pending:
        x, c = pending.pop()
        kind = kind_of(type(x))
        if c is None or c is NO_TANGENT:
            continue
        if isinstance(kind, ValueKind):
            pending.extend((part, kind.part(c, k)) for k, part in kind.parts(x))
        elif kind.address:
            found.append((x, c))
    return found


def first_dual_call(
    engine: EngineView, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[tuple[Any, Any], Sequence[Any], Sequence[Any]]:
    """Value and tangent of ``f(*primals)`` in the direction `tangents`, then `tangents` as they were taken,
    and the directions that the function was entered with."""
    context = Context()
    context.is_forward = True
    check_constants(primals, tangents)
    f, *primals = hold_constants(context, (f, *primals))
    given = [None if t is NO_TANGENT else t for t in tangents]
    for i, (x, t) in enumerate(zip(primals, given, strict=True)):
        if t is None or (type(t) is float and type(x) is float):
            continue
        problem = misfit(x, t, context.shadows.is_constant)
        if problem is not None:
            raise InvalidTangentError(f"this is not a tangent of argument {i} of {describe(f)}: {problem}")
        given[i] = as_numbers(x, t)
    conflict = shared_memory_conflict(primals, given)
    if conflict is not None:
        raise InvalidTangentError(
            f"arguments {conflict[0]} and {conflict[1]} share memory, but their tangents do not share it in"
            " the same way. One object has one tangent: give them the same, or None for one of them, or pass"
            " a copy"
        )
    shared = tuple(NO_TANGENT if t is None else t for t in given)
    values = tuple(primals)
    if not is_consistent(values, shared, arrays=False) or divides_memory(values, shared):
        raise InvalidTangentError(
            "one object in the arguments has several tangents, or several objects have one. One object has"
            " one tangent of its own: give that wherever the object stands, or pass copies"
        )
    placed: list[Any] = list(given)
    for i, (x, t) in enumerate(zip(primals, given, strict=True)):
        if t is not None:
            placed[i] = context.shadows.placed(x, t)
            context.shadows.adopt(x, placed[i])
    nothing = {i for i, t in enumerate(given) if t is None}
    constants = constant_arguments(engine, context, f, primals, (), nothing)
    directions = [
        None if i in constants else context.known_tangent(x) if t is None else t
        for i, (x, t) in enumerate(zip(primals, placed, strict=True))
    ]
    call = engine.forward_calls.call_from_outside
    df = context.known_tangent(f)
    try:
        out, dout = enter(call, context, (), f, df, tuple(primals), tuple(directions), lists_in(primals))
    finally:
        moved: list[tuple[Any, Any]] = [
            (t, there) for t, there in zip(given, placed, strict=True) if there is not t
        ]
        for t, there in moved:
            if t.flags.writeable:
                t[...] = there  # tangents change as their arguments do
    for t, there in moved:
        dout = t if dout is there else dout
    return (out, dout), given, directions
