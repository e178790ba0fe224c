"""Generators that give a number of values one after the other, as functions."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adbc import emit, lift, passes
from adbc.passes.normal.straight_generators import given_at_once


def two(x: Any) -> Iterator[Any]:
    yield x
    y = x * 2.0
    yield y + 1.0


def none(x: Any) -> Iterator[Any]:
    return
    yield x


def some(x: Any) -> Iterator[Any]:
    while x < 3.0:
        yield x
        x += 1.0


def returning(x: Any) -> Iterator[Any]:
    yield x
    return x


def delegating(x: Any) -> Iterator[Any]:
    yield from (x, x)


def guarded(x: Any) -> Iterator[Any]:
    try:
        yield x
    finally:
        x += 1.0


def sent(x: Any) -> Iterator[Any]:
    y = yield x
    yield y is None


def graph_of(f: Callable[..., Any]) -> Any:
    assert isinstance(f, types.FunctionType)
    graph = lift.lift(f, inline=True)
    passes.normalise(graph, {})
    return graph


@pytest.mark.parametrize("f", [two, sent])
def test_a_straight_generator_is_a_function(f: Callable[..., Any]) -> None:
    found = given_at_once(graph_of(f))
    assert found is not None
    graph, count = found
    assert emit.emit_function(graph, globals())(1.5) == tuple(f(1.5))
    assert count == 2


@pytest.mark.parametrize("f", [none, some, returning, delegating, guarded])
def test_others_are_none(f: Callable[..., Any]) -> None:
    assert given_at_once(graph_of(f)) is None
