"""Factorisations of ``scipy.linalg``, by the formulas of ``numpy.linalg``, with the flags that SciPy has.

What is computed is what SciPy computes (of two eigenvectors that differ in sign it gives one).  Where a
factor is not unique, its derivative is refused or, like that of vectors of equal eigenvalues, must not
matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from adbc.errors import UnsupportedError
from adbc.rules.implicit import solved, valued
from adbc.rules.numpy.decompositions import (
    SINGULAR_VECTORS,
    qr_against,
    qr_along,
    svd_against,
    svd_along,
)
from adbc.rules.numpy.determinants import det_jvp, det_vjp
from adbc.rules.numpy.linalg import (
    VECTORS,
    cholesky_jvp,
    cholesky_vjp,
    eigh_against,
    eigh_along,
    inv_jvp,
    inv_vjp,
    multiple,
    pinv_jvp,
    pinv_vjp,
)
from adbc.rules.numpy.products import adjoint
from adbc.rules.scipy.base import FormulaRule, bodies, fixed
from adbc.rules.scipy.solves import check_matrix, permutation
from adbc.rules.scipy.stacks import for_each, is_stack
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS", "polar_factors"]


def _filled(bouts: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The cotangents of the parts `outs`, zeros where there is none."""
    return [np.zeros_like(y) if b is None else b for b, y in zip(bouts, outs, strict=True)]


# -- inverse, determinant, Cholesky ----------------------------------------------------------------------


def inverse(a: Any) -> Any:
    """``inv(a)`` of what is read of `a`."""
    return linalg.inv(a)


STRUCTURES = frozenset({
    "diagonal", "tridiagonal", "upper triangular", "lower triangular", "pos", "positive definite", "sym",
    "symmetric", "her", "hermitian",
})  # fmt: skip
"""What ``inv`` may be told of a matrix."""


def inv(
    a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: Any = None, lower: bool = False
) -> Any:
    if assume_a in (None, "gen", "general"):
        return inverse(a)
    a = np.asarray(a)
    if assume_a not in STRUCTURES:
        return solved(linalg.inv, (a,), {"assume_a": assume_a})  # which raises
    return linalg.solve(a, np.eye(a.shape[-1], dtype=a.dtype), lower=lower, assume_a=assume_a)


def _cholesky_along(d: Any, y: Any, a: Any, lower: Any = False, **_: Any) -> Any:
    return cholesky_jvp(d, y, a, upper=not lower)


def _cholesky_against(by: Any, y: Any, a: Any, lower: Any = False, **_: Any) -> Any:
    by = np.tril(by) if lower else np.triu(by)
    return cholesky_vjp(by, y, a, upper=not lower)


_LEAVES_TRIANGLE = bool(linalg.cho_factor(np.array([[1.0, 0.0], [2.0, 1.0]]))[0][1, 0])
"""Whether ``cho_factor`` leaves in the other triangle what was there; from SciPy 1.18 on there are zeros."""


def _other_triangle(a: Any, lower: Any) -> Any:
    if not _LEAVES_TRIANGLE:
        return 0.0
    return np.triu(a, 1) if lower else np.tril(a, -1)


def factor_of(a: Any, lower: bool) -> Any:
    """``cho_factor(a, lower)``: a matrix with a triangle, and in the other what was there, and which."""
    return linalg.cho_factor(a, lower)


def _factor_along(d: Any, outs: Any, a: Any, lower: bool) -> list[Any]:
    low = np.tril(outs[0]) if lower else np.triu(outs[0])
    return [cholesky_jvp(d, low, a, upper=not lower) + _other_triangle(d, lower), None]


def _factor_against(by: Sequence[Any], outs: Any, a: Any, lower: bool) -> Any:
    if by[0] is None:
        return None
    low = np.tril(outs[0]) if lower else np.triu(outs[0])
    mine = np.tril(by[0]) if lower else np.triu(by[0])
    return cholesky_vjp(mine, low, a, upper=not lower) + _other_triangle(by[0], lower)


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    if is_stack(a):
        return _each_cho_factor(a, lower)
    return factor_of(np.atleast_2d(a), lower)


