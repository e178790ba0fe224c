"""Jacobians of which most elements are zero, from a few directions: columns that have no row in common are
found together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adbc.api import grad, jvp
from adbc.errors import ArgumentError
from adbc.jacobians import check_same, in_chunks
from adbc.runtime import default_engine
from adbc.runtime.entry.reusable import ReusablePullback
from adbc.runtime.report.messages import describe

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["colouring", "sparse_hessian", "sparse_jacobian", "sparsity"]

Array = np.ndarray[Any, Any]


def sparse_jacobian(
    f: Callable[..., Any], pattern: Any, mode: str | None = None
) -> Callable[..., csr_matrix]:
    """A function that gives the Jacobian of ``f(x, *args, **kwargs)``, a vector, by the vector `x`, as a
    ``scipy.sparse.csr_matrix`` with the places of `pattern`.

    Columns that have no row in common share a colour, and are found by one tangent in forward mode; or rows
    that have no column in common, by one cotangent in reverse mode.  So a band of width w takes w runs,
    however long it is.

    pattern: a matrix, dense or of SciPy's, of the shape of the Jacobian, that is not zero where the Jacobian
    may not be.  It is believed: an element that it leaves out is lost in a sum (`sparsity` finds a pattern).
    mode: "forward" or "reverse"; by default the one with fewer colours.

    Raises `adbc.errors.ArgumentError` if `x` or the value is no vector of real numbers of the length that the
    pattern has, and what `adbc.jvp` and `adbc.vjp` raise.

    >>> import adbc, numpy as np
    >>> def f(x):
    ...     return x[1:] * x[:-1]
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> adbc.sparse_jacobian(f, [[1, 1, 0], [0, 1, 1]])(x).toarray()
    array([[2., 1., 0.],
           [0., 3., 2.]])
    """
    if mode not in (None, "forward", "reverse"):
        raise ArgumentError(f"there is no mode {mode!r}: forward or reverse")
    rows, columns, shape = _places(pattern)
    by_column = colouring(rows, columns, shape[1]) if mode != "reverse" else None
    by_row = colouring(columns, rows, shape[0]) if mode != "forward" else None
    is_forward = by_row is None or (
        by_column is not None and by_column.max(initial=-1) <= by_row.max(initial=-1)
    )

    def jacobian_of(x: Array, *args: Any, **kwargs: Any) -> csr_matrix:
        from scipy.sparse import csr_matrix

        _check_vector(f, x, shape[1], "its argument")
        if is_forward:
            assert by_column is not None
            data = _by_columns(f, x, args, kwargs, by_column, rows, columns, shape)
        else:
            assert by_row is not None
            data = _by_rows(f, x, args, kwargs, by_row, rows, columns, shape)
        return csr_matrix((data, (rows, columns)), shape)

    return jacobian_of


def sparse_hessian(f: Callable[..., Any], pattern: Any) -> Callable[..., csr_matrix]:
    """A function that gives the Hessian of ``f(x, *args, **kwargs)``, a real number, by the vector `x`, as a
    ``scipy.sparse.csr_matrix`` with the places of `pattern`: the `sparse_jacobian` of the gradient, in
    forward mode over reverse mode.

    >>> import adbc, numpy as np
    >>> def f(x):
    ...     return np.sum(x[1:] * x[:-1] ** 2)
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> adbc.sparse_hessian(f, [[1, 1, 0], [1, 1, 1], [0, 1, 1]])(x).toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    return sparse_jacobian(grad(f), pattern, "forward")


def sparsity(f: Callable[..., Any], *points: Any) -> Any:
    """Where the Jacobian of ``f(x)``, a vector, by the vector `x` is not zero at one of `points`, as a
    ``scipy.sparse.csr_matrix`` of booleans: a pattern for `sparse_jacobian`.

    Each point takes one run per element of `x`.  What is zero at all points and not elsewhere (behind a
    branch, or a product with zero) is not seen: give points that are unlike each other.

    >>> import adbc, numpy as np
    >>> adbc.sparsity(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0])).toarray()
    array([[ True,  True, False],
           [False,  True,  True]])
    """
    from scipy.sparse import csr_matrix

    found = None
    for x in points:
        _, columns = _along(f, x, np.eye(np.size(x), dtype=x.dtype))
        here = np.stack([column != 0.0 for column in columns], axis=1)
        found = here if found is None else found | here
    if found is None:
        raise ArgumentError("sparsity looks at points: give at least one")
    return csr_matrix(found)


