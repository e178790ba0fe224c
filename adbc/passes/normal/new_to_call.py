"""Allocations become calls of `_new_`.

before::

    %1 = build_list %x, 2.0
    %2 = make_function <code g> None None None %cells

after::

    %1 = call _new_(list, %x, 2.0)
    %2 = call _new_(FunctionType, <code g>, None, None, None, %cells)

Needs nothing; leaves no raw operation whose row in `ir.ops` has a `kind`.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.ops import OPS, call_form

__all__ = ["new_to_call"]


def new_to_call(graph: Graph) -> Graph:
    for instruction in graph.instructions():
        if OPS[instruction.op].kind is not None:
            instruction.operands = call_form(instruction)
            instruction.op = "call"
    return graph
