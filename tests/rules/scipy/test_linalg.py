"""``scipy.linalg`` above LAPACK: solvers, factorisations, functions of matrices, with their flags."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

RNG = np.random.default_rng(3)
A = RNG.normal(size=(4, 4)) + 4.0 * np.eye(4)
Z = A + 1j * RNG.normal(size=(4, 4))
S = A @ A.T
H = Z @ Z.conj().T
B = RNG.normal(size=4)
C = RNG.normal(size=(4, 3))
TALL = RNG.normal(size=(5, 3))
BAND = RNG.normal(size=(4, 6)) + np.array([[0.0], [5.0], [0.0], [0.0]])
POSITIVE_BAND = np.abs(RNG.normal(size=(3, 6))) + np.array([[0.0], [0.0], [6.0]])
R = np.eye(3) + 0.1 * TALL.T @ TALL
FREE = np.array([0.3, -0.8, 0.5])

ASSUMPTIONS = [
    None, "gen", "sym", "her", "pos", "upper triangular", "lower triangular", "diagonal", "tridiagonal",
]  # fmt: skip


def call(name: str, *behind: Any, **keywords: Any) -> Any:
    return lambda *args: getattr(linalg, name)(*args, *behind, **keywords)


@pytest.mark.parametrize("assume_a", ASSUMPTIONS)
@pytest.mark.parametrize("lower", [False, True])
def test_solve(assume_a: Any, lower: bool) -> None:
    for a, b in [(S, B), (S, C), (H, C + 0j), (H, B), (S.astype(np.float32), C.astype(np.float32))]:
        check_rule(call("solve", assume_a=assume_a, lower=lower), a, b)


def test_solve_in_other_ways() -> None:
    check_rule(call("solve", transposed=True), A, B)
    check_rule(call("solve", transposed=True, assume_a="upper triangular"), A, C)
    check_rule(call("solve", check_finite=False), A[::-1].T, C[::2, :].repeat(2, axis=0)[::-1])
    check_rule(call("solve"), np.stack([A, A + 1.0]), np.stack([C, C]))
    check_rule(lambda x: linalg.solve([[x, 1.0], [0.5, x * x]], [1.0, x]), 1.7)

    def overwriting(a: Any, b: Any) -> Any:
        x = linalg.solve(a * 1.0, b * 1.0, overwrite_a=True, overwrite_b=True)
        y = linalg.solve(a * 2.0, b * x, False, True, True)
        return x * y + b

    check_rule(overwriting, A, B)


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_solve_triangular(trans: Any, lower: bool, unit: bool) -> None:
    for a, b in [(A, B), (A, C), (Z, C + 0j)]:
        check_rule(call("solve_triangular", trans=trans, lower=lower, unit_diagonal=unit), a, b)


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(lower: bool) -> None:
    for a in (S, H, S.astype(np.float32)):
        check_rule(call("cholesky", lower=lower), a)
        check_rule(lambda a: linalg.cho_factor(a, lower=lower), a)
        check_rule(lambda a, b: linalg.cho_solve(linalg.cho_factor(a, lower), b), a, C.astype(a.dtype))
    check_rule(lambda a, b: linalg.cho_solve(linalg.cho_factor(a * 2.0, overwrite_a=True), b), S, B)


@pytest.mark.parametrize("lower", [False, True])
def test_bands(lower: bool) -> None:
    b = RNG.normal(size=6)
    check_rule(lambda ab, b: linalg.solve_banded((2, 1), ab, b), BAND, b)
    check_rule(lambda ab, b: np.sum(linalg.solve_banded((2, 1), ab, b)), BAND, b, order=2)
    check_rule(lambda ab, b: linalg.solve_banded((2, 0), ab, b), BAND[1:, :2] + np.eye(3, 2), b[:2])
    check_rule(
        lambda ab, b: linalg.solve_banded((2, 1), ab, b), BAND + 0.3j, np.stack([b, b * 2], axis=1) + 0j
    )
    band = POSITIVE_BAND[::-1].copy() if lower else POSITIVE_BAND
    check_rule(call("solveh_banded", lower=lower), band, b)
    factor = linalg.cholesky_banded(band, lower=lower)
    check_rule(lambda cb, b: linalg.cho_solve_banded((cb, lower), b), factor, b)
    check_rule(lambda cb, b: linalg.cho_solve_banded((cb, lower), b), factor + 0.1j, b + 0j)


@pytest.mark.parametrize("a", [A, Z, A[::-1]], ids=["real", "complex", "strided"])
def test_lu(a: Any) -> None:
    check_rule(lambda a: linalg.lu_factor(a)[0], a)
    for trans in (0, 1, 2):
        check_rule(
            lambda a, b, trans=trans: linalg.lu_solve(linalg.lu_factor(a), b, trans), a, C.astype(a.dtype)
        )
    check_rule(call("lu"), a)
    check_rule(call("lu", permute_l=True), a)
    check_rule(call("lu", p_indices=True), a)


def test_inverse_and_determinant() -> None:
    for a in (A, Z, A.astype(np.float32)):
        check_rule(call("inv"), a)
        check_rule(call("det"), a)
    check_rule(call("inv", assume_a="pos", lower=True), S)
    check_rule(call("det"), np.diag([1.0, 0.0, 2.0]))
    check_rule(lambda a: linalg.inv(a * 2.0, overwrite_a=True) + a, A)
    check_rule(lambda a: linalg.det(a * 2.0, overwrite_a=True) + a, A)


@pytest.mark.parametrize("lower", [False, True])
def test_eigh(lower: bool) -> None:
    check_rule(lambda a: np.abs(linalg.eigh(a, lower=lower)[1]), S)
    check_rule(lambda a: np.abs(linalg.eigh(a, lower=lower)[1]), H)
    check_rule(call("eigvalsh", lower=lower), H)
    check_rule(call("eigh", eigvals_only=True, subset_by_index=(1, 2), lower=lower), S)
    check_rule(lambda a: np.abs(linalg.eigh(a, subset_by_value=(5.0, np.inf), lower=lower)[1]), S)
    for kind in (1, 2, 3):
        check_rule(
            lambda a, b, kind=kind: linalg.eigh(a, b, type=kind, lower=lower)[1] ** 2,
            S,
            10.0 * np.eye(4) + 0.3 * S,
        )
        check_rule(call("eigvalsh", type=kind, lower=lower), H, H @ H)


def test_eigenvalues_of_general_matrices() -> None:
    check_rule(lambda a: np.sort(linalg.eigvals(a).real), A, step=1e-3)
    check_rule(lambda a: np.abs(linalg.eig(a)[1]), Z, step=1e-3)
    check_rule(lambda a: linalg.eig(a, right=False), Z, step=1e-3)


@pytest.mark.parametrize(
    "matrix", [np.diag([1.0, 2.0, 3.0, 5.0]) + 0.1 * A, A, Z], ids=["real", "pairs", "complex"]
)
def test_left_eigenvectors(matrix: Any) -> None:
    check_rule(call("eig", left=True), matrix, step=1e-3)
    check_rule(call("eig", left=True, right=False), matrix, step=1e-3)


@pytest.mark.parametrize(
    "part", [{"select": "i", "select_range": (1, 2)}, {"select": "v", "select_range": (-1e3, 1e3)}], ids=str
)
def test_a_part_of_the_spectrum_of_a_tridiagonal_matrix(part: Any) -> None:
    check_rule(call("eigh_tridiagonal", **part), B, FREE)
    check_rule(call("eigh_tridiagonal", eigvals_only=True, **part), B, FREE)
    check_rule(call("eigvalsh_tridiagonal", **part), B, FREE)


def test_other_decompositions() -> None:
    check_rule(call("eigh_tridiagonal"), B, FREE)
    check_rule(call("eigvalsh_tridiagonal"), B, FREE)
    check_rule(call("svd", full_matrices=False), TALL)
    check_rule(call("svd"), A)
    check_rule(call("svd", compute_uv=False), TALL.T)
    check_rule(call("svdvals"), TALL + 1j * RNG.normal(size=(5, 3)))
    check_rule(call("qr", mode="economic"), TALL)
    check_rule(call("qr", mode="r"), TALL)
    check_rule(lambda a: linalg.qr(a)[1], TALL)
    check_rule(call("qr"), TALL[:4])
    check_rule(call("svd"), TALL[:4])
    check_rule(call("qr"), TALL.T)
    check_rule(call("qr", pivoting=True), A)
    for a in (A, TALL, linalg.expm(A - A.T)):
        check_rule(call("polar"), a)
    check_rule(call("polar", side="left"), TALL.T)
    check_rule(call("polar"), Z)
    check_rule(call("pinv"), TALL)
    check_rule(call("pinv", return_rank=True), TALL.T)
    for b in (RNG.normal(size=5), RNG.normal(size=(5, 2))):
        for driver in (None, "gelss", "gelsy"):
            check_rule(call("lstsq", lapack_driver=driver), TALL, b)
            check_rule(call("lstsq", lapack_driver=driver), TALL.T, b[:3])
    check_rule(call("lstsq"), TALL + 1j * TALL[::-1], b)
    check_rule(call("lstsq", 0.3), TALL, b)
    check_rule(linalg.lstsq, TALL, b)  # itself, which closes over another function
    for order in (None, 1, 2, np.inf, "fro", "nuc"):
        check_rule(lambda a, order=order: linalg.norm(a, order), A)
    check_rule(call("norm", 3, axis=1), A)


def test_roots_of_matrices_twice() -> None:
    """The derivative of a root solves an equation by a function that has derivatives itself."""
    gradient = adbc.grad(lambda t: linalg.sqrtm(t[0] * S + t[1] * A)[0, 1])
    t, step = np.array([1.0, 0.1]), 1e-5
    numeric = [(gradient(t + step * d) - gradient(t - step * d)) / (2 * step) for d in np.eye(2)]
    assert adbc.jacobian(gradient)(t) == pytest.approx(np.array(numeric), rel=1e-6, abs=1e-8)
    singular = adbc.grad(lambda a: linalg.sqrtm(a).sum())
    with pytest.warns(linalg.LinAlgWarning):
        assert np.isnan(singular(np.array([[0.0, 1.0], [0.0, 0.0]]))).all()


def test_a_root_is_a_value_whose_memory_scipy_holds() -> None:
    for _ in range(3):
        value, pullback = adbc.vjp(lambda a: linalg.sqrtm(a), S)
        _, tangent = adbc.jvp(lambda a: linalg.sqrtm(a), (S,), (A,))
        np.testing.assert_allclose(np.sum(pullback(value)[0] * A), np.sum(value * tangent))
        _, pullback = adbc.vjp(lambda a: (linalg.sqrtm(a), [linalg.sqrtm(2.0 * a)[0]]), S)
        assert np.isfinite(pullback((value, [value[0].copy()]))[0]).all()


def test_functions_of_matrices() -> None:
    check_rule(call("expm"), A)
    check_rule(call("expm"), Z)
    check_rule(call("expm"), np.stack([A, Z.real]) * 0.3)
    check_rule(call("logm"), np.eye(4) + 0.02 * S)
    check_rule(call("logm"), np.eye(4) + 0.02 * H)
    check_rule(call("sqrtm"), S)
    check_rule(call("sqrtm"), Z @ Z)
    check_rule(call("sqrtm"), S.astype(np.float32))
    check_rule(call("sqrtm"), np.stack([S, S + np.eye(4)]))
    check_rule(lambda a: np.abs(linalg.sqrtm(a)), -S)
    check_rule(call("fractional_matrix_power", 0.3), S)
    for name in ("sinm", "cosm", "sinhm", "coshm", "tanm", "tanhm"):
        check_rule(call(name), 0.1 * A)


def test_functions_of_matrices_of_the_users() -> None:
    turning = np.array([[0.0, 1.0], [-2.0, 0.3]])
    for a in (S, 0.1 * A, turning, Z, turning - 3.0 * np.eye(2), np.array([[0.3]])):
        check_rule(lambda a: linalg.funm(a, np.exp), a)
    check_rule(lambda a: linalg.funm(a, np.log), turning - 3.0 * np.eye(2))  # which is complex
    check_rule(lambda a: linalg.funm(a, lambda t: t**3), A)
    check_rule(lambda a, c: linalg.funm(a, lambda t: np.sin(c * t)), turning, 1.3)
    check_rule(lambda a: linalg.funm(a, np.cos), np.stack([turning, turning.T + 1.0]))
    assert adbc.vjp(lambda a: linalg.funm(a, np.exp), S.astype(np.float32))[0].dtype == np.float32
    by_eigenvalues = adbc.hvp(lambda a: np.sum(linalg.funm(a, np.exp)), (turning,), (turning.T,))
    expected = adbc.hvp(lambda a: np.sum(linalg.expm(a)), (turning,), (turning.T,))
    np.testing.assert_allclose(by_eigenvalues, expected, rtol=1e-9)
    assert np.all(np.isnan(adbc.grad(lambda a: np.sum(linalg.funm(a, np.exp)))(np.eye(2))))
    with pytest.raises(UnsupportedError, match="eave out disp"):
        adbc.grad(lambda a: linalg.funm(a, np.exp, disp=False)[0].sum())(S)


def test_matrix_equations() -> None:
    q = RNG.normal(size=(4, 3))
    check_rule(call("solve_sylvester"), A, A[:3, :3] + 5.0 * np.eye(3), q)
    check_rule(call("solve_sylvester"), Z, Z[:3, :3] + 5.0 * np.eye(3), q + 0.1j)
    for a in (A, Z):
        check_rule(call("solve_continuous_lyapunov"), a, a @ a + 1.0)
        check_rule(call("solve_discrete_lyapunov"), 0.1 * a, a + 2.0)
    check_rule(lambda a, b: linalg.solve_continuous_are(a, b, S, R), A, C, value_rtol=1e-9)
    check_rule(lambda q, r: linalg.solve_continuous_are(A, C, q + q.T, r + r.T), S, R)


def test_structured_matrices() -> None:
    check_rule(call("toeplitz"), B)
    check_rule(call("toeplitz"), B + 1j * B[::-1], FREE + 0j)
    check_rule(call("hankel"), B, FREE)
    check_rule(call("hankel"), B)
    check_rule(call("circulant"), B)
    check_rule(call("block_diag"), A, TALL, B)
    check_rule(call("companion"), B + 2.0)
    check_rule(lambda c, b: linalg.solve_toeplitz(c, b), B + np.array([5.0, 0, 0, 0]), C)
    check_rule(
        lambda c, r, b: linalg.solve_toeplitz((c, r), b), B + np.array([5.0, 0, 0, 0]), B[::-1].copy(), C
    )
    check_rule(lambda c, x: linalg.matmul_toeplitz((c, c), x), B, C)
    check_rule(lambda c, x: linalg.matmul_toeplitz((c, c), x), B.astype(np.float32), C.astype(np.float32))
    check_rule(lambda c: linalg.matmul_toeplitz(c, np.arange(len(B))), B.astype(np.complex64))


def test_what_is_not_unique_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="full size"):
        adbc.grad(lambda a: linalg.qr(a)[0].sum())(TALL)
    with pytest.raises(UnsupportedError, match="full size"):
        adbc.grad(lambda a: linalg.svd(a)[0].sum())(TALL)
    with pytest.raises(UnsupportedError, match="other side"):
        adbc.grad(lambda a: linalg.polar(a)[0].sum())(TALL.T.copy())


def test_errors_are_those_of_scipy() -> None:
    with pytest.raises(linalg.LinAlgError):
        adbc.grad(lambda a: linalg.cho_factor(a)[0].sum())(-S)
    with pytest.raises(ValueError, match="infs or NaNs"):
        adbc.grad(lambda a: linalg.solve(a, B).sum())(A * np.nan)


# -- stacks of matrices, and vectors beside them -----------------------------------------------------------

STACK = np.stack([S, S + np.eye(4), 2.0 * S])


def band(a: Any) -> Any:
    """The upper band of a positive definite matrix, made from `a`."""
    return np.stack([0.1 * a[..., 0, :], np.square(a[..., 1, :]) + 9.0], axis=-2)


RIGHT_SIDES = [B, C, np.stack([C, 2.0 * C, C + 1.0])]


@pytest.mark.parametrize("b", RIGHT_SIDES, ids=["vector", "columns", "stack"])
def test_solvers_of_stacks(b: Any) -> None:
    for a in (S, STACK):
        if a.ndim == 2 and b is not RIGHT_SIDES[2]:
            continue  # one matrix
        check_rule(call("solve"), a, b)
        check_rule(call("solve", assume_a="pos"), a, b)
        check_rule(call("solve_triangular", lower=True), a, b)
        check_rule(lambda x, y: linalg.cho_solve((x, True), y), a, b)
        check_rule(lambda x, y: linalg.lu_solve(linalg.lu_factor(x), y), a, b)
        check_rule(lambda x, y: linalg.solve_banded((1, 2), x, y), a, b)
        check_rule(lambda x, y: linalg.solveh_banded(band(x), y), a, b)
        check_rule(lambda x, y: linalg.cho_solve_banded((band(x), False), y), a, b)


ANY = np.random.default_rng(2).normal(size=(4, 4))  # with A, it has complex eigenvalues


def test_eigenvalues_of_two_matrices() -> None:
    other = A @ A.T + np.eye(4)
    check_rule(linalg.eigvals, ANY, A)
    check_rule(lambda a, b: np.sum(linalg.eigvals(a, b) ** 3), Z, A)  # they change their order
    check_rule(lambda a, b: linalg.eig(a, b), S, other)
    check_rule(lambda a, b: linalg.eig(a, b, right=False), ANY, A)
    check_rule(lambda a, b: linalg.eig(a, b)[0], S, np.stack([other, 2.0 * other]))


@pytest.mark.parametrize("f", [
    lambda a: linalg.eig(a, A)[1],
    lambda a: linalg.eig(a, S, left=True)[1],
    lambda a: linalg.eigvals(a, np.diag([1.0, 2.0, 3.0, 0.0])),
    lambda a: linalg.eigvals(a, A, homogeneous_eigvals=True),
    lambda a: linalg.eigvals(a, homogeneous_eigvals=True),
])  # fmt: skip
def test_eigenvalues_of_two_matrices_that_are_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError, match="homogeneous_eigvals, or with b"):
        adbc.jvp(f, (ANY,), (ANY,))
    with pytest.raises(UnsupportedError, match="homogeneous_eigvals, or with b"):
        adbc.grad(lambda a: np.sum(np.real(f(a))))(ANY)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (1, 3), (3, 1)], ids=str)
def test_triangular_factors_of_matrices_that_are_not_square(shape: Any) -> None:
    real = np.random.default_rng(4).normal(size=shape)
    for a in (real, real + 1j * np.cos(np.arange(real.size)).reshape(shape)):
        check_rule(lambda a: linalg.lu_factor(a)[0], a)
        check_rule(linalg.lu, a)
        check_rule(lambda a: linalg.lu(a, permute_l=True), a)
        check_rule(lambda a: linalg.lu(a, p_indices=True), a)
    check_rule(linalg.lu, np.stack([real, real[::-1]]))


@pytest.mark.parametrize("f", [
    lambda a: linalg.cho_factor(a)[0],
    lambda a: linalg.lu_factor(a)[0],
    lambda a: linalg.lu(a)[1],
    lambda a: linalg.eigh(a)[0],
    lambda a: linalg.eigh(a, eigvals_only=True, subset_by_index=[0, 1]),
    lambda a: linalg.svd(a)[1],
    lambda a: linalg.qr(a)[1],
    lambda a: linalg.polar(a)[1],
    lambda a: linalg.pinv(a),
    lambda a: linalg.sqrtm(a),
    lambda a: linalg.cholesky_banded(band(a)),
])  # fmt: skip
def test_factors_of_stacks(f: Any) -> None:
    check_rule(f, STACK)
    check_rule(f, STACK.reshape(3, 1, 4, 4)[:2])


def test_what_stacks_give_is_what_scipy_gives() -> None:
    def f(a: Any) -> Any:
        found = linalg.svd(a)
        assert type(found) is type(linalg.svd(STACK))
        return np.sum(found[1])

    assert adbc.jvp(f, (STACK,), (STACK,))[0] == f(STACK)
    assert adbc.value_and_grad(f)(STACK)[0] == f(STACK)


def test_a_number_in_place_of_a_matrix() -> None:
    check_rule(linalg.solve, np.array(2.0), B)
    check_rule(linalg.solve, np.array([[2.0]]), C)


@pytest.mark.parametrize("f", [
    lambda a: linalg.cholesky_banded(a),
    lambda a: linalg.cho_solve_banded((a, True), a[:, :0]),
    lambda a: linalg.eig_banded(a)[0],
    lambda a: linalg.eigh(a, a)[0],
    lambda a: linalg.eig(a, left=True)[1],
    lambda a: linalg.lu_solve((a, []), np.zeros(0)),
    lambda a: linalg.logm(a),
])  # fmt: skip
def test_matrices_without_numbers(f: Any) -> None:
    a = np.zeros((0, 0))

    def g(x: Any) -> Any:
        try:
            found = f(a * x)
        except ValueError:  # where SciPy has none for them
            return 2.0 * x
        return np.sum(np.abs(found)) + x * found.size + x

    expected = g(1.5)
    assert adbc.jvp(g, (1.5,), (1.0,))[0] == expected
    assert adbc.value_and_grad(g)(1.5)[0] == expected


def test_an_unknown_structure_is_the_same_error() -> None:
    for run in (lambda f: adbc.jvp(f, (A,), (A,)), lambda f: adbc.grad(f)(A)):
        with pytest.raises(KeyError, match="kaboom"):
            run(lambda a: np.sum(linalg.inv(a, assume_a="kaboom")))


NEGATIVE = np.array([[-0.3, 1.0, 0.2], [0.1, 0.5, 0.3], [0.4, 0.2, 1.1]])
"""A real matrix with an eigenvalue on the branch cut of the logarithm."""


@pytest.mark.parametrize("f", [
    lambda a: linalg.logm(a), linalg.sqrtm, lambda a: linalg.fractional_matrix_power(a, 0.3),
    lambda a: linalg.fractional_matrix_power(a, -1.7),
])  # fmt: skip
def test_functions_of_real_matrices_that_are_complex(f: Any) -> None:
    assert np.iscomplexobj(f(NEGATIVE))
    check_rule(f, NEGATIVE)
    check_rule(f, np.stack([NEGATIVE, NEGATIVE.T]))


def test_derivatives_warn_of_nothing_themselves() -> None:
    nearly_singular = np.diag(np.logspace(0, 50, 4))

    def f(x: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = linalg.solve(nearly_singular * x, np.ones(4) * x)
        return np.sum(found * x) * len(caught)

    expected = f(1.5)
    assert expected > 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adbc.jvp(f, (1.5,), (1.0,))[0] == expected
        assert adbc.value_and_grad(f)(1.5)[0] == expected


@pytest.mark.parametrize("f", [linalg.logm, lambda a: linalg.fractional_matrix_power(a, 0.3)])
def test_derivatives_draw_no_random_numbers(f: Any) -> None:
    def g(x: Any) -> Any:
        np.random.seed(5)  # noqa: NPY002  # the generator that SciPy takes
        found = np.sum(np.real(f(A * x)))
        return found + x * np.random.random()  # noqa: NPY002

    assert adbc.jvp(g, (1.5,), (1.0,))[0] == g(1.5)
    assert adbc.value_and_grad(g)(1.5)[0] == g(1.5)


def test_second_derivatives_of_logarithms() -> None:
    def f(x: Any) -> Any:
        return np.sum(linalg.logm(S * x * x) ** 2)

    slope = (adbc.grad(f)(1.5 + 1e-5) - adbc.grad(f)(1.5 - 1e-5)) / 2e-5
    assert adbc.grad(adbc.grad(f))(1.5) == pytest.approx(slope, rel=1e-6)
    assert adbc.jvp(adbc.grad(f), (1.5,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
