"""Functions that ask for the class of an array give way to those that do not, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.rules.numpy.products import quick_kron
from adbc.rules.numpy.reductions import QUICK
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

DTYPES = ["float64", "float32", "complex128", "int8", "int64", "bool"]
CALLS: list[Callable[..., Any]] = [
    lambda f, x: f(x),
    lambda f, x: f(x, 0),
    lambda f, x: f(x, axis=1),
    lambda f, x: f(x, axis=(0, 1), keepdims=True),
    lambda f, x: f(x, None, keepdims=True),
]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_values(name: str, dtype: str) -> None:
    x = (10.0 * np.random.default_rng(0).standard_normal((3, 4))).astype(dtype)
    for array in (x, x.T, x[::2, ::-1]):
        for call in CALLS:
            expected, found = call(getattr(np, name), array), call(QUICK[name], array)
            assert type(found) is type(expected)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_same_products() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(8).reshape(4, 2) - 3
    for a, b in [
        (x, y),
        (y, x),
        (x.T, x[:, ::-1]),
        (x, x[0]),
        (x[0], y),
        (x, 2.0),
        (x, np.float32(2.0)),
        (x[:0], y),
    ]:
        expected, found = np.kron(a, b), quick_kron(np.asarray(a), b)
        assert found.dtype == expected.dtype
        assert found.flags.c_contiguous == expected.flags.c_contiguous
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_same_values_of_nothing(name: str) -> None:
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) if name == "mean" else np.errstate():
        expected, found = getattr(np, name)(np.empty(0)), QUICK[name](np.empty(0))
    np.testing.assert_array_equal(found, expected)


def both_ways(x: Any) -> Any:
    return np.sum(x, axis=0)[0] * x.mean() + x.max(axis=1, keepdims=True)[0, 0] * np.min(x)


def named(x: Any) -> Any:
    return np.sum(x, dtype="float32") + np.sum(x, initial=1.0) + np.sum([x, x])


def test_only_where_it_is_the_same() -> None:
    x = np.array([[1.0, 5.0], [3.0, 4.0]])
    assert "quick_sum" not in adbc.inspect.show(named, x, stage="fwd")
    for stage in ("fwd", "dual"):
        text = adbc.inspect.show(both_ways, x, stage=stage)
        assert all(f"quick_{name}(" in text for name in ("sum", "mean", "max", "min"))


def test_subclasses_keep_their_own() -> None:
    x = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    assert default_engine().typeof(x).__class__.__name__ != "ArrayType"


def test_functions_that_do_not_ask_have_the_same_derivative() -> None:
    check_rule(both_ways, np.array([[1.0, 5.0], [3.0, 4.0]]))
    gradient = adbc.grad(lambda x: np.sum(x**3) + np.mean(x) ** 2)
    np.testing.assert_allclose(gradient(np.array([1.0, 2.0])), [4.5, 13.5])
