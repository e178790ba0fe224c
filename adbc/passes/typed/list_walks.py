"""Steps of an iterator over a list are counted wherever they are taken, so that each element has an index.

before::

    entry:
        %r = call reversed(%l)
        %it = call _iter_(%r)
    head:
        %v = call _next_(%it)
        ...
    body:
        %w = call _next_(%it)
        ...

after::

    entry:
        %it = call _list_reversed_(%l)
        %n = call len(%l)
        %i0 = call operator.sub(%n, 1)
    head:
        %i = phi [entry: %i0, latch: %i2]
        %v = call _next_at_(%it, %l, %i)
        ...
    body:
        %i1 = call operator.sub(%i, 1)
        %w = call _next_at_(%it, %l, %i1)
        ...
    latch:
        %i2 = call operator.sub(%i1, 1)

A loop of the usual form has a counter of its own already (`list_loops`); these are the others: walks
backwards, loops that take several elements in each iteration, iterators that one loop leaves to the next.
What ``next(it)`` takes is read likewise (`_take_at_`).  The index is a variable like any other, led through
phis.  The iterator itself needs no shadow; where a guess was wrong and
the rest of the function goes on with it, it gets one from the index (`_resume_iterator_`).

An iterator whose steps are exhausted has no elements any more, even if the list has grown by then, so that
nobody reads by an index that has not moved.  Needs types.
"""

from __future__ import annotations

import operator
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Variables, insert_behind, remove_dead_phis, remove_trivial_phis
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch
from adbc.ir.traverse import predecessors, reverse_postorder, split_behind, uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import is_rest_call, target
from adbc.types.inference import type_of
from adbc.types.lattice import INT, Exact, is_list

__all__ = ["count_list_walks"]

_FORWARDS, _BACKWARDS = 1, -1


def count_list_walks(graph: Graph) -> bool:
    """Let steps of iterators over lists read by an index, in place; returns whether anything changed."""
    found = [(made, stride) for made in graph.instructions() if (stride := _stride(made))]
    if not found:
        return False
    changed = False
    for made, stride in found:
        changed |= _count(graph, made, stride)
    return changed


def _stride(made: Instruction) -> int:
    """Which way the iterator over a list that `made` makes goes; 0 if it makes none."""
    source = _source(made)
    return 0 if source is None or not is_list(type_of(source)) else _STRIDES.get(id(_maker(made)), 0)


def _maker(made: Instruction) -> Any:
    """The function that `made` calls, be it through a call of C."""
    function = target(made)
    return getattr(made.operands[1], "value", None) if function is intrinsics._foreigncall_ else function


def _source(made: Instruction) -> Value | None:
    """The only argument of the function that `made` calls."""
    first = 2 if target(made) is intrinsics._foreigncall_ else 1
    return made.operands[first] if len(made.operands) == first + 1 and not made.keywords else None


_STRIDES = {id(intrinsics._iter_): _FORWARDS, id(iter): _FORWARDS, id(reversed): _BACKWARDS}
"""By the address of a function that makes an iterator of a list, which way that goes."""


def _count(graph: Graph, made: Instruction, stride: int) -> bool:
    """Count the steps of the iterator that `made` makes, if nobody but they, and rests, use it."""
    names, steps, rests = _uses(made, uses(graph))
    if not steps or made.block is None or made.block.handler is not None:
        return False
    sources = predecessors(graph)
    behind: dict[Instruction, Block] = {}
    for step in steps:
        if target(step) is intrinsics._next_:
            inside = _behind(step, sources)
            if inside is None:
                return False
            behind[step] = inside
        elif step.block is None or step.block.handler is not None:
            return False
    for step in steps:
        if step not in behind:
            behind[step] = split_behind(graph, step)
    the_list = _source(made)
    assert the_list is not None
    index = _Index(graph)
    index.starts(made, the_list, stride)
    for step, inside in behind.items():
        following = _moved(Const(0), stride, step)
        following.block = inside
        inside.instructions.insert(0, following)
        index.moves(inside, following)
    for step, inside in behind.items():
        at = index.read(step)
        function = intrinsics._next_at_ if target(step) is intrinsics._next_ else intrinsics._take_at_
        step.operands = [Const(function), made, the_list, at]
        inside.instructions[0].operands[1] = at
    for rest in rests:
        operands = [Const(intrinsics._resume_iterator_), made, the_list, index.read(rest), Const(stride)]
        resumed = Instruction("call", operands, position=rest.position)
        resumed.block = rest.block
        rest.block.instructions.insert(rest.block.instructions.index(rest), resumed)  # type: ignore[union-attr]  # it is in a block
        rest.operands = [resumed if v in names else v for v in rest.operands]
    index.settle()
    for name in names - {made}:
        assert name.block is not None
        name.block.instructions.remove(name)
    is_backwards = stride == _BACKWARDS
    making = intrinsics._list_reversed_ if is_backwards else intrinsics._list_iterator_
    made.operands = [Const(making), the_list]
    made.type = Exact(type(reversed([])) if is_backwards else type(iter([])))
    return True


