"""``u[i] op= v`` on an array writes into `u` once, not twice.

before::

    %1: Array = call operator.getitem(%u, %i)
    %2: ndarray = call operator.iadd(%1, %v)
    %3: None = call operator.setitem(%u, %i, %2)

after::

    %1: Array = call operator.getitem(%u, %i)
    %2: ndarray = call operator.iadd(%1, %v)

With basic indices `%1` is a view of `%u`, the operator changes it in place and returns it, and what Python
then does is to copy the elements onto themselves.  Needs types.
"""

from __future__ import annotations

import operator

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target
from adbc.types.inference import array_getitem, type_of
from adbc.types.lattice import ArrayType

__all__ = ["drop_self_writes"]

_INPLACE = frozenset(
    map(
        id,
        (
            operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod,
            operator.ipow,
        ),
    )
)  # fmt: skip


def drop_self_writes(graph: Graph) -> None:
    """Drop the writes of arrays into the places that they were read from; in place."""
    for block in graph.blocks:
        if block.handler is not None:
            continue
        block.instructions = [i for i in block.instructions if not _is_self_write(i)]


def _is_self_write(write: Instruction) -> bool:
    if target(write) is not operator.setitem or write.keywords:
        return False
    _, container, index, value = write.operands
    if not isinstance(value, Instruction) or value.op != "call" or len(value.operands) != 3:
        return False
    function, view, _ = value.operands
    if not isinstance(function, Const) or id(function.value) not in _INPLACE:
        return False
    if not isinstance(view, Instruction) or target(view) is not operator.getitem or view.keywords:
        return False
    array = type_of(container)
    return (
        view.operands[1] is container
        and _is_same(view.operands[2], index)
        and type(array) is ArrayType
        and isinstance(array_getitem(array, type_of(index)), ArrayType)
        and array.dtype.startswith(("float", "complex"))
    )


def _is_same(a: Value, b: Value) -> bool:
    """Whether two indices are the same: one value, or slices and tuples that were made of the same (from 3.12
    the bounds of a slice are on the stack, and a slice is made of them twice)."""
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        return type(a.value) is type(b.value) and type(a.value) in _PLAIN and a.value == b.value
    if target(a) is not _new_ or target(b) is not _new_:
        return False
    assert isinstance(a, Instruction) and isinstance(b, Instruction)
    if a.keywords or b.keywords:
        return False
    kind, of_kind = a.operands[1], b.operands[1]
    if not (isinstance(kind, Const) and isinstance(of_kind, Const) and kind.value is of_kind.value):
        return False
    if kind.value is not slice and kind.value is not tuple:
        return False
    parts, others = a.operands[2:], b.operands[2:]
    return len(parts) == len(others) and all(map(_is_same, parts, others))


_PLAIN = (int, type(None), type(...))
