"""Whether a value holds anything that a derivative could flow through, found out at run time.

Needed where a C function without a rule is met: it may be called if nothing active can reach it.
A shadow alone does not tell: a list of strings has one.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adbc.tangents import NO_FDATA, NO_TANGENT, FData, MutableTangent, Tangent, internal
from adbc.tangents.activity_marks import is_inactive, mark_active, mark_inactive
from adbc.tangents.protocol import kind_of

__all__ = ["activate", "is_active", "is_nonzero", "is_opaque", "note_inactive"]


def is_active(shadow: Any) -> bool:
    """Whether `shadow` (or a tangent) has any part that is or could hold a number with a derivative.

    Memory of arrays into which nothing active has been written (`activity_marks`) holds none.
    """
    if shadow.__class__ is float or shadow is NO_FDATA:
        return True
    return _any_part(shadow, _may_have_derivative)


def is_nonzero(tangent: Any) -> bool:
    """Whether `tangent`, one of forward mode, has any part that is not zero.

    There it is known exactly what depends on the input in the direction that was asked for, and what has a
    tangent of zero is a constant.
    """
    return _any_part(tangent, _is_number_unlike_zero)


def activate(shadow: Any) -> None:
    """Let all memory of arrays in `shadow` count as active."""

    def mark(part: Any) -> bool:
        mark_active(part)
        return False

    _any_part(shadow, mark)


def note_inactive(shadow: Any, given: Sequence[Any]) -> None:
    """Mark the memory of `shadow` inactive, which a rule has made from values with the shadows `given`, if it
    consists of arrays and nothing active was given."""
    for f in given:
        if f is not None and not (f.__class__ in _ARRAYS and is_inactive(f)):
            return
    for part in shadow if shadow.__class__ is tuple else (shadow,):
        if part is not None and part.__class__ in _ARRAYS:
            mark_inactive(part)


def _may_have_derivative(part: Any) -> bool:
    return not (hasattr(part, "base") and hasattr(part, "dtype") and is_inactive(part))


def _is_number_unlike_zero(part: Any) -> bool:
    if part.__class__ is float or part.__class__ is complex:
        return bool(part != 0)
    return bool(part.any()) if getattr(getattr(part, "dtype", None), "kind", "") in ("f", "c") else True


def _any_part(shadow: Any, says: Callable[[Any], bool]) -> bool:
    """Whether `says` is true of a part of `shadow` that is not made of others."""
    # A stack of what is being looked through, not a recursion: a linked list may be as long as it likes.
    pending: list[Iterator[Any]] = [iter((shadow,))]
    seen: set[int] = set()
    while pending:
        for part in pending[-1]:
            cls = part.__class__
            if part is None or part is NO_TANGENT:
                continue
            if cls not in _COMPOSITE:
                if says(part):
                    return True
                continue
            if id(part) in seen:
                continue
            seen.add(id(part))
            if cls is tuple or cls is list:
                pending.append(iter(part))
            else:
                pending.append(iter((part if cls is dict else part.__dict__).values()))
            break
        else:
            pending.pop()
    return False


_ARRAYS: Any = internal.ARRAY_ACCUMULATE
"""The classes of arrays, known once the first was met."""
_COMPOSITE: frozenset[type] = frozenset([tuple, list, dict, MutableTangent, Tangent, FData])
_HIDES_NOTHING = (
    str, bytes, int, float, complex, types.NoneType, type, range, slice, types.ModuleType, bytearray,
    types.CodeType,
    types.NotImplementedType, types.EllipsisType, types.FunctionType, types.BuiltinFunctionType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.MemberDescriptorType,
    types.GetSetDescriptorType,
    weakref.ReferenceType,  # what it refers to is known by its address
)  # fmt: skip


def is_opaque(x: Any) -> bool:
    """Whether an object that was put into `x` could be reached through it unseen."""
    cls = type(x)
    return kind_of(cls).inactive and cls not in _HIDES_NOTHING and not hasattr(cls, "dtype")
