"""Whether a value holds anything that a derivative could flow through, found out at run time.

Needed where a C function without a rule is met: it may be called if nothing active can reach it.
A shadow alone does not tell: a list of strings has one.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from adbc.tangents import NO_FDATA, NO_TANGENT, FData, MutableTangent, Tangent
from adbc.tangents.protocol import kind_of

__all__ = ["is_active", "is_opaque"]


def is_active(shadow: Any) -> bool:
    """Whether `shadow` (or a tangent) has any part that is or could hold a number with a derivative."""
    return _is_active(shadow, set())


def _is_active(shadow: Any, seen: set[int]) -> bool:
    cls = shadow.__class__
    if shadow is None or shadow is NO_TANGENT:
        return False
    if shadow is NO_FDATA or cls is float or cls is complex:
        return True
    if cls not in (tuple, list, dict, MutableTangent, Tangent, FData):
        return True
    if id(shadow) in seen:
        return False
    seen.add(id(shadow))
    if cls is dict:
        parts = shadow.values()
    elif cls in (tuple, list):
        parts = shadow
    else:
        parts = shadow.__dict__.values()
    return any(_is_active(part, seen) for part in parts)


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
