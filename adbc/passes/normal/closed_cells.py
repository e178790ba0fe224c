"""What the cells of a closure hold is written into a function.

before::

    %1 = call _freevar_(0)                           the cell ``__class__`` holds Moon
    %2 = call _cell_get_(%1, '__class__', True)
    %3 = call _foreigncall_(super, %2, %self)

after::

    %3 = call _foreigncall_(super, Moon, %self)

Needs calls.  That the cells hold these objects is for the caller to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _cell_get_, _freevar_
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, drop, target

__all__ = ["closed_cells"]


def closed_cells(graph: Graph, contents: Sequence[Any]) -> bool:
    """Replace what is read from the cells of the closure by `contents`, in place; False, and nothing is
    changed, if anything else is done to the cells."""
    cells: dict[Value, int] = {
        call: constant(call.operands[1]) for call in graph.instructions() if target(call) is _freevar_
    }
    reads: dict[Value, Value] = {}
    for block in graph.blocks:
        if any(cell in phi.operands.values() for phi in block.phis for cell in cells):
            return False
        if any(value in cells for value in block.terminator.values):
            return False
        for call in block.instructions:
            if not any(v in cells for v in call.operands):
                continue
            if target(call) is not _cell_get_:
                return False
            reads[call] = Const(contents[cells[call.operands[1]]])
    gone: set[Instruction] = {i for i in (*reads, *cells) if isinstance(i, Instruction)}
    left_handlers = drop(graph, gone)
    graph.replace_uses(reads)
    if left_handlers:
        remove_unreachable(graph)
    graph.free = ()
    return True
