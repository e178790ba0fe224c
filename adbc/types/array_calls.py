"""What is asked of calls with arrays: whether formulas differentiate them, whether they take a view, change
an array in place or give its elements in another shape."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from adbc.ir.values import Instruction
from adbc.types.inference import array_getitem
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    COMPLEX,
    INT,
    AbstractType,
    ArrayType,
    ComplexType,
    Exact,
    RealType,
    TupleType,
    has_cotangent,
    has_shadow,
    is_complex128,
    is_float64,
    is_numpy_number,
    is_real,
)

__all__ = [
    "DTYPE_CODES",
    "formula_call",
    "is_array_of_numbers",
    "is_complex",
    "is_inline_number",
    "is_item",
    "is_mask",
    "is_moved",
    "is_part_write",
    "is_update",
    "is_view",
    "kind_of_numbers",
]


def is_inline_number(type: AbstractType) -> bool:
    """Whether derivative code for values of this type may be written inline: real, 64 bit."""
    return isinstance(type, RealType) or is_real(type) or is_float64(type)


def kind_of_numbers(types_: Sequence[AbstractType]) -> Kind | None:
    """The kind of a call of a scalar rule in which arguments and result have these types."""
    if all(map(is_inline_number, types_)):
        return Kind.SCALAR
    is_known = all(
        is_inline_number(t) or isinstance(t, ComplexType) or t == COMPLEX or is_complex128(t) for t in types_
    )
    return Kind.COMPLEX if is_known else None


def formula_call(
    row: Any, types_: Sequence[AbstractType], keywords: tuple[str, ...], result: AbstractType
) -> Any | None:
    """The formulas by which a call with an array among its arguments is differentiated, or None.

    What formulas differentiate by are real numbers and arrays of such; what they are given besides has no
    derivative.
    """
    if not any(isinstance(t, ArrayType) for t in types_) and not row.makes_arrays:
        return None
    found = row.formula_call(len(types_), keywords, any(map(is_complex, types_)))
    if found is None or not all(_is_numeric(types_[i]) for i in found.arrays):
        return None
    if found.parts and not isinstance(result, ArrayType):
        return None  # a number is read from its place
    found = found.known([types_[i] for i in found.arrays])
    others = [types_[i] for _, i in found.others]
    if found.window and any(map(_holds_array, others)):
        found = dataclasses.replace(found, window=False)  # an array among the subscripts makes a copy
    return None if any(has_shadow(t) or has_cotangent(t) for t in others) else found


DTYPE_CODES = {"float64": "d", "float32": "f", "complex128": "D", "complex64": "F"}
"""The dtypes of arrays that are differentiated by formulas, each with its code."""


def _is_numeric(type: AbstractType) -> bool:
    """Whether all members are numbers or arrays of such."""
    if isinstance(type, ArrayType):
        return type.dtype in DTYPE_CODES or type.dtype.startswith(("int", "uint", "bool"))
    return is_inline_number(type) or is_complex(type) or _is_integer(type)


def is_complex(type: AbstractType) -> bool:
    """Whether members may be complex, being numbers or arrays of such."""
    if isinstance(type, ArrayType):
        return type.dtype.startswith("complex")
    if isinstance(type, ComplexType):
        return True
    return type == COMPLEX or (isinstance(type, Exact) and type.cls.__name__ in ("complex128", "complex64"))


def _is_integer(type: AbstractType) -> bool:
    return isinstance(type, Exact) and is_numpy_number(type.cls, "integer")


def _holds_array(type: AbstractType) -> bool:
    return isinstance(type, ArrayType) or (
        isinstance(type, TupleType) and any(map(_holds_array, type.elements))
    )


def is_view(types_: Sequence[AbstractType]) -> bool:
    """Whether a subscript takes a view of an array of real numbers, by ints and slices and nothing else."""
    array = types_[0]
    if not isinstance(array, ArrayType) or array.dtype not in ("float64", "float32"):
        return False
    return isinstance(array_getitem(array, types_[1]), ArrayType)


def is_moved(row: Any, types_: Sequence[AbstractType], keywords: tuple[str, ...]) -> bool:
    """Whether a call of a function with this row gives just the elements of an array in another shape."""
    if row.moves is None or keywords or not isinstance(types_[0], ArrayType):
        return False
    if row.moves == "transpose":
        return len(types_) == 1
    return all(
        t == INT or (isinstance(t, TupleType) and all(part == INT for part in t.elements)) for t in types_[1:]
    )


def is_update(types_: Sequence[AbstractType]) -> bool:
    """Whether an array of real numbers is changed in place by a number or an array of such."""
    array, value = types_
    if type(array) is not ArrayType or array.dtype not in ("float64", "float32"):
        return False
    return _is_numeric(value) and not is_complex(value)


def is_array_of_numbers(known: AbstractType) -> bool:
    """Whether values are arrays of numbers, whose shadow is an array."""
    return type(known) is ArrayType and known.dtype in DTYPE_CODES


def is_item(types_: Sequence[AbstractType]) -> bool:
    """Whether ``x.item(i)`` reads one element of an array of real numbers of 64 bits by its place."""
    array = types_[0]
    if len(types_) != 2 or type(array) is not ArrayType or array.dtype != "float64":
        return False
    if types_[1] == INT:
        return array.ndim == 1  # of an array of several dimensions it counts all elements
    index = types_[1].elements if isinstance(types_[1], TupleType) else ()
    return len(index) == array.ndim and all(known == INT for known in index)


def is_mask(array: AbstractType, index: AbstractType) -> bool:
    """Whether `index` is an array of bools, one for each element of `array`."""
    if not isinstance(index, ArrayType) or not isinstance(array, ArrayType):
        return False
    return index.dtype == "bool" and index.ndim is not None and index.ndim == array.ndim


def is_part_write(call: Instruction, types_: Sequence[AbstractType]) -> bool:
    """Whether `call` writes a number, or an array of no more axes, into a part of an array of real numbers
    that is taken by ints and slices, or by a mask; not where an exception is handled, which such a write may
    raise."""
    array, index, value = types_
    if type(array) is not ArrayType or call.block is None or call.block.handler is not None:
        return False
    if array.dtype not in ("float64", "float32"):
        return False
    part = ArrayType(array.dtype, 1, array.cls) if is_mask(array, index) else array_getitem(array, index)
    if not isinstance(part, ArrayType) or not _is_numeric(value) or is_complex(value):
        return False
    if not isinstance(value, ArrayType):
        return True
    return value.ndim is not None and part.ndim is not None and value.ndim <= part.ndim
