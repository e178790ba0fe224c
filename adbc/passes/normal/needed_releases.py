"""What the lifter says about the frame letting go of values is dropped, except where a round trip would
differ.

A generator that is dropped runs what stands in its ``finally``.  Code that is emitted drops an iterator where
its loop is left, and a variable when another value takes its place, so it is enough to keep (`_release_`)

- of the iterator of a loop, what is said behind something else that is done after the loop has been left: a
  ``finally``, or the value that is returned;
- of variables, what is said of those that may be generators, because they are asked for a next value, or
  because a loop over them is left early.  Where only one variable is, its end is that of the frame.

Needs a graph with releases as it was lifted.
"""

from __future__ import annotations

from adbc.ir import intrinsics as i
from adbc.ir.builder import remove_dead_phis, remove_trivial_phis
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import natural_loops
from adbc.ir.terminators import Return
from adbc.ir.traverse import uses
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.passes.query import constant, target

__all__ = ["ends_frame", "needed_releases"]

_METHODS = ("__next__", "send", "throw", "close")


def needed_releases(graph: Graph) -> bool:
    """Remove the releases that no round trip needs, in place; returns whether any are left."""
    found = [x for x in graph.instructions() if target(x) is i._release_]
    known = {loop.header: frozenset(loop.blocks) for loop in natural_loops(graph).all}
    # What is never gone round is no loop, but has an iterator.
    loops = {
        instruction.operands[0]: known.get(block, frozenset((block,)))
        for block in graph.blocks
        for instruction in block.instructions
        if instruction.op == "next"
    }
    on_stack = [x for x in found if constant(x.operands[2]) == i.STACK]
    left_early = {x.operands[1] for x in on_stack if x.operands[1] in loops}
    generators = _generators(graph, left_early)
    sources = graph.predecessors()
    kept = {x for x in on_stack if x.operands[1] in loops and _is_late(x, loops[x.operands[1]], sources)}
    named = [x for x in found if constant(x.operands[2]) != i.STACK and x.operands[1] in generators]
    kept.update(named)
    places = {constant(x.operands[2]) for x in named} - {i.KEPT}
    for x in named:
        if len(places) == 1 and ends_frame(x):
            x.operands[2] = Const(i.KEPT)
    for block in graph.blocks:
        block.instructions = [x for x in block.instructions if target(x) is not i._release_ or x in kept]
    remove_trivial_phis(graph)
    remove_dead_phis(graph)
    return bool(kept)


def ends_frame(release: Instruction) -> bool:
    """Whether a variable is let go of because the function returns."""
    block = release.block
    assert block is not None
    behind = block.instructions[block.instructions.index(release) :]
    return isinstance(block.terminator, Return) and all(target(x) is i._release_ for x in behind)


def _is_late(release: Instruction, loop: frozenset[Block], sources: dict[Block, list[Block]]) -> bool:
    """Whether something is done between the end of `loop` and the `release` of its iterator."""
    block = release.block
    assert block is not None
    if _is_range(release.operands[1]) or block in loop:
        return False
    waiting = [block]
    seen = {block}
    before = block.instructions[: block.instructions.index(release)]
    while True:
        if any(target(x) is not i._release_ for x in before):
            return True
        for source in sources[waiting.pop()]:
            if source not in loop and source not in seen:
                seen.add(source)
                waiting.append(source)
        if not waiting:
            return False
        before = waiting[-1].instructions


def _is_range(iterator: Value) -> bool:
    """Whether `iterator` runs over what a call of ``range`` gives, by this name."""
    made = iterator.operands[0] if isinstance(iterator, Instruction) and iterator.op == "iter" else None
    callee = made.operands[0] if isinstance(made, Instruction) and made.op == "call" else None
    return isinstance(callee, Instruction) and callee.op == "global" and callee.attribute == "range"


def _generators(graph: Graph, left_early: set[Value]) -> set[Value]:
    """The values that may be generators: parameters, results of calls, and phis of such."""
    users = uses(graph)

    def is_asked(value: Value) -> bool:
        for user in users.get(value, ()):
            if not isinstance(user, Instruction):
                continue
            if user.op == "iter" and user in left_early:
                return True
            if user.op == "getattr" and user.attribute in _METHODS:
                return True
            if user.op == "call" and user.operands[1:2] == [value]:
                callee = user.operands[0]
                if isinstance(callee, Instruction) and callee.op == "global" and callee.attribute == "next":
                    return True
        return False

    found = {value for value in users if isinstance(value, Argument | Phi) or _is_call(value)}
    found = {value for value in found if is_asked(value)}
    waiting = list(found)
    while waiting:
        value = waiting.pop()
        near: list[Value] = [user for user in users.get(value, ()) if isinstance(user, Phi)]
        if isinstance(value, Phi):
            near += [v for v in value.operands.values() if isinstance(v, Argument | Phi) or _is_call(v)]
        for other in near:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _is_call(value: Value) -> bool:
    return isinstance(value, Instruction) and value.op == "call" and target(value) is not i._release_
