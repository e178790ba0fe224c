"""Sparse matrices: what their methods do in C.

The numbers of a sparse matrix are an array like any other, the places where they stand are ints.  So a
product adds to places, and sorting, summing or taking some of the numbers moves them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from adbc.errors import UnsupportedError
from adbc.rules.scipy.base import bodies
from adbc.rules.table import Rule

__all__ = ["ROWS", "lines_of", "starts_of"]


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


def coo_matvec_nd(nnz: int, ndim: int, strides: Any, coords: Any, data: Any, x: Any, y: Any) -> None:
    places = np.reshape(coords, (ndim, nnz))
    np.add.at(np.reshape(y, -1), strides @ places[:-1], data[:nnz] * x[places[-1]])


def coo_matmat_dense_nd(
    nnz: int, ndim: int, k: int, shape: Any, result_shape: Any, coords: Any, data: Any, x: Any, y: Any
) -> None:
    *stack, row, column = np.reshape(coords, (ndim, nnz))
    part = data[:nnz, None] * np.reshape(x, tuple(shape))[(*stack, column)]
    np.add.at(np.reshape(y, tuple(result_shape)), (*stack, row), part)


# -- parts of matrices -------------------------------------------------------------------------------------


def _numbers_of(rows: Any, indptr: Any) -> tuple[Any, Any]:
    """Where the numbers of these `rows` stand, one row behind the other, and how many each has."""
    counts = np.diff(indptr)[rows]
    begins = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(indptr[rows] - begins, counts), counts


def csr_row_index(
    count: int, rows: Any, indptr: Any, indices: Any, data: Any, outindices: Any, out: Any
) -> None:
    taken, _ = _numbers_of(rows, indptr)
    outindices[: len(taken)] = indices[taken]
    out[: len(taken)] = data[taken]


def csr_row_slice(
    start: int, stop: int, step: int, indptr: Any, indices: Any, data: Any, outindices: Any, out: Any
) -> None:
    csr_row_index(0, np.arange(start, stop, step), indptr, indices, data, outindices, out)


def csr_column_index2(
    order: Any, offsets: Any, nnz: int, indices: Any, data: Any, outindices: Any, out: Any
) -> None:
    # Column `j` comes as often as the columns of the result that `order` has from the offset of the one
    # before it to its own.
    columns = indices[:nnz]
    ends = np.concatenate((np.zeros(1, offsets.dtype), offsets))
    counts = ends[columns + 1] - ends[columns]
    before = np.cumsum(counts) - counts
    places = np.arange(int(counts.sum())) + np.repeat(ends[columns] - before, counts)
    outindices[: len(places)] = order[places]
    out[: len(places)] = data[np.repeat(np.arange(nnz), counts)]


def csr_sample_values(
    m: int, n: int, indptr: Any, indices: Any, data: Any, count: int, row: Any, column: Any, out: Any
) -> None:
    taken, counts = _numbers_of(np.where(row < 0, row + m, row)[:count], indptr)
    sample = np.repeat(np.arange(count), counts)
    kept = np.flatnonzero(indices[taken] == np.where(column < 0, column + n, column)[sample])
    out[:count] = 0
    np.add.at(out, sample[kept], data[taken[kept]])


def csr_hstack(
    blocks: int, m: int, widths: Any, indptr: Any, indices: Any, data: Any, outptr: Any, outindices: Any,
    out: Any,
) -> None:  # fmt: skip
    starts = np.reshape(indptr, (blocks, m + 1))
    counts = np.diff(starts, axis=1)
    firsts = np.cumsum(starts[:, -1]) - starts[:, -1]  # of the numbers of each block
    shifts = np.cumsum(widths) - widths
    per_line = counts.T.ravel()  # row by row, and in each the blocks from left to right
    begins = np.cumsum(per_line) - per_line
    taken = np.arange(int(per_line.sum())) + np.repeat(
        (starts[:, :-1] + firsts[:, None]).T.ravel() - begins, per_line
    )
    outptr[...] = np.concatenate((np.zeros(1, int), np.cumsum(counts.sum(axis=0))))
    outindices[: len(taken)] = indices[taken] + np.repeat(np.tile(shifts, m), per_line)
    out[: len(taken)] = data[taken]


def csr_eliminate_zeros(m: int, n: int, indptr: Any, indices: Any, data: Any) -> None:
    if np.any(data[: int(indptr[-1])] == 0):
        raise UnsupportedError(
            "eliminate_zeros() takes numbers that are zero out of a sparse matrix with a derivative",
            "they may have a derivative themselves, which would be lost",
            "leave the zeros where they are: no sum or product changes",
        )


def csr_scale_rows(m: int, n: int, indptr: Any, indices: Any, data: Any, x: Any) -> None:
    rows = lines_of(indptr)
    data[: len(rows)] *= x[rows]


def csr_scale_columns(m: int, n: int, indptr: Any, indices: Any, data: Any, x: Any) -> None:
    count = int(indptr[-1])
    data[:count] *= x[indices[:count]]


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
    # What is dense has one axis if the matrix is a row of a sparse array.
    np.add.at(np.reshape(out, (m, n)), (rows, indices[: len(rows)]), data[: len(rows)])


def coo_todense(m: int, n: int, nnz: int, row: Any, col: Any, data: Any, out: Any, fortran: Any) -> None:
    np.add.at(out, row + m * col if fortran else row * n + col, data)


def coo_todense_nd(strides: Any, nnz: int, ndim: int, coords: Any, data: Any, out: Any, fortran: Any) -> None:
    np.add.at(out, strides @ np.reshape(coords, (ndim, nnz)), data[:nnz])


# -- matrices by their diagonals ------------------------------------------------------------------------


def _on_diagonal(k: int, m: int, n: int, length: int) -> tuple[slice, slice]:
    """The rows and the columns of the diagonal `k` of a matrix, of which `length` columns have numbers."""
    first, last = max(0, k), max(max(0, k), min(m + k, n, length))
    return slice(first - k, last - k), slice(first, last)


def dia_matvec(m: int, n: int, count: int, length: int, offsets: Any, data: Any, x: Any, y: Any) -> None:
    x, y = np.reshape(x, -1), np.reshape(y, -1)
    for d in range(count):
        rows, columns = _on_diagonal(int(offsets[d]), m, n, length)
        y[rows] += data[d, columns] * x[columns]


def dia_matvecs(
    m: int, n: int, count: int, length: int, offsets: Any, data: Any, k: int, x: Any, y: Any
) -> None:
    for d in range(count):
        rows, columns = _on_diagonal(int(offsets[d]), m, n, length)
        y[rows] += data[d, columns][:, None] * x[columns]


def dia_tocsr(
    m: int, n: int, count: int, length: int, offsets: Any, data: Any, order: Any, out: Any, indices: Any,
    indptr: Any,
) -> int:  # fmt: skip
    # SciPy leaves out what is zero; that may have a derivative, and is kept.
    rows, columns, numbers = [], [], []
    for d in order:
        here, there = _on_diagonal(int(offsets[d]), m, n, length)
        rows.append(np.arange(here.start, here.stop))
        columns.append(np.arange(there.start, there.stop))
        numbers.append(data[d, there])
    row, column = np.concatenate(rows), np.concatenate(columns)
    by_place = np.lexsort((column, row))
    indptr[...] = starts_of(row, m)
    indices[: len(row)] = column[by_place]
    out[: len(row)] = np.concatenate(numbers)[by_place]
    return len(row)


def csr_diagonal(k: int, m: int, n: int, indptr: Any, indices: Any, data: Any, out: Any) -> None:
    rows = lines_of(indptr)
    kept = np.flatnonzero(indices[: len(rows)] == rows + k)
    out[...] = 0
    np.add.at(out, rows[kept] - max(0, -k), data[kept])


# -- sums and products of sparse matrices ---------------------------------------------------------------


def starts_of(rows: Any, m: int) -> Any:
    """Where in the sorted numbers each row begins, and the last one ends."""
    return np.concatenate((np.zeros(1, int), np.cumsum(np.bincount(rows, minlength=m))))


def _write(m: int, n: int, keys: Any, numbers: Any, indptr: Any, indices: Any, out: Any) -> None:
    """Write the matrix with these numbers, added up where they have the same place ``row * n + column``.

    SciPy leaves out what adds up to zero; that may have a derivative, and is kept."""
    places, group = np.unique(keys, return_inverse=True)
    total = np.zeros(len(places), out.dtype)
    np.add.at(total, group, numbers)
    indptr[...] = starts_of(places // max(n, 1), m)
    indices[: len(places)] = places % max(n, 1)
    out[: len(places)] = total


def _keys(n: int, indptr: Any, indices: Any) -> Any:
    rows = lines_of(indptr)
    return rows * n + indices[: len(rows)]


def _sum(sign: int) -> Any:
    def body(
        m: int,
        n: int,
        ap: Any,
        aj: Any,
        a: Any,
        bp: Any,
        bj: Any,
        b: Any,
        indptr: Any,
        indices: Any,
        out: Any,
    ) -> None:
        first, second = _keys(n, ap, aj), _keys(n, bp, bj)
        numbers = np.concatenate((a[: len(first)], sign * b[: len(second)]))
        _write(m, n, np.concatenate((first, second)), numbers, indptr, indices, out)

    return body


def _elementwise_product(
    m: int, n: int, ap: Any, aj: Any, a: Any, bp: Any, bj: Any, b: Any, indptr: Any, indices: Any, out: Any
) -> None:
    first, second = _keys(n, ap, aj), _keys(n, bp, bj)
    places = np.intersect1d(first, second)
    both = []
    for keys, numbers in ((first, a), (second, b)):
        kept = np.flatnonzero(np.isin(keys, places))
        total = np.zeros(len(places), out.dtype)
        np.add.at(total, np.searchsorted(places, keys[kept]), numbers[kept])
        both.append(total)
    _write(m, n, places, both[0] * both[1], indptr, indices, out)


def _larger(choose: Any) -> Any:
    """The larger, or smaller, of the numbers of two matrices at each place, where a matrix without one has 0.

    SciPy leaves out what is zero; that may have a derivative, and is kept."""

    def body(
        m: int, n: int, ap: Any, aj: Any, a: Any, bp: Any, bj: Any, b: Any, indptr: Any, indices: Any,
        out: Any,
    ) -> None:  # fmt: skip
        first, second = _keys(n, ap, aj), _keys(n, bp, bj)
        places = np.union1d(first, second)
        both = []
        for keys, numbers in ((first, a), (second, b)):
            total = np.zeros(len(places), out.dtype)
            np.add.at(total, np.searchsorted(places, keys), numbers[: len(keys)])
            both.append(total)
        _write(m, n, places, choose(both[0], both[1]), indptr, indices, out)

    return body


def csr_matmat(
    m: int, n: int, ap: Any, aj: Any, a: Any, bp: Any, bj: Any, b: Any, indptr: Any, indices: Any, out: Any
) -> None:
    rows = lines_of(ap)
    inner = aj[: len(rows)]
    counts = np.diff(bp)[inner]
    first = np.repeat(np.arange(len(rows)), counts)
    second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts) + bp[inner][first]
    _write(m, n, rows[first] * n + bj[second], a[first] * b[second], indptr, indices, out)


def _of_columns(body: Any) -> Any:
    """The body for matrices by columns of one for matrices by rows."""
    return lambda m, n, *others: body(n, m, *others)


def _of_columns_reversed(
    m: int, n: int, ap: Any, ai: Any, a: Any, bp: Any, bi: Any, b: Any, indptr: Any, indices: Any, out: Any
) -> None:
    csr_matmat(n, m, bp, bi, b, ap, ai, a, indptr, indices, out)


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
            "coo_matvec_nd": coo_matvec_nd,
            "coo_matmat_dense_nd": coo_matmat_dense_nd,
            "get_csr_submatrix": get_csr_submatrix,
            "csr_row_index": csr_row_index,
            "csr_row_slice": csr_row_slice,
            "csr_column_index2": csr_column_index2,
            "csr_sample_values": csr_sample_values,
            "csr_hstack": csr_hstack,
            "csr_eliminate_zeros": csr_eliminate_zeros,
            "csr_scale_rows": csr_scale_rows,
            "csr_scale_columns": csr_scale_columns,
            "csr_maximum_csr": _larger(np.maximum),
            "csr_minimum_csr": _larger(np.minimum),
            "coo_tocsr": coo_tocsr,
            "csr_tocsc": csr_tocsc,
            "csc_tocsr": lambda m, n, *others: csr_tocsc(n, m, *others),
            "csr_sort_indices": csr_sort_indices,
            "csr_sum_duplicates": csr_sum_duplicates,
            "csr_todense": csr_todense,
            "coo_todense": coo_todense,
            "coo_todense_nd": coo_todense_nd,
            "dia_matvec": dia_matvec,
            "dia_matvecs": dia_matvecs,
            "dia_tocsr": dia_tocsr,
            "csr_diagonal": csr_diagonal,
            "csr_matmat": csr_matmat,
            "csc_matmat": _of_columns_reversed,
            "csr_plus_csr": _sum(1),
            "csr_minus_csr": _sum(-1),
            "csr_elmul_csr": _elementwise_product,
            "csc_plus_csc": _of_columns(_sum(1)),
            "csc_minus_csc": _of_columns(_sum(-1)),
            "csc_elmul_csc": _of_columns(_elementwise_product),
        },
    ),
]
