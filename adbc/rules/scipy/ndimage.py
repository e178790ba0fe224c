"""``scipy.ndimage``: filters by weights, in all modes of what lies outside of the array.

They are Python down to a few functions in C, which write into an array: those have bodies here.  A filter is
a sum over its weights of the shifted array, which is made wider by the elements that the mode says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from adbc.rules.scipy.base import bodies
from adbc.rules.table import Rule

__all__ = ["CONSTANT", "GRID_CONSTANT", "GRID_WRAP", "MIRROR", "NEAREST", "REFLECT", "ROWS", "WRAP", "wider"]

NEAREST, WRAP, REFLECT, MIRROR, CONSTANT, GRID_WRAP, GRID_CONSTANT = range(7)
"""The numbers of the modes, as the functions in C take them."""


def _places(n: int, before: int, after: int, mode: int) -> Any:
    """For each place of a wider axis the number of the element there, in a mode that has one everywhere."""
    place = np.arange(-before, n + after)
    mode = {GRID_WRAP: WRAP}.get(mode, mode)
    if mode == NEAREST:
        return np.clip(place, 0, n - 1)
    if mode == WRAP:
        return place % n
    if mode == REFLECT:
        place = place % (2 * n)
        return np.where(place < n, place, 2 * n - 1 - place)
    period = max(2 * (n - 1), 1)
    place = place % period
    return np.where(place < n, place, period - place)


def wider(x: Any, axis: int, before: int, after: int, mode: int, cval: Any) -> Any:
    """The array with more elements on both sides of an axis, those that the mode says."""
    n = x.shape[axis]
    if n and mode not in (CONSTANT, GRID_CONSTANT):
        return np.take(x, _places(n, before, after, mode), axis=axis)
    shape = list(x.shape)
    shape[axis] = before + n + after
    wide = np.full(shape, cval, np.result_type(x.dtype, float))
    inner = [slice(None)] * x.ndim
    inner[axis] = slice(before, before + n)
    wide[tuple(inner)] = x
    return wide


def correlate1d(input: Any, weights: Any, axis: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    size, n = len(weights), input.shape[axis]
    before = size // 2 + origin
    wide = np.moveaxis(wider(input, axis, before, size - 1 - before, mode, cval), axis, -1)
    total = weights[0] * wide[..., :n]
    for k in range(1, size):
        total = total + weights[k] * wide[..., k : k + n]
    output[...] = np.moveaxis(total, -1, axis)


def correlate(input: Any, weights: Any, output: Any, mode: Any, cval: Any, origins: Sequence[int]) -> None:
    wide = input
    for axis in range(input.ndim):
        size = weights.shape[axis]
        before = size // 2 + origins[axis]
        here = mode if isinstance(mode, int) else mode[axis]
        wide = wider(wide, axis, before, size - 1 - before, here, cval)
    total = 0.0
    for place in np.ndindex(weights.shape):
        part = tuple([slice(k, k + n) for k, n in zip(place, input.shape, strict=True)])
        total = total + weights[place] * wide[part]
    output[...] = total


def uniform_filter1d(
    input: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int
) -> None:
    n = input.shape[axis]
    before = size // 2 + origin
    wide = np.moveaxis(wider(input, axis, before, size - 1 - before, mode, cval), axis, -1)
    total = wide[..., :n]
    for k in range(1, size):
        total = total + wide[..., k : k + n]
    output[...] = np.moveaxis(total / size, -1, axis)


def min_or_max_filter1d(
    input: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int, minimum: Any
) -> None:
    n = input.shape[axis]
    before = size // 2 + origin
    wide = np.moveaxis(wider(input, axis, before, size - 1 - before, mode, cval), axis, -1)
    total = wide[..., :n]
    for k in range(1, size):
        other = wide[..., k : k + n]
        total = np.minimum(total, other) if minimum else np.maximum(total, other)
    output[...] = np.moveaxis(total, -1, axis)


ROWS: list[Rule] = [
    *bodies(
        _nd_image,
        {
            "correlate1d": correlate1d,
            "correlate": correlate,
            "uniform_filter1d": uniform_filter1d,
            "min_or_max_filter1d": min_or_max_filter1d,
        },
    )
]