def colouring(rows: Array, columns: Array, count: int) -> Array:
    """A colour for each of `count` columns, from 0, so that columns with an element in one row differ; the
    elements are at `rows` and `columns`.  Greedy, the columns with most elements first."""
    of_column: list[list[int]] = [[] for _ in range(count)]
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        of_column[column].append(row)
    taken: dict[int, set[int]] = {}
    colours = np.zeros(count, np.int64)
    for column in sorted(range(count), key=lambda k: -len(of_column[k])):
        used: set[int] = set()
        for row in of_column[column]:
            used |= taken.get(row, set())
        colour = 0
        while colour in used:
            colour += 1
        colours[column] = colour
        for row in of_column[column]:
            taken.setdefault(row, set()).add(colour)
    return colours


def _places(pattern: Any) -> tuple[Array, Array, tuple[int, int]]:
    """Rows and columns of the elements of a pattern that are not zero, and its shape."""
    if hasattr(pattern, "tocoo"):
        found = pattern.tocoo()
        keep = found.data != 0
        places = np.unique(np.stack([found.row[keep], found.col[keep]]).astype(np.int64), axis=1)
        return places[0], places[1], found.shape
    dense = np.asarray(pattern)
    if dense.ndim != 2:
        raise ArgumentError(f"a pattern is a matrix, not an array of shape {dense.shape}")
    rows, columns = np.nonzero(dense)
    return rows, columns, (dense.shape[0], dense.shape[1])


def _check_vector(f: Any, x: Any, length: int, what: str) -> None:
    if getattr(x, "shape", None) != (length,) or x.dtype.kind != "f":
        shape = f"{x.dtype} of shape {x.shape}" if hasattr(x, "shape") else type(x).__name__
        raise ArgumentError(
            f"the sparse Jacobian of {describe(f)} has a pattern for vectors of {length} floats, and"
            f" {what} is a {shape}"
        )


def _by_columns(
    f: Any, x: Array, args: Sequence[Any], kwargs: Any, colours: Array, rows: Array, columns: Array, shape:
    Any
) -> Array:  # fmt: skip
    data = np.zeros(len(rows), x.dtype)

    def of_vector(y: Array) -> Any:
        return f(y, *args, **kwargs)

    numbers = np.arange(int(colours.max(initial=-1)) + 1)
    if not len(numbers):
        return data
    value, tangents = _along(of_vector, x, (colours == numbers[:, None]).astype(x.dtype))
    _check_vector(f, value, shape[0], "its value")
    for colour, tangent in enumerate(tangents):
        mine = colours[columns] == colour
        data[mine] = tangent[rows[mine]]
    return data


def _along(f: Any, x: Array, directions: Array) -> tuple[Any, list[Any]]:
    """The value of ``f(x)``, and its derivatives in the `directions`, the rows of a matrix: in batches, where
    that can be done."""
    if len(directions) >= _SEVERAL:
        found = in_chunks(
            f,
            lambda: (f, (x.copy(),)),
            lambda lanes: (directions[lanes.start : lanes.stop],),
            len(directions),
        )
        if found is not None:
            return found[0], [np.asarray(tangent) for batch in found[1] for tangent in batch]
    value: Any = None
    tangents: list[Any] = []
    for direction in directions:
        found, tangent = jvp(f, (x.copy(),), (direction.copy(),))
        if tangents:
            check_same(f, value, found)
        value = found
        tangents.append(np.asarray(tangent))
    return value, tangents


_SEVERAL = 3
"""From so many directions on a batch of them takes less time than one by one."""


def _by_rows(
    f: Any, x: Array, args: Sequence[Any], kwargs: Any, colours: Array, rows: Array, columns: Array, shape:
    Any
) -> Array:  # fmt: skip
    data = np.zeros(len(rows), x.dtype)

    def of_vector(y: Array) -> Any:
        return f(y, *args, **kwargs)

    pullback = ReusablePullback(default_engine, of_vector, (x.copy(),), False)
    _check_vector(f, pullback.value, shape[0], "its value")
    pullback.keep()
    for colour in range(int(colours.max(initial=-1)) + 1):
        (found,) = pullback((colours == colour).astype(pullback.value.dtype))
        mine = colours[rows] == colour
        data[mine] = found[columns[mine]]
    return data
