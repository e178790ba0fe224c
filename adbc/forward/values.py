"""Arrays whose memory nobody can see, which forward mode treats like numbers.

An array that is new where it is computed, and used by nothing but functions that only read it, may have a
tangent that shares memory with others, for nobody writes into it.  And if nothing active goes into it, it
needs none: no active value will ever be written there.  Such arrays get the type `ValueArrayType`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.values import Const, Instruction, Value
from adbc.types.array_calls import is_inline_number
from adbc.types.callsites import Knowledge, row_of
from adbc.types.effects import exposed
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import AbstractType, ArrayType, ValueArrayType, has_cotangent, has_shadow

__all__ = ["find_values", "tangent_call"]

_FLOATS = ("float64", "float32")


def tangent_call(row: Any, types_: Sequence[AbstractType], keywords: tuple[str, ...]) -> Any | None:
    """The formulas for the tangent of a call with an array among its arguments, or None.

    They are about real numbers and arrays of such; what they are given besides has no derivative.
    """
    if row is None or not any(isinstance(t, ArrayType) for t in types_):
        return None
    found = row.tangent_call(len(types_), keywords)
    if found is None or not all(_is_real(types_[i]) for i in found.arrays):
        return None
    others = [types_[i] for _, i in found.others]
    return None if any(has_shadow(t) or has_cotangent(t) for t in others) else found


def _is_real(type: AbstractType) -> bool:
    """Whether all members of `type` are real numbers or arrays of such."""
    if isinstance(type, ArrayType):
        return type.dtype in _FLOATS or type.dtype.startswith(("int", "uint", "bool"))
    return is_inline_number(type)


def find_values(graph: Graph, knowledge: Knowledge) -> None:
    """Write `ValueArrayType` into the typed `graph` where it is right."""
    rows = {call: row_of(call, knowledge) for call in graph.instructions() if call.op == "call"}
    formulas = {
        call: tangent_call(row, [type_of(v) for v in call_parts(call)[1]], call.keywords)
        for call, row in rows.items()
    }
    candidates: dict[Value, ArrayType] = {}
    for call, row in rows.items():
        known, block = type_of(call), call.block
        if row is None or block is None or block.handler is not None:
            continue
        is_zero = row.is_zero(len(call_parts(call)[1]), call.keywords)
        is_new = formulas[call] is not None or is_zero or _is_constant(call, row)
        if is_new and type(known) is ArrayType and known.dtype in _FLOATS:
            candidates[call] = known
    if not candidates:
        return
    seen: list[Value] = []
    for block in graph.blocks:
        for phi in block.phis:
            seen += phi.operands.values()
        seen += block.terminator.values
        for call in block.instructions:
            found = formulas.get(call)
            seen += exposed(call, rows.get(call), None if found is None else found.arrays)
    for value in seen:
        candidates.pop(value, None)
    for value, known in candidates.items():
        value.type = ValueArrayType(known.dtype, known.ndim, known.cls)


def _is_constant(call: Instruction, row: Any) -> bool:
    """Whether `call` is of a pure function and is given nothing that has a derivative."""
    arguments = call_parts(call)[1]
    if not row.is_pure(len(arguments), call.keywords):
        return False
    types_ = [type_of(v) for v in arguments if not isinstance(v, Const)]
    return not any(has_shadow(t) or has_cotangent(t) for t in types_)
