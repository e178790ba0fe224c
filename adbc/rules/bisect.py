"""`bisect`: a position has no derivative, and what is inserted keeps its own."""

from __future__ import annotations

import bisect
from typing import Any

from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def _place(find: Any, a: Any, x: Any, lo: int, hi: int | None, key: Any) -> int:
    return find(a, x if key is None else key(x), lo, hi, key=key)  # type: ignore[no-any-return]


def _insort_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    a.insert(_place(bisect.bisect_left, a, x, lo, hi, key), x)


def _insort_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    a.insert(_place(bisect.bisect_right, a, x, lo, hi, key), x)


ROWS: list[Rule] = [
    ZeroRule(bisect.bisect_left, result=int),
    ZeroRule(bisect.bisect_right, result=int),
    Overlay(bisect.insort_left, _insort_left),
    Overlay(bisect.insort_right, _insort_right),
]
