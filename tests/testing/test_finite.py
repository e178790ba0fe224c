"""Finite differences are accurate to ten digits where functions are smooth, and say so where they are not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adbc.testing import directional_derivative


def derivative(f: Any, x: Any, direction: Any) -> tuple[Any, float]:
    found, errors = directional_derivative(f, x, direction)
    return found[0][1], errors[0]


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (math.sin, 0.7, math.cos(0.7)),
        (math.exp, 3.0, math.exp(3.0)),
        (lambda x: x**3 - 2 * x, 1.5, 3 * 1.5**2 - 2),
        (lambda x: 1.0 / x, 0.2, -25.0),
    ],
)
def test_accuracy(f: Any, x: float, expected: float) -> None:
    value, error = derivative(f, x, 1.0)
    assert value == pytest.approx(expected, rel=1e-10)
    assert abs(value - expected) <= 10 * error + 1e-12


def test_structured_arguments_and_results() -> None:
    def f(x: dict[str, Any]) -> Any:
        x["a"][0] *= 2.0
        return x["b"] ** 2, x["a"]

    found, _ = directional_derivative(
        f, {"a": [1.0], "b": np.array([1.0, 2.0])}, {"a": [3.0], "b": np.array([1.0, 1.0])}
    )
    assert [label for label, _ in found] == ["[0]", "[1][0]"]
    np.testing.assert_allclose(found[0][1], [2.0, 4.0], rtol=1e-10)
    assert found[1][1] == pytest.approx(6.0, rel=1e-10)


def test_a_kink_shows_in_the_error() -> None:
    _, error = derivative(lambda x: max(x, 3 * x), 1e-4, 1.0)
    assert error > 1e-9


def test_the_estimate_is_not_chosen_by_who_asks() -> None:
    first = derivative(math.tan, 1.2, 1.0)
    assert first == derivative(math.tan, 1.2, 1.0)
