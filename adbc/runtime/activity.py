"""Whether a value holds anything that a derivative could flow through, found out at run time.

Needed where a C function without a rule is met: it may be called if nothing active can reach it.
A shadow alone does not tell: a list of strings has one.
"""

from __future__ import annotations

from typing import Any

from adbc.tangents import NO_FDATA, NO_TANGENT, FData, MutableTangent, Tangent

__all__ = ["is_active"]


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
