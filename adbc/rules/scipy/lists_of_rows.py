"""Sparse matrices by lists of their rows (``lil_array``): what their methods do in C.

There is a list of columns and a list of numbers for each row, both in arrays of objects.
"""

from __future__ import annotations

import bisect
from typing import Any

from adbc.rules.scipy.base import bodies, internal
from adbc.rules.table import Rule

__all__ = ["ROWS"]


def _within(m: int, n: int, i: Any, j: Any) -> tuple[Any, Any]:
    """The row and the column as they are counted from the first."""
    if i < -m or i >= m:
        raise IndexError(f"row index ({i}) out of bounds")
    if j < -n or j >= n:
        raise IndexError(f"column index ({j}) out of bounds")
    return (i + m if i < 0 else i), (j + n if j < 0 else j)


def lil_get1(m: int, n: int, rows: Any, datas: Any, i: Any, j: Any) -> Any:
    i, j = _within(m, n, i, j)
    columns = rows[i]
    place = bisect.bisect_left(columns, j)
    if place < len(columns) and columns[place] == j:
        return datas[i][place]
    return 0


def lil_insert(m: int, n: int, rows: Any, datas: Any, i: Any, j: Any, x: Any) -> None:
    i, j = _within(m, n, i, j)
    columns = rows[i]
    place = bisect.bisect_left(columns, j)
    # A zero stays, where SciPy leaves it out: it may have a derivative, or come to have one.
    if place < len(columns) and columns[place] == j:
        datas[i][place] = x
    else:
        columns.insert(place, j)
        datas[i].insert(place, x)


def lil_fancy_set(m: int, n: int, rows: Any, datas: Any, i: Any, j: Any, values: Any) -> None:
    for k in range(i.shape[0]):
        for q in range(i.shape[1]):
            lil_insert(m, n, rows, datas, int(i[k, q]), int(j[k, q]), values[k, q])


def lil_fancy_get(
    m: int, n: int, rows: Any, datas: Any, new_rows: Any, new_datas: Any, i: Any, j: Any
) -> None:
    for k in range(i.shape[0]):
        columns, numbers = [], []
        for q in range(i.shape[1]):
            row, column = _within(m, n, int(i[k, q]), int(j[k, q]))
            place = bisect.bisect_left(rows[row], column)
            if place < len(rows[row]) and rows[row][place] == column:
                columns.append(q)
                numbers.append(datas[row][place])
        new_rows[k] = columns
        new_datas[k] = numbers


def lil_get_row_ranges(
    m: int, n: int, rows: Any, datas: Any, new_rows: Any, new_datas: Any, taken: Any, start: int, stop: int,
    step: int, count: int,
) -> None:  # fmt: skip
    for k, i in enumerate(taken):
        row, _ = _within(m, n, int(i), 0) if n else (int(i), 0)
        columns, numbers = [], []
        inside = range(start, stop, step)
        for place in range(len(rows[row]))[:: 1 if step > 0 else -1]:
            if rows[row][place] in inside:
                columns.append(inside.index(rows[row][place]))
                numbers.append(datas[row][place])
        new_rows[k] = columns
        new_datas[k] = numbers


def lil_flatten_to_array(lists: Any, out: Any) -> None:
    start = 0
    for line in lists:
        out[start : start + len(line)] = line
        start += len(line)


_MODULE = internal("scipy.sparse._csparsetools")
ROWS: list[Rule] = (
    []
    if _MODULE is None
    else bodies(
        _MODULE,
        {
            "lil_flatten_to_array": lil_flatten_to_array,
            "lil_get1": lil_get1,
            "lil_insert": lil_insert,
            "lil_fancy_set": lil_fancy_set,
            "lil_fancy_get": lil_fancy_get,
            "lil_get_row_ranges": lil_get_row_ranges,
        },
    )
)
