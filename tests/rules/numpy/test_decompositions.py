"""Eigenvalues, singular values, QR, condition and matrix norms: real, complex, and in stacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

RNG = np.random.default_rng(1)
MIXED = RNG.normal(size=(3, 3))  # a real matrix with complex eigenvalues
REAL = np.diag([1.0, 2.0, 4.0]) + 0.2 * RNG.normal(size=(3, 3))
HIGH = RNG.normal(size=(4, 3))
COMPLEX = MIXED + 1j * RNG.normal(size=(3, 3))
COMPLEX_HIGH = HIGH + 1j * RNG.normal(size=(4, 3))
STACK = np.stack([REAL, REAL[::-1] @ REAL])
SYMMETRIC = REAL @ REAL.T
HERMITIAN = COMPLEX @ COMPLEX.conj().T + np.diag([1, 2, 3])
SOLID = RNG.normal(size=(2, 3, 4))

SQUARE = {"mixed": MIXED, "real": REAL, "complex": COMPLEX, "stack": STACK}
ANY = {**SQUARE, "high": HIGH, "complex high": COMPLEX_HIGH, "wide": HIGH.T, "complex wide": COMPLEX_HIGH.T}


def called(text: str) -> Any:
    """A function of `x` that makes this call: what stands in the text is constant."""
    return eval(f"lambda x: {text}", {"np": np})


def test_matrices_are_what_they_are_called() -> None:
    assert np.iscomplexobj(np.linalg.eigvals(MIXED))
    assert not np.iscomplexobj(np.linalg.eigvals(REAL))


@pytest.mark.parametrize("kind", SQUARE)
def test_eigenvalues(kind: str) -> None:
    a = SQUARE[kind]
    check_rule(np.linalg.eigvals, a)
    check_rule(np.linalg.eig, a)
    check_rule(lambda a: np.linalg.eig(a)[1], a)
    check_rule(np.linalg.slogdet, a)
    check_rule(np.linalg.matrix_rank, a)


@pytest.mark.parametrize("p", ["None", "2", "-2", "1", "'fro'", "np.inf"])
@pytest.mark.parametrize("kind", SQUARE)
def test_condition(kind: str, p: str) -> None:
    check_rule(called(f"np.linalg.cond(x, {p})"), SQUARE[kind])


def _without_phases(parts: Any) -> Any:
    """What does not depend on the phases of the singular vectors."""
    u, s, vh = parts
    v = np.conj(vh)
    own = np.conj(u[..., :, None, :]) * u[..., None, :, :], vh[..., :, :, None] * v[..., :, None, :]
    return *own, s, np.einsum("...ij,...jk->...jik", u, vh)


@pytest.mark.parametrize("kind", ANY)
def test_singular_values_and_qr(kind: str) -> None:
    a = ANY[kind]
    check_rule(lambda a: np.linalg.svd(a, compute_uv=False), a)
    check_rule(lambda a: _without_phases(np.linalg.svd(a, full_matrices=False)), a)
    check_rule(np.linalg.qr, a)
    check_rule(lambda a: np.linalg.qr(a, mode="r"), a)


@pytest.mark.parametrize("a", [SYMMETRIC, HERMITIAN], ids=["real", "complex"])
def test_what_reads_one_triangle(a: Any) -> None:
    check_rule(lambda a: _without_phases(np.linalg.svd(a, hermitian=True)), a)
    check_rule(lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True), a)
    check_rule(lambda a: np.linalg.pinv(a, hermitian=True), a)


@pytest.mark.parametrize("order", ["'nuc'", "2", "-2", "1", "-1", "np.inf", "-np.inf", "'fro'"])
def test_norms_of_matrices_along_axes(order: str) -> None:
    for axes in ((0, 1), (2, 1), (-1, 0)):
        check_rule(called(f"np.linalg.norm(x, {order}, axis={axes})"), SOLID)
        check_rule(called(f"np.linalg.norm(x, {order}, axis={axes}, keepdims=True)"), SOLID)
    check_rule(called(f"np.linalg.norm(x, {order})"), COMPLEX)
    check_rule(called(f"np.linalg.norm(x, {order}, keepdims=True)"), REAL)


def test_single_precision_stays() -> None:
    gradient = adbc.grad(lambda a: np.linalg.svd(a, compute_uv=False).sum())(REAL.astype(np.float32))
    assert gradient.dtype == np.float32


def test_equal_eigenvalues_have_a_finite_derivative() -> None:
    gradient = adbc.grad(lambda a: np.linalg.eigvals(a).sum())(np.eye(3))
    np.testing.assert_allclose(gradient, np.eye(3))


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match="too few eigenvectors"):
        adbc.grad(lambda a: np.linalg.eigvals(a).sum())(np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(UnsupportedError, match="LAPACK's own form"):
        adbc.grad(lambda a: np.linalg.qr(a, mode="raw")[0].sum())(HIGH)
    with pytest.raises(UnsupportedError, match="one is singular"):
        adbc.grad(lambda a: np.linalg.cond(a, 1).sum())(np.stack([np.eye(2), np.zeros((2, 2))]))


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_a_single_column_that_completes_a_factor(kind: str) -> None:
    a = RNG.normal(size=(2, 4, 3)) + (1j * RNG.normal(size=(2, 4, 3)) if kind == "complex" else 0)

    def own(parts: Any) -> Any:
        u, s, vh = parts
        return np.conj(u[..., :, None, :]) * u[..., None, :, :], s, np.conj(vh[..., None, :]) * vh[..., None]

    check_rule(lambda a: own(np.linalg.svd(a)), a)
    check_rule(lambda a: own(np.linalg.svd(np.swapaxes(a, -1, -2))), a)

    def projections(a: Any) -> Any:
        q, r = np.linalg.qr(a, mode="complete")
        return np.conj(q[..., :, None, :]) * q[..., None, :, :], r

    check_rule(projections, a)


FAR = RNG.normal(size=(5, 3))


@pytest.mark.parametrize(
    "complement",
    [
        lambda a: np.linalg.svd(a)[0][:, 3:],
        lambda a: np.linalg.svd(a.T)[2][3:].T,
        lambda a: np.linalg.qr(a, mode="complete")[0][:, 3:],
    ],
)
def test_columns_that_complete_a_factor_are_one_space(complement: Any) -> None:
    weights = RNG.normal(size=(5, 5))

    def projected(a: Any) -> Any:
        free = complement(a)
        return np.sum(weights * (free @ free.T))

    def of_thin(a: Any) -> Any:
        u = np.linalg.svd(a, full_matrices=False)[0]
        return -np.sum(weights * (u @ u.T))

    np.testing.assert_allclose(adbc.grad(projected)(FAR), adbc.grad(of_thin)(FAR), rtol=1e-9, atol=1e-12)
    assert np.isnan(adbc.jvp(projected, (FAR,), (np.ones_like(FAR),))[1])
    with pytest.raises(UnsupportedError, match="free to turn into each other"):
        adbc.grad(lambda a: np.sum(weights[:, 0] * complement(a)[:, 0]))(FAR)


def test_what_is_not_free_in_factors_of_full_size() -> None:
    check_rule(lambda a: np.linalg.svd(a)[1:], FAR)
    check_rule(lambda a: np.linalg.svd(a)[0][:, :3], FAR)
    check_rule(lambda a: np.linalg.qr(a, mode="complete")[1], FAR)


@pytest.mark.parametrize("shape", [(5, 4), (4, 5), (4, 4)], ids=str)
@pytest.mark.parametrize(
    "solve", [lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], lambda a, b: np.linalg.pinv(a) @ b]
)
def test_small_singular_values_cost_no_more_digits_than_in_the_function(shape: Any, solve: Any) -> None:
    """What is fitted does not depend on digits of coefficients that the data hardly decide."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in shape)
    least = min(shape)
    a = (left[:, :least] * np.logspace(0, -6, least)) @ right[:least]
    weights, direction = rng.normal(size=shape[0]), rng.normal(size=shape)
    complement = np.eye(shape[0]) - left[:, :least] @ left[:, :least].T
    turning = complement @ direction @ np.linalg.pinv(a)  # the projection on the range of m, which is fitted
    for b, atol in ((rng.normal(size=shape[0]), 5e-6), (a @ rng.normal(size=shape[1]), 1e-10)):

        def fitted(t: float, b: Any = b) -> Any:
            m = a + 1e-6 * t * direction
            return np.sum(weights * (m @ solve(m, b)))

        exact = 1e-6 * weights @ (turning + turning.T) @ b
        along, by = adbc.jvp(fitted, (0.0,), (1.0,))[1], adbc.grad(fitted)(0.0)
        assert np.allclose([along, by], exact, rtol=1e-7, atol=atol), (along, by, exact)


@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.linalg.qr(a)[1].sum(),
        lambda a: scipy.linalg.polar(a)[1].sum(),
        lambda a: np.linalg.slogdet(a)[1],
    ],
)
def test_factors_of_singular_matrices_are_nan_where_they_move(f: Any, is_moved: bool) -> None:
    """The functions have a value there, so their derivatives are no errors."""
    singular = np.array([[1.0, 2.0], [0.0, 0.0]])

    def program(x: Any) -> Any:
        value = f(singular + (x * np.eye(2) if is_moved else np.zeros(2) * x))
        return x**2 + (value if is_moved else 0.0 * np.exp(value))

    found = adbc.jvp(program, (3.0 * (not is_moved),), (1.0,))[1], adbc.grad(program)(3.0 * (not is_moved))
    assert np.isnan(found).all() if is_moved else found == pytest.approx((6.0, 6.0))


def test_the_sign_of_a_singular_determinant_does_not_move() -> None:
    def sign(x: Any) -> Any:
        return x + np.linalg.slogdet(x * np.ones((2, 2)))[0]

    assert adbc.grad(sign)(2.0) == adbc.jvp(sign, (2.0,), (1.0,))[1] == 1.0
