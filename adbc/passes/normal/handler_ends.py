"""What follows the handling of an exception begins a block.

before::

    b:
        %1 = call _pop_except_(%state)
        %2 = call f(%x)
        ...

after::

    b:
        %1 = call _pop_except_(%state)
        jump b.on
    b.on:
        %2 = call f(%x)
        ...

In a block in which an exception is being handled nothing can be guessed, because the interpreter knows of
that; behind its end it can.  For graphs in normal form.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _pop_except_
from adbc.ir.terminators import Jump
from adbc.passes.query import target

__all__ = ["handler_ends"]


def handler_ends(graph: Graph) -> Graph:
    """Cut blocks behind the last end of the handling of an exception, in place."""
    for block in list(graph.blocks):
        if block.handler is not None:
            continue
        ends = [at for at, call in enumerate(block.instructions, 1) if target(call) is _pop_except_]
        if ends and ends[-1] < len(block.instructions):
            behind = graph.cut(block, ends[-1], f"{block.label}.on")
            block.terminator = Jump(behind, block.terminator.position)
    return graph
