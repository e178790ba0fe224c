"""The cotangents of a quotient: one division for both, and the same numbers however it is reached."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import adbc
from adbc import Config
from adbc.inspect import rvs_ir
from adbc.testing import test_rule as check_rule


def quotient(x: float, y: float) -> float:
    return x / y


def both_signs(x: float, y: float) -> float:
    return (x / y - y / x) / (x * y)


def of_itself(x: float, y: float) -> float:
    return y / (x / (y / x))


def by_a_number(x: float, y: float) -> float:
    return x / 3.0 + 2.0 / y + x / 7


def in_a_loop(x: float, y: float) -> float:
    for _ in range(5):
        y = 0.5 * (y + x / y)
    return y


def in_place(x: float, y: float) -> float:
    x /= y
    x /= 2
    return math.sin(x)


PROGRAMS = [quotient, both_signs, of_itself, by_a_number, in_a_loop, in_place]


def operations(function: Callable[..., float]) -> list[str]:
    text = str(rvs_ir((function, float, float)))
    return [name for name in ("truediv", "mul", "neg") for _ in range(text.count(f"operator.{name}("))]


def test_one_division_serves_both() -> None:
    assert operations(quotient) == ["truediv", "mul", "neg"]
    assert operations(lambda x, y: x / 3.0) == ["truediv"]


def test_a_sign_is_the_sums() -> None:
    """What is subtracted is not negated before."""
    assert operations(in_a_loop).count("neg") == 0
    assert operations(in_a_loop).count("truediv") == 2  # one of them computes x / y again


@pytest.mark.parametrize("function", PROGRAMS)
def test_both_cotangents_of_a_quotient_are_right(function: Callable[..., float]) -> None:
    check_rule(function, 0.6, 0.4)
    check_rule(function, -1.25, 3.5)
    check_rule(function, np.float64(0.6), 0.4)


@pytest.mark.parametrize("function", PROGRAMS)
def test_the_same_to_the_last_digit_without_types(function: Callable[..., float]) -> None:
    typed = adbc.grad(function, (0, 1))
    for x, y in ((0.6, 0.4), (-1.7, 0.3), (1e100, 1e-7), (3.0, 7.0)):
        with adbc.use(Config(speculation="dynamic")):
            expected = adbc.grad(function, (0, 1))(x, y)
        assert repr(typed(x, y)) == repr(expected)


def test_what_is_not_a_real_number_has_the_rule_as_before() -> None:
    check_rule(quotient, 0.6 + 0.1j, 0.4)
    check_rule(quotient, 0.6, 0.4 - 2.0j)
    check_rule(quotient, np.array([1.0, 2.0]), 0.4)
    check_rule(quotient, 2.0, np.array([1.0, 2.0]))
