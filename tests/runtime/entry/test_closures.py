"""The short ways into functions with a closure: what stands in its cells has one shadow, and may change."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime.entry import reverse

N = 30


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The functions whose gradients took the long way."""
    found: list[Any] = []
    first = reverse.FirstCall

    class Counted(first):  # type: ignore[misc, valid-type]  # it is a class
        def __init__(self, engine: Any, f: Any, *rest: Any, **named: Any) -> None:
            found.append(f)
            super().__init__(engine, f, *rest, **named)

    monkeypatch.setattr(reverse, "FirstCall", Counted)
    return found


def scaled(k: Any) -> Callable[[float], Any]:
    return lambda x: k * x * x


def test_what_stands_in_a_cell_may_change(long_ways: list[Any]) -> None:
    k: Any = 3.0

    def f(x: float) -> Any:
        return math.sin(x) * k

    gradient = adbc.grad(f)
    for i in range(N):
        assert gradient(0.5) == pytest.approx(math.cos(0.5) * k)
        assert adbc.jvp(f, (0.5,), (1.0,)) == (f(0.5), pytest.approx(math.cos(0.5) * k))
        k = [3.0, 4, np.float64(2.0), True][i % 4]
    assert len(long_ways) < N / 3


def test_one_gradient_for_each_closure() -> None:
    for i in range(N):
        f = scaled(float(i) if i % 3 else np.float64(i))
        assert adbc.grad(f)(2.0) == 4.0 * i
        assert adbc.jvp(f, (2.0,), (1.0,))[1] == 4.0 * i


def test_memory_in_a_cell_is_written_and_put_back(long_ways: list[Any]) -> None:
    table, seen, count = np.zeros(3), [1.0], 0

    def f(x: Any, y: float) -> Any:
        nonlocal count
        count += 1
        table[:] = table * y + x
        seen.append(y * seen[-1])
        return (table * table).sum() * seen[-1]

    x = np.array([1.0, -2.0, 0.5])
    gradient = adbc.value_and_grad(f, (0, 1))
    for i in range(N):
        table[:] = i, 1.0, -1.0
        seen[:] = [0.5 + i]
        value, (bx, by) = gradient(x, 2.0)
        t = table * 2.0 + x
        assert value == (t * t).sum() * seen[0] * 2.0
        assert bx == pytest.approx(2 * t * seen[0] * 2.0)
        assert by == pytest.approx((2 * (t * table).sum() * 2.0 + (t * t).sum()) * seen[0])
        assert np.array_equal(table, [i, 1.0, -1.0])
        assert seen == [0.5 + i]
    assert count == 0
    assert len(long_ways) <= 2


def test_the_same_array_in_a_cell_and_as_an_argument() -> None:
    a = np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        a[0] *= 3.0
        return (x * x * a).sum()

    gradient = adbc.grad(f)
    for _ in range(N):
        for x, expected in ((np.array([1.0, 2.0]), [6.0, 8.0]), (a, [81.0, 12.0])):
            a[:] = 1.0, 2.0
            assert gradient(x) == pytest.approx(np.array(expected))
            a[:] = 1.0, 2.0
            assert adbc.jvp(f, (x,), (np.ones(2),))[1] == pytest.approx(sum(expected))


def test_the_same_list_in_a_cell_and_as_an_argument() -> None:
    rows = [1.5, -1.0]

    def f(xs: Any) -> Any:
        rows[1] = xs[0] * rows[1]
        return xs[0] * xs[1] + rows[1]

    gradient = adbc.grad(f)
    for _ in range(N):
        for xs, expected in (([1.5, -1.0], [-2.0, 1.5]), (rows, [-4.0, 3.75])):
            rows[:] = 1.5, -1.0
            assert gradient(xs) == pytest.approx(expected)
            rows[:] = 1.5, -1.0
            assert adbc.jvp(f, (xs,), ([1.0, 1.0],))[1] == pytest.approx(sum(expected))


def test_an_argument_that_is_only_read_and_stands_in_a_cell() -> None:
    a = np.array([1.0, 2.0])

    def f(w: float, data: Any) -> Any:
        a[0] = w
        return (data * data).sum() * w

    gradient = adbc.grad(f)
    for _ in range(N):
        for data, expected in ((np.array([1.0, 2.0]), 5.0), (a, 3 * 9.0 + 4.0)):
            a[:] = 1.0, 2.0
            assert gradient(3.0, data) == pytest.approx(expected)
            a[:] = 1.0, 2.0
            assert adbc.jvp(f, (3.0, data), (1.0, None))[1] == pytest.approx(expected)
