"""A lifted graph does what the function does: before and after normalising, verified at each step."""

from __future__ import annotations

from typing import Any

import pytest

from adbc.ir.printer import print_graph
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import NORMAL, normalise
from tests.lift.judge import run_function, run_graph
from tests.lift.raising import CASES

IDS = [f"{function.__name__}-{k}" for k, (function, _) in enumerate(CASES)]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=IDS)
def test_lifted_graph_agrees(function: Any, arguments: Any) -> None:
    graph = lift(function)
    verify(graph)
    assert run_graph(graph, function, arguments) == run_function(function, arguments), print_graph(graph)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=IDS)
def test_graph_agrees_after_each_pass(function: Any, arguments: Any) -> None:
    graph = lift(function)
    expected = run_function(function, arguments)
    for step in NORMAL.stages:
        step.run(graph, function.__globals__)
        verify(graph)
        assert run_graph(graph, function, arguments) == expected, f"{step.name}\n{print_graph(graph)}"


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=IDS)
def test_inlined_comprehensions_agree(function: Any, arguments: Any) -> None:
    graph = lift(function, inline=True)
    verify(graph)
    expected = run_function(function, arguments)
    assert run_graph(graph, function, arguments) == expected, print_graph(graph)
    for step in NORMAL.stages:
        step.run(graph, function.__globals__)
        verify(graph)
        assert run_graph(graph, function, arguments) == expected, f"{step.name}\n{print_graph(graph)}"


@pytest.mark.parametrize("function", dict.fromkeys(function for function, _ in CASES))
def test_normalising_leaves_normal_form_and_is_done_then(function: Any) -> None:
    graph = normalise(lift(function), function.__globals__)
    verify(graph, normal_form=True)
    text = print_graph(graph)
    normalise(graph, function.__globals__)
    verify(graph, normal_form=True)
    assert len(print_graph(graph).splitlines()) <= len(text.splitlines())
