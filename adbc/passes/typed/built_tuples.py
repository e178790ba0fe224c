"""A tuple that is made of a list, which was made for that alone, is made of the elements.

before::

    %l = call _new_(list)
    ...
    %1 = call _list_append_(%l, %x)
    ...
    %2 = call _list_append_(%l, %y)
    %t: tuple = call _list_to_tuple_(%l)

after::

    %t: Tuple[float, float] = call _new_(tuple, %x, %y)

That is what is left of ``tuple(f(v) for v in vector)`` when the loop has been unrolled (`unrolled_loops`):
each element is added once, whichever way is taken.  Where a guess was wrong in between, the rest of the
function is given a list of what was there.  Needs types.
"""

from __future__ import annotations

import itertools
from typing import Any

from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _list_append_, _list_to_tuple_, _new_
from adbc.ir.loops import Loops, natural_loops
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, drop, target
from adbc.types.inference import is_rest

__all__ = ["built_tuples"]


def built_tuples(graph: Graph) -> bool:
    """Make tuples of what was gathered in lists for them, in place; returns whether anything changed."""
    found = [call for call in graph.instructions() if target(call) is _list_to_tuple_]
    if not found:
        return False
    users, dominators, loops = uses(graph), Dominators(graph), natural_loops(graph)
    gone: set[Instruction] = set()
    for call in found:
        made = call.operands[1]
        if (
            not isinstance(made, Instruction)
            or target(made) is not _new_
            or constant(made.operands[1]) is not list
        ):
            continue
        steps = _steps(made, call, users, dominators, loops)
        if steps is None:
            continue
        for user in users[made]:
            if isinstance(user, Instruction) and is_rest(user):
                _remake(made, user, [step for step in steps if _is_before(step, user, dominators)])
        elements = [*made.operands[2:], *[step.operands[2] for step in steps]]
        call.operands = [Const(_new_), Const(tuple), *elements]
        gone |= {made, *steps}
    if gone:
        drop(graph, gone)
    return bool(gone)


def _steps(
    made: Instruction, call: Instruction, users: dict[Value, list[Any]], dominators: Dominators, loops: Loops
) -> list[Instruction] | None:
    """The calls that append to the list `made`, one behind the other, before `call` makes a tuple of it; None
    if something else is done with it, or it is not said what is in it."""
    steps, others = [], [call]
    for user in users[made]:
        if not isinstance(user, Instruction):
            return None
        if target(user) is _list_append_ and user.operands[1] is made and made not in user.operands[2:]:
            if users[user] or not _in_step(user, made, loops):
                return None
            steps.append(user)
        elif is_rest(user):
            others.append(user)
        elif user is not call:
            return None
    if not _in_step(call, made, loops) or any(map(_is_handled, (made, *steps, *others))):
        return None
    steps.sort(key=lambda step: sum(_is_before(other, step, dominators) for other in steps))
    if not all(_is_before(one, other, dominators) for one, other in itertools.pairwise([*steps, call])):
        return None
    for step in steps:
        behind = _behind(step.block, made.block)
        if step.block in behind and step.block is not made.block:
            return None  # it appends several times to one list: a cycle with two entrances is no loop
        for other in others:
            if other.block in behind and not _is_before(step, other, dominators):
                return None
    return steps


def _in_step(one: Instruction, other: Instruction, loops: Loops) -> bool:
    """Whether both are in the same loops."""
    assert one.block is not None and other.block is not None
    return loops.innermost.get(one.block) is loops.innermost.get(other.block)


def _is_handled(call: Instruction) -> bool:
    return call.block is not None and call.block.handler is not None


def _is_before(one: Instruction, other: Instruction, dominators: Dominators) -> bool:
    """Whether `one` has been run whenever `other` is."""
    if one.block is not other.block:
        return dominators.dominates(one.block, other.block)  # type: ignore[arg-type]  # they are in blocks
    order = one.block.instructions  # type: ignore[union-attr]
    return order.index(one) < order.index(other)


def _behind(block: Block | None, start: Block | None) -> set[Block]:
    """The blocks that can be reached from the end of `block`, but not by way of `start`."""
    seen: set[Block] = set()
    waiting = [*block.successors] if block is not None else []
    while waiting:
        following = waiting.pop()
        if following is not start and following not in seen:
            seen.add(following)
            waiting += following.successors
    return seen


def _remake(made: Instruction, rest: Instruction, steps: list[Instruction]) -> None:
    """Give `rest` a list of its own, of what the list `made` holds behind `steps`."""
    operands = [*made.operands, *[step.operands[2] for step in steps]]
    own = Instruction("call", operands, type=made.type, position=made.position, name=made.name)
    block = rest.block
    assert block is not None
    own.block = block
    block.instructions.insert(block.instructions.index(rest), own)
    rest.operands = [own if value is made else value for value in rest.operands]
