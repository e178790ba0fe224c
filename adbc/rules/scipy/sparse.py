"""Sparse matrices: what their methods do in C.

The numbers of a sparse matrix are an array like any other, the places where they stand are ints.  So a
product adds to places, and sorting or summing the numbers moves them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from adbc.rules.scipy.base import bodies
from adbc.rules.table import Rule

__all__ = ["ROWS", "lines_of"]


def lines_of(indptr: Any) -> Any:
    """The row (of csr; the column of csc) of each number."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


# -- products ----------------------------------------------------------------------------------------------


def csr_matvec(m: int, n: int, indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    rows = lines_of(indptr)
    np.add.at(y, rows, data[: len(rows)] * x[indices[: len(rows)]])


def csc_matvec(m: int, n: int, indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    columns = lines_of(indptr)
    np.add.at(y, indices[: len(columns)], data[: len(columns)] * x[columns])


def csr_matvecs(m: int, n: int, k: int, indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    rows = lines_of(indptr)
    part = data[: len(rows), None] * np.reshape(x, (n, k))[indices[: len(rows)]]
    np.add.at(np.reshape(y, (m, k)), rows, part)


def csc_matvecs(m: int, n: int, k: int, indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> None:
    columns = lines_of(indptr)
    part = data[: len(columns), None] * np.reshape(x, (n, k))[columns]
    np.add.at(np.reshape(y, (m, k)), indices[: len(columns)], part)


def coo_matvec(nnz: int, row: Any, col: Any, data: Any, x: Any, y: Any) -> None:
    np.add.at(y, row, data * x[col])


def coo_matmat_dense(nnz: int, k: int, row: Any, col: Any, data: Any, x: Any, y: Any) -> None:
    np.add.at(np.reshape(y, (-1, k)), row, data[:, None] * np.reshape(x, (-1, k))[col])


# -- other orders of the numbers -----------------------------------------------------------------------------


def coo_tocsr(
    m: int, n: int, nnz: int, row: Any, col: Any, data: Any, indptr: Any, indices: Any, out: Any
) -> None:
    order = np.argsort(row, kind="stable")
    indptr[...] = np.concatenate((np.zeros(1, indptr.dtype), np.cumsum(np.bincount(row, minlength=m))))
    indices[...] = col[order]
    out[...] = data[order]


def csr_tocsc(
    m: int, n: int, indptr: Any, indices: Any, data: Any, outptr: Any, outindices: Any, out: Any
) -> None:
    rows = lines_of(indptr)
    columns = indices[: len(rows)]
    order = np.argsort(columns, kind="stable")
    outptr[...] = np.concatenate((np.zeros(1, outptr.dtype), np.cumsum(np.bincount(columns, minlength=n))))
    outindices[: len(rows)] = rows[order]
    out[: len(rows)] = data[: len(rows)][order]


def csr_sort_indices(m: int, indptr: Any, indices: Any, data: Any) -> None:
    rows = lines_of(indptr)
    order = np.lexsort((indices[: len(rows)], rows))
    indices[: len(rows)] = indices[: len(rows)][order]
    data[: len(rows)] = data[: len(rows)][order]


def csr_sum_duplicates(m: int, n: int, indptr: Any, indices: Any, data: Any) -> None:
    rows = lines_of(indptr)
    count = len(rows)
    if not count:
        return
    columns = indices[:count].copy()
    is_new = np.ones(count, bool)
    is_new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    group = np.cumsum(is_new) - 1
    total = np.zeros(int(group[-1]) + 1, data.dtype)
    np.add.at(total, group, data[:count])
    data[: len(total)] = total
    indices[: len(total)] = columns[is_new]
    indptr[...] = np.concatenate(
        (np.zeros(1, indptr.dtype), np.cumsum(np.bincount(rows[is_new], minlength=m)))
    )


def get_csr_submatrix(
    m: int, n: int, indptr: Any, indices: Any, data: Any, i0: int, i1: int, j0: int, j1: int
) -> Any:
    rows = lines_of(indptr)
    columns = indices[: len(rows)]
    kept = np.flatnonzero((rows >= i0) & (rows < i1) & (columns >= j0) & (columns < j1))
    counts = np.bincount(rows[kept] - i0, minlength=i1 - i0)
    starts = np.concatenate((np.zeros(1, indptr.dtype), np.cumsum(counts))).astype(indptr.dtype)
    return starts, columns[kept] - np.asarray(j0, columns.dtype), data[kept]


def csr_todense(m: int, n: int, indptr: Any, indices: Any, data: Any, out: Any) -> None:
    rows = lines_of(indptr)
    np.add.at(out, (rows, indices[: len(rows)]), data[: len(rows)])


def coo_todense(m: int, n: int, nnz: int, row: Any, col: Any, data: Any, out: Any, fortran: Any) -> None:
    np.add.at(out, row + m * col if fortran else row * n + col, data)


ROWS: list[Rule] = [
    *bodies(
        _sparsetools,
        {
            "csr_matvec": csr_matvec,
            "csc_matvec": csc_matvec,
            "csr_matvecs": csr_matvecs,
            "csc_matvecs": csc_matvecs,
            "coo_matvec": coo_matvec,
            "coo_matmat_dense": coo_matmat_dense,
            "get_csr_submatrix": get_csr_submatrix,
            "coo_tocsr": coo_tocsr,
            "csr_tocsc": csr_tocsc,
            "csc_tocsr": lambda m, n, *others: csr_tocsc(n, m, *others),
            "csr_sort_indices": csr_sort_indices,
            "csr_sum_duplicates": csr_sum_duplicates,
            "csr_todense": csr_todense,
            "coo_todense": coo_todense,
        },
    ),
]
