"""Rules of decompositions of matrices: eigenvalues, singular values, QR, and the logarithm of determinants.

Where the library leaves something free, a sign or a phase of a vector, a derivative takes the branch that the
library took, or the one in which the free part does not move; what does not depend on it is right.  Several
columns that complete a factor (of ``svd`` and ``qr`` of full size) are nan in forward mode, and in reverse
mode what depends on more than the space that they span is refused.  Equal
eigenvalues or singular values have vectors that are free in a plane: there the part of their derivative that
would be infinite is 0, and NaN if it matters; they are equal if they are but for rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.equal_values import coinciding, gaps, vanishing
from adbc.rules.numpy.linalg import FreeVectors, multiple
from adbc.rules.numpy.products import adjoint
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def _diagonal(a: Any) -> Any:
    return np.diagonal(a, axis1=-2, axis2=-1)


def _inverse(s: Any) -> Any:
    """The inverse 1 / s of each element, 0 where s is 0."""
    return np.where(s == 0, 0, 1 / np.where(s == 0, 1, s))


# -- determinants ----------------------------------------------------------------------------------------


def inverse_or_nan(a: Any) -> Any:
    """The inverse of `a`; NaN if it has none, where the logarithm of the determinant is infinite."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.full_like(a, np.nan)


def slogdet_along(d: Any, outs: Any, a: Any) -> list[Any]:
    """The tangents of sign and logarithm: of real matrices the sign does not move."""
    if not np.any(d):
        return [None, None]
    trace = np.sum(np.swapaxes(inverse_or_nan(a), -1, -2) * d, axis=(-2, -1))
    return [1j * outs[0] * np.imag(trace) if np.iscomplexobj(a) else None, np.real(trace)]


def slogdet_against(by: list[Any], outs: Any, a: Any) -> Any:
    by_trace: Any = np.asarray(0.0 if by[1] is None else by[1])
    if by[0] is not None and np.iscomplexobj(a):
        by_trace = np.asarray(by_trace - 1j * np.imag(np.conjugate(by[0]) * outs[0]))
    if not by_trace.any():
        return None
    return conj(np.swapaxes(inverse_or_nan(a), -1, -2)) * by_trace[..., None, None]


# -- eigenvalues of general matrices ---------------------------------------------------------------------


def _solved(v: Any, b: Any) -> Any:
    """The product v^-1 b for the eigenvectors `v`."""
    s = np.linalg.svd(v, compute_uv=False)
    if np.any(s[..., -1:] < 8 * np.finfo(s.dtype).eps * s[..., :1]):
        raise UnsupportedError(
            "np.linalg.eig of a matrix that has too few eigenvectors",
            "its eigenvalues are not smooth there",
            "use np.linalg.eigh if the matrix is symmetric, or move away from this point",
        )
    return np.linalg.solve(v, b)


def eigvals_jvp(d: Any, w: Any, a: Any) -> Any:
    v = np.linalg.eig(a)[1]
    return _diagonal(_solved(v, np.matmul(d, v)))


def eigvals_vjp(bw: Any, w: Any, a: Any) -> Any:
    v = np.linalg.eig(a)[1]
    vh = adjoint(v)
    return _solved(vh, bw[..., :, None] * vh)


def _largest(v: Any) -> Any:
    """A mask of the largest element of each column of `v`, which LAPACK makes real."""
    return np.arange(v.shape[-2])[:, None] == np.argmax(np.abs(v), axis=-2)[..., None, :]


def eig_along(d: Any, outs: Any, a: Any) -> list[Any]:
    """The tangents of ``eig``, whose vectors have length 1 and a real largest element."""
    w, v = outs
    inner = _solved(v, np.matmul(d, v))
    dv = np.matmul(v, gaps(w, inner, along=True) * inner)
    turn = -np.real(np.sum(conj(v) * dv, axis=-2, keepdims=True))
    if np.iscomplexobj(v) and v.size:
        mask = _largest(v)
        size = np.sum(np.where(mask, np.real(v), 0), axis=-2, keepdims=True)
        turn = turn - 1j * np.sum(np.where(mask, np.imag(dv), 0), axis=-2, keepdims=True) / size
    return [_diagonal(inner), dv + v * turn]