def _each_cho_factor(a: Any, lower: Any) -> Any:
    return for_each(lambda m: cho_factor(m, lower), (a,), (2,))


# -- LU --------------------------------------------------------------------------------------------------


def factors(a: Any) -> Any:
    """``lu_factor(a)``."""
    lu, piv = linalg.lu_factor(a)
    return lu, piv


def _split(lu: Any) -> tuple[Any, Any]:
    """The two triangles in what is packed; of a matrix that is not square one of them is a trapezium."""
    least = min(lu.shape)
    return np.tril(lu[:, :least], -1) + np.eye(len(lu), least, dtype=lu.dtype), np.triu(lu[:least])


def _order_of(piv: Any, rows: int) -> Any:
    """The order of `rows` rows that the exchanges `piv` lead to, of which there may be fewer."""
    return permutation(np.concatenate((piv, np.arange(len(piv), rows, dtype=piv.dtype))))


def _divided(high: Any, d: Any) -> Any:
    """``d @ inv(high)`` of an upper triangle."""
    return linalg.solve_triangular(high, d.T, trans="T").T


def _divided_adjoint(high: Any, d: Any) -> Any:
    """``d @ adjoint(inv(high))`` of an upper triangle."""
    return adjoint(linalg.solve_triangular(high, adjoint(d)))


def _lu_along(d: Any, outs: Any, a: Any) -> list[Any]:
    lu, piv = outs
    low, high = _split(lu)
    n = min(lu.shape)
    d = d[_order_of(piv, len(lu))]
    first = linalg.solve_triangular(low[:n], d[:n], lower=True, unit_diagonal=True)
    inner = _divided(high[:, :n], first[:, :n])
    dlow, dhigh = np.matmul(low[:n], np.tril(inner, -1)), np.matmul(np.triu(inner), high[:, :n])
    if len(lu) > n:
        below = _divided(high, d[n:] - np.matmul(low[n:], dhigh))
        return [np.concatenate((dlow + dhigh, below)), None]
    beside = first[:, n:] - np.matmul(np.tril(inner, -1), high[:, n:])
    return [np.concatenate((dlow + dhigh, beside), axis=1), None]


def _lu_against(by: Sequence[Any], outs: Any, a: Any) -> Any:
    lu, piv = outs
    blu = by[0]
    if blu is None:
        return None
    low, high = _split(lu)
    n = min(lu.shape)
    blow, bhigh = np.tril(blu[:n, :n], -1), np.triu(blu[:n, :n])
    rest = None
    if len(lu) > n:
        rest = _divided_adjoint(high, blu[n:])
        bhigh = bhigh - np.triu(np.matmul(adjoint(low[n:]), rest))
    elif lu.shape[1] > n:
        rest = linalg.solve_triangular(low, blu[:, n:], trans="C", lower=True, unit_diagonal=True)
        blow = blow - np.tril(np.matmul(rest, adjoint(high[:, n:])), -1)
    middle = np.tril(np.matmul(adjoint(low[:n]), blow), -1)
    middle = middle + np.triu(np.matmul(bhigh, adjoint(high[:, :n])))
    d = linalg.solve_triangular(low[:n], middle, trans="C", lower=True, unit_diagonal=True)
    d = _divided_adjoint(high[:, :n], d)
    if rest is not None:
        d = np.concatenate((d, rest), axis=0 if len(lu) > n else 1)
    return d[np.argsort(_order_of(piv, len(lu)))]


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    if is_stack(a):
        return for_each(lu_factor, (a,), (2,))
    return factors(np.asarray(a))


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True,
    p_indices: bool = False,
) -> Any:  # fmt: skip
    if is_stack(a):
        return tuple(for_each(lambda m: lu(m, permute_l, p_indices=p_indices), (a,), (2,)))
    packed, piv = factors(np.asarray(a))
    low, high = _split(packed)
    order = _order_of(piv, len(packed))
    if permute_l:
        return low[np.argsort(order)], high
    if p_indices:
        return np.argsort(order).astype(np.int32), low, high
    return np.eye(len(packed), dtype=packed.real.dtype)[:, order], low, high


