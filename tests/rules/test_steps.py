"""Whole numbers of floats: zero where something is rounded, refused where nothing is."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule


def bit_by_bit(x: float) -> float:
    """The number itself, as libraries of long numbers take it apart."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(int(mantissa * 2.0**53), exponent - 53)


STEPS: list[Callable[[Any], Any]] = [
    int, round, math.floor, math.ceil, math.trunc, lambda x: x // 1.0, lambda x: operator.floordiv(x, 2),
    lambda x: x.__int__(), lambda x: x.__floor__(),
]  # fmt: skip


@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
def test_a_number_that_is_taken_apart_is_refused(guess: str) -> None:
    assert bit_by_bit(0.7) == 0.7
    with adbc.use(adbc.Config(speculation=guess)):
        for derivative in (
            lambda: adbc.grad(bit_by_bit)(0.7),
            lambda: adbc.jvp(bit_by_bit, (0.7,), (1.0,)),
        ):
            with pytest.raises(UnsupportedError, match=r"nothing is rounded.*stop_gradient"):
                derivative()


@pytest.mark.parametrize("step", STEPS)
def test_large_numbers_are_refused(step: Callable[[Any], Any]) -> None:
    for x in (0.7, -0.7, np.float64(0.7)):
        with pytest.raises(UnsupportedError, match="nothing is rounded"):
            adbc.grad(lambda x: step(x * 2.0**60) * 1.0)(x)


@pytest.mark.parametrize("step", STEPS)
def test_what_is_rounded_has_no_derivative(step: Callable[[Any], Any]) -> None:
    check_rule(lambda x: step(x * 3.0) * x, 0.75)
    assert adbc.grad(lambda x: x * 2.0 + step(adbc.stop_gradient(x) * 2.0**60))(1.7) == 2.0


def test_what_cannot_be_rounded_raises() -> None:
    for x in (math.inf, math.nan):
        with pytest.raises((OverflowError, ValueError), match="cannot convert"):
            adbc.grad(lambda x: int(x) * 1.0)(x)
