"""Calls with the elements of a tuple of known length become calls with so many arguments.

before::

    %t = call _new_(tuple, %p, %v, %m)
    %b: Any = call _apply_(Body, %t)

after::

    %t = call _new_(tuple, %p, %v, %m)
    %b: Any = call _new_(Body, %p, %v, %m)

So what is called is known as well as if it had been written out, and no tuple of cotangents is taken apart.

Where other arguments stand beside those of the tuple, Python gathers all in a list first::

    %l = call _new_(list, %a)
    %1 = call _list_extend_(%l, %t)            # %t: Tuple[Any, Any]
    %2 = call _list_append_(%l, %x)
    %3 = call _list_to_tuple_(%l)
    %b: Any = call _apply_(f, %3)

The list is made only where a guess was wrong before it was complete.

Of a dict whose elements are arguments by keyword Python makes a copy first, which nobody else sees::

    %m = call _new_(dict)
    %1 = call _dict_merge_(%m, %d, f)          # %d: dict
    %b: Any = call _apply_(f, %t, %m)

The call is given the dict itself.  Needs types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import (
    _apply_,
    _dict_merge_,
    _list_append_,
    _list_extend_,
    _list_to_tuple_,
    _new_,
    _project_,
)
from adbc.ir.traverse import uses as uses_of
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target
from adbc.types.inference import is_rest, type_of
from adbc.types.lattice import NONE, Exact, TupleType

__all__ = ["spread_calls"]


def spread_calls(graph: Graph, normal: Callable[[Instruction], object]) -> bool:
    """Write spread tuples of known length as so many arguments, in place; returns whether anything changed.

    normal: brings a call into normal form.
    """
    changed = False
    users: dict[Value, list[Any]] | None = None
    for call in [
        call for call in graph.instructions() if target(call) is _apply_ and len(call.operands) == 4
    ]:
        users = uses_of(graph) if users is None else users
        if _hand_dict(call, users):
            users, changed = None, True
    for block in graph.blocks:
        calls: list[Instruction] = []
        for call in [*block.instructions]:
            elements = _elements(call)
            if elements is None and block.handler is None:
                container = _spread(call)
                projections = None if container is None else _projections(call, container)
                if projections is not None:
                    calls += projections
                    elements = [*projections]
                elif isinstance(container, Instruction) and target(container) is _list_to_tuple_:
                    users = uses_of(graph) if users is None else users
                    found = _gathered(call, container, users)
                    if found is not None:
                        elements, projections, steps = found
                        calls = [c for c in calls if c not in steps] + projections
                        users = None
            calls.append(call)
            if elements is not None:
                call.operands = [call.operands[1], *elements]
                normal(call)
                changed = True
        block.instructions = calls
    return changed


def _hand_dict(call: Instruction, users: dict[Value, list[Any]]) -> bool:
    """Let `call`, which is given a copy of a dict, made in front of it for the purpose, be given the dict;
    whether it was one.  Whoever is called gets a copy."""
    merged, block = call.operands[3], call.block
    if not isinstance(merged, Instruction) or target(merged) is not _new_ or block is None or block.handler:
        return False
    step, *others = users[merged]
    if others != [call] or target(step) is not _dict_merge_ or users[step] or step.operands[1] is not merged:
        return False
    at = block.instructions.index(call)
    is_empty = len(merged.operands) == 2 and constant(merged.operands[1]) is dict
    if not is_empty or merged.block is not block or block.instructions[at - 1] is not step:
        return False
    given = step.operands[2]
    if type_of(given) != Exact(dict):
        return False
    call.operands[3] = given
    block.instructions.remove(step)  # the empty dict stays: what is guessed in between may lead elsewhere
    return True


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


def _gathered(
    call: Instruction, container: Instruction, users: dict[Value, list[Any]]
) -> tuple[list[Value], list[Instruction], set[Instruction]] | None:
    """The arguments of `call` that are gathered in a list, of which `container` is made, those of them that
    must still be taken from tuples, and the steps that are left out; None if there may be other arguments."""
    made = container.operands[1]
    if not isinstance(made, Instruction) or target(made) is not _new_ or users[container] != [call]:
        return None
    kind = made.operands[1]
    if not (isinstance(kind, Const) and kind.value is list) or made.block is None or made.block.handler:
        return None
    elements, projections = [*made.operands[2:]], []
    steps, rests = {container}, []
    for user in users[made]:
        if not isinstance(user, Instruction):
            return None
        if is_rest(user):
            rests.append(
                user
            )  # what is tested comes before the first step, which is in the block of the call
            continue
        if user is container:
            continue
        if user.block is not call.block or user.operands[1] is not made or users.get(user):
            return None
        if target(user) is _list_extend_:
            taken = _projections(call, user.operands[2])
            if taken is None:
                return None
            elements += taken
            projections += taken
        elif target(user) is _list_append_:
            elements.append(user.operands[2])
        else:
            return None
        steps.add(user)
    if any(rest.block is call.block for rest in rests):
        return None
    for rest in rests:
        block = rest.block
        assert block is not None
        own = Instruction("call", [*made.operands], type=made.type, position=made.position, name=made.name)
        own.block = block
        block.instructions.insert(block.instructions.index(rest), own)
        rest.operands = [own if v is made else v for v in rest.operands]
    if made.block is call.block:
        steps.add(made)
    else:
        made.block.instructions.remove(made)
    return elements, projections, steps


def _projections(call: Instruction, container: Value) -> list[Instruction] | None:
    known = type_of(container)
    if not isinstance(known, TupleType):
        return None
    found = []
    for i, type in enumerate(known.elements):
        element = Instruction(
            "call", [Const(_project_), container, Const(i)], type=type, position=call.position
        )
        element.block = call.block
        found.append(element)
    return found
