"""Second derivatives of calls of libraries on numbers: distributions, objects, Struve functions."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, special, stats

import adbc
from tests.programs.checks import check_second_derivative

STANDARD = statistics.NormalDist(0.1, 1.2)


class Spring:
    __slots__ = {"rest": "its length", "stiffness": "its constant"}

    def __init__(self, rest: float, stiffness: float) -> None:
        self.rest = float(rest)
        self.stiffness = float(stiffness)

    def energy(self, x: float) -> float:
        return self.stiffness * (x - self.rest) ** 4


class Scaled:
    """Has a method for each class of its argument, and a module that only its instances tell."""

    def __init__(self, by: Any) -> None:
        self.by = by

    @property
    def __module__(self) -> str:  # type: ignore[override]  # a class's own is text
        return "of the instance"

    @functools.singledispatchmethod
    def times(self, other: Any) -> Any:
        return NotImplemented

    @times.register(float)
    def _(self, other: float) -> Any:
        return self.by * other * other

    def __call__(self, other: Any) -> Any:
        return self.times(other) * self.by


GRID = np.linspace(0.0, 3.0, 7)


class Kept:
    """Has slots beside its dictionary, as objects of SciPy's that interpolate."""

    __slots__ = ("__dict__", "power")

    def __init__(self, power: float) -> None:
        self.power = power
        self.factor = 1.0


def slots_and_attributes(x: float) -> Any:
    kept = Kept(x)
    for name in ("factor", "power"):
        setattr(kept, name, getattr(kept, name) * x)
    kept.factor = kept.factor * kept.power
    return kept.factor * kept.power


def deviation(v: Any, /, *, correction: float = 0.0, **options: Any) -> Any:
    """NumPy's deviation as the array API has it: what its default hands on is a number in a record."""
    return np.std(v, ddof=correction, **options)


PROGRAMS: dict[str, Callable[[float], Any]] = {
    "a deviation by the array API": lambda x: deviation(np.array([x, 2.0, 3.5]), keepdims=False),
    "normal pdf": lambda x: stats.norm.pdf(x, 0.1, 1.3),
    "normal logpdf": lambda x: stats.norm.logpdf(x),
    "beta pdf": lambda x: stats.beta.pdf(0.3, 1.0 + x, 2.0),
    "diric": lambda x: special.diric(x, 5),
    "made in the function": lambda x: statistics.NormalDist(0.1, 1.2).pdf(x) * x,
    "cdf": lambda x: statistics.NormalDist(0.1, 1.2).cdf(x),
    "by a parameter": lambda x: statistics.NormalDist(x, 1.2).pdf(0.4),
    "made before": lambda x: STANDARD.pdf(x) * x,
    "methods by class": lambda x: Scaled(x * x).times(x) + Scaled(2.0 * x)(x),
    "slots beside attributes": slots_and_attributes,
    "slots": lambda x: Spring(0.2, 3.0).energy(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name: str) -> None:
    f = PROGRAMS[name]
    check_second_derivative(f, 0.7, rtol=1e-5, atol=1e-7)
    slope = adbc.grad(f)
    wanted = (slope(0.7 + 1e-5) - slope(0.7 - 1e-5)) / 2e-5
    along = lambda x: adbc.jvp(f, (x,), (1.0,))[1]  # noqa: E731  # short
    assert adbc.jvp(along, (0.7,), (1.0,))[1] == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    assert adbc.grad(along)(0.7) == pytest.approx(wanted, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("function", [special.struve, special.modstruve])
@pytest.mark.parametrize("order", [0, 1, 2, 3, -1, 0.5, 1.5])
@pytest.mark.parametrize("x", [0.7, -1.3, 0.0])
def test_struve_functions(function: Any, order: float, x: float) -> None:
    if (x < 0 and order % 1) or (x == 0 and order < 0):
        return  # not real, or not smooth, there

    def f(t: float) -> Any:
        return function(order, t)

    if x:
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert adbc.grad(f)(x) == pytest.approx(slope, rel=1e-7, abs=1e-9)
        assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-7, abs=1e-9)
    elif order >= 1:
        assert adbc.grad(f)(x) == 0.0
    if order % 1 == 0:
        check_second_derivative(f, x, rtol=1e-5, atol=1e-9)


def test_the_curvature_of_a_struve_function_at_zero() -> None:
    slope = adbc.grad(lambda x: special.struve(1, x))
    assert adbc.grad(slope)(0.0) == pytest.approx(4 / (3 * np.pi))


@pytest.mark.slow
def test_interpolation() -> None:
    def f(x: float) -> Any:
        return interpolate.interp1d(GRID, np.sin(GRID) * x)(x) ** 2

    slope = adbc.grad(f)
    wanted = (slope(0.7 + 1e-5) - slope(0.7 - 1e-5)) / 2e-5
    assert adbc.hvp(f, (0.7,), (1.0,))[0] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.slow
def test_masked_arrays() -> None:
    def f(x: float) -> Any:
        m = np.ma.masked_array(np.array([x, 2.0, x * x]), mask=[False, True, False])
        return m[0] * m[2] * x

    assert adbc.hvp(f, (0.7,), (1.0,))[0] == pytest.approx(12 * 0.7**2)
