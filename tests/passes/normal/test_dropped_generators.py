"""Where drops are written, and that nothing is left of releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _drop_, _release_
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import normalise
from adbc.passes.normal.dropped_generators import Made, drop_generators
from adbc.passes.normal.needed_releases import needed_releases
from adbc.passes.query import target


def made(a: list[float]) -> Iterator[float]:
    try:
        yield from a
    finally:
        a.clear()


class Known:
    """Only `made` makes generators, and only `taking` consumes them."""

    def __init__(self, closes: bool) -> None:
        self.closes = closes

    def must_be_closed(self, function: Made) -> bool:
        return self.closes and function is made

    def makes_walked_by_closed(self, maker: object) -> bool:
        return False

    def only_consumes(self, function: Any, index: int) -> bool:
        return function is taking and index == 0


def taking(a: Iterator[float], n: int) -> list[float]:
    return [next(a) for _ in range(n)]


def dropped(function: Any, closes: bool = True) -> Graph:
    graph = normalise(lift(function, releases=True), function.__globals__)
    drop_generators(graph, Known(closes))
    verify(graph)
    assert not any(target(x) is _release_ for x in graph.instructions())
    return graph


def count(graph: Graph, function: Callable[..., Any]) -> int:
    return sum(target(x) is function for x in graph.instructions())


def left(a: list[float]) -> float:
    for x in made(a):
        if x > 1.0:
            break
    return len(a)


def returned(a: list[float]) -> Iterator[float]:
    g = made(a)
    next(g)
    return g


def stored(a: list[float], kept: list[Any]) -> None:
    for x in made(a):
        kept.append(x)
        break
    kept.append(made(a))


def given(a: Iterator[float]) -> float:
    for x in a:
        return x
    return 0.0


def test_a_loop_that_is_left_drops_there_and_for_exceptions() -> None:
    """One drop where it is left, and one for all exceptions; none where the generator is exhausted."""
    graph = dropped(left)
    assert count(graph, _drop_) == 2
    pads = {block.handler for block in graph.blocks if block.handler is not None}
    assert len(pads) == 1
    assert sum(target(x) is _drop_ for pad in pads for x in pad.instructions) == 1


@pytest.mark.parametrize(("function", "drops"), [(returned, 0), (stored, 2), (given, 0)])
def test_what_is_returned_or_given_is_not_dropped(function: Any, drops: int) -> None:
    assert count(dropped(function), _drop_) == drops


@pytest.mark.parametrize("function", [left, returned, stored, given], ids=lambda f: f.__name__)
def test_nothing_is_left_where_nothing_is_to_be_closed(function: Any) -> None:
    graph = dropped(function, closes=False)
    plain = normalise(lift(function), function.__globals__)
    assert [len(block.instructions) for block in graph.blocks] == [len(b.instructions) for b in plain.blocks]
    assert all(block.handler is None for block in graph.blocks)


def in_finally(a: list[float]) -> None:
    for x in a:
        try:
            if x:
                break
        finally:
            a.append(x)


def over_range(n: int) -> int:
    for k in range(n):
        if k > 3:
            return k * k
    return 0


@pytest.mark.parametrize(
    ("function", "needed"), [(in_finally, True), (returned, True), (over_range, False), (dropped, False)]
)
def test_releases_are_needed_where_a_generator_may_be_let_go_of(function: Any, needed: bool) -> None:
    graph = lift(function, releases=True)
    assert needed_releases(graph) == needed
    verify(graph)
    assert (count(graph, _release_) > 0) == needed
