"""What functions in C do with an iterable, said in Python.

A generator that is made for such a function can be written into the loop that stands here for it.  A function
that takes all elements before it does anything else needs no loop of its own: it is given a list of them.
What is written here are loops, for they are what is wanted.
"""

from __future__ import annotations

import builtins
import collections
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from adbc.ir import intrinsics

__all__ = ["CONSUMERS", "Consumer", "listed"]


class Consumer(NamedTuple):
    """How a function consumes an iterable.

    loops: by the number of arguments, a function that does the same; for other calls, all elements are taken
    before anything else is done.  position: which argument is the iterable.
    """

    loops: Mapping[int, Callable[..., Any]] = {}
    position: int = 0


def listed(iterable: Iterable[Any]) -> list[Any]:
    made: list[Any] = []
    for value in iterable:
        intrinsics._list_append_(made, value)
    return made


def _all(iterable: Iterable[Any]) -> bool:
    for value in iterable:  # noqa: SIM110
        if not value:
            return False
    return True


def _any(iterable: Iterable[Any]) -> bool:
    for value in iterable:  # noqa: SIM110
        if value:
            return True
    return False


def _sum(iterable: Iterable[Any]) -> Any:
    total: Any = 0
    for value in iterable:
        total = total + value
    return total


def _sum_onto(iterable: Iterable[Any], start: Any) -> Any:
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    if isinstance(start, bytes):
        raise TypeError("sum() can't sum bytes [use b''.join(seq) instead]")
    if isinstance(start, bytearray):
        raise TypeError("sum() can't sum bytearray [use b''.join(seq) instead]")
    for value in iterable:
        start = start + value
    return start


def _first(iterator: Iterable[Any]) -> Any:
    for value in iterator:
        return value
    raise StopIteration


def _first_or(iterator: Iterable[Any], default: Any) -> Any:
    for value in iterator:
        return value
    return default


def _set(iterable: Iterable[Any]) -> set[Any]:
    made: set[Any] = set()
    for value in iterable:
        intrinsics._set_add_(made, value)
    return made


def _tuple(iterable: Iterable[Any]) -> tuple[Any, ...]:
    made: list[Any] = []
    for value in iterable:
        intrinsics._list_append_(made, value)
    return intrinsics._list_to_tuple_(made)


_SUMS: dict[int, Callable[..., Any]] = {1: _sum, 2: _sum_onto} if sys.version_info < (3, 12) else {}
"""From 3.12 on, what sums of floats lose is added to the result."""

CONSUMERS: dict[Callable[..., Any], Consumer] = {
    builtins.all: Consumer({1: _all}),
    builtins.any: Consumer({1: _any}),
    builtins.list: Consumer({1: listed}),
    builtins.next: Consumer({1: _first, 2: _first_or}),
    builtins.set: Consumer({1: _set}),
    builtins.sum: Consumer(_SUMS),
    builtins.tuple: Consumer({1: _tuple}),
    **dict.fromkeys((frozenset, dict, sorted, max, min, math.fsum, math.prod, collections.deque), Consumer()),
    **dict.fromkeys((intrinsics._unpack_, intrinsics._unpack_ex_), Consumer()),
    **dict.fromkeys(
        (intrinsics._list_extend_, intrinsics._set_update_, intrinsics._dict_update_), Consumer(position=1)
    ),
}
"""The functions whose iterable may be written into a loop."""
