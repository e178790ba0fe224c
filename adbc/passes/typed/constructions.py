"""Calls of ordinary classes become the two calls that they consist of.

before::

    %p: Any = call _new_(Particle, 1.0, %v)

after::

    %p: Particle = call _instance_(Particle)
    %1: None = call Particle.__init__(%p, 1.0, %v)

So the class of the object is known without a guess, and ``__init__`` is called like any other function that
is known.  For classes of which that is all that calling them does (`ConstructionKnowledge.constructor`), and
whose ``__init__`` is known to return None: another result would be an error.  Needs types.
"""

from __future__ import annotations

import types
from typing import Any, Protocol

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _instance_, _new_
from adbc.ir.values import Const, Instruction
from adbc.types.callsites import Binding
from adbc.types.inference import BUILT_BY_SYNTAX, Oracle, type_of
from adbc.types.lattice import NONE, Exact

__all__ = ["ConstructionKnowledge", "constructions"]


class ConstructionKnowledge(Protocol):
    """What `constructions` asks of the rest of the system."""

    def constructor(self, cls: type) -> types.FunctionType | None:
        """The ``__init__`` that a call of `cls` runs on a new object, if the call does nothing else."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""


def constructions(graph: Graph, knowledge: ConstructionKnowledge, oracle: Oracle) -> bool:
    """Write calls of classes as allocation and ``__init__``, in place; returns whether anything changed."""
    changed = False
    for block in graph.blocks:
        if block.handler is not None:
            continue
        calls: list[Instruction] = []
        for call in block.instructions:
            calls.append(call)
            cls = _class_called(call)
            function = None if cls is None else knowledge.constructor(cls)
            if cls is None or function is None:
                continue
            arguments, keywords = call.operands[2:], call.keywords
            known = [Exact(cls), *map(type_of, arguments)]
            if (
                knowledge.bind(function, len(known), keywords) is None
                or oracle(function, known, keywords) != NONE
            ):
                continue
            made = Instruction(
                "call",
                [Const(function), call, *arguments],
                keywords=keywords,
                type=NONE,
                position=call.position,
            )
            made.block = block
            calls.append(made)
            call.operands, call.keywords = [Const(_instance_), Const(cls)], ()
            changed = True
        block.instructions = calls
    return changed


def _class_called(call: Instruction) -> type | None:
    if call.op != "call" or len(call.operands) < 2:
        return None
    callee: Any = call.operands[0]
    kind: Any = call.operands[1]
    if not isinstance(callee, Const) or callee.value is not _new_ or not isinstance(kind, Const):
        return None
    return kind.value if isinstance(kind.value, type) and kind.value not in BUILT_BY_SYNTAX else None
