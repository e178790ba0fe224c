"""Operators, subscripts, attributes, iteration and truth become calls of the functions that say them.

before::

    %1 = mul %x, %y
    %2 = getattr %x 'shape'
    %3 = setattr %x, %1 'area'

after::

    %1 = call operator.mul(%x, %y)
    %2 = call _getattr_(%x, 'shape')
    %3 = call _setattr_(%x, 'area', %1)

The immediate of an operation becomes constant arguments, where its row in `ir.ops` says.  Needs
nothing; leaves `call`, `catch` and allocations.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.ops import OPS, call_form

__all__ = ["operators_to_call"]


def operators_to_call(graph: Graph) -> Graph:
    for instruction in graph.instructions():
        row = OPS[instruction.op]
        if row.function is not None and row.kind is None:
            instruction.operands = call_form(instruction)
            instruction.op = "call"
            instruction.attribute = None
    return graph