# -- eigenvalues of Hermitian matrices -------------------------------------------------------------------


def vectors_of(a: Any, lower: bool = True, driver: Any = None) -> Any:
    """``eigh(a)``."""
    return linalg.eigh(a, lower=lower, driver=driver)


def _uplo(lower: Any) -> str:
    return "L" if lower else "U"


def _eigh_along(d: Any, outs: Any, a: Any, lower: bool = True, driver: Any = None) -> list[Any]:
    return eigh_along(d, outs, a, _uplo(lower))


def _eigh_against(by: list[Any], outs: Any, a: Any, lower: bool = True, driver: Any = None) -> Any:
    return eigh_against(by, outs, a, _uplo(lower))


def signs(a: Any, b: Any, v: Any, lower: bool, kind: int) -> Any:
    """For each eigenvector in `v` the number of absolute value 1 by which SciPy's differs."""
    found = linalg.eigh(a, b, lower=lower, type=kind)[1]
    k = np.argmax(np.abs(found), axis=0)
    columns = np.arange(found.shape[1])
    ratio = found[k, columns] / v[k, columns]
    return ratio / np.abs(ratio)


def _whole_spectrum(a: Any, b: Any, lower: bool, kind: int, driver: Any) -> Any:
    """All eigenvalues and eigenvectors; with `b`, by its Cholesky factor, of a problem without."""
    if b is None:
        return vectors_of(a, lower, driver)
    a, b = np.asarray(a), np.asarray(b)
    if a.size == 0:
        return solved(linalg.eigh, (a, b), {"lower": lower, "type": kind})
    low = linalg.cholesky(b if lower else np.conjugate(b.T), lower=True)
    half = np.tril(a) if lower else np.conjugate(np.triu(a).T)
    whole = half + np.conjugate(half.T) - np.diag(np.real(np.diagonal(half)))
    if kind == 1:
        inner = linalg.solve_triangular(low, whole, lower=True)
        inner = np.conjugate(linalg.solve_triangular(low, np.conjugate(inner.T), lower=True).T)
    else:
        inner = np.conjugate(low.T) @ whole @ low
    w, y = vectors_of(inner, True, driver)
    if kind == 3:
        v = low @ y
    else:
        v = linalg.solve_triangular(low, y, trans="C", lower=True)
    return w, v * signs(a, b, v, lower, kind)


