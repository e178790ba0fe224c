"""Calls of partial objects, and calls with the elements of displays, are written out.

before (a decorator's wrapper was written into its caller)::

    %p = call _foreigncall_(functools.partial, %f, 2.0, k=%x)
    %a = call _new_(builtins.tuple, %v)
    %k = call _new_(builtins.dict, 'scale', %s)
    %m = call _new_(builtins.dict)
    call _dict_merge_(%m, %k, %p)
    %r = call _apply_(%p, %a, %m)

after::

    %r = call %f(2.0, %v, k=%x, scale=%s)

So what is called with what is known before any type is.  Displays that something else changes are left, and
so are partial objects that somebody else sees: they have a state that may be set.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _apply_, _dict_merge_, _foreigncall_, _list_extend_, _list_to_tuple_, _new_
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target

__all__ = ["known_calls"]

Users = Mapping[Value, Sequence[object]]
Names = dict[str, Value]


def known_calls(graph: Graph, normal: Callable[[Instruction], object]) -> bool:
    """Write calls out, in place; returns whether there were any.  normal: brings a call into normal form."""
    changed = False
    while _write_one(graph, normal):
        changed = True
    while changed and _drop_unused(graph):
        pass
    return changed


def _drop_unused(graph: Graph) -> bool:
    """Drop partial objects and displays that nobody uses any more; returns whether there were any."""
    users = uses(graph)
    unused = [
        call
        for call in graph.instructions()
        if not users.get(call) and (_entries(call) is not None or (_is_partial(call) and _is_sure(call)))
    ]
    for call in unused:
        assert call.block is not None
        if call.block.handler is None:
            call.block.instructions.remove(call)
    return any(call.block is not None and call.block.handler is None for call in unused)


def _is_sure(made: Instruction) -> bool:
    """Whether a partial object is made without a complaint."""
    return len(made.operands) > 2 + len(made.keywords) and _is_callable(made.operands[2])


def _write_one(graph: Graph, normal: Callable[[Instruction], object]) -> bool:
    users: Users | None = None
    for block in graph.blocks:
        if block.handler is not None:
            continue
        for call in block.instructions:
            if call.op != "call":
                continue
            is_spread = target(call) is _apply_
            if is_spread or _is_partial(call.operands[0]):
                users = users or uses(graph)
                done = _write_spread(call, users) if is_spread else _write_partial(call, users)
                if done:
                    normal(call)
                    return True
    return False


# -- partial objects -----------------------------------------------------------------------------------------


def _is_partial(value: Value) -> bool:
    is_made = isinstance(value, Instruction) and target(value) is _foreigncall_
    return is_made and constant(value.operands[1]) is functools.partial  # type: ignore[attr-defined]


def _write_partial(call: Instruction, users: Users) -> bool:
    made = call.operands[0]
    assert isinstance(made, Instruction)
    given = made.operands[2:]
    if len(given) <= len(made.keywords) or not all(_only_calls(u, made) for u in users.get(made, ())):
        return False
    n = len(given) - len(made.keywords)
    m = len(call.operands) - len(call.keywords)
    named = dict(zip(made.keywords, given[n:], strict=True))
    named.update(zip(call.keywords, call.operands[m:], strict=True))
    call.operands = [given[0], *given[1:n], *call.operands[1:m], *named.values()]
    call.keywords = tuple(named)
    return True


def _is_callable(value: Value) -> bool:
    if isinstance(value, Instruction):
        return _is_partial(value) or (
            target(value) is _new_ and constant(value.operands[1]) is types.FunctionType
        )
    return callable(constant(value))


def _only_calls(user: object, made: Value) -> bool:
    """Whether `user` calls the partial object `made`, or hands it to a function in C that does."""
    if not isinstance(user, Instruction) or user.op != "call":
        return False
    if user.operands[0] is made:
        return made not in user.operands[1:]
    function = constant(user.operands[1]) if target(user) is _foreigncall_ else None
    return function in (map, filter, functools.reduce, functools.partial) and user.operands[2] is made


# -- displays ------------------------------------------------------------------------------------------------


def _write_spread(call: Instruction, users: Users) -> bool:
    function, positional, *rest = call.operands[1:]
    gone: list[Instruction] = []
    elements = _elements(positional, users, gone)
    named = _named(rest[0], call, users, gone) if rest else {}
    if elements is None or named is None or call.keywords:
        return False
    for instruction in gone:
        assert instruction.block is not None
        instruction.block.instructions.remove(instruction)
    call.operands = [function, *elements, *named.values()]
    call.keywords = tuple(named)
    return True


def _elements(value: Value, users: Users, gone: list[Instruction]) -> list[Value] | None:
    """The elements of a tuple that was made of so many values; what has put them there is added to `gone`."""
    if isinstance(value, Const):
        return [*map(Const, value.value)] if type(value.value) is tuple else None
    if not isinstance(value, Instruction):
        return None
    if _is_display(value, tuple):
        return value.operands[2:]
    if target(value) is not _list_to_tuple_ or len(users.get(value, ())) != 1:
        return None
    made = value.operands[1]
    if not _is_display(made, list):
        return None
    found = made.operands[2:]
    for step in _in_order(users.get(made, ()), value, made):
        if step is None or target(step) is not _list_extend_ or step.operands[1] is not made:
            return None
        more = _elements(step.operands[2], users, gone)
        if more is None:
            return None
        found = [*found, *more]
        gone.append(step)
    gone.append(value)
    return found


def _is_display(value: Value, kind: type) -> TypeGuard[Instruction]:
    """Whether `value` is a display of this kind."""
    return isinstance(value, Instruction) and target(value) is _new_ and constant(value.operands[1]) is kind


def _named(value: Value, call: Instruction, users: Users, gone: list[Instruction]) -> Names | None:
    """The entries of a dict that was made for `call`; what has put them there is added to `gone`."""
    if isinstance(value, Const):
        return {} if value.value is None else None
    found = _entries(value)
    if found is None:
        return None
    for step in _in_order(users.get(value, ()), call, value):
        if step is None or target(step) is not _dict_merge_ or step.operands[1] is not value:
            return None
        source = step.operands[2]
        more = _entries(source)
        if more is None or any(target(u) is not _dict_merge_ for u in users.get(source, ())):  # type: ignore[arg-type]
            return None
        if source is value or not found.keys().isdisjoint(more):
            return None
        found |= more
        gone.append(step)
    return found


def _entries(value: Value) -> Names | None:
    """The entries that a dict display begins with, if their keys are names."""
    if not _is_display(value, dict):
        return None
    keys, values = value.operands[2::2], value.operands[3::2]
    names = [constant(key) for key in keys]
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        return None
    return dict(zip(names, values, strict=True))


def _in_order(found: Sequence[object], last: Instruction, made: Value) -> list[Instruction | None]:
    """Those that use the display `made` in front of `last`, which uses it too, in one block without a
    handler, in their order; None for anything else."""
    block = last.block
    assert block is not None
    others = [user for user in found if user is not last]
    if not isinstance(made, Instruction) or made.block is not block or block.handler is not None:
        return [None]
    if not all(isinstance(user, Instruction) and user.block is block for user in others):
        return [None]
    place = {instruction: k for k, instruction in enumerate(block.instructions)}
    if any(place[user] > place[last] for user in others):  # type: ignore[index]
        return [None]
    return sorted(others, key=lambda user: place[user])  # type: ignore[index, arg-type]
