"""Exceptional edges: those that no exception can take, and those that blocks are given.

A block has a handler because its last instruction may raise, or its terminator does.  When that
instruction goes, because it turned out to be needless or constant, the edge goes too, and with it
what phis of the handler say about it.  Where blocks come to stand in a protected region, each
instruction that may raise becomes the last of its block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from adbc.ir.graph import Block, Graph
from adbc.ir.ops import may_raise
from adbc.ir.terminators import Jump, Raise
from adbc.ir.values import Phi, Value

__all__ = ["drop_idle_handlers", "edge_values", "forget_handler", "is_idle", "protect", "take_handler"]


def is_idle(block: Block) -> bool:
    """Whether nothing in `block` can raise into its handler."""
    if isinstance(block.terminator, Raise):
        return False
    return not block.instructions or not may_raise(block.instructions[-1])


def drop_idle_handlers(graph: Graph) -> bool:
    """Remove exceptional edges that cannot be taken; returns whether there were any."""
    changed = False
    for block in graph.blocks:
        if block.handler is not None and is_idle(block):
            forget_handler(block)
            changed = True
    return changed


def forget_handler(block: Block) -> None:
    """Take away the exceptional edge of `block`."""
    assert block.handler is not None
    for phi in block.handler.phis:
        phi.operands.pop(block, None)
    block.handler = None


def edge_values(block: Block) -> dict[Phi, Value]:
    """The values that the phis of the handler of `block` have on the way from there."""
    phis = () if block.handler is None else block.handler.phis
    return {phi: phi.operands[block] for phi in phis if block in phi.operands}


def take_handler(block: Block) -> Callable[[Block], None]:
    """Take away the exceptional edge of `block`, if it has one; gives a function that gives it to others."""
    handler = block.handler
    if handler is None:
        return lambda other: None
    values = edge_values(block)
    forget_handler(block)

    def give(other: Block) -> None:
        other.handler = handler
        for phi, value in values.items():
            phi.operands[other] = value

    return give


def protect(graph: Graph, blocks: Iterable[Block], handler: Block, values: Mapping[Phi, Value]) -> None:
    """Give `blocks` of the graph, as far as they have none, a handler: `values` are those that its phis have
    on the ways from there."""
    for block in [b for b in blocks if b.handler is None]:
        while True:
            raising = [at for at, i in enumerate(block.instructions) if may_raise(i)]
            if not raising and not isinstance(block.terminator, Raise):
                break
            block.handler = handler
            for phi, value in values.items():
                phi.operands[block] = value
            is_last = not raising or raising[0] + 1 == len(block.instructions)
            if is_last and (not raising or not isinstance(block.terminator, Raise)):
                break
            behind = graph.cut(block, raising[0] + 1, f"{block.label}.behind")
            block.terminator = Jump(behind, block.instructions[-1].position)
            block = behind
