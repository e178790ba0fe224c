"""`fractions`: constants beside floats with a derivative, which are compared with them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError
from adbc.testing import test_rule as check_rule

THIRD = Fraction(1, 3)


def smaller(x: float) -> float:
    return x * x if x < THIRD else 3.0 * x


def within(x: Any, low: Any = THIRD, high: Any = Fraction(5, 2)) -> Any:
    return x * high if low <= x <= high else low * x


def largest(x: float) -> Any:
    return max(x, THIRD) * min([Fraction(7, 2), x * x]) + sum([THIRD, x])


def exact(x: float) -> float:
    return (x if x == Fraction(1, 2) else x * x) + (1.0 if x != THIRD else x) * x


def rounded(x: float) -> Any:
    return round(x * THIRD, 2) + x // THIRD + x % THIRD + divmod(x, THIRD)[1] * THIRD**x + x**THIRD


def sorted_fractions(x: float) -> Any:
    a, b, c = sorted([x, THIRD, 2 * x])
    return a * b * b * c


FUNCTIONS = [smaller, within, largest, exact, rounded, sorted_fractions]


@pytest.mark.parametrize("number", [0.21, 0.5, 1.7])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_floats_beside_fractions(f: Callable[[float], Any], number: float) -> None:
    for _ in range(5):  # interpreted, and compiled
        check_rule(f, number)
    with adbc.use(adbc.Config(warm_after=0)):
        check_rule(f, number)


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_comparisons_with_what_has_no_fraction(compare: Any) -> None:
    for x in (float("inf"), -float("inf"), float("nan")):
        value, slope = adbc.jvp(lambda x: 2.0 if compare(THIRD, x) else 3.0, (x,), (1.0,))
        assert (value, slope) == (2.0 if compare(THIRD, x) else 3.0, 0.0)


def test_numbers_of_numpy() -> None:
    f = lambda x: x * x if THIRD <= x else 3.0 * x  # noqa: E731, SIM300  # NumPy's number is not asked
    check_rule(f, np.float64(1.7))


def test_a_fraction_of_a_float_with_a_derivative_is_refused() -> None:
    with pytest.raises(MissingRuleError, match="as_integer_ratio"):
        adbc.grad(lambda x: float(Fraction(x) * 2))(1.7)


class Whole(Fraction):
    """A fraction that makes fractions of floats in its own way."""

    @classmethod
    def from_float(cls, f: float) -> Any:
        return Fraction(int(f * 4.0), 4)


def test_a_class_with_its_own_fractions_is_followed() -> None:
    def function(x: float) -> float:
        return x * x if Whole(5, 4) <= x else 3.0 * x

    assert function(1.1) == 3.0 * 1.1
    assert adbc.grad(function)(1.1) == 3.0
    assert adbc.grad(function)(1.3) == 2.6
