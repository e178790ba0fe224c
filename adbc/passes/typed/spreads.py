"""Calls with the elements of a tuple of known length become calls with so many arguments.

before::

    %t = call _new_(tuple, %p, %v, %m)
    %b: Any = call _apply_(Body, %t)

after::

    %t = call _new_(tuple, %p, %v, %m)
    %b: Any = call _new_(Body, %p, %v, %m)

So what is called is known as well as if it had been written out, and no tuple of cotangents is taken apart.
Needs types.
"""

from __future__ import annotations

from collections.abc import Callable

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _apply_, _new_, _project_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target
from adbc.types.inference import type_of
from adbc.types.lattice import NONE, TupleType

__all__ = ["spread_calls"]


def spread_calls(graph: Graph, normal: Callable[[Instruction], object]) -> bool:
    """Write spread tuples of known length as so many arguments, in place; returns whether anything changed.

    normal: brings a call into normal form.
    """
    changed = False
    for block in graph.blocks:
        calls: list[Instruction] = []
        for call in block.instructions:
            elements = _elements(call)
            if elements is None and block.handler is None:
                projections = _projections(call)
                if projections is not None:
                    calls += projections
                    elements = [*projections]
            calls.append(call)
            if elements is not None:
                call.operands = [call.operands[1], *elements]
                normal(call)
                changed = True
        block.instructions = calls
    return changed


def _spread(call: Instruction) -> Value | None:
    """The tuple whose elements are all the arguments of `call`, if there is one."""
    if target(call) is not _apply_ or call.keywords:
        return None
    if len(call.operands) == 4 and type_of(call.operands[3]) != NONE:
        return None
    return call.operands[2]


def _elements(call: Instruction) -> list[Value] | None:
    made = _spread(call)
    if not isinstance(made, Instruction) or target(made) is not _new_:
        return None
    kind = made.operands[1]
    return made.operands[2:] if isinstance(kind, Const) and kind.value is tuple else None


def _projections(call: Instruction) -> list[Instruction] | None:
    container = _spread(call)
    known = None if container is None else type_of(container)
    if container is None or not isinstance(known, TupleType):
        return None
    found = []
    for i, type in enumerate(known.elements):
        element = Instruction(
            "call", [Const(_project_), container, Const(i)], type=type, position=call.position
        )
        element.block = call.block
        found.append(element)
    return found
