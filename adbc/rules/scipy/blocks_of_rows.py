"""Sparse matrices by blocks (``bsr_array``): what their methods do in C.

The blocks of a row stand one after the other, as the numbers of a row of other matrices do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from adbc.rules.scipy.base import bodies
from adbc.rules.scipy.sparse import lines_of, starts_of
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]


def _blocks(data: Any, height: int, width: int, count: int) -> Any:
    return np.reshape(data, (-1, height, width))[:count]


def bsr_matvec(
    m: int, n: int, height: int, width: int, indptr: Any, indices: Any, data: Any, x: Any, y: Any
) -> None:
    bsr_matvecs(m, n, 1, height, width, indptr, indices, data, x, y)


def bsr_matvecs(
    m: int, n: int, k: int, height: int, width: int, indptr: Any, indices: Any, data: Any, x: Any, y: Any
) -> None:
    rows = lines_of(indptr)
    taken = np.reshape(x, (n, width, k))[indices[: len(rows)]]
    part = np.matmul(_blocks(data, height, width, len(rows)), taken)
    np.add.at(np.reshape(y, (m, height, k)), rows, part)


def bsr_transpose(
    m: int, n: int, height: int, width: int, indptr: Any, indices: Any, data: Any, outptr: Any,
    outindices: Any, out: Any,
) -> None:  # fmt: skip
    rows = lines_of(indptr)
    columns = indices[: len(rows)]
    order = np.argsort(columns, kind="stable")
    outptr[...] = starts_of(columns, n)
    outindices[: len(rows)] = rows[order]
    turned = np.swapaxes(_blocks(data, height, width, len(rows))[order], 1, 2)
    out[: turned.size] = np.reshape(turned, -1)


def bsr_tocsr(
    m: int, n: int, height: int, width: int, indptr: Any, indices: Any, data: Any, outptr: Any,
    outindices: Any, out: Any,
) -> None:  # fmt: skip
    lines = lines_of(indptr)
    shape = len(lines), height, width
    rows = np.broadcast_to((lines * height)[:, None, None] + np.arange(height)[:, None], shape).ravel()
    columns = (indices[: len(lines)] * width)[:, None, None] + np.arange(width)
    order = np.argsort(rows, kind="stable")
    outptr[...] = starts_of(rows, m * height)
    outindices[: len(rows)] = np.broadcast_to(columns, shape).ravel()[order]
    out[: len(rows)] = np.reshape(_blocks(data, height, width, len(lines)), -1)[order]


def bsr_diagonal(
    k: int, m: int, n: int, height: int, width: int, indptr: Any, indices: Any, data: Any, out: Any
) -> None:
    lines = lines_of(indptr)
    rows = (lines * height)[:, None, None] + np.arange(height)[:, None]
    columns = (indices[: len(lines)] * width)[:, None, None] + np.arange(width)
    kept = np.flatnonzero(columns - rows == k)
    places = np.broadcast_to(rows + min(k, 0), (len(lines), height, width)).ravel()[kept]
    np.add.at(out, places, np.reshape(_blocks(data, height, width, len(lines)), -1)[kept])


def bsr_sort_indices(m: int, n: int, height: int, width: int, indptr: Any, indices: Any, data: Any) -> None:
    rows = lines_of(indptr)
    order = np.lexsort((indices[: len(rows)], rows))
    sorted_blocks = _blocks(data, height, width, len(rows))[order]
    indices[: len(rows)] = indices[: len(rows)][order]
    data[: sorted_blocks.size] = np.reshape(sorted_blocks, -1)


def _write(m: int, n: int, keys: Any, blocks: Any, indptr: Any, indices: Any, out: Any) -> None:
    """Write the matrix with these blocks, added up where they have the same place ``row * n + column``."""
    places, group = np.unique(keys, return_inverse=True)
    total = np.zeros((len(places), *blocks.shape[1:]), out.dtype)
    np.add.at(total, group, blocks)
    indptr[...] = starts_of(places // max(n, 1), m)
    indices[: len(places)] = places % max(n, 1)
    out[: total.size] = np.reshape(total, -1)


def bsr_matmat(
    most: int, m: int, n: int, height: int, width: int, inner: int, ap: Any, aj: Any, a: Any, bp: Any,
    bj: Any, b: Any, indptr: Any, indices: Any, out: Any,
) -> None:  # fmt: skip
    rows = lines_of(ap)
    between = aj[: len(rows)]
    counts = np.diff(bp)[between]
    first = np.repeat(np.arange(len(rows)), counts)
    second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts) + bp[between][first]
    left, right = _blocks(a, height, inner, len(rows)), _blocks(b, inner, width, int(bp[-1]))
    products = np.matmul(left[first], right[second])
    _write(m, n, rows[first] * n + bj[second], products, indptr, indices, out)


def _sum(sign: int) -> Any:
    def body(
        m: int, n: int, height: int, width: int, ap: Any, aj: Any, a: Any, bp: Any, bj: Any, b: Any,
        indptr: Any, indices: Any, out: Any,
    ) -> None:  # fmt: skip
        keys = [lines_of(p) * n + j[: int(p[-1])] for p, j in ((ap, aj), (bp, bj))]
        blocks = [_blocks(x, height, width, int(p[-1])) for p, x in ((ap, a), (bp, b))]
        both = np.concatenate((blocks[0], sign * blocks[1]))
        _write(m, n, np.concatenate(keys), both, indptr, indices, out)

    return body


def bsr_elmul_bsr(
    m: int, n: int, height: int, width: int, ap: Any, aj: Any, a: Any, bp: Any, bj: Any, b: Any, indptr: Any,
    indices: Any, out: Any,
) -> None:  # fmt: skip
    first, second = lines_of(ap) * n + aj[: int(ap[-1])], lines_of(bp) * n + bj[: int(bp[-1])]
    places = np.intersect1d(first, second)
    both = []
    for keys, data in ((first, a), (second, b)):
        kept = np.flatnonzero(np.isin(keys, places))
        total = np.zeros((len(places), height, width), out.dtype)
        blocks = _blocks(data, height, width, len(keys))[kept]
        np.add.at(total, np.searchsorted(places, keys[kept]), blocks)
        both.append(total)
    _write(m, n, places, both[0] * both[1], indptr, indices, out)


def blocks_of(
    m: int, n: int, height: int, width: int, indptr: Any, indices: Any, outptr: Any, outindices: Any
) -> tuple[Any, Any, Any]:
    """The blocks of a matrix by rows, as ``csr_tobsr`` orders them, and where each number stands in them."""
    starts, columns = outptr.copy(), outindices.copy()
    scratch = np.zeros(len(columns) * height * width)
    _sparsetools.csr_tobsr(
        m, n, height, width, indptr, indices, np.ones(len(indices)), starts, columns, scratch
    )
    rows = lines_of(indptr)
    places = indices[: len(rows)]
    keys = lines_of(starts) * (n // width) + columns[: int(starts[-1])]
    order = np.argsort(keys)
    block = order[np.searchsorted(keys, rows // height * (n // width) + places // width, sorter=order)]
    return starts, columns, (block * height + rows % height) * width + places % width


def csr_tobsr(
    m: int, n: int, height: int, width: int, indptr: Any, indices: Any, data: Any, outptr: Any,
    outindices: Any, out: Any,
) -> None:  # fmt: skip
    starts, columns, places = blocks_of(m, n, height, width, indptr, indices, outptr, outindices)
    outptr[...] = starts
    outindices[...] = columns
    np.add.at(out, places, data[: len(places)])


ROWS: list[Rule] = [
    ZeroRule(blocks_of),
    *bodies(
        _sparsetools,
        {
            "bsr_matvec": bsr_matvec,
            "bsr_matvecs": bsr_matvecs,
            "bsr_transpose": bsr_transpose,
            "bsr_tocsr": bsr_tocsr,
            "bsr_diagonal": bsr_diagonal,
            "bsr_sort_indices": bsr_sort_indices,
            "bsr_matmat": bsr_matmat,
            "bsr_plus_bsr": _sum(1),
            "bsr_minus_bsr": _sum(-1),
            "bsr_elmul_bsr": bsr_elmul_bsr,
            "csr_tobsr": csr_tobsr,
        },
    ),
]
