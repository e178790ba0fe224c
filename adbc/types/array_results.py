"""The types of results as rules declare them: by a word for those of functions of NumPy, by classes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from adbc.types.lattice import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
    class_of,
    has_shadow,
    is_float64,
    is_numpy_number,
    is_real,
    join_all,
)

__all__ = ["array_element", "row_result"]


def array_element(array: ArrayType) -> AbstractType:
    """The type of one element of `array`."""
    # The names of some of these have their width behind them.
    if array.dtype.startswith(("object", "void", "record", "str", "bytes")):
        return ANY
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    return Exact(numpy.dtype(array.dtype).type)


def elementwise(types_: Sequence[AbstractType]) -> AbstractType:
    """The type of the result of a floating-point elementwise operation with broadcasting, or `ANY`.

    Python numbers are weak (NEP 50); arrays and NumPy scalars must agree on their dtype.
    """
    dtypes: set[str] = set()
    ndim: int | None = 0
    array_class: type | None = None
    scalar_class: type | None = None
    for type in types_:
        if is_real(type):
            continue
        if isinstance(type, ArrayType):
            array_class = type.cls
            dtypes.add(type.dtype)
            ndim = None if type.ndim is None or ndim is None else max(ndim, type.ndim)
        elif isinstance(type, Exact) and is_numpy_number(type.cls, "floating"):
            scalar_class = type.cls
            dtypes.add(type.cls.__name__)
        else:
            return ANY
    if len(dtypes) != 1:
        return ANY
    dtype = dtypes.pop()
    if not dtype.startswith("float"):
        return ANY
    if array_class is None:
        return Exact(scalar_class) if scalar_class is not None else ANY
    if not ndim:
        return ANY
    return ArrayType(dtype, ndim, array_class)


def matmul(types_: Sequence[AbstractType]) -> AbstractType:
    """The type of a matrix product of arrays of floats, or `ANY`."""
    if len(types_) != 2:
        return ANY
    a, b = types_
    if not (isinstance(a, ArrayType) and isinstance(b, ArrayType)):
        return ANY
    if a.dtype != b.dtype or not a.dtype.startswith("float") or not a.ndim or not b.ndim:
        return ANY
    if a.ndim == b.ndim == 1:
        return array_element(a)
    ndim = b.ndim - 1 if a.ndim == 1 else a.ndim - 1 if b.ndim == 1 else max(a.ndim, b.ndim)
    return ArrayType(a.dtype, ndim, a.cls)


def whole(types_: Sequence[AbstractType]) -> AbstractType:
    """The type of a reduction of all of an array of floats to a number, or `ANY`."""
    if len(types_) != 1 or not isinstance(types_[0], ArrayType) or not types_[0].dtype.startswith("float"):
        return ANY
    return array_element(types_[0])


def transposed(types_: Sequence[AbstractType]) -> AbstractType:
    """The type of an array with its axes in another order, or `ANY`."""
    return types_[0] if len(types_) == 1 and type(types_[0]) is ArrayType else ANY


def sum_of_numbers(types_: Sequence[AbstractType]) -> AbstractType:
    """The type of a sum or product of real numbers, if one of them decides it."""
    if all(t in (INT, BOOL) for t in types_):
        return INT
    if not all(is_real(t) or is_float64(t) for t in types_):
        return ANY
    return next((t for t in types_ if is_float64(t)), FLOAT if FLOAT in types_ else ANY)


def one_of_numbers(types_: Sequence[AbstractType]) -> AbstractType:
    """The type of a number that is chosen by an index, the first of the arguments."""
    return join_all(types_[1:])


def ranks(types_: Sequence[AbstractType]) -> AbstractType:
    """The type of the indices of all arguments in some order."""
    return TupleType((INT,) * len(types_))


ARRAY_RESULTS = {
    "elementwise": elementwise, "matmul": matmul, "transposed": transposed, "whole": whole,
    "sum": sum_of_numbers, "element": one_of_numbers, "ranks": ranks,
}  # fmt: skip
"""By the word that the rule of an array function has for it, what tells the type of the result."""


def row_result(row: Any, types_: Sequence[AbstractType]) -> AbstractType:
    """The type of a result as its rule declares it."""
    if row.stops and len(types_) == 1 and not has_shadow(types_[0]):
        return types_[0]
    result = row.result
    if result is None:
        return ANY
    if isinstance(result, str):
        return ARRAY_RESULTS[result](types_)
    if isinstance(result, type):
        return Exact(result)
    classes = [class_of(t) for t in types_]
    if None in classes:
        return ANY
    answer = result(*classes)
    return Exact(answer) if isinstance(answer, type) else ANY
