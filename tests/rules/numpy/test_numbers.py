"""Ufuncs of numbers of NumPy's: what is written inline says the same as the formulas for arrays."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import explain
from adbc.rules.numpy.numbers import ROWS, NumberRule
from adbc.testing import test_rule as check_rule
from adbc.testing.values import assert_same

UFUNCS = [row.function for row in ROWS if isinstance(row, NumberRule)]
UNARY = [f for f in UFUNCS if f.nin == 1]
BINARY = [f for f in UFUNCS if f.nin == 2]
NUMBERS = [0.3, 1.7, -0.4, -1.2, 0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 2.0]


def quietly(call: Any) -> Any:
    with np.errstate(all="ignore"):
        return call()


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", [np.float64, float], ids=lambda f: f.__name__)
def test_one_number(function: Any, make: Any) -> None:
    def of_number(x: Any) -> Any:
        return function(make(x)) * 1.5

    def of_array(x: Any) -> Any:
        return function(x)[0] * 1.5

    for x in NUMBERS:
        value, gradient = quietly(lambda x=x: adbc.value_and_grad(of_number)(x))
        expected, slope = quietly(lambda x=x: adbc.value_and_grad(of_array)(np.array([x])))
        assert_same(value, expected, f"value at {x}")
        assert_same(gradient, float(slope[0]), f"gradient at {x}", rtol=1e-13)
        along = quietly(lambda x=x: adbc.jvp(of_number, (x,), (1.0,))[1])
        assert_same(float(along), gradient, f"tangent at {x}", rtol=1e-13)


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_two_numbers(function: Any) -> None:
    def of_numbers(x: Any, y: Any) -> Any:
        return function(x, np.float64(y)) * 1.5

    def of_arrays(x: Any, y: Any) -> Any:
        return function(x, y)[0] * 1.5

    for x in NUMBERS:
        for y in NUMBERS:
            value, gradient = quietly(lambda x=x, y=y: adbc.value_and_grad(of_numbers, (0, 1))(x, y))
            a, b = np.array([x]), np.array([y])
            expected, slope = quietly(lambda a=a, b=b: adbc.value_and_grad(of_arrays, (0, 1))(a, b))
            assert_same(value, expected, f"value at {x}, {y}")
            for d, s in zip(gradient, slope, strict=True):
                assert_same(d, float(s[0]), f"gradient at {x}, {y}", rtol=1e-13)


def loop(x: Any) -> Any:
    total = x[0] * 0.0
    for i in range(len(x)):
        total += np.sqrt(x[i]) * np.exp(-x[i]) + np.log(x[i]) * np.maximum(x[i], 0.5)
        total = np.add(total, np.power(x[i], 2.0)) + np.hypot(x[i], total)
    return total


def test_loops() -> None:
    x = np.array([0.3, 0.9, 1.3])
    check_rule(loop, x)
    words = str(explain(loop, x))
    assert "primitive" not in words and "dynamic" not in words


def with_options(x: Any) -> Any:
    target = np.empty(3)
    np.exp(x[0], out=target)
    np.sin(x[1], target[1:2])
    return target.sum() + np.exp(x[2], where=True) + np.add(x[0], x[2], casting="unsafe") * x[1]


def test_options() -> None:
    check_rule(with_options, np.array([0.3, 0.9, 1.3]))


def test_other_numbers() -> None:
    check_rule(lambda x: np.exp(x) * np.float32(2.0), np.float32(0.5), rtol=1e-3, step=1e-2)
    check_rule(lambda x, n: np.power(x, n) + np.add(x, n), 0.5, 3)
    check_rule(lambda x: np.exp(x * 1j).real + np.abs(x + 2j), 0.5)


def test_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adbc.grad(lambda x: np.sqrt(x[0]))(np.zeros(1))[0] == math.inf
        assert adbc.grad(lambda x: np.arctan(x[0]))(np.array([1e300]))[0] == 0.0
