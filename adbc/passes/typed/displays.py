"""Functions that make arrays of list or tuple displays take the elements of the displays as arguments.

before::

    %1: Tuple[Array, Array] = call _new_(tuple, %a, %b)
    %2: Array = call _foreigncall_(numpy.concatenate, %1, 1)
    %3: list = call _new_(list, %x, %y)
    %4: Array = call _foreigncall_(numpy.array, %3)

after::

    %2: Array = call concatenated(%a, %b, axis=1)
    %4: Array = call array_of(%x, %y, shape=(2,))

So the rule is one of functions of arrays and numbers, and nothing is differentiated by way of a list.  A row
says with `Rule.joined` which function that is.  Needs types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Instruction, Value
from adbc.types.array_calls import is_inline_number
from adbc.types.inference import call_parts, type_of
from adbc.types.keywords import deciding
from adbc.types.lattice import AbstractType, ArrayType

__all__ = ["DisplayKnowledge", "spread_displays"]


class DisplayKnowledge(Protocol):
    """What `spread_displays` asks of the rest of the system."""

    def row(self, function: object, types: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` for arguments of these types, if the types decide it."""


def spread_displays(graph: Graph, knowledge: DisplayKnowledge) -> None:
    """Give the elements of displays to the functions that make arrays of them, in place."""
    for block in graph.blocks:
        if block.handler is None:
            for call in list(block.instructions):
                _spread(call, graph, knowledge)


def _spread(call: Instruction, graph: Graph, knowledge: DisplayKnowledge) -> None:
    known = type_of(call)
    if (
        call.op != "call"
        or not isinstance(known, ArrayType)
        or not known.dtype.startswith(("float", "complex"))
    ):
        return
    callee, arguments = call_parts(call)
    if not isinstance(callee, Const) or not arguments or not isinstance(arguments[0], Instruction):
        return
    display = arguments[0]
    if _kind(display) is None or len(display.operands) < 3:
        return
    row = knowledge.row(callee.value, deciding([type_of(a) for a in arguments], call.keywords))
    joined = getattr(row, "joined", None)
    positional = len(arguments) - 1 - len(call.keywords)
    if joined is None or row is None or positional > len(row.joined_names):
        return
    names = (*row.joined_names[:positional], *call.keywords)
    if len(set(names)) != len(names) or not set(names) <= set(row.joined_names):
        return
    shaped = _elements(display, graph)
    if shaped is None:
        return
    elements, shape = shaped
    options: list[Value] = arguments[1:]
    if row.joined_shape:
        if len(shape) > 1 and any(isinstance(type_of(v), ArrayType) for v in elements):
            return
        names, options = ("shape", *names), [Const(shape), *options]
    elif len(shape) > 1:
        return
    if not all(map(_is_numeric, elements)) or not _uses_once(display, graph):
        return
    call.operands = [Const(joined), *elements, *options]
    call.keywords = names
    _remove(display)


def _kind(value: Value) -> Any:
    """The class of a tuple or list that is displayed, else None."""
    if not isinstance(value, Instruction) or value.op != "call" or len(value.operands) < 2 or value.keywords:
        return None
    callee, kind = value.operands[:2]
    if not isinstance(callee, Const) or callee.value is not intrinsics._new_ or not isinstance(kind, Const):
        return None
    return kind.value if kind.value in (tuple, list) else None


def _elements(display: Instruction, graph: Graph) -> tuple[list[Value], tuple[int, ...]] | None:
    """The elements of a display, or of the displays in it, and its shape."""
    values: list[Value] = display.operands[2:]
    count = len(values)
    if not any(_kind(v) for v in values):
        return values, (count,)
    flat: list[Value] = []
    inner: set[tuple[int, ...]] = set()
    for value in values:
        if _kind(value) is None or not isinstance(value, Instruction) or not _uses_once(value, graph):
            return None
        part = _elements(value, graph)
        if part is None:
            return None
        flat += part[0]
        inner.add(part[1])
    return (flat, (count, *inner.pop())) if len(inner) == 1 else None


def _is_numeric(value: Value) -> bool:
    """Whether `value` is a number or an array of such."""
    known = type_of(value)
    if isinstance(known, ArrayType):
        return known.dtype.startswith(("float", "complex", "int", "uint", "bool"))
    return is_inline_number(known)


def _uses_once(value: Instruction, graph: Graph) -> bool:
    """Whether one call uses `value`, once, and nothing else does."""
    uses = sum(i.operands.count(value) for i in graph.instructions())
    return uses == 1 and not any(
        value in b.terminator.values or any(value in phi.operands.values() for phi in b.phis)
        for b in graph.blocks
    )


def _remove(display: Instruction) -> None:
    assert display.block is not None
    display.block.instructions.remove(display)
    for value in display.operands[2:]:
        if isinstance(value, Instruction) and _kind(value) is not None:
            _remove(value)
