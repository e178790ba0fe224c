"""Tangents of functions of numbers: the same derivative, in few operations."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import dual_ir
from tests.forward.modes import check, every_guess


def quotient(x: float, y: float) -> float:
    return x / y


def square(x: float) -> float:
    return x * x


def difference(x: float, y: float) -> float:
    return (1.0 - x) * y - (2.0 - y) * x


def waves(x: float) -> float:
    return math.sin(x) * math.cos(x) - math.cos(x) / math.sin(x)


def negated(x: float, y: float) -> float:
    return -(-x - y) * -x


def angles(x: float, y: float) -> float:
    return math.atan2(x, y) * math.hypot(x, y) + math.log(x / y)


def in_place(x: float, y: float) -> float:
    z = x
    z *= y
    z -= x
    z /= y
    z **= 3
    return z


def rounded(x: float) -> float:
    y = float(round(x))
    return y * x + math.floor(x) * x - y / x


def truth(x: float, flag: bool, n: int) -> float:
    return x * flag - n / x + flag


def partly_unused(x: float, y: float) -> float:
    z = x * y - x
    u = z - y
    return x if u > 1e9 else z


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (quotient, (1.3, 0.7)),
    (square, (1.3,)),
    (difference, (1.3, 0.6)),
    (waves, (0.7,)),
    (negated, (0.3, 0.9)),
    (angles, (0.3, 0.9)),
    (in_place, (0.3, 0.9)),
    (rounded, (2.3,)),
    (truth, (1.3, True, 2)),
    (partly_unused, (0.3, 0.9)),
]


@every_guess
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_tangents_of_numbers_are_right_whatever_is_guessed(
    f: Callable[..., Any], args: tuple[Any, ...], guess: str
) -> None:
    check(f, *args, guess=guess)


@pytest.mark.parametrize(("f", "args"), [p for p in PROGRAMS if p[0] is not truth][:6])
def test_numbers_of_numpy(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    value, tangent = adbc.jvp(f, args, (1.0,) * len(args))
    for cls in (np.float64, np.float32):
        numbers = tuple(map(cls, args))
        found = adbc.jvp(f, numbers, tuple(map(cls, (1.0,) * len(args))))
        np.testing.assert_allclose(found, (value, tangent), rtol=1e-5)


def operations(f: Callable[..., Any], *types: type) -> list[str]:
    """The functions that the dual graph calls on numbers, before it looks whether the tangent is NaN."""
    found, look, _ = str(dual_ir((f, *types))).partition("call _not_nan_")
    assert look
    return re.findall(r"call operator\.(\w+)", found)


def test_as_few_as_by_hand() -> None:
    assert operations(quotient, float, float) == ["truediv", "mul", "sub", "truediv"]
    assert operations(square, float) == ["mul", "mul", "add"]
    # the signs cost nothing
    assert operations(difference, float, float).count("neg") == 0
    assert len(operations(difference, float, float)) == 12
    # the sine and the cosine are there
    assert str(dual_ir((waves, float))).count("math.") == 2


def test_what_is_not_needed_is_not_there() -> None:
    text = str(dual_ir((partly_unused, float, float)))
    assert text.count("operator.sub") == 3  # z and its tangent, and u without


def test_division_by_infinity_and_zero() -> None:
    assert adbc.jvp(quotient, (1.0, math.inf), (1.0, 1.0)) == (0.0, 0.0)
    with pytest.raises(ZeroDivisionError):
        adbc.jvp(quotient, (1.0, 0.0), (1.0, 1.0))
    assert math.isnan(adbc.jvp(quotient, (math.nan, 2.0), (1.0, 1.0))[0])
    # a numerator without tangent, and a denominator without: as by the partial derivatives
    assert adbc.jvp(quotient, (1.0, 2.0), (None, 1.0)) == (0.5, -0.25)
    assert adbc.jvp(quotient, (1.0, 2.0), (1.0, None)) == (0.5, 0.5)


def test_zero_derivatives_are_not_carried() -> None:
    text = str(dual_ir((rounded, float)))
    assert "mul(0.0" not in text and ", 0.0)" not in text
