"""Generators go on: the step that enters a segment and keeps what it leaves.

A generator in segments is an object whose two fields change with each resumption (`generators`).  This is
done by hand for both modes, for a resumption is all that a loop over a generator does, over and over: the
segment is entered as any Python function is, and what stands beside the state goes in and out with it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Protocol

from adbc.ir.intrinsics import EXHAUSTED, Raised, Thrown, _next_, _resume_, _send_
from adbc.passes.normal.segments import FINISHED
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls import plans
from adbc.runtime.calls.classes import python_method
from adbc.runtime.calls.generators import Generator, finished, send
from adbc.runtime.calls.plans import Mode, Plan
from adbc.runtime.calls.steps import Advance, Call, Delegate, Protocols, Resume, Step
from adbc.runtime.report.tracebacks import plain_traceback
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_FDATA, NO_TANGENT, MutableTangent, add, slot_increment, slot_rdata, slot_tangent

__all__ = ["PROTOCOLS", "resumed", "slots_of", "stopped", "stops"]

Answer = tuple[Any, Any, Callable[[Any], Any]]


class Calls(Protocol):
    """The dynamic calls of one mode: `driver.Calls`."""

    engine: EngineView
    slot: Callable[[Any], Any]
    fill: Callable[[Any, Any], Any]
    fill_each: Callable[[Any, Any], Any]

    def enter_planned(
        self,
        context: Context,
        plan: Plan,
        function: Any,
        ff: Any,
        xs: Any,
        fs: Any,
        first: int,
        hand: Any = None,
    ) -> Any: ...

    def of_elements(self, shadow: Any) -> tuple[Any, ...]: ...


def resumed(
    calls: Calls,
    context: Context,
    generator: Generator,
    shadow: Any,
    sent: tuple[bool, Any, Any],
    mode: Mode,
    is_pair: bool = False,
) -> Answer:
    """Run one segment of `generator`; its pullback gives the cotangent of what was `sent`: whether that is
    thrown, the value, and what stands beside it.

    The answer is the next value or `EXHAUSTED`; with `is_pair`, whether the generator has finished, and what
    it gives or returns.
    """
    if generator.is_running:
        raise ValueError("generator already executing")
    fields = shadow.__dict__
    before = generator.at, generator.state, generator.returned
    slots, returned = fields["state"], fields["returned"]
    if before[0] == FINISHED:
        generator.returned, fields["returned"] = None, NO_TANGENT

        def ended_pullback(bout: Any) -> None:
            generator.returned, fields["returned"] = before[2], returned

        return (True, None) if is_pair else EXHAUSTED, None, ended_pullback
    answer = _entered(calls, context, generator, fields, sent, mode)
    out, fout, pull = answer if len(answer) == 3 else (*answer, None)
    is_finished = is_raised = type(out) is Raised
    if is_raised:
        is_replaced = issubclass(type(out.exception), StopIteration)
        given, fgiven = (_instead(out.exception), None) if is_replaced else (out, fout)
    else:
        is_replaced = False
        number, given, state = out
        _, fgiven, fstate = calls.of_elements(fout) if fout.__class__ is tuple else (None, None, None)
        generator.at, generator.state = number, state
        if state:
            fields["state"] = calls.fill_each(state, fstate)
        is_finished = number == FINISHED
        if is_finished:
            generator.returned, fields["returned"] = given, calls.fill(given, fgiven)

    def resumed_pullback(bout: Any) -> Any:
        if is_raised:
            given = None if is_replaced else bout
        else:
            bgiven = bout if not is_pair or bout is None else bout[1]
            if is_finished:
                kept = slot_rdata(fields["returned"])
                bgiven = (
                    kept if bgiven is None or not is_pair else bgiven if kept is None else add(kept, bgiven)
                )
            given = None, bgiven, _rdata(fields["state"])
        _, bsent, *bstate = pull(given)
        generator.at, generator.state, generator.returned = before
        fields["state"] = _increased(slots, bstate) if slots.__class__ is tuple else slots
        fields["returned"] = returned
        return bsent

    if is_raised:
        return given, fgiven, resumed_pullback
    if is_pair:
        return (is_finished, given), None if fgiven is None else (None, fgiven), resumed_pullback
    return (EXHAUSTED, None, resumed_pullback) if is_finished else (given, fgiven, resumed_pullback)


def _instead(error: BaseException) -> Raised:
    """What leaves a generator in place of `error`, a `StopIteration` that leaves a segment."""
    instead = RuntimeError("generator raised StopIteration")
    instead.__cause__ = error
    return Raised(plain_traceback(instead))


_MEMORY: frozenset[type] = frozenset({MutableTangent, list, dict})
"""The most frequent classes of tangents that are shadows as they are."""


_BARE: frozenset[type] = frozenset({int, str, bool, type(None)})
"""The most frequent classes of values without a derivative."""


def slots_of(values: Sequence[Any], f: Any) -> tuple[Any, ...]:
    """The slots of `values`, a state with the shadow `f`, in reverse mode."""
    shadows = f if f.__class__ is tuple else itertools.repeat(f)
    return tuple(
        [
            0.0
            if type(x) is float
            else NO_TANGENT
            if type(x) in _BARE
            else g
            if g.__class__ is MutableTangent or g.__class__ is list
            else slot_tangent(x, g)
            for x, g in zip(values, shadows, strict=False)
        ]
    )


def _rdata(slots: Any) -> Any:
    """The rdata of a state with these `slots`."""
    if slots.__class__ is not tuple:
        return slot_rdata(slots)
    return [
        t if t.__class__ is float else None if t is NO_TANGENT or t.__class__ in _MEMORY else slot_rdata(t)
        for t in slots
    ]


def _increased(slots: tuple[Any, ...], rdata: Sequence[Any]) -> tuple[Any, ...]:
    """The `slots` of a state with this `rdata` added to them."""
    return tuple(
        [
            t
            if r is None
            else t + r
            if t.__class__ is float and r.__class__ is float
            else slot_increment(t, r)
            for t, r in zip(slots, rdata, strict=True)
        ]
    )


def stopped(context: Context, generator: Generator, shadow: MutableTangent) -> StopIteration:
    """What `next` raises when a `generator` with this `shadow` has returned: it carries the value, with the
    derivative of that."""
    error, slot = finished(generator.returned), shadow.__dict__["returned"]
    beside = MutableTangent()
    beside.__dict__["args"] = NO_TANGENT if slot is NO_TANGENT else (slot,)
    context.shadows.register(error, beside)
    context.has_caught(error)
    return error


def stops(
    context: Context, generator: Generator, shadow: MutableTangent, back: Callable[[Any], Any]
) -> Answer:
    """The answer of an attempted ``next(generator)`` that raises `StopIteration`: `back`, the pullback of the
    resumption, is given what the value that the exception carries has got."""
    error = stopped(context, generator, shadow)
    beside, fields = context.shadows.lookup(error), shadow.__dict__

    def stops_pullback(bout: Any) -> Any:
        args = beside.__dict__["args"]
        given = None if args is NO_TANGENT else slot_rdata(args[0])
        if given is not None:
            fields["returned"] = slot_increment(fields["returned"], given)
        return back(None)

    return Raised(error), None, stops_pullback


# -- the way into a segment ----------------------------------------------------------------------------------


def _entered(
    calls: Calls,
    context: Context,
    generator: Generator,
    fields: dict[str, Any],
    sent: tuple[bool, Any, Any],
    mode: Mode,
) -> Any:
    """The answer of the segment that `generator` stands in front of: what it gives and what stands beside
    that, and in reverse mode the pullback."""
    state, slots, segment = generator.state, fields["state"], generator.segments[generator.at]
    engine = calls.engine
    if engine.epoch != engine.table.epoch:
        engine.clear()
    # If the segment raises, the generator has finished.
    generator.at, generator.state, fields["state"] = FINISHED, (), NO_TANGENT
    generator.is_running = True
    try:
        ways: Any = engine.plans.get((mode, segment), ())
        for plan, go in ways:
            answer = calls.enter_planned(context, plan, segment, None, (sent, state), slots, 0, go)
            if answer is not None:
                return answer
        throwing, value, beside = sent
        parts = tuple(map(calls.slot, slots)) if slots.__class__ is tuple else (None,) * len(state)
        xs, fs = (throwing, value, *state), (None, beside, *parts)
        plan = _plan(engine, mode, segment, xs, fs)
        if len(ways) < _MOST_WAYS:
            go = _going(calls, plan, mode, xs, fs, slots)
            if go is not None:
                engine.plans[mode, segment] = ((plan, go), *ways)
        return calls.enter_planned(context, plan, segment, None, xs, fs, 0)
    except StopIteration as error:
        raise RuntimeError("generator raised StopIteration") from error
    finally:
        generator.is_running = False


_MOST_WAYS = 4
"""How many ways into a segment are kept, one for each form of what it has been entered with."""


def _going(calls: Calls, plan: Plan, mode: Mode, xs: Any, fs: Any, slots: Any) -> Any:
    """What enters a segment by `plan`, if arguments like `xs` with `slots` like these are told by their
    classes; else None."""
    kinds = [plans.kind(calls.engine, x) for x in xs]
    if plans.by_more_than_class(kinds, xs) != ():
        return None
    is_forward = mode == "forward"
    parts = slots if slots.__class__ is tuple else (NO_TANGENT,) * len(xs[2:])
    ways = [_beside(slot, f, is_forward) for slot, f in zip(parts, fs[2:], strict=True)]
    if None in ways:
        return None
    flags = tuple([bool(flag if is_forward else flag & 1) for flag in plan.flags])
    make = _goer(tuple(ways), flags, fs[1] is None, slots.__class__ is tuple, plan.rule.takes_function)
    return make(*map(type, xs[1:]))


def _beside(slot: Any, shadow: Any, is_forward: bool) -> str | None:
    """How what stands beside a value is told from the `slot` of it, which gives `shadow`; None if that has to
    be asked anew."""
    if slot is NO_TANGENT:
        return "None"
    if is_forward:
        return "slot"
    if slot.__class__ is float:
        return "NO_FDATA"
    return "shadow" if slot is shadow and slot.__class__ in _MEMORY else None


_TESTS = {
    "None": "{0} is NO_TANGENT", "slot": "{0} is not NO_TANGENT", "NO_FDATA": "{0}.__class__ is float",
    "shadow": "{0}.__class__ in MEMORY",
}  # fmt: skip
"""By the way in which what stands beside a value is told from its slot, what is true of that."""


@functools.cache
def _goer(
    ways: tuple[str, ...], flags: tuple[bool, ...], is_bare: bool, has_slots: bool, takes_function: bool
) -> Any:
    """What makes, of the classes of what is sent and of the state, a function
    ``go(code, context, segment, None, (sent, state), slots)`` that calls `code`; it gives None for a state of
    other classes.

    ways: by value of the state, how what stands beside it is told from its slot.  flags: which parameters of
    `code` are given with that.  is_bare: whether nothing stands beside what is sent.
    """
    numbers = range(len(ways))
    # What stands for a generator has another class for whoever asks it.
    tests = ["type(value) is C", f"beside is {'' if is_bare else 'not '}None"]
    tests += [f"type(x{i}) is C{i}" for i in numbers]
    tests += [_TESTS[way].format(f"t{i}") for i, way in enumerate(ways)] * has_slots
    arguments = [
        "context",
        *["segment", "None"] * takes_function,
        "throwing",
        "value",
        *["beside"] * flags[1],
    ]
    for i, way in enumerate(ways):
        beside = f"t{i}" if way in ("slot", "shadow") else way
        arguments += [f"x{i}", *[beside] * flags[i + 2]]
    lines = [
        f"def made({', '.join(['C', *[f'C{i}' for i in numbers]])}):",
        " def go(code, context, segment, fsegment, given, slots):",
        "  (throwing, value, beside), state = given",
        f"  if slots.__class__ is {'not ' * has_slots}tuple: return None",
        *[f"  {''.join(f'x{i}, ' for i in numbers)} = state"] * bool(ways),
        *[f"  {''.join(f't{i}, ' for i in numbers)} = slots"] * bool(ways and has_slots),
        f"  if {' and '.join(tests)}:",
        f"   return code({', '.join(arguments)})",
        " return go",
    ]
    scope: dict[str, Any] = {"NO_FDATA": NO_FDATA, "NO_TANGENT": NO_TANGENT, "MEMORY": _MEMORY}
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    return scope["made"]


def _plan(engine: EngineView, mode: Mode, segment: Any, xs: Sequence[Any], fs: Sequence[Any]) -> Plan:
    """How to enter a segment on these arguments."""
    short = mode, segment, (*map(type, xs),), (*map(is_, fs, _NONES),)
    places = engine.plans.get(short)
    if places.__class__ is Plan:
        return places  # the classes say all that is asked
    if places is not None:
        at_once: Plan | None = engine.plans.get((short, *[plans.kind(engine, xs[place]) for place in places]))
        if at_once is not None:
            return at_once
    kinds = [plans.kind(engine, x) for x in xs]
    key = (mode, segment, *kinds, *[f is None for f in fs])
    found: Plan | None = engine.plans.get(key)
    if found is None:
        parameters = list(map(engine.typeof, xs))
        found = engine.plans[key] = plans.made(engine, mode, segment, parameters, [f is not None for f in fs])
    places = plans.by_more_than_class(kinds, xs)
    if places:
        engine.plans[short] = places
        engine.plans[short, *[kinds[place] for place in places]] = found
    elif places is not None:
        engine.plans[short] = found
    return found


_NONES = itertools.repeat(None)


# -- what leads here -----------------------------------------------------------------------------------------


def _is_followed(call: Call) -> bool:
    """Whether `call` is of a generator in segments whose fields have a shadow."""
    return type(call.args[0]) is Generator and call.shadows[0] is not None


def _next(call: Call, table: RuleTable) -> Step | None:
    if type(call.args[0]) is Generator:
        if call.shadows[0] is None:
            return Delegate(call.of(Generator.take))
        return Resume(call, (False, None, None), None)
    method = python_method(type(call.args[0]), "__next__")
    return None if method is None else Advance(call.of(method))


def _resume(call: Call, table: RuleTable) -> Step | None:
    if not _is_followed(call):
        return Delegate(call.of(Generator.resume))
    _, throwing, value = call.args
    return Resume(call, (throwing, value, call.shadows[2]), call.origins[2])


def _send(call: Call, table: RuleTable) -> Step | None:
    value = call.args[1]
    if not _is_followed(call) or type(value) is Thrown:
        return Delegate(call.of(send))
    return Resume(call, (False, value, call.shadows[1]), call.origins[1], is_pair=True)


PROTOCOLS: Protocols = {_next_: _next, _resume_: _resume, _send_: _send}
"""What the steps of iterators lead to."""
