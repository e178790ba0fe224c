"""NumPy's numbers are divided by a zero of Python's without an error, and so are their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adbc


def number(x: float, k: Any) -> Any:
    return np.float64(2.0) * x / k


def in_place(x: float, k: Any) -> Any:
    quotient = np.array(2.0) * x
    quotient /= k
    return quotient[()]


def active_divisor(x: float, k: Any) -> Any:
    return np.float64(2.0) * x / (k * x)


def complex_number(x: float, k: Any) -> Any:
    quotient = np.complex128(2.0 + 1.0j) * x / k
    return quotient.real


def complex_over_active(x: float, k: Any) -> Any:
    quotient = np.array([2.0 + 1.0j])[0] * x / (k * x)
    return quotient.real


@pytest.mark.parametrize("f", [number, in_place, active_divisor, complex_number, complex_over_active])
@pytest.mark.parametrize("k", [0, 0.0, False])
@pytest.mark.filterwarnings("ignore")
def test_quotient_by_zero_of_python(f: Any, k: Any) -> None:
    gradient = adbc.value_and_grad(f)
    for _ in range(4):  # interpreted, and compiled
        value, slope = gradient(1.5, k)
        assert value == math.inf and not math.isfinite(slope)
    value, slope = adbc.jvp(lambda x: f(x, k), (1.5,), (1.0,))
    assert value == math.inf and not math.isfinite(slope)


@pytest.mark.parametrize("f", [number, in_place, active_divisor])
def test_divisor_that_is_not_zero(f: Any) -> None:
    for k in (2, 2.0, True, np.float64(2.0)):
        value, slope = adbc.value_and_grad(f)(1.5, k)
        expected = 0.0 if f is active_divisor else 2.0 / k
        assert value == f(1.5, k) and slope == pytest.approx(expected, abs=1e-15)


def test_what_is_divided_in_vain_has_no_derivative() -> None:
    def f(x: float) -> float:
        with np.errstate(all="ignore"):
            quotient = np.float64(1.0) * x / 0
        return x * x if np.isinf(quotient) else x

    assert adbc.value_and_grad(f)(1.5) == (2.25, 3.0)
    assert adbc.jvp(f, (1.5,), (1.0,)) == (2.25, 3.0)


def test_python_raises() -> None:
    def f(x: float) -> float:
        return x / (x - x)

    with pytest.raises(ZeroDivisionError):
        adbc.value_and_grad(f)(1.5)
    with pytest.raises(ZeroDivisionError):
        adbc.jvp(f, (1.5,), (1.0,))


def moved_over_and_over(x: Any) -> Any:
    (a, b), (c, d) = np.array([[x, 1.0], [0.5, 2.0]])
    q = complex(0.3, 1.0)
    for _ in range(3):
        q = (a * q + b) / (c * q + d)
    return abs(q) + q.imag


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("warm_after", [0, 2])
def test_complex_divisors_stay_complex(warm_after: int) -> None:
    """Whatever is known of their class where the derivative is divided."""
    step = 1e-6
    slope = (moved_over_and_over(1.5 + step) - moved_over_and_over(1.5 - step)) / (2.0 * step)
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(4):
            assert adbc.grad(moved_over_and_over)(1.5) == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(moved_over_and_over, (1.5,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
