"""What the types of values say of their shadows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.values import Value
from adbc.types.inference import type_of
from adbc.types.lattice import (
    ANY,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
    class_of,
    has_cotangent,
    has_shadow,
)

__all__ = ["constant_shadow", "may_be_arrays", "meets_numpy"]


def constant_shadow(type: AbstractType, no_fdata: object) -> Any:
    """The shadow of an active value whose type has no memory: `no_fdata`, or a tuple of such."""
    if isinstance(type, TupleType):
        return tuple(constant_shadow(t, no_fdata) for t in type.elements)
    return no_fdata if has_cotangent(type) else None


def may_be_arrays(known: AbstractType) -> bool:
    """Whether values of this type may be arrays with shadows, or tuples of such."""
    if isinstance(known, TupleType):
        return any(map(may_be_arrays, known.elements))
    if known == ANY or type(known) is ArrayType:
        return True
    return has_shadow(known) and hasattr(class_of(known), "__array_interface__")


def _values(graph: Graph) -> Iterator[Value]:
    yield from graph.arguments
    for block in graph.blocks:
        yield from block.phis
        yield from block.instructions


def meets_numpy(graph: Graph) -> bool:
    """Whether a value of `graph` may be a number of NumPy, so that sums of floats need not be floats."""
    return any(map(_is_numpy, _values(graph)))


def _is_numpy(value: Value) -> bool:
    type = type_of(value)
    return isinstance(type, ArrayType) or (isinstance(type, Exact) and type.cls.__module__ == "numpy")
