"""Loops over ``zip`` and ``enumerate`` step through what these step through, and build no tuples.

before::

    %z = call _foreigncall_(builtins.zip, %a, %b)
    %it = call _iter_(%z)
    jump head
    head:
        %v = call _next_(%it)
        %e = call _exhausted_(%v)
        branch %e, done, body
    body:
        %u = call _unpack_(%v, 2)
        %x = call _project_(%u, 0)
        %y = call _project_(%u, 1)

after::

    %it = call _iter_(%a)
    %it2 = call _iter_(%b)
    jump head
    head:
        %x = call _next_(%it)
        %e = call _exhausted_(%x)
        branch %e, done, head.1
    head.1:
        %y = call _next_(%it2)
        %e2 = call _exhausted_(%y)
        branch %e2, done, body
    body:
        ...

What is iterated over keeps its type, so a loop over two lists is as good as one over a list.  For graphs that
are differentiated, in normal form.  Only loops whose iterator nobody else sees, outside of ``try``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from adbc.ir.builder import Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _exhausted_, _foreigncall_, _iter_, _new_, _next_, _project_, _unpack_
from adbc.ir.terminators import Branch
from adbc.ir.traverse import predecessors, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target

__all__ = ["zipped_loops"]


def zipped_loops(graph: Graph) -> Graph:
    while _rewrite_one(graph):
        pass
    return graph


def _rewrite_one(graph: Graph) -> bool:
    steps = [call for call in graph.instructions() if target(call) is _next_]
    if not steps:
        return False
    users = uses(graph)
    for step in steps:
        made = step.operands[1]
        if not isinstance(made, Instruction) or target(made) is not _iter_ or len(users.get(made, ())) != 1:
            continue
        source = made.operands[1]
        if not isinstance(source, Instruction) or len(users.get(source, ())) != 1:
            continue
        kind = _kind(source)
        if kind is None or made.block is not source.block or not _is_loop(step):
            continue
        if kind is zip:
            _unzip(graph, source, made, step)
        else:
            _count(graph, source, made, step)
        return True
    return False


def _kind(source: Instruction) -> type | None:
    """`zip` or `enumerate`, if `source` makes one in a way that is understood."""
    if target(source) is not _foreigncall_ or not isinstance(source.operands[1], Const) or source.keywords:
        return None
    kind, given = source.operands[1].value, source.operands[2:]
    if kind is zip and given:
        return zip
    if kind is enumerate and len(given) == 1:
        return enumerate
    starts = len(given) == 2 and isinstance(given[1], Const) and type(given[1].value) is int
    return enumerate if kind is enumerate and starts else None


def _is_loop(step: Instruction) -> bool:
    """Whether `step` and the test of its result are all that the head of a loop does."""
    head = step.block
    if head is None or head.handler is not None or len(head.instructions) != 2:
        return False
    test = head.instructions[1]
    if target(test) is not _exhausted_ or test.operands[1] is not step:
        return False
    if not isinstance(head.terminator, Branch) or head.terminator.condition is not test:
        return False
    body = head.terminator.false
    return not body.phis and predecessors(head.graph)[body] == [head]


def _replace_source(source: Instruction, made: Instruction, iterables: list[Value]) -> list[Instruction]:
    """Make iterators over `iterables` in the place of the call `source`, and remove `made`; returns the
    iterators."""
    block = source.block
    assert block is not None
    iterators = []
    for iterable in iterables:
        iterator = Instruction("call", [Const(_iter_), iterable], position=source.position)
        iterator.block = block
        iterators.append(iterator)
    at = block.instructions.index(source)
    block.instructions[at : at + 1] = iterators
    block.instructions.remove(made)
    return iterators


def _count(graph: Graph, source: Instruction, made: Instruction, step: Instruction) -> None:
    """Turn the loop over ``enumerate(x)`` into a loop over `x` that counts."""
    head = step.block
    assert head is not None and made.block is not None and isinstance(head.terminator, Branch)
    body = head.terminator.false
    counter = Phi(head, None, None)
    following = Instruction("call", [Const(operator.add), counter, Const(1)], position=step.position)
    following.block = body
    start = source.operands[3] if len(source.operands) > 3 else Const(0)
    # What the body has counted may come back by a block that others come to as well: where a generator goes
    # on that is written into what consumes it.
    variables = Variables(graph)
    for block in graph.blocks:
        for successor in block.successors:
            variables.edge(block, successor)
    variables.sealed.update(graph.blocks)
    for block, count in ((made.block, start), (head, counter), (body, following)):
        variables.write("count", block, count)
    variables.arrange(graph.entry)
    for block in predecessors(graph)[head]:
        counter.operands[block] = variables.read("count", block)
    head.phis.append(counter)
    (iterator,) = _replace_source(source, made, [source.operands[2]])
    element = Instruction("call", [Const(_next_), iterator], position=step.position, name=step.name)
    _put_first(step, element)
    _hand_out(graph, body, step, [counter, element])
    body.instructions.insert(0, following)


def _unzip(graph: Graph, source: Instruction, made: Instruction, step: Instruction) -> None:
    """Turn the loop over ``zip(a, b)`` into one that takes a step in each of the two."""
    head = step.block
    assert head is not None and isinstance(head.terminator, Branch)
    done, body = head.terminator.true, head.terminator.false
    iterators = _replace_source(source, made, source.operands[2:])
    first = Instruction("call", [Const(_next_), iterators[0]], position=step.position)
    _put_first(step, first)
    elements, last = [first], head
    for iterator in iterators[1:]:
        block = graph.add_block(f"{head.label}.step")
        element = Instruction("call", [Const(_next_), iterator], position=step.position)
        test = Instruction("call", [Const(_exhausted_), element], position=step.position)
        for instruction in (element, test):
            instruction.block = block
            block.instructions.append(instruction)
        block.terminator = Branch(test, done, body, head.terminator.position)
        assert isinstance(last.terminator, Branch)
        last.terminator = Branch(last.terminator.condition, done, block, last.terminator.position)
        for phi in done.phis:
            phi.operands[block] = phi.operands[head]
        elements.append(element)
        last = block
    _hand_out(graph, body, step, elements)


def _put_first(step: Instruction, element: Instruction) -> None:
    """Let the head of the loop take `element` where it took `step`."""
    head = step.block
    assert head is not None
    element.block = head
    head.instructions[0] = element
    head.instructions[1].operands[1] = element


def _hand_out(graph: Graph, body: Block, step: Instruction, parts: Sequence[Value]) -> None:
    """Use `parts` for what is unpacked from `step`; where the tuple itself is used, `body` builds one."""
    replaced: dict[Value, Value] = {}
    gone: set[Instruction] = set()
    users = uses(graph)
    for unpacking in users.get(step, ()):
        if not isinstance(unpacking, Instruction) or target(unpacking) is not _unpack_:
            continue
        count = unpacking.operands[2]
        if unpacking.operands[1] is not step or not isinstance(count, Const) or count.value != len(parts):
            continue
        taken = {p: _index(p, unpacking) for p in users.get(unpacking, ()) if isinstance(p, Instruction)}
        if len(taken) < len(users.get(unpacking, ())) or None in taken.values():
            continue
        replaced.update({p: parts[i] for p, i in taken.items() if i is not None})
        gone.update((unpacking, *taken))
    for block in graph.blocks:
        block.instructions = [i for i in block.instructions if i not in gone]
    graph.replace_uses(replaced)
    if any(
        step in block.terminator.values
        or any(step in phi.operands.values() for phi in block.phis)
        or any(step in i.operands for i in block.instructions)
        for block in graph.blocks
    ):
        whole = Instruction(
            "call", [Const(_new_), Const(tuple), *parts], position=step.position, name=step.name
        )
        whole.block = body
        body.instructions.insert(0, whole)
        graph.replace_uses({step: whole})


def _index(value: Instruction, unpacking: Instruction) -> int | None:
    """Which part of `unpacking` is taken by `value`, if it takes one."""
    if target(value) is not _project_ or value.operands[1] is not unpacking:
        return None
    index = value.operands[2].value if isinstance(value.operands[2], Const) else None
    return index if isinstance(index, int) else None
