"""A sum with a zero that the builder put there is the other operand.

before::

    %1 = call operator.add(0.0, %d)

after: ``%d`` wherever ``%1`` was.

Only for cotangents: a pullback starts its sums from zero and never observes the sign of a zero, so
``0.0 + d`` may be ``d`` there.  In primal code it may not (``0.0 + -0.0`` is ``0.0``).
"""

from __future__ import annotations

import operator

from adbc.ir.graph import Const, Graph, Value

__all__ = ["fold_zero"]


def fold_zero(graph: Graph) -> Graph:
    """Remove additions of the constant 0.0, in place."""
    replacements: dict[Value, Value] = {}
    for block in graph.blocks:
        kept = []
        for instruction in block.instructions:
            operands = instruction.operands
            if instruction.op == "call" and isinstance(operands[0], Const) and operands[0].value is operator.add:
                _, a, b = operands
                if _is_zero(a) or _is_zero(b):
                    replacements[instruction] = b if _is_zero(a) else a
                    continue
            kept.append(instruction)
        block.instructions = kept
    graph.replace_uses(replacements)
    return graph


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is float and value.value == 0.0
