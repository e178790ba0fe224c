"""Heaps of what compares in C: where an item goes is found first, and then everything is moved at once.

To find the place moves nothing, and has no derivative.  Where the comparisons could run Python code, or
raise, there is no place (`NOWHERE`), and the library's algorithm is followed step by step (`rules.heapq`).
The shadow of a heap is moved as the heap is, and both are moved back.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from types import NoneType
from typing import Any

from adbc.rules.list_halves import returned
from adbc.rules.sequences import check_constant, symbolic
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Primitive, Rule, ZeroRule
from adbc.tangents import NO_FDATA, fill_tangent, slot_rdata, slot_shadow, slot_tangent

__all__ = ["NOWHERE", "ROWS", "pop_place", "pop_to", "push_place", "push_to", "replace_place", "replace_to"]

NOWHERE = -1
_ATOMS = frozenset({float, int, bool, str, bytes, NoneType})
"""Classes that compare in C."""


def _less(x: Any, y: Any) -> bool | None:
    """``x < y``; None if that is not compared in C alone, or raises."""
    try:
        if type(x) is not tuple or type(y) is not tuple:
            return x < y if type(x) in _ATOMS and type(y) in _ATOMS else None
        if x and y and type(x[0]) is float and type(y[0]) is float and x[0] != y[0]:
            return x[0] < y[0]  # the commonest
        for a, b in zip(x, y):  # noqa: B905  # as tuples are compared
            if type(a) not in _ATOMS or type(b) not in _ATOMS:
                return None
            if a is not b and a != b:
                return a < b  # type: ignore[no-any-return]
        return len(x) < len(y)
    except TypeError:
        return None


def push_place(heap: Any, item: Any) -> int:
    """Where `item` is once `heapq.heappush` has put it into `heap`; `NOWHERE` if that cannot be said."""
    if type(heap) is not list:
        return NOWHERE
    at = len(heap)
    while at:
        above = (at - 1) >> 1
        is_less = _less(item, heap[above])
        if is_less is None:
            return NOWHERE
        if not is_less:
            break
        at = above
    return at


def pop_place(heap: Any) -> int:
    """Where the last item of `heap` is once `heapq.heappop` has taken the first one; `NOWHERE` if that cannot
    be said."""
    if type(heap) is not list or not heap:
        return NOWHERE
    return _sunk(heap, heap[-1], len(heap) - 1)


def replace_place(heap: Any, item: Any) -> int:
    """Where `item` is once `heapq.heapreplace` has put it into `heap`; `NOWHERE` if that cannot be said."""
    if type(heap) is not list or not heap:
        return NOWHERE
    return _sunk(heap, item, len(heap))


def _sunk(heap: list[Any], item: Any, end: int) -> int:
    """Where `item`, put in the place of the first one, is in the end among the first `end` items."""
    at, child = 0, 1
    while child < end:
        if child + 1 < end:
            left, right = heap[child], heap[child + 1]
            is_float = type(left) is float and type(right) is float
            is_less = left < right if is_float else _less(left, right)
            if is_less is None:
                return NOWHERE
            if not is_less:
                child += 1
        at = child
        child = 2 * at + 1
    while at:  # what is at `at` has gone up by one, and is what `item` is compared with on its way back
        is_less = _less(item, heap[at])
        if is_less is None:
            return NOWHERE
        if not is_less:
            break
        at = (at - 1) >> 1
    return at


def push_to(heap: Any, item: Any, place: int) -> None:
    """`heapq.heappush`, after which `item` is at `place`."""
    heapq.heappush(heap, item)


def pop_to(heap: Any, place: int) -> Any:
    """`heapq.heappop`, after which the last item is at `place`."""
    return heapq.heappop(heap)


def replace_to(heap: Any, item: Any, place: int) -> Any:
    """`heapq.heapreplace`, after which `item` is at `place`."""
    return heapq.heapreplace(heap, item)


# -- how items move -------------------------------------------------------------------------------------


def _rise(a: list[Any], t: Any, place: int) -> None:
    """Append `t`, and move it up to `place`."""
    at = len(a)
    a.append(t)
    while at > place:
        above = (at - 1) >> 1
        a[at] = a[above]
        at = above
    a[at] = t


def _rise_back(a: list[Any], place: int) -> Any:
    """Undo `_rise`; returns what was appended."""
    t = a[place]
    path = []
    at = len(a) - 1
    while at > place:
        path.append(at)
        at = (at - 1) >> 1
    for below in reversed(path):
        a[at] = a[below]
        at = below
    a.pop()
    return t


def _sink(a: list[Any], t: Any, place: int) -> Any:
    """Put `t` at `place`, below the first item, whose place is taken by those on the way; returns the first
    item."""
    first = a[0]
    path = []
    at = place
    while at:
        path.append(at)
        at = (at - 1) >> 1
    for below in reversed(path):
        a[at] = a[below]
        at = below
    a[place] = t
    return first


def _sink_back(a: list[Any], first: Any, place: int) -> Any:
    """Undo `_sink`, which returned `first`; returns what was put at `place`."""
    t = a[place]
    at = place
    while at:
        above = (at - 1) >> 1
        a[at] = a[above]
        at = above
    a[0] = first
    return t


def _pop(a: list[Any], place: int) -> Any:
    last = a.pop()
    return _sink(a, last, place) if a else last


def _pop_back(a: list[Any], first: Any, place: int) -> None:
    a.append(_sink_back(a, first, place) if a else first)


# -- rules ----------------------------------------------------------------------------------------------


def _push_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    heap, item, place = args
    check_constant(heap, dargs[0], dargs[1])
    push_to(*args)
    if dargs[0] is not None:
        _rise(dargs[0], fill_tangent(item, dargs[1]), place)
    return None, None


def _push_forwards(heap: Any, item: Any, place: int, f: Any, fitem: Any, fplace: Any) -> Any:
    check_constant(heap, f, fitem)
    heapq.heappush(heap, item)
    if f is not None:
        _rise(f, slot_tangent(item, fitem), place)
    return None, None, (heap, place, f, fitem)


def _push_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    heap, place, f, fitem = saved
    _rise_back(heap, place)
    t = None if f is None else _rise_back(f, place)
    return None, None if fitem is None else t if t.__class__ is float else slot_rdata(t), None


def _pop_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = pop_to(*args)
    return out, None if dargs[0] is None else symbolic(_pop(dargs[0], args[1]))


def _pop_forwards(heap: Any, place: int, f: Any, fplace: Any) -> tuple[Any, Any, Any]:
    out = heapq.heappop(heap)
    if f is None:
        return out, None, (heap, place, None, out, None)
    t = _pop(f, place)
    return out, NO_FDATA if t.__class__ is float else slot_shadow(t), (heap, place, f, out, t)


def _pop_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    heap, place, f, out, t = saved
    _pop_back(heap, out, place)
    if f is not None:
        _pop_back(f, returned(out, t, bout), place)
    return None, None


def _replace_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    heap, item, place = args
    check_constant(heap, dargs[0], dargs[1])
    out = replace_to(*args)
    if dargs[0] is None:
        return out, None
    return out, symbolic(_sink(dargs[0], fill_tangent(item, dargs[1]), place))


def _replace_forwards(heap: Any, item: Any, place: int, f: Any, fitem: Any, fplace: Any) -> Any:
    check_constant(heap, f, fitem)
    out = heapq.heapreplace(heap, item)
    if f is None:
        return out, None, (heap, place, None, fitem, out, None)
    t = _sink(f, slot_tangent(item, fitem), place)
    return out, NO_FDATA if t.__class__ is float else slot_shadow(t), (heap, place, f, fitem, out, t)


def _replace_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    heap, place, f, fitem, out, t = saved
    _sink_back(heap, out, place)
    given = None if f is None else _sink_back(f, returned(out, t, bout), place)
    return None, None if fitem is None else slot_rdata(given), None


def _row(function: Any, frule: Any, count: int, forwards: Any, backwards: Any, result: Any = None) -> Rule:
    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        out, fout, saved = forwards(*args, *fargs)
        return out, fout, lambda bout: backwards(saved, bout)

    halves = (Halves(count, forwards, backwards),)
    return Primitive(function, frule=frule, rrule=rrule, is_fitted=True, halves=halves, result=result)


ROWS: list[Rule] = [
    *(ZeroRule(function, result=int) for function in (push_place, pop_place, replace_place)),
    _row(push_to, _push_frule, 3, _push_forwards, _push_backwards, NoneType),
    _row(pop_to, _pop_frule, 2, _pop_forwards, _pop_backwards),
    _row(replace_to, _replace_frule, 3, _replace_forwards, _replace_backwards),
]
