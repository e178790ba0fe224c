"""What the passes do together, and in which order they are run."""

from __future__ import annotations

import math
import types
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.interpret import interpret
from adbc.ir.intrinsics import _cell_get_, _cell_new_, _next_
from adbc.ir.parser import parse_graph as parse
from adbc.ir.values import Const
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import NORMAL, normalise
from adbc.passes.pipeline import clean


def calls(graph: Graph) -> list[Any]:
    """The constant targets of all calls."""
    return [
        i.operands[0].value
        for i in graph.instructions()
        if i.op == "call" and isinstance(i.operands[0], Const)
    ]


def test_comprehensions_are_loops_on_every_version() -> None:
    def f(xs: Any, k: Any) -> Any:
        return [[x * k for x in row] for row in xs], {x + k for x in xs}, {x: (k, x) for x in xs}

    graph = normalise(lift(f, inline=True), f.__globals__)
    verify(graph, normal_form=True)
    assert not any(
        isinstance(v, Const) and v.value is types.FunctionType
        for i in graph.instructions()
        for v in i.operands
    )
    assert calls(graph).count(_next_) == 4
    assert not {_cell_new_, _cell_get_} & set(calls(graph))


def test_generator_expressions_stay_functions() -> None:
    def f(xs: Any) -> Any:
        return sum(x for x in xs)

    graph = normalise(lift(f), f.__globals__)
    assert any(
        isinstance(v, Const) and v.value is types.FunctionType
        for i in graph.instructions()
        for v in i.operands
    )


def test_handlers_of_what_is_taken_apart_go() -> None:
    graph = parse("""
        graph f(x)
        entry: handler h
            %1 = call _new_(builtins.tuple, %x, 2)
            %2 = call _unpack_(%1, 2)
            jump behind
        behind:
            %3 = call _project_(%2, 0)
            return %3
        h:
            %4 = catch
            jump other
        other:
            return 0
        """)
    clean(graph)
    verify(graph, normal_form=True)
    assert len(graph.blocks) == 1
    assert interpret(graph, 5.0) == 5.0


def test_pipeline_reports_each_stage_in_order() -> None:
    def f(x: Any) -> Any:
        return [math.sin(x)] if not x else None

    seen: list[str] = []
    graph = normalise(lift(f), f.__globals__, after=lambda step, graph: seen.append(step.name))
    verify(graph, normal_form=True)
    assert seen == [step.name for step in NORMAL.stages]
    assert all(step.reason for step in NORMAL.stages)
