"""Tangents that are arrays, as the walks over tangents meet them (`walk.TangentWalk`).

Arrays may overlap, so the results for all of them are computed before any is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import InvalidTangentError
from adbc.tangents.array_iterators import FlatIterator
from adbc.tangents.array_memory import (
    Array,
    fill,
    number_views,
    overlaps_itself,
    places_of,
    record_array,
    region_of,
    share,
    ultimate_owner,
)
from adbc.tangents.walk import TangentWalk

__all__ = ["visit_array", "visit_flat", "visit_numbers", "visit_record"]


def visit_array(walk: TangentWalk, t: Array, *others: Any) -> Any:
    """The result of the walk for tangent `t`, an array of numbers, records or objects."""
    for s in others:
        if type(s) is not np.ndarray or s.shape != t.shape or s.dtype != t.dtype:
            raise InvalidTangentError(
                f"an array of shape {t.shape} and dtype {t.dtype} does not go with {s!r}"
            )
    found = walk.memo.get(id(t))
    if found is not None:
        return found[1]
    if not walk.in_place:
        share(walk, t, *map(ultimate_owner, (t, *others)))
    target = t if walk.in_place else region_of(walk.memo, t, copy=False).view(t)
    walk.register(t, target)
    if t.dtype.kind == "O":
        walk.later(lambda: fill(target, _visit_slots(walk, t, others)))
    else:
        rows = zip(*map(number_views, (target, t, *others)), strict=True)
        walk.arrays += [(target, t, others) for target, t, *others in rows]
        walk.finish = _finish
    return target


def _visit_slots(walk: TangentWalk, t: Array, others: Any) -> list[Any]:
    """The results for the slots of an array of objects; slots that several views share are visited once."""
    results = []
    columns = (t.flat, *(s.flat for s in others))
    for place, *row in zip(places_of(t).flat, *columns, strict=True):
        key = ("slot", int(place))
        if key not in walk.memo:
            walk.memo[key] = (t, walk(*row))
        results.append(walk.memo[key][1])
    return results


def _finish(walk: Any) -> None:
    """Treat all arrays of the walk: first compute, then write, since they may overlap."""
    reduce = getattr(walk.leaf, "reduce_arrays", None)
    if reduce is not None:
        reduce(_without_repeats([(t, *others) for _, t, others in walk.arrays]))
        return
    write = getattr(walk.leaf, "write", None)
    if write is not None:
        for target, *_ in walk.arrays:
            write(target)
        return
    combine = walk.leaf.on_arrays  # see `operations`
    if len(walk.arrays) == 1:
        target, t, others = walk.arrays[0]
        into = getattr(walk.leaf, "into", None)
        if into is not None and not overlaps_itself(t):
            into(t, *others)
            return
        target[...] = combine(t, *others)
        return
    results = [(target, combine(t, *others)) for target, t, others in walk.arrays]
    for target, result in results:
        target[...] = result


def _without_repeats(rows: list[tuple[Array, ...]]) -> list[tuple[Array, ...]]:
    """Rows of arrays with the same numbers, in which no place of the memory of first arrays occurs twice."""
    owners = [id(ultimate_owner(row[0])) for row in rows]
    if len(set(owners)) == len(owners) and not any(overlaps_itself(row[0]) for row in rows):
        return rows
    parts: list[tuple[Array, ...]] = []
    for row in rows:
        if row[0].dtype.kind == "c":  # a complex number is two places: one may be seen as a real view
            parts.append(tuple([a.real for a in row]))
            parts.append(tuple([a.imag for a in row]))
        else:
            parts.append(row)
    seen: Array = np.zeros(0, np.int64)
    result = []
    for row in parts:
        places, first = np.unique(places_of(row[0]), return_index=True)
        new = first[~np.isin(places, seen)]
        seen = np.union1d(seen, places)
        result.append(tuple([a.reshape(-1)[new] for a in row]))
    return result


def visit_record(walk: TangentWalk, t: Any, *others: Any) -> Any:
    """The result of the walk for tangent `t`, an element of a structured array."""
    result = walk(*map(record_array, (t, *others)))
    return t if walk.in_place else result[()]


def visit_numbers(walk: TangentWalk, target: Any, t: Any, others: Any) -> None:
    """Let the walk treat the memory of `t`, an `array.array`, as an array: others may overlap it."""
    dtype = np.dtype(t.typecode)
    walk.arrays.append(
        tuple([np.frombuffer(x, dtype) for x in (target, t)]) + ([np.frombuffer(s, dtype) for s in others],)
    )
    walk.finish = _finish


def visit_flat(walk: TangentWalk, t: FlatIterator, *others: Any) -> Any:
    """The result of the walk for tangent `t`, the shadow of ``x.flat``."""
    array = walk(t.array, *[s.array for s in others])
    return t if array is t.array else FlatIterator(array, t.index)
