"""Arithmetic is moved to where it is used; nothing else moves, and nothing is used before it is there.

``gather.ir`` has the single decisions.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adbc
from adbc.emit.gather import gather
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.terminators import Return
from adbc.ir.values import Instruction, Value
from adbc.ir.verify import verify
from adbc.passes.query import target
from adbc.testing import test_rule as check_rule
from adbc.types.lattice import FLOAT, TANGENT


def straight(*names: str) -> tuple[Graph, Builder, list[Value]]:
    graph = Graph("f")
    arguments: list[Value] = [graph.add_argument(name, FLOAT) for name in names]
    return graph, Builder(graph, graph.add_block("entry")), arguments


def look(*arguments: Any) -> float:
    """Something that might do anything."""
    return math.fsum(arguments)


def finish(builder: Builder, *values: Value) -> Graph:
    builder.block.terminator = Return(builder.call(look, *values))
    verify(builder.graph)
    gather(builder.graph)
    verify(builder.graph)
    return builder.graph


def order(graph: Graph) -> list[Instruction]:
    return list(graph.entry.instructions)


def test_blocks_with_handlers_stay() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x * y
        try:
            w = 2.0 * x - z
            z = w / y
            z += 1.0
        except ZeroDivisionError:
            w = 3.0 * z
        return w * z

    check_rule(f, 1.5, 0.7)
    assert adbc.grad(f, argnums=(0, 1))(1.5, 0.0) == (0.0, 0.0)  # 3 z z, and z is 1.5 * 0.0
    assert adbc.jvp(f, (1.5, 0.0), (1.0, 1.0))[1] == 0.0


@given(st.data())
def test_any_block(data: st.DataObject) -> None:
    graph, builder, arguments = straight("x", "y", "z")
    values = list(arguments)
    pick = st.integers(0, 10**6).map(lambda k: values[-1 - k % min(len(values), 6)])
    for _ in range(data.draw(st.integers(1, 25)) + data.draw(st.sampled_from([0, 0, 60]))):
        a, b = data.draw(pick), data.draw(pick)
        kind = data.draw(st.sampled_from(["look", "sum", "sum", "tangent", "quotient", "square"]))
        if kind == "look":
            made = builder.call(look, a, b, type=FLOAT)
        elif kind == "sum":
            made = builder.call(operator.add, a, b, type=FLOAT)
        elif kind == "tangent":
            made = builder.call(operator.mul, a, b, type=TANGENT)
        elif kind == "quotient":
            made = builder.call(operator.truediv, a, b, type=data.draw(st.sampled_from([FLOAT, TANGENT])))
        else:
            made = builder.call(operator.mul, a, a, type=FLOAT)
        values.append(made)
    before = list(graph.entry.instructions)
    graph = finish(builder, *data.draw(st.lists(pick, min_size=1, max_size=4)))
    (result,) = graph.entry.terminator.values
    assert isinstance(result, Instruction)
    before.append(result)
    after = order(graph)
    fixed = [i for i in before if target(i) is look or (target(i) is operator.truediv and i.type == FLOAT)]
    assert len(after) == len(before) and set(after) == set(before)
    assert [i for i in after if i in fixed] == fixed
    for k, instruction in enumerate(after):
        assert all(v in arguments or v in after[:k] for v in instruction.operands[1:])
        if target(instruction) is operator.truediv:
            place = before.index(instruction)
            assert set(after[:k]) >= {i for i in before[:place] if i in fixed}


@pytest.mark.parametrize("at_the_end", [True, False])
def test_large_expressions_are_computed_too(at_the_end: bool) -> None:
    graph, builder, (x, y) = straight("x", "y")
    total: Value = x
    for _ in range(200):
        total = builder.call(
            operator.add, builder.call(operator.mul, total, y, type=TANGENT), y, type=TANGENT
        )
    if at_the_end:
        one, two = graph.add_block("one"), graph.add_block("two")
        test = builder.call(operator.lt, x, y)
        builder.branch(test, one, two)
        Builder(graph, one).ret(total)
        Builder(graph, two).ret(x)
        verify(gather(graph))
        assert order(graph)[-1] is test
    else:
        finish(builder, builder.call(look, y), total)
    assert sum(i.type is TANGENT for i in order(graph)) == 400


def test_derivatives_are_the_same_to_the_last_digit() -> None:
    def f(x: float, y: float, n: int) -> float:
        for k in range(n):
            u, v = x * y + 0.25 * k, x - 0.5 * y
            x, y = math.sin(u) * v - y / (1.5 + v * v), 0.3 * x * math.cos(v) + u * 0.01
        return x * y

    check_rule(f, 0.4, 0.7, 5)
    value, (dx, dy) = adbc.value_and_grad(f, argnums=(0, 1))(0.4, 0.7, 5)
    _, along = adbc.jvp(f, (0.4, 0.7, 5), (1.0, 0.0, None))
    assert along == pytest.approx(dx, rel=1e-13)
    assert value == f(0.4, 0.7, 5)
    assert dy != 0.0
