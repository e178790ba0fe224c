"""What is written in takes the instructions that the same program takes if it is written by hand."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import adbc
from adbc.passes.query import constant
from adbc.runtime import default_engine


def scaled(v: float, k: float) -> float:
    return v * k


def decorated(function: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> float:
        return function(*args, **kwargs)

    return wrapper


wrapped = decorated(scaled)


@contextlib.contextmanager
def offset(x: float) -> Iterator[float]:
    yield x * 2.0


class Pair(NamedTuple):
    a: float
    b: float


class Bag:
    def __init__(self, values: list[float]) -> None:
        self.values = values

    def __iter__(self) -> Iterator[float]:
        for v in self.values:
            yield v * 3.0


def by_decorator(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        total += wrapped(v, k=x)
    return total


def by_partial(x: float, xs: list[float]) -> float:
    part = functools.partial(scaled, k=x)
    total = 0.0
    for v in xs:
        total += part(v)
    return total


def by_lambda(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in map(lambda v: v * x, xs):
        total += v
    return total


def multiplied(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        total += v * x
    return total


def with_manager(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        with offset(x) as y:
            total += y * v
    return total


def without_manager(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        y = x * 2.0
        total += y * v
    return total


def with_pairs(x: float, xs: list[float]) -> float:
    p = Pair(x, 0.0)
    for v in xs:
        p = p._replace(a=p.a * v, b=p.b + p[0])
    return p.a + p.b


def without_pairs(x: float, xs: list[float]) -> float:
    a, b = x, 0.0
    for v in xs:
        a, b = a * v, b + a
    return a + b


def in_a_bag(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in Bag(xs):
        total += v * x
    return total


def in_no_bag(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        total += v * 3.0 * x
    return total


@pytest.mark.parametrize(
    ("written", "by_hand"),
    [
        (by_decorator, multiplied), (by_partial, multiplied), (by_lambda, multiplied),
        (with_manager, without_manager), (with_pairs, without_pairs), (in_a_bag, in_no_bag),
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_as_many_instructions(written: Any, by_hand: Any) -> None:
    assert calls_of(written) == calls_of(by_hand)


def calls_of(function: Any) -> list[str]:
    """What a function calls in normal form, in any order; names of modules are not looked up."""
    graph = default_engine().graphs.primal(function)
    names = [getattr(constant(i.operands[0]), "__name__", "unknown") for i in graph.instructions()]
    return sorted(names)


def both(x: float, xs: list[float]) -> Iterator[float]:
    for v in xs:
        yield v * x
        yield v + x


def of_two_yields(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in both(x, xs):
        total += v * v
    return total


def test_where_a_generator_goes_on_is_a_number() -> None:
    """Beside the four operations there are the steps of one iterator, and nothing is called for the state."""
    assert calls_of(of_two_yields) == ["_exhausted_", "_iter_", "_next_", "add", "iadd", "mul", "mul"]


@pytest.mark.parametrize(
    "function", [by_decorator, by_partial, with_manager, with_pairs, in_a_bag, of_two_yields],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_nothing_is_built_after_the_third_call(function: Any, at_once: None) -> None:
    engine = default_engine()
    gradient = adbc.value_and_grad(function)
    built = []
    for _ in range(20):
        before = engine.builds
        gradient(0.7, [0.1, 0.4, 0.9])
        built.append(engine.builds - before)
    assert not any(built[3:]), built
