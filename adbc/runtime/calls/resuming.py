"""Generators go on: the step that enters a segment and keeps what it leaves.

A generator in segments is an object whose two fields change with each resumption (`generators`).  This is
done by hand for both modes, for a resumption is all that a loop over a generator does, over and over: the
segment is entered as any Python function is, and what stands beside the state goes in and out with it.
"""

from __future__ import annotations

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
from adbc.tangents import NO_TANGENT, MutableTangent, add, slot_increment, slot_rdata

__all__ = ["PROTOCOLS", "resumed", "stopped", "stops"]

Answer = tuple[Any, Any, Callable[[Any], Any]]


class Calls(Protocol):
    """The dynamic calls of one mode: `driver.Calls`."""

    engine: EngineView
    slot: Callable[[Any], Any]
    fill: Callable[[Any, Any], Any]

    def enter_planned(
        self, context: Context, plan: Plan, function: Any, ff: Any, xs: Any, fs: Any, first: int
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
    before = _Before(generator, shadow.__dict__)
    fields = before.fields
    if before.at == FINISHED:
        generator.returned, fields["returned"] = None, NO_TANGENT
        return (True, None) if is_pair else EXHAUSTED, None, before.restore
    out, fout, back = _entered(calls, context, before, sent, mode)
    if type(out) is Raised:
        return out, fout, back
    number, given, state = out
    _, fgiven, fstate = calls.of_elements(fout) if fout.__class__ is tuple else (None, None, None)
    is_finished = number == FINISHED
    generator.at, generator.state = number, state
    if state:
        fields["state"] = calls.fill(state, fstate)
    if is_finished:
        generator.returned, fields["returned"] = given, calls.fill(given, fgiven)

    def resumed_pullback(bout: Any) -> Any:
        bgiven = bout if not is_pair or bout is None else bout[1]
        if is_finished:
            kept = slot_rdata(fields["returned"])
            bgiven = kept if bgiven is None or not is_pair else bgiven if kept is None else add(kept, bgiven)
        return back((None, bgiven, slot_rdata(fields["state"])))

    if is_pair:
        return (is_finished, given), None if fgiven is None else (None, fgiven), resumed_pullback
    return (EXHAUSTED, None, resumed_pullback) if is_finished else (given, fgiven, resumed_pullback)


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


class _Before:
    """What a generator is like before it goes on, with the `fields` of its shadow."""

    __slots__ = ("at", "fields", "generator", "returned", "returned_slot", "slots", "state")

    def __init__(self, generator: Generator, fields: dict[str, Any]) -> None:
        self.generator, self.fields = generator, fields
        self.at, self.state, self.returned = generator.at, generator.state, generator.returned
        self.slots, self.returned_slot = fields["state"], fields["returned"]

    def restore(self, bout: Any = None) -> None:
        """Put it back, with its shadow."""
        generator, fields = self.generator, self.fields
        generator.at, generator.state, generator.returned = self.at, self.state, self.returned
        fields["state"], fields["returned"] = self.slots, self.returned_slot


def _entered(
    calls: Calls, context: Context, before: _Before, sent: tuple[bool, Any, Any], mode: Mode
) -> Answer:
    """Enter the segment; the pullback restores the generator, and gives the cotangent of what was `sent`."""
    throwing, value, beside = sent
    generator, state, slots = before.generator, before.state, before.slots
    parts = tuple(map(calls.slot, slots)) if slots.__class__ is tuple else (None,) * len(state)
    segment = generator.segments[before.at]
    xs, fs = (throwing, value, *state), (None, beside, *parts)
    # If the segment raises, the generator has finished.
    generator.at, generator.state, before.fields["state"] = FINISHED, (), NO_TANGENT
    generator.is_running = True
    try:
        plan = _plan(calls.engine, mode, segment, xs, fs)
        out, fout, *last = calls.enter_planned(context, plan, segment, None, xs, fs, 0)
    except StopIteration as error:
        raise RuntimeError("generator raised StopIteration") from error
    finally:
        generator.is_running = False
    is_replaced = type(out) is Raised and issubclass(type(out.exception), StopIteration)
    if is_replaced:
        instead = RuntimeError("generator raised StopIteration")
        instead.__cause__ = out.exception
        out, fout = Raised(plain_traceback(instead)), None

    def back(bout: Any) -> Any:
        bsent, *bstate = last[0](None if is_replaced else bout)[1:]
        before.restore()
        if slots.__class__ is tuple:
            before.fields["state"] = slot_increment(slots, bstate)
        return bsent

    return out, fout, back


def _plan(engine: EngineView, mode: Mode, segment: Any, xs: Sequence[Any], fs: Sequence[Any]) -> Plan:
    """How to enter a segment on these arguments."""
    if engine.epoch != engine.table.epoch:
        engine.clear()
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
