"""`bisect`: a position has no derivative, and what is inserted keeps its own.

The searches are spelled out, because keys and comparisons may be code of the user's.
"""

from __future__ import annotations

import bisect
from typing import Any

from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]


def _bisect_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def _bisect_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


def _insort_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    a.insert(_bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def _insort_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    a.insert(_bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


ROWS: list[Rule] = [
    Overlay(bisect.bisect_left, _bisect_left),
    Overlay(bisect.bisect_right, _bisect_right),
    Overlay(bisect.insort_left, _insort_left),
    Overlay(bisect.insort_right, _insort_right),
]
