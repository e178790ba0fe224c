"""A cotangent that is the negative of another is subtracted where it goes, not negated first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.testing import test_rule as check_rule

X = np.array([[0.5, 1.5, -0.7], [2.0, 0.3, 1.1]])
Y = np.array([[1.0, -0.5, 0.4], [0.2, 0.9, -1.3]])
ROW, COLUMN = Y[:1].copy(), Y[:, 1:2].copy()


def both_read(x: Any, y: Any) -> Any:
    a, b = np.sin(x), np.cos(y)
    return np.sum((a - b) ** 3 * a)


def subtracted_twice(x: Any, y: Any) -> Any:
    a = x * y
    return np.sum((1.0 - (x - a)) * np.exp(y - a))


def of_itself(x: Any, y: Any) -> Any:
    a = x * y
    return np.sum((a - a) * x - (a - y) * a)


def with_number(x: Any, y: Any) -> Any:
    k = x[0, 0] * y[1, 1]
    return np.sum(np.exp(x - k) * (k - y * x))


def negative(x: Any, y: Any) -> Any:
    a = -(x * y)
    return np.sum(-a * np.sin(-a) - a)


def given_back(x: Any, y: Any) -> Any:
    return np.sum((x - y) ** 2)


def parts(x: Any, y: Any) -> Any:
    a = x * x
    return np.sum((a[:, 1:] - y[:, :-1]) * (1.0 - a[:, :-1]) - a[:, ::2].T.reshape(2, 2) * y[:, :2])


def moved(x: Any, y: Any) -> Any:
    a, b = x * y, np.exp(y)
    return np.sum((x.T - a.T) * b.T) + np.sum((b.reshape(-1) - a.reshape(-1)) ** 2)


def in_place(x: Any, y: Any) -> Any:
    u = x.copy()
    u[:, 1:] -= y[:, 1:] - u[:, :-1] * u[:, :-1]
    u -= np.sin(y) * u
    return np.sum(u * u - (y - u))


def in_loop(x: Any, y: Any) -> Any:
    a = x * y
    for _ in range(3):
        b = y - a
        a = (b - a * x) * 0.5
    return np.sum(a - b)


def quotient(x: Any, y: Any) -> Any:
    a = x - y
    return np.sum((a - x * x) / (3.0 + (y - a) ** 2))


FUNCTIONS: list[Callable[..., Any]] = [
    both_read, subtracted_twice, of_itself, with_number, negative, given_back, parts, moved, in_place,
    in_loop, quotient,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_subtracted_cotangents_are_right(function: Callable[..., Any]) -> None:
    check_rule(function, X, Y)
    value, (dx, dy) = adbc.value_and_grad(function, (0, 1))(X, Y)  # by the short way
    assert value == function(X, Y)
    step = 1e-6
    for k, (at, found) in enumerate(((X, dx), (Y, dy))):
        assert found.base is None
        for i in np.ndindex(at.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved_to = [X.copy(), Y.copy()]
                moved_to[k][i] += sign * step
                ends.append(function(*moved_to))
            assert found[i] == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("function", [both_read, subtracted_twice, negative, given_back])
@pytest.mark.parametrize("y", [ROW, COLUMN, np.array(0.4)], ids=["row", "column", "0-d"])
def test_broadcasting(function: Callable[..., Any], y: Any) -> None:
    check_rule(function, X, y)
    check_rule(function, y, X)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_dtypes(dtype: str) -> None:
    def total(x: Any, y: Any) -> Any:
        return np.sum(np.abs(np.sin(x) - np.cos(y) * x))

    x, y = X.astype(dtype), Y.astype(dtype)
    value, (dx, dy) = adbc.value_and_grad(total, (0, 1))(x, y)
    reference, (ex, ey) = adbc.value_and_grad(total, (0, 1))(X, Y)
    np.testing.assert_allclose(value, reference, rtol=1e-6)
    np.testing.assert_allclose(dx, ex.astype(dtype), rtol=1e-5)
    np.testing.assert_allclose(dy, ey.astype(dtype), rtol=1e-5)
    assert dx.dtype == dtype


def test_same_array_twice() -> None:
    check_rule(both_read, X, X)
    gradient = adbc.grad(both_read, (0, 1))
    shared = gradient(X, X)
    np.testing.assert_allclose(shared[0], sum(gradient(X, X.copy())))


def test_nothing_is_negated() -> None:
    text = adbc.inspect.show(lambda x, y: np.sum((1.0 - x * y) ** 2 * y), X, Y, stage="rvs")
    assert "operator.neg" not in text
    assert "take_array" in text or "isub" in text or "operator.sub" in text
