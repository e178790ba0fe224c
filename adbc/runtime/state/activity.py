"""Whether a value holds anything that a derivative could flow through, found out at run time.

Needed where a C function without a rule is met: it may be called if nothing active can reach it.
A shadow alone does not tell: a list of strings has one.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterator
from typing import Any

from adbc.tangents import NO_FDATA, NO_TANGENT, FData, MutableTangent, Tangent
from adbc.tangents.protocol import kind_of

__all__ = ["is_active", "is_opaque"]


def is_active(shadow: Any) -> bool:
    """Whether `shadow` (or a tangent) has any part that is or could hold a number with a derivative."""
    if shadow.__class__ is float or shadow is NO_FDATA:
        return True
    # A stack of what is being looked through, not a recursion: a linked list may be as long as it likes.
    pending: list[Iterator[Any]] = [iter((shadow,))]
    seen: set[int] = set()
    while pending:
        for part in pending[-1]:
            cls = part.__class__
            if part is None or part is NO_TANGENT:
                continue
            if part is NO_FDATA or cls is float or cls not in _COMPOSITE:
                return True
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
