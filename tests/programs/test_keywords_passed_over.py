"""Classes derived from builtin ones whose own constructor takes keywords: that of the builtin class, which is
given them as well, passes over them."""

import abc
import cmath
import math

import pytest

import adbc


class Length(float):
    def __init__(self, value, unit=None):
        self.unit = unit


class Mass(float):
    def __new__(cls, value, unit=None):
        made = super().__new__(cls, value)
        made.unit = unit
        return made


class Point(tuple):
    def __init__(self, values, unit=None):
        self.unit = unit


class Series(list):
    def __new__(cls, values, unit=None):
        made = super().__new__(cls, values)
        made.unit = unit
        return made


def of_numbers(x):
    a, b = Length(x, unit="m"), Mass(x * x, unit="kg")
    return a * b * (len(a.unit) + len(b.unit))


def of_containers(x):
    a, b = Point((x, x * x), unit="m"), Series([x, 2.0 * x], unit="kg")
    return sum(a) * sum(b) + len(a.unit) + len(b.unit)


class Virtual(abc.ABC):
    def __eq__(self, other):
        ASKED.append("virtual")
        return NotImplemented

    def __lt__(self, other):
        return NotImplemented


@Virtual.register
class Registered:
    def __eq__(self, other):
        ASKED.append("registered")
        return NotImplemented

    def __gt__(self, other):
        ASKED.append("greater")
        return True


class Concrete(Virtual):
    pass


ASKED = []


def compared(x):
    ASKED.clear()
    Concrete() == Registered()
    less = Concrete() < Registered()
    return x * x if ASKED == ["virtual", "registered", "greater"] and less else x


@pytest.mark.parametrize("f", [of_numbers, of_containers, compared])
def test_derivatives(f):
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    for _ in range(4):
        assert adbc.value_and_grad(f)(1.5) == pytest.approx((f(1.5), slope))
        assert adbc.jvp(f, (1.5,), (1.0,)) == pytest.approx((f(1.5), slope))


@pytest.mark.parametrize(
    ("function", "z"),
    [
        (cmath.asin, 1 + 0j),
        (cmath.acos, 1 + 0j),
        (cmath.asinh, 1j),
        (cmath.acosh, 1 + 0j),
        (cmath.sqrt, 0j),
        (math.lgamma, -math.inf),
    ],
)
def test_a_value_where_there_is_no_slope(function, z):
    def f(x, z):
        return x * abs(function(z))

    for _ in range(4):
        value, (by_x, _) = adbc.value_and_grad(f, argnums=(0, 1))(2.0, z)
        assert (value, by_x) == pytest.approx((f(2.0, z), abs(function(z))))
