"""Arrays that are treated like numbers.

An array in general is memory: it has a shadow from the moment it is made, zeros at first, in which its
cotangent grows.  But most arrays are computed, used in the next formula and forgotten.  If one is the
result of an elementwise function, so that it is new, and is used by nothing but functions that only read
it, then nobody can see its memory.  Its cotangent needs no shadow: it is a value of the pullback, which
begins with the first contribution, as that of a float does.  For such arrays the reverse of an elementwise
function is written inline.

Found here are these arrays; they get the type `ValueArrayType`.
"""

from __future__ import annotations

from typing import Any

from adbc.ir.graph import Const, Graph, Instruction, Value
from adbc.types.callsites import Knowledge, is_inline_number
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import ArrayType, ValueArrayType

__all__ = ["find_value_arrays"]


_FLOATS = ("float64", "float32")


def find_value_arrays(graph: Graph, knowledge: Knowledge) -> None:
    """Write `ValueArrayType` into the typed `graph` where it is right."""
    rows = {call: _row(call, knowledge) for call in graph.instructions() if call.op == "call"}
    candidates: dict[Value, ArrayType] = {}
    for call, row in rows.items():
        known = type_of(call)
        if (
            row is not None
            and row.formulas is not None
            and type(known) is ArrayType
            and known.dtype in _FLOATS
            and call.block is not None
            and call.block.handler is None
            and len(call_parts(call)[1]) == len(row.formulas)
            and all(_is_plain(v) for v in call_parts(call)[1])
        ):
            candidates[call] = known
    if not candidates:
        return
    for block in graph.blocks:
        for phi in block.phis:
            for value in phi.operands.values():
                candidates.pop(value, None)
        for value in block.terminator.values:
            candidates.pop(value, None)
        for call in block.instructions:
            row = rows.get(call)
            arguments = call.operands
            taken = 0
            if row is not None and block.handler is None:
                arguments = call_parts(call)[1]
                taken = len(arguments) if row.kind == "zero" else row.takes_values
            for value in arguments[taken:]:
                candidates.pop(value, None)
            if taken and getattr(row, "mutates", False):
                candidates.pop(arguments[0], None)  # what is overwritten is memory
    for value, known in candidates.items():
        value.type = ValueArrayType(known.dtype, known.ndim, known.cls)


def _row(call: Instruction, knowledge: Knowledge) -> Any:
    """The rule by which `call` is differentiated, if the types decide it and there are no keywords."""
    callee, arguments = call_parts(call)
    if call.keywords or not isinstance(callee, Const):
        return None
    try:
        hash(callee.value)
    except TypeError:
        return None
    return knowledge.row(callee.value, [type_of(a) for a in arguments])


def _is_plain(value: Value) -> bool:
    """Whether an argument is a real number or an array of such."""
    known = type_of(value)
    if isinstance(known, ArrayType):
        return known.dtype in _FLOATS or known.dtype.startswith(("int", "uint", "bool"))
    return is_inline_number(known)
