"""What computes derivatives has lines, and no columns.

Whoever looks at a frame of derived code can tell by that whether a value of the function is being computed,
or one that stands beside it: a warning of the one is the user's, a warning of the other nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Instruction, Position, Value
from adbc.passes.query import target

__all__ = ["set_apart"]

_TAKES_APART = frozenset({intrinsics._project_, intrinsics._unpack_})


def set_apart(graph: Graph, primal: Iterable[Value] = ()) -> None:
    """Take the columns from the positions of the instructions in `graph`, but for those that give the values
    `primal` of the function, some of them together with derivatives."""
    pending = list(primal)
    kept: set[Value] = set()
    while pending:
        value = pending.pop()
        if value not in kept and isinstance(value, Instruction):
            kept.add(value)
            if target(value) in _TAKES_APART:
                pending += value.operands[1:]
    known: dict[Position, Position] = {}
    for block in graph.blocks:
        for instruction in block.instructions:
            position = instruction.position
            if position is not None and position.column is not None and instruction not in kept:
                found = known.get(position)
                if found is None:
                    found = known[position] = Position(position.line, inlined=position.inlined)
                instruction.position = found