def eig_against(by: list[Any], outs: Any, a: Any) -> Any:
    w, v = outs
    bw, bv = by
    vh = adjoint(v)
    inner = bw[..., :, None] * np.eye(w.shape[-1], dtype=w.dtype)
    by_turn = np.sum(conj(v) * bv, axis=-2, keepdims=True)
    b = bv - v * np.real(by_turn)
    if np.iscomplexobj(v) and v.size:
        mask = _largest(v)
        size = np.sum(np.where(mask, np.real(v), 0), axis=-2, keepdims=True)
        b = b - 1j * np.where(mask, np.imag(by_turn) / size, 0)
    mixed = np.matmul(vh, b)
    # What is made of vectors and of their inverse may matter though `mixed` is zero, where the gap is.
    by_vector = np.max(np.abs(b), axis=-2, keepdims=True, initial=0) * np.ones_like(w.real)[..., :, None]
    inner = inner + conj(gaps(w, mixed, by_vector)) * mixed
    return np.matmul(_solved(vh, inner), vh)


# -- singular values ---------------------------------------------------------------------------------------


def free_along(d: Any, fixed: Any, free: Any) -> Any:
    """The tangent of the orthonormal columns `free` that complete the columns `fixed`, of which `d` is the
    tangent.  Of a single column the direction is given; several may turn into each other, and what a library
    lets them do says nothing of the matrix, so that their tangent is nan."""
    if free.shape[-1] > 1:
        return np.full_like(free, np.nan)
    return -np.matmul(fixed, np.matmul(adjoint(d), free))


def free_against(by: Any, fixed: Any, free: Any, name: str) -> Any:
    """The cotangent of the columns `fixed` from the cotangent `by` of those that complete them.

    Raises `UnsupportedError` if it matters how these turn into each other.
    """
    turn = np.matmul(adjoint(free), by)
    turn = turn - adjoint(turn)
    if free.shape[-1] > 1 and np.any(np.abs(turn) > 1e-6 * np.max(np.abs(by), initial=0)):
        raise UnsupportedError(
            f"{name} of full size, of which a single one of the columns that complete the factor is used",
            "these are free to turn into each other, so that such a one has no derivative",
            "use full_matrices=False (of qr, mode='reduced'), or the projection on all of them, Q @ Q.T",
        )
    return -np.matmul(free, np.matmul(adjoint(by), fixed))


SINGULAR_VECTORS = (FreeVectors(0, 1), FreeVectors(2, 1, is_row=True))
"""The singular vectors of ``svd``, on the left and on the right."""


def _triangle(a: Any, hermitian: Any) -> Any:
    """The matrix that is decomposed: with ``hermitian=True`` only the lower triangle is read."""
    if not hermitian:
        return a
    low = np.tril(a, -1)
    return low + adjoint(low) + np.real(a) * np.eye(np.shape(a)[-1], dtype=np.real(a).dtype)


def _fold(b: Any, hermitian: Any) -> Any:
    """The cotangent of what is read, from that of the whole matrix."""
    if not hermitian:
        return b
    eye = np.eye(np.shape(b)[-1], dtype=np.real(b).dtype)
    return np.tril(b, -1) + adjoint(np.triu(b, 1)) + np.real(b) * eye


