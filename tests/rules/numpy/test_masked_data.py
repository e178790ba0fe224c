"""Data in which some numbers are missing: what is not selected in the end does not count, on any path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

DATA = np.array([[1.0, np.nan, 3.0, 2.0], [np.inf, 2.0, np.nan, -1.0]])


def in_place(data: Any, x: Any) -> Any:
    result = data.copy()
    result *= x
    result -= x
    result /= x
    return result


MODELS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda data, x: data * x,
    "quotient": lambda data, x: data / x + x / data,
    "residual": lambda data, x: (data - x) ** 2,
    "cube": lambda data, x: (data * x) ** 3,
    "power": lambda data, x: data**x + np.square(data * x) + np.float_power(data * x, 2),
    "size": lambda data, x: np.abs(data * x) + np.fabs(data - x),
    "saturated": lambda data, x: np.tanh(data * x) + np.arctan(data * x),
    "exponential": lambda data, x: np.exp(-data * x) + np.log(data * x) + np.sqrt(data * x),
    "waves": lambda data, x: np.sin(data) * x + np.cos(x * data),
    "in place": in_place,
    "extrema": lambda data, x: np.maximum(data, x) * x,
    "curves": lambda data, x: np.sinc(data * x) + np.interp(data * x, [0.0, 9.0], [0.0, 2.0]),
    "polynomial": lambda data, x: np.polyval([1.0, 2.0, 3.0], data * x),
    "norm": lambda data, x: np.linalg.norm((data * x).reshape(4, 2), axis=1),
    "chain": lambda data, x: np.tanh((np.abs(data * x) - x) ** 2),
}

SELECTIONS: dict[str, Callable[[Any], Any]] = {
    "where": lambda y: np.where(np.isfinite(y), y, 0.0).sum(),
    "index": lambda y: y[np.isfinite(y)].sum(),
    "replaced": lambda y: np.nan_to_num(y, nan=0.0, posinf=0.0, neginf=0.0).sum(),
    "replaced in place": lambda y: np.nan_to_num(y, copy=False, posinf=1.0, neginf=2.0).sum(),
    "sum": lambda y: np.sum(y, where=np.isfinite(y)),
    "squares": lambda y: (np.where(np.isfinite(y), y, 1.0) ** 2).sum(),
}


@pytest.mark.parametrize("of", ["number", "row"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_missing_numbers(name: str, of: str) -> None:
    weights = 1.0 if of == "number" else np.array([1.0, 2.0, 0.5, 1.5])

    def f(x: float, data: Any, select: Any) -> Any:
        return select(MODELS[name](data, x * weights))

    step = 1e-6
    for select in SELECTIONS.values():
        expected = (f(1.5 + step, DATA, select) - f(1.5 - step, DATA, select)) / (2 * step)
        gradient = adbc.value_and_grad(f)
        for _ in range(4):  # interpreted, and compiled
            assert gradient(1.5, DATA, select) == (
                f(1.5, DATA, select),
                pytest.approx(expected, rel=1e-6, abs=1e-8),
            )
        tangent = adbc.jvp(lambda x, select=select: f(x, DATA, select), (1.5,), (1.0,))[1]
        assert tangent == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_missing_complex_numbers() -> None:
    data = np.array([1.0 + 2.0j, np.inf, np.nan, 3.0 - 1.0j])

    def f(x: float) -> Any:
        size = np.abs(data * x)
        return size[np.isfinite(size)].sum() + np.where(np.isfinite(size), (data * x).real, 0.0).sum()

    expected = np.sqrt(5.0) + np.sqrt(10.0) + 4.0
    for _ in range(4):
        assert adbc.grad(f)(1.5) == pytest.approx(expected)
        assert adbc.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(expected)


def test_replaced_in_place() -> None:
    def f(x: float) -> Any:
        y = np.array([1.0, np.nan, np.inf]) * x
        before = y * y
        replaced = np.nan_to_num(y, copy=False, nan=2.0 * x, posinf=3.0 * x)
        number = np.array(x)
        same = np.nan_to_num(number, copy=False)
        is_itself = replaced is y
        return (y * y).sum() + before[0] + same * number if is_itself else x

    for _ in range(4):
        assert adbc.value_and_grad(f)(1.5) == (pytest.approx(16.0 * 2.25), pytest.approx(48.0))
        assert adbc.jvp(f, (1.5,), (1.0,)) == (pytest.approx(16.0 * 2.25), pytest.approx(48.0))


def test_an_argument_that_is_replaced_in_place() -> None:
    def f(v: Any) -> Any:
        return (np.nan_to_num(v, copy=False) * np.arange(1.0, 4.0)).sum()

    given = np.array([1.0, np.nan, 3.0])
    for _ in range(4):
        np.testing.assert_array_equal(adbc.grad(f)(given), [1.0, 0.0, 3.0])
        np.testing.assert_array_equal(given, [1.0, np.nan, 3.0])


PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "outer": lambda data, x: np.outer(data, x) + np.outer(x, data)[:, :2].repeat(4).reshape(8, 4),
    "kron": lambda data, x: np.kron(data, np.outer(x, x)) + np.kron(np.outer(x, x), data),
    "kron of one": lambda data, x: np.kron(data * x, data),
    "cross": lambda data, x: np.cross(data[:, :3], x[:3]) + np.cross(x[:3], data[:, 1:]),
    "cumprod": lambda data, x: np.cumprod(data * x, axis=1) + np.cumprod(data * x, axis=0),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.filterwarnings("ignore")
def test_products_with_missing_numbers(name: str) -> None:
    """What is not selected of products that are summed on the way back: zero wins in each of them."""

    def f(x: Any, data: Any) -> Any:
        y = PRODUCTS[name](data, x)
        return np.where(np.isfinite(y), y, 0.0).sum()

    x, d = np.array([0.7, 1.3, -0.4, 0.9]), np.array([1.0, -0.5, 0.3, 0.8])
    slope = (f(x + 1e-6 * d, DATA) - f(x - 1e-6 * d, DATA)) / 2e-6
    for _ in range(3):
        assert adbc.jvp(lambda x: f(x, DATA), (x,), (d,))[1] == pytest.approx(slope, rel=1e-6)
        assert adbc.grad(f)(x, DATA) @ d == pytest.approx(slope, rel=1e-6)
