"""Arrays that are treated like numbers.

An array in general is memory: it has a shadow from the moment it is made, zeros at first, in which its
cotangent grows.  But most arrays are computed, used in the next formula and forgotten.  If one is the
result of a function that is differentiated by formulas, so that it is new, and is used by nothing but
functions that only read it, then nobody can see its memory.  Its cotangent needs no shadow: it is a value
of the pullback, which begins with the first contribution, as that of a float does.  For such arrays the
reverse of the function is written inline.

A view of such an array (a transpose, a reshape) is another one, if it is used in no other way: nobody can
tell it from a copy.  So is an array of numbers that nothing active goes into (``np.eye(n)``), which needs no
shadow for the active values that might be written into it.

Found here are these arrays; they get the type `ValueArrayType`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.ir.graph import Const, Graph, Instruction, Value
from adbc.types.callsites import DTYPE_CODES, Knowledge, formula_call, is_inline_number
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import ArrayType, ValueArrayType

__all__ = ["find_value_arrays"]


def find_value_arrays(graph: Graph, knowledge: Knowledge) -> None:
    """Write `ValueArrayType` into the typed `graph` where it is right."""
    rows = {call: _row(call, knowledge) for call in graph.instructions() if call.op == "call"}
    formulas = {
        call: formula_call(row, [type_of(v) for v in call_parts(call)[1]], call.keywords, type_of(call))
        for call, row in rows.items()
        if row is not None
    }
    candidates: dict[Value, ArrayType] = {}
    for call, row in rows.items():
        known = type_of(call)
        if (
            row is not None
            and (formulas[call] is not None or row.kind == "zero")
            and type(known) is ArrayType
            and known.dtype in DTYPE_CODES
            and call.block is not None
            and call.block.handler is None
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
            for value in _not_just_read(call, rows.get(call), formulas.get(call)):
                candidates.pop(value, None)
    _drop_more(rows, formulas, candidates)
    for value, known in candidates.items():
        value.type = ValueArrayType(known.dtype, known.ndim, known.cls)


def _drop_more(
    rows: dict[Instruction, Any], formulas: dict[Instruction, Any], candidates: dict[Value, ArrayType]
) -> None:
    """Of an array and its view both are like numbers, or none is; and what is not computed by formulas after
    all is computed by a rule, which may want shadows of its arguments."""
    arguments = {call: call_parts(call)[1] for call, found in formulas.items() if found is not None}
    size = -1
    while size != len(candidates):
        size = len(candidates)
        for call, values in arguments.items():
            found = formulas[call]
            if call not in candidates and not is_inline_number(type_of(call)):
                for i in found.arrays:
                    if found.window or i >= rows[call].takes_values:
                        candidates.pop(values[i], None)
            elif found.window and values[found.arrays[0]] not in candidates:
                candidates.pop(call, None)


def _not_just_read(call: Instruction, row: Any, found: Any) -> Sequence[Value]:
    """The arguments of `call` that it may keep, hand on, or change."""
    if row is None or call.block is None or call.block.handler is not None:
        return call.operands
    arguments = call_parts(call)[1]
    if getattr(row, "mutates", False):
        return [arguments[0], *arguments[row.takes_values :]]  # what is overwritten is memory
    if row.kind == "zero":
        return []
    if found is not None:
        if found.parts and not _is_at_home(call, arguments[found.arrays[0]]):
            return arguments
        return [v for i, v in enumerate(arguments) if i not in found.arrays]
    return arguments if call.keywords else arguments[row.takes_values :]


def _is_at_home(call: Instruction, array: Value) -> bool:
    """Whether `array` is computed just before `call`, not outside of a loop that this is in."""
    return isinstance(array, Instruction) and array.block is call.block


def _row(call: Instruction, knowledge: Knowledge) -> Any:
    """The rule by which `call` is differentiated, if the types decide it."""
    callee, arguments = call_parts(call)
    if not isinstance(callee, Const):
        return None
    try:
        hash(callee.value)
    except TypeError:
        return None
    return knowledge.row(callee.value, [type_of(a) for a in arguments])
