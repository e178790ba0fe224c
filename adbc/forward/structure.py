"""What is known of the form of tangents from the types of primals.

The tangent of a number is a number.  That of a tuple which has a number in it, or a tuple like that, is a
tuple with a tangent for each element: nobody has to look whether it is there.  That of an array that nobody
can see the memory of (`ValueArrayType`) is an array.  That of anything else may be None, the symbolic zero.
"""

from __future__ import annotations

from typing import Any

from adbc.tangents import NO_TANGENT
from adbc.types.lattice import (
    AbstractType,
    ComplexType,
    Exact,
    RealType,
    TupleType,
    ValueArrayType,
    has_cotangent,
    has_shadow,
    is_number,
)

__all__ = ["covers", "is_inactive", "is_proper_number", "is_solid", "zero_of"]


def is_inactive(type: AbstractType) -> bool:
    """Whether values of `type` have no tangent."""
    return not has_cotangent(type) and not has_shadow(type)


def is_proper_number(type: AbstractType) -> bool:
    """Whether all members are numbers that have a tangent: an int, which is a real number too, has none."""
    return isinstance(type, Exact | ComplexType) and is_number(type) and not is_inactive(type)


def is_solid(type: AbstractType) -> bool:
    """Whether tangents of `type` are tuples, with a tangent for each element."""
    return isinstance(type, TupleType) and any(is_proper_number(t) or is_solid(t) for t in type.elements)


def covers(known: AbstractType, wanted: AbstractType) -> bool:
    """Whether the tangent of a value of type `known` has the form that tangents of type `wanted` have."""
    if is_number(wanted):
        return is_number(known)
    if type(wanted) is ValueArrayType:
        return type(known) is ValueArrayType
    if not is_solid(wanted):
        return True
    if not is_solid(known) or len(known.elements) != len(wanted.elements):  # type: ignore[attr-defined]
        return False
    pairs = zip(known.elements, wanted.elements, strict=True)  # type: ignore[attr-defined]
    return all(_covers_element(a, b) for a, b in pairs)


def _covers_element(known: AbstractType, wanted: AbstractType) -> bool:
    if is_inactive(wanted) or isinstance(wanted, RealType):
        return True  # nobody asks, or whoever does knows that it may be none
    return is_proper_number(known) if is_proper_number(wanted) else covers(known, wanted)


def zero_of(type: AbstractType) -> Any:
    """The zero tangent of every value of `type`, or None if it depends on the value."""
    if is_inactive(type):
        return NO_TANGENT
    if is_proper_number(type):
        return 0.0
    if not is_solid(type):
        return None
    parts = tuple(map(zero_of, type.elements))  # type: ignore[attr-defined]
    return None if None in parts else parts
