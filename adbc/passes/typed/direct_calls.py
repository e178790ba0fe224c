"""Functions that first look at the class of an array are passed over for direct ones, where the class is
known.

    %2: float64 = call numpy.sum(%1)

becomes, `%1` being an array of NumPy's own class,

    %2: float64 = call quick_sum(%1)

The rule of the function says which other one gives the same (`rules.table.Rule.direct`).  A function that is
given the elements of sequences (`known_elements`) is again one of sequences, which are made where it is
called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.types.callsites import Knowledge, called, row_of
from adbc.types.inference import type_of
from adbc.types.lattice import LIST, ArrayType, TupleType

__all__ = ["direct_calls"]


def direct_calls(graph: Graph, knowledge: Knowledge) -> None:
    """Replace functions by their direct ones, in the typed `graph`, where the first argument is known to be
    an array or the elements of a sequence are given."""
    for call in [*graph.instructions()]:
        found = called(call) if len(call.operands) > 1 else None
        if found is None or not found.arguments:
            continue
        if isinstance(type_of(found.arguments[0]), ArrayType):
            row = row_of(call, knowledge)
            direct = None if row is None else row.direct(len(found.arguments), call.keywords)
            if direct is not None:
                call.operands = [Const(direct), *found.arguments]
        elif any(row.whole is not None for row in knowledge.rows(found.function)):
            row = row_of(call, knowledge)
            if row is not None and row.whole is not None:
                _gather(call, row, found.arguments)


def _gather(call: Instruction, row: Any, arguments: Sequence[Value]) -> None:
    """Let `call` make the sequences of the elements that it is given."""
    leading, elements = arguments[: row.leading], arguments[row.leading :]
    block, length = call.block, len(elements) // row.sequences
    assert block is not None
    made: list[Instruction] = []
    for k in range(row.sequences):
        part = elements[k * length : (k + 1) * length]
        sequence = Instruction("call", [Const(_new_), Const(row.cls), *part], position=call.position)
        sequence.type = LIST if row.cls is list else TupleType(tuple(map(type_of, part)))
        sequence.block = block
        made.append(sequence)
    at = block.instructions.index(call)
    block.instructions[at:at] = made
    call.operands = [Const(row.whole), *made, *leading]