def eigh(
    a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, type: int = 1, check_finite: bool = True, subset_by_index: Any = None,
    subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    if is_stack(a, b):
        options = (lower, eigvals_only, type, subset_by_index, subset_by_value, driver)
        if b is None:
            return for_each(lambda m: _eigh_of(m, None, *options), (a,), (2,))
        return for_each(lambda m, n: _eigh_of(m, n, *options), (a, b), (2, 2))
    if subset_by_index is not None or subset_by_value is not None:
        driver = None
    w, v = _whole_spectrum(a, b, lower, type, None if b is not None else driver)
    if subset_by_index is not None:
        first, last = subset_by_index
        w, v = w[first : last + 1], v[:, first : last + 1]
    elif subset_by_value is not None:
        inside = (w > subset_by_value[0]) & (w <= subset_by_value[1])
        w, v = w[inside], v[:, inside]
    return w if eigvals_only else (w, v)


def _eigh_of(
    a: Any, b: Any, lower: bool, eigvals_only: bool, kind: int, by_index: Any, by_value: Any, driver: Any
) -> Any:
    return eigh(
        a, b, lower=lower, eigvals_only=eigvals_only, type=kind, subset_by_index=by_index,
        subset_by_value=by_value, driver=driver,
    )  # fmt: skip


def eigvalsh(
    a: Any, b: Any = None, *, lower: bool = True, overwrite_a: bool = False, overwrite_b: bool = False,
    type: int = 1, check_finite: bool = True, subset_by_index: Any = None, subset_by_value: Any = None,
    driver: Any = None,
) -> Any:  # fmt: skip
    return eigh(
        a, b, lower=lower, type=type, eigvals_only=True, subset_by_index=subset_by_index,
        subset_by_value=subset_by_value,
    )  # fmt: skip


def eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: bool = False, select: Any = "a", select_range: Any = None,
    check_finite: bool = True, tol: float = 0.0, lapack_driver: str = "auto",
) -> Any:  # fmt: skip
    d, e = np.asarray(d), np.asarray(e)
    given = stop_gradient(d), stop_gradient(e), eigvals_only, select, select_range, check_finite, tol
    found = solved(linalg.eigh_tridiagonal, (*given, lapack_driver), {})
    known, vectors = (found, None) if eigvals_only else found
    w, v = tridiagonal_vectors(np.diag(d) + np.diag(e, -1))
    first = tridiagonal_place(stop_gradient(w), known)
    part = valued(known, w[first : first + len(known)])
    if eigvals_only:
        return part
    v = v[:, first : first + len(known)]
    along = np.sum(stop_gradient(v) * vectors, axis=0)  # another algorithm turns some of them round
    return part, valued(vectors, v * np.where(along < 0, -1.0, 1.0))


def tridiagonal_place(all_values: Any, part: Any) -> int:
    """Where the eigenvalues `part` begin among all of them."""
    if not len(part):
        return 0
    misfit = [
        np.max(np.abs(all_values[k : k + len(part)] - part)) for k in range(len(all_values) - len(part) + 1)
    ]
    return int(np.argmin(misfit))


def tridiagonal_vectors(a: Any) -> Any:
    """``eigh_tridiagonal`` of the diagonals of `a`, of which the lower triangle is read."""
    return linalg.eigh_tridiagonal(np.diagonal(a), np.diagonal(a, -1))


