"""Systems of linear equations in ``scipy.linalg``: one rule for all.

Whatever structure is exploited, the result solves A x = b for a matrix A that is linear in what is given: its
triangle, its band, its first column.  The tangent of x solves the same system, A dx = db - dA x; the
cotangent of b solves that of the adjoint, and that of A is its product with x, brought back by the adjoint of
the map to A (Giles 2008, 2.3.1).  So a structure is two maps, from its numbers to the matrix and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from scipy import linalg

from adbc.errors import UnsupportedError
from adbc.rules.implicit import solved, valued
from adbc.rules.numpy.products import adjoint
from adbc.rules.scipy.base import FormulaRule, bodies
from adbc.rules.scipy.stacks import VECTOR_OR_MATRIX, for_each, is_stack
from adbc.rules.table import Rule

__all__ = ["ROWS", "check_matrix"]


def check_matrix(a: Any, name: str) -> None:
    """Raise if `a` is a stack of matrices, which the rule is not for."""
    if np.ndim(a) > 2:
        raise UnsupportedError(
            f"scipy.linalg.{name} of a stack of matrices",
            "adbc has a rule for one matrix",
            "call it for each matrix of the stack",
        )


def _times(a: Any, x: Any) -> Any:
    """The product of matrices `a` with columns `x`, or a number in place of a matrix."""
    return a * x if np.shape(a)[-2:] == (1, 1) else np.matmul(a, x)


def _outer(bb: Any, x: Any, shape: Any) -> Any:
    """The cotangent of the matrix A in A x = b, from that of b; of a number in place of it, if its `shape`
    says so."""
    if tuple(shape)[-2:] == (1, 1) and np.shape(x)[-2] != 1:
        return -np.sum(bb * np.conjugate(x), axis=(-2, -1), keepdims=True)
    return -np.matmul(bb, adjoint(x))


def _columns_of(x: Any, b: Any) -> Any:
    """`x`, one vector for each matrix or columns as `b` is, as columns."""
    return x[..., None] if np.ndim(b) <= 1 else x


class Structure:
    """What a solver takes for a matrix.

    matrix: ``matrix(a, **flags)``, the matrix of its numbers; back: the adjoint of that map, by the same
    flags; solve: ``solve(a, b, is_adjoint, **flags)``, the solution with the matrix or with its adjoint.
    """

    def __init__(
        self, matrix: Callable[..., Any], back: Callable[..., Any], solve: Callable[..., Any]
    ) -> None:
        self.matrix, self.back, self.solve = matrix, back, solve

    def along_a(self, d: Any, x: Any, a: Any, b: Any, **flags: Any) -> Any:
        right = _times(self.matrix(d, **{**flags, "is_tangent": True}), _columns_of(x, b))
        return -self._solution(a, right, b, False, flags)

    def along_b(self, d: Any, x: Any, a: Any, b: Any, **flags: Any) -> Any:
        return self._solution(a, _columns_of(d, b), b, False, flags)

    def against_b(self, by: Any, x: Any, a: Any, b: Any, **flags: Any) -> Any:
        return self._solution(a, _columns_of(by, b), b, True, flags)

    def against_a(self, by: Any, x: Any, a: Any, b: Any, **flags: Any) -> Any:
        bb = self.solve(a, _columns_of(by, b), True, **flags)
        return self.back(_outer(bb, _columns_of(x, b), np.shape(a) or (1, 1)), a, **flags)

    def _solution(self, a: Any, columns: Any, b: Any, is_adjoint: bool, flags: Any) -> Any:
        """The solution for `columns`, as vectors if `b` is one."""
        out = self.solve(a, columns, is_adjoint, **flags)
        return out[..., 0] if np.ndim(b) <= 1 else out

    def row(self, function: Any, name: str | None = None) -> FormulaRule:
        return FormulaRule(
            function,
            jvp=[self.along_a, self.along_b],
            vjp=[self.against_a, self.against_b],
            name=name,
        ).by_example()


# -- the general solver ----------------------------------------------------------------------------------

_SYMMETRIC = ("sym", "symmetric")
_HERMITIAN = ("her", "hermitian", "pos", "positive definite")


def _mirrored(a: Any, lower: Any, is_hermitian: bool) -> Any:
    """The symmetric or Hermitian matrix with the lower (or upper) triangle of `a`."""
    half = np.tril(a) if lower else np.triu(a)
    strict = np.tril(a, -1) if lower else np.triu(a, 1)
    if not is_hermitian:
        return half + np.swapaxes(strict, -1, -2)
    diagonal = half - strict
    return strict + adjoint(strict) + np.real(diagonal)


def _mirrored_back(s: Any, lower: Any, is_hermitian: bool) -> Any:
    other = adjoint(s) if is_hermitian else np.swapaxes(s, -1, -2)
    strict = np.tril(s + other, -1) if lower else np.triu(s + other, 1)
    diagonal = np.tril(np.triu(s))
    return strict + (np.real(diagonal) if is_hermitian else diagonal)


def _kind(a: Any, assume_a: Any) -> Any:
    """What is read of `a`: "sym", "her", "lower", "upper", "diagonal", "tridiagonal", or "gen" for all."""
    if assume_a in _SYMMETRIC:
        return "sym"
    if assume_a in _HERMITIAN:
        return "her" if np.iscomplexobj(a) else "sym"
    return {
        "lower triangular": "lower",
        "upper triangular": "upper",
        "tridiagonal": "tridiagonal",
        "banded": "gen",
    }.get(assume_a, assume_a or "gen")


def _general_matrix(
    a: Any, lower: Any = False, assume_a: Any = None, transposed: Any = False, **_: Any
) -> Any:
    if np.ndim(a) < 2:  # a number in place of a matrix
        return np.reshape(a, (1, 1))
    kind = _kind(a, assume_a)
    if kind in ("sym", "her"):
        a = _mirrored(a, lower, kind == "her")
    elif kind == "lower":
        a = np.tril(a)
    elif kind == "upper":
        a = np.triu(a)
    elif kind == "diagonal":
        a = np.tril(np.triu(a))
    elif kind == "tridiagonal":
        a = np.tril(np.triu(a, -1), 1)
    return np.swapaxes(a, -1, -2) if transposed else a


def _general_back(
    s: Any, a: Any, lower: Any = False, assume_a: Any = None, transposed: Any = False, **_: Any
) -> Any:
    if np.ndim(a) < 2:
        return np.reshape(s, np.shape(a))
    if transposed:
        s = np.swapaxes(s, -1, -2)
    kind = _kind(a, assume_a)
    if kind in ("sym", "her"):
        return _mirrored_back(s, lower, kind == "her")
    return _general_matrix(s, assume_a=kind)  # what is masked is its own adjoint


def _general_solve(a: Any, b: Any, is_adjoint: bool, **flags: Any) -> Any:
    """By NumPy, which does not warn: of what is nearly singular the user has been warned."""
    whole = _general_matrix(a, **flags)
    whole = adjoint(whole) if is_adjoint else whole
    if np.shape(whole)[-2:] == (1, 1):
        return b / whole
    if np.ndim(a) == 2 and flags.get("assume_a") in _HERMITIAN[2:]:
        return linalg.cho_solve(linalg.cho_factor(whole, lower=True), b)
    return np.linalg.solve(whole, b)


GENERAL = Structure(_general_matrix, _general_back, _general_solve)


# -- triangles -------------------------------------------------------------------------------------------

_TRANS = {0: "N", 1: "T", 2: "C"}


def _triangle(
    a: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False, is_tangent: bool = False, **_: Any
) -> Any:
    inside = int(bool(unit_diagonal))
    t = np.tril(a, -inside) if lower else np.triu(a, inside)
    if unit_diagonal and not is_tangent:
        t = t + np.eye(np.shape(a)[-1], dtype=t.dtype)
    trans = _TRANS.get(trans, trans)
    return t if trans == "N" else np.swapaxes(t, -1, -2) if trans == "T" else adjoint(t)


def _triangle_back(
    s: Any, a: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False, **_: Any
) -> Any:
    trans = _TRANS.get(trans, trans)
    s = s if trans == "N" else np.swapaxes(s, -1, -2) if trans == "T" else adjoint(s)
    inside = int(bool(unit_diagonal))
    return np.tril(s, -inside) if lower else np.triu(s, inside)


def _triangle_solve(
    a: Any, b: Any, is_adjoint: bool, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False, **_: Any
) -> Any:
    trans = _TRANS.get(trans, trans)
    if is_adjoint and trans == "T":  # A^TH is the conjugate of A
        return np.conjugate(linalg.solve_triangular(a, np.conjugate(b), 0, lower, unit_diagonal))
    if is_adjoint:
        trans = "C" if trans == "N" else "N"
    return linalg.solve_triangular(a, b, trans, lower, unit_diagonal)


TRIANGULAR = Structure(_triangle, _triangle_back, _triangle_solve)


# -- bands: numbers of the matrix by diagonals -----------------------------------------------------------


def _band_places(rows: int, n: int, upper: int) -> tuple[Any, Any, Any]:
    """Rows and columns of the matrix for each number of a band, and whether it is in the matrix."""
    k, j = np.meshgrid(np.arange(rows), np.arange(n), indexing="ij")
    i = k - upper + j
    return i, j, (i >= 0) & (i < n)


def _from_band(ab: Any, upper: int) -> Any:
    i, j, inside = _band_places(ab.shape[0], ab.shape[1], upper)
    whole = np.zeros((ab.shape[1], ab.shape[1]), ab.dtype)
    whole[i[inside], j[inside]] = ab[inside]
    return whole


def _to_band(s: Any, ab: Any, upper: int) -> Any:
    i, j, inside = _band_places(np.shape(ab)[0], np.shape(ab)[1], upper)
    d = np.zeros(np.shape(ab), s.dtype)
    d[inside] = s[i[inside], j[inside]]
    return d


def solved_with_band(ab: Any, b: Any, l_and_u: Any) -> Any:
    """``solve_banded`` with the arrays first."""
    return linalg.solve_banded(l_and_u, ab, b)


def _moved(x: Any, by: int) -> Any:
    """The array with element ``i + by`` of `x` in place i of the first axis, and zeros for those beyond."""
    if by >= 0:
        return np.concatenate([x[by:], np.zeros_like(x[:by])])
    return np.concatenate([np.zeros_like(x[:-by]), x[:by]])


def _adjoint_band(ab: Any, l_and_u: Any) -> Any:
    """The band of the adjoint of a matrix with `l_and_u` diagonals below and above."""
    below, above = l_and_u
    return np.stack([_moved(np.conjugate(ab[above - k]), k) for k in range(-below, above + 1)])


def _band_solve(ab: Any, b: Any, is_adjoint: bool, l_and_u: Any) -> Any:
    if is_adjoint:
        return linalg.solve_banded(tuple(l_and_u)[::-1], _adjoint_band(np.asarray(ab), l_and_u), b)
    return linalg.solve_banded(l_and_u, ab, b)


class _Band(Structure):
    """Matrices of which the diagonals are given: nothing is as large as the whole matrix."""

    def along_a(self, d: Any, x: Any, a: Any, b: Any, **flags: Any) -> Any:
        columns, above = _columns_of(x, b), flags["l_and_u"][1]
        right = -sum([_moved(d[r][:, None] * columns, above - r) for r in range(np.shape(a)[0])])
        return self._solution(a, right, b, False, flags)

    def against_a(self, by: Any, x: Any, a: Any, b: Any, **flags: Any) -> Any:
        bb, above = self.solve(a, _columns_of(by, b), True, **flags), flags["l_and_u"][1]
        columns = np.conjugate(_columns_of(x, b))
        return np.stack([-np.sum(_moved(bb, r - above) * columns, 1) for r in range(np.shape(a)[0])])


BANDED = _Band(
    lambda ab, l_and_u, **_: _from_band(ab, l_and_u[1]),
    lambda s, ab, l_and_u: _to_band(s, ab, l_and_u[1]),
    _band_solve,
)


def _band_of_matrix(ab: Any) -> Any:
    if np.ndim(ab) != 2:
        raise UnsupportedError(
            f"scipy.linalg.solveh_banded of a band with {np.ndim(ab)} axes",
            "adbc has a rule for one matrix, whose diagonals are the rows of the band",
            "give the diagonal alone as one row: np.atleast_2d(ab)",
        )
    return np.asarray(ab)


def _hermitian_band(ab: Any, lower: Any = False, **_: Any) -> Any:
    ab = _band_of_matrix(ab)
    whole = _from_band(ab, 0 if lower else ab.shape[0] - 1)
    return _mirrored(whole, lower, True)


def _hermitian_band_back(s: Any, ab: Any, lower: Any = False, **_: Any) -> Any:
    ab = _band_of_matrix(ab)
    return _to_band(_mirrored_back(s, lower, True), ab, 0 if lower else ab.shape[0] - 1)


def _hermitian_band_solve(ab: Any, b: Any, is_adjoint: bool, lower: Any = False, **_: Any) -> Any:
    return linalg.solveh_banded(ab, b, lower=lower)


def solved_with_hermitian_band(ab: Any, b: Any, lower: bool = False) -> Any:
    """``solveh_banded`` of one matrix."""
    return linalg.solveh_banded(ab, b, lower=lower)


HERMITIAN_BAND = Structure(_hermitian_band, _hermitian_band_back, _hermitian_band_solve)


# -- bodies ----------------------------------------------------------------------------------------------


def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    if is_stack(ab, b):
        return for_each(lambda m, x: solve_banded(l_and_u, m, x), (ab, b), (2, VECTOR_OR_MATRIX))
    return solved_with_band(ab, b, l_and_u)


def solveh_banded(
    ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    if is_stack(ab, b):
        return for_each(lambda m, x: solveh_banded(m, x, lower=lower), (ab, b), (2, VECTOR_OR_MATRIX))
    return solved_with_hermitian_band(ab, b, lower)


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    c, lower = c_and_lower
    if is_stack(c, b):
        return _each_cho_solve(c, lower, b)
    first, second = (0, 2) if lower else (2, 0)
    y = linalg.solve_triangular(c, b, first, lower, check_finite=check_finite)
    return linalg.solve_triangular(c, y, second, lower, check_finite=check_finite)


def _each_cho_solve(c: Any, lower: Any, b: Any) -> Any:
    """``cho_solve`` of stacks; apart, for no other function has variables that a function captures: their
    types are known."""
    return for_each(lambda m, x: cho_solve((m, lower), x), (c, b), (2, VECTOR_OR_MATRIX))


def cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    cb, lower = cb_and_lower
    cb = np.asarray(cb)
    if is_stack(cb, b):
        return for_each(lambda m, x: cho_solve_banded((m, lower), x), (cb, b), (2, VECTOR_OR_MATRIX))
    if cb.size == 0:
        return solved(linalg.cho_solve_banded, ((cb, lower), b), {})
    k = cb.shape[0] - 1
    if lower:
        y = solved_with_band(cb, b, (k, 0))
        return _conjugated_solve(cb, y, (k, 0))
    y = _conjugated_solve(cb, b, (0, k))
    return solved_with_band(cb, y, (0, k))


def _conjugated_solve(cb: Any, b: Any, l_and_u: Any) -> Any:
    """The solution with the adjoint of a triangular band: turned around, it is the same band conjugated."""
    n = cb.shape[1]
    low, high = l_and_u
    if high:
        shifted = [_shifted(np.conjugate(cb[high - m]), m) for m in range(high + 1)]
        return solved_with_band(np.stack(shifted), b, (high, 0))
    shifted = [_shifted_back(np.conjugate(cb[low - k]), low - k, n) for k in range(low + 1)]
    return solved_with_band(np.stack(shifted), b, (0, low))


def _shifted(row: Any, by: int) -> Any:
    return np.concatenate([row[by:], np.zeros(by)])


def _shifted_back(row: Any, by: int, n: int) -> Any:
    return np.concatenate([np.zeros(by), row[: n - by]])


def lu_solve(
    lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    lu, piv = lu_and_piv
    if is_stack(lu, b):
        return for_each(lambda m, p, x: lu_solve((m, p), x, trans), (lu, piv, b), (2, 1, VECTOR_OR_MATRIX))
    if np.size(lu) == 0:
        return solved(linalg.lu_solve, ((lu, piv), b, trans), {})
    order = permutation(piv)
    if trans == 0:
        y = linalg.solve_triangular(lu, np.asarray(b)[order], 0, True, True)
        return linalg.solve_triangular(lu, y, 0, False)
    y = linalg.solve_triangular(lu, b, trans, False)
    x = linalg.solve_triangular(lu, y, trans, True, True)
    return x[np.argsort(order)]


def permutation(piv: Any) -> Any:
    """The order of rows that the exchanges `piv` of a factorisation lead to."""
    order = list(range(len(piv)))
    for i in range(len(piv)):
        k = int(piv[i])
        order[i], order[k] = order[k], order[i]
    return np.array(order, dtype=np.intp)


def toeplitz_of(column: Any, row: Any) -> Any:
    """The matrix with this first column and first row, of which the first number does not count."""
    n, m = column.shape[-1], row.shape[-1]
    if column.ndim != row.ndim:
        column, row = column + np.zeros((*row.shape[:-1], 1)), row + np.zeros((*column.shape[:-1], 1))
    numbers = np.concatenate((row[..., :0:-1], column), axis=-1)
    return numbers[..., np.arange(n)[:, None] - np.arange(m)[None, :] + m - 1]


_HAS_STACKS = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)
"""Whether columns of several axes are stacks of columns, as they are from SciPy 1.17 on; before, they were
made flat."""


def _columns(c: Any) -> Any:
    c = np.asarray(c)
    return c if _HAS_STACKS and c.ndim > 1 else np.ravel(c)


def _column_and_row(c_or_cr: Any, name: str) -> Any:
    if isinstance(c_or_cr, tuple):
        column, row = _columns(c_or_cr[0]), _columns(c_or_cr[1])
    else:
        column = _columns(c_or_cr)
        row = np.conjugate(column)
    if column.ndim > 1 or row.ndim > 1:
        raise UnsupportedError(
            f"scipy.linalg.{name} of a stack of columns",
            "adbc has a rule for one matrix",
            "call it for each matrix of the stack",
        )
    return column, row


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    column, row = _column_and_row(c_or_cr, "solve_toeplitz")
    # Levinson's recursion needs minors that are not singular, which the matrix does not.
    found = solved(linalg.solve_toeplitz, ((column, row), b, check_finite), {})
    return valued(found, linalg.solve(toeplitz_of(column, row), b, assume_a="gen"))


def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    column, row = _column_and_row(c_or_cr, "matmul_toeplitz")
    x = np.asarray(x)
    # SciPy computes with 64 bits, whatever it is given.
    dtype = complex if any(map(np.iscomplexobj, (column, row, x))) else float
    return np.matmul(toeplitz_of(column, row).astype(dtype), x.astype(dtype))


def toeplitz(c: Any, r: Any = None) -> Any:
    column = _columns(c)
    return toeplitz_of(column, np.conjugate(column) if r is None else _columns(r))


def hankel(c: Any, r: Any = None) -> Any:
    column = np.ravel(np.asarray(c))
    row = np.zeros_like(column) if r is None else np.ravel(np.asarray(r))
    numbers = np.concatenate((column, row[1:]))
    return numbers[np.arange(len(column))[:, None] + np.arange(len(row))[None, :]]


def circulant(c: Any) -> Any:
    column = _columns(c)
    n = column.shape[-1]
    return column[..., (np.arange(n)[:, None] - np.arange(n)[None, :]) % n]


ROWS: list[Rule] = [
    GENERAL.row(linalg.solve),
    TRIANGULAR.row(linalg.solve_triangular),
    BANDED.row(solved_with_band, "scipy.linalg.solve_banded"),
    HERMITIAN_BAND.row(solved_with_hermitian_band, "scipy.linalg.solveh_banded"),
    *bodies(
        linalg,
        {
            "solve_banded": solve_banded,
            "solveh_banded": solveh_banded,
            "cho_solve": cho_solve,
            "cho_solve_banded": cho_solve_banded,
            "lu_solve": lu_solve,
            "solve_toeplitz": solve_toeplitz,
            "matmul_toeplitz": matmul_toeplitz,
            "toeplitz": toeplitz,
            "hankel": hankel,
            "circulant": circulant,
        },
    ),
]
