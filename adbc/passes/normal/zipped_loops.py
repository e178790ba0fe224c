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

What is iterated over keeps its type, so a loop over two lists is as good as one over a list.  Where the zip
is a strict one, what is left to be tested is tested on the ways out::

    head:
        ...
        branch %e, even, head.1
    head.1:
        ...
        branch %e2, shorter, body
    even:
        %y1 = call _next_(%it2)
        %e3 = call _exhausted_(%y1)
        branch %e3, done, longer
    longer:
        %error = call _foreigncall_(builtins.ValueError, 'zip() argument 2 is longer than argument 1')
        raise %error

For graphs that are differentiated, in normal form.  Only loops whose iterator nobody else sees.  In a ``try``
statement each step has a block of its own, and the block behind it tests what was taken.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import NamedTuple

from adbc.ir.builder import Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import drop_idle_handlers, edge_values, protect
from adbc.ir.intrinsics import _exhausted_, _foreigncall_, _iter_, _new_, _next_, _project_, _unpack_
from adbc.ir.terminators import Branch, Jump, Raise
from adbc.ir.traverse import predecessors, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import constant, target

__all__ = ["zipped_loops"]


class _Loop(NamedTuple):
    """A loop over what `zip` or `enumerate` gives.

    source: the call that makes that.  made: its iterator.  step: what asks for the next tuple, in the block
    `head`.  test: the block that ends with the branch, which is `head` outside of ``try`` statements.
    given: what is gone through.  start: the first number of `enumerate`, else None.  strict: whether it is an
    error if there are not as many of each.
    """

    source: Instruction
    made: Instruction
    step: Instruction
    head: Block
    test: Block
    given: Sequence[Value]
    start: Value | None
    strict: bool

    @property
    def branch(self) -> Branch:
        end = self.test.terminator
        assert isinstance(end, Branch)
        return end


def zipped_loops(graph: Graph) -> Graph:
    while _rewrite_one(graph):
        pass
    return graph


def _rewrite_one(graph: Graph) -> bool:
    steps = [call for call in graph.instructions() if target(call) is _next_]
    if not steps:
        return False
    users, sources = uses(graph), predecessors(graph)
    for step in steps:
        made = step.operands[1]
        if not isinstance(made, Instruction) or target(made) is not _iter_ or len(users.get(made, ())) != 1:
            continue
        source = made.operands[1]
        if not isinstance(source, Instruction) or len(users.get(source, ())) != 1:
            continue
        test = _test_of(step, sources)
        kind = _kind(source)
        if test is None or kind is None or not _follows(source, made, sources):
            continue
        assert step.block is not None
        loop = _Loop(source, made, step, step.block, test, *kind)
        if loop.start is None:
            _unzip(graph, loop)
        else:
            _count(graph, loop)
        return True
    return False


_Kind = tuple[Sequence[Value], Value | None, bool]
"""What is gone through, the first number of `enumerate`, and whether a `zip` is strict."""


def _kind(source: Instruction) -> _Kind | None:
    """What `source` makes, if it is a `zip` or an `enumerate`, made in a way that is understood."""
    if target(source) is not _foreigncall_ or not isinstance(source.operands[1], Const):
        return None
    kind, given = source.operands[1].value, source.operands[2:]
    if kind is zip:
        if source.keywords == ("strict",):
            strict = constant(given.pop())
            return (given, None, strict) if given and type(strict) is bool else None
        return (given, None, False) if given and not source.keywords else None
    if kind is not enumerate:
        return None
    if len(given) == 1 and not source.keywords:
        return given, Const(0), False
    if len(given) == 2 and source.keywords in ((), ("start",)) and type(constant(given[1])) is int:
        return given[:1], given[1], False
    return None


def _test_of(step: Instruction, sources: dict[Block, list[Block]]) -> Block | None:
    """The block that tests what `step` took, where the two are all that the head of a loop does."""
    head = step.block
    assert head is not None
    test, at = head, 1
    if head.handler is not None:
        if not isinstance(head.terminator, Jump) or len(head.instructions) != 1:
            return None
        test, at = head.terminator.target, 0
        if sources[test] != [head] or test.phis or test.handler is not None:
            return None
    if len(test.instructions) != at + 1 or head.instructions[0] is not step:
        return None
    asked, end = test.instructions[at], test.terminator
    if target(asked) is not _exhausted_ or asked.operands[1] is not step:
        return None
    if not isinstance(end, Branch) or end.condition is not asked:
        return None
    return test if not end.false.phis and sources[end.false] == [test] else None


def _follows(source: Instruction, made: Instruction, sources: dict[Block, list[Block]]) -> bool:
    """Whether the iterator `made` is made directly behind `source`, which it is made of."""
    start, block = source.block, made.block
    if start is block:
        return True
    if start is None or block is None or not isinstance(start.terminator, Jump):
        return False
    return start.terminator.target is block and sources[block] == [start] and block.instructions[0] is made


def _protect(graph: Graph, like: Block, blocks: Sequence[Block]) -> None:
    """Give `blocks` the handler of the block `like`, if that has one."""
    if like.handler is not None:
        protect(graph, blocks, like.handler, edge_values(like))


def _replace_source(graph: Graph, loop: _Loop) -> list[Instruction]:
    """Make iterators in the place of the call of `zip` or `enumerate`; returns them."""
    block, behind = loop.source.block, loop.made.block
    assert block is not None and behind is not None
    iterators = []
    for iterable in loop.given:
        iterator = Instruction("call", [Const(_iter_), iterable], position=loop.source.position)
        iterator.block = block
        iterators.append(iterator)
    at = block.instructions.index(loop.source)
    behind.instructions.remove(loop.made)
    if block.handler is None:
        block.instructions[at : at + 1] = iterators
        return iterators
    # Each may raise, so it must be the last of its block.
    block.instructions[at:] = iterators[:1]
    rest = graph.cut(block, at + 1, f"{block.label}.iterators")
    block.terminator = Jump(rest, loop.source.position)
    for iterator in iterators[1:]:
        rest.append(iterator)
    _protect(graph, block, [rest])
    drop_idle_handlers(graph)
    return iterators


