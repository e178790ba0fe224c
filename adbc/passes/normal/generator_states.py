"""A generator with several yields, or one that is asked for values in several places, is written into what
consumes it: where it goes on is a number.

before::                                     graph both(x)
                                                 entry:
    b:                                               call _yield_(%x)
        %1 = call both(%x)                           %1 = call operator.neg(%x)
        %2 = call _iter_(%1)                         call _yield_(%1)
        jump head                                    return None
    head:
        %3 = call _next_(%2)
        %4 = call _exhausted_(%3)
        branch %4, done, body
    body:
        ...
        jump head

after::

    b:
        jump head
    head:
        %where = phi [b: 0, body: %next]
        switch %where, 0: entry, 1: on, default: end
    entry:
        jump body
    on:
        %1 = call operator.neg(%x)
        jump body
    body:
        %3 = phi [entry: %x, on: %1]
        %next = phi [entry: 1, on: 2]
        ...
        jump head
    end:
        jump done

Every place that asks leads to one block, which says by a number where the generator goes on; where it yields,
another number says who has asked.  What the generator remembers while it sleeps are values that are led
through phis, undefined on ways on which it has not got so far; so is what it is sent, which a yield gives
when the generator goes on behind it.  Where who asks has a handler for exceptions, so has the generator,
which has finished when it raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adbc.ir.builder import Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import forget_handler, protect
from adbc.ir.intrinsics import _exhausted_, _next_, _reraise_, _yield_
from adbc.ir.repair import repair
from adbc.ir.terminators import Branch, Jump, Return, Switch, Unreachable
from adbc.ir.traverse import predecessors, remove_unreachable, reverse_postorder, split_edge
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Position, Value
from adbc.passes.normal.inline_calls import put_graph, split, take_blocks
from adbc.passes.query import target

__all__ = ["Asking", "write_states"]

_FINISHED = -1


class Asking(NamedTuple):
    """Where a generator is asked for a value: `step` begins its block, `end` ends with the test of it.

    sent: what the yield gives, by which the generator goes on; None if that is nothing."""

    step: Instruction
    end: Block
    sent: Value | None = None


def write_states(
    graph: Graph,
    made: Instruction,
    places: Sequence[Asking],
    generator: Graph,
    begun: Graph,
    closing: Sequence[Block] = (),
) -> None:
    """Write `generator`, a copy that has its arguments, into `graph` in the place of `made`; all it is used
    for are the steps at `places`, whose bodies are entered from there only, and that it is closed where the
    blocks `closing` end.

    begun: a function that refuses what is sent first.
    """
    start = made.block
    assert start is not None
    hub = _Hub(graph, made.position, is_caught=any(_handlers(places)))
    where: dict[Block, int] = dict.fromkeys(closing, _FINISHED)
    """What is written at the ends of blocks about where the generator goes on, beside what its yields do."""
    if hub.ask is not hub.go_on:  # a generator that raises has finished
        where[hub.go_on] = _FINISHED
    if any(place.sent is not None for place in places):
        where |= _check_first(made, hub, generator, begun)
    take_blocks(graph, generator)
    values, inner = _cut(graph, generator, hub)
    heads = [place.step.block for place in places]
    _pass_on_exceptions(graph, places, hub, inner)
    graph.replace_uses(values | _lead_back(graph, places, hub))
    variables = Variables(graph, initial=lambda variable: UNDEF)
    for block in reverse_postorder(graph):
        for successor in block.successors:
            variables.edge(block, successor)
    variables.sealed.update(graph.blocks)
    variables.write("where", start, Const(0))
    variables.write("where", hub.finished, Const(_FINISHED))
    for block, at in where.items():
        variables.write("where", block, Const(at))
    for number, place in enumerate(hub.yielding, 1):
        variables.write("where", place, Const(number))
    for number, head in enumerate(heads):
        assert head is not None
        variables.write("who", head, Const(number))
    variables.arrange(graph.entry)
    for block in (hub.deliver, hub.finished, *([] if hub.raised is None else [hub.raised])):
        if isinstance(block.terminator, Switch):
            block.terminator.value = variables.read("who", block)
    if isinstance(hub.go_on.terminator, Switch):
        hub.go_on.terminator.value = variables.read("where", hub.ask)
        _keep_possible(hub.go_on)
    remove_unreachable(graph)
    _end_with_loops(graph)
    repair(graph, initial=UNDEF)


def _check_first(made: Instruction, hub: _Hub, generator: Graph, begun: Graph) -> dict[Block, int]:
    """Let `generator` begin by refusing what it is sent first; returns what is to be written about where it
    goes on: one that has been sent something too early can still begin."""
    hub.sent = Phi(hub.ask)
    hub.ask.phis.append(hub.sent)
    check = Instruction("call", [Const(None), hub.sent], position=made.position)
    check.block = generator.entry
    generator.entry.instructions.insert(0, check)
    before = set(generator.blocks)
    behind = put_graph(generator, check, begun, [hub.sent]).block
    if hub.ask is hub.go_on:
        return {}
    checking = [block for block in generator.blocks if block not in before and block is not behind]
    return {**dict.fromkeys((generator.entry, *checking), 0), behind: _FINISHED}


def _keep_possible(block: Block) -> None:
    """Let `block` go only where it may go by the constants that its switch can see: on other ways there are
    no values of what the generator remembers."""
    end = block.terminator
    assert isinstance(end, Switch)
    seen: set[Value] = {end.value}
    waiting = [end.value]
    for value in waiting:
        if isinstance(value, Phi):
            found = [v for v in value.operands.values() if v not in seen]
            seen.update(found)
            waiting += found
    numbers = {value.value for value in seen if isinstance(value, Const)}
    before = block.successors
    kept = {number: to for number, to in end.cases.items() if number in numbers}
    if _FINISHED in numbers:
        end.cases = kept
    elif kept:
        *others, last = kept
        end.cases, end.default = {number: kept[number] for number in others}, kept[last]
    if not end.cases:
        block.terminator = Jump(end.default, end.position)
    for phi in (phi for gone in before if gone not in block.successors for phi in gone.phis):
        phi.operands.pop(block, None)


def _handlers(places: Sequence[Asking]) -> list[Block | None]:
    """Where exceptions of the generator go, for each place that asks."""
    return [None if step.block is None else step.block.handler for step, _, _ in places]


def _pass_on_exceptions(graph: Graph, places: Sequence[Asking], hub: _Hub, inner: Sequence[Block]) -> None:
    """Let what the generator raises go where it goes if a step raises it."""
    handlers = _handlers(places)
    caught: dict[Block, dict[Phi, Value]] = {}
    for handler in dict.fromkeys(handlers):
        if handler is not None:
            caught[handler] = {phi: _merged(hub.ask, places, phi) for phi in handler.phis}
    for step, end, _ in places:
        for block in {step.block, end}:
            if block is not None and block.handler is not None:
                forget_handler(block)
    if len(caught) == 1 and None not in handlers:
        ((handler, values),) = caught.items()
        protect(graph, inner, handler, values)
    elif caught:
        protect(graph, inner, _raise_where_asked(graph, handlers, hub, caught), {})


def _merged(block: Block, places: Sequence[Asking], phi: Phi) -> Phi:
    """A phi of `block` with the value that `phi`, that of a handler, has at the place that has asked."""
    merged = Phi(block, phi.type, phi.name)
    block.phis.append(merged)
    for step, _, _ in places:
        assert step.block is not None
        merged.operands[step.block] = phi.operands.get(step.block, UNDEF)
    return merged


def _raise_where_asked(
    graph: Graph, handlers: Sequence[Block | None], hub: _Hub, caught: Mapping[Block, Mapping[Phi, Value]]
) -> Block:
    """A handler that raises what it catches again where it has been asked, for the handler there."""
    hub.raised = graph.add_block("raised")
    error = hub.raised.append(Instruction("catch", [], position=hub.position))
    again: dict[Block | None, Block] = {}
    for handler in dict.fromkeys(handlers):
        block = again[handler] = graph.add_block("raised.again")
        block.append(Instruction("call", [Const(_reraise_), error], position=hub.position))
        block.terminator = Unreachable(hub.position)
        block.handler = handler
        if handler is not None:
            for phi, value in caught[handler].items():
                phi.operands[block] = value
    hub.switch(hub.raised, {number: again[handler] for number, handler in enumerate(handlers)})
    return hub.raised


class _Hub:
    """The three blocks that all ways go through: to where the generator goes on, to who has asked for a
    value, and to who has asked when there is none.

    is_caught: whether exceptions have a handler, behind which the generator may be asked again."""

    def __init__(self, graph: Graph, position: Position | None, is_caught: bool) -> None:
        self.position = position
        self.go_on = self.ask = graph.add_block("go_on")
        if is_caught:
            self.ask = graph.add_block("ask")
            self.ask.terminator = Jump(self.go_on, position)
        self.deliver = graph.add_block("deliver")
        self.finished = graph.add_block("finished")
        self.value = Phi(self.deliver)
        self.deliver.phis.append(self.value)
        self.raised: Block | None = None
        """What is raised goes through this one, where those who ask have different handlers."""
        self.sent: Phi | None = None
        """What is sent, if anything is."""
        self.yielding: list[Block] = []
        """The blocks that end with a yield, in the order of the numbers of what follows."""

    def switch(self, block: Block, cases: dict[int, Block]) -> None:
        """Let `block` go to one of `cases`, by a value that is not known yet."""
        *others, last = cases
        if others:
            chosen = {k: cases[k] for k in others}
            block.terminator = Switch(UNDEF, chosen, cases[last], self.position)
        else:
            block.terminator = Jump(cases[last], self.position)


def _cut(graph: Graph, generator: Graph, hub: _Hub) -> tuple[dict[Value, Value], list[Block]]:
    """Cut `generator` at its yields, and say where it goes on behind each; returns what the yields give, and
    the blocks that the generator has become."""
    given = [call for call in generator.instructions() if target(call) is _yield_]
    inner = list(generator.blocks)
    ways = {0: generator.entry}
    values: dict[Value, Value] = dict.fromkeys(given, Const(None))
    for number, call in enumerate(given, 1):
        place = call.block
        assert place is not None
        behind = ways[number] = split(graph, place, place.instructions.index(call))
        inner.append(behind)
        if hub.sent is not None:
            received = values[call] = Phi(behind)
            received.operands[hub.go_on] = hub.sent
            behind.phis.append(received)
        if hub.ask is not hub.go_on:  # what stands in front of the yield may raise
            at_yield = graph.add_block(f"{place.label}.yield")
            place.terminator = Jump(at_yield, hub.position)
            place = at_yield
        hub.yielding.append(place)
        hub.value.operands[place] = call.operands[1]
        place.terminator = Jump(hub.deliver, hub.position)
    for block in inner:
        if isinstance(block.terminator, Return):
            block.terminator = Jump(hub.finished, hub.position)
    ways[_FINISHED] = hub.finished
    hub.switch(hub.go_on, ways)
    return values, inner


def _lead_back(graph: Graph, places: Sequence[Asking], hub: _Hub) -> dict[Value, Value]:
    """Lead all who ask to the generator, and what it gives to the bodies of those; returns what has become
    of the steps."""
    taken: dict[Value, Value] = {}
    bodies: list[Block] = []
    exits: list[Block] = []
    for step, end, sent in places:
        head, branch = step.block, end.terminator
        assert head is not None and isinstance(branch, Branch)
        own, left = (
            graph.add_block(f"{branch.false.label}.taken"),
            graph.add_block(f"{branch.true.label}.left"),
        )
        for block, following in ((own, branch.false), (left, branch.true)):
            block.terminator = Jump(following, step.position)
            for phi in following.phis:
                phi.operands[block] = phi.operands.pop(end)
        got = taken[step] = Phi(own, name=step.name)
        got.position = step.position
        got.operands[hub.deliver] = hub.value
        own.phis.append(got)
        bodies.append(own)
        exits.append(left)
        if end is not head:
            graph.blocks.remove(end)
        head.instructions = []
        head.terminator = Jump(hub.ask, step.position)
        if hub.sent is not None:
            hub.sent.operands[head] = Const(None) if sent is None else sent
    hub.switch(hub.deliver, dict(enumerate(bodies)))
    hub.switch(hub.finished, dict(enumerate(exits)))
    return taken


def _end_with_loops(graph: Graph) -> None:
    """Let what loops take from iterators be values in their bodies only: behind a loop there is none, and
    nothing may be led on from there."""
    tests = [call for call in graph.instructions() if target(call) is _exhausted_]
    sources = predecessors(graph)
    for test in tests:
        block, step = test.block, test.operands[1]
        assert block is not None
        branch = block.terminator
        if not isinstance(branch, Branch) or branch.condition is not test or target(step) is not _next_:
            continue
        body = branch.false
        if body.phis or len(sources[body]) > 1:
            body = split_edge(block, body)
        taken = Phi(body)
        graph.replace_uses({step: taken})
        test.operands[1] = step
        taken.operands[block] = step
        body.phis.append(taken)