def eigvalsh_tridiagonal(
    d: Any, e: Any, select: Any = "a", select_range: Any = None, check_finite: bool = True, tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:  # fmt: skip
    return eigh_tridiagonal(d, e, True, select, select_range, check_finite, tol, lapack_driver)


def eigvals(
    a: Any, b: Any = None, overwrite_a: bool = False, check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:  # fmt: skip
    if b is not None or homogeneous_eigvals:
        return _of_pencil(a, b, homogeneous_eigvals, False, False)
    return np.linalg.eigvals(np.asarray_chkfinite(a)) + 0j


def eig(
    a: Any, b: Any = None, left: bool = False, right: bool = True, overwrite_a: bool = False,
    overwrite_b: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False,
) -> Any:  # fmt: skip
    if b is not None or homogeneous_eigvals:
        return _of_pencil(a, b, homogeneous_eigvals, left, right)
    if not (left or right):
        return np.linalg.eigvals(np.asarray_chkfinite(a)) + 0j
    a = np.asarray_chkfinite(a)
    w, v = np.linalg.eig(a)
    if np.isrealobj(a) and np.all(np.imag(w) == 0):
        v = np.real(v)  # of complex ones from NumPy 2.5 on
    if not left:
        return w + 0j, v
    if np.size(a) == 0:
        return solved(linalg.eig, (a, None, left, right), {})
    found = left_vectors(a)
    u = valued(found, _left_vectors(v, found))
    return (w + 0j, u, v) if right else (w + 0j, u)


def left_vectors(a: Any) -> Any:
    """The left eigenvectors of `a`, as constants."""
    return linalg.eig(a, left=True, right=False)[1]


def _left_vectors(v: Any, found: Any) -> Any:
    """The left eigenvectors that go with the right ones in `v`, of the length one and with the phases of
    those that LAPACK has `found`: the largest number of each is real."""
    u = np.conj(np.linalg.inv(v)).T
    u = u / np.sqrt(np.sum(np.real(u) ** 2 + np.imag(u) ** 2, axis=0))
    largest = u[np.argmax(np.abs(found), axis=0), np.arange(u.shape[1])]
    u = u * (np.conj(largest) / np.abs(largest))
    return u * np.sign(np.sum(np.real(np.conj(stop_gradient(u)) * found), axis=0))


def _of_pencil(a: Any, b: Any, is_homogeneous: bool, left: bool, right: bool) -> Any:
    """The eigenvalues of two matrices, and right vectors if they are real, from those of ``b**-1 a``: in the
    order and with the signs that LAPACK has found."""
    if b is not None and is_stack(a, b):
        return for_each(lambda m, n: _of_pencil(m, n, is_homogeneous, left, right), (a, b), (2, 2))
    a, b = np.asarray(a), b if b is None else np.asarray(b)
    found = solved(linalg.eig, (a, b, left, right), {"homogeneous_eigvals": is_homogeneous})
    values: Any = found[0] if left or right else found
    vectors: Any = found[-1] if left or right else None
    if is_homogeneous or left or not np.all(np.isfinite(values)) or (right and np.iscomplexobj(vectors)):
        what = "scipy.linalg.eig with homogeneous_eigvals, or with b and left or complex vectors or inf"
        instead = "take the eigenvalues of np.linalg.solve(b, a)"
        fixed(a, what, instead)
        fixed(b, what, instead)
        return found
    w, v = np.linalg.eig(np.linalg.solve(b, a))
    order = nearest_of(stop_gradient(w), values)
    w = valued(values, w[order] + 0j)
    if not right:
        return w
    v = np.real(v[:, order])
    sign = np.where(np.sum(stop_gradient(v) * vectors, axis=0) < 0, -1.0, 1.0)
    return w, valued(vectors, v * sign)


def nearest_of(numbers: Any, wanted: Any) -> Any:
    """The places of those `numbers` that are `wanted`, each of them once."""
    left, places = list(range(len(numbers))), []
    for x in wanted:
        places.append(min(left, key=lambda k: abs(numbers[k] - x)))
        left.remove(places[-1])
    return np.array(places, dtype=np.intp)


# -- singular values -------------------------------------------------------------------------------------


def triple(a: Any, full_matrices: bool, lapack_driver: str) -> Any:
    """``svd(a)``."""
    return linalg.svd(a, full_matrices, lapack_driver=lapack_driver)


def _triple_along(d: Any, outs: Any, a: Any, full_matrices: bool, lapack_driver: str) -> list[Any]:
    return svd_along(d, outs, a, full_matrices)


def _triple_against(by: list[Any], outs: Any, a: Any, full_matrices: bool, lapack_driver: str) -> Any:
    return svd_against(_filled(by, outs), outs, a, full_matrices)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False,
    check_finite: bool = True, lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    if is_stack(a):
        return for_each(lambda m: svd(m, full_matrices, compute_uv, lapack_driver=lapack_driver), (a,), (2,))
    if not compute_uv:
        return linalg.svdvals(a)
    return triple(a, full_matrices, lapack_driver)


def _singular_along(d: Any, s: Any, a: Any, **_: Any) -> Any:
    u, _, vh = linalg.svd(a, full_matrices=False)
    return np.real(np.sum(np.conjugate(u) * np.matmul(d, adjoint(vh)), axis=-2))


def _singular_against(by: Any, s: Any, a: Any, **_: Any) -> Any:
    u, _, vh = linalg.svd(a, full_matrices=False)
    return np.matmul(u * by[..., None, :], vh)


# -- QR --------------------------------------------------------------------------------------------------


def orthogonal(a: Any, mode: str = "economic") -> Any:
    """``qr(a, mode=mode)``."""
    return linalg.qr(a, mode=mode)


def pivots(a: Any) -> Any:
    """The order of columns that ``qr(a, pivoting=True)`` takes."""
    return linalg.qr(a, mode="r", pivoting=True)[1]


def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    if is_stack(a):
        return for_each(lambda m: qr(m, mode=mode, pivoting=pivoting), (a,), (2,))
    a = np.asarray(a)
    rows, columns = a.shape
    if mode == "raw":
        raise UnsupportedError(
            "scipy.linalg.qr with mode='raw'", "its result is LAPACK's own form", "use mode='economic'"
        )
    order = None
    if pivoting:
        order = pivots(a)
        a = a[:, order]
    if rows < columns:  # Q is that of the first columns
        q, first = orthogonal(a[:, :rows])
        r = np.concatenate((first, np.conjugate(q.T) @ a[:, rows:]), axis=1)
    else:
        q, r = orthogonal(a, "full" if mode == "full" else "economic")
    if mode == "r":
        if rows > columns:
            r = np.concatenate((r, np.zeros((rows - columns, columns), r.dtype)))
        return (r,) if order is None else (r, order)
    return (q, r) if order is None else (q, r, order)


def _qr_along(d: Any, outs: Any, a: Any, mode: str = "economic") -> list[Any]:
    return qr_along(d, outs, a, "complete" if mode == "full" else "reduced")


def _qr_against(by: list[Any], outs: Any, a: Any, mode: str = "economic") -> Any:
    return qr_against(_filled(by, outs), outs, a, "complete" if mode == "full" else "reduced")


# -- polar -----------------------------------------------------------------------------------------------


def polar_factors(a: Any) -> Any:
    """``polar(a)``, of at least as many rows as columns."""
    return linalg.polar(a)


def _anticommuted(p: Any, m: Any) -> Any:
    """The matrix X with X p + p X = m, for a positive definite `p`."""
    w, v = np.linalg.eigh(p)
    return v @ ((adjoint(v) @ m @ v) / (w[:, None] + w[None, :])) @ adjoint(v)


def _polar_along(d: Any, outs: Any, a: Any) -> list[Any]:
    u, p = outs
    m = adjoint(u) @ d
    turn = _anticommuted(p, m - adjoint(m))
    return [u @ turn + adjoint(np.linalg.solve(p, adjoint(d - u @ m))), m - turn @ p]


def _polar_against(by: Sequence[Any], outs: Any, a: Any) -> Any:
    u, p = outs
    bu, bp = _filled(by, outs)
    outside = adjoint(np.linalg.solve(p, adjoint(bu)))
    turn = _anticommuted(p, adjoint(u) @ bu - bp @ p)
    return u @ (bp + turn - adjoint(turn) - adjoint(u) @ outside) + outside


def polar(a: Any, side: str = "right") -> Any:
    if is_stack(a):
        return for_each(lambda m: polar(m, side), (a,), (2,))
    a = np.asarray(a)
    rows, columns = a.shape
    if (rows < columns) if side == "right" else (rows > columns):
        raise UnsupportedError(
            f"scipy.linalg.polar of a matrix of shape {a.shape} with side={side!r}",
            "its positive factor is singular, and not smooth",
            "use the other side",
        )
    if side == "right":
        return polar_factors(a)
    u, p = polar_factors(np.conjugate(a.T))
    return np.conjugate(u.T), np.conjugate(p.T)


# -- norms, least squares --------------------------------------------------------------------------------


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    a = np.asarray_chkfinite(a) if check_finite else np.asarray(a)
    if axis is None and not keepdims and a.dtype.char in "fdFD":
        by_blas = a.ndim == 1 and ord in (None, 2)
        by_lapack = a.ndim == 2 and ord in (1, np.inf) and (a.flags.c_contiguous or a.flags.f_contiguous)
        if by_blas or by_lapack:  # which give a number of Python's
            return float(np.linalg.norm(a, ord))
    return np.linalg.norm(a, ord, axis, keepdims)


def pinv(
    a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False, check_finite: bool = True
) -> Any:
    if is_stack(a):
        return for_each(lambda m: pinv(m, atol=atol, rtol=rtol, return_rank=return_rank), (a,), (2,))
    inverse_of, rank = generalised(a, atol, rtol)
    return (inverse_of, rank) if return_rank else inverse_of


def generalised(a: Any, atol: Any, rtol: Any) -> Any:
    """``pinv(a)`` and the rank."""
    return linalg.pinv(a, atol=atol, rtol=rtol, return_rank=True)


def _pinv_along(d: Any, outs: Any, a: Any, *_: Any) -> list[Any]:
    return [pinv_jvp(d, outs[0], a), None]


def _pinv_against(by: Sequence[Any], outs: Any, a: Any, *_: Any) -> Any:
    return None if by[0] is None else pinv_vjp(by[0], outs[0], a)


def lstsq(
    a: Any, b: Any, cond: Any = None, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, lapack_driver: Any = None,
) -> Any:  # fmt: skip
    check_matrix(a, "lstsq")
    found = solved(linalg.lstsq, (a, b, cond, False, False, check_finite, lapack_driver), {})
    a, b = np.asarray(a), np.asarray(b)
    x, residuals, _, s = np.linalg.lstsq(a, b, np.finfo(found[0].dtype).eps if cond is None else cond)
    residuals = valued(found[1], residuals.reshape(found[1].shape)) if found[1].size else found[1]
    return valued(found[0], x), residuals, found[2], found[3] if found[3] is None else valued(found[3], s)


ROWS: list[Rule] = [
    ZeroRule(signs),
    ZeroRule(tridiagonal_place),
    ZeroRule(nearest_of),
    ZeroRule(left_vectors),
    ZeroRule(pivots),
    *(ZeroRule(function) for function in (linalg.bandwidth, linalg.issymmetric, linalg.ishermitian)),
    FormulaRule(inverse, jvp=[inv_jvp], vjp=[inv_vjp], name="scipy.linalg.inv").by_example(),
    FormulaRule(
        linalg.det,
        jvp=[lambda d, y, a, **_: det_jvp(d, y, a)],
        vjp=[lambda by, y, a, **_: det_vjp(by, y, a)],
    ).by_example(),
    FormulaRule(linalg.cholesky, jvp=[_cholesky_along], vjp=[_cholesky_against]).by_example(),
    FormulaRule(linalg.svdvals, jvp=[_singular_along], vjp=[_singular_against]),
    multiple(factor_of, _factor_along, _factor_against),
    multiple(factors, _lu_along, _lu_against),
    multiple(vectors_of, _eigh_along, _eigh_against, free=VECTORS),
    multiple(tridiagonal_vectors, eigh_along, eigh_against, free=VECTORS),
    multiple(triple, _triple_along, _triple_against, free=SINGULAR_VECTORS),
    multiple(orthogonal, _qr_along, _qr_against, ("a", "mode")),
    multiple(polar_factors, _polar_along, _polar_against),
    multiple(generalised, _pinv_along, _pinv_against),
    *bodies(
        linalg,
        {
            "inv": inv,
            "cho_factor": cho_factor,
            "lu_factor": lu_factor,
            "lu": lu,
            "eig": eig,
            "eigvals": eigvals,
            "eigh": eigh,
            "eigvalsh": eigvalsh,
            "eigh_tridiagonal": eigh_tridiagonal,
            "eigvalsh_tridiagonal": eigvalsh_tridiagonal,
            "svd": svd,
            "qr": qr,
            "polar": polar,
            "norm": norm,
            "pinv": pinv,
            "lstsq": lstsq,
        },
    ),
]
