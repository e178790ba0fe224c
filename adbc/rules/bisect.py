"""`bisect`: a position has no derivative, and what is inserted keeps its own.

The searches are spelled out, because keys and comparisons may be code of the user's.
"""

from __future__ import annotations

import bisect
import sys
from typing import Any

from adbc.ir.intrinsics import _load_special_
from adbc.rules.classes import overrides
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]

_ASKS_ITSELF = sys.version_info >= (3, 12)
"""Whether the searches ask the ``__lt__`` of two values of one class before the interpreter does."""


def asks_itself(x: Any) -> bool:
    """Whether a search for `x` asks the ``__lt__`` of its class, which is in Python.  Once that has answered
    `NotImplemented`, it is no longer asked so, but the interpreter has asked it again for that comparison."""
    return _ASKS_ITSELF and overrides(type(x), "__lt__")


def place_among_numbers(a: Any, x: Any, lo: int, hi: int, is_left: bool) -> int | None:
    """The place of `x` in a sequence, between `lo` and `hi`; None if something is compared on the way that is
    no number, or the sequence hands out its elements in Python."""
    if type(a) not in _SEQUENCES or type(x) not in _NUMBERS:
        return None
    while lo < hi:
        middle = (lo + hi) // 2
        value = a[middle]
        if type(value) not in _NUMBERS:
            return None
        if value < x if is_left else not x < value:
            lo = middle + 1
        else:
            hi = middle
    return lo


_SEQUENCES = frozenset({list, tuple, range})
_NUMBERS = frozenset({bool, int, float})


def _bisect_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None or hi == -1:  # as in C
        hi = len(a)
    if key is None:
        found = place_among_numbers(a, x, lo, hi, True)
        if found is not None:
            return found
    asks = asks_itself(x)
    while lo < hi:
        middle = (lo + hi) // 2
        value = a[middle] if key is None else key(a[middle])
        answer: Any = NotImplemented
        if asks and type(value) is type(x):
            answer = _load_special_(value, "__lt__")(x)
            asks = answer is not NotImplemented
        if answer is NotImplemented:
            answer = value < x
        if answer:
            lo = middle + 1
        else:
            hi = middle
    return lo


def _bisect_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None or hi == -1:  # as in C
        hi = len(a)
    if key is None:
        found = place_among_numbers(a, x, lo, hi, False)
        if found is not None:
            return found
    asks = asks_itself(x)
    while lo < hi:
        middle = (lo + hi) // 2
        value = a[middle] if key is None else key(a[middle])
        answer: Any = NotImplemented
        if asks and type(value) is type(x):
            answer = _load_special_(x, "__lt__")(value)
            asks = answer is not NotImplemented
        if answer is NotImplemented:
            answer = x < value
        if answer:
            hi = middle
        else:
            lo = middle + 1
    return lo


def _insort_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    place = _bisect_left(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(place, x)  # C code looks the method up when it knows the place


def _insort_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    place = _bisect_right(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(place, x)  # C code looks the method up when it knows the place


ROWS: list[Rule] = [
    Overlay(bisect.bisect_left, _bisect_left),
    Overlay(bisect.bisect_right, _bisect_right),
    Overlay(bisect.insort_left, _insort_left),
    Overlay(bisect.insort_right, _insort_right),
    ZeroRule(asks_itself, result=bool),
    ZeroRule(place_among_numbers),
]
