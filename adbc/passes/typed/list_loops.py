"""Loops over lists count their iterations, so that each element is known by its index.

before::

        %it = call _iter_(%l)
    head:
        %v = call _next_(%it)
        %e = call _exhausted_(%v)
        branch %e, done, body
    body:
        ...

after::

        %it = call _list_iterator_(%l)
    head:
        %i = phi [entry: 0, latch: %i1]
        %v = call _next_at_(%it, %l, %i)
        %e = call _exhausted_(%v)
        branch %e, done, body
    body:
        %i1 = call operator.add(%i, 1)
        ...

An element that was taken in front of the loop is number 0, and the loop begins with number 1 (`pairwise`).

A loop over a tuple of known form is one over a list of its elements: a tuple has no memory to which what
comes back for an element that is known by its index alone could be added::

        %1 = call _project_(%t, 0)                  # %t: Tuple[float, float]
        %2 = call _project_(%t, 1)
        %l = call _new_(list, %1, %2)
        %it = call _list_iterator_(%l)

One over a tuple whose form is not known is over a list that is made of it::

        %l = call list(%t)                          # %t: tuple
        %it = call _list_iterator_(%l)

as long as the loop is not left before the end: what makes the list goes over all of the tuple.

Lists and tuples of a derived class are such where their class has no ``__iter__`` of its own
(`LoopKnowledge.iterated_as`).

A step that is taken behind the loop, as where a strict `zip` looks whether all have come to their ends, is
the one with the number of the iteration that there was not.

The iterator itself then needs no shadow; where a guess was wrong and the rest of the function goes on with
it, it gets one from the count (`_resume_iterator_`).  Needs types.
"""

from __future__ import annotations

import operator
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import Loop, natural_loops
from adbc.ir.terminators import Branch
from adbc.ir.traverse import leads_to, predecessors, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import assumption, is_rest_call, target
from adbc.passes.typed.guards import behind_steps
from adbc.types.derived_builtins import as_tuple
from adbc.types.inference import type_of
from adbc.types.lattice import (
    ANY,
    INT,
    AbstractType,
    Exact,
    TupleType,
    has_cotangent,
    has_shadow,
    is_list,
    join_all,
)

__all__ = ["LoopKnowledge", "count_list_loops", "is_rest"]

Counters = dict[Block, tuple[Phi, Instruction]]
"""The number of the iteration and of the next one, by the head of the loop."""


class LoopKnowledge(Protocol):
    """What `count_list_loops` asks of the rest of the system."""

    def iterated_as(self, cls: type) -> type | None:
        """`list` or `tuple`, if that is what a loop over an instance of exactly `cls` goes over; else
        None."""


def count_list_loops(graph: Graph, knowledge: LoopKnowledge) -> bool:
    """Let loops over lists read by a counter, in place; returns whether anything changed."""
    found = [
        (made, step)
        for step in graph.instructions()
        if target(step) is intrinsics._next_
        and target(made := step.operands[1]) is intrinsics._iter_
        and _is_by_index(type_of(made.operands[1]), knowledge)  # type: ignore[attr-defined]  # a call
    ]
    if not found:
        return False
    dominators = Dominators(graph)
    users = uses(graph)
    sources = predecessors(graph)
    loops = natural_loops(graph).innermost
    counters: Counters = {}
    changed = False
    for made, step in found:
        loop = loops.get(step.block)  # type: ignore[arg-type]  # it is in a block
        if loop is not None:
            changed |= _count(made, step, loop, users, sources, dominators, counters, knowledge)  # type: ignore[arg-type]  # a call
    return changed


