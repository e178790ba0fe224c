"""Natural loops, and whether the control flow of a graph is reducible.

A back edge goes to a block that dominates where it comes from: the *latch* goes back to the *header*.
The natural loop of a header is the header and everything that reaches one of its latches without
passing through it.  A graph is reducible if every cycle goes through the header of a natural loop;
Python's own loops always are, reversed control flow may not be.

It refuses to know what a loop computes; trip counts and iterators are for passes to find.
"""

from __future__ import annotations

import dataclasses

from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.traverse import predecessors
from adbc.records import record

__all__ = ["Loop", "Loops", "is_reducible", "natural_loops"]


@record(eq=False)
class Loop:
    """A natural loop.

    header: its only entrance.  latches: the blocks that go back to the header.  blocks: all of it,
    inner loops included, in reverse postorder.  exits: the edges that leave it, exceptional ones
    included.  parent: the loop around it, if any; children: the loops directly inside.  depth: 1 for
    an outermost loop.
    """

    header: Block
    latches: list[Block]
    blocks: dict[Block, None]
    exits: list[tuple[Block, Block]]
    parent: Loop | None = None
    children: list[Loop] = dataclasses.field(default_factory=list)
    depth: int = 1

    def __contains__(self, block: Block) -> bool:
        return block in self.blocks

    def runs_once(self, block: Block) -> bool:
        """Whether an iteration runs `block`, one of its blocks, no more than once: each way from there back
        to it leads through the header.  A cycle with two entrances is no loop, but runs its blocks again."""
        waiting, seen = [*block.successors], {self.header}
        if block is self.header:
            return True
        while waiting:
            following = waiting.pop()
            if following is block:
                return False
            if following in self.blocks and following not in seen:
                seen.add(following)
                waiting += following.successors
        return True

    def __repr__(self) -> str:
        return f"<loop {self.header.label}, {len(self.blocks)} blocks, depth {self.depth}>"


@record(eq=False)
class Loops:
    """The loops of a graph: `all` of them, outer before inner, and the `innermost` of each block."""

    all: list[Loop]
    innermost: dict[Block, Loop]

    @property
    def outermost(self) -> list[Loop]:
        return [loop for loop in self.all if loop.parent is None]

    def depth(self, block: Block) -> int:
        """How many loops `block` is in."""
        loop = self.innermost.get(block)
        return 0 if loop is None else loop.depth


def natural_loops(graph: Graph, dominators: Dominators | None = None) -> Loops:
    """The loop forest of the reachable part of `graph`."""
    dominators = dominators or Dominators(graph)
    sources = predecessors(graph)
    order = {block: i for i, block in enumerate(dominators.order)}
    loops: list[Loop] = []
    for header in dominators.order:
        latches = [b for b in sources[header] if dominators.dominates(header, b)]
        if not latches:
            continue
        body = {header}
        waiting = list(latches)
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting += sources[block]
        blocks = dict.fromkeys(sorted(body, key=order.__getitem__))
        exits = [(b, t) for b in blocks for t in b.successors if t not in body]
        loops.append(Loop(header, latches, blocks, exits))

    # An outer header dominates the inner, so it comes first in reverse postorder: by the time a loop
    # is placed, the innermost loop so far around its header is its parent.
    innermost: dict[Block, Loop] = {}
    for loop in loops:
        loop.parent = innermost.get(loop.header)
        if loop.parent is not None:
            loop.parent.children.append(loop)
            loop.depth = loop.parent.depth + 1
        innermost.update(dict.fromkeys(loop.blocks, loop))
    return Loops(loops, innermost)


def is_reducible(graph: Graph, dominators: Dominators | None = None) -> bool:
    """Whether every cycle is entered at a header only: without back edges, no cycle is left."""
    dominators = dominators or Dominators(graph)
    order = {block: i for i, block in enumerate(dominators.order)}
    # An edge against reverse postorder closes a cycle.  If its target does not dominate its source,
    # the cycle has another entrance.
    return all(
        dominators.dominates(target, block)
        for block in dominators.order
        for target in block.successors
        if order[target] <= order[block]
    )
