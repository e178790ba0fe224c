"""``scipy.linalg``: factorisations made column by column: of symmetric matrices, and to Hessenberg form.

SciPy says which rows are pivots, and of how many columns each block is; with these, which do not move, the
same elimination in Python has the derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from adbc.rules.implicit import solved, valued
from adbc.rules.scipy.base import bodies, fixed
from adbc.rules.scipy.stacks import for_each, is_stack
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Rule

__all__ = ["ROWS"]


# -- symmetric matrices ------------------------------------------------------------------------------------


def _turned(x: Any, hermitian: bool) -> Any:
    return np.conjugate(x.T) if hermitian else x.T


def _whole(half: Any, hermitian: bool) -> Any:
    """The matrix whose lower half, with the diagonal, is given; of a Hermitian one the diagonal is real."""
    below = np.tril(half, -1)
    diagonal = np.diagonal(half)
    return below + _turned(below, hermitian) + np.diag(np.real(diagonal) if hermitian else diagonal)


def _eliminated(matrix: Any, sizes: list[int], hermitian: bool) -> tuple[Any, Any]:
    """The lower factor with ones in its diagonal, and the blocks of these sizes."""
    n = len(matrix)
    rest, columns, blocks, at = matrix, [], [], 0
    for size in sizes:
        block, below = rest[:size, :size], rest[size:, :size]
        share = np.linalg.solve(block.T, below.T).T
        columns.append(np.concatenate([np.zeros((at, size)), np.eye(size), share]))
        around = (np.zeros((at, size)), block, np.zeros((n - at - size, size)))
        blocks.append(np.concatenate(around))
        rest = rest[size:, size:] - share @ _turned(below, hermitian)
        at += size
    return np.concatenate(columns, axis=1), np.concatenate(blocks, axis=1)


def ldl(
    A: Any, lower: bool = True, hermitian: bool = True, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    A = np.asarray(A)
    if is_stack(A):
        return for_each(lambda m: ldl(m, lower, hermitian), (A,), (2,))
    found = solved(linalg.ldl, (A, lower, hermitian), {})
    if A.size == 0:
        return found
    order = stop_gradient(found[2])
    is_start = np.diagonal(stop_gradient(found[1]), -1 if lower else 1) != 0
    sizes, k = [], 0
    while k < len(order):
        size = 2 if k < len(is_start) and is_start[k] else 1
        sizes.append(size)
        k += size
    half = A if lower else A.T
    is_hermitian = hermitian and np.iscomplexobj(A)
    matrix = _whole(np.conjugate(half) if is_hermitian and not lower else half, is_hermitian)
    matrix = matrix[order][:, order]
    if lower:
        factor, blocks = _eliminated(matrix, sizes, is_hermitian)
    else:  # it begins at the other end
        factor, blocks = _eliminated(matrix[::-1, ::-1], sizes[::-1], is_hermitian)
        factor, blocks = factor[::-1, ::-1], blocks[::-1, ::-1]
    return valued(found[0], factor[np.argsort(order)]), valued(found[1], blocks), found[2]


# -- Hessenberg form ---------------------------------------------------------------------------------------


def hessenberg(a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The matrix is mirrored from both sides, so that one column after the other is zero below its second
    diagonal, by the mirrors that LAPACK takes."""
    a = np.asarray(a)
    if is_stack(a):
        return for_each(lambda m: hessenberg(m, calc_q), (a,), (2,))
    found = solved(linalg.hessenberg, (a, calc_q), {})
    n = len(a)
    if 0 < n <= 2:
        return (a, found[1]) if calc_q else a
    h, q = a, np.eye(n)
    for k in range(n - 1 if np.iscomplexobj(a) else n - 2):  # of complex ones the last number becomes real
        x = h[k + 1 :, k]
        if not np.any(stop_gradient(x[1:])) and not np.imag(stop_gradient(x[0])):
            what = "scipy.linalg.hessenberg of a matrix with a column that is zero already"
            fixed(x, what, "leave out what is in Hessenberg form")
            continue
        size = np.linalg.norm(x)
        end = np.where(np.real(stop_gradient(x[0])) < 0, size, -size)
        normal = np.concatenate([np.ones(1), x[1:] / (x[0] - end)])
        by = np.conjugate(
            (end - x[0]) / end
        )  # the mirror is the identity less this times the normal's square
        normal = np.concatenate([np.zeros(k + 1), normal])
        h = h - by * np.outer(normal, np.conjugate(normal) @ h)
        h = h - np.conjugate(by) * np.outer(h @ normal, np.conjugate(normal))
        q = q - np.conjugate(by) * np.outer(q @ normal, np.conjugate(normal))
    if not calc_q:
        return valued(found, np.triu(h, -1))
    return valued(found[0], np.triu(h, -1)), valued(found[1], q)


ROWS: list[Rule] = bodies(linalg, {"ldl": ldl, "hessenberg": hessenberg})