def _count(
    made: Instruction,
    step: Instruction,
    loop: Loop,
    users: Any,
    sources: dict[Block, list[Block]],
    dominators: Dominators,
    counters: Counters,
    knowledge: LoopKnowledge,
) -> bool:
    """Count the iterations of the loop around `step`, if that runs once in each of them."""
    head, block = loop.header, step.block
    inside = behind_steps(step)
    assert block is not None and made.block is not None
    if inside is None or made.block in loop.blocks:
        return False
    if head.handler is not None or block.handler is not None or _is_entered_again(loop, made.block):
        return False
    latches = [b for b in sources[head] if dominators.dominates(head, b)]
    if not latches or not all(dominators.dominates(inside, b) for b in latches) or not loop.runs_once(block):
        return False
    others: list[Instruction] = []
    early: list[Instruction] = []
    ends: list[Instruction] = []
    first = _first_step(made, step, head, users, dominators)
    for user in users.get(made, ()):
        instruction = getattr(user, "instruction", user)
        if instruction is step or instruction is first:
            continue
        if _is_behind(instruction, inside, loop, dominators):
            ends.append(instruction)
        elif isinstance(instruction, Instruction) and is_rest(instruction, inside, dominators):
            others.append(instruction)
        elif first is not None and is_rest(instruction, _behind(first), dominators):
            if dominators.dominates(head, instruction.block):
                return False
            early.append(instruction)
        else:
            return False
    the_list = _as_list(made, step, loop, first is None, users, knowledge)
    if the_list is None:
        return False
    made.operands[1] = the_list
    start = 0 if first is None else 1
    known = counters.get(head) if first is None else None
    if known is not None and known[1].block is inside:
        counter, following = known  # another list, in step with this one
    else:
        counter = Phi(head, INT, None)
        head.phis.append(counter)
        following = Instruction(
            "call", [Const(operator.add), counter, Const(1)], type=INT, position=step.position
        )
        following.block = inside
        inside.instructions.insert(0, following)
        for source in sources[head]:
            counter.operands[source] = following if source in latches else Const(start)
        if first is None:
            counters[head] = counter, following
    if first is not None:
        first.operands = [Const(intrinsics._next_at_), made, the_list, Const(0)]
    for call in (step, *ends):
        call.operands = [Const(intrinsics._next_at_), made, the_list, counter]
    made.operands[0] = Const(intrinsics._list_iterator_)
    for call in (*early, *others):
        at = call.block
        assert at is not None
        taken = following if call in others else Const(1)
        resumed = Instruction(
            "call", [Const(intrinsics._resume_iterator_), made, the_list, taken], position=call.position
        )
        resumed.block = at
        at.instructions.insert(at.instructions.index(call), resumed)
        call.operands = [resumed if v is made else v for v in call.operands]
    return True


def _as_list(
    made: Instruction, step: Instruction, loop: Loop, is_whole: bool, users: Any, knowledge: LoopKnowledge
) -> Value | None:
    """The list that the loop around `step` goes over (`is_whole`: from its beginning), made in front of
    `made` if that is a tuple; None if it cannot be."""
    source = made.operands[1]
    known = type_of(source)
    if _is_some_tuple(known, knowledge):
        return _made_list(made) if is_whole and _goes_to_the_end(loop) else None
    if not isinstance(known, TupleType):
        return source
    if not is_whole:
        return None
    listed, inside = _listed(made, known), behind_steps(step)
    assert inside is not None
    _assume_element(step, inside, join_all(known.elements), users)
    return listed


def _is_behind(call: Any, inside: Block, loop: Loop, dominators: Dominators) -> bool:
    """Whether `call` takes a step behind the loop, for which that has taken as many as it has counted: on no
    way there has it taken another one, `inside`, that is not counted yet."""
    if target(call) is not intrinsics._next_ or call.block in loop.blocks:
        return False
    if not dominators.dominates(loop.header, call.block):
        return False
    return not leads_to(
        [behind for block, behind in loop.exits if dominators.dominates(inside, block)], call.block
    )


def _is_entered_again(loop: Loop, start: Block) -> bool:
    """Whether a way leads from `loop` back into it, and not through `start`, where the iterator is made: it
    goes on there with what it has not given yet."""
    return leads_to([behind for _, behind in loop.exits], loop.header, start)


