"""A generator's graph is cut at its yields into segments that are ordinary functions.

A generator is a loop of suspensions: it runs to a yield, hands a value out, sleeps, and goes on with
what was sent.  What it must remember while it sleeps are the values that are live behind the yield.
So segment 0 is the graph up to the first yields, segment k what follows yield k, up to the next ones::

    segment_k(throwing, sent, *state) -> (next segment, value, next state)

with segment -1 and the returned value when the generator has finished.  With `throwing`, `sent` is an
exception, raised where the yield stands, into its handler if it has one.  Segment 0 takes the
parameters (and the cells of the closure behind them) as its state.

A generator that sleeps in a handler handles nothing meanwhile: the exception that the caller handles is put
back where it yields, and its own is handled again when it goes on, within whatever the caller handles then.

Segments have no yields, so everything that works on functions works on them; the object that runs
them one after the other is an ordinary object with two fields.
"""

from __future__ import annotations

from typing import NamedTuple

from adbc.ir.builder import Builder
from adbc.ir.continuation import rest_of
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import (
    _bool_,
    _check_exc_match_,
    _freevar_,
    _new_,
    _pass_on_,
    _pop_except_,
    _push_exc_info_,
    _reraise_,
    _thrown_,
    _yield_,
    _yield_from_,
)
from adbc.ir.terminators import Branch, Jump, Raise, Return
from adbc.ir.traverse import copy_graph, remove_unreachable
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.records import record

__all__ = ["FINISHED", "catches", "cells_as_arguments", "must_be_closed", "segments"]

FINISHED = -1
"""The number of the segment that does not exist: the generator has returned."""


class _Handling(NamedTuple):
    """What is handled around a yield.  outside: by the caller, when the outermost handler was entered.
    exception: by the innermost."""

    outside: Value
    exception: Value


@record
class _Yield:
    """A suspension.  live: what the segment behind it needs.  handling: the handlers in which it stands."""

    block: Block
    call: Instruction
    live: tuple[Value, ...] = ()
    handling: _Handling | None = None


def segments(graph: Graph) -> list[Graph]:
    """The segments of a generator's graph in normal form, which is not changed."""
    graph, _, _ = copy_graph(graph)
    graph.is_generator = False
    cells_as_arguments(graph)
    yields = [_Yield(block, call) for block in graph.blocks for call in block.instructions if _is_yield(call)]
    for point in yields:
        point.live = _live(graph, point)
    for point in yields:
        _note_handlers(graph, point)
    if any(point.handling is not None for point in yields):
        for point in yields:
            if point.handling is not None:
                point.call.operands.append(point.handling.exception)  # it may be behind other yields
        for point in yields:
            point.live = _live(graph, point)
    for number, point in enumerate(yields, 1):
        _hand_out(point, number)
    _mark_returns(graph)
    result = [graph]
    for point in yields:
        behind = point.block.instructions.index(point.call) + 1
        rest = rest_of(graph, point.block, behind, first=[point.call, *point.live])
        assert rest.live == (point.call, *point.live)
        result.append(rest.graph)
    names = [graph.name, *(f"{graph.name} after yield {k}" for k in range(1, len(result)))]
    kinds = [None, *(point.call.operands[0].value for point in yields)]  # type: ignore[attr-defined]
    for segment, name, kind, resumed in zip(result, names, kinds, [None, *yields], strict=True):
        again = None
        if resumed is not None and resumed.handling is not None:
            again = _handle_again(segment, resumed, resumed.handling)
        _resume(segment, kind)
        if again is not None:
            again.block = segment.entry
            segment.entry.instructions.insert(0, again)
        _cut(segment)
        segment.name = name
    return result


def must_be_closed(graph: Graph) -> frozenset[int]:
    """The segments of a generator's graph in front of which the generator is suspended inside a ``try`` or
    ``with`` that runs code when the generator is closed there.

    CPython closes a generator that nobody refers to any more, by a `GeneratorExit` that is raised where it is
    suspended: ``except IndexError`` around a yield has nothing to do with that.
    """
    found = [block for block in graph.blocks for call in block.instructions if _is_yield(call)]
    return frozenset(number for number, block in enumerate(found, 1) if not _passes_on(block.handler))


def catches(graph: Graph) -> bool:
    """Whether code of the user sees what is raised at a yield of a generator's graph."""
    found = [block for block in graph.blocks for call in block.instructions if _is_yield(call)]
    return any(_is_caught(block.handler) for block in found)


