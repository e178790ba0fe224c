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
from adbc.runtime import default_engine
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


DIGITS: list[Callable[[Any], Any]] = [
    lambda x: round(x, 20), lambda x: round(x, ndigits=16), lambda x: round(x, 400),
    lambda x: round(x * 1e12, 5), lambda x: round(number=x, ndigits=17),
]  # fmt: skip


@pytest.mark.parametrize("step", DIGITS)
@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
def test_more_digits_than_there_are_are_refused(step: Callable[[Any], Any], guess: str) -> None:
    with adbc.use(adbc.Config(speculation=guess)):
        for x in (1.7, -1.7):
            assert step(x) in (x, x * 1e12)
            with pytest.raises(UnsupportedError, match=r"no more digits.*nothing is rounded.*stop_gradient"):
                adbc.grad(lambda x: step(x) * 2.0)(x)
            with pytest.raises(UnsupportedError, match=r"no more digits.*nothing is rounded.*stop_gradient"):
                adbc.jvp(lambda x: step(x) * 2.0, (x,), (1.0,))


def test_few_digits_have_no_derivative() -> None:
    for digits in (0, 1, -1, -400, None):
        check_rule(lambda x, digits=digits: round(x * 3.0, digits) * x, 0.76)
        check_rule(lambda x, digits=digits: round(number=x * 3.0, ndigits=digits) * x, 0.76)
    for digits in (3, 12, 15):  # differences would see the number itself
        assert adbc.grad(lambda x, digits=digits: round(x * 3.0, digits) + x)(0.7654321) == 1.0
    assert adbc.grad(lambda x: x * 2.0 + round(adbc.stop_gradient(x), 20))(1.7) == 2.0
    assert not adbc.jvp(lambda x: round(math.inf * x, 3), (1.0,), (1.0,))[1]


def test_rows_are_asked_of_calls_with_keywords_alone() -> None:
    check_rule(lambda x: round(number=x * 3.0) * x, 0.76)
    check_rule(lambda x: sum(k * v for k, v in enumerate(iterable=[x, x * x], start=1)), 0.76)
    table = default_engine().table
    for row in table:
        row.accepts(())


def test_constants_of_any_class_are_divided() -> None:
    year = np.timedelta64(2, "Y")

    def f(x: float) -> Any:
        return x * (year // 2).astype(float) + x * (year // np.timedelta64(3, "M"))

    assert adbc.jvp(f, (2.0,), (1.0,)) == (18.0, 9.0)
    assert adbc.value_and_grad(f)(2.0) == (18.0, 9.0)


class Scale:
    """An object that holds a number, of which reverse mode does not see that it is a constant."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def value(self) -> Any:
        return self.number


def taken_apart(x: Any, scale: Scale, rounded: Callable[[Any], Any]) -> Any:
    for number in (1e-17, 0.5):
        if rounded(scale.value() / number) > 3:
            x = x * 2.0
    return x


# Code that is written for floats looks at the size of what it gives only, and refuses these.
UNWRITTEN = [guess for guess in adbc.config.SPECULATION if guess not in ("always", "learn")]


@pytest.mark.parametrize("rounded", [int, math.floor, math.ceil, round])
@pytest.mark.parametrize("number", [2.0, np.float64(2.0)])
@pytest.mark.parametrize("guess", UNWRITTEN)
def test_constants_of_objects_may_be_taken_apart(
    rounded: Callable[[Any], Any], number: Any, guess: str
) -> None:
    with adbc.use(adbc.Config(speculation=guess)):
        assert adbc.grad(lambda x: taken_apart(x, Scale(number), rounded))(1.5) == 4.0
        assert adbc.jvp(lambda x: taken_apart(x, Scale(number), rounded), (1.5,), (1.0,))[1] == 4.0
        with pytest.raises(UnsupportedError, match="nothing is rounded"):
            adbc.grad(lambda x: taken_apart(x, Scale(x * number), rounded))(1.5)
