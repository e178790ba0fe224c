"""Which memory of arrays is inactive: nothing that depends on the input has been written there so far.

The type of an array says that it could hold values with a derivative, not that it does.  In reverse mode the
numbers in a shadow say nothing of that before the pullback runs, so it is marked: the shadow of memory that
a constant brings is inactive, until an active value is written into the array or into a view of it.  What is
not marked counts as active.  Whatever writes active values says so here, in the same places in which it asks
whether the array is constant.

Nothing here knows NumPy: a shadow that lies in memory of another has it as its ``base``.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Container, Iterator
from typing import Any

from adbc.tangents.duals import (
    ArrayTangent,
    DequeTangent,
    DictTangent,
    FData,
    ListTangent,
    MutableTangent,
    Tangent,
)
from adbc.tangents.nothing import NO_TANGENT

__all__ = [
    "INACTIVE", "activate", "any_part", "carry", "is_inactive", "mark_active", "mark_inactive", "mark_new",
]  # fmt: skip

INACTIVE: dict[int, Any] = {}
"""By the address of an array that owns the memory of shadows, a weak reference to it, if it is inactive."""


def _owner(shadow: Any) -> Any:
    """The array that owns the memory of `shadow`; None if it is no array that does."""
    while True:
        base = shadow.base
        if base is None:
            return shadow
        if not hasattr(base, "base"):
            return None
        shadow = base


def mark_inactive(shadow: Any) -> None:
    """The memory of `shadow` is inactive, if that is an array, which was just made for one of numbers."""
    owner = _owner(shadow) if hasattr(shadow, "base") else None
    if owner is not None and not owner.dtype.hasobject:
        key = id(owner)
        INACTIVE[key] = weakref.ref(owner, lambda _: INACTIVE.pop(key, None))


def mark_active(shadow: Any) -> None:
    """Active values are about to be written where `shadow`, an array or None, belongs."""
    if INACTIVE and hasattr(shadow, "base"):
        owner = _owner(shadow)
        if owner is not None:
            INACTIVE.pop(id(owner), None)


def carry(shadow: Any, given: Any) -> None:
    """Values with the shadow `given` are about to be written where `shadow` belongs; None is that of
    constants."""
    if given is not None:
        mark_active(shadow)


def is_inactive(shadow: Any) -> bool:
    """Whether nothing active is in the memory of `shadow`, an array."""
    if not INACTIVE:
        return False
    owner = _owner(shadow) if hasattr(shadow, "base") else None
    found = None if owner is None else INACTIVE.get(id(owner))
    return found is not None and found() is owner


def mark_new(memo: dict[Any, tuple[Any, Any]], before: int) -> None:
    """Mark the memory inactive for which entries have been made in `memo` since it had `before` of them."""
    for key, (_, region) in reversed(memo.items()):
        if len(memo) <= before:
            return
        before += 1
        twin = getattr(region, "twin", None) if type(key) is tuple else None
        if twin is not None and hasattr(twin, "dtype"):
            mark_inactive(twin)


def activate(shadow: Any) -> None:
    """Let all memory of arrays in `shadow` count as active."""

    def mark(part: Any) -> bool:
        mark_active(part)
        return False

    any_part(shadow, mark)


def any_part(shadow: Any, says: Callable[[Any], bool], without: Container[int] = ()) -> bool:
    """Whether `says` is true of a part of `shadow` that is not made of others, and not behind one of the
    addresses `without`."""
    # A stack of what is being looked through, not a recursion: a linked list may be as long as it likes.
    pending: list[Iterator[Any]] = [iter((shadow,))]
    seen: set[int] = set()
    while pending:
        for part in pending[-1]:
            cls = part.__class__
            if part is None or part is NO_TANGENT:
                continue
            if cls not in _COMPOSITE:
                if getattr(getattr(part, "dtype", None), "kind", "") == "O":
                    pending.append(iter(part.ravel("K").tolist()))
                    break
                if says(part):
                    return True
                continue
            if id(part) in seen or id(part) in without:
                continue
            seen.add(id(part))
            if cls is tuple or cls is list or cls is deque:
                pending.append(iter(part))
            elif cls is ArrayTangent:
                pending.append(iter((part.array, *part.__dict__.values())))
            elif cls in _WITH_ELEMENTS:
                elements = part.values() if cls is DictTangent else part
                pending.append(iter((*elements, *part.__dict__.values())))
            else:
                pending.append(iter((part if cls is dict else part.__dict__).values()))
            break
        else:
            pending.pop()
    return False


_WITH_ELEMENTS: frozenset[type] = frozenset([ListTangent, DictTangent, DequeTangent])
_COMPOSITE: frozenset[type] = _WITH_ELEMENTS.union(
    [tuple, list, dict, deque, ArrayTangent, MutableTangent, Tangent, FData]
)
