"""Functions with `functools.lru_cache`: what they are given tells whether they run again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import adbc

X = 0.7


def a_method(x: Any) -> Any:
    u = [1.0]

    class Model:
        def __init__(self) -> None:
            self.v = x

        @functools.lru_cache(maxsize=None)  # noqa: B019, UP033
        def doubled(self) -> Any:
            u[0] = u[0] * 1.1 + 0.1 * x
            return self.v * 2.0

        @functools.lru_cache  # noqa: B019
        def scaled(self, k: Any = 1, *, q: Any = 2) -> Any:
            u.append(x)
            return x * k * q

    one, other = Model(), Model()
    y = one.doubled() + one.doubled() + other.doubled() + one.scaled() + one.scaled() + one.scaled(2)
    return y + one.scaled(k=3) + one.scaled(k=3) + one.scaled(2, q=x) + sum(u)


def of_objects_and_functions(x: Any) -> Any:
    runs = [0.0]

    @functools.cache
    def g(o: Any, h: Any) -> Any:
        runs[0] += x
        return x * h(2.0)

    o = object()
    return g(o, float) + g(o, float) + g(o, abs) + g(object(), abs) + runs[0]


def of_what_is_no_key(x: Any) -> Any:
    runs = [x]

    @functools.lru_cache
    def g(values: Any) -> Any:
        runs.append(x)
        return x

    for values in ([1.0], {}, {1}):
        try:
            runs.append(g(values))
        except TypeError as error:
            runs.append(x * len(str(error)))
    return sum(runs)


def of_numbers(x: Any) -> Any:
    @functools.cache
    def g(y: Any) -> Any:
        return y * x

    return g(x) + g(x) + g(2.0) + g(y=x)


@pytest.mark.parametrize("f", [a_method, of_objects_and_functions, of_what_is_no_key, of_numbers])
def test_they_run_as_often_as_in_a_plain_call(f: Callable[[Any], Any], speculation: str) -> None:
    slope = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    for _ in range(2):
        assert adbc.jvp(f, (X,), (1.0,)) == (pytest.approx(f(X)), pytest.approx(slope, rel=1e-6))
        assert adbc.value_and_grad(f)(X) == (pytest.approx(f(X)), pytest.approx(slope, rel=1e-6))
