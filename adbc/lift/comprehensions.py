"""Comprehensions that are functions of their own (CPython 3.11) become loops in the graph around them.

before::

    %1 = make_function <code <listcomp>>, None, None, None, %cells
    %2 = iter %xs
    %3 = call %1(%2)
    ...

after, as 3.12 compiles it to begin with::

        %2 = iter %xs
        %4 = build_list
        jump loop
    loop:
        %5 = next %2
        %6 = exhausted %5
        branch %6, rest, body
    body:
        %7 = list_append %4, %5
        jump loop
    rest:
        ...                      (uses of %3 see %4)

In a protected region the blocks of the loop get its handler.
What the comprehension captures it reads from the same cells as before.  Generator expressions stay
functions.  The function is left without use.
"""

from __future__ import annotations

import types
from collections.abc import Callable

from adbc.errors import LiftError
from adbc.ir.builder import remove_trivial_phis
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import edge_values, forget_handler, protect
from adbc.ir.intrinsics import KEPT, _release_
from adbc.ir.terminators import Jump, Return
from adbc.ir.values import Const, Instruction, Phi, Value

__all__ = ["inline_comprehensions"]

_NAMES = ("<listcomp>", "<setcomp>", "<dictcomp>")


def inline_comprehensions(
    graph: Graph, lift: Callable[[types.CodeType], Graph], *, releases: bool = False
) -> None:
    """Inline the comprehensions that `graph` calls, in place; `lift` gives the graph of a code object.

    releases: whether `graph` says where the frame lets go of what it holds.  A comprehension that raises has
    a frame of its own in the traceback, which keeps the iterator.
    """
    for call in list(graph.instructions()):
        made = _comprehension(call)
        if made is None:
            continue
        try:
            body = lift(_code(made))
        except LiftError:  # it stays a call, and says why when it is lifted itself
            continue
        _connect(body, call.operands[1], _cells(made))
        after = _inline(graph, call, body)
        if releases:
            operands = [Const(_release_), call.operands[1], Const(KEPT)]
            release = Instruction("call", operands, position=call.position)
            release.block = after
            after.instructions.insert(0, release)
    remove_trivial_phis(graph)


def _comprehension(call: Instruction) -> Instruction | None:
    """The function made for a comprehension, if that is what `call` calls."""
    if call.op != "call" or len(call.operands) != 2 or call.block is None:
        return None
    made = call.operands[0]
    if not isinstance(made, Instruction) or made.op != "make_function":
        return None
    code = _code(made)
    return made if code.co_name in _NAMES and len(_cells(made)) == len(code.co_freevars) else None


def _code(made: Instruction) -> types.CodeType:
    code = made.operands[0]
    assert isinstance(code, Const) and isinstance(code.value, types.CodeType), code
    return code.value


def _cells(made: Instruction) -> list[Value]:
    """The cells that a new function is given."""
    closure = made.operands[4]
    if isinstance(closure, Instruction) and closure.op == "build_tuple":
        return closure.operands
    return []


def _connect(body: Graph, iterator: Value, cells: list[Value]) -> None:
    """Let `body` use the values of the graph around it."""
    replaced: dict[Value, Value] = {body.arguments[0]: iterator}
    for block in body.blocks:
        replaced |= {i: cells[i.attribute] for i in block.instructions if i.op == "freevar"}
        block.instructions = [i for i in block.instructions if i.op != "freevar"]
    body.replace_uses(replaced)


def _inline(graph: Graph, call: Instruction, body: Graph) -> Block:
    """Put the blocks of `body` in the place of `call`; returns the block behind them."""
    before = call.block
    assert before is not None
    handler, values = before.handler, edge_values(before)
    if handler is not None:
        forget_handler(before)  # in front of the call nothing raises
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
    if handler is not None:
        protect(graph, body.blocks, handler, values)
    graph.replace_uses({call: result})
    return after


def _split(graph: Graph, block: Block, call: Instruction) -> Block:
    """Cut `block` in two at `call`, which is removed; returns the second half."""
    after = graph.add_block()
    graph.blocks.remove(after)
    graph.blocks.insert(graph.blocks.index(block) + 1, after)
    at = block.instructions.index(call)
    for instruction in block.instructions[at + 1 :]:
        after.append(instruction)
    del block.instructions[at:]
    after.terminator = block.terminator
    for successor in after.successors:
        for phi in successor.phis:
            phi.operands = {after if old is block else old: value for old, value in phi.operands.items()}
    return after
