"""Formulas that take a shorter way where they may: the same numbers as by the longer one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules.numpy import fourier, linalg, ufuncs
from adbc.tangents.array_kinds import unbroadcast
from adbc.testing import test_rule as check_rule

RNG = np.random.default_rng(5)


def normal(*shape: int, is_complex: bool = False) -> Any:
    x = RNG.standard_normal(shape)
    return x + 1j * RNG.standard_normal(shape) if is_complex else x


def paired(a: Any, b: Any) -> float:
    return float(np.sum((np.conj(a) * b).real))


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_diagonal_cotangent_of_cholesky(n: int, upper: bool, is_complex: bool) -> None:
    a = normal(n, n, is_complex=is_complex)
    a = a @ a.conj().T + n * np.eye(n)
    y = np.linalg.cholesky(a)
    others = {"upper": True} if upper else {}
    y = y.conj().T if upper else y
    for by in (
        np.diag(normal(n, is_complex=is_complex)),
        np.zeros_like(a),
        normal(n, n, is_complex=is_complex),
    ):
        found = linalg.cholesky_vjp(by, y, a, **others)
        d = normal(n, n, is_complex=is_complex)
        assert paired(found, d) == pytest.approx(paired(by, linalg.cholesky_jvp(d, y, a, **others)))


def log_determinant(a: Any) -> Any:
    return np.sum(np.log(np.diag(np.linalg.cholesky(a))))


def test_determinant() -> None:
    a = normal(4, 4)
    a = a @ a.T + np.eye(4)
    check_rule(log_determinant, a)
    gradient = adbc.grad(log_determinant)(a)
    np.testing.assert_allclose(0.5 * (gradient + gradient.T), 0.5 * np.linalg.inv(a), rtol=1e-9)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("name", ["fft", "ifft"])
def test_transforms_of_real_signals(name: str, n: int, axis: int, norm: Any) -> None:
    function = getattr(np.fft, name)
    (row,) = (row for row in fourier.ROWS if row.function is function)
    for length in (None, 3, 6):
        a, d = normal(n, n), normal(n, n)
        y = function(a, length, axis, norm)
        by = normal(*y.shape, is_complex=True)
        found = row.vjp[0](by, y, a, n=length, axis=axis, norm=norm)  # type: ignore[attr-defined]  # of arrays
        assert found.dtype == np.float64
        assert found.shape == a.shape
        assert paired(found, d) == pytest.approx(paired(by, function(d, length, axis, norm)))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_broadcasting_undone(dtype: str) -> None:
    for shape in [(3, 4), (1, 4), (3, 1), (200, 3), (3, 200), (300, 300), (0, 4), (4, 0), (1, 1)]:
        whole = (100.0 * normal(*shape, is_complex=dtype.startswith("c"))).astype(dtype)
        for d in (whole, np.asfortranarray(whole), whole[::-1, ::-1]):
            rows, columns = d.shape
            tolerance = 1e-3 if dtype == "float32" else 1e-10
            for target, axes in [
                ((columns,), 0), ((1, columns), 0), ((rows, 1), 1), ((1, 1), (0, 1)), ((1,), (0, 1)),
                ((), (0, 1)),
            ]:  # fmt: skip
                found = unbroadcast(d, target)
                assert found.shape == target
                assert found.dtype == d.dtype
                np.testing.assert_allclose(
                    found, np.sum(d, axes).reshape(target), rtol=tolerance, atol=tolerance
                )


def test_sizes_of_complex_numbers() -> None:
    x = np.array([3.0 + 4.0j, -2.0j, 1e-310 + 0j, 1e300 + 1e300j, 5.0])
    size = np.abs(x)
    for d in (np.ones(5), np.array([1e200, 1.0, 1e10, 1.0, np.inf])):
        with np.errstate(all="ignore"):
            expected = x / size * d
            found = ufuncs._abs_against(d, size, x)
        finite = np.isfinite(expected)
        np.testing.assert_allclose(found[finite], expected[finite])
    zero = np.array([0.0j, 1.0 + 1.0j])
    np.testing.assert_allclose(
        ufuncs._abs_against(np.ones(2), np.abs(zero), zero), [0.0, zero[1] / np.sqrt(2.0)]
    )


def hypotenuse(x: Any, k: float) -> Any:
    """Numbers get inner products with arrays, of one shape and broadcast."""
    return np.sum(k * x) + np.sum(np.exp(x) * k * x[0]) + np.sum((k * x[:1]) * x.T)


def test_numbers_times_arrays() -> None:
    check_rule(hypotenuse, normal(3, 3), 0.7)
    x = normal(3, 3)
    value, (_, dk) = adbc.value_and_grad(hypotenuse, (0, 1))(x, 0.7)
    assert type(dk) is float
    assert dk == pytest.approx((hypotenuse(x, 0.7 + 1e-6) - hypotenuse(x, 0.7 - 1e-6)) / 2e-6)
    assert value == hypotenuse(x, 0.7)


@pytest.mark.parametrize("function", [np.cos, np.exp, np.tanh, np.negative, np.abs, np.square, np.maximum])
def test_partial_derivatives_are_not_shared(function: Any) -> None:
    """What is new memory is written over; what is an argument, or the result, is not."""

    def total(x: Any, y: Any) -> Any:
        first = function(x, y) if function.nin == 2 else function(x)
        return (
            np.sum(first) + 2.0 * np.sum(function(first, y) if function.nin == 2 else function(first)) + x[0]
        )

    x, y = np.array([0.5, -1.5, 2.0]), np.array([0.1, 0.2, 3.0])
    kept = x.copy(), y.copy()
    check_rule(total, x, y)
    first = adbc.grad(total, (0, 1))(x, y)
    np.testing.assert_array_equal((x, y), kept)
    np.testing.assert_array_equal(adbc.grad(total, (0, 1))(x, y), first)