class _Index:
    """The index of the next element: a variable of the graph that is led through phis."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.variables = Variables(graph, initial=lambda variable: Const(0), phi_type=lambda variable: INT)
        for block in reverse_postorder(graph):
            for successor in block.successors:
                self.variables.edge(block, successor)
        self.variables.sealed.update(graph.blocks)
        self.is_arranged = False

    def starts(self, made: Instruction, the_list: Value, stride: int) -> None:
        """Set the index to that of the first element where the iterator is made."""
        assert made.block is not None
        if stride == _FORWARDS:
            self.variables.write("index", made.block, Const(0))
            return
        length = Instruction("call", [Const(len), the_list], type=INT, position=made.position)
        start = _moved(length, stride, made)
        insert_behind(self.graph, made, start)
        insert_behind(self.graph, made, length)
        self.variables.write("index", made.block, start)

    def moves(self, block: Block, index: Value) -> None:
        """Set the index at the beginning of `block`."""
        self.variables.write("index", block, index)

    def read(self, user: Instruction) -> Value:
        """The index where `user` stands, behind what sets it in the same block."""
        if not self.is_arranged:
            self.variables.arrange(self.graph.entry)
            self.is_arranged = True
        assert user.block is not None
        return self.variables.read("index", user.block)

    def settle(self) -> None:
        remove_trivial_phis(self.graph, only=set(self.variables.phis))
        remove_dead_phis(self.graph)


def _uses(made: Instruction, users: Any) -> tuple[set[Instruction], list[Instruction], list[Instruction]]:
    """What else the iterator `made` is called, which steps it takes, and which rests are given it.  There are
    no steps if it is used in other ways."""
    names = {made}
    waiting, steps, rests = [made], [], []
    while waiting:
        for user in dict.fromkeys(users.get(waiting.pop(), ())):
            call = getattr(user, "instruction", user)
            if not isinstance(call, Instruction):
                return names, [], []
            if _STRIDES.get(id(_maker(call))) == _FORWARDS and _source(call) in names:
                names.add(call)
                waiting.append(call)
            elif target(call) is intrinsics._next_ or (_maker(call) is next and _source(call) in names):
                steps.append(call)
            elif is_rest_call(call):
                rests.append(call)
            else:
                return names, [], []
    return names, list(dict.fromkeys(steps)), list(dict.fromkeys(rests))


def _behind(step: Instruction, sources: dict[Block, list[Block]]) -> Block | None:
    """The block that is entered with an element that `step` has taken, and in no other way; None if there is
    none."""
    block = step.block
    assert block is not None
    at = block.instructions.index(step) + 1
    end = block.terminator
    if block.handler is not None or not isinstance(end, Branch) or len(block.instructions) != at + 1:
        return None
    test = block.instructions[at]
    if (
        target(test) is not intrinsics._exhausted_
        or test.operands[1] is not step
        or end.condition is not test
    ):
        return None
    inside = end.false
    if inside is end.true or sources[inside] != [block] or inside.handler is not None:
        return None
    return inside


def _moved(index: Value, stride: int, like: Instruction) -> Instruction:
    operands = [Const(operator.add), index, Const(stride)]
    return Instruction("call", operands, type=INT, position=like.position)
