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

The call is given the dict itself.  Where the dicts are displays that nobody changes, as what ``**kwargs``
gathers is in a function that hands it on, the call is given what is in them::

    %d = call _new_(dict, 'gain', %g)
    %m = call _new_(dict, 'rate', %r)
    %1 = call _dict_merge_(%m, %d, f)
    %b: Any = call _apply_(f, %t, %m)          # call f(%p, rate=%r, gain=%g)

Needs types.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import (
    _apply_,
    _bool_,
    _dict_merge_,
    _getattr_,
    _list_append_,
    _list_extend_,
    _list_to_tuple_,
    _new_,
    _project_,
)
from adbc.ir.terminators import Jump
from adbc.ir.traverse import remove_unreachable
from adbc.ir.traverse import uses as uses_of
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, drop, target
from adbc.types.inference import is_rest, type_of
from adbc.types.lattice import NONE, Exact, TupleType

__all__ = ["spread_calls"]


def spread_calls(graph: Graph, normal: Callable[[Instruction], object]) -> bool:
    """Write spread tuples of known length as so many arguments, in place; returns whether anything changed.

    normal: brings a call into normal form.
    """
    changed = False
    named: dict[Instruction, tuple[dict[str, Value], set[Instruction]]] = {}
    gone: set[Instruction] = set()
    users: dict[Value, list[Any]] | None = None
    for call in [
        call for call in graph.instructions() if target(call) is _apply_ and len(call.operands) == 4
    ]:
        users = uses_of(graph) if users is None else users
        found_names = _named(call, users) if _may_be_known(call.operands[2]) else None
        if found_names is not None:
            named[call] = found_names
        elif _hand_dict(call, users):
            users, changed = None, True
    for block in graph.blocks:
        calls: list[Instruction] = []
        for call in [*block.instructions]:
            container = _spread(call, named)
            elements = _elements(container)
            if elements is None and block.handler is None:
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
                arguments, merging = named.get(call, ({}, set()))
                gone |= merging
                call.operands = [call.operands[1], *elements, *arguments.values()]
                call.keywords = tuple(arguments)
                normal(call)
                changed = True
        block.instructions = calls
    if drop(graph, gone):
        remove_unreachable(graph)
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


def _named(
    call: Instruction, users: dict[Value, list[Any]]
) -> tuple[dict[str, Value], set[Instruction]] | None:
    """The arguments by keyword of `call`, which is given a dict that is made for it of displays that nobody
    changes, and the steps that make it; None if there may be others."""
    merged = call.operands[3]
    found = _items(merged)
    if found is None:
        return None
    *steps, last = users[merged]
    if last is not call or not _is_straight(merged.block, [*steps, call]):  # type: ignore[attr-defined]
        return None
    for step in steps:
        if target(step) is not _dict_merge_ or step.operands[1] is not merged or users[step]:
            return None
        source = step.operands[2]
        items = _items(source)
        if items is None or not found.keys().isdisjoint(items):
            return None
        if any(user is not step and not _only_reads(user) for user in users[source]):
            return None
        found |= items
    return found, set(steps)


def _is_straight(block: Block | None, calls: Sequence[Any]) -> bool:
    """Whether all `calls` are run, one behind the other, wherever `block` is, in which the first may stand:
    where exceptions are caught each has a block of its own."""
    for call in calls:
        while call.block is not block:
            end = None if block is None else block.terminator
            if not isinstance(end, Jump) or end.target.phis:
                return False
            sources = [b for b in end.target.graph.blocks if end.target in b.successors]
            if sources != [block]:
                return False
            block = end.target
    return True


def _items(made: Value) -> dict[str, Value] | None:
    """What stands in `made`, a display of a dict of which all keys are known names."""
    if (
        not isinstance(made, Instruction)
        or target(made) is not _new_
        or constant(made.operands[1]) is not dict
    ):
        return None
    keys = [constant(key) for key in made.operands[2::2]]
    is_named = all(type(key) is str for key in keys) and len(set(keys)) == len(keys)
    return dict(zip(keys, made.operands[3::2], strict=True)) if is_named else None


_READING: frozenset[Any] = frozenset(
    {_bool_, len, dict.get, dict.keys, dict.values, dict.items, dict.copy, operator.contains}
)


def _only_reads(user: Any) -> bool:
    """Whether `user`, of a dict, leaves it as it is: what is left of a function behind a wrong guess is not
    run before what follows here."""
    if not isinstance(user, Instruction):
        return False
    function = target(user)
    if function is _dict_merge_ or function is operator.getitem or is_rest(user):
        return True
    if function is _getattr_:
        return constant(user.operands[2]) in ("get", "keys", "values", "items", "copy")
    return any(function is reading for reading in _READING)


def _spread(
    call: Instruction, named: dict[Instruction, tuple[dict[str, Value], set[Instruction]]]
) -> Value | None:
    """The tuple whose elements are all the arguments of `call` by position, if there is one; `named` are
    those by keyword."""
    if target(call) is not _apply_ or call.keywords:
        return None
    if len(call.operands) == 4 and call not in named and type_of(call.operands[3]) != NONE:
        return None
    return call.operands[2]


def _may_be_known(container: Value) -> bool:
    """Whether the elements of `container`, the arguments of a call by position, may be known one by one."""
    is_gathered = isinstance(container, Instruction) and target(container) is _list_to_tuple_
    return is_gathered or isinstance(type_of(container), TupleType)


def _elements(made: Value | None) -> list[Value] | None:
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
