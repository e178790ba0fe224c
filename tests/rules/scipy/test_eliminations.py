"""Factorisations of ``scipy.linalg`` that are made column by column."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

import adbc
from adbc.errors import UnsupportedError
from adbc.rules.scipy import eliminations
from adbc.testing import test_rule as check_rule

RNG = np.random.default_rng(3)


@pytest.mark.filterwarnings("ignore:scipy.linalg.ldl")  # of differences of the diagonal
@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl(n: int, is_complex: bool, lower: bool, hermitian: bool) -> None:
    a = RNG.normal(size=(n, n)) + 1j * is_complex * RNG.normal(size=(n, n))
    a = a if is_complex else a.real
    a = a + (np.conjugate(a.T) if hermitian else a.T)
    if is_complex and hermitian:
        np.fill_diagonal(a, np.diagonal(a).real)
    check_rule(lambda a: linalg.ldl(a, lower, hermitian)[:2], a)


def test_one_half_of_a_matrix_counts() -> None:
    a = np.array([[2.0, -1.0, 3.0], [0.3, 0.0, 0.4], [-0.7, 0.2, 1.0]])
    for lower in (True, False):
        gradient = adbc.grad(lambda a, low=lower: linalg.ldl(a, low)[1].sum())(a)
        assert not (np.triu(gradient, 1) if lower else np.tril(gradient, -1)).any()
    check_rule(lambda a: linalg.ldl(a)[:2], np.stack([a, 2.0 * a + np.eye(3)]))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("is_complex", [False, True])
def test_hessenberg(n: int, is_complex: bool) -> None:
    a = RNG.normal(size=(n, n)) + 1j * is_complex * RNG.normal(size=(n, n))
    a = a if is_complex else a.real
    check_rule(lambda a: linalg.hessenberg(a, True), a)
    check_rule(lambda a: linalg.hessenberg(a), a)


def test_what_is_computed_is_what_scipy_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    a = RNG.normal(size=(5, 5))
    monkeypatch.setattr(eliminations, "valued", lambda value, like: like)
    for found, expected in (
        (eliminations.hessenberg(a, True), linalg.hessenberg(a, True)),
        (eliminations.ldl(a + a.T), linalg.ldl(a + a.T)),
    ):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, atol=1e-12)


def test_a_column_that_is_zero_already_has_no_derivative() -> None:
    with pytest.raises(UnsupportedError, match=r"scipy\.linalg\.hessenberg of a matrix with a column"):
        adbc.grad(lambda a: linalg.hessenberg(a).sum())(np.eye(3))
