"""Loops over tuples of known form are unrolled: each element is a value of its own there.

before::

        %it = call _iter_(%t)                          # %t: Tuple[float, float]
    head:
        %s = phi [entry: 0.0, body: %s1]
        %v = call _next_(%it)
        %e = call _exhausted_(%v)
        branch %e, done, body
    body:
        %s1 = call operator.add(%s, %v)
        jump head

after::

        %v0 = call _project_(%t, 0)
        %v1 = call _project_(%t, 1)
        %s1 = call operator.add(0.0, %v0)
        %s2 = call operator.add(%s1, %v1)
        jump done

Vectors in tuples are added, multiplied and summed in such loops, mostly in generator expressions: element by
element there is nothing to count, no iterator, and no record of the way that was taken.  The form may be a
guess, so this comes behind the guards; a side exit in the loop goes on with an iterator over what is left.

A list that only collects what such a loop has made, for a tuple, is the tuple (`built_tuples`).  Needs types.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import Loop, natural_loops
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import copy_of, copy_terminator, cycles, predecessors, remove_unreachable, uses
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Value
from adbc.passes.query import constant, drop, target
from adbc.records import record
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, LIST, TupleType

__all__ = ["unrolled_loops"]

_LONGEST = 8
"""A tuple that is longer is data."""
_LARGEST = 160
"""How many instructions the copies of one loop may have together."""


@record(eq=False)
class _Step:
    """A step of a loop over a tuple.

    made: the call that makes the iterator over `source`, of this `length`.  taken: the call of `_next_`.
    """

    made: Instruction
    taken: Instruction
    source: Value
    length: int

    @property
    def block(self) -> Block:
        assert self.taken.block is not None
        return self.taken.block


Values = dict[Value, Value]
"""The values of one iteration, by those of the loop."""


@record(eq=False)
class _Arrival:
    """A way to a block: from `source`, the copy of `original`, where the values are `known`."""

    source: Block
    original: Block
    known: Values


@record(eq=False)
class _Plan:
    """How a loop is unrolled.

    steps: what each iteration begins with, in this order; each is in a block of its own, which ends with its
    test.  end: where the loop leads to when the shortest tuple is exhausted.  exits: the blocks for which the
    function is left from inside the loop.  behind: other blocks to which the loop is left from inside.
    """

    loop: Loop
    steps: list[_Step]
    end: Block
    exits: list[Block]
    behind: set[Block]

    @property
    def count(self) -> int:
        """The number of iterations."""
        return min(step.length for step in self.steps)


def unrolled_loops(graph: Graph) -> bool:
    """Unroll the innermost loops over short tuples, in place; returns whether there were any."""
    changed = False
    while (plan := _found(graph)) is not None:
        _unroll(graph, plan)
        changed = True
    return changed


# -- which loops ---------------------------------------------------------------------------------------------


def _found(graph: Graph) -> _Plan | None:
    """The next loop to unroll, if there is one."""
    if not any(map(_is_over_tuple, graph.instructions())):
        return None
    users, sources = uses(graph), predecessors(graph)
    for loop in natural_loops(graph).all:
        if not loop.children:
            plan = _planned(graph, loop, users, sources)
            if plan is not None:
                return plan
    return None


def _is_over_tuple(call: Instruction) -> bool:
    """Whether `call` takes a step of an iterator over a short tuple."""
    if target(call) is not intrinsics._next_ or target(call.operands[1]) is not intrinsics._iter_:
        return False
    known = type_of(call.operands[1].operands[1])  # type: ignore[attr-defined]  # a call
    return isinstance(known, TupleType) and 0 < len(known.elements) <= _LONGEST


def _planned(graph: Graph, loop: Loop, users: Any, sources: dict[Block, list[Block]]) -> _Plan | None:
    steps = list(_steps(loop, sources))
    if not steps:
        return None
    end = steps[0].block.terminator.true  # type: ignore[attr-defined]  # a branch
    if loop.header is graph.entry:
        return None
    heads = [step.block for step in steps]
    exits, behind = [], set()
    for source, block in loop.exits:
        if block is end and source in heads:
            continue
        if block.successors or block.phis or sources[block] != [source]:
            behind.add(block)
        else:
            exits.append(block)
    plan = _Plan(loop, steps, end, exits, behind)
    region = {*loop.blocks, *exits}
    size = sum(len(block.instructions) + 1 for block in region)
    if size * plan.count > _LARGEST or any(block.handler is not None for block in region):
        return None
    if not all(_is_taken_apart(step, exits, users) for step in steps) or _goes_round(loop):
        return None
    # What a head computes is that of the last iteration where the loop is left there, and only there.
    return plan if _stays_inside(graph, loop, region, [] if behind else heads) else None


def _steps(loop: Loop, sources: dict[Block, list[Block]]) -> Iterator[_Step]:
    """The steps with which each iteration of `loop` begins; none if one of them is not over a short tuple."""
    found: list[_Step] = []
    block, end = loop.header, None
    while block.instructions and target(block.instructions[0]) is intrinsics._next_:
        taken, *others = block.instructions
        test = block.terminator
        if not _is_over_tuple(taken) or not isinstance(test, Branch) or others != [test.condition]:
            return
        made, condition = taken.operands[1], others[0]
        assert isinstance(made, Instruction)
        if target(condition) is not intrinsics._exhausted_ or condition.operands[1] is not taken:
            return
        if made.block in loop.blocks or test.true is not (end or test.true) or test.true in loop.blocks:
            return
        source, known = made.operands[1], type_of(made.operands[1])
        assert isinstance(known, TupleType)
        found.append(_Step(made, taken, source, len(known.elements)))
        block, end = test.false, test.true
        if sources[block] != [found[-1].block] or block.phis:
            break
    yield from found


def _goes_round(loop: Loop) -> bool:
    """Whether there is a way round inside an iteration of `loop`: one with several ways in is no natural
    loop, so it is not among the children, and its blocks cannot be copied in one order."""
    inside = [block for block in loop.blocks if block is not loop.header]
    return bool(cycles(inside, lambda block: [to for to in block.successors if to in inside]))


def _is_taken_apart(step: _Step, exits: list[Block], users: Any) -> bool:
    """Whether the iterator of `step` is used for that, and where the function is left, alone."""
    return all(
        user is step.taken or (isinstance(user, Instruction) and user.block in exits)
        for user in users[step.made]
    )


def _stays_inside(graph: Graph, loop: Loop, region: set[Block], heads: list[Block]) -> bool:
    """Whether nothing but `region`, and phis where it is left, uses what `loop` computes behind the tests in
    its `heads`."""
    inner = {
        value for block in loop.blocks if block not in heads for value in (*block.phis, *block.instructions)
    }
    for block in graph.blocks:
        if block in region:
            continue
        used = [value for phi in block.phis for source, value in phi.operands.items() if source not in region]
        used += [value for call in block.instructions for value in call.operands]
        if not inner.isdisjoint((*used, *block.terminator.values)):
            return False
    return True


# -- how -----------------------------------------------------------------------------------------------------


def _unroll(graph: Graph, plan: _Plan) -> None:
    """Write a copy of the loop for each of its iterations, and one of its head for the end, in place."""
    loop, header = plan.loop, plan.loop.header
    elements = {step: _elements(step) for step in plan.steps}
    before = [source for source in predecessors(graph)[header] if source not in loop.blocks]
    region = [*loop.blocks, *plan.exits]
    copies = [{block: graph.add_block(block.label) for block in region} for _ in range(plan.count + 1)]
    arrivals = [_Arrival(source, source, {}) for source in before]
    known: Values = {}
    for number, blocks in enumerate(copies):
        following = copies[number + 1][header] if number < plan.count else plan.end
        known = {
            step.taken: parts[number] if number < len(parts) else UNDEF for step, parts in elements.items()
        }
        arrivals = _copy(plan, number, {**blocks, header: following}, blocks, arrivals, known, elements)
    for source in before:
        source.terminator.replace_successor(header, copies[0][header])
    _leave(plan, copies[-1], known)
    graph.replace_uses({v: known[v] for step in plan.steps for v in _of(step.block) if v in known})
    remove_unreachable(graph)
    drop(graph, {step.made for step in plan.steps})


def _of(block: Block) -> Iterator[Value]:
    yield from block.phis
    yield from block.instructions


def _elements(step: _Step) -> list[Value]:
    """The elements of the tuple that `step` goes through, read in front of the loop if need be."""
    source, made = step.source, step.made
    if isinstance(source, Const):
        return [Const(element) for element in source.value]  # type: ignore[attr-defined]  # a tuple
    if target(source) is intrinsics._new_ and constant(source.operands[1]) is tuple:  # type: ignore[attr-defined]
        return [*source.operands[2:]]  # type: ignore[attr-defined]
    known = type_of(source)
    assert isinstance(known, TupleType) and made.block is not None
    read: list[Instruction] = []
    for number, element in enumerate(known.elements):
        operands = [Const(intrinsics._project_), source, Const(number)]
        read.append(Instruction("call", operands, type=element, position=made.position))
    _insert(made, read)
    return [*read]


def _insert(before: Instruction, calls: list[Instruction]) -> None:
    block = before.block
    assert block is not None
    at = block.instructions.index(before)
    block.instructions[at:at] = calls
    for call in calls:
        call.block = block


def _copy(
    plan: _Plan,
    number: int,
    targets: dict[Block, Block],
    blocks: dict[Block, Block],
    entering: list[_Arrival],
    known: Values,
    elements: dict[_Step, list[Value]],
) -> list[_Arrival]:
    """Fill the copy of iteration `number`, as far as it is gone to; returns from where the next is entered.

    targets: the copies that jumps lead to.  known: the values of this iteration, so far what is taken.
    """
    header = plan.loop.header
    tests = {step.block: step for step in plan.steps}
    arrivals: dict[Block, list[_Arrival]] = {header: entering}
    leaving: list[_Arrival] = []

    def copied(value: Value) -> Value:
        return known.get(value, value)

    for block, copy in blocks.items():  # in reverse postorder
        if block not in arrivals:
            continue
        _merge(block, copy, arrivals[block], known)
        end = block.terminator
        if block in tests:
            assert isinstance(end, Branch)
            is_ended = number >= tests[block].length
            known[block.instructions[1]] = Const(is_ended)
        else:
            for call in block.instructions:
                made = known[call] = copy.append(copy_of(call))
                for step in plan.steps:
                    if step.made in made.operands:
                        _resume(made, step, elements[step], number + 1)
                made.operands = [_given(copied(value)) for value in made.operands]
        decided = constant(copied(end.condition)) if isinstance(end, Branch) else None
        if isinstance(end, Branch) and type(decided) is bool:
            end = Jump(end.true if decided else end.false, end.position)
        outside = {plan.end: plan.end, **{left: left for left in plan.behind}}
        copy.terminator = copy_terminator(end, copied, {**outside, **targets})
        for successor in end.successors:
            arrival = _Arrival(copy, block, known)
            if successor is header:
                leaving.append(arrival)
            elif successor in plan.behind and block not in tests:
                for phi in successor.phis:
                    phi.operands[copy] = copied(phi.operands[block])
            elif successor in blocks:
                arrivals.setdefault(successor, []).append(arrival)
    return leaving


def _given(value: Value) -> Value:
    """What an instruction is given in place of `value`: None for a variable that is not set yet, which the
    rest of the function may be handed, though it does not read it."""
    return Const(None) if value is UNDEF else value


def _merge(block: Block, copy: Block, arrivals: list[_Arrival], known: Values) -> None:
    """Give the phis of `block` their values in `copy`: where all ways there bring the same, that."""
    found: Values = {}
    for phi in block.phis:
        operands: dict[Block, Value] = {}
        for arrival in arrivals:
            value = phi.operands[arrival.original]
            operands[arrival.source] = arrival.known.get(value, value)
        first, *others = operands.values()
        if all(map(functools.partial(_is_same, first), others)):
            found[phi] = first
            continue
        made = found[phi] = Phi(copy, phi.type, phi.name)
        made.position = phi.position
        made.operands = operands
        copy.phis.append(made)
    known.update(found)


def _is_same(one: Value, other: Value) -> bool:
    return one is other or (isinstance(one, Const) and isinstance(other, Const) and one.value is other.value)


def _resume(call: Instruction, step: _Step, parts: list[Value], taken: int) -> None:
    """Give `call`, the rest of the function, an iterator over what is left when so many have been `taken`, in
    place of that of `step`."""
    left: list[Value] = [Const(intrinsics._new_), Const(list), *parts[taken:]]
    values = Instruction("call", left, type=LIST, position=call.position)
    iterator = Instruction("call", [Const(intrinsics._iter_), values], type=ANY, position=call.position)
    _insert(call, [values, iterator])
    call.operands = [iterator if value is step.made else value for value in call.operands]


def _leave(plan: _Plan, blocks: dict[Block, Block], known: dict[Value, Value]) -> None:
    """Let phis behind the loop say what comes from its end."""
    (last, *_) = [step.block for step in plan.steps if step.length == plan.count]
    for phi in plan.end.phis:
        phi.operands[blocks[last]] = known.get(phi.operands[last], phi.operands[last])
