"""Systems of equations with sparse matrices, solved by SuperLU.

The cotangent of the right-hand side solves the system of the adjoint; that of the numbers of the matrix is
the outer product of the two solutions, of which only the places of these numbers are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.linalg import SuperLU, splu
from scipy.sparse.linalg._dsolve import _superlu

from adbc.rules.numpy.base import ArrayRule
from adbc.rules.scipy.base import bodies
from adbc.rules.scipy.sparse import lines_of
from adbc.rules.table import Rule

__all__ = ["ROWS"]


def _matrix(data: Any, indices: Any, indptr: Any, n: int, flag: int) -> Any:
    make = csc_matrix if flag else csr_matrix
    return make((data, indices, indptr), shape=(n, n))


def solved_sparsely(data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any) -> Any:
    """The solution of a sparse system, as ``_superlu.gssv`` gives it."""
    return _superlu.gssv(n, len(data), data, indices, indptr, b, flag, options=options)[0]


def _solve(by: Any, data: Any, indices: Any, indptr: Any, n: int, flag: int, trans: str) -> Any:
    dtype = np.result_type(data, by)
    return splu(_matrix(data, indices, indptr, n, flag).tocsc().astype(dtype)).solve(by.astype(dtype), trans)


def _along_data(
    d: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    change = _matrix(d, indices, indptr, n, flag) @ x
    return -_solve(change, data, indices, indptr, n, flag, "N")


def _along_b(
    d: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    return np.reshape(_solve(np.reshape(d, x.shape), data, indices, indptr, n, flag, "N"), x.shape)


def _against_data(
    by: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    bb = np.reshape(_solve(by, data, indices, indptr, n, flag, "H"), (n, -1))
    lines = lines_of(indptr)
    rows, columns = (indices, lines) if flag else (lines, indices)
    return -np.sum(bb[rows] * np.conjugate(np.reshape(x, (n, -1)))[columns], axis=1)


def _against_b(
    by: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    return np.reshape(_solve(by, data, indices, indptr, n, flag, "H"), np.shape(b))


def gssv(
    n: int, nnz: int, data: Any, indices: Any, indptr: Any, b: Any, flag: int, options: Any = None
) -> Any:
    return solved_sparsely(data, b, indices, indptr, n, flag, options), 0


_ADJOINT: dict[str, Callable[..., Any]] = {
    "N": lambda lu, by: lu.solve(by, "H"),
    "T": lambda lu, by: np.conjugate(lu.solve(np.conjugate(by))),
    "H": lambda lu, by: lu.solve(by, "N"),
}


ROWS: list[Rule] = [
    ArrayRule(
        solved_sparsely,
        "data b indices indptr n flag options",
        jvp=[_along_data, _along_b],
        vjp=[_against_data, _against_b],
    ),
    ArrayRule(
        SuperLU.solve,
        "self rhs trans",
        jvp=[None, lambda d, x, lu, b, trans="N": lu.solve(d, trans)],
        vjp=[None, lambda by, x, lu, b, trans="N": _ADJOINT[trans](lu, by)],
    ),
    *bodies(_superlu, {"gssv": gssv}),
]
