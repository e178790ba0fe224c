"""The rest of a graph, run on the values that were live, is what remains of the function."""

from __future__ import annotations

import operator
from typing import Any

import pytest

from adbc.ir.continuation import rest_of
from adbc.ir.graph import Block, Graph
from adbc.ir.interpret import interpret
from adbc.ir.parser import parse_graph
from adbc.ir.terminators import Return
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.ir.verify import verify

COUNT = """\
graph count(x, n)
entry:
    jump loop
loop:
    %i = phi [entry: 0, small: %6, large: %6]
    %s = phi [entry: 0.0, small: %4, large: %5]
    %1 = call operator.lt(%i, %n)
    branch %1, body, done
body:
    %2 = call operator.mul(%x, %i)
    %3 = call operator.gt(%2, 3.0)
    %6 = call operator.add(%i, 1)
    branch %3, large, small
small:
    %4 = call operator.sub(%s, %2)
    jump loop
large:
    %5 = call operator.add(%s, %2)
    jump loop
done:
    %7 = call operator.mul(%s, %x)
    return %7
"""


def run_to(graph: Graph, stop: Block, index: int, visit: int, *arguments: Any) -> dict[Value, Any] | None:
    """The values when `stop` is entered for the `visit`-th time and `index` instructions have run."""
    values: dict[Value, Any] = dict(zip(graph.arguments, arguments, strict=True))

    def get(value: Value) -> Any:
        return value.value if isinstance(value, Const) else values[value]

    block, source = graph.entry, None
    while True:
        if source is not None:
            values.update({phi: get(phi.operands[source]) for phi in block.phis})
        if block is stop:
            visit -= 1
        for i, instruction in enumerate(block.instructions):
            if block is stop and visit == 0 and i == index:
                return values
            function, *operands = map(get, instruction.operands)
            values[instruction] = function(*operands)
        if block is stop and visit == 0:
            return values
        terminator = block.terminator
        if isinstance(terminator, Return):
            return None
        source = block
        successors = terminator.successors
        block = successors[0] if len(successors) == 1 or get(terminator.values[0]) else successors[1]


@pytest.mark.parametrize("label", ["entry", "loop", "body", "small", "large", "done"])
def test_every_rest_finishes_the_function(label: str) -> None:
    graph = parse_graph(COUNT)
    expected = interpret(graph, 1.3, 6)
    block = next(b for b in graph.blocks if b.label == label)
    for index in range(len(block.instructions) + 1):
        rest = rest_of(graph, block, index)
        verify(rest.graph, normal_form=True)
        for visit in (1, 2, 3):
            values = run_to(graph, block, index, visit, 1.3, 6)
            if values is not None:
                assert interpret(rest.graph, *(values[v] for v in rest.live)) == expected


def test_only_what_is_needed_is_an_argument() -> None:
    graph = parse_graph(COUNT)
    done = graph.blocks[-1]
    (product,) = done.instructions
    assert [type(v) for v in rest_of(graph, done, 0).live] == [Phi, Argument]
    assert rest_of(graph, done, 1).live == (product,)
    assert rest_of(graph, done, 1, first=graph.arguments).live == (*graph.arguments, product)


def test_copies_are_found_by_their_originals() -> None:
    graph = parse_graph(COUNT)
    body = next(b for b in graph.blocks if b.label == "body")
    rest = rest_of(graph, body, 1)
    assert [len(rest.copies[i]) for i in body.instructions] == [1, 2, 2]
    copy: Instruction = rest.copies[body.instructions[1]][0]
    assert isinstance(copy.operands[0], Const) and copy.operands[0].value is operator.gt
