"""Comprehensions that are functions of their own (CPython 3.11) become loops in the graph around them.

before::

    %1 = call _new_(FunctionType, <code <listcomp>>, None, None, None, %cells)
    %2 = call _iter_(%xs)
    %3 = call %1(%2)
    ...

after, as 3.12 compiles it to begin with::

        %2 = call _iter_(%xs)
        %4 = call _new_(list)
        jump loop
    loop:
        %5 = call _next_(%2)
        %6 = call _exhausted_(%5)
        branch %6, rest, body
    body:
        %7 = call _list_append_(%4, %5)
        jump loop
    rest:
        ...                      (uses of %3 see %4)

What the comprehension captures it reads from the same cells as before.  Generator expressions stay
functions.  Needs calls instead of raw operations; leaves the function without use, for `dead_code`.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from adbc.errors import LiftError
from adbc.ir.graph import Block, Graph, Instruction, Jump, Phi, Return, Value
from adbc.ir.intrinsics import _freevar_, _new_
from adbc.lift import lift
from adbc.passes.new_to_call import new_to_call
from adbc.passes.operators_to_call import operators_to_call
from adbc.passes.query import constant, drop, target, use_counts

__all__ = ["inline_comprehension"]

_NAMES = ("<listcomp>", "<setcomp>", "<dictcomp>")


def inline_comprehension(graph: Graph, globals: Mapping[str, Any]) -> Graph:
    uses = use_counts(graph)
    for call in list(graph.instructions()):
        body = _comprehension(call, uses, globals)
        if body is not None:
            _inline(graph, call, body)
    return graph


def _comprehension(call: Instruction, uses: Mapping[Value, int], globals: Mapping[str, Any]) -> Graph | None:
    """The graph of the comprehension that `call` calls, in calls; None if it is something else."""
    made = call.operands[0] if call.op == "call" else None
    if not isinstance(made, Instruction) or target(made) is not _new_ or uses[made] != 1:
        return None
    if call.block is None or call.block.handler is not None:  # its blocks would need the handler
        return None
    if constant(made.operands[1]) is not types.FunctionType or len(call.operands) != 2:
        return None
    code = constant(made.operands[2])
    if not isinstance(code, types.CodeType) or code.co_name not in _NAMES:
        return None
    cells = _cells(made)
    if len(cells) != len(code.co_freevars):
        return None
    try:
        body = lift(code, globals=globals)
    except LiftError:  # it stays a call, and says why when it is differentiated
        return None
    new_to_call(body)
    operators_to_call(body)
    inline_comprehension(body, globals)
    replaced: dict[Value, Value] = {body.arguments[0]: call.operands[1]}
    reads = {i for i in body.instructions() if target(i) is _freevar_}
    replaced |= {i: cells[constant(i.operands[1])] for i in reads}
    drop(body, reads)
    body.replace_uses(replaced)
    return body


def _cells(made: Instruction) -> list[Value]:
    """The cells that a new function is given."""
    closure = made.operands[6]
    if isinstance(closure, Instruction) and target(closure) is _new_:
        return closure.operands[2:]
    return []


def _inline(graph: Graph, call: Instruction, body: Graph) -> None:
    """Put the blocks of `body` in the place of `call`."""
    before = call.block
    assert before is not None
    after = _split(graph, before, call)
    position = graph.blocks.index(before) + 1
    for block in body.blocks:
        moved = graph.add_block(block.label)  # for a label that is free
        graph.blocks.remove(moved)
        block.label = moved.label
        block.graph = graph
        graph.blocks.insert(position, block)
        position += 1
    before.terminator = Jump(body.entry, call.position)
    results: dict[Block, Value] = {}
    for block in body.blocks:
        if isinstance(block.terminator, Return):
            results[block] = block.terminator.value
            block.terminator = Jump(after, call.position)
    result = Phi(after)
    result.operands = results
    after.phis.append(result)
    graph.replace_uses({call: result})


def _split(graph: Graph, block: Block, call: Instruction) -> Block:
    """Cut `block` in two at `call`, which goes; the second half is returned."""
    after = graph.add_block()
    graph.blocks.remove(after)
    graph.blocks.insert(graph.blocks.index(block) + 1, after)
    at = block.instructions.index(call)
    for instruction in block.instructions[at + 1 :]:
        after.append(instruction)
    del block.instructions[at:]
    after.terminator = block.terminator
    after.handler, block.handler = block.handler, None
    for successor in after.successors:
        for phi in successor.phis:
            phi.operands = {after if old is block else old: value for old, value in phi.operands.items()}
    return after
