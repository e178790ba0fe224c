"""What was taken from an iterator has a block of its own in which it is a value.

before::

    b:
        %1 = call _next_(%it)
        %2 = call _exhausted_(%1)
        branch %2, done, loop
    loop:
        %3 = phi [b: %1, body: %4]
        ...

after::

    b:
        %1 = call _next_(%it)
        %2 = call _exhausted_(%1)
        branch %2, done, b.loop
    b.loop:
        jump loop
    loop:
        %3 = phi [b.loop: %1, body: %4]
        ...

There it can be tested for its class, which the end of an iterator has none of.  For graphs in normal form.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _exhausted_, _next_
from adbc.ir.terminators import Branch
from adbc.ir.traverse import is_critical, predecessors, split_edge
from adbc.passes.query import target

__all__ = ["step_edges"]


def step_edges(graph: Graph) -> Graph:
    sources = predecessors(graph)
    for block in list(graph.blocks):
        branch = block.terminator
        if not isinstance(branch, Branch) or target(branch.condition) is not _exhausted_:
            continue
        step = branch.condition.operands[1]  # type: ignore[attr-defined]  # a call
        if target(step) is _next_ and is_critical(block, branch.false, sources):
            split_edge(block, branch.false)
    return graph
