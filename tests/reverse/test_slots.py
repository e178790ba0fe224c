"""Elements of arrays, read and written one by one: inline where types are known, with the same derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.inspect import fwd_ir
from adbc.types import INT, ArrayType, Exact


def heat(u: Any, k: float) -> Any:
    for _ in range(3):
        left = u[0]
        for i in range(1, len(u) - 1):
            here = u[i]
            u[i] = here + k * (u[i + 1] - 2.0 * here + left)
            left = here
    total = 0.0
    for i in range(len(u)):
        total += u[i] * u[i - 1]  # u[-1] is the last
    return total


def grid(a: Any) -> Any:
    total = 0.0
    for i in range(3):
        for j in range(3):
            total += a[i, j] * a[j, i]
            a[i, j] = total
    a[0, 0] = 2
    return total + a[0, 0] * a[1, 1]


def numeric(f: Any, x: Any, *rest: Any) -> Any:
    gradient = np.zeros(x.shape, complex if x.dtype.kind == "c" else float)
    for index in np.ndindex(x.shape):
        for direction in (1.0, 1j) if x.dtype.kind == "c" else (1.0,):
            h = 1e-6 * direction
            up, down = x.copy(), x.copy()
            up[index] += h
            down[index] -= h
            gradient[index] += direction * (f(up, *rest) - f(down, *rest)) / 2e-6
    return gradient


@pytest.mark.parametrize(
    "f, x, rest",
    [(heat, np.linspace(0.0, 1.0, 7) ** 2, (0.2,)), (grid, np.arange(9.0).reshape(3, 3) / 9.0, ())],
)
def test_element_loops(f: Any, x: Any, rest: tuple[Any, ...]) -> None:
    before = x.copy()
    value, gradient = adbc.value_and_grad(f)(x, *rest)
    assert value == f(before.copy(), *rest)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(gradient, numeric(f, x, *rest), atol=1e-8)
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    _, tangent = adbc.jvp(f, (x.copy(), *rest), (direction.copy(), *(None for _ in rest)))
    assert tangent == pytest.approx(np.sum(gradient * direction))


def test_other_dtypes_and_indices() -> None:
    def f(z: Any) -> Any:
        z[1] = z[0] * z[-1]
        return (z[1] * z[1]).real + z[True][0, 0].real

    z = np.array([1.0 + 2.0j, 0.5 - 1.0j, 2.0 + 0.0j])
    np.testing.assert_allclose(adbc.grad(f)(z), numeric(f, z), atol=1e-8)

    def g(x: Any) -> Any:
        return x[0] * x[1]

    single = adbc.grad(g)(np.array([1.5, 2.0], np.float32))
    assert single.dtype == np.float32 and list(single) == [2.0, 1.5]


def test_an_index_out_of_range_is_the_users_error() -> None:
    def f(x: Any, i: int) -> Any:
        x[0] = 1.0
        return x[i]

    x = np.ones(3)
    with pytest.raises(IndexError, match="out of bounds"):
        adbc.grad(f)(x, 3)


def test_a_constant_array_is_read_and_not_written() -> None:
    def read(x: float, a: Any) -> Any:
        return x * a[1] * a[-1]

    def write(x: float, a: Any) -> Any:
        a[0] = x
        return a[0]

    a = np.array([2.0, 3.0, 4.0])
    assert adbc.grad(read)(2.0, a) == 12.0
    rule = adbc.build_rrule((write, Exact(float), ArrayType("float64", 1, np.ndarray)))
    nothing = adbc.NoFData()
    with pytest.raises(ConstWriteError):
        rule(adbc.CoDual(write, nothing), adbc.CoDual(2.0, nothing), adbc.CoDual(a, nothing))
    assert list(a) == [2.0, 3.0, 4.0]


def test_no_rule_is_called_for_elements() -> None:
    def f(x: Any, i: int) -> Any:
        x[i] = x[i] * 2.0
        return x[i]

    text = str(fwd_ir((f, ArrayType("float64", 1, np.ndarray), INT)))
    assert "operator.getitem(%x, %i)" in text
    assert "rrule" not in text
