"""Second and third derivatives of determinants of singular matrices: they are polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import adbc
from tests.rules.second_order import judge

_RNG = np.random.default_rng(3)


def _orthogonal(n: int) -> Any:
    return np.linalg.qr(_RNG.normal(size=(n, n)))[0]


MATRICES: dict[str, Any] = {
    "one zero": np.diag([1.0, 2.0, 0.0]),
    "zero by rounding": np.array([[0.1, 0.2], [0.3, 0.6]]),
    "rank one": np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5]),
    "two by two zeros": np.zeros((2, 2)),
    "zeros": np.zeros((3, 3)),
    "a number": np.array([[0.0]]),
    "small values of all sizes": _orthogonal(4) @ np.diag([1.0, 0.5, 1e-9, 0.0]) @ _orthogonal(4),
    "Hilbert": 1.0 / (1.0 + np.add.outer(np.arange(6), np.arange(6))),
    "complex": np.outer([1.0, 2.0j, 3.0], [1.0, -1.0, 0.5]) + np.diag([0, 0, 1j]),
    "a stack": np.stack([np.diag([1.0, 2.0, 0.0]), np.diag([1.0, 2.0, 3.0])]),
    "regular": _RNG.normal(size=(3, 3)),
}


@pytest.mark.parametrize("function", [np.linalg.det, linalg.det])
@pytest.mark.parametrize("name", MATRICES)
def test_second_derivatives(name: str, function: Callable[[Any], Any]) -> None:
    verdict = judge(function, (MATRICES[name],))
    assert verdict.status == "right", verdict


def test_the_third_derivative_at_zero() -> None:
    def f(t: float) -> Any:
        return np.linalg.det(t * np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 0.0, 1.0]]))  # 7 t^3

    second = adbc.grad(adbc.grad(f))
    assert second(0.0) == pytest.approx(0.0, abs=1e-12)
    assert adbc.grad(second)(0.0) == pytest.approx(42.0)
    assert adbc.jvp(adbc.grad(adbc.grad(f)), (0.0,), (1.0,))[1] == pytest.approx(42.0)


def test_first_derivatives_of_small_determinants_are_as_before() -> None:
    a = np.diag([1e-200, 1e-200])
    assert adbc.grad(np.linalg.det)(a).tolist() == [[1e-200, 0.0], [0.0, 1e-200]]


def test_what_is_constant_has_no_derivative_where_cofactors_are_infinite() -> None:
    a = np.diag([1e200, 1e200, 0.0, 1.0])

    def program(x: Any) -> Any:
        held = [x, 0.0]
        held[1] = held[1] + np.linalg.det(a)
        return held[0] * 2.0 + held[1]

    assert adbc.jvp(program, (1.5,), (1.0,)) == (3.0, 2.0)
    assert adbc.value_and_grad(program)(1.5) == (3.0, 2.0)
    along = adbc.jvp(lambda m: np.linalg.det(m), (a,), (np.zeros_like(a),))[1]
    assert along == 0.0
