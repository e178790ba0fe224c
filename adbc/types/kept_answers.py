"""What inference has found of calls is kept from one time to the next.

Types are inferred again whenever passes have changed a graph, and they change little of it.  A call with the
same operands, of the same types, has the same result.
"""

from __future__ import annotations

from typing import Any

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Instruction
from adbc.types.lattice import LIST, AbstractType

__all__ = ["Answer", "answers_for", "follows_from_operands"]


class Answer:
    """The type of the result of a call, and what it follows from."""

    __slots__ = ("keywords", "operands", "type", "types")

    def __init__(self, call: Instruction, type: AbstractType) -> None:
        self.type = type
        self.operands, self.keywords = tuple(call.operands), call.keywords
        self.types = [value.type for value in call.operands]

    def holds(self, call: Instruction) -> bool:
        """Whether the call has the same operands, of the same types, as when it was asked about."""
        return (
            self.types == [value.type for value in call.operands]
            and self.operands == tuple(call.operands)
            and self.keywords == call.keywords
        )


def answers_for(graph: Graph, oracle: Any) -> dict[Instruction, Answer]:
    """What has been found of the calls of `graph` with the help of this oracle."""
    if graph.answers is None or graph.answers[0] != oracle:
        graph.answers = oracle, {}
    found: dict[Instruction, Answer] = graph.answers[1]
    return found


def follows_from_operands(call: Instruction) -> bool:
    """Whether the type of the result of `call` follows from its operands and their types: not if it is asked
    what an operand that is read, iterated over, or displayed as a list, was made of."""
    if call.op != "call":
        return False
    callee, *arguments = call.operands
    if callee.__class__ is not Const or callee.value is intrinsics._next_:
        return False
    return not any(value.__class__ is Instruction and value.type == LIST for value in arguments)
