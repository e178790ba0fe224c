"""Behind a star in a call stands a tuple, or as many elements as the function takes.

before::                                     after::

    %l = call _new_(list, %t)                    %l = call _new_(list, %t)
    call _list_extend_(%l, %p)                   %s = call _foreigncall_(tuple, %p)
    %a = call _list_to_tuple_(%l)                call _list_extend_(%l, %s)
    %r = call _apply_(%f, %a)                    %a = call _list_to_tuple_(%l)
                                                 %r = call _apply_(%f, %a)

What is known of a tuple is how many elements it has and of which types, and if that is not known it is
guessed; of a list nothing is.  So a call with the elements of a list becomes a call with so many arguments
(`spreads`).  Where the function is known, and takes just so many arguments, they are taken from the tuple
before anything is known of that; any other number is an error, which the call raises::

    %s = call _foreigncall_(tuple, %p)
    %0 = call _takes_(model, 1, 2, %s)
    %u = call _unpack_(%s, 2)
    %a = call _project_(%u, 0)
    %b = call _project_(%u, 1)
    %r = call model(%t, %a, %b)

Calls of functions in C stay as they are: most of these take any number of arguments, and no code of theirs is
chosen by how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import (
    _apply_,
    _foreigncall_,
    _list_append_,
    _list_extend_,
    _list_to_tuple_,
    _new_,
    _project_,
    _takes_,
    _unpack_,
)
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target

__all__ = ["MOST", "Signature", "put_in", "spread_sequences"]

MOST = 32
"""So many elements are taken one by one, and no more."""

Users = Mapping[Value, Sequence[object]]


class Signature(NamedTuple):
    """What a function takes that takes no number of arguments that is not known.

    positional: the names of the parameters that may be given by position.  only: how many of these are not to
    be given by name.  named: those of the others.  defaults: by name.  function: what is called in the end,
    if that is not what is written down.  bound: how many arguments that is given in front of all.
    """

    positional: tuple[str, ...]
    only: int
    named: tuple[str, ...]
    defaults: Mapping[str, Value]
    function: Value | None = None
    bound: int = 0


def spread_sequences(
    graph: Graph,
    signature: Callable[[Value], Signature | None],
    normal: Callable[[Instruction], object],
) -> bool:
    """Take the elements of what stands behind stars from tuples, in place; returns whether there were any.

    signature: what a function takes.  normal: brings a call into normal form.
    """
    calls = [call for call in graph.instructions() if target(call) is _apply_]
    users = uses(graph) if calls else {}
    changed = False
    for call in calls:
        if _is_in_c(call.operands[1]) or call.block is None or call.block.handler is not None:
            continue
        gathered = _gathered(call, users)
        starred = _starred(graph, gathered or [(call, True)])
        if not starred:
            continue
        changed = True
        made = {step: put_in(step, [Const(_foreigncall_), Const(tuple), given]) for step, given in starred}
        for step, together in made.items():
            step.operands[2] = together
        known = signature(call.operands[1])
        if gathered is None or known is None or len(made) > 1 or len(call.operands) > 3:
            continue
        if known.defaults.keys().isdisjoint(known.positional) and known.defaults.keys() >= {*known.named}:
            _take(call, gathered, len(known.positional), normal)
    return changed


def _is_in_c(function: Value) -> bool:
    if not isinstance(function, Const):
        return False
    called = function.value
    if isinstance(called, type):
        called = getattr(called, "__init__", None)
    return not hasattr(called, "__code__")


def put_in(before: Instruction, operands: list[Value]) -> Instruction:
    """A new call in front of `before`."""
    made = Instruction("call", operands, position=before.position)
    block = before.block
    assert block is not None
    made.block = block
    block.instructions.insert(block.instructions.index(before), made)
    return made


def _gathered(call: Instruction, users: Users) -> list[tuple[Instruction, bool]] | None:
    """The steps by which the arguments of `call` are gathered, in order, and whether each adds the elements
    of something; None if other code is between them."""
    container = call.operands[2]
    if not isinstance(container, Instruction) or target(container) is not _list_to_tuple_:
        return [(call, True)]
    made = container.operands[1]
    if target(made) is not _new_ or not isinstance(made, Instruction) or len(users.get(container, ())) != 1:
        return None
    steps = [user for user in users.get(made, ()) if user is not container]
    found = []
    for step in steps:
        if not isinstance(step, Instruction) or step.block is not call.block or step.operands[1] is not made:
            return None
        if target(step) not in (_list_extend_, _list_append_) or users.get(step):
            return None
        found.append((step, target(step) is _list_extend_))
    if made.block is not call.block or container.block is not call.block:
        return None
    assert call.block is not None
    return sorted(found, key=lambda step: call.block.instructions.index(step[0]))  # type: ignore[union-attr]


def _starred(graph: Graph, steps: Sequence[tuple[Instruction, bool]]) -> list[tuple[Instruction, Value]]:
    """Which of `steps` add the elements of what may be no tuple, and of what."""
    found = [(step, step.operands[2]) for step, is_spread in steps if is_spread]
    return [(step, given) for step, given in found if not _is_tuple(graph, given)]


def _is_tuple(graph: Graph, value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) is tuple
    if isinstance(value, Instruction):
        if target(value) is _list_to_tuple_:
            return True
        return target(value) in (_new_, _foreigncall_) and constant(value.operands[1]) is tuple
    return graph.has_varargs and value is graph.arguments[-1 - graph.has_varkw]


def _take(
    call: Instruction,
    gathered: Sequence[tuple[Instruction, bool]],
    wanted: int,
    normal: Callable[[Instruction], object],
) -> None:
    """Write out the arguments of `call`, of which the elements of one tuple make up what is wanted."""
    function, container = call.operands[1:]
    before: list[Value] = []
    if isinstance(container, Instruction) and target(container) is _list_to_tuple_:
        before = [*container.operands[1].operands[2:]]  # type: ignore[attr-defined]  # the list that is made
    behind: list[Value] = []
    together: Value | None = None
    for step, is_spread in gathered:
        if is_spread and together is None:
            together = step.operands[2]
        elif is_spread:  # the elements of a tuple, which may be known
            return
        else:
            (before if together is None else behind).append(step.operands[2])
    number = wanted - len(before) - len(behind)
    if together is None or not 0 <= number <= MOST:
        return
    known = Const(len(before) + len(behind))
    put_in(call, [Const(_takes_), function, known, Const(number), together])
    unpacked = put_in(call, [Const(_unpack_), together, Const(number)])
    elements = [put_in(call, [Const(_project_), unpacked, Const(k)]) for k in range(number)]
    gone = [step for step, _ in gathered if step is not call]
    if gone or container is not together:
        gone += [container, container.operands[1]]  # type: ignore[attr-defined, list-item]
    assert call.block is not None
    call.block.instructions = [step for step in call.block.instructions if step not in gone]
    call.operands = [function, *before, *elements, *behind]
    normal(call)
