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
through phis, undefined on ways on which it has not got so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adbc.ir.builder import Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _exhausted_, _next_, _yield_
from adbc.ir.repair import repair
from adbc.ir.terminators import Branch, Jump, Return, Switch
from adbc.ir.traverse import predecessors, remove_unreachable, reverse_postorder, split_edge
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Position, Value
from adbc.passes.normal.inline_calls import split, take_blocks
from adbc.passes.query import target

__all__ = ["Asking", "write_states"]

_FINISHED = -1


class Asking(NamedTuple):
    """Where a generator is asked for a value: `step` begins its block, `end` ends with the test of it."""

    step: Instruction
    end: Block


def write_states(graph: Graph, made: Instruction, places: Sequence[Asking], generator: Graph) -> None:
    """Write `generator`, a copy that has its arguments, into `graph` in the place of `made`; all it is used
    for are the steps at `places`, whose bodies are entered from there only."""
    start = made.block
    assert start is not None
    take_blocks(graph, generator)
    hub = _Hub(graph, made.position)
    values = _cut(graph, generator, hub)
    heads = [step.block for step, _ in places]
    graph.replace_uses(values | _lead_back(graph, places, hub))
    variables = Variables(graph, initial=lambda variable: UNDEF)
    for block in reverse_postorder(graph):
        for successor in block.successors:
            variables.edge(block, successor)
    variables.sealed.update(graph.blocks)
    variables.write("where", start, Const(0))
    variables.write("where", hub.finished, Const(_FINISHED))
    for number, place in enumerate(hub.yielding, 1):
        variables.write("where", place, Const(number))
    for number, head in enumerate(heads):
        assert head is not None
        variables.write("who", head, Const(number))
    variables.arrange(graph.entry)
    for block, name in ((hub.go_on, "where"), (hub.deliver, "who"), (hub.finished, "who")):
        if isinstance(block.terminator, Switch):
            block.terminator.value = variables.read(name, block)
    remove_unreachable(graph)
    _end_with_loops(graph)
    repair(graph, initial=UNDEF)


class _Hub:
    """The three blocks that all ways go through: to where the generator goes on, to who has asked for a
    value, and to who has asked when there is none."""

    def __init__(self, graph: Graph, position: Position | None) -> None:
        self.position = position
        self.go_on = graph.add_block("go_on")
        self.deliver = graph.add_block("deliver")
        self.finished = graph.add_block("finished")
        self.value = Phi(self.deliver)
        self.deliver.phis.append(self.value)
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


def _cut(graph: Graph, generator: Graph, hub: _Hub) -> dict[Value, Value]:
    """Cut `generator` at its yields, and say where it goes on behind each; returns what the yields give."""
    given = [call for call in generator.instructions() if target(call) is _yield_]
    inner = list(generator.blocks)
    ways = {0: generator.entry}
    for number, call in enumerate(given, 1):
        place = call.block
        assert place is not None
        ways[number] = split(graph, place, place.instructions.index(call))
        inner.append(ways[number])
        hub.yielding.append(place)
        hub.value.operands[place] = call.operands[1]
        place.terminator = Jump(hub.deliver, hub.position)
    for block in inner:
        if isinstance(block.terminator, Return):
            block.terminator = Jump(hub.finished, hub.position)
    ways[_FINISHED] = hub.finished
    hub.switch(hub.go_on, ways)
    return {call: Const(None) for call in given}


def _lead_back(graph: Graph, places: Sequence[Asking], hub: _Hub) -> dict[Value, Value]:
    """Lead all who ask to the generator, and what it gives to the bodies of those; returns what has become
    of the steps."""
    taken: dict[Value, Value] = {}
    bodies: list[Block] = []
    exits: list[Block] = []
    for step, end in places:
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
        head.terminator = Jump(hub.go_on, step.position)
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
