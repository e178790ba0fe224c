"""Calls of functions in C with a number of arguments that they do not take are left to raise.

before::                                     after::

    %1 = call operator.add(%x)                   %t = call _new_(tuple, %x)
                                                 %1 = call _apply_(operator.add, %t)

What comes behind knows functions by what they are, and takes their arguments for granted.  So a call that
does not fit becomes one of which nothing is known before it is made.  Needs targets that are constants;
leaves calls that fit.
"""

from __future__ import annotations

from adbc.cpython.arity import is_misfit
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _apply_, _new_
from adbc.ir.values import Const
from adbc.passes.normal.spread_sequences import put_in
from adbc.passes.query import NOTHING, target

__all__ = ["misfits"]


def misfits(graph: Graph) -> Graph:
    for call in list(graph.instructions()):
        function = target(call)
        if function is NOTHING or call.keywords or not is_misfit(function, len(call.operands) - 1):
            continue
        given = put_in(call, [Const(_new_), Const(tuple), *call.operands[1:]])
        call.operands = [Const(_apply_), Const(function), given]
    return graph
