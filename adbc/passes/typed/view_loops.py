"""Loops over dicts and their views know the key of each step, so that each value has its slot of the shadow.

before::

        %view = call dict.items(%d)
        %it = call _iter_(%view)
    head:
        %entry = call _next_(%it)
        %e = call _exhausted_(%entry)
        branch %e, done, body
    body:
        %pair = call _unpack_(%entry, 2)
        %k = call _project_(%pair, 0)
        %v = call _project_(%pair, 1)

after::

        %it = call _view_iterator_(%d, dict.items)
    head:
        %entry = call _next_entry_(%it)
        %e = call _exhausted_(%entry)
        branch %e, done, body
    body:
        %pair = call _unpack_(%entry, 2)
        %at = call _project_(%pair, 0)
        %k = call _entry_key_(%pair)
        %v = call _entry_value_(%pair, %d, %at)

A loop over the values takes a step through the keys in front of each of its own (`_next_value_`); one over
the keys has `_next_key_`.  The iterators need no shadow then; where a guess was wrong and the rest of the
function goes on with one, it gets one that is made from what is left in it (`_resume_view_`).  What is
iterated over is what was iterated over before, so a dict that changes in the loop is noticed as before.
Needs types.
"""

from __future__ import annotations

from typing import Any

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.loops import natural_loops
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, is_rest_call, target
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, class_of

__all__ = ["is_step_by_entry", "steps_taken_apart", "view_loops"]

Users = dict[Any, list[Any]]


def view_loops(graph: Graph) -> bool:
    """Let loops over dicts and their views step by key, in place; returns whether anything changed."""
    found = []
    for step in graph.instructions():
        if target(step) is intrinsics._next_:
            made = step.operands[1]
            walked = _walked(made)
            if walked is not None:
                found.append((made, step, *walked))
    if not found:
        return False
    loops = natural_loops(graph).innermost
    users: Users = uses(graph)
    changed = False
    for made, step, source, function in found:
        loop = loops.get(step.block)  # type: ignore[arg-type]  # it is in a block
        if loop is None or loop.header.handler is not None or step.block.handler is not None:  # type: ignore[union-attr]
            continue
        assert isinstance(made, Instruction)
        rests = _rests(made, step, users)
        if rests is None or made.block in loop.blocks:
            continue
        parts = _parts(step, users) if function is dict.items else []
        if parts is None:
            continue
        _make_iterator(made, source, function, users)
        if function is dict.items:
            _step_by_entry(step, source, parts)
        elif function is dict.values:
            _step_by_value(made, step, source)
        else:
            step.operands = [Const(intrinsics._next_key_), made]
        for call in rests:
            _resume(made, source, call)
        changed = True
    return changed


def steps_taken_apart(graph: Graph) -> set[Instruction]:
    """The steps of iterators that give what is only unpacked to two parts."""
    steps = [step for step in graph.instructions() if target(step) is intrinsics._next_]
    users: Users = uses(graph) if steps else {}
    return {step for step in steps if _parts(step, users)}


def is_step_by_entry(step: Instruction) -> bool:
    """Whether `step`, which is one of an iterator, takes the next of the items of a dict."""
    walked = _walked(step.operands[1])
    return walked is not None and walked[1] is dict.items


def _make_iterator(made: Instruction, source: Value, function: Any, users: Users) -> None:
    """Let `made` be the iterator over what `function` gives of `source`; a view that nobody else uses is not
    made."""
    view = made.operands[1]
    made.operands = [Const(intrinsics._view_iterator_), source, Const(function)]
    if not isinstance(view, Instruction) or users[view] != [made] or target(view) not in _VIEWS:
        return
    if view.block is not None and view.block.handler is None:
        view.block.instructions.remove(view)


def _walked(made: Value) -> tuple[Value, Any] | None:
    """The dict that iterator `made` walks through, and the method whose view it is made of."""
    if target(made) is not intrinsics._iter_:
        return None
    view = _itself(made.operands[1])  # type: ignore[attr-defined]  # a call
    function = target(view)
    if function in _VIEWS and len(view.operands) == 2:  # type: ignore[attr-defined]  # a call
        source = view.operands[1]  # type: ignore[attr-defined]  # a call
    else:
        source, function = made.operands[1], dict.keys  # type: ignore[attr-defined]  # a call
    return (source, function) if class_of(type_of(source)) is dict else None


_VIEWS: tuple[Any, ...] = (dict.keys, dict.values, dict.items)


def _itself(value: Value) -> Value:
    """The value that `value` is, whose class was tested."""
    while target(value) is intrinsics._assume_:
        value = value.operands[1]  # type: ignore[attr-defined]  # a call
    return value


def _rests(made: Instruction, step: Instruction, users: Users) -> list[Instruction] | None:
    """The calls of rests of the function that are given the iterator; None if anything else uses it."""
    found = []
    for user in users.get(made, ()):
        instruction = getattr(user, "instruction", user)
        if instruction is step:
            continue
        if not isinstance(instruction, Instruction) or not is_rest_call(instruction):
            return None
        found.append(instruction)
    return found


def _parts(step: Instruction, users: Users) -> list[Instruction] | None:
    """The unpacking of the pair that `step` gives and the projections to its parts; None if it has other
    uses than these."""
    found: list[Instruction] = []
    for user in users.get(step, ()):
        if target(user) is intrinsics._exhausted_:
            continue
        if target(user) is not intrinsics._unpack_ or user.operands[1] is not step:
            return None
        if constant(user.operands[2]) != 2 or found:
            return None
        found = [user]
        for part in users.get(user, ()):
            if target(part) is not intrinsics._project_ or constant(part.operands[2]) not in (0, 1):
                return None
            found.append(part)
    return found


def _step_by_entry(step: Instruction, source: Value, parts: list[Instruction]) -> None:
    step.operands[0] = Const(intrinsics._next_entry_)
    if not parts:
        return
    pair = parts[0]
    block = pair.block
    assert block is not None
    at = Instruction("call", [Const(intrinsics._project_), pair, Const(0)], type=ANY, position=pair.position)
    at.block = block
    block.instructions.insert(block.instructions.index(pair) + 1, at)
    for part in parts[1:]:
        if constant(part.operands[2]) == 0:
            part.operands = [Const(intrinsics._entry_key_), pair]
        else:
            part.operands = [Const(intrinsics._entry_value_), pair, source, at]


def _step_by_value(made: Instruction, step: Instruction, source: Value) -> None:
    """Step through the keys in front of each step through the values."""
    keys = Instruction(
        "call",
        [Const(intrinsics._view_iterator_), source, Const(dict.keys)],
        type=ANY,
        position=made.position,
    )
    assert made.block is not None and step.block is not None
    keys.block = made.block
    made.block.instructions.insert(made.block.instructions.index(made), keys)
    key = Instruction("call", [Const(intrinsics._next_place_), keys], type=ANY, position=step.position)
    key.block = step.block
    step.block.instructions.insert(step.block.instructions.index(step), key)
    step.operands = [Const(intrinsics._next_value_), made, source, key]


def _resume(made: Instruction, source: Value, call: Instruction) -> None:
    """Give the rest of the function that `call` is an iterator with a shadow."""
    resumed = Instruction(
        "call", [Const(intrinsics._resume_view_), made, source], type=ANY, position=call.position
    )
    block = call.block
    assert block is not None
    resumed.block = block
    block.instructions.insert(block.instructions.index(call), resumed)
    call.operands = [resumed if v is made else v for v in call.operands]
