"""Lists among what arrays are joined of are made arrays first, as the function does that joins them.

before::

    %1 = call _new_(list, %s)
    %2 = call _new_(list, %y, %1)
    %3 = call _foreigncall_(numpy.concatenate, %2)

after::

    %1 = call _new_(list, %s)
    %4 = call _foreigncall_(numpy.asarray, %1)
    %2 = call _new_(list, %y, %4)
    %3 = call _foreigncall_(numpy.concatenate, %2)

So types say of each part that it is an array, and nothing is differentiated by way of a list of lists.  A row
says with `Rule.joined_array` what makes an array of a part.  For graphs in normal form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target, use_counts

__all__ = ["inner_displays"]


def inner_displays(graph: Graph, maker: Callable[[Any], Any]) -> None:
    """Make arrays of lists and tuples in displays that are given to functions that join arrays, in place.

    maker: of a function, what makes an array of a part; None if it does not join arrays.
    """
    for block in graph.blocks:
        if block.handler is not None:
            continue
        for call in list(block.instructions):
            if target(call) is not _foreigncall_ or len(call.operands) < 3:
                continue
            display = call.operands[2]
            if not _is_display(display) or not any(map(_is_display, display.operands[2:])):
                continue
            made_by = maker(constant(call.operands[1]))
            if made_by is not None and _is_given_at_once(call, display):
                _make_arrays(display, made_by)


def _is_display(value: Value) -> TypeGuard[Instruction]:
    if not isinstance(value, Instruction) or target(value) is not _new_ or value.keywords:
        return False
    return constant(value.operands[1]) in (list, tuple)


def _is_given_at_once(call: Instruction, display: Instruction) -> bool:
    """Whether `display` is made for `call` only, and nothing happens in between."""
    block = call.block
    if block is None or display.block is not block or use_counts(block.graph)[display] != 1:
        return False
    at, end = block.instructions.index(display), block.instructions.index(call)
    return all(target(between) is _new_ for between in block.instructions[at:end])


def _make_arrays(display: Instruction, made_by: Any) -> None:
    assert display.block is not None
    at = display.block.instructions.index(display)
    for number, part in enumerate(display.operands[2:], 2):
        if _is_display(part):
            made = Instruction(
                "call", [Const(_foreigncall_), Const(made_by), part], position=display.position
            )
            made.block = display.block
            display.block.instructions.insert(at, made)
            display.operands[number] = made
            at += 1
