"""The conventions of `adbc.rules.kinks`, in both modes, and accuracy near them."""

from __future__ import annotations

import builtins
import math
import operator

import pytest

import adbc
from adbc.rules.math import digamma
from tests.rules.rows import find, gradient

inf, nan = math.inf, math.nan

KINKS = [
    (operator.abs, (0.0,), [0.0]),
    (builtins.abs, (0.0,), [0.0]),
    (math.fabs, (0.0,), [0.0]),
    (operator.abs, (-inf,), [-1.0]),
    (builtins.max, (1.0, 1.0), [1.0, 0.0]),
    (builtins.min, (1.0, 1.0), [1.0, 0.0]),
    (builtins.max, (nan, 1.0), [1.0, 0.0]),
    (operator.pow, (0.0, 0.0), [0.0, 0.0]),
    (operator.pow, (2.0, 0.0), [0.0, math.log(2.0)]),
    (operator.pow, (0.0, 2.0), [0.0, 0.0]),
    (operator.pow, (0.0, 1.0), [1.0, 0.0]),
    (operator.pow, (0.0, 0.5), [inf, 0.0]),
    (operator.pow, (0.0, 1.5), [0.0, 0.0]),
    (operator.pow, (-2.0, 3.0), [12.0, nan]),
    (operator.pow, (0.0, 3), [0.0, None]),
    (operator.pow, (0.0, 1), [1.0, None]),
    (operator.pow, (0.0, 0), [0.0, None]),
    (math.pow, (0.0, 0.5), [inf, 0.0]),
    (math.pow, (-2.0, 3.0), [12.0, nan]),
    (math.pow, (0.0, 0.0), [0.0, 0.0]),
    (math.sqrt, (0.0,), [inf]),
    (math.acos, (1.0,), [-inf]),
    (math.asin, (-1.0,), [inf]),
    (math.acosh, (1.0,), [inf]),
    (math.hypot, (0.0, 0.0), [0.0, 0.0]),
    (math.atan2, (0.0, 0.0), [0.0, 0.0]),
    (operator.mod, (6.0, 2.0), [1.0, -3.0]),
    (operator.mod, (-1.0, 3.0), [1.0, 1.0]),
    (math.fmod, (6.0, 2.0), [1.0, -3.0]),
    (math.floor, (2.0,), [None]),
    (operator.floordiv, (6.0, 2.0), [None, None]),
    (math.copysign, (0.0, -1.0), [-0.0, None]),
    (round, (0.5,), [None]),
    (math.fmod, (7.0, inf), [1.0, 0.0]),
]
if hasattr(math, "fmax"):  # from 3.15
    KINKS += [
        (math.fmax, (1.0, 1.0), [1.0, 0.0]),
        (math.fmin, (1.0, 1.0), [1.0, 0.0]),
        (math.fmax, (nan, 1.0), [0.0, 1.0]),
        (math.fmin, (1.0, nan), [1.0, 0.0]),
    ]


@pytest.mark.parametrize(
    ("function", "args", "expected"), KINKS, ids=lambda v: getattr(v, "__name__", str(v))
)
def test_convention(function, args, expected) -> None:
    got = gradient(function, *args)
    assert [str(g) if g is not None else None for g in got] == [
        str(float(e)) if e is not None else None for e in expected
    ]


def test_the_modulus_of_complex_zero() -> None:
    row = find(operator.abs, (0j,))
    assert row.frule((0j,), (1 + 1j,))[1] == 0.0


def test_a_zero_cotangent_is_zero_at_a_pole() -> None:
    row = find(math.sqrt, (0.0,))
    assert row.frule((0.0,), (0.0,))[1] == 0.0
    _, _, pullback = row.rrule((0.0,), (object(),))
    assert pullback(0.0)[0] == 0.0


def test_partials_of_inactive_arguments_are_not_evaluated() -> None:
    # the logarithm of a negative number would raise
    row = find(math.log, (2.0, 3.0))
    assert row.rrule((2.0, 3.0), (object(), None))[2](1.0)[1] is None


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (1.0, -0.5772156649015329),
        (0.5, -1.9635100260214235),
        (10.0, 2.2517525890667211),
        (1e-8, -1e8 - 0.5772156484689),
        (-0.5, 0.03648997397857652),
        (1e10, 23.025850929890456),
    ],
)
def test_digamma(x, expected) -> None:
    assert digamma(x) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("x", [-3.7, -0.2, 0.3, 3.3, 100.25])
def test_digamma_is_the_slope_of_lgamma(x) -> None:
    slope = (math.lgamma(x + 1e-6) - math.lgamma(x - 1e-6)) / 2e-6
    assert digamma(x) == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_digamma_at_its_poles() -> None:
    assert math.isnan(digamma(0.0))
    assert math.isnan(digamma(-3.0))
    assert digamma(inf) == inf


def test_accuracy_where_the_obvious_formula_loses_it() -> None:
    assert gradient(math.expm1, -40.0)[0] == pytest.approx(math.exp(-40.0), rel=1e-14)
    assert gradient(math.asin, 1.0 - 1e-12)[0] == pytest.approx(1.0 / math.sqrt(2e-12), rel=1e-4)
    assert gradient(operator.pow, 1e-170, 2)[0] == 2e-170


BEYOND = [
    (lambda x: x**-1.5, 1e-200, -inf),
    (lambda x: x**-3, -1e-100, -inf),
    (lambda x: x**0.01, 5e-324, inf),
    (lambda x: math.pow(x, -1.5), 1e-200, -inf),
    (lambda x: math.ldexp(x, 1024), 0.3, inf),
    (lambda x: math.frexp(x)[0], 5e-324, inf),
    (lambda x: math.log(x, 1.0 - 1e-16), 1e-310, -inf),
    (lambda x: math.fmod(nan, x), 0.0, nan),
    (lambda x: math.remainder(nan, x), 0.0, nan),
]


@pytest.mark.parametrize(("f", "x", "expected"), BEYOND)
def test_a_slope_that_is_no_float_is_no_error_where_the_value_is_one(f, x, expected) -> None:
    def tries(x):
        try:
            y = f(x)
        except ArithmeticError:
            y = 0.0 * x
        return y

    value = pytest.approx(tries(x), nan_ok=True)
    expected = pytest.approx(expected, nan_ok=True)
    assert adbc.jvp(tries, (x,), (1.0,)) == (value, expected)
    assert adbc.value_and_grad(tries)(x) == (value, expected)
