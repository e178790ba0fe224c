"""Dominance: which blocks lie on every path, and which values are there when an instruction runs.

Immediate dominators are found by the iteration of Cooper, Harvey and Kennedy, "A Simple, Fast
Dominance Algorithm" (2001): walk the blocks in reverse postorder, and set a block's immediate
dominator to the nearest common ancestor of its predecessors, until nothing changes.

Exceptional edges need one refinement.  They leave a block *before* its last instruction has a
result, so the block dominates its handler, but that result does not exist there.  Each block with a
handler is therefore two nodes of the tree,

    block ----------> result of block ----> normal successors
       \\-----------> handler

and a value made by the last instruction of such a block is defined at the second.

It refuses to know what is legal: `verify` asks it, and judges.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from adbc.ir.graph import Block, Graph
from adbc.ir.traverse import depth_first_postorder
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value
from adbc.records import record

__all__ = ["DominatorTree", "Dominators", "immediate_dominators"]

Node = TypeVar("Node", bound=Hashable)


def immediate_dominators(
    order: Sequence[Node], predecessors: Mapping[Node, Iterable[Node]]
) -> dict[Node, Node]:
    """The immediate dominator of every node; the first, which is the entry, has itself.

    `order` is a reverse postorder of the nodes that the entry reaches; predecessors outside it do
    not count.
    """
    number = {node: i for i, node in enumerate(order)}
    found: list[int | None] = [None] * len(order)
    if order:
        found[0] = 0
    sources = [[number[p] for p in predecessors[node] if p in number] for node in order]

    def common(a: int, b: int) -> int:
        while a != b:
            if a < b:
                a, b = b, a
            above = found[a]
            assert above is not None
            a = above
        return a

    changed = True
    while changed:
        changed = False
        for i in range(1, len(order)):
            new: int | None = None
            for source in sources[i]:
                if found[source] is not None:
                    new = source if new is None else common(source, new)
            if new != found[i]:
                found[i] = new
                changed = True
    return {order[i]: order[d] for i, d in enumerate(found) if d is not None}


class DominatorTree:
    """The dominator tree of blocks, numbered in preorder: what is below a node has the numbers that follow,
    up to ``last[node]``.

    `order` is a reverse postorder, the entry first.
    """

    def __init__(self, order: Sequence[Block], predecessors: Mapping[Block, Iterable[Block]]) -> None:
        above = immediate_dominators(order, predecessors)
        below: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order[1:]:
            below[above[block]].append(block)
        self.nodes = depth_first_postorder(order[:1], below.__getitem__)
        self.nodes.reverse()
        self.number = {block: i for i, block in enumerate(self.nodes)}
        self.parent = [self.number[above[block]] for block in self.nodes]
        self.last = list(range(len(self.nodes)))
        for i in range(len(self.nodes) - 1, 0, -1):
            self.last[self.parent[i]] = max(self.last[self.parent[i]], self.last[i])
        # From each node one long way up, such that any ancestor is a logarithmic number of steps away:
        # Myers, "An Applicative Random-Access Stack" (1983).
        self._jump = [0] * len(self.nodes)
        depth = [0] * len(self.nodes)
        for i in range(1, len(self.nodes)):
            parent = self.parent[i]
            jump = self._jump[parent]
            depth[i] = depth[parent] + 1
            even = depth[parent] - depth[jump] == depth[jump] - depth[self._jump[jump]]
            self._jump[i] = self._jump[jump] if even else parent

    def highest(self, node: int, before: int, behind: int) -> int:
        """The highest ancestor of `node`, or `node` itself, that is neither at nor above `before` or
        `behind`, two nodes that are not below `node`: `before` has a smaller number, `behind` a larger
        one."""
        while node != 0:
            jump, parent = self._jump[node], self.parent[node]
            if jump > before and self.last[jump] < behind:
                node = jump
            elif parent > before and self.last[parent] < behind:
                node = parent
            else:
                break
        return node


@record(slots=True, eq=False)
class _Result:
    """The node of the tree that stands for the point behind the last instruction of a block with a
    handler."""

    block: Block


_Node: TypeAlias = Block | _Result


class Dominators:
    """The dominator tree of a graph, as the graph was when the tree was made.

    Blocks that cannot be reached are not in the tree; everything dominates them, vacuously.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._split = {
            block: _Result(block)
            for block in graph.blocks
            if block.handler is not None and block.instructions
        }
        roots: list[_Node] = list(graph.blocks[:1])
        nodes = depth_first_postorder(roots, lambda node: reversed(self._successors(node)))
        nodes.reverse()
        self.order: list[Block] = [node for node in nodes if isinstance(node, Block)]
        """The reachable blocks in reverse postorder."""

        sources: dict[_Node, list[_Node]] = {node: [] for node in nodes}
        for node in nodes:
            for successor in self._successors(node):
                sources[successor].append(node)
        above = immediate_dominators(nodes, sources)

        self.idom: dict[Block, Block | None] = {}
        """The immediate dominator of each reachable block; None for the entry."""
        self.children: dict[Block, list[Block]] = {block: [] for block in self.order}
        """The blocks that each block dominates immediately, in reverse postorder."""
        for block in self.order:
            over = above[block]
            parent = None if over is block else over.block if isinstance(over, _Result) else over
            self.idom[block] = parent
            if parent is not None:
                self.children[parent].append(block)

        # A node is below another if its interval of the depth-first numbering lies within.
        below: dict[_Node, list[_Node]] = {node: [] for node in nodes}
        for node in nodes:
            if above[node] is not node:
                below[above[node]].append(node)
        self._leave: dict[_Node, int] = {
            node: i for i, node in enumerate(depth_first_postorder(nodes[:1], below.__getitem__))
        }
        size = dict.fromkeys(nodes, 1)
        for node in reversed(nodes):  # a node comes before all that it dominates
            if above[node] is not node:
                size[above[node]] += size[node]
        self._enter = {node: self._leave[node] - size[node] + 1 for node in nodes}

    def _successors(self, node: _Node) -> tuple[_Node, ...]:
        if isinstance(node, _Result):
            return node.block.successors
        if node in self._split:
            assert node.handler is not None
            return (self._split[node], node.handler)
        return node.successors

    def _dominates(self, a: _Node, b: _Node) -> bool:
        if b not in self._leave:
            return True
        if a not in self._leave:
            return False
        return self._enter[a] <= self._leave[b] <= self._leave[a]

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether every path from the entry to `b` goes through `a`; a block dominates itself."""
        return self._dominates(a, b)

    def common(self, a: Block, b: Block) -> Block:
        """The nearest block that dominates both `a` and `b`, which can be reached."""
        while not self._dominates(a, b):
            above = self.idom[a]
            assert above is not None
            a = above
        return a

    # -- values ------------------------------------------------------------------------------------

    def available(self, value: Value, block: Block, index: int | None = None) -> bool:
        """Whether `value` is defined on every path when instruction number `index` of `block` is
        about to run; None is the terminator.

        The phis of the block are defined by then.  Constants and arguments always are; `UNDEF` never
        is.
        """
        if isinstance(value, Const | Argument):
            return True
        if isinstance(value, Undef):
            return False
        if isinstance(value, Phi):
            return self._dominates(value.block, block)
        assert isinstance(value, Instruction), value
        home = value.block
        if home is None:
            return False
        if home is block:
            place = next((i for i, x in enumerate(block.instructions) if x is value), None)
            return place is not None and (index is None or place < index)
        return self._dominates(self._definition(value, home), block)

    def available_on_edge(self, value: Value, source: Block, target: Block) -> bool:
        """Whether `value` may be the operand for `source` of a phi in `target`.

        It must be defined at the end of `source`; along an exceptional edge, before the last
        instruction of `source`.  `UNDEF` always may.
        """
        if isinstance(value, Undef) or source not in self._leave:
            return True
        exceptional = target is source.handler and target not in source.terminator.successors
        if exceptional and source.instructions:
            return self.available(value, source, len(source.instructions) - 1)
        return self.available(value, source)

    def _definition(self, value: Instruction, home: Block) -> _Node:
        return self._split[home] if home in self._split and home.instructions[-1] is value else home
