"""Loops over arrays are loops over indices, so that each element or row is known by its place.

before::

        %it = call _iter_(%a)
    head:
        %v = call _next_(%it)
        %e = call _exhausted_(%v)
        branch %e, done, body
    body:
        ...

after::

        %n = call len(%a)
        %r = call range(%n)
        %it = call _iter_(%r)
    head:
        %i = call _next_(%it)
        %e = call _exhausted_(%i)
        branch %e, done, body
    body:
        %v = call operator.getitem(%a, %i)
        ...

The iterator then needs no shadow, and a row is a view like any other.  Where a guess was wrong and the rest
of the function goes on with the iterator, it gets one over the rows that are left.  Needs types.
"""

from __future__ import annotations

import operator
from typing import Any

from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _exhausted_, _iter_, _new_, _next_
from adbc.ir.terminators import Branch
from adbc.ir.traverse import leads_to, predecessors, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.passes.typed.list_loops import is_rest
from adbc.types.inference import iterated_array

__all__ = ["index_array_loops"]


def index_array_loops(graph: Graph) -> bool:
    """Let loops over arrays read by an index, in place; returns whether anything changed."""
    found = [
        call for call in graph.instructions() if target(call) is _iter_ and iterated_array(call) is not None
    ]
    if not found:
        return False
    users, dominators, sources = uses(graph), Dominators(graph), predecessors(graph)
    changed = False
    for made in found:
        changed |= _index(graph, made, users, dominators, sources)
    return changed


def _index(
    graph: Graph,
    made: Instruction,
    users: Any,
    dominators: Dominators,
    sources: dict[Block, list[Block]],
) -> bool:
    """Let the steps of the iterator `made` that take elements read by an index."""
    own = [getattr(user, "instruction", user) for user in users.get(made, ())]
    asking = [user for user in own if target(user) is _next_]
    steps = [call for call in asking if _takes_something(call, users)] if len(asking) > 1 else asking
    places = {step: _where_taken(step, users, sources, dominators) for step in steps}
    if not steps or None in places.values() or made.block is None or made.block.handler is not None:
        return False
    rests: dict[Instruction, Instruction] = {}
    for call in own:
        if call not in asking:
            last = _last_step(call, places, dominators)  # type: ignore[arg-type]  # none is None
            if last is None:
                return False
            rests[call] = last
    array = made.operands[1]
    position = made.position
    length = Instruction("call", [Const(len), array], position=position)
    indices = Instruction("call", [Const(range), length], position=position)
    block = made.block
    at = block.instructions.index(made)
    block.instructions[at:at] = [length, indices]
    length.block = indices.block = block
    made.operands[1] = indices
    for step, inside in places.items():
        _read(graph, array, step, inside)  # type: ignore[arg-type]  # none is None
    for call, step in rests.items():
        _leave_rest(call, made, array, step)
    return True


def _read(graph: Graph, array: Value, step: Instruction, inside: Block) -> None:
    """Read the element with the number that `step` takes, where the iterator has not ended."""
    operands = [Const(operator.getitem), array, step]
    read = Instruction("call", operands, position=step.position, name=step.name)
    graph.replace_uses({step: read})
    test = _test_of(step)
    test.operands[1] = read.operands[2] = step
    read.block = inside
    inside.instructions.insert(0, read)


def _last_step(call: Any, places: dict[Instruction, Block], dominators: Dominators) -> Instruction | None:
    """The step behind which `call`, the rest of the function, stands, if no other can have been taken since
    then."""
    if not isinstance(call, Instruction):
        return None
    behind = [step for step, inside in places.items() if is_rest(call, inside, dominators)]
    if not behind:
        return None
    last = behind[0]
    for step in behind[1:]:
        if dominators.dominates(places[last], places[step]):
            last = step
    others = [inside for step, inside in places.items() if step is not last]
    return None if leads_to(others, call.block, last.block) else last


def _takes_something(call: Any, users: Any) -> bool:
    """Whether what a step of an iterator took is used, and not only tested, as where a strict `zip` ends."""
    return any(target(user) is not _exhausted_ for user in users.get(call, ()))


def _test_of(step: Instruction) -> Any:
    assert step.block is not None
    return step.block.terminator.condition  # type: ignore[attr-defined]  # a Branch: `_where_taken`


def _where_taken(
    step: Instruction, users: Any, sources: dict[Block, list[Block]], dominators: Dominators
) -> Block | None:
    """The block in which there is what `step` took, if that is used nowhere else."""
    block = step.block
    assert block is not None
    terminator = block.terminator
    if block.handler is not None or not isinstance(terminator, Branch):
        return None
    test = terminator.condition
    if not isinstance(test, Instruction) or target(test) is not _exhausted_ or test.operands[1] is not step:
        return None
    inside = terminator.false
    if sources[inside] != [block] or inside.phis or inside.handler is not None:
        return None
    for user in users[step]:
        if user is test:
            continue
        homes: list[Any] = [getattr(user, "block", None)]
        if isinstance(user, Phi):
            homes = [source for source, value in user.operands.items() if value is step]
        if None in homes or not all(dominators.dominates(inside, home) for home in homes):
            return None
    return inside


def _leave_rest(call: Instruction, made: Value, array: Value, index: Value) -> None:
    """Give `call`, the rest of the function, an iterator over what comes behind `index` of `array`."""
    block = call.block
    assert block is not None
    start = Instruction("call", [Const(operator.add), index, Const(1)], position=call.position)
    bounds = Instruction("call", [Const(_new_), Const(slice), start, Const(None)], position=call.position)
    left = Instruction("call", [Const(operator.getitem), array, bounds], position=call.position)
    again = Instruction("call", [Const(_iter_), left], position=call.position)
    at = block.instructions.index(call)
    block.instructions[at:at] = [start, bounds, left, again]
    for new in (start, bounds, left, again):
        new.block = block
    call.operands = [again if v is made else v for v in call.operands]
