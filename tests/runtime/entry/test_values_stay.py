"""The value of a call stays as it was when the pullback, which undoes what the call did, has run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing.values import assert_same

X = [1.0, 2.0, 3.0]


@dataclasses.dataclass
class Path:
    points: Any
    total: float = 0.0


def appended(x: Any) -> Any:
    out = []
    for v in x:
        out.append(v * v * x[0])  # noqa: PERF401  # what is done one by one is undone
    return out


def by_name(x: Any) -> Any:
    out = {}
    for i, v in enumerate(x):
        out[f"x{i}"] = v * v * x[0]
    return out


def filled(x: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] * x[i] * x[0]
    return out


def objects(x: Any) -> Any:
    path = Path(np.zeros(3))
    for i in range(3):
        path.points[i] = x[i] * x[i] * x[0]
        path.total = path.total + x[i]
    return path


def nested(x: Any) -> Any:
    rows: list[list[float]] = [[], []]
    for v in x:
        rows[0].append(v * v * x[0])
        rows[1] += [v]
    return rows, sum(rows[0])


FUNCTIONS: list[Callable[[Any], Any]] = [appended, by_name, filled, objects, nested]
COTANGENTS: dict[Any, Any] = {
    appended: [1.0, 0.0, 2.0],
    by_name: {"x0": 1.0, "x1": 0.0, "x2": 2.0},
    filled: np.array([1.0, 0.0, 2.0]),
    objects: adbc.MutableTangent(points=np.array([1.0, 0.0, 2.0]), total=0.0),
    nested: ([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]], 0.0),
}
GRADIENT = [21.0, 0.0, 12.0]
"""Of x0 ** 3 + 2 * x0 * x2 ** 2."""


@pytest.mark.parametrize("reusable", [False, True])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_of_vjp(f: Any, reusable: bool) -> None:
    value, pullback = adbc.vjp(f, X, reusable=reusable)
    for _ in range(3 if reusable else 1):
        (gradient,) = pullback(COTANGENTS[f])
        assert gradient == GRADIENT
        assert_same(value, f(X), f.__name__)


@pytest.mark.parametrize("f", [appended, by_name, filled], ids=lambda f: f.__name__)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_jacobians_row_by_row(f: Any, count: int) -> None:
    def first(x: Any) -> Any:
        found = f(x)
        if isinstance(found, dict):
            return {key: found[key] for key in list(found)[:count]}
        return found[:count]

    value, _ = adbc.value_and_jacobian(first)(X)
    assert_same(value, first(X), "value")
    assert_same(adbc.jacrev(first)(X), adbc.jacfwd(first)(X), "Jacobian")


def without_dimensions(x: Any) -> Any:
    out = np.array(0.0)
    out += x[0] ** 2
    out += x[1] * x[2]
    return out


@pytest.mark.parametrize("x", [X, np.array(X)], ids=["list", "array"])
def test_values_of_gradients(x: Any) -> None:
    for _ in range(3):
        value, gradient = adbc.value_and_grad(without_dimensions)(x)
        assert value == 7.0 and list(gradient) == [2.0, 3.0, 2.0]
        (value, aux), _ = adbc.value_and_grad(lambda x: (without_dimensions(x), 1), has_aux=True)(x)
        assert (value, aux) == (7.0, 1)


def by_inner_pullback(x: Any) -> Any:
    value, pullback = adbc.vjp(appended, x)
    (gradient,) = pullback([1.0, 1.0, 1.0])
    return value[0] * gradient[1] + value[2]


def by_inner_array(x: Any) -> Any:
    value, pullback = adbc.vjp(filled, x)
    (gradient,) = pullback(np.ones(3))
    return value.sum() + gradient[0]


def by_inner_value(x: Any) -> Any:
    value, gradient = adbc.value_and_grad(without_dimensions)(x)
    return value * gradient[0]


@pytest.mark.parametrize("f", [by_inner_pullback, by_inner_array, by_inner_value], ids=lambda f: f.__name__)
def test_inside_functions_that_are_differentiated(f: Any) -> None:
    slopes = []
    for i in range(3):
        values = [f([v + step * (i == k) for k, v in enumerate(X)]) for step in (1e-6, -1e-6)]
        slopes.append((values[0] - values[1]) / 2e-6)
    for _ in range(2):
        assert adbc.grad(f)(X) == pytest.approx(slopes, rel=1e-6)
        for i in range(3):
            direction = [float(i == k) for k in range(3)]
            assert adbc.jvp(f, (X,), (direction,))[1] == pytest.approx(slopes[i], rel=1e-6)
