"""Types that builders leave out follow from those that they write, from rows, and from arithmetic."""

from __future__ import annotations

import operator

import numpy as np

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.values import Phi
from adbc.rules import default_table
from adbc.runtime import make_engine
from adbc.types.completion import complete, constant
from adbc.types.derived import (
    UNDO,
    CallableType,
    CotangentOf,
    LinksType,
    PlayedType,
    SequenceType,
    ShadowOf,
    TapeType,
    UnionType,
    count_typed,
    merge,
    present,
)
from adbc.types.lattice import ANY, BOOL, FLOAT, INT, NONE, TANGENT, AbstractType, ArrayType, TupleType

VECTOR = ArrayType("float64", 1, np.ndarray)


def completed(graph: Graph) -> Graph:
    knowledge = make_engine(default_table()).knowledge
    return complete(graph, {id(mystery): constant(UNDO)}, knowledge.oracle, knowledge.sample)


def mystery(x: object) -> object:
    return x


def result_of(function: object, *types: AbstractType, more: tuple[object, ...] = ()) -> AbstractType:
    """The type of a call of `function` on values of these types, and constants behind them."""
    graph = Graph("f")
    arguments = [graph.add_argument(f"x{i}", type) for i, type in enumerate(types)]
    builder = Builder(graph)
    call = builder.call(function, *arguments, *more)
    builder.ret(call)
    completed(graph)
    assert isinstance(call.type, AbstractType)
    return call.type


def test_arithmetic_with_a_derivative_gives_one() -> None:
    assert result_of(operator.mul, FLOAT, TANGENT) is TANGENT
    assert result_of(operator.mul, VECTOR, CotangentOf(VECTOR)) == CotangentOf(VECTOR)
    assert result_of(operator.add, CotangentOf(VECTOR), CotangentOf(VECTOR)) == CotangentOf(VECTOR)
    assert result_of(operator.neg, CotangentOf(VECTOR)) == CotangentOf(VECTOR)
    assert result_of(operator.mul, FLOAT, VECTOR) == VECTOR


def test_what_is_computed_from_a_shadow_is_no_shadow() -> None:
    assert result_of(operator.mul, FLOAT, ShadowOf(VECTOR)) == CotangentOf(VECTOR)
    assert result_of(operator.getitem, ShadowOf(VECTOR), INT) is TANGENT


def test_records_are_taken_apart() -> None:
    ways = UnionType(frozenset({TupleType((NONE, FLOAT)), TupleType((INT, FLOAT, VECTOR))}))
    assert result_of(intrinsics._unpack_, ways, more=(3,)) == TupleType((INT, FLOAT, VECTOR))
    assert result_of(operator.getitem, ways, more=(0,)) == merge(NONE, INT)
    assert result_of(reversed, TapeType("loop")) == PlayedType("loop")


def test_a_pullback_says_what_it_gives() -> None:
    gives = SequenceType((NONE, CotangentOf(VECTOR)))
    graph = Graph("f")
    pullback = graph.add_argument("pullback", merge(CallableType(gives), NONE))  # of one way only
    builder = Builder(graph)
    given = builder.call(pullback, None)
    parts = builder.call(intrinsics._unpack_, given, 2)
    builder.ret(builder.call(intrinsics._project_, parts, 1))
    completed(graph)
    assert given.type == gives
    assert [i.type for i in graph.instructions()][1:] == [TupleType(gives.elements), CotangentOf(VECTOR)]


def test_rows_come_first_and_what_nobody_knows_stays_unknown() -> None:
    assert result_of(mystery, FLOAT) == UNDO
    assert result_of(operator.mul, ANY, FLOAT) is ANY


def test_a_loop_settles() -> None:
    graph = Graph("f")
    seed = graph.add_argument("seed", TANGENT)
    test = graph.add_argument("test", BOOL)
    entry = graph.add_block("entry")
    loop, end = graph.add_block("loop"), graph.add_block("end")
    Builder(graph, entry).jump(loop)
    total = Phi(loop)
    loop.phis.append(total)
    builder = Builder(graph, loop)
    total.operands = {entry: Builder.value(0.0), loop: builder.call(operator.add, total, seed)}
    builder.branch(test, loop, end)
    Builder(graph, end).ret(total)
    completed(graph)
    assert total.type is TANGENT
    assert count_typed(graph) == (4, 4)


def test_what_some_ways_do_not_save_may_be_none() -> None:
    either = merge(FLOAT, NONE)
    assert either == UnionType(frozenset({FLOAT, NONE}))
    assert present(either) == FLOAT
    assert result_of(operator.mul, either, TANGENT) is TANGENT
    assert merge(LinksType("loop"), NONE) == LinksType("loop")
    assert merge(CotangentOf(VECTOR), NONE) == CotangentOf(VECTOR)
    assert merge(FLOAT, ANY) is ANY
