"""The algebra of cotangents: sums with zero, and sums with a negated term.

before::

    %1 = call operator.add(0.0, %d)
    %2 = call operator.neg(%a)
    %3 = call operator.add(%2, %1)

after::

    %3 = call operator.sub(%d, %a)

Only for cotangents: a pullback starts its sums from zero and never observes the sign of a zero, so
``0.0 + d`` may be ``d`` there.  In primal code it may not (``0.0 + -0.0`` is ``0.0``), and there the
operands of a sum may be objects.  ``-a + d`` and ``d - a`` are the same float, rounding included.
"""

from __future__ import annotations

import operator

from adbc.ir.graph import Graph
from adbc.ir.values import Const, Value
from adbc.passes.query import target

__all__ = ["cotangent_sums"]


def cotangent_sums(graph: Graph) -> Graph:
    """Simplify the sums of a pullback, in place."""
    replacements: dict[Value, Value] = {}

    def final(value: Value) -> Value:
        while value in replacements:
            value = replacements[value]
        return value

    for block in graph.blocks:
        kept = []
        for instruction in block.instructions:
            if target(instruction) is operator.add:
                a, b = map(final, instruction.operands[1:])
                if _is_zero(a) or _is_zero(b):
                    replacements[instruction] = b if _is_zero(a) else a
                    continue
                for plus, minus in ((b, a), (a, b)):
                    if target(minus) is operator.neg:
                        instruction.operands = [Const(operator.sub), plus, final(minus.operands[1])]  # type: ignore[attr-defined]
                        break
            kept.append(instruction)
        block.instructions = kept
    graph.replace_uses(replacements)
    _drop_unused(graph)
    return graph


def _drop_unused(graph: Graph) -> None:
    """Remove unused negations: on cotangents they have no effect and cannot raise."""
    used: set[Value] = set()
    for block in graph.blocks:
        used.update(block.terminator.values)
        for phi in block.phis:
            used.update(phi.operands.values())
        for instruction in block.instructions:
            used.update(instruction.operands)
    for block in graph.blocks:
        block.instructions = [i for i in block.instructions if i in used or target(i) is not operator.neg]


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is float and value.value == 0.0
