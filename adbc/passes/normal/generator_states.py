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
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Value
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
    position = made.position
    go_on = graph.add_block("go_on")
    given = [call for call in generator.instructions() if target(call) is _yield_]
    resumed: dict[int, Block] = {0: generator.entry}
    yielding: list[tuple[Block, Value]] = []
    inner = list(generator.blocks)
    for number, call in enumerate(given, 1):
        place = call.block
        assert place is not None
        rest = split(graph, place, place.instructions.index(call))
        inner.append(rest)
        resumed[number] = rest
        yielding.append((place, call.operands[1]))
    finished = graph.add_block("finished")
    for block in inner:
        if isinstance(block.terminator, Return):
            block.terminator = Jump(finished, position)
    deliver = graph.add_block("deliver")
    value = Phi(deliver)
    deliver.phis.append(value)
    for place, yielded in yielding:
        place.terminator = Jump(deliver, position)
        value.operands[place] = yielded

    taken: dict[Value, Value] = {call: Const(None) for call in given}
    bodies: list[Block] = []
    ends: list[Block] = []
    for step, end in places:
        head, branch = step.block, end.terminator
        assert head is not None and isinstance(branch, Branch)
        done, body = branch.true, branch.false
        own = graph.add_block(f"{body.label}.taken")
        own.terminator = Jump(body, step.position)
        got = Phi(own, name=step.name)
        got.position = step.position
        got.operands[deliver] = value
        own.phis.append(got)
        taken[step] = got
        for phi in body.phis:
            phi.operands[own] = phi.operands.pop(end)
        left = graph.add_block(f"{done.label}.left")
        left.terminator = Jump(done, step.position)
        for phi in done.phis:
            phi.operands[left] = phi.operands.pop(end)
        bodies.append(own)
        ends.append(left)
        head.instructions = []
        head.terminator = Jump(go_on, step.position)
    gone = {end for step, end in places if end is not step.block}
    heads = [step.block for step, _ in places]
    graph.blocks = [block for block in graph.blocks if block not in gone]
    graph.replace_uses(taken)

    cases: dict[int, Block] = {**resumed, _FINISHED: finished}
    go_on.terminator = _switch(cases, position)
    for block, ways in ((deliver, bodies), (finished, ends)):
        block.terminator = _switch(dict(enumerate(ways)), position)
    variables = Variables(graph, initial=lambda variable: UNDEF)
    for block in reverse_postorder(graph):
        for successor in block.successors:
            variables.edge(block, successor)
    variables.sealed.update(graph.blocks)
    variables.write("where", start, Const(0))
    variables.write("where", finished, Const(_FINISHED))
    for number, (place, _) in enumerate(yielding, 1):
        variables.write("where", place, Const(number))
    for number, head in enumerate(heads):
        assert head is not None
        variables.write("who", head, Const(number))
    variables.arrange(graph.entry)
    for block, name in ((go_on, "where"), (deliver, "who"), (finished, "who")):
        if isinstance(block.terminator, Switch):
            block.terminator.value = variables.read(name, block)
    remove_unreachable(graph)
    _end_with_loops(graph)
    repair(graph, initial=UNDEF)


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


def _switch(cases: dict[int, Block], position: object) -> Switch | Jump:
    """Go to one of `cases`, by a value that is not known yet."""
    *others, last = cases
    if not others:
        return Jump(cases[last], position)  # type: ignore[arg-type]
    return Switch(UNDEF, {k: cases[k] for k in others}, cases[last], position)  # type: ignore[arg-type]