def _thin(outs: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The three factors of reduced size, and the columns of `u` and of `v` that there are besides."""
    u, s, vh = outs
    size = s.shape[-1]
    return u[..., :size], s, vh[..., :size, :], u[..., size:], adjoint(vh[..., size:, :])


def svd_along(
    d: Any, outs: Any, a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False
) -> list[Any]:
    d = _triangle(d, hermitian)
    if not isinstance(outs, tuple):
        u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
        return [np.real(np.sum(conj(u) * np.matmul(d, adjoint(vh)), axis=-2))]
    u, s, vh, free_u, free_v = _thin(outs)
    v, row, column = adjoint(vh), s[..., None, :], s[..., :, None]
    inner = np.matmul(np.matmul(adjoint(u), d), v)
    f = gaps(s * s, inner, adjoint(inner), coincide=coinciding(s), along=True)
    f = np.where(vanishing(s), np.nan, f)
    du = np.matmul(u, f * (inner * row + column * adjoint(inner)))
    dv = np.matmul(v, f * (column * inner + adjoint(inner) * row))
    if np.iscomplexobj(inner):  # u and v turn against each other
        turn = 0.5j * np.imag(_diagonal(inner))[..., None, :] * _inverse(row)
        du, dv = du + u * turn, dv - v * turn
    outside_u = np.matmul(d, v)
    outside_v = np.matmul(adjoint(d), u)
    du = du + (outside_u - np.matmul(u, np.matmul(adjoint(u), outside_u))) * _inverse(row)
    dv = dv + (outside_v - np.matmul(v, np.matmul(vh, outside_v))) * _inverse(row)
    if free_u.shape[-1]:
        du = np.concatenate([du, free_along(du, u, free_u)], axis=-1)
    if free_v.shape[-1]:
        dv = np.concatenate([dv, free_along(dv, v, free_v)], axis=-1)
    return [du, np.real(_diagonal(inner)), adjoint(dv)]


def svd_against(
    by: list[Any],
    outs: Any,
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    hermitian: Any = False,
) -> Any:
    """The cotangent of ``svd``, NaN if vectors left free (of equal singular values) matter to the result."""
    if not isinstance(outs, tuple):
        u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
        return _fold(np.matmul(u * np.asarray(by[0])[..., None, :], vh), hermitian)
    u, s, vh, free_u, free_v = _thin(outs)
    bu, bs, bv = by[0], by[1], adjoint(by[2])
    if not (np.any(bu) or np.any(bv)):  # only the values were used
        return _fold(np.matmul(u * bs[..., None, :], vh), hermitian)
    v, row, column = adjoint(vh), s[..., None, :], s[..., :, None]
    size = s.shape[-1]
    if free_u.shape[-1]:
        bu = bu[..., :size] + free_against(bu[..., size:], u, free_u, "np.linalg.svd")
    if free_v.shape[-1]:
        bv = bv[..., :size] + free_against(bv[..., size:], v, free_v, "np.linalg.svd")
    ubu, vbv = np.matmul(adjoint(u), bu), np.matmul(vh, bv)
    f = gaps(s * s, ubu, vbv, coincide=coinciding(s))
    inner = f * (ubu - adjoint(ubu)) * row + column * f * (vbv - adjoint(vbv))
    on_diagonal: Any = bs
    if np.iscomplexobj(inner):
        on_diagonal = bs + 0.5j * np.imag(_diagonal(ubu) - _diagonal(vbv)) * _inverse(s)
    inner = inner + on_diagonal[..., None] * np.eye(np.shape(s)[-1], dtype=s.dtype)
    left = np.matmul(u, inner) + (bu - np.matmul(u, ubu)) * _inverse(row)
    right = (bv - np.matmul(v, vbv)) * _inverse(row)
    return _fold(np.matmul(left, vh) + np.matmul(u, adjoint(right)), hermitian)


# -- QR ----------------------------------------------------------------------------------------------------


def _qr_of(outs: Any, a: Any, mode: str) -> tuple[Any, Any]:
    """Both factors, of which ``mode="r"`` gives one; raises where there is no derivative."""
    if mode not in ("reduced", "complete", "r"):
        raise UnsupportedError(
            f"np.linalg.qr with mode={mode!r}", "its result is LAPACK's own form", "use mode='reduced'"
        )
    return np.linalg.qr(a) if mode == "r" else (outs[0], outs[1])


def _qr_along(d: Any, q: Any, r: Any) -> tuple[Any, Any]:
    scaled = adjoint(np.linalg.solve(adjoint(r), adjoint(d)))
    inner = np.matmul(adjoint(q), scaled)
    below = np.tril(inner, -1)
    upper = inner - below + adjoint(below)
    if np.iscomplexobj(upper):  # the diagonal of r stays real
        upper = upper - 1j * np.imag(upper) * np.eye(upper.shape[-1])
    return scaled - np.matmul(q, upper), np.matmul(upper, r)


def _qr_against(bq: Any, br: Any, q: Any, r: Any) -> Any:
    middle = np.matmul(r, adjoint(np.triu(br))) - np.matmul(adjoint(bq), q)
    below = np.tril(middle, -1)
    symmetric = below + adjoint(below) + np.real(middle) * np.eye(middle.shape[-1], dtype=r.real.dtype)
    return adjoint(np.linalg.solve(r, adjoint(bq + np.matmul(q, symmetric))))


def qr_along(d: Any, outs: Any, a: Any, mode: str = "reduced") -> list[Any]:
    whole, r = _qr_of(outs, a, mode)
    q, free, r = _reduced(whole, r, a)
    n = q.shape[-1]  # a matrix with more columns begins with those that decide
    dq, dr = _qr_along(d[..., :n], q, r[..., :n])
    if r.shape[-1] > n:
        rest = np.matmul(adjoint(dq), a[..., n:]) + np.matmul(adjoint(q), d[..., n:])
        dr = np.concatenate([dr, rest], axis=-1)
    if mode == "r":
        return [dr]
    if free.shape[-1]:
        dq = np.concatenate([dq, free_along(dq, q, free)], axis=-1)
        dr = np.concatenate([dr, np.zeros_like(outs[1][..., n:, :])], axis=-2)
    return [dq, dr]


def qr_against(by: list[Any], outs: Any, a: Any, mode: str = "reduced") -> Any:
    whole, r = _qr_of(outs, a, mode)
    q, free, r = _reduced(whole, r, a)
    bq, br = (np.zeros_like(q), by[0]) if mode == "r" else by
    n = q.shape[-1]
    if free.shape[-1]:
        bq, br = bq[..., :n] + free_against(bq[..., n:], q, free, "np.linalg.qr"), br[..., :n, :]
    if r.shape[-1] == n:
        return _qr_against(bq, br, q, r)
    rest = br[..., n:]
    begin = _qr_against(bq + np.matmul(a[..., n:], adjoint(rest)), br[..., :n], q, r[..., :n])
    return np.concatenate([begin, np.matmul(q, rest)], axis=-1)


def _reduced(q: Any, r: Any, a: Any) -> tuple[Any, Any, Any]:
    """The factors of reduced size, `r` the last, and the columns of `q` that there are besides."""
    n = min(np.shape(a)[-2:])
    return q[..., :n], q[..., n:], r[..., :n, :]


# -- condition ---------------------------------------------------------------------------------------------


def _cond(x: Any, p: Any = None) -> Any:
    x = np.asarray(x)
    if x.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    try:
        inverse = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        if x.ndim > 2:
            raise UnsupportedError(
                "np.linalg.cond of matrices of which one is singular",
                "its condition is infinite, and has no derivative",
                "take the regular ones, x[np.linalg.matrix_rank(x) == x.shape[-1]]",
            ) from None
        return np.float64(np.inf)
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(inverse, p, axis=(-2, -1))


ROWS: list[Rule] = [
    multiple(np.linalg.slogdet, slogdet_along, slogdet_against),
    multiple(np.linalg.eig, eig_along, eig_against, free=(FreeVectors(1, 0, is_any_use=True),)),
    multiple(np.linalg.svd, svd_along, svd_against, free=SINGULAR_VECTORS),
    multiple(np.linalg.qr, qr_along, qr_against),
    ArrayRule(np.linalg.eigvals, "a", jvp=[eigvals_jvp], vjp=[eigvals_vjp]),
    ZeroRule(np.linalg.matrix_rank, when=plain),
    Overlay(np.linalg.cond, _cond, when=plain),
]
