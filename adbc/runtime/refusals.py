"""What can be lifted but not differentiated yet: found in the graph, and refused as the lifter would.

It refuses to know how a refusal is worded (`cpython.refusals` does).
"""

from __future__ import annotations

import types
from typing import Any

from adbc.cpython.refusals import refusal
from adbc.errors import LiftError
from adbc.ir import intrinsics
from adbc.ir.graph import Block, Const, Graph, Instruction, Position
from adbc.ir.traverse import reverse_postorder

__all__ = ["refused"]

_CONSTRUCTS: tuple[tuple[Any, str], ...] = (
    (intrinsics._load_special_, "with"),
    (intrinsics._check_eg_match_, "except*"),
    (intrinsics._match_class_, "match"),
    (intrinsics._match_keys_, "match"),
    (intrinsics._match_mapping_, "match"),
    (intrinsics._match_sequence_, "match"),
    (intrinsics._intrinsic_1_, "type parameters"),
    (intrinsics._intrinsic_2_, "type parameters"),
)


def refused(graph: Graph, code: types.CodeType) -> LiftError | None:
    """The error that says why the graph of `code`, in normal form, cannot be differentiated."""
    groups = any(_construct(i) == "except*" for i in graph.instructions())
    for block in reverse_postorder(graph):
        for instruction in block.instructions:
            construct = _construct(instruction)
            if construct is not None:
                return refusal(code, construct, _line(instruction.position))
        if block.handler is not None:
            return refusal(code, "except*" if groups else "try", _line(_end(block)))
    return None


def _construct(instruction: Instruction) -> str | None:
    callee = instruction.operands[0] if instruction.op == "call" else None
    if isinstance(callee, Const):
        for function, construct in _CONSTRUCTS:
            if callee.value is function:
                return construct
    return None


def _end(block: Block) -> Position | None:
    """Where the instruction stands that may raise into the handler of `block`."""
    return block.instructions[-1].position if block.instructions else block.terminator.position


def _line(position: Position | None) -> int | None:
    return None if position is None else position.line
