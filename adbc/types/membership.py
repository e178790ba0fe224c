"""Whether a value has an abstract type: what inference, samples and declared results are compared with.

Nothing here runs while types are right: debug mode and the tests ask.
"""

from __future__ import annotations

from adbc.functions import is_function
from adbc.types.lattice import (
    AbstractType,
    ArrayType,
    ClosureType,
    ComplexType,
    ConstType,
    Exact,
    ListType,
    NeverType,
    RealType,
    TupleType,
)

__all__ = ["is_member"]


def is_member(value: object, type_: AbstractType) -> bool:
    """Whether `value` is a member of `type_`, as far as that can be seen; what an iterator gives cannot."""
    cls = type(value)
    match type_:
        case RealType() | ComplexType():
            return cls in type_.members or (cls is bool and int in type_.members)
        case ListType():
            return cls is list and all(is_member(x, type_.element) for x in value)  # type: ignore[attr-defined]  # a list
        case Exact():
            return cls is type_.cls
        case TupleType():
            if cls is not tuple or len(value) != len(type_.elements):  # type: ignore[arg-type]  # a tuple
                return False
            return all(map(is_member, value, type_.elements))  # type: ignore[call-overload]  # a tuple
        case ArrayType():
            return cls is type_.cls and _is_array_of(value, type_)
        case ConstType():
            return value is type_.value or (cls is type(type_.value) and bool(value == type_.value))
        case ClosureType():
            return is_function(value) and value.__code__ is type_.code
        case NeverType():
            return False
    return True


def _is_array_of(value: object, type_: ArrayType) -> bool:
    """Whether the array `value` has the dtype and the number of axes of `type_`."""
    dtype, ndim = value.dtype.name, value.ndim  # type: ignore[attr-defined]  # an array
    return bool(dtype == type_.dtype and type_.ndim in (None, ndim))
