"""Central differences: coefficients, steps, and an estimate of the error that holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adbc.chainrules.testing import central_fdm


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("points", [5, 7])
def test_polynomials(points: int, order: int) -> None:
    found = central_fdm(points, order)(lambda x: x**3 - 2 * x, 0.7)
    expected = {1: 3 * 0.49 - 2, 2: 6 * 0.7, 3: 6.0}[order]
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("f", "df", "x"),
    [
        (math.sin, math.cos, 0.3),
        (math.exp, math.exp, 5.0),
        (lambda x: 1e8 * math.sin(x), lambda x: 1e8 * math.cos(x), 1.0),
        (lambda x: math.sin(20 * x), lambda x: 20 * math.cos(20 * x), 0.1),
        (lambda x: 3.0, lambda x: 0.0, 0.1),
        (lambda x: 2.0 * x, lambda x: 2.0, 1e6),
    ],
)
def test_the_error_is_below_its_estimate(
    f: Callable[[float], float], df: Callable[[float], float], x: float
) -> None:
    found = central_fdm(5, 1).estimate(f, x)
    assert abs(found.value - df(x)) <= 10 * found.error + 1e-15
    assert found.error <= 1e-7 * max(abs(df(x)), 1.0)


def test_steps_stay_where_they_are_allowed() -> None:
    asked: list[float] = []

    def f(x: float) -> float:
        asked.append(x)
        return math.sqrt(x)

    assert central_fdm(5, 1, max_step=1e-3)(f, 0.01) == pytest.approx(5.0, rel=1e-6)
    assert min(asked) > 0.0


def test_values_may_be_arrays() -> None:
    found: Any = central_fdm(5, 1)(lambda x: np.array([x, x * x]), 3.0)
    assert np.allclose(found, [1.0, 6.0])


def test_a_formula_needs_enough_points() -> None:
    with pytest.raises(ValueError, match="5 points"):
        central_fdm(5, 5)