def _is_by_index(known: AbstractType, knowledge: LoopKnowledge) -> bool:
    """Whether elements of what has this type are read by index in loops."""
    if isinstance(known, TupleType):
        return len(known.elements) <= _LONGEST and any(
            has_shadow(t) or has_cotangent(t) for t in known.elements
        )
    return isinstance(known, Exact) and (is_list(known) or knowledge.iterated_as(known.cls) is not None)


def _is_some_tuple(known: AbstractType, knowledge: LoopKnowledge) -> bool:
    """Whether of what has this type is known that it is a tuple, and nothing else."""
    return isinstance(known, Exact) and knowledge.iterated_as(known.cls) is tuple


def _goes_to_the_end(loop: Loop) -> bool:
    """Whether `loop` is left when there are no more elements, or where a guess is wrong, and nowhere else."""
    for block, behind in loop.exits:
        ends = block.terminator
        is_over = isinstance(ends, Branch) and target(ends.condition) is intrinsics._exhausted_
        if not is_over and not (behind.instructions and _is_observed(behind)):
            return False
    return True


def _is_observed(block: Block) -> bool:
    return target(block.instructions[0]) is intrinsics._observe_


_LONGEST = 32
"""A tuple that is longer is not made a list of its elements."""


def _listed(made: Instruction, known: TupleType) -> Value:
    """A list of the elements of the tuple of which `made` makes an iterator, made in front of that."""
    block = made.block
    assert block is not None
    elements = [
        Instruction(
            "call",
            [Const(intrinsics._project_), made.operands[1], Const(i)],
            type=element,
            position=made.position,
        )
        for i, element in enumerate(known.elements)
    ]
    operands = [Const(intrinsics._new_), Const(list), *elements]
    listed = Instruction("call", operands, type=Exact(list), position=made.position)
    at = block.instructions.index(made)
    block.instructions[at:at] = [*elements, listed]
    for call in (*elements, listed):
        call.block = block
    return listed


def _made_list(made: Instruction) -> Value:
    """A list that is made of the tuple of which `made` makes an iterator, in front of that."""
    block, value = made.block, made.operands[1]
    assert block is not None
    for function, known in ((as_tuple, Exact(tuple)), (list, Exact(list))):
        if type_of(value) == known:
            continue
        value = Instruction("call", [Const(function), value], type=known, position=made.position)
        value.block = block
        block.instructions.insert(block.instructions.index(made), value)
    return value


def _assume_element(step: Instruction, inside: Block, known: AbstractType, users: Any) -> None:
    """Say that what `step` takes is of the type that is `known` of all elements, where it is an element."""
    if known is ANY:
        return
    assumed = assumption(step, known)
    assumed.block = inside
    graph = inside.graph
    tests = [user for user in users.get(step, ()) if target(user) is intrinsics._exhausted_]
    graph.replace_uses({step: assumed})
    assumed.operands[1] = step
    for test in tests:
        test.operands[1] = step
    inside.instructions.insert(0, assumed)


def _first_step(
    made: Instruction, step: Instruction, head: Block, users: Any, dominators: Dominators
) -> Instruction | None:
    """The step that takes an element in front of the loop with `head`, once and whenever the loop is entered,
    if there is one."""
    others = [user for user in users.get(made, ()) if user is not step and target(user) is intrinsics._next_]
    if len(others) != 1:
        return None
    (first,) = others
    block, inside = first.block, behind_steps(first)
    if inside is None or block.handler is not None or not dominators.dominates(inside, head):
        return None
    return first if _is_straight(made.block, block, dominators) else None


def _behind(step: Instruction) -> Block:
    inside = behind_steps(step)
    assert inside is not None
    return inside


def _is_straight(start: Block | None, end: Block, dominators: Dominators) -> bool:
    """Whether there is no way back to `end` that does not lead through `start`."""
    return start is not None and (start is end or not leads_to(end.successors, end, start))


def is_rest(call: Instruction, inside: Block, dominators: Dominators) -> bool:
    """Whether `call` is the rest of the function in a side exit, given the values that are live."""
    assert call.block is not None
    return dominators.dominates(inside, call.block) and is_rest_call(call)
