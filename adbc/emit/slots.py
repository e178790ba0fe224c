"""Which local variable holds which value: liveness, coalescing of phis, sharing of slots.

A phi and its operands share a variable wherever their lives do not overlap; what is left becomes
copies on the edges.  Values whose lives do not overlap share variables too, so that a large array
does not stay alive behind a name that nobody reads.  Sets of values are bit masks in Python ints.

It refuses to know about opcodes: it answers "the name of the variable of this value".
"""

from __future__ import annotations

from adbc.emit.flow import Flow, Node
from adbc.emit.releases import is_kept, is_release, released
from adbc.emit.schedule import Schedule
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Raise
from adbc.ir.values import Argument, Instruction, Phi, Value

__all__ = ["Slots"]


class Slots:
    """The local variables of a graph: their names, parameters first, and which value is in which."""

    def __init__(self, graph: Graph, flow: Flow, schedule: Schedule) -> None:
        self.graph = graph
        self.flow = flow
        self.schedule = schedule
        self.number: dict[Value, int] = {}
        self.values: list[Value] = []
        self.conflicts: list[int] = []
        self.names: list[str] = []
        self.slot_of: dict[Value, str] = {}
        self.unnamed: set[str] = set()
        """The variables in which nothing stands that the function has a name for."""
        self.entry_copies: list[Argument] = []
        self.live_in: dict[Node, int] = {}
        """By node, the values that are live where it starts, as a set of bits."""
        self._summary: dict[Node, tuple[list[tuple[int, int]], int]] = {}
        self._phis: dict[Node, int] = {}  # those that have variables
        self._forgotten: dict[Instruction, tuple[int, int]] = {}
        self._caught: dict[int, int] = {}  # by node: the exceptions in variables that it catches
        self._caught_before: dict[int, int] = {}  # the same of all nodes on every way to it
        self.forgotten: dict[Instruction, list[str]] = {}
        """By instruction that ends the handling of an exception, or lets go of a value, the variables to be
        emptied there."""
        self._collect()
        self._liveness()
        self._coalesce()
        self._assign()
        for root, (exceptions, live) in self._forgotten.items():
            kept = {self.slot_of[v] for v in self._values(live)}
            names = dict.fromkeys(self.slot_of[v] for v in self._values(exceptions))
            self.forgotten[root] = [name for name in names if name not in kept]

    def starts_with_copies(self, source: Node, target: Node) -> bool:
        """Whether the copies of an edge belong to its target, because its source has other ways to go."""
        return len(source.successors) > 1

    # -- liveness --------------------------------------------------------------------------------------

    def _add(self, value: Value) -> None:
        if value not in self.number:
            self.number[value] = len(self.values)
            self.values.append(value)
            self.conflicts.append(0)

    def _mask(self, values: list[Value] | tuple[Value, ...]) -> int:
        mask = 0
        for value in values:
            mask |= 1 << self.number[value]
        return mask

    def _collect(self) -> None:
        schedule = self.schedule
        for argument in self.graph.arguments:
            if argument not in schedule.param_cells:
                self._add(argument)
            elif schedule.uses.get(argument, 0) > 1:
                # The parameter itself becomes a cell; its first value is needed as well.
                self._add(argument)
                self.entry_copies.append(argument)
        for node in self.flow.layout:
            for phi in node.phis:
                if phi in schedule.live_phis:
                    self._add(phi)
            if node in schedule.loop_bodies and schedule.uses.get(schedule.loop_bodies[node].value, 0):
                self._add(schedule.loop_bodies[node].value)
            for root in schedule.roots[node]:
                for value in self.defined(root):
                    self._add(value)
        for found in schedule.for_loops.values():
            if found.tape is not None:
                self._add(found.tape)

    def defined(self, root: Instruction) -> list[Value]:
        """The values that a root puts into variables."""
        schedule = self.schedule
        if root in schedule.kept:
            tape = schedule.kept[root].tape
            return [] if tape is None else [tape]
        if root in schedule.groups:
            return [p for p in schedule.groups[root] if p is not None and schedule.uses.get(p)]
        if schedule.uses.get(root) and root not in schedule.cells:
            return [root]
        return []

    def _released(self, root: Instruction) -> int:
        """The value in a variable that the frame lets go of at `root`, if `root` is a release."""
        if not is_release(root, False):
            return 0
        value = self.schedule.resolve(released(root))
        return self._mask([value] if value in self.number else [])

    def _leaves(self, steps: object) -> int:
        values = self.schedule.tree_leaves(steps)  # type: ignore[arg-type]
        return self._mask([v for v in values if v in self.number])

    def _copied(self, source: Node, target: Node) -> int:
        copies = self.schedule.copies(source, target)
        return self._mask([v for _, v in copies if v in self.number])

    def _liveness(self) -> None:
        """Find what is live, backwards over the blocks to a fixed point, and once more to note which lives
        overlap."""
        for node in self.flow.layout:
            self._summary[node] = self._summarised(node)
            self._phis[node] = self._mask([p for p in node.phis if p in self.schedule.live_phis])
            self.live_in[node] = 0
        order = self.flow.layout[::-1]
        changed = True
        while changed:
            changed = False
            for node in order:
                live = self._live_before(node, record=False)
                if live != self.live_in[node]:
                    self.live_in[node] = live
                    changed = True
        for node in order:
            self._live_before(node, record=True)
        arguments = self._mask([a for a in self.graph.arguments if a in self.number])
        self._clash(arguments, self.live_in[self.flow.entry] | arguments)

    def _summarised(self, node: Node) -> tuple[list[tuple[int, int]], int]:
        """What each root of `node` defines and uses, and what the end of `node` uses."""
        schedule = self.schedule
        roots = [
            (self._mask(self.defined(root)), self._leaves(schedule.plans[root].steps) | self._released(root))
            for root in schedule.roots[node]
        ]
        return roots, self._leaves(schedule.terminator_values(node) or self._switch_value(node))

    def _clash(self, defined: int, live: int) -> None:
        """Note that each value of `defined` needs another variable than all others of `live`."""
        while defined:
            low = defined & -defined
            self.conflicts[low.bit_length() - 1] |= live & ~low
            defined ^= low

    def _live_before(self, node: Node, record: bool) -> int:
        """What is live where `node` starts; with `record`, note what is live together."""
        live = self._live_behind(node, record)
        live = self._through_roots(node, live, record)
        return self._through_start(node, live, record)

    def _live_behind(self, node: Node, record: bool) -> int:
        """What is live when the roots of `node` have run: what its end and the blocks behind it use."""
        live = self._summary[node][1]
        for successor in node.successors:
            incoming = self.live_in[successor]
            if not self.starts_with_copies(node, successor):
                incoming = self._through_edge(node, successor, incoming, record)
            live |= incoming
        return live

    def _through_edge(self, node: Node, successor: Node, live: int, record: bool) -> int:
        """What is live in front of the copies that are made at the end of `node` for `successor`."""
        schedule, phis = self.schedule, self._phis[successor]
        found = schedule.for_loops.get(successor)
        enters = found is not None and found.kept_from is None and found not in schedule.context(node)
        iterator = 0  # what the loop goes over, in a variable: it is loaded behind the copies
        if found is not None and enters and found.iterator in self.number:
            iterator = 1 << self.number[found.iterator]
        if record and phis:
            self._clash(phis, live | phis | iterator)
        live = live & ~phis | self._copied(node, successor)
        if found is not None and enters and found.tape is not None:
            tape = 1 << self.number[found.tape]
            if record:
                self._clash(tape, live)
            live &= ~tape
        return live | iterator

    def _through_roots(self, node: Node, live: int, record: bool) -> int:
        """What is live in front of the first root of `node`, if `live` is what is live behind the last."""
        schedule, roots = self.schedule, self._summary[node][0]
        handled = 0 if node.handler is None else self.live_in[node.handler]
        region = None if node.handler is None else schedule.region_start(node)
        region_end = None if node.handler is None else schedule.region_end(node)
        kept = 0  # what a handler finds must stay as it is through the whole region
        for k in range(len(roots), -1, -1):
            if k < len(roots):
                root, (defined, used) = schedule.roots[node][k], roots[k]
                if record:
                    self._note(root, node, used, live | handled)
                    self._clash(defined, live | defined)
                live = live & ~defined | used
            if k == region_end:
                kept = handled
            live |= kept
            if k == region:
                kept = 0
                live = self._before_region(node, live, handled, record)
        return live

    def _note(self, root: Instruction, node: Node, used: int, needed: int) -> None:
        """Note which variables are to be emptied at `root`, unless they are `needed`."""
        if self.schedule.ends_handling(root):
            # An exception in a variable would keep itself alive, by its traceback and the frame.
            self._forgotten[root] = (self._exceptions_at(node), needed)
        if is_release(root, False) and not is_kept(root):
            self._forgotten[root] = (used, needed)

    def _through_start(self, node: Node, live: int, record: bool) -> int:
        """What is live in front of the copies, and of the value of a loop, that `node` starts with."""
        if len(node.predecessors) == 1 and node.phis and node is not self.flow.entry:
            source, phis = node.predecessors[0], self._phis[node]
            if source.handler is not node and self.starts_with_copies(source, node):
                if record:
                    self._clash(phis, live | phis)
                live = live & ~phis | self._copied(source, node)
        found = self.schedule.loop_bodies.get(node)
        if found is not None and found.value in self.number:
            bit = 1 << self.number[found.value]
            if record:
                self._clash(bit, live)
            live &= ~bit
        return live

    def _exceptions_at(self, node: Node) -> int:
        """The exceptions in variables that were caught on every way to `node`."""
        if not self._caught:
            for value, home in self.schedule.exceptions.items():
                if value in self.number:
                    index = home.index
                    self._caught[index] = self._caught.get(index, 0) | 1 << self.number[value]
        known, idom = self._caught_before, self.flow.idom
        way = [node.index]
        while way[-1] not in known and way[-1] != 0:
            way.append(idom[way[-1]])
        for index in reversed(way):
            if index not in known:
                above = known[idom[index]] if index else 0
                known[index] = above | self._caught.get(index, 0)
        return known[node.index]

    def _values(self, mask: int) -> list[Value]:
        values = []
        while mask:
            low = mask & -mask
            values.append(self.values[low.bit_length() - 1])
            mask ^= low
        return values

    def _before_region(self, node: Node, live: int, incoming: int, record: bool) -> int:
        """What is live in front of the copies for a handler, made before the protected instruction."""
        assert node.handler is not None
        phis = self._phis[node.handler]
        live |= incoming & ~phis
        copies = [(p, v) for p, v in self.schedule.copies(node, node.handler)]
        if record:
            for phi, value in copies:
                # The copy and the original are the same value here, so they do not clash here.
                same = 1 << self.number[value] if value in self.number else 0
                self._clash(1 << self.number[phi], (live | phis) & ~same)
        return live & ~phis | self._mask([v for _, v in copies if v in self.number])

    def _switch_value(self, node: Node) -> list[Value]:
        if node.block is None or node in self.schedule.for_loops:
            return []
        return [self.schedule.resolve(v) for v in node.block.terminator.values]

    # -- coalescing ------------------------------------------------------------------------------------

    def _coalesce(self) -> None:
        parent = list(range(len(self.values)))
        members = [1 << k for k in range(len(self.values))]
        conflicts = self.conflicts
        fixed: list[Argument | None] = [
            v if isinstance(v, Argument) and v not in self.entry_copies else None for v in self.values
        ]

        def root(k: int) -> int:
            while parent[k] != k:
                parent[k] = parent[parent[k]]
                k = parent[k]
            return k

        nodes = sorted(self.flow.layout, key=lambda n: -len(n.loops))
        for node in nodes:
            for phi in node.phis:
                if phi not in self.schedule.live_phis:
                    continue
                # The way round the loop first: that copy would be made most often.
                sources = sorted(node.predecessors, key=lambda p: -len(p.loops))
                for source in sources:
                    value = phi.operands.get(source.origin)
                    value = None if value is None else self.schedule.resolve(value)
                    if value is None or value not in self.number:
                        continue
                    a, b = root(self.number[phi]), root(self.number[value])
                    if a == b or (fixed[a] is not None and fixed[b] is not None):
                        continue
                    if conflicts[a] & members[b] or conflicts[b] & members[a]:
                        continue
                    parent[b] = a
                    members[a] |= members[b]
                    conflicts[a] |= conflicts[b]
                    fixed[a] = fixed[a] if fixed[a] is not None else fixed[b]
        self._root = root
        self._members = members
        self._fixed = fixed

    # -- names -----------------------------------------------------------------------------------------

    def _assign(self) -> None:
        graph, schedule = self.graph, self.schedule
        self.names = [argument.name for argument in graph.arguments]
        taken = set(self.names)
        taken.update(name for name, _ in schedule.cells.values())
        taken.update(graph.free)
        roots = sorted({self._root(k) for k in range(len(self.values))})
        held = [0] * len(graph.arguments)  # per slot: members
        clashing = [0] * len(graph.arguments)  # per slot: what these conflict with
        slot_of_root: dict[int, int] = {}
        parameters = len(graph.arguments)
        for r in roots:
            argument = self._fixed[r]
            if argument is not None:
                slot = argument.index
                slot_of_root[r] = slot
                held[slot] |= self._members[r]
                clashing[slot] |= self.conflicts[r]
        for r in roots:
            if r in slot_of_root:
                continue
            members, conflicts = self._members[r], self.conflicts[r]
            # A frame of CPython's holds what a parameter is until it ends: no slot of these is used again.
            for slot, m in enumerate(held[parameters:], parameters):
                if not m & conflicts and not members & clashing[slot]:  # mostly it has one or the other
                    held[slot] |= members
                    clashing[slot] |= conflicts
                    break
            else:
                slot = len(held)
                held.append(members)
                clashing.append(conflicts)
                self.names.append(self._name(members, taken))
                taken.add(self.names[-1])
            slot_of_root[r] = slot
        for k, value in enumerate(self.values):
            self.slot_of[value] = self.names[slot_of_root[self._root(k)]]

    def of_exception(self, end: Raise, block: Block | None) -> list[str]:
        """The variables, but for those of the user's, of what leaves the function by `end` of `block`.

        A traceback keeps the frame: with one of these an exception would hold itself, and all that the
        call has made.
        """
        if block is None or block.handler is not None:
            return []
        slots = {self.slot_of.get(self.schedule.resolve(value)) for value in end.values}
        return sorted(slot for slot in slots if slot in self.unnamed)

    def _name(self, members: int, taken: set[str]) -> str:
        """A name for a variable: that of one of its values, if one of their names is free."""
        stem = None
        while members:
            low = members & -members
            k = low.bit_length() - 1
            members ^= low
            value = self.values[k]
            name = value.name if isinstance(value, (Phi, Instruction, Argument)) else None
            if name and name.isidentifier():
                if name not in taken:
                    return name
                stem = stem or name
        number = 0
        while True:
            candidate = f"{stem}.{number}" if stem else f"t{number + len(self.names)}"
            if candidate not in taken:
                if not stem:
                    self.unnamed.add(candidate)
                return candidate
            number += 1
