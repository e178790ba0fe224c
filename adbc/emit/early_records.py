"""Records are built as soon as their values are there.

before::

    %1 = call operator.mul(%x, %y)
    %2 = call operator.mul(%1, %1)
    %3 = call _new_(tuple, %x, %1, %tape)

after::

    %1 = call operator.mul(%x, %y)
    %3 = call _new_(tuple, %x, %1, %tape)
    %2 = call operator.mul(%1, %1)

Building a tuple has no effect, so it may move, and so may `_record_`: what reads the tape runs when the
graph has returned.  Values that only the record still needs end their
lives earlier, so the next value of a loop variable can be computed straight into its place.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _exhausted_, _new_, _next_, _record_
from adbc.ir.values import Const, Instruction

__all__ = ["early_records"]


def early_records(graph: Graph) -> Graph:
    """Move the building of tuples up, in place."""
    for block in graph.blocks:
        order = block.instructions
        for record in [i for i in order if _is_record(i)]:
            at = order.index(record)
            needed = set(record.operands)
            to = at
            while to > 0 and order[to - 1] not in needed and not _stays_first(order[to - 1]):
                to -= 1
            if to < at:
                order.insert(to, order.pop(at))
    return graph


def _stays_first(instruction: Instruction) -> bool:
    """Whether no record may be moved in front of `instruction`.

    Records keep their order, the emitter knows the head of a ``for`` loop by its place, and what is not a
    call begins its block.
    """
    if instruction.op != "call":
        return True
    callee = instruction.operands[0]
    is_head = isinstance(callee, Const) and (callee.value is _next_ or callee.value is _exhausted_)
    return is_head or _is_record(instruction)


def _is_record(instruction: Instruction) -> bool:
    operands = instruction.operands
    if instruction.op != "call" or len(operands) <= 2 or not isinstance(operands[0], Const):
        return False
    return operands[0].value is _record_ or (
        operands[0].value is _new_ and isinstance(operands[1], Const) and operands[1].value is tuple
    )
