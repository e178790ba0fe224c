"""Peaks of signals: where they are has no derivative; how far they stand out, and how wide they are, has."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.implicit import valued
from adbc.rules.scipy.base import bodies, internal
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

_IN_C = internal("scipy.signal._peak_finding_utils")


def measured(x: Any, peaks: Any, length: Any) -> Any:
    """What SciPy says of the prominences, as constants."""
    return _IN_C._peak_prominences(x, peaks, length)


def crossings(x: Any, peaks: Any, height: Any, *bases: Any) -> Any:
    """What SciPy says of the widths, as constants."""
    return _IN_C._peak_widths(x, peaks, height, *bases)


def prominences(x: Any, peaks: Any, wlen: Any) -> Any:
    found, left, right = measured(x, peaks, wlen)
    return valued(found, x[peaks] - np.maximum(x[left], x[right])), left, right


def widths(x: Any, peaks: Any, rel_height: Any, given: Any, left_bases: Any, right_bases: Any) -> Any:
    found = crossings(x, peaks, rel_height, given, left_bases, right_bases)
    height = x[peaks] - given * rel_height
    low, high = np.floor(found[2]).astype(np.intp), np.ceil(found[3]).astype(np.intp)
    left = low + _share(x, low, 1, height)
    right = high - _share(x, high, -1, height)
    left, right = valued(found[2], left), valued(found[3], right)
    return right - left, valued(found[1], height), left, right


def _share(x: Any, place: Any, step: int, height: Any) -> Any:
    """How far between `place` and its neighbour the signal crosses a height; 0 if it is there already."""
    near, far = x[place], x[np.clip(place + step, 0, len(x) - 1)]
    between = stop_gradient(near) < stop_gradient(height)
    return np.where(between, (height - near) / np.where(between, far - near, 1.0), 0.0)


def _rows() -> list[Rule]:
    if _IN_C is None:
        return []
    names = ("_local_maxima_1d", "_select_by_peak_distance")
    return [
        *(ZeroRule(getattr(_IN_C, name)) for name in names if hasattr(_IN_C, name)),
        *bodies(_IN_C, {"_peak_prominences": prominences, "_peak_widths": widths}),
    ]


ROWS: list[Rule] = [ZeroRule(measured), ZeroRule(crossings), *_rows()]