def _passes_on(handler: Block | None) -> bool:
    """Whether a `GeneratorExit` that is raised into `handler` leaves the generator, and is but compared with
    other classes of `builtins`."""
    block, caught, met = handler, None, set[Block]()
    failed: set[Value] = set()
    while block is not None:
        if block in met:
            return False
        met.add(block)
        following: Block | None = None
        for call in block.instructions:
            function = target(call)
            if call.op == "catch":
                caught = call
            elif function is _check_exc_match_ or function is _bool_:
                compared = call.operands[1] is caught and _differs(call.operands[2])
                if not compared and call.operands[1] not in failed:
                    return False
                failed.add(call)
            elif function is _reraise_ and call.operands[1] is caught:
                break  # into the handler of the block
            elif function not in (_push_exc_info_, _pop_except_, _pass_on_) and not _differs(call):
                return False
        else:
            end = block.terminator
            if isinstance(end, Jump):
                following = end.target
            elif isinstance(end, Branch) and end.condition in failed:
                following = end.false
            else:
                return False
        block = block.handler if following is None else following
    return True


def _differs(kind: Value) -> bool:
    """Whether `kind` is a class of `builtins`, or a tuple of such, that does not catch a `GeneratorExit`."""
    if isinstance(kind, Instruction):
        if target(kind) is not _new_ or not isinstance(kind.operands[1], Const):
            return False
        return kind.operands[1].value is tuple and all(map(_differs, kind.operands[2:]))
    if not isinstance(kind, Const):
        return False
    classes = kind.value if isinstance(kind.value, tuple) else (kind.value,)
    return all(
        isinstance(cls, type) and cls.__module__ == "builtins" and cls not in GeneratorExit.__mro__
        for cls in classes
    )


def _is_caught(handler: Block | None) -> bool:
    """Whether code of the user sees what is raised into `handler`.

    From 3.12 ``yield from`` has a handler of its own, which only passes on what is thrown in.
    """
    while handler is not None:
        if len(handler.instructions) != 2 or target(handler.instructions[1]) is not _reraise_:
            return True
        handler = handler.handler
    return False


def _is_yield(call: Instruction) -> bool:
    callee = call.operands[0] if call.operands else None
    return isinstance(callee, Const) and callee.value in (_yield_, _yield_from_)


def cells_as_arguments(graph: Graph) -> None:
    """Make the cells of the closure arguments, behind the others."""
    cells = [graph.add_argument(f"{name}_cell") for name in graph.free]
    graph.free = ()
    replaced: dict[Value, Value] = {}
    for block in graph.blocks:
        for call in list(block.instructions):
            callee = call.operands[0] if call.operands else None
            if isinstance(callee, Const) and callee.value is _freevar_:
                index = call.operands[1]
                assert isinstance(index, Const) and isinstance(index.value, int)
                replaced[call] = cells[index.value]
                block.instructions.remove(call)
    graph.replace_uses(replaced)
    graph.has_varargs = graph.has_varkw = False
    graph.posonly_count = graph.kwonly_count = 0


def _note_handlers(graph: Graph, point: _Yield) -> None:
    """Find out in which handlers `point` stands: those from which there is a way back to before them."""
    ends = {call.operands[1] for call in graph.instructions() if target(call) is _pop_except_}
    open_ones = [value for value in point.live if value in ends]
    if not open_ones:
        return
    order = Dominators(graph)
    first = last = open_ones[0]
    for value in open_ones[1:]:
        if _is_there(order, value, first):
            first = value
        if _is_there(order, last, value):
            last = value
    point.handling = _Handling(first, _exception(last, {}))


def _is_there(order: Dominators, value: Value, when: Value) -> bool:
    """Whether there is `value` when `when` is made."""
    if isinstance(when, Phi):
        return order.available(value, when.block, 0)
    assert isinstance(when, Instruction) and when.block is not None
    return order.available(value, when.block, when.block.instructions.index(when))


def _live(graph: Graph, point: _Yield) -> tuple[Value, ...]:
    """What is needed behind `point`."""
    behind = point.block.instructions.index(point.call) + 1
    needed = [v for v in rest_of(graph, point.block, behind).live if v is not point.call]
    if point.handling is not None:
        exception = point.handling.exception
        if not isinstance(exception, Const) and exception not in needed:
            needed.append(exception)
    return tuple(needed)


