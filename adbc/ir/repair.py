"""SSA form is made good again where edges have been moved.

before (``%p`` was defined above both, until an edge from ``b`` was added)::

    a:                              a:
        %p = ...                        %p = ...
        jump c                          jump c
    b:                              b:
        jump c                          jump c
    c:                              c:
        use %p                          %q = phi [a: %p, b: None]
                                        use %q

after: a value that no longer dominates its uses is led through phis; so is one that was taken out of the
graph, in the place of which there are several now.  On ways on which there is no such value, nothing uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.ir.builder import Variables, remove_dead_phis, remove_trivial_phis, use_none
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Raise
from adbc.ir.traverse import reverse_postorder, split_end
from adbc.ir.values import Const, Instruction, Phi, Undef, Value

__all__ = ["repair"]


_NONE = Const(None)


def repair(
    graph: Graph,
    instead: Mapping[Value, Sequence[Instruction | Phi]] | None = None,
    initial: Const | Undef = _NONE,
) -> None:
    """Insert phis for values whose definition does not dominate all uses, in place.

    instead: for values that are used but stand nowhere, those of which one is meant wherever they are used.
    initial: what stands for a value on ways on which there is none.
    """
    broken: dict[Value, Sequence[Instruction | Phi]] = {v: (v,) for v in _broken(graph, instead or {})}
    broken.update(instead or {})
    if not broken:
        return
    homes = _homes(graph, [each for definitions in broken.values() for each in definitions])
    variables = Variables(graph, initial=lambda variable: initial)
    for block in reverse_postorder(graph):
        for successor in block.successors:
            variables.edge(block, successor)
    for block in graph.blocks:
        variables.sealed.add(block)
    for value, definitions in broken.items():
        for definition in definitions:
            variables.write(value, homes[definition], definition)
    variables.arrange(graph.entry)

    def read(value: Value, block: Block) -> Value:
        if isinstance(value, Const | Undef) or value not in broken:
            return value
        return variables.read(value, block)

    own = {phi for block in graph.blocks for phi in block.phis}
    for block in graph.blocks:
        for phi in [p for p in block.phis if p in own]:
            phi.operands = {s: read(v, s) for s, v in phi.operands.items()}
        for instruction in block.instructions:
            instruction.operands = [
                v if isinstance(v, Instruction) and v.block is block else read(v, block)
                for v in instruction.operands
            ]
        for value in block.terminator.values:
            block.terminator.replace_value(value, read(value, block))
    remove_trivial_phis(graph, only=set(variables.phis))
    remove_dead_phis(graph)
    if isinstance(initial, Undef):
        use_none(graph)


def _homes(graph: Graph, definitions: Sequence[Instruction | Phi]) -> dict[Instruction | Phi, Block]:
    """The block at the end of which each value is defined: for one that may raise into a handler a block
    behind it, for on the way to the handler there is no such value."""
    homes: dict[Instruction | Phi, Block] = {}
    own = set(graph.blocks)  # what stands in others is never reached
    for value in definitions:
        block = value.block
        assert block is not None
        raises = block.handler is not None and not isinstance(block.terminator, Raise)
        if block in own and raises and block.instructions[-1:] == [value]:
            block = split_end(block)
        homes[value] = block
    return homes


def _broken(graph: Graph, known: Mapping[Value, object]) -> list[Instruction | Phi]:
    """The values of the graph that are used where they may not have been defined."""
    dominators = Dominators(graph)
    broken: dict[Instruction | Phi, None] = {}

    def look(value: Value, is_available: Callable[..., bool], *place: Any) -> None:
        if isinstance(value, Instruction | Phi) and value not in known and not is_available(value, *place):
            broken[value] = None

    for block in dominators.order:
        for phi in block.phis:
            for source, value in phi.operands.items():
                look(value, dominators.available_on_edge, source, block)
        for at, instruction in enumerate(block.instructions):
            for value in instruction.operands:
                look(value, dominators.available, block, at)
        for value in block.terminator.values:
            look(value, dominators.available, block)
    return list(broken)
