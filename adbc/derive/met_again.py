"""The companion of a global that a loop reads is looked for once, as long as it is the same object.

before::

    loop:
        ...
        %1: Any = call _global_('TABLE')
        %2: Shadow = call known_shadow(%context, %1)

after::

    loop:
        %3: Any = phi [entry: None, latch: %1]
        %4: Shadow = phi [entry: None, latch: %2]
        ...
        %1: Any = call _global_('TABLE')
        %5: bool = call operator.is_(%1, %3)
        branch %5, met, looked_for
    looked_for:
        %6: Shadow = call known_shadow(%context, %1)
        jump met
    met:
        %2: Shadow = phi [loop: %4, looked_for: %6]

One address has one companion in a call, so what was found for an object holds for it whenever it is met
again; the global may be bound to another one in the meantime.  The companion of None is None.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

from adbc.ir.builder import Builder, Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import natural_loops
from adbc.ir.terminators import Jump
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.types.lattice import ANY, BOOL

__all__ = ["met_again"]


def met_again(graph: Graph, finders: Collection[Any]) -> None:
    """Look once for the companions that one of `finders`, ``find(context, value)``, is asked for in loops of
    `graph`, in place."""
    functions = set(map(id, finders))
    found = [call for call in graph.instructions() if id(target(call)) in functions]
    if not found:
        return
    loops = natural_loops(graph)
    found = [call for call in found if _is_in_loop(call, loops)]
    if not found:
        return
    splits = [_split(graph, call) for call in found]
    variables = Variables(graph, initial=lambda variable: Const(None), phi_type=_type_of)
    for block in graph.blocks:
        for successor in block.successors:
            variables.edge(block, successor)
    for block in graph.blocks:
        variables.seal(block)
    for call, (_, met, companion) in zip(found, splits, strict=True):
        variables.write((call, ANY), met, call.operands[2])
        variables.write((call, companion.type), met, companion)
    for call, (block, _, companion) in zip(found, splits, strict=True):
        test = block.instructions[-1]
        test.operands[2] = variables.read((call, ANY), block)
        companion.operands[block] = variables.read((call, companion.type), block)
    variables.finish()


def _type_of(variable: Any) -> Any:
    return variable[1]


def _is_in_loop(call: Instruction, loops: Any) -> bool:
    block = call.block
    assert block is not None
    is_read = isinstance(call.operands[2], Instruction)
    return is_read and block.handler is None and loops.innermost.get(block) is not None


def _split(graph: Graph, call: Instruction) -> tuple[Block, Block, Phi]:
    """Cut the block of `call`; the block in which it is tested whether the object is another, the one where
    they meet again, and the phi of the companion, which has no operand from the first of them yet."""
    block = call.block
    assert block is not None
    at = block.instructions.index(call)
    met = graph.cut(block, at + 1, f"{block.label}.met")
    block.instructions.remove(call)
    looked_for = graph.add_block(f"{block.label}.looked_for")
    companion = Phi(met, call.type, call.name)
    met.phis.append(companion)
    graph.replace_uses({call: companion})
    looked_for.instructions.append(call)
    call.block = looked_for
    looked_for.terminator = Jump(met, call.position)
    companion.operands[looked_for] = call
    builder = Builder(graph, block)
    builder.position = call.position
    nothing: Value = Const(None)
    builder.branch(builder.call(operator.is_, call.operands[2], nothing, type=BOOL), met, looked_for)
    return block, met, companion
