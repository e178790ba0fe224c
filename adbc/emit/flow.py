"""The shape of the code: critical edges split, loops found, blocks put in order.

Emission works on `Node`s, not on the graph's blocks, so that the graph stays as it is.  A node is a
reachable block, or an empty one on an edge that needed one.  After this module every edge either
leaves a node with one normal successor or enters a node with one predecessor, so that code which
belongs to an edge always has a place.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from adbc.emit.releases import is_next
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch
from adbc.ir.traverse import depth_first_postorder
from adbc.ir.values import Instruction, Phi, Value

__all__ = ["Flow", "Node"]


class Node:
    """A block to be emitted.

    `origin` is the block of the graph whose edges this node carries on: itself, or the source of a
    split edge.  `loops` are the headers of the loops around this node, outermost first.
    """

    __slots__ = (
        "block",
        "handler",
        "index",
        "loops",
        "origin",
        "phis",
        "predecessors",
        "successors",
        "targets",
    )

    def __init__(self, block: Block | None, origin: Block) -> None:
        self.block = block
        self.origin = origin
        self.phis: list[Phi] = list(block.phis) if block is not None else []
        self.targets: dict[Block, Node] = {}
        self.successors: list[Node] = []
        self.predecessors: list[Node] = []
        self.handler: Node | None = None
        self.index = -1
        self.loops: list[Node] = []

    @property
    def instructions(self) -> list[Instruction]:
        return self.block.instructions if self.block is not None else []

    def __repr__(self) -> str:
        return f"<node {self.block.label if self.block else f'after {self.origin.label}'}>"


class Flow:
    """The nodes of a graph in the order of their code."""

    def __init__(self, graph: Graph, released: Mapping[Block, Value] = MappingProxyType({})) -> None:
        self.graph = graph
        self.released = released
        """By block at whose end a frame lets go of an iterator that is on the stack up to there, that
        iterator."""
        self.nodes: list[Node] = []
        self.node_of: dict[Block, Node] = {}
        self._collect()
        self._split()
        self.entry = self.node_of[graph.entry]
        if self.entry.predecessors:
            # Code at the entry must run once, so a loop may not begin there.
            first = Node(None, graph.entry)
            first.successors = [self.entry]
            self.entry.predecessors.append(first)
            self.nodes.append(first)
            self.entry = first
        self._number()
        self._find_loops()
        self._order()

    def _collect(self) -> None:
        work = [self.graph.entry]
        self.node_of[self.graph.entry] = Node(self.graph.entry, self.graph.entry)
        while work:
            block = work.pop()
            self.nodes.append(self.node_of[block])
            for successor in block.successors:
                if successor not in self.node_of:
                    self.node_of[successor] = Node(successor, successor)
                    work.append(successor)

    def _split(self) -> None:
        counts: dict[Block, int] = {}
        for node in self.nodes:
            assert node.block is not None
            for successor in node.block.successors:
                counts[successor] = counts.get(successor, 0) + 1
        for node in list(self.nodes):
            assert node.block is not None
            normal = node.block.terminator.successors
            for block in normal:
                target = self.node_of[block]
                if len(normal) > 1 and counts[block] > 1:
                    middle = Node(None, node.block)
                    middle.successors = [target]
                    middle.predecessors = [node]
                    self.nodes.append(middle)
                    target.predecessors.append(middle)
                    node.targets[block] = middle
                    node.successors.append(middle)
                else:
                    node.targets[block] = target
                    node.successors.append(target)
                    target.predecessors.append(node)
            if node.block.handler is not None:
                node.handler = self.node_of[node.block.handler]
                node.handler.predecessors.append(node)

    def outgoing(self, node: Node) -> list[Node]:
        """The nodes that control may go to from `node`: its successors, and its handler."""
        return node.successors if node.handler is None else [*node.successors, node.handler]

    def _number(self) -> None:
        """Number the nodes in reverse postorder, without recursion."""
        self.nodes = depth_first_postorder([self.entry], self.outgoing)
        self.nodes.reverse()
        for index, node in enumerate(self.nodes):
            node.index = index

    def _find_loops(self) -> None:
        """Find the natural loops, by the dominators of Cooper, Harvey and Kennedy."""
        nodes = self.nodes
        idom: list[int] = [-1] * len(nodes)
        idom[0] = 0
        changed = True
        while changed:
            changed = False
            for node in nodes[1:]:
                new = -1
                for predecessor in node.predecessors:
                    p = predecessor.index
                    if idom[p] < 0:
                        continue
                    if new < 0:
                        new = p
                        continue
                    a, b = p, new
                    while a != b:
                        while a > b:
                            a = idom[a]
                        while b > a:
                            b = idom[b]
                    new = a
                if idom[node.index] != new:
                    idom[node.index] = new
                    changed = True
        self.idom = idom
        self.bodies: dict[Node, set[Node]] = {}
        for header in nodes:
            latches = [p for p in header.predecessors if self.dominates(header, p)]
            if not latches:
                continue
            body = {header}
            work = latches
            while work:
                node = work.pop()
                if node not in body:
                    body.add(node)
                    work.extend(node.predecessors)
            self.bodies[header] = body
        self._hold_iterators()
        # Reverse postorder meets outer headers before inner ones.
        for header, body in self.bodies.items():
            for node in body:
                node.loops.append(header)

    def _hold_iterators(self) -> None:
        """Let what is done behind a loop before its iterator is let go of belong to the loop."""
        if not self.released:
            return
        held = set(self.released.values())
        heads = {node: x.operands[-1] for node in self.nodes for x in node.instructions[:1] if is_next(x)}
        for header, iterator in heads.items():
            if iterator in held:
                self.bodies.setdefault(header, {header})
        self.bodies = {node: self.bodies[node] for node in self.nodes if node in self.bodies}
        for header, body in self.bodies.items():
            around = [outer for h, outer in self.bodies.items() if header in outer and h is not header]
            for block, iterator in self.released.items():
                if header in heads and heads[header] is iterator:
                    late = self._between(header, body, self.node_of[block])
                    if late is not None and all(late <= outer for outer in around):
                        body |= late

    def _between(self, header: Node, body: set[Node], end: Node) -> set[Node] | None:
        """The nodes from the exits of a loop to `end`; None if one of them may be reached in another way,
        or when the iterator is exhausted."""
        late: set[Node] = set()
        waiting = [end]
        assert header.block is not None
        branch = header.block.terminator
        if not isinstance(branch, Branch):
            return None
        exhausted = header.targets[branch.true]
        while waiting:
            node = waiting.pop()
            if node not in body and node not in late:
                if not self.dominates(header, node) or node is exhausted:
                    return None
                late.add(node)
                waiting.extend(node.predecessors)
        return late

    def dominates(self, a: Node, b: Node) -> bool:
        """Whether every way to `b` leads through `a`."""
        k = b.index
        while k > a.index:
            k = self.idom[k]
        return k == a.index

    def _order(self) -> None:
        """Put the nodes in the order of their code: loops in one piece, and the way that stays in a loop
        falls through.

        In reverse postorder the successor that is visited last comes next.  So those that leave
        most loops are visited first, and handlers before all.
        """

        def visited_first(node: Node) -> list[Node]:
            here = set(node.loops)

            def leaves(successor: Node) -> int:
                return len(here.difference(successor.loops))

            # `sorted` is stable: of two that stay, the true arm comes next.
            normal = sorted(node.successors, key=leaves, reverse=True)
            return normal if node.handler is None else [node.handler, *normal]

        self.layout = depth_first_postorder([self.entry], visited_first)
        self.layout.reverse()
