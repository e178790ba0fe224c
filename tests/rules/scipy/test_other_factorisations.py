"""Factors of bands and by rows, factors that are brought up to date, signs and Riccati equations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.rules.scipy.agreement import agrees

RNG = np.random.default_rng(3)
A = RNG.standard_normal((4, 4))
TALL = RNG.standard_normal((5, 3))
POSITIVE = A @ A.T + 4.0 * np.eye(4)
HERMITIAN = POSITIVE + 1j * (A - A.T)
B = RNG.standard_normal((4, 2))
R = np.array([[2.0, 0.3], [0.3, 1.0]])


def band(m: Any, rows: int, lower: bool) -> Any:
    result = np.zeros((rows, len(m)), m.dtype)
    for k in range(rows):
        if lower:
            result[k, : len(m) - k] = np.diagonal(m, -k)
        else:
            result[rows - 1 - k, k:] = np.diagonal(m, k)
    return result


def test_vectors_of_bands_are_those_of_scipy() -> None:
    """Signs are those that the function gives, whichever way the derivative is computed."""
    for rows in (2, 3, 4):
        b = band(POSITIVE + np.diag([0.0, 3.0, -1.0, 2.0]), rows, True)
        given = linalg.eig_banded(b, True)
        found, along = adbc.jvp(lambda b: linalg.eig_banded(b, True), (b,), (0.1 * np.cos(b),))
        np.testing.assert_allclose(found[1], given[1], rtol=1e-12, atol=1e-12)
        later = linalg.eig_banded(b + 1e-6 * np.cos(b), True)[1]
        np.testing.assert_allclose((later - given[1]) / 1e-5, along[1], atol=1e-4)
    with pytest.raises(UnsupportedError, match="Give True or False"):
        adbc.jvp(lambda b: linalg.eig_banded(b, 0.6), (b,), (b,))


def test_stacks_of_columns() -> None:
    """From SciPy 1.17 on, columns of several axes are stacks of columns."""
    columns = RNG.standard_normal((2, 3))
    for function in (linalg.toeplitz, linalg.circulant, linalg.hankel):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = function(columns)
        found, along = adbc.jvp(function, (columns,), (2.0 * columns,))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(along, 2.0 * expected)
    agrees(lambda c: linalg.toeplitz(c, np.array([1.0, 2.0])), columns[0])
    for function in (linalg.solve_toeplitz, linalg.matmul_toeplitz):
        if linalg.toeplitz(np.eye(2)).ndim > 2:
            with pytest.raises(UnsupportedError, match="of a stack of columns"):
                adbc.jvp(lambda c, f=function: f(c, np.eye(3)), (columns,), (columns,))


def test_numbers_as_matrices() -> None:
    """The exponential of a number is that of a matrix of one; bands need two axes."""
    found, along = adbc.jvp(linalg.expm, (0.4,), (2.0,))
    np.testing.assert_allclose(found, [[np.exp(0.4)]])
    np.testing.assert_allclose(along, [[2.0 * np.exp(0.4)]])
    np.testing.assert_allclose(adbc.grad(lambda x: linalg.expm(x)[0, 0])(0.4), np.exp(0.4))
    with pytest.raises(UnsupportedError, match="of a band with 1 axes"):
        adbc.grad(lambda x: np.sum(linalg.solveh_banded(x, x)))(np.arange(1.0, 5.0))


@pytest.mark.parametrize("lower", [True, False])
def test_bands(lower: bool) -> None:
    for rows in (1, 2, 4):
        b = band(POSITIVE, rows, lower)
        agrees(lambda b: linalg.cholesky_banded(b, lower=lower), b)
        agrees(lambda b: linalg.eigvals_banded(b, lower=lower), b)
        agrees(lambda b: linalg.eig_banded(b, lower=lower)[1], b)
    check_rule(lambda b: linalg.cholesky_banded(b, lower=lower), band(POSITIVE, 3, lower))


@pytest.mark.parametrize("lower", [True, False])
def test_complex_bands(lower: bool) -> None:
    constant = band(HERMITIAN, 3, lower)
    diagonal = np.zeros(constant.shape)
    diagonal[0 if lower else 2] = 1.0

    def f(x: Any) -> Any:  # the diagonal stays real
        return np.abs(linalg.cholesky_banded(constant + x * diagonal, lower=lower))

    agrees(f, A[:3])


@pytest.mark.parametrize("mode", ["full", "r", "economic"])
def test_rq(mode: str) -> None:
    agrees(lambda a: linalg.rq(a, mode=mode), A)
    agrees(lambda a: linalg.rq(a, mode=mode), A[:2, :2])
    agrees(lambda a: linalg.rq(a[::-1].T, mode=mode), A)


def test_the_rule_of_rq_and_what_it_refuses() -> None:
    check_rule(lambda a: linalg.rq(a), A[:3, :3].copy(), step=1e-3)
    for matrix in (TALL, A + 1j * A.T):
        with pytest.raises(UnsupportedError, match=r"scipy.linalg.rq(.|\n)*scipy.linalg.qr of a.T"):
            adbc.jvp(lambda a: linalg.rq(a), (matrix,), (matrix,))


@pytest.mark.parametrize("mode", ["left", "right"])
@pytest.mark.parametrize("conjugate", [False, True])
def test_products_with_orthogonal_factors(mode: str, conjugate: bool) -> None:
    for a in (A, TALL):
        c = RNG.standard_normal((a.shape[1], 2) if mode == "left" else (2, a.shape[0]))
        agrees(lambda a, c: linalg.qr_multiply(a, c, mode, conjugate=conjugate), a, c)
        line = c[:, 0].copy() if mode == "left" else c[0]
        agrees(lambda a, c: linalg.qr_multiply(a, c, mode, conjugate=conjugate), a, line)


def test_products_that_do_not_fit() -> None:
    with pytest.raises(ValueError):
        adbc.jvp(lambda a: linalg.qr_multiply(a, np.ones(5), "left"), (TALL,), (TALL,))


UPDATES: dict[str, Any] = {
    "update": lambda q, r, x: linalg.qr_update(q, r, x[: len(q)], x[-r.shape[1] :]),
    "delete row": lambda q, r, x: linalg.qr_delete(q, r, 1),
    "delete last column": lambda q, r, x: linalg.qr_delete(q, r, -1, 1, "col"),
    "insert row": lambda q, r, x: linalg.qr_insert(q, r, x[: r.shape[1]], 1),
    "insert column": lambda q, r, x: linalg.qr_insert(q, r, x[: len(q)], 1, "col"),
}


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("shape", ["square", "economic"])
def test_factors_that_are_brought_up_to_date(name: str, shape: str) -> None:
    x = np.cos(np.arange(5.0))
    matrix = A if shape == "square" else TALL
    agrees(lambda a, x: UPDATES[name](*linalg.qr(a, mode="economic"), x), matrix, x)


def test_updates_of_full_factors() -> None:
    """The columns that meet zeros only are any orthogonal ones, of which nothing is a derivative."""
    q, r = linalg.qr(TALL)
    x = np.cos(np.arange(5.0))
    value, tangent = adbc.jvp(lambda r, x: linalg.qr_update(q, r, x, x[:3]), (r, x), (r, x))
    for found, plain in zip(value, linalg.qr_update(q, r, x, x[:3]), strict=True):
        np.testing.assert_allclose(found, plain, atol=1e-12)
    assert not np.isnan(tangent[0][:, :3]).any()
    assert not np.isnan(tangent[1][:3]).any()


def test_the_rule_of_updates_and_what_it_refuses() -> None:
    check_rule(lambda a, u, v: linalg.qr_update(*linalg.qr(a), u, v), A, A[0].copy(), A[1].copy(), step=1e-3)
    z = A + 1j * A.T
    with pytest.raises(UnsupportedError, match=r"qr_update of complex(.|\n)*scipy.linalg.qr"):
        adbc.jvp(lambda z: linalg.qr_update(*linalg.qr(z), z[0], z[1]), (z,), (z,))


def test_balanced_matrices_and_signs() -> None:
    check_rule(lambda a: linalg.matrix_balance(a)[0], A * np.array([1.0, 1e3, 1e-2, 1.0])[:, None])
    check_rule(lambda a: linalg.signm(a), A + np.diag([3.0, -3.0, 3.0, -3.0]), step=1e-3)


def test_riccati_equations_in_discrete_time() -> None:
    def f(a: Any, b: Any, q: Any, r: Any) -> Any:
        return linalg.solve_discrete_are(a, b, (q + q.T) / 2, (r + r.T) / 2)

    check_rule(f, A, B, POSITIVE, R, step=1e-3)
    with pytest.raises(UnsupportedError, match="solve_discrete_are with e or s"):
        adbc.jvp(lambda a: linalg.solve_discrete_are(a, B, POSITIVE, R, np.eye(4)), (A,), (A,))


@pytest.mark.parametrize(
    "matrix", [[[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]]
)
def test_the_sign_of_a_singular_matrix_is_nan(matrix: Any) -> None:
    def f(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return linalg.signm(np.array(matrix) + x * np.eye(2)).sum()

    assert np.isnan(adbc.jvp(f, (0.0,), (1.0,))[1])
    assert np.isnan(adbc.grad(f)(0.0))
