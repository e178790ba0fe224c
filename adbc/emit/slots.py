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
from adbc.ir.graph import Graph
from adbc.ir.values import Argument, Instruction, Phi, Value

__all__ = ["Slots"]


class Slots:
    """Names of local variables, parameters first."""

    def __init__(self, graph: Graph, flow: Flow, schedule: Schedule) -> None:
        self.graph = graph
        self.flow = flow
        self.schedule = schedule
        self.number: dict[Value, int] = {}
        self.values: list[Value] = []
        self.conflicts: list[int] = []
        self.names: list[str] = []
        self.slot_of: dict[Value, str] = {}
        self.entry_copies: list[Argument] = []
        self._forgotten: dict[Instruction, tuple[int, int]] = {}
        self._caught: dict[int, int] = {}  # by node: the exceptions in variables that it catches
        self._caught_before: dict[int, int] = {}  # the same of all nodes on every way to it
        self.forgotten: dict[Instruction, list[str]] = {}
        """The variables to be emptied when the handling of an exception ends, or the frame lets go."""
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
        """What the frame lets go of at `root`, if it is said there."""
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
        schedule = self.schedule
        # Per node, once: what each root defines and uses, and what the end uses.
        summary: dict[Node, tuple[list[tuple[int, int]], int]] = {}
        for node in self.flow.layout:
            roots = [
                (
                    self._mask(self.defined(root)),
                    self._leaves(schedule.plans[root].steps) | self._released(root),
                )
                for root in schedule.roots[node]
            ]
            summary[node] = (
                roots,
                self._leaves(schedule.terminator_values(node) or self._switch_value(node)),
            )
        phi_mask = {
            node: self._mask([p for p in node.phis if p in schedule.live_phis]) for node in self.flow.layout
        }
        live_in: dict[Node, int] = dict.fromkeys(self.flow.layout, 0)
        conflicts = self.conflicts

        def clash(defined: int, live: int) -> None:
            while defined:
                low = defined & -defined
                conflicts[low.bit_length() - 1] |= live & ~low
                defined ^= low

        def sweep(node: Node, record: bool) -> int:
            live = 0
            for successor in node.successors:
                incoming = live_in[successor]
                if not self.starts_with_copies(node, successor):
                    phis = phi_mask[successor]
                    if record and phis:
                        clash(phis, incoming | phis)
                    incoming = incoming & ~phis | self._copied(node, successor)
                    found = schedule.for_loops.get(successor)
                    if found is not None and found.kept_from is None and found not in schedule.context(node):
                        if found.tape is not None:
                            tape = 1 << self.number[found.tape]
                            if record:
                                clash(tape, incoming)
                            incoming &= ~tape
                        if found.iterator in self.number:
                            incoming |= 1 << self.number[found.iterator]
                live |= incoming
            roots, end = summary[node]
            live |= end
            region = schedule.region_start(node) if node.handler is not None else None
            region_end = schedule.region_end(node) if node.handler is not None else None
            kept = 0
            for k in range(len(roots), -1, -1):
                if k < len(roots):
                    defined, used = roots[k]
                    if record and schedule.ends_handling(schedule.roots[node][k]):
                        needed = live_in[node.handler] if node.handler is not None else 0
                        self._forget(schedule.roots[node][k], node, live | needed)
                    if record and is_release(schedule.roots[node][k], False):
                        needed = live_in[node.handler] if node.handler is not None else 0
                        if not is_kept(schedule.roots[node][k]):
                            self._forgotten[schedule.roots[node][k]] = (used, live | needed)
                    if record and defined:
                        clash(defined, live | defined)
                    live = live & ~defined | used
                if k == region_end:
                    # What a handler finds must stay as it is through the whole region.
                    assert node.handler is not None
                    kept = live_in[node.handler]
                live |= kept
                if k == region:
                    kept = 0
                    assert node.handler is not None
                    live = self._before_region(node, live, live_in[node.handler], phi_mask, clash, record)
            found = schedule.loop_bodies.get(node)
            if len(node.predecessors) == 1 and node.phis and node is not self.flow.entry:
                source = node.predecessors[0]
                if source.handler is not node and self.starts_with_copies(source, node):
                    if record:
                        clash(phi_mask[node], live | phi_mask[node])
                    live = live & ~phi_mask[node] | self._copied(source, node)
            if found is not None and found.value in self.number:
                bit = 1 << self.number[found.value]
                if record:
                    clash(bit, live)
                live &= ~bit
            return live

        order = self.flow.layout[::-1]
        changed = True
        while changed:
            changed = False
            for node in order:
                live = sweep(node, False)
                if live != live_in[node]:
                    live_in[node] = live
                    changed = True
        for node in order:
            sweep(node, True)
        arguments = self._mask([a for a in self.graph.arguments if a in self.number])
        clash(arguments, live_in[self.flow.entry] | arguments)
        self.live_in = live_in

    def _forget(self, root: Instruction, node: Node, live: int) -> None:
        """Note which exceptions are in variables at `root`, and what is needed behind it.

        An exception in a variable would keep itself alive, by its traceback and the frame.
        """
        self._forgotten[root] = (self._exceptions_at(node), live)

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

    def _before_region(
        self, node: Node, live: int, incoming: int, phi_mask: dict[Node, int], clash: object, record: bool
    ) -> int:
        """The copies for a handler are made before the protected instruction."""
        assert node.handler is not None and callable(clash)
        phis = phi_mask[node.handler]
        live |= incoming & ~phis
        copies = [(p, v) for p, v in self.schedule.copies(node, node.handler)]
        if record:
            for phi, value in copies:
                # The copy and the original are the same value here, so they do not clash here.
                same = 1 << self.number[value] if value in self.number else 0
                clash(1 << self.number[phi], (live | phis) & ~same)
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
        closed = {a.index for a in schedule.param_cells}
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
            for slot, m in enumerate(held):  # mostly there is one thing or another in the slot
                if not m & conflicts and not members & clashing[slot] and slot not in closed:
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

    def _name(self, members: int, taken: set[str]) -> str:
        """A name for a variable: that of one of its values if there is one that is free."""
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
                return candidate
            number += 1