def _beginning(graph: Graph, loop: _Loop) -> Block:
    """The block with which the body of the loop begins, where there is a place for what cannot raise."""
    body = loop.branch.false
    if body.handler is None:
        return body
    inside = graph.add_block(f"{loop.head.label}.inside")
    inside.terminator = Jump(body, loop.branch.position)
    loop.branch.replace_successor(body, inside)
    return inside


def _count(graph: Graph, loop: _Loop) -> None:
    """Turn the loop over ``enumerate(x)`` into a loop over `x` that counts."""
    head, step = loop.head, loop.step
    assert loop.made.block is not None and loop.start is not None
    body = _beginning(graph, loop)
    counter = Phi(head, None, None)
    following = Instruction("call", [Const(operator.add), counter, Const(1)], position=step.position)
    following.block = body
    # What the body has counted may come back by a block that others come to as well: where a generator goes
    # on that is written into what consumes it.
    variables = Variables(graph)
    for block in graph.blocks:
        for successor in block.successors:
            variables.edge(block, successor)
    variables.sealed.update(graph.blocks)
    for block, count in ((loop.made.block, loop.start), (head, counter), (body, following)):
        variables.write("count", block, count)
    variables.arrange(graph.entry)
    for block in predecessors(graph)[head]:
        counter.operands[block] = variables.read("count", block)
    head.phis.append(counter)
    (iterator,) = _replace_source(graph, loop)
    element = Instruction("call", [Const(_next_), iterator], position=step.position, name=step.name)
    _put_first(loop, element)
    _hand_out(graph, body, step, [counter, element])
    body.instructions.insert(0, following)


def _unzip(graph: Graph, loop: _Loop) -> None:
    """Turn the loop over ``zip(a, b)`` into one that takes a step in each of the two."""
    done, body = loop.branch.true, _beginning(graph, loop)
    iterators = _replace_source(graph, loop)
    first = Instruction("call", [Const(_next_), iterators[0]], position=loop.step.position)
    _put_first(loop, first)
    elements, last, new = [first], loop.test, []
    for number, iterator in enumerate(iterators[1:], 2):
        block, element, end = _asking(graph, loop, iterator, "step")
        out = done
        if loop.strict:
            out = _uneven(graph, loop, number, "shorter")
            new.append(out)
        block.terminator = Branch(end, out, body, loop.branch.position)
        before = last.terminator
        assert isinstance(before, Branch)
        last.terminator = Branch(before.condition, before.true, block, before.position)
        if not loop.strict:
            for phi in done.phis:
                phi.operands[block] = phi.operands[loop.test]
        new.append(block)
        elements.append(element)
        last = block
    if loop.strict and len(iterators) > 1:
        new += _tests_of_ends(graph, loop, iterators[1:])
    _protect(graph, loop.head, new)
    _hand_out(graph, body, loop.step, elements)


def _asking(graph: Graph, loop: _Loop, iterator: Value, label: str) -> tuple[Block, Instruction, Instruction]:
    """A block that takes a step of `iterator`, what that gives, and the test of that."""
    block = graph.add_block(f"{loop.head.label}.{label}")
    element = Instruction("call", [Const(_next_), iterator], position=loop.step.position)
    test = Instruction("call", [Const(_exhausted_), element], position=loop.step.position)
    block.append(element)
    block.append(test)
    return block, element, test


def _tests_of_ends(graph: Graph, loop: _Loop, iterators: Sequence[Value]) -> list[Block]:
    """Blocks that the loop is left by, behind the end of the first of what it goes through: there is an error
    if one of the others, `iterators`, has not come to its end."""
    done, position = loop.branch.true, loop.branch.position
    values = {phi: phi.operands.pop(loop.test) for phi in done.phis}
    blocks: list[Block] = []
    ends: list[Instruction] = []
    for iterator in iterators:
        block, _, end = _asking(graph, loop, iterator, "even")
        blocks.append(block)
        ends.append(end)
    new = []
    for number, (block, end) in enumerate(zip(blocks, ends, strict=True), 2):
        longer = _uneven(graph, loop, number, "longer")
        following = blocks[number - 1] if number - 1 < len(blocks) else done
        block.terminator = Branch(end, following, longer, position)
        new.append(longer)
    for phi, value in values.items():
        phi.operands[blocks[-1]] = value
    before = loop.branch
    loop.test.terminator = Branch(before.condition, blocks[0], before.false, before.position)
    return [*blocks, *new]


def _uneven(graph: Graph, loop: _Loop, number: int, how: str) -> Block:
    """A block that raises what a strict `zip` raises if its argument `number` is longer or shorter than those
    before it."""
    block = graph.add_block(f"{loop.head.label}.{how}")
    others = "argument 1" if number == 2 else f"arguments 1-{number - 1}"
    message = Const(f"zip() argument {number} is {how} than {others}")
    error = Instruction(
        "call", [Const(_foreigncall_), Const(ValueError), message], position=loop.step.position
    )
    block.append(error)
    block.terminator = Raise(error, position=loop.step.position)
    return block


def _put_first(loop: _Loop, element: Instruction) -> None:
    """Let the head of the loop take `element` where it took a tuple."""
    element.block = loop.head
    loop.head.instructions[0] = element
    asked = loop.branch.condition
    assert isinstance(asked, Instruction)
    asked.operands[1] = element


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