def _exception(begun: Value, made: dict[Value, Value]) -> Value:
    """The exception that is handled since `_push_exc_info_` gave `begun`."""
    if isinstance(begun, Phi):
        if begun not in made:
            found = made[begun] = Phi(begun.block, name="handled")
            begun.block.phis.append(found)
            found.operands = {block: _exception(v, made) for block, v in begun.operands.items()}
        return made[begun]
    assert isinstance(begun, Instruction) and target(begun) is _push_exc_info_
    return begun.operands[1]


def _handle_again(segment: Graph, point: _Yield, handling: _Handling) -> Instruction:
    """What a `segment` begins with that goes on in a handler."""
    arguments: dict[Value, Value] = dict(zip(point.live, segment.arguments[1:], strict=True))
    exception = arguments.get(handling.exception, handling.exception)
    again = Instruction("call", (Const(_push_exc_info_), exception), position=point.call.position)
    segment.replace_uses({arguments[handling.outside]: again})
    return again


def _hand_out(point: _Yield, number: int) -> None:
    """Replace what is yielded by the triple of next segment, value and state."""
    value = point.call.operands[1]
    at = point.block.instructions.index(point.call)
    behind = point.block.instructions[at:]
    del point.block.instructions[at:]
    builder = Builder(point.block.graph, point.block)
    builder.position = point.call.position
    outside = None if point.handling is None else point.handling.outside
    # What the caller handles is another exception the next time.
    state = builder.call(_new_, tuple, *(Const(None) if v is outside else v for v in point.live))
    triple = builder.call(_new_, tuple, number, value, state)
    if outside is not None:
        builder.call(_pop_except_, outside)
    point.block.instructions += behind
    point.call.operands[1:] = [triple]


def _mark_returns(graph: Graph) -> None:
    for block in graph.blocks:
        terminator = block.terminator
        if isinstance(terminator, Return):
            builder = Builder(graph, block)
            builder.position = terminator.position
            builder.ret(builder.call(_new_, tuple, FINISHED, terminator.value, Const(())))


def _resume(graph: Graph, kind: object) -> None:
    """Add the leading parameters of a segment, and the code that uses them.

    `kind` is the suspension that is resumed; at the start of a generator there is none, and nothing can
    be sent or thrown in.
    """
    throwing = Argument("throwing", 0)
    if kind is None:
        graph.arguments[:0] = [throwing, Argument("sent", 1)]
    else:
        graph.arguments.insert(0, throwing)
    for index, argument in enumerate(graph.arguments):
        argument.index = index
    if kind is None:
        return
    sent = graph.arguments[1]
    start = graph.entry
    go_on = graph.add_block("go_on")
    go_on.instructions = start.instructions
    for instruction in go_on.instructions:
        instruction.block = go_on
    go_on.terminator = start.terminator
    for successor in go_on.terminator.successors:
        _rename_source(successor, start, go_on)
    thrown = graph.add_block("thrown")
    handler = start.handler
    if kind is _yield_from_:
        # What is thrown in goes to the inner iterator, as something sent.
        builder = Builder(graph, thrown)
        received = Phi(go_on, name="received")
        graph.replace_uses({sent: received})
        received.operands = {start: sent, thrown: builder.call(_thrown_, sent)}
        go_on.phis.append(received)
        builder.jump(go_on)
        if handler is not None:
            for phi in handler.phis:
                phi.operands.pop(start, None)
    else:
        thrown.terminator = Raise(sent)
        if handler is not None:
            thrown.handler = handler
            _rename_source(handler, start, thrown)
    start.handler = None
    start.instructions = []
    Builder(graph, start).branch(throwing, thrown, go_on)


def _rename_source(block: Block, old: Block, new: Block) -> None:
    for phi in block.phis:
        if old in phi.operands:
            phi.operands[new] = phi.operands.pop(old)


def _cut(graph: Graph) -> None:
    """Replace every yield, and what follows in its block, by a return."""
    for block in graph.blocks:
        for at, call in enumerate(block.instructions):
            if _is_yield(call):
                for successor in block.successors:
                    for phi in successor.phis:
                        phi.operands.pop(block, None)
                del block.instructions[at:]
                block.terminator = Return(call.operands[1], call.position)
                block.handler = None
                break
    remove_unreachable(graph)
