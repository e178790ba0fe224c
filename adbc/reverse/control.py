"""From one primal graph, two: what is saved where, and the blocks in reverse.

**What is saved.**  A value that a step needs is saved once per definition, in the *record* of its
region: a value defined in a loop in the record of the iteration, any other in the record of the
call.  Records are tuples.  The records of a loop form a linked list, ``(values..., previous)``, so
the tape of a loop is an ordinary SSA value that starts as None; nothing is shared between calls, and
the pullback of a loop ends where the list does.  The last, partial iteration (the one that leaves)
has a record of its own layout on each edge out of the loop, or none if nothing in it is needed.

**Which way back.**  A block with several predecessors records which one it was entered from: a phi
of constants, saved like any other value.  A loop header needs none: it was entered from outside if
and only if its tape is empty.

**Cotangents of phis** are all read before any is written, and handed to the operands of the edge
that was taken: phis are simultaneous assignments, and so are their adjoints.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.ir.builder import Builder, Variables, remove_trivial_phis
from adbc.ir.graph import Block, Const, Graph, Instruction, Phi, Position, Return, Value
from adbc.ir.loops import Loop, Loops
from adbc.ir.traverse import depth_first_postorder, predecessors, remove_unreachable, reverse_postorder
from adbc.passes.cotangent_sums import cotangent_sums
from adbc.passes.protected import is_isolated
from adbc.reverse.canonical import canonicalise
from adbc.reverse.exceptions import attempt_calls, return_exceptions
from adbc.reverse.forwards import ForwardsPass
from adbc.reverse.pullback import Cotangent, PullbackWriter
from adbc.reverse.support import Support
from adbc.types.callsites import activity
from adbc.types.inference import type_of
from adbc.types.lattice import AbstractType, has_cotangent, has_shadow, join_all

__all__ = ["ReversePair", "build_reverse"]


@dataclasses.dataclass(frozen=True)
class ReversePair:
    """The two graphs of a derived reverse rule (see `support.DerivedEntry` for how they are called)."""

    forwards: Graph
    pullback: Graph


def build_reverse(
    graph: Graph,
    active_arguments: Sequence[bool],
    result: AbstractType,
    support: Support,
    *,
    returns_exceptions: bool = False,
) -> ReversePair:
    """Build forwards pass and pullback of `graph`, which is typed and in normal form; it is changed.

    `result` is the type of the result that callers were told.  With `returns_exceptions`, the forwards
    pass returns a `Raised` where the primal raises.
    """
    types = {argument: type_of(argument) for argument in graph.arguments}
    remove_unreachable(graph)
    if returns_exceptions:
        return_exceptions(graph)
    attempt_calls(graph, lambda: activity(graph, active_arguments, support.knowledge)[1])
    loops = canonicalise(graph)
    for block in graph.blocks:
        for phi in block.phis:
            if phi.type is None:
                phi.type = _phi_type(phi)
    assert all(type_of(a) == t for a, t in types.items())
    active, sites = activity(graph, active_arguments, support.knowledge)
    order = reverse_postorder(graph)
    forwards = ForwardsPass(graph, order, active, active_arguments, sites, support)
    return _Reversal(graph, loops, order, forwards, result, support).build()


def _phi_type(phi: Phi) -> AbstractType:
    return join_all(type_of(v) for v in phi.operands.values())


class _Reversal:
    def __init__(
        self,
        graph: Graph,
        loops: Loops,
        order: Sequence[Block],
        forwards: ForwardsPass,
        result: AbstractType,
        support: Support,
    ) -> None:
        self.graph = graph
        self.loops = loops
        self.forwards = forwards
        self.result = result
        self.support = support
        self.active = forwards.active
        self.sources = predecessors(graph)
        self.exit = next((b for b in order if isinstance(b.terminator, Return)), None)
        returning = self._returning()
        self.order = [b for b in order if b in returning]
        self.idle = {
            block
            for loop in loops.all
            if loop.header in returning and self._is_idle(loop)
            for block in loop.blocks
        }
        self.labels: dict[Block, Phi] = {}
        self.needed: dict[_Slot, _Need] = {}
        self.tapes: dict[Loop, Phi] = {}
        self.layouts: dict[tuple[Block, Block], dict[Loop, list[_Slot]]] = {}
        self.tape_at: dict[tuple[Block, Loop], Value] = {}
        self.iteration: dict[Loop, list[_Slot]] = {}

    # -- which blocks matter ---------------------------------------------------------------------------

    def _returning(self) -> set[Block]:
        """The blocks from which the call can still return."""
        seen: set[Block] = set()
        waiting = [self.exit] if self.exit is not None else []
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                waiting += self.sources[block]
        return seen

    def _is_idle(self, loop: Loop) -> bool:
        """Whether reversing the loop would do nothing, so that the pullback can step over it."""
        return not any(
            self.forwards.steps[block] or any(phi in self.active for phi in block.phis)
            for block in loop.blocks
        )

    def _reversed_sources(self, block: Block) -> list[Block]:
        """Where the pullback goes from `block`: its predecessors, idle loops stepped over."""
        result = []
        for source in self.sources[block]:
            if block not in self.idle:
                while source in self.idle:
                    loop = self._outermost_idle(source)
                    (source,) = [s for s in self.sources[loop.header] if s not in loop.blocks]
            result.append(source)
        return result

    def _outermost_idle(self, block: Block) -> Loop:
        loop = self.loops.innermost[block]
        while loop.parent is not None and loop.parent.header in self.idle:
            loop = loop.parent
        return loop

    def _region(self, block: Block) -> Loop | None:
        return self.loops.innermost.get(block)

    # -- the whole -------------------------------------------------------------------------------------

    def build(self) -> ReversePair:
        forwards = self.forwards
        if self.exit is None:
            return ReversePair(forwards.graph, self._pullback_of_no_return())
        self.live = [b for b in self.order if b not in self.idle]
        self._collect_needs()
        self._save()
        return ReversePair(forwards.graph, self._pullback())

    def _pullback_of_no_return(self) -> Graph:
        graph = Graph(f"{self.graph.name}.pullback")
        graph.add_argument("saved")
        builder = Builder(graph)
        builder.raise_(builder.call(UnsupportedError, "pullback of a call that did not return"))
        return graph

    # -- the forwards pass: records --------------------------------------------------------------------

    def _collect_needs(self) -> None:
        homes = {copy: block for block, copy in self.forwards.blocks.items()}
        for block in self.live:
            for step in self.forwards.steps[block]:
                for value in step.needs:
                    if isinstance(value, Const):
                        continue
                    home = self.graph.entry
                    if isinstance(value, Instruction | Phi):
                        assert value.block is not None
                        home = homes[value.block]
                        if isinstance(value, Instruction) and is_isolated(home):
                            (home,) = home.terminator.successors  # where it has not raised
                    self._need(value, home, block)
        for block in self.live:
            targets = self._reversed_sources(block)
            if len(targets) > 1 and not self._is_header(block):
                copy = self.forwards.blocks[block]
                label = Phi(copy, name="came_from")
                for source in self.sources[block]:
                    index = self.sources[block].index(source)
                    label.operands[self.forwards.blocks[source]] = Const(
                        bool(index) if len(targets) == 2 else index
                    )
                copy.phis.append(label)
                self.labels[block] = label
                self._need(label, block, block)

    def _is_header(self, block: Block) -> bool:
        loop = self._region(block)
        return loop is not None and loop.header is block

    def _need(self, value: Value, home: Block, user: Block) -> None:
        """The reverse of `user` needs `value`, which is defined in `home`.

        It goes into the record of the innermost loop around both: a value used behind the loop that
        defines it is saved there once, not in every iteration.
        """
        region = self._region(home)
        while region is not None and (user not in region.blocks or region.header in self.idle):
            region = region.parent
        self.needed.setdefault((value, region), _Need(home, set())).users.add(user)

    def _save(self) -> None:
        """Write records into the forwards pass: per iteration, per edge out of a loop, per call."""
        forwards = self.forwards
        values = Variables(forwards.graph, initial=lambda variable: Const(None))
        for source in forwards.graph.blocks:
            if source in forwards.blocks.values():
                for target in forwards.blocks[self._original(source)].successors:
                    values.edge(source, target)
        for block in forwards.graph.blocks:
            values.sealed.add(block)
        self.values = values
        written: set[_Slot] = set()

        def announce() -> None:
            for slot, need in self.needed.items():
                if slot not in written:
                    written.add(slot)
                    value, region = slot
                    if region is not None and need.home is not region.header:
                        values.write(slot, forwards.blocks[region.header], Const(None))
                    values.write(slot, forwards.blocks[need.home], value)

        for loop in sorted(self.loops.all, key=lambda loop: -loop.depth):
            if (
                loop.header not in forwards.blocks
                or loop.header not in self.order
                or loop.header in self.idle
            ):
                continue
            announce()
            self._save_loop(loop)
        announce()
        assert self.exit is not None
        record = [slot for slot in self.needed if slot[1] is None]
        self.call_record = record
        returning = forwards.blocks[self.exit]
        builder = Builder(forwards.graph, returning)
        builder.position = self.exit.terminator.position
        read = [values.read(slot, returning) for slot in record]
        if not read:
            saved: Value = Const(None)
        elif len(read) == 1:
            saved = read[0]
        else:
            saved = builder.call(intrinsics._new_, tuple, *read)
        (out,) = self.exit.terminator.values
        parts = [forwards.p(out)]
        if has_shadow(self.result):
            parts.append(forwards.s(out))
        builder.ret(builder.call(intrinsics._new_, tuple, *parts, saved))
        remove_trivial_phis(forwards.graph, only=set(values.phis))

    def _original(self, copy: Block) -> Block:
        if not hasattr(self, "_originals"):
            self._originals = {c: b for b, c in self.forwards.blocks.items()}
        return self._originals[copy]

    def _save_loop(self, loop: Loop) -> None:
        forwards = self.forwards
        (latch,) = loop.latches
        slots = [slot for slot in self.needed if slot[1] is loop]
        record = [slot for slot in slots if not self.needed[slot].users.isdisjoint(loop.blocks)]
        self.iteration[loop] = record
        header = forwards.blocks[loop.header]
        tape = Phi(header, name="tape")
        header.phis.append(tape)
        self.tapes[loop] = tape
        for source in self.sources[loop.header]:
            if source is latch:
                tape.operands[forwards.blocks[latch]] = self._push(forwards.blocks[latch], record, tape)
            else:
                tape.operands[forwards.blocks[source]] = Const(None)
        for source, target in loop.exits:
            if target not in self.order:
                continue
            executed = self._partial_iteration(loop, source)
            layout = [slot for slot in slots if self.needed[slot].users & executed]
            self.layouts.setdefault((source, target), {})[loop] = layout
            last = self._push(forwards.blocks[target], layout, tape) if layout else tape
            self.tape_at[target, loop] = last
            # An edge that leaves two loops at once saves the tape of the inner one in the record that
            # the outer one writes on the same edge.
            home = target if layout else loop.header
            self.needed.setdefault((last, loop.parent), _Need(home, set())).users.add(target)

    def _push(self, block: Block, record: Sequence[_Slot], tape: Value) -> Value:
        builder = Builder(self.forwards.graph, block)
        read = [self.values.read(slot, block) for slot in record]
        return builder.call(intrinsics._new_, tuple, *read, tape)

    def _partial_iteration(self, loop: Loop, source: Block) -> set[Block]:
        """The blocks that may have run in the iteration that leaves `loop` from `source`."""
        seen: set[Block] = set()
        waiting = [source]
        while waiting:
            block = waiting.pop()
            if block in seen:
                continue
            seen.add(block)
            if block is not loop.header:
                waiting += self.sources[block]
        # Blocks behind inner exits leave the inner loop's tape to be read there.
        return seen | {t for s, t in loop.exits if s is source}

    # -- the pullback ----------------------------------------------------------------------------------

    def _pullback(self) -> Graph:
        graph = Graph(f"{self.graph.name}.pullback")
        graph.qualname = f"{self.graph.qualname}.pullback"
        graph.filename = self.graph.filename
        graph.first_line = self.graph.first_line
        saved = graph.add_argument("saved")
        cotangent = graph.add_argument("cotangent") if has_cotangent(self.result) else None
        writer = PullbackWriter(graph, self.support, self.active)
        writer.is_plain = self.forwards.is_plain
        variables = writer.variables
        assert self.exit is not None

        copies = {b: graph.add_block(b.label) for b in reversed(self.live)}
        edges: dict[tuple[Block, Block], Block] = {}
        variables.edge(writer.block, copies[self.exit])
        for block in self.live:
            for source in self._reversed_sources(block):
                edge = edges[block, source] = graph.add_block(f"{block.label}_to_{source.label}")
                variables.edge(copies[block], edge)
                variables.edge(edge, copies[source])

        variables.seal(writer.block)
        record = self.call_record
        if len(record) == 1:
            writer.define(record[0][0], saved)
        elif record:
            for slot, element in zip(record, writer.unpack(saved, len(record)), strict=True):
                writer.define(slot[0], element)
        (out,) = self.exit.terminator.values
        if cotangent is not None:
            writer.give(out, writer.split(cotangent, self.result, exact=True), self.result)
        writer.builder.jump(copies[self.exit])

        filled = {graph.entry}
        order = depth_first_postorder([self.exit], self._reversed_sources)[::-1]
        for block in order:
            if all(p in filled for p in variables.predecessors.get(copies[block], [])):
                variables.seal(copies[block])
            writer.builder.block = copies[block]
            self._reverse_block(block, writer, edges, copies)
            filled.add(copies[block])
            filled.update(edges[block, s] for s in self._reversed_sources(block))
        variables.finish()
        return cotangent_sums(graph)

    def _reverse_block(
        self,
        block: Block,
        writer: PullbackWriter,
        edges: dict[tuple[Block, Block], Block],
        copies: dict[Block, Block],
    ) -> None:
        builder = writer.builder
        for step in reversed(self.forwards.steps[block]):
            builder.position = step.position if isinstance(step.position, Position) else None
            step.reverse(writer)
        waiting = [(phi, writer.take(phi)) for phi in block.phis if phi in self.active]
        sources = self._reversed_sources(block)
        targets = [edges[block, s] for s in sources]
        if not sources:
            self._return_cotangents(writer)
        elif len(sources) == 1:
            builder.jump(targets[0])
        elif self._is_header(block):
            loop = self.loops.innermost[block]
            (latch,) = loop.latches
            tape = writer.variables.read(("tape", loop), writer.block)
            inside, outside = targets if sources[0] is latch else targets[::-1]
            builder.branch(builder.call(operator.is_, tape, None), outside, inside)
        else:
            label = writer.get(self.labels[block])
            if len(sources) == 2:
                builder.branch(label, targets[1], targets[0])
            else:
                builder.switch(label, dict(enumerate(targets[:-1])), targets[-1])
        for original, source, edge in zip(self.sources[block], sources, targets, strict=True):
            writer.variables.seal(edge)
            builder.block = edge
            if self._is_header(block) and original in self.loops.innermost[block].latches:
                self._forget_cotangents(writer, self.loops.innermost[block])
            self._distribute(writer, waiting, original)
            self._pop(writer, original, source, block)
            builder.jump(copies[source])

    def _distribute(
        self, writer: PullbackWriter, waiting: Sequence[tuple[Phi, Cotangent]], source: Block
    ) -> None:
        for phi, cotangent in waiting:
            operand = phi.operands.get(source)
            if operand is not None and cotangent:
                writer.give(operand, cotangent, type_of(phi))

    def _pop(self, writer: PullbackWriter, original: Block, source: Block, block: Block) -> None:
        """Going back from `block` to `source`: take the record of the iteration that is entered."""
        if original is not source:
            return  # an idle loop was stepped over: it has no records
        loop = self._region(block)
        if loop is not None and block is loop.header and source in loop.latches:
            tape = writer.variables.read(("tape", loop), writer.block)
            self._pop_record(writer, loop, self.iteration[loop], tape)
            return
        left = []
        inner = self._region(source)
        while inner is not None and block not in inner.blocks:
            left.append(inner)
            inner = inner.parent
        for loop in reversed(left):
            tape = writer.get(self.tape_at[block, loop])
            layout = self.layouts[source, block][loop]
            if layout:
                self._pop_record(writer, loop, layout, tape)
            else:
                writer.variables.write(("tape", loop), writer.block, tape)

    def _forget_cotangents(self, writer: PullbackWriter, loop: Loop) -> None:
        """Where an earlier iteration is entered, nothing defined in the loop has a cotangent yet.

        This is so anyway (each step takes what it uses); saying it here spares a phi per value.
        """
        for block in loop.blocks:
            for value in (*block.phis, *block.instructions):
                if value in self.active:
                    writer.forget(value)

    def _pop_record(self, writer: PullbackWriter, loop: Loop, layout: Sequence[_Slot], tape: Value) -> None:
        *values, previous = writer.unpack(tape, len(layout) + 1)
        for slot, value in zip(layout, values, strict=True):
            writer.define(slot[0], value)
        writer.variables.write(("tape", loop), writer.block, previous)

    def _return_cotangents(self, writer: PullbackWriter) -> None:
        parts = [writer.pack(writer.take(p), type_of(p)) for p in self.forwards.parameters]
        writer.builder.ret(writer.builder.call(intrinsics._new_, tuple, *parts))


_Slot = tuple[Value, Loop | None]
"""A value and the region in whose record it is saved (None: that of the call)."""


@dataclasses.dataclass
class _Need:
    """Where a value to save is defined, and which blocks' reverses use it."""

    home: Block
    users: set[Block]
