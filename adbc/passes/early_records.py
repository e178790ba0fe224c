"""Records are built as soon as their values are there.

before::

    %1 = call operator.mul(%x, %y)
    %2 = call operator.mul(%1, %1)
    %3 = call _new_(tuple, %x, %1, %tape)

after::

    %1 = call operator.mul(%x, %y)
    %3 = call _new_(tuple, %x, %1, %tape)
    %2 = call operator.mul(%1, %1)

Building a tuple has no effect, so it may move.  Values that only the record still needs end their
lives earlier, so the next value of a loop variable can be computed straight into its place.
"""

from __future__ import annotations

from adbc.ir.graph import Const, Graph, Instruction
from adbc.ir.intrinsics import _new_

__all__ = ["early_records"]


def early_records(graph: Graph) -> Graph:
    """Move the building of tuples up, in place."""
    for block in graph.blocks:
        order = block.instructions
        for record in [i for i in order if _is_record(i)]:
            at = order.index(record)
            needed = set(record.operands)
            to = at
            while to > 0 and order[to - 1] not in needed and not _is_record(order[to - 1]):
                to -= 1
            # A block of which nothing is needed may begin with a test that the emitter recognises by its
            # place (`_next_`, `_exhausted_`, branch): leave such blocks alone.
            if 0 < to < at:
                order.insert(to, order.pop(at))
    return graph


def _is_record(instruction: Instruction) -> bool:
    operands = instruction.operands
    return (
        instruction.op == "call"
        and len(operands) > 2
        and isinstance(operands[0], Const)
        and operands[0].value is _new_
        and isinstance(operands[1], Const)
        and operands[1].value is tuple
    )
