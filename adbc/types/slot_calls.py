"""Calls that read or write one slot of an array, a list or a dict."""

from __future__ import annotations

from collections.abc import Sequence

from adbc.types.array_calls import is_array_of_numbers, is_inline_number
from adbc.types.inference import array_getitem
from adbc.types.lattice import (
    FLOAT,
    INT,
    AbstractType,
    ArrayType,
    Exact,
    RealType,
    TupleType,
    class_of,
    is_bare,
    is_float64,
    is_list,
    is_memory,
)

__all__ = ["is_container_slot", "is_flat", "is_slot"]


def is_slot(access: str, types_: Sequence[AbstractType]) -> bool:
    """Whether a read or write of a container concerns one slot that holds a real number of 64 bits."""
    container = types_[0]
    if access == "append" or not isinstance(container, ArrayType) or container.dtype != "float64":
        return False
    element = array_getitem(container, types_[1])
    if element is None or not is_inline_number(element):
        return False
    return access == "load" or is_inline_number(types_[2])


def is_container_slot(access: str, types_: Sequence[AbstractType]) -> bool:
    """Whether a read or write concerns one slot of a list or dict, and in a write a Python float; what is
    appended may be a number of NumPy's, an array, what has no derivative, or a tuple (`is_flat`), too."""
    if access == "append":
        value = types_[1] if len(types_) == 2 else None
        is_known = value is not None and (
            _is_double(value) or is_array_of_numbers(value) or is_bare(value) or is_flat(value)
        )
        return is_list(types_[0]) and is_known
    if access == "store":
        return is_list(types_[0]) and types_[1] == INT and types_[2] == FLOAT
    return (is_list(types_[0]) and types_[1] == INT) or types_[0] == _DICT


def is_flat(known: AbstractType) -> bool:
    """Whether values are tuples of floats, of objects and of what has no derivative, which may be such tuples
    again: the tangent of a new one has zeros, and the shadows of the objects."""
    return isinstance(known, TupleType) and all(
        part == FLOAT or is_bare(part) or is_memory(part) or is_flat(part) for part in known.elements
    )


def _is_double(known: AbstractType) -> bool:
    """Whether values are floats, Python's or NumPy's."""
    classes = known.members if isinstance(known, RealType) else (class_of(known),)
    return all(cls is float or (cls is not None and is_float64(Exact(cls))) for cls in classes)


_DICT = Exact(dict)
