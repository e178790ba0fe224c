"""The shape of control flow that can be reversed block by block.

Before::

    any graph

After: one block returns; every loop has one *preheader* (the only way in) and one *latch* (the only
way back, which does nothing else); every edge out of a loop goes through a block of its own.  These
are the places where iterations are recorded and the places where the pullback decides where to go.
"""

from __future__ import annotations

from adbc.ir.builder import remove_trivial_phis
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import Loops, natural_loops
from adbc.ir.terminators import Jump, Return
from adbc.ir.traverse import predecessors, remove_unreachable, split_edge
from adbc.ir.values import Phi
from adbc.passes.normal.reducible import reducible

__all__ = ["canonicalise"]


def canonicalise(graph: Graph) -> Loops:
    """Bring `graph` into canonical form, in place; returns its loops."""
    remove_unreachable(graph)
    reducible(graph)
    _merge_returns(graph)
    loops = natural_loops(graph)
    if not loops.all:
        return loops
    for loop in loops.all:
        sources = predecessors(graph)[loop.header]
        latches = set(loop.latches)
        _gather(graph, loop.header, [b for b in sources if b not in latches], "preheader")
        _gather(graph, loop.header, [b for b in sources if b in latches], "latch")
    for loop in natural_loops(graph).all:
        for source, target in loop.exits:
            if target is source.handler:
                continue  # a landing pad: it has no other entrance
            if target in source.successors:  # an outer loop may have split this edge already
                split_edge(source, target, "exit")
    return natural_loops(graph)


def _merge_returns(graph: Graph) -> None:
    returns = [b for b in graph.blocks if isinstance(b.terminator, Return)]
    if len(returns) < 2:
        return
    merged = graph.add_block("return")
    phi = Phi(merged, name="result")
    merged.phis.append(phi)
    for block in returns:
        assert isinstance(block.terminator, Return)
        phi.operands[block] = block.terminator.value
        block.terminator = Jump(merged, block.terminator.position)
    merged.terminator = Return(phi)
    remove_trivial_phis(graph, only={phi})


def _gather(graph: Graph, header: Block, sources: list[Block], label: str) -> Block:
    """Lead all edges from `sources` to `header` through one new block."""
    middle = graph.add_block(f"{header.label}.{label}")
    middle.terminator = Jump(header)
    for phi in header.phis:
        if len(sources) == 1:
            phi.operands[middle] = phi.operands.pop(sources[0])
            continue
        merged = Phi(middle, phi.type, phi.name)
        for source in sources:
            merged.operands[source] = phi.operands.pop(source)
        middle.phis.append(merged)
        phi.operands[middle] = merged
    for source in sources:
        source.terminator.replace_successor(header, middle)
    return middle
