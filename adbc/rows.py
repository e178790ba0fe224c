"""Rows of Jacobians, many at a time: one forwards pass and one pullback that is given a batch of cotangents.

A `problem` is what `jacobians` makes of a function and its arguments.  The forwards pass has to know how many
cotangents there will be: that is the number of numbers in the value which the function had before, for
arguments of these sizes.  Where nobody knows that, or a batch cannot be carried, the pullback runs once per
row.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.components import Component, Leaves, leaves_of, part_at, refilled, shape_of
from adbc.errors import AdbcError
from adbc.runtime import default_engine
from adbc.runtime.calls.replaying import Notes, OutOfSight
from adbc.runtime.entry.batches import BatchedPullback

__all__ = ["CANNOT", "Lanes", "note_count", "of_lanes", "rows_in_lanes", "unit_batch"]

CANNOT = (AdbcError, TypeError, AttributeError, ValueError)
"""What may say that a batch cannot be carried through a function.  If the function itself raises it, it comes
again where directions are taken one by one."""


_FEWEST_ROWS = 8
"""From so many rows on lanes take less time: half of it at twelve, a third at 32.  Below they save little,
and code for lanes has to be written, too."""
_MOST_ROWS = 128
"""How many rows one run of a pullback gives at most."""
_MOST_NUMBERS = 500_000
"""How many numbers of a row, of the arguments or of the value, are in one batch at most: there are as many
shadows of all arrays in between.  Large arrays take no less time together."""

_row_by_row: weakref.WeakSet[Any] = weakref.WeakSet()
"""Code of functions that batches of cotangents could not be carried through."""
_counted: weakref.WeakKeyDictionary[Any, dict[Any, int]] = weakref.WeakKeyDictionary()
"""By code of a function, how many numbers its value had for arguments of certain sizes: a forwards pass for
batches has to know that before."""
_MOST_SIZES = 16


class Lanes:
    """What has come back for all numbers of a value, in batches.

    batches: per run of the pullback, the batches of the arguments and how many of their lanes count.
    """

    def __init__(self, batches: list[tuple[Any, int]]) -> None:
        self.batches = batches


def _sizes(problem: Any) -> Any:
    """What the number of numbers in a value is likely to depend on."""
    return (problem.asked, *[getattr(x, "shape", None) or _length(x) for x in problem.given])


def _length(x: Any) -> int:
    return len(x) if isinstance(x, list | tuple | dict) else -1


def note_count(problem: Any, count: int) -> None:
    """Take note that the value of a function has `count` numbers."""
    code = getattr(problem.f, "__code__", None)
    if code is not None:
        sizes = _counted.setdefault(code, {})
        if len(sizes) < _MOST_SIZES:
            sizes[_sizes(problem)] = count


def rows_in_lanes(problem: Any) -> tuple[Any, list[Component], Lanes] | None:
    """What `_rows` gives, by pullbacks that are given many cotangents at once; None if that takes longer, or
    cannot be done."""
    code = getattr(problem.f, "__code__", None)
    if code is None or code in _row_by_row:
        return None
    count = _counted.get(code, {}).get(_sizes(problem), 0)
    if count < _FEWEST_ROWS:
        return None
    state = Notes()
    try:
        state.run([problem.f])
    except OutOfSight:
        return None
    most = min(_MOST_ROWS, _MOST_NUMBERS // max(len(problem.inputs), count))
    if most < min(_FEWEST_ROWS, _MOST_ROWS):
        return None
    width = -(-count // -(-count // most))  # all runs have about as many
    pullback: Any = None
    try:
        f, given = problem.function()
        pullback = BatchedPullback(default_engine().batched, f, given, width, is_kept=width < count)
        components = problem.outputs(pullback.value)
        is_expected = len(components) == count and (width == count or pullback.can_run_again)
        leaves = leaves_of(pullback.value, ())
        batches = []
        for start in range(0, count if is_expected else 0, width):
            lanes = components[start : start + width]
            units = _cotangents(pullback.value, leaves, lanes, width, is_all=count == width)
            batches.append((pullback(units), len(lanes)))
    except CANNOT:
        _row_by_row.add(code)
        batches = []
    if not batches:
        if pullback is not None and not pullback.has_run:
            pullback(None)
        for x, content, put in state.found:  # a pass may have been left half way
            put(x, content)
        _counted[code].pop(_sizes(problem), None)
        return None
    return pullback.value, components, Lanes(batches)


def _cotangents(value: Any, leaves: Leaves, lanes: Sequence[Component], width: int, is_all: bool) -> Any:
    """A batch of cotangents of `value`, each one at one of its numbers."""
    if is_all and type(value) is np.ndarray:
        return np.eye(width, dtype=value.dtype).reshape(width, *value.shape)
    return unit_batch(value, leaves, list(enumerate(lanes)), width)


def of_lanes(problem: Any, value: Any, lanes: Lanes) -> Any:
    """The Jacobian, from what has come back in batches."""
    wholes: list[list[Any]] = []
    for x, i in zip(problem.chosen, problem.asked, strict=True):
        parts = []
        for path, _ in leaves_of(x, ()):
            pieces = [part_at(found[i], path)[:count] for found, count in lanes.batches]
            parts.append(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
        wholes.append(parts)
    blocks, at = [], 0
    for _, out in leaves_of(value, ()) or problem.outputs(value):
        shape = shape_of(out)
        count = 1 if shape is None else math.prod(shape)
        block = []
        for x, parts in zip(problem.chosen, wholes, strict=True):
            rows = []
            for (_, leaf), part in zip(leaves_of(x, ()), parts, strict=True):
                mine = part[at : at + count]
                if shape is None:
                    rows.append(float(mine[0]) if type(leaf) is float else mine[0])
                else:
                    rows.append(mine.reshape(shape + mine.shape[1:]))
            block.append(refilled(x, iter(rows)))
        blocks.append(block[0] if problem.single else tuple(block))
        at += count
    return refilled(value, iter(blocks))


def unit_batch(x: Any, leaves: Leaves, lanes: Sequence[tuple[int, Component]], width: int) -> Any:
    """A batch of tangents of `x`, which has these `leaves`: in each of `lanes` one that is one at a place,
    zero in all others."""
    batches = {
        path: np.zeros((width, *leaf.shape), leaf.dtype) if hasattr(leaf, "dtype") else np.zeros(width)
        for path, leaf in leaves
    }
    for lane, (path, index) in lanes:
        batches[path][(lane, *(index or ()))] = 1.0
    return refilled(x, iter(batches.values()))
