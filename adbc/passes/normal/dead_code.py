"""Calls whose result is unused are removed, if they have no effect and cannot raise.

before::

    %1 = call _new_(tuple, %a, %b)
    %2 = call operator.is_(%a, None)
    return %a

after::

    return %a

That an allocation has no effect is known for tuples, lists, slices, cells and functions, and for
empty sets and dicts (a key may be unhashable).  Needs calls; removes phis that become unused too.
"""

from __future__ import annotations

import types

from adbc.ir.builder import remove_dead_phis
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _cell_new_, _new_
from adbc.ir.ops import PURE
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Instruction, Phi
from adbc.passes.query import constant, drop, target, use_counts

__all__ = ["dead_code", "is_removable"]

_KINDS = (tuple, list, slice, types.FunctionType)


def dead_code(graph: Graph) -> Graph:
    while True:
        remove_dead_phis(graph)
        uses = use_counts(graph)
        waiting = [i for i in graph.instructions() if i not in uses and is_removable(i)]
        dead: set[Instruction] = set()
        while waiting:
            instruction = waiting.pop()
            dead.add(instruction)
            for operand in instruction.operands:
                if operand in uses:
                    uses[operand] -= 1
                    if not uses[operand] and isinstance(operand, Instruction) and is_removable(operand):
                        waiting.append(operand)
        if not dead:
            return graph
        if drop(graph, dead):
            remove_unreachable(graph)
        elif not any(isinstance(operand, Phi) for i in dead for operand in i.operands):
            return graph  # no phi lost a use, so nothing more is dead


def is_removable(instruction: Instruction) -> bool:
    """Whether nobody can tell that `instruction` was not done, its result being unused."""
    function = target(instruction)
    if isinstance(function, types.FunctionType | types.BuiltinFunctionType) and function in PURE:
        return True
    if function is _new_:
        kind = constant(instruction.operands[1])
        return any(kind is k for k in _KINDS) or (
            (kind is set or kind is dict) and len(instruction.operands) == 2
        )
    return function is _cell_new_
