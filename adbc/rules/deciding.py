"""Which arguments of a call with keywords decide what rule it has.

The rows of a function are chosen by the classes of arguments by position.  That is asked when a call is made
and when code is written for it, and has to have one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, NoneType

from adbc.flags import HEAP_TYPE

__all__ = ["how_many_decide"]


def how_many_decide(classes: Sequence[type | None], by_position: int) -> int:
    """How many of the `classes` of arguments decide which row a call has: those of the arguments by position,
    which stand first, or all if there may be arrays of a class of the user's (None: nobody knows) behind."""
    others = classes[by_position:]
    if _USUAL.issuperset(others):
        return by_position
    is_own = any(
        cls is None or (cls.__flags__ & HEAP_TYPE and hasattr(cls, "__array_finalize__")) for cls in others
    )
    return len(classes) if is_own else by_position


_USUAL = frozenset({bool, int, float, complex, str, tuple, list, dict, NoneType, FunctionType})
"""Classes that are no arrays, of most arguments that are given by keyword."""
