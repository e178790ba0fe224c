"""The heaps of `heapq`, in Python so that what is moved about keeps its derivative.

The algorithm is that of the library, comparison by comparison, so that the list is the same after
every call, and where a comparison raises.  Only ``<`` is asked, and a comparison has no derivative: which
element comes first decides which branch is differentiated.  Items that compare in C are moved at once
(`rules.heap_halves`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from adbc.rules import heap_halves
from adbc.rules.heap_halves import pop_place, pop_to, push_place, push_to, replace_place, replace_to
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]


def _rise(heap: list[Any], start: int, at: int) -> None:
    """Move the item at `at` towards `start` until its parent is not greater."""
    item = heap[at]
    while at > start:
        above = (at - 1) >> 1
        parent = heap[above]
        if not item < parent:
            break
        heap[at] = parent
        heap[above] = item
        at = above


def _sink(heap: list[Any], at: int) -> None:
    """Move the item at `at` down to a leaf, past the smaller children, and up again to its place."""
    end, start = len(heap), at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[at] = heap[child]
        heap[child] = item
        at = child
        child = 2 * at + 1
    _rise(heap, start, at)


def _heappush(heap: list[Any], item: Any, /) -> None:
    place = push_place(heap, item)
    if place >= 0:
        push_to(heap, item, place)
    else:
        heap.append(item)
        _rise(heap, 0, len(heap) - 1)


def _heappop(heap: list[Any], /) -> Any:
    place = pop_place(heap)
    if place >= 0:
        return pop_to(heap, place)
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return first


def _heapreplace(heap: list[Any], item: Any, /) -> Any:
    place = replace_place(heap, item)
    if place >= 0:
        return replace_to(heap, item, place)
    if not heap:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return first


def _heappushpop(heap: list[Any], item: Any, /) -> Any:
    return _heapreplace(heap, item) if heap and heap[0] < item else item


def _heapify(heap: list[Any], /) -> None:
    for at in reversed(range(len(heap) // 2)):
        _sink(heap, at)


# What keeps the largest in front: `heapq.nsmallest` has these.


def _rise_max(heap: list[Any], start: int, at: int) -> None:
    item = heap[at]
    while at > start:
        above = (at - 1) >> 1
        parent = heap[above]
        if not parent < item:
            break
        heap[at] = parent
        heap[above] = item
        at = above


def _sink_max(heap: list[Any], at: int) -> None:
    end, start = len(heap), at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        if child + 1 < end and not heap[child + 1] < heap[child]:
            child += 1
        heap[at] = heap[child]
        heap[child] = item
        at = child
        child = 2 * at + 1
    _rise_max(heap, start, at)


def _heapify_max(heap: list[Any], /) -> None:
    for at in reversed(range(len(heap) // 2)):
        _sink_max(heap, at)


def _heapreplace_max(heap: list[Any], item: Any, /) -> Any:
    if not heap:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _sink_max(heap, 0)
    return first


def _heappop_max(heap: list[Any], /) -> Any:
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _sink_max(heap, 0)
    return first


def _heappush_max(heap: list[Any], item: Any, /) -> None:
    heap.append(item)
    _rise_max(heap, 0, len(heap) - 1)


def _heappushpop_max(heap: list[Any], item: Any, /) -> Any:
    if heap and item < heap[0]:
        item, heap[0] = heap[0], item
        _sink_max(heap, 0)
    return item


_OF_LARGEST: dict[str, Callable[..., Any]] = {
    "heapify_max": _heapify_max, "heapreplace_max": _heapreplace_max, "heappop_max": _heappop_max,
    "heappush_max": _heappush_max, "heappushpop_max": _heappushpop_max,
}  # fmt: skip


def _is_list(cls: type, *rest: type) -> bool:
    return issubclass(cls, list)


ROWS: list[Rule] = [
    *heap_halves.ROWS,
    Overlay(heapq.heappush, _heappush, when=_is_list),
    Overlay(heapq.heappop, _heappop, when=_is_list),
    Overlay(heapq.heapreplace, _heapreplace, when=_is_list),
    Overlay(heapq.heappushpop, _heappushpop, when=_is_list),
    Overlay(heapq.heapify, _heapify, when=_is_list),
    *(
        Overlay(getattr(heapq, prefix + name), body, when=_is_list)
        for name, body in _OF_LARGEST.items()
        for prefix in ("_", "")  # public from 3.14 on
        if hasattr(heapq, prefix + name)
    ),
]
