"""Functions of ``scipy.linalg`` that are another factorisation in another form: of band matrices, by rows, of
one that is brought up to date; signs of matrices, and Riccati equations in discrete time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from adbc.errors import UnsupportedError
from adbc.rules.implicit import held, solved, valued
from adbc.rules.scipy.base import bodies, fixed
from adbc.rules.scipy.stacks import for_each, is_stack
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]


# -- bands -------------------------------------------------------------------------------------------------


def _whole(band: Any, lower: bool, symmetric: bool = True) -> Any:
    """The matrix whose lower or upper half, with the diagonal, is given as a band."""
    band = np.asarray(band)
    rows, n = band.shape
    total = np.diag(band[0 if lower else rows - 1])
    for k in range(1, rows):
        side = np.diag(band[k, : n - k], -k) if lower else np.diag(band[rows - 1 - k, k:], k)
        total = total + side
        if symmetric:
            total = total + np.conjugate(side.T)
    return total


def cholesky_banded(
    ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True
) -> Any:
    ab = np.asarray(ab)
    if is_stack(ab):
        return for_each(lambda m: cholesky_banded(m, lower=lower), (ab,), (2,))
    if ab.size == 0:
        return solved(linalg.cholesky_banded, (ab,), {})
    rows, n = ab.shape
    factor = np.linalg.cholesky(_whole(ab, lower))
    result = ab.astype(factor.dtype)  # what is no part of the matrix stays
    for k in range(rows):
        side = np.diagonal(factor, -k)
        if lower:
            result[k, : n - k] = side
        else:
            result[rows - 1 - k, k:] = np.conjugate(side)
    return result


def eig_banded(
    a_band: Any, lower: bool = False, eigvals_only: bool = False, overwrite_a_band: bool = False,
    select: Any = "a", select_range: Any = None, max_ev: int = 0, check_finite: bool = True,
) -> Any:  # fmt: skip
    if not isinstance(lower, int | np.bool_):
        raise UnsupportedError(
            f"scipy.linalg.eig_banded with lower={lower!r:.40}",
            "SciPy cuts it to a whole number",
            "give True or False",
        )
    if select not in ("a", "all", 0):
        what = f"scipy.linalg.eig_banded with select={select!r}"
        a_band = fixed(np.asarray(a_band), what, "take all eigenvalues, and index them")
        return solved(
            linalg.eig_banded, (a_band, lower, eigvals_only, False, select, select_range, max_ev), {}
        )
    if is_stack(a_band):
        return for_each(lambda m: eig_banded(m, lower, eigvals_only), (a_band,), (2,))
    if np.size(a_band) == 0:
        return solved(linalg.eig_banded, (a_band, lower, eigvals_only), {})
    matrix = _whole(a_band, lower)
    if eigvals_only:
        return linalg.eigvalsh(matrix)
    values, vectors = linalg.eigh(matrix)
    # Vectors are unique but for a factor: theirs is that of SciPy's, which come from another algorithm.
    _, known = solved(linalg.eig_banded, (stop_gradient(a_band), lower), {})
    along = np.sum(np.conjugate(stop_gradient(vectors)) * known, axis=0)
    size = np.abs(along)
    return values, vectors * np.where(size > 0.5, along / np.where(size > 0.5, size, 1.0), 1.0)


def eigvals_banded(
    a_band: Any, lower: bool = False, overwrite_a_band: bool = False, select: Any = "a",
    select_range: Any = None, check_finite: bool = True,
) -> Any:  # fmt: skip
    return eig_banded(a_band, lower, True, False, select, select_range)


# -- orthogonal factors ------------------------------------------------------------------------------------


def _signs(r: Any, like: Any) -> Any:
    """The signs of the rows of `r` by which it becomes `like`."""
    return np.where(np.real(np.diagonal(r) * np.conjugate(np.diagonal(like))) < 0, -1.0, 1.0)


def rq(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", check_finite: bool = True
) -> Any:
    a = np.asarray(a)
    if np.ndim(a) != 2 or a.shape[0] != a.shape[1] or np.iscomplexobj(a):
        a = fixed(a, "scipy.linalg.rq of anything but one real square matrix", "use scipy.linalg.qr of a.T")
        return solved(linalg.rq, (a, False, lwork, mode, check_finite), {})
    found = solved(linalg.rq, (a,), {})
    q, r = linalg.qr(a[::-1].T)
    upper, rows = r.T[::-1, ::-1], q.T[::-1]
    s = _signs(stop_gradient(upper), stop_gradient(found[0]))
    if mode == "r":
        return upper * s
    return upper * s, s[:, None] * rows


def qr_multiply(
    a: Any, c: Any, mode: str = "right", pivoting: bool = False, conjugate: bool = False,
    overwrite_a: bool = False, overwrite_c: bool = False,
) -> Any:  # fmt: skip
    a, c = np.asarray(a), np.asarray(c)
    if pivoting or np.ndim(a) != 2 or a.shape[0] < a.shape[1]:
        what = "scipy.linalg.qr_multiply with pivoting, or of a matrix wider than high"
        a, c = fixed(a, what, "use scipy.linalg.qr"), fixed(c, what, "use scipy.linalg.qr")
        return solved(linalg.qr_multiply, (a, c, mode, pivoting, conjugate), {})
    q, r = linalg.qr(a, mode="economic")
    q = np.conjugate(q) if conjugate else q
    return q @ c if mode == "left" else c @ q, r


def _product(q: Any, r: Any) -> Any:
    """The matrix with these factors, of which the columns of `q` that meet zeros of `r` are no part."""
    count = min(r.shape)
    return q[:, :count] @ r[:count]


def _again(function: Any, given: tuple[Any, ...], matrix_of: Any) -> Any:
    """The factors of the matrix that `matrix_of` gives, as `function` has them: with its signs, and as many
    columns; it is called first, for it says what is wrong with the arguments."""
    found = solved(function, given, {})
    matrix = matrix_of()
    if np.iscomplexobj(matrix):
        instead = "use scipy.linalg.qr of the changed matrix"
        fixed(matrix, f"scipy.linalg.{function.__name__} of complex matrices", instead)
        return found
    is_full = found[0].shape[1] == matrix.shape[0]
    q, r = linalg.qr(matrix, mode="full" if is_full else "economic")
    like = stop_gradient(found[0])
    s = np.where(np.real(np.sum(np.conjugate(stop_gradient(q)) * like, axis=0)) < 0, -1.0, 1.0)
    return valued(found[0], q * s), valued(found[1], s[: r.shape[0], None] * r)


def qr_update(Q: Any, R: Any, u: Any, v: Any, *positional: Any, **options: Any) -> Any:
    def changed() -> Any:
        change = u[:, None] * np.conjugate(v) if np.ndim(u) == 1 else u @ np.conjugate(v.T)
        return _product(Q, R) + change

    return _again(linalg.qr_update, (Q, R, u, v), changed)


def qr_delete(
    Q: Any, R: Any, k: int, p: int = 1, which: str = "row", overwrite_qr: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    axis = 0 if which == "row" else 1
    return _again(
        linalg.qr_delete,
        (Q, R, k, p, which),
        lambda: np.delete(_product(Q, R), np.arange(k, k + p), axis),
    )


def qr_insert(
    Q: Any, R: Any, u: Any, k: int, which: str = "row", rcond: Any = None, overwrite_qru: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    axis = 0 if which == "row" else 1

    def enlarged() -> Any:
        whole = _product(Q, R)
        added = np.expand_dims(u, axis) if np.ndim(u) == 1 else u
        parts = (whole[:k], added, whole[k:]) if axis == 0 else (whole[:, :k], added, whole[:, k:])
        return np.concatenate(parts, axis=axis)

    return _again(linalg.qr_insert, (Q, R, u, k, which), enlarged)


# -- functions of matrices ---------------------------------------------------------------------------------


def matrix_balance(
    A: Any, permute: Any = True, scale: Any = True, separate: Any = False, overwrite_a: bool = False
) -> Any:
    """A matrix that is scaled by powers of two, which are constants."""
    A = np.asarray(A)
    _, by = solved(linalg.matrix_balance, (A, permute, scale, 0), {})
    found = solved(linalg.matrix_balance, (A, permute, scale, separate), {})
    by = stop_gradient(by)
    return valued(found[0], np.linalg.solve(by, A @ by)), found[1]


def signm(A: Any, *given: Any) -> Any:
    """The sign of a matrix, A (A**2)**(-1/2)."""
    A = np.asarray(A)
    if given:
        A = fixed(A, "scipy.linalg.signm with disp", "leave it out")
        return solved(linalg.signm, (A, *given), {})
    found = solved(linalg.signm, (A,), {})
    if np.linalg.slogdet(stop_gradient(A))[0] == 0:
        return valued(found, A * np.nan)  # an eigenvalue is zero, where the sign jumps
    root = linalg.sqrtm(A @ A)
    sign = np.linalg.solve(root.T, A.T).T
    return valued(found, sign if np.iscomplexobj(found) else np.real(sign))


def solve_discrete_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    """The equation x = f(x; a, b, q, r): of a change of f, that of x solves Stein's equation with the matrix
    of the closed loop."""
    a, b, q, r = np.asarray(a), np.asarray(b), np.asarray(q), np.asarray(r)
    if e is not None or s is not None:
        what = "scipy.linalg.solve_discrete_are with e or s"
        a, b, q, r = (fixed(z, what, "transform the system to one without them") for z in (a, b, q, r))
        return solved(linalg.solve_discrete_are, (a, b, q, r, e, s, balanced), {})
    found = solved(linalg.solve_discrete_are, (a, b, q, r, None, None, balanced), {})
    return _riccati(found, a, b, q, r)


def _riccati_again(x: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    """The solution `x`, which moves where the derivative is differentiated that has it for a constant."""
    return x


def _closed_loop(a: Any, b: Any, gain: Any) -> Any:
    return np.conjugate((a - b @ gain).T)


def _riccati(x: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    """The constant `x`, with the derivative of the solution that it is."""
    x = held(_riccati_again, x, a, b, q, r)
    adjoint, across = np.conjugate(a.T), np.conjugate(b.T)
    gain = np.linalg.solve(r + across @ x @ b, across @ x @ a)
    image = adjoint @ x @ a - adjoint @ x @ b @ gain + q
    loop = held(_closed_loop, a, b, gain)
    rest = image - loop @ x @ np.conjugate(loop.T)
    return valued(x, linalg.solve_discrete_lyapunov(loop, rest))


ROWS: list[Rule] = [
    Overlay(_riccati_again, _riccati),
    *bodies(
        linalg,
        {
            "cholesky_banded": cholesky_banded,
            "eig_banded": eig_banded,
            "eigvals_banded": eigvals_banded,
            "rq": rq,
            "qr_multiply": qr_multiply,
            "qr_update": qr_update,
            "qr_delete": qr_delete,
            "qr_insert": qr_insert,
            "matrix_balance": matrix_balance,
            "signm": signm,
            "solve_discrete_are": solve_discrete_are,
        },
    ),
]
