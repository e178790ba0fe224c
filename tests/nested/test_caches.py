"""Caches of functions in derivatives of derivatives: a recursion takes as many steps as in a plain call, and
what depends on other things at one of the levels is never taken for the same."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from adbc.rules import SOURCES
from adbc.rules.lookup import RuleTable
from adbc.runtime import make_engine, using

X = 0.7
calls: list[int] = []


@pytest.fixture(scope="module", autouse=True)
def no_rules_of_the_program() -> Iterator[None]:
    """Other tests may have declared rules in the table of the process: with these, caches are by-passed."""
    with using(make_engine(RuleTable(SOURCES), adbc.Config())):
        yield


@functools.lru_cache(None)
def fibonacci(n: int, x: float) -> float:
    calls.append(n)
    return x if n < 2 else fibonacci(n - 1, x) * 0.5 + fibonacci(n - 2, x) * x


def plain(n: int, x: float) -> float:
    return x if n < 2 else plain(n - 1, x) * 0.5 + plain(n - 2, x) * x


@functools.lru_cache(None)
def of_two(n: int, x: float, y: float) -> float:
    if n < 1:
        return x * x * y
    return of_two(n - 1, x, y) + of_two(n - 1, y, x) + of_two(n - 1, x, x)


def plain_of_two(n: int, x: float, y: float) -> float:
    if n < 1:
        return x * x * y
    return plain_of_two(n - 1, x, y) + plain_of_two(n - 1, y, x) + plain_of_two(n - 1, x, x)


@functools.lru_cache(None)
def stopping(n: int, x: float, p: float) -> float:
    if n < 1:
        return x * x * x * p * p
    return stopping(n - 1, x, p) + stopping(n - 1, adbc.stop_gradient(x), p) * x


def plain_stopping(n: int, x: float, p: float) -> float:
    if n < 1:
        return x * x * x * p * p
    return plain_stopping(n - 1, x, p) + plain_stopping(n - 1, adbc.stop_gradient(x), p) * x


@functools.lru_cache(None)
def stopping_outer(n: int, x: float, p: float) -> float:
    if n < 1:
        return x * x * x * p * p
    return stopping_outer(n - 1, x, p) + stopping_outer(n - 1, x, adbc.stop_gradient(p)) * x


def plain_stopping_outer(n: int, x: float, p: float) -> float:
    if n < 1:
        return x * x * x * p * p
    return plain_stopping_outer(n - 1, x, p) + plain_stopping_outer(n - 1, x, adbc.stop_gradient(p)) * x


TWICE: dict[str, Callable[[Any], Any]] = {
    "reverse over reverse": lambda f: adbc.grad(adbc.grad(f))(X),
    "forward over reverse": lambda f: adbc.jvp(adbc.grad(f), (X,), (1.0,))[1],
    "forward over forward": lambda f: adbc.jvp(lambda y: adbc.jvp(f, (y,), (1.0,))[1], (X,), (1.0,))[1],
    "reverse over forward": lambda f: adbc.grad(lambda y: adbc.jvp(f, (y,), (1.0,))[1])(X),
}


@pytest.mark.parametrize("way", TWICE)
def test_a_recursion_is_as_long_as_in_a_plain_call(way: str) -> None:
    small = TWICE[way](lambda x: fibonacci(9, x))
    assert small == pytest.approx(TWICE[way](lambda x: plain(9, x)), rel=1e-12)
    h = 1e-4
    values = []
    for x in (X + h, X, X - h):
        fibonacci.cache_clear()
        calls.clear()
        values.append(fibonacci(60, x))
        steps = len(calls)
    expected = (values[0] - 2.0 * values[1] + values[2]) / (h * h)
    fibonacci.cache_clear()
    calls.clear()
    for _ in range(2):
        found = TWICE[way](lambda x: fibonacci(60, x))
        assert found == pytest.approx(expected, rel=1e-4)
    assert len(calls) in (0, 2 * steps), "a reverse pass has put the list back"
    fibonacci.cache_clear()


@pytest.mark.parametrize("way", TWICE)
@pytest.mark.parametrize(
    ("cached", "other"),
    [
        (lambda x: of_two(3, x, x * 2.0), lambda x: plain_of_two(3, x, x * 2.0)),
        (lambda x: of_two(3, x, x), lambda x: plain_of_two(3, x, x)),
        (lambda x: of_two(3, x, 0.7), lambda x: plain_of_two(3, x, 0.7)),
        (lambda x: of_two(3, 0.7, x), lambda x: plain_of_two(3, 0.7, x)),
        (lambda x: of_two(2, x, y=x * x), lambda x: plain_of_two(2, x, y=x * x)),
        (lambda x: stopping(3, x, x * x), lambda x: plain_stopping(3, x, x * x)),
        (
            lambda x: stopping(3, x, 2.0) + stopping(3, x, x),
            lambda x: plain_stopping(3, x, 2.0) + plain_stopping(3, x, x),
        ),
    ],
    ids=["other", "one for both", "constant", "constant first", "keyword", "stopped", "two calls"],
)
def test_the_derivative_is_that_without_a_cache(way: str, cached: Any, other: Any) -> None:
    assert TWICE[way](cached) == pytest.approx(TWICE[way](other), rel=1e-12)


@pytest.mark.parametrize(
    ("cached", "other"),
    [
        (
            lambda x: adbc.grad(lambda y: stopping_outer(3, y, x))(1.3),
            lambda x: adbc.grad(lambda y: plain_stopping_outer(3, y, x))(1.3),
        ),
        (
            lambda x: adbc.grad(lambda y: of_two(3, y, x))(x),
            lambda x: adbc.grad(lambda y: plain_of_two(3, y, x))(x),
        ),
        (
            lambda x: sum(adbc.grad(lambda y, z: of_two(3, y, z), (0, 1))(x, adbc.stop_gradient(x))),
            lambda x: sum(adbc.grad(lambda y, z: plain_of_two(3, y, z), (0, 1))(x, adbc.stop_gradient(x))),
        ),
        (
            lambda x: adbc.jvp(lambda y, z: of_two(3, y, z), (x, adbc.stop_gradient(x)), (1.0, x))[1],
            lambda x: adbc.jvp(lambda y, z: plain_of_two(3, y, z), (x, adbc.stop_gradient(x)), (1.0, x))[1],
        ),
    ],
    ids=["outer stopped", "outer the same number", "two arguments", "forward"],
)
def test_what_depends_on_other_things_outside_is_not_taken_for_the_same(cached: Any, other: Any) -> None:
    assert adbc.grad(cached)(X) == pytest.approx(adbc.grad(other)(X), rel=1e-12)
    assert adbc.jvp(cached, (X,), (1.0,)) == pytest.approx(adbc.jvp(other, (X,), (1.0,)), rel=1e-12)


def test_an_exception_ends_what_is_kept() -> None:
    def inner(y: float) -> float:
        try:  # noqa: SIM105  # the handler is the user's
            failing(4, y)
        except ZeroDivisionError:
            pass
        return fibonacci(6, y)

    for way in TWICE.values():
        assert way(inner) == pytest.approx(way(lambda y: plain(6, y)), rel=1e-12)


@functools.lru_cache(None)
def failing(n: int, x: float) -> float:
    if n < 1:
        raise ZeroDivisionError
    return failing(n - 1, x) * x + failing(n - 1, x)
