"""Powers of floats: of positive, negative and no numbers, with constant and other exponents."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_second_derivative


def norms(x: float) -> Any:
    total = 0.0
    for k in range(4):
        r2 = x * x + k
        total += r2**0.5 + r2**-1.5
    return total


def of_either_sign(x: float) -> Any:
    total, n = 0.0, 2.0
    for k in range(5):
        total += (x - 0.3 * k) ** n + (x - 0.3 * k) ** 3.0
        n += 1.0
    return total


def decibels(x: float) -> Any:
    gain = 0.0
    for k in range(3):
        gain += 10 ** (-x * k / 20) + 2.0**x + 2 ** (x - k)
    return gain


def in_place(x: float) -> Any:
    y = x
    for _ in range(3):
        y **= 1.1 + x
    return y


def complex_at_times(x: float) -> Any:
    total = 0.0
    for k in range(4):
        root = (x - k + 0.25) ** 0.5
        total += abs(root) if isinstance(root, complex) else root
    return total


def of_ints_and_floats(x: float) -> Any:
    total: Any = 0
    for k in (1, 2, 3):
        total += k**x + x**k + k**2 + (k + 1) ** -1 * x
        for base in (k, k + x):
            total += base ** (0.5 * k)
    return total


def polytrope(x: float, gamma: float = 1.4) -> Any:
    p, rho = 1.0, x
    for _ in range(4):
        p = p * rho**gamma / (1.0 + rho ** (gamma - 1.0))
        rho = rho * (1.0 + 0.1 * p)
    return p * rho


PROGRAMS = [norms, of_either_sign, decibels, in_place, complex_at_times, of_ints_and_floats, polytrope]


@pytest.mark.parametrize("function", PROGRAMS)
def test_powers(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(4):
        check_gradient(function, 0.7)


@pytest.mark.parametrize("function", [norms, of_either_sign, polytrope])
@pytest.mark.usefixtures("at_once")
def test_second_derivatives(function: Callable[[float], Any]) -> None:
    check_second_derivative(function, 0.7, rtol=1e-6)


def power(x: Any, y: Any) -> Any:
    return x**y


@pytest.mark.parametrize(
    ("x", "y", "slope"),
    [
        (0.0, 0.5, math.inf), (0.0, 1.0, 1.0), (0.0, 1.5, 0.0), (0.0, 2.0, 0.0), (-2.0, 3.0, 12.0),
        (-2.0, -1.0, -0.25),
        (math.inf, 0.5, 0.0), (4.0, 0.0, 0.0), (-4.0, 0.0, 0.0), (1.0, math.inf, math.inf),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("at_once")
def test_at_the_edges(x: float, y: float, slope: float) -> None:
    for value in (2.0, 3.0, x, x):  # so a float is guessed
        assert adbc.value_and_grad(power)(value, y)[0] == value**y
    assert adbc.grad(power)(x, y) == adbc.jvp(power, (x, y), (1.0, 0.0))[1] == slope


@pytest.mark.usefixtures("at_once")
def test_what_raises_does() -> None:
    for _ in range(3):
        assert adbc.grad(power)(2.0, 3.5) == pytest.approx(3.5 * 2.0**2.5)
    with pytest.raises(ZeroDivisionError):
        adbc.grad(power)(0.0, -1.0)
    with pytest.raises(OverflowError):
        adbc.grad(power)(1e300, 2.5)
    assert math.isnan(adbc.value_and_grad(power)(math.nan, 0.5)[0])


def by_math(x: float) -> Any:
    total = 0.0
    for k in range(100):
        total += math.pow(x * x + k, 0.5)
    return total


def by_operator(x: float) -> Any:
    total = 0.0
    for k in range(100):
        total += (x * x + k) ** 0.5
    return total


def test_a_power_costs_little_more_than_the_function_of_math() -> None:
    counts = []
    for function in (by_math, by_operator):
        gradient = adbc.value_and_grad(function)
        for _ in range(8):
            gradient(0.7)
        counts.append(executed(lambda: gradient(0.7)))  # noqa: B023  # called at once
    assert counts[1] <= 1.5 * counts[0]
