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
from adbc.ir.values import Const, Instruction, Value
from adbc.types.callsites import Binding
from adbc.types.inference import BUILT_BY_SYNTAX, Oracle, type_of
from adbc.types.lattice import NONE, Exact
from adbc.types.records import made_record

__all__ = ["ConstructionKnowledge", "constructions"]


class ConstructionKnowledge(Protocol):
    """What `constructions` asks of the rest of the system."""

    def constructor(self, cls: type) -> types.FunctionType | None:
        """The ``__init__`` that a call of `cls` runs on a new object, if the call does nothing else."""

    def is_bare(self, cls: type) -> bool:
        """Whether a call of `cls` without arguments makes a new object and does nothing else."""

    def record_names(self, cls: type) -> tuple[str, ...] | None:
        """The fields of `cls`, if it is a frozen dataclass and making and reading its instances is nothing
        else."""

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
            cls, arguments = _class_called(call)
            if cls is None:
                continue
            if not arguments and knowledge.is_bare(cls):
                call.operands = [Const(_instance_), Const(cls)]
                changed = True
                continue
            record = _record(call, cls, arguments, knowledge)
            if record is not None:
                call.operands, call.keywords = record, ()
                changed = True
                continue
            function, keywords = knowledge.constructor(cls), call.keywords
            if function is None:
                continue
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


def _record(
    call: Instruction, cls: type, arguments: list[Value], knowledge: ConstructionKnowledge
) -> list[Value] | None:
    """The operands of the call that makes an instance of `cls` of its fields, if it is a frozen dataclass."""
    if knowledge.record_names(cls) is None:
        return None
    binding = knowledge.bind(cls.__init__, 1 + len(arguments), call.keywords)  # type: ignore[misc]  # generated
    if binding is None:
        return None
    fields = [slot if isinstance(slot, Const) else arguments[slot - 1] for slot in binding.slots[1:]]
    return [Const(made_record), Const(cls), *fields]


def _class_called(call: Instruction) -> tuple[type | None, list[Value]]:
    """The class that `call` calls, None if it is not known, and the arguments."""
    callee: Any = call.operands[0] if call.op == "call" else None
    if not isinstance(callee, Const):
        return None, []
    kind, arguments = callee, call.operands[1:]
    if callee.value is _new_ and arguments and isinstance(arguments[0], Const):
        kind, *arguments = arguments  # type: ignore[assignment]  # a Const
    cls: Any = kind.value
    return (cls, arguments) if isinstance(cls, type) and cls not in BUILT_BY_SYNTAX else (None, [])
