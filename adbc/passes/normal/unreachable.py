"""Blocks that cannot be reached are removed, and phis forget them.

before::

    entry:                        dead:                   join:
        jump join                     jump join               %1 = phi [entry: %a, dead: %b]

after::

    entry:                                                join:
        jump join                                             %1 = phi [entry: %a]

(`trivial_phis` removes the phi.)  Needs nothing.
"""

from __future__ import annotations

from adbc.ir.graph import Graph

__all__ = ["unreachable"]


def unreachable(graph: Graph) -> Graph:
    seen = {graph.entry}
    waiting = [graph.entry]
    while waiting:
        for successor in waiting.pop().successors:
            if successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    if len(seen) < len(graph.blocks):
        graph.blocks = [block for block in graph.blocks if block in seen]
    for block in graph.blocks:
        for phi in block.phis:
            phi.operands = {source: value for source, value in phi.operands.items() if source in seen}
    return graph
