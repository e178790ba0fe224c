"""Reversing control flow: from one primal graph, the forwards pass and the pullback, with what is saved
where.

**What is saved.**  A value that an adjoint needs is saved once per definition, in the *record* of its
region: a value defined in a loop in the record of the iteration, any other in the record of the
call.  The record of the call is a tuple.  How those of a loop are kept is said in `tapes`: the tape is
an ordinary SSA value, nothing is shared between calls, and the pullback of a loop ends where the tape
does.  The last, partial iteration (the one that leaves) has a record of its own layout on each edge out
of the loop, ``(values..., tape)``, or on the reel of the loop around, or none if nothing in it is needed.
What is cheap enough is not saved at all, see `recompute`.

**Which way back.**  A block with several predecessors records which one it was entered from: a phi
of constants, saved like any other value.  A loop header needs none: it was entered from outside if
and only if its tape is empty.

**Cotangents of phis** are all read before any is written, and handed to the operands of the edge
that was taken: phis are simultaneous assignments, and so are their adjoints.
"""

from __future__ import annotations

from collections.abc import Sequence

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.ir.builder import Builder, Variables, remove_trivial_phis
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import Loop, Loops
from adbc.ir.terminators import Return
from adbc.ir.traverse import depth_first_postorder, predecessors
from adbc.ir.values import Const, Instruction, Phi, Position, Value
from adbc.passes.derived.cotangent_sums import cotangent_sums
from adbc.passes.normal.protected import is_isolated
from adbc.passes.query import use_counts
from adbc.records import record
from adbc.reverse.adjoints import fields_read
from adbc.reverse.forwards import ForwardsPass
from adbc.reverse.layout import LoopRecords, Records
from adbc.reverse.pullback import Cotangent, PullbackWriter
from adbc.reverse.recompute import Need, Recomputation, Slot
from adbc.reverse.records import WayRecords, one_record, open_record, raising_way, usual_way
from adbc.reverse.support import Support
from adbc.reverse.tapes import (
    Count,
    Length,
    Links,
    Reel,
    Tape,
    Winding,
    is_certain,
    new_reel,
    put,
    slots,
    taken,
)
from adbc.reverse.trips import is_short, range_of
from adbc.types.derived import cotangent_type
from adbc.types.inference import type_of
from adbc.types.lattice import NONE, AbstractType, TupleType, ValueArrayType, has_cotangent, has_shadow

__all__ = ["Reversal", "ReversePair"]


@record(frozen=True)
class ReversePair:
    """The two graphs of a derived reverse rule (see `support.DerivedEntry` for how they are called).

    Where the forwards pass has a usual way (see `records`), the pullback is the one of this way; the other
    ways are in another pullback, which is made when it is called.
    """

    forwards: Graph
    pullback: Graph
    records: Records
    """What the forwards pass saves for the pullback."""


class Reversal:
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
        self.ways: WayRecords | None = None
        self.raising: object = None
        """The pullback of the way on which an exception is returned, if that is no other way."""
        self.only: Block | None = None
        """The way through the function that the pullback is being written for; None if it is for all."""
        self.needed: dict[Slot, Need] = {}
        self.tapes: dict[Loop, Tape] = {}
        self.layouts: dict[tuple[Block, Block], dict[Loop, list[Slot]]] = {}
        self.leaving: dict[tuple[Block, Block, Loop], Instruction] = {}
        """The instruction that makes the record of the last iteration of a loop, by the edge on which the
        loop is left."""
        self.tape_at: dict[tuple[Block, Loop], Value] = {}
        self.iteration: dict[Loop, list[Slot]] = {}
        self.reels: dict[Loop, Value] = {}
        """By outermost loop, the reel that the loop shares with the loops inside, if there is one."""
        self.wound: set[Loop] = set()
        """The loops whose records are on a reel, be it their own or that of a loop around."""
        self.iterators: dict[Loop, Value] = {}
        """The pullback's iterator over a reel, by loop, where the pullback begins to read the reel in one
        place only."""

    # -- which blocks matter ---------------------------------------------------------------------------

    def _returning(self) -> set[Block]:
        """The blocks from which the call can still return."""
        return set() if self.exit is None else self._before(self.exit)

    def _is_idle(self, loop: Loop) -> bool:
        """Whether the adjoints of the loop do nothing, so that the pullback can step over the loop."""
        return not any(
            self.forwards.adjoints[block] or any(phi in self.active for phi in block.phis)
            for block in loop.blocks
        )

    def _reversed_sources(self, block: Block) -> list[Block]:
        """Where the pullback goes from `block`: its predecessors, idle loops stepped over."""
        if block is self.exit and self.only is not None:
            return [self.only]
        result = []
        for source in self.sources[block]:
            if block not in self.idle:
                while source in self.idle:
                    loop = self._outermost_idle(source)
                    (source,) = [s for s in self.sources[loop.header] if s not in loop.blocks]
            result.append(source)
        return result

    def _leaving_first(self, block: Block) -> list[Block]:
        """Where the pullback goes from `block`, with the blocks outside its innermost loop in front."""
        loop = self._region(block)
        sources = self._reversed_sources(block)
        if loop is None:
            return sources
        return [s for s in sources if s not in loop.blocks] + [s for s in sources if s in loop.blocks]

    def _outermost_idle(self, block: Block) -> Loop:
        loop = self.loops.innermost[block]
        while loop.parent is not None and loop.parent.header in self.idle:
            loop = loop.parent
        return loop

    def _region(self, block: Block) -> Loop | None:
        return self.loops.innermost.get(block)

    def _saving_region(self, block: Block) -> Loop | None:
        """The loop in whose records values defined in `block` are saved: idle loops have no records."""
        region = self._region(block)
        while region is not None and region.header in self.idle:
            region = region.parent
        return region

    # -- the whole -------------------------------------------------------------------------------------

    def build(self) -> ReversePair:
        forwards = self.forwards
        if self.exit is None:
            return ReversePair(forwards.graph, self._pullback_of_no_return(), Records())
        self.live = [b for b in self.order if b not in self.idle]
        self._collect_needs()
        self._save()
        records = self._records()
        if self.ways is None or self.ways.usual is None:
            return ReversePair(forwards.graph, self._pullback(), records)
        all_live = self.live
        ways, name = self.sources[self.exit], f"{self.graph.name}.pullback"
        self.others = self.support.later(name, lambda: self._pullback_of(None, all_live))
        raised = self.ways.raised
        if raised is not None:
            self.raising = self.support.later(name, lambda: self._pullback_of(ways[raised], all_live))
        pullback = self._pullback_of(ways[self.ways.usual], all_live)
        return ReversePair(forwards.graph, pullback, records)

    def _pullback_of(self, way: Block | None, live: list[Block]) -> Graph:
        """The graph of the pullback, of one way or of all ways, which go through the blocks `live`."""
        assert self.exit is not None
        back = None if way is None else self._before(way) | {self.exit}
        self.only, self.live = way, live if back is None else [b for b in live if b in back]
        return self._pullback()

    def _pullback_of_no_return(self) -> Graph:
        graph = Graph(f"{self.graph.name}.pullback")
        graph.add_argument("saved", NONE)
        builder = Builder(graph)
        builder.raise_(builder.call(UnsupportedError, "pullback of a call that did not return"))
        return graph

    # -- the forwards pass: records --------------------------------------------------------------------

    def _collect_needs(self) -> None:
        homes = {copy: block for block, copy in self.forwards.blocks.items()}

        def home_of(value: Value) -> Block:
            """The block of the primal in which a value of the forwards pass is defined."""
            if not isinstance(value, Instruction | Phi):
                return self.graph.entry
            assert value.block is not None
            home = homes[value.block]
            if isinstance(value, Instruction) and is_isolated(home):
                (home,) = home.terminator.successors  # where it has not raised
            return home

        for block in self.live:
            for adjoint in self.forwards.adjoints[block]:
                for value in adjoint.needs:
                    if isinstance(value, Const):
                        continue
                    self._need(value, home_of(value), block)
        self.by_way = self._is_met_at_the_end()
        for block in self.live:
            targets = self._reversed_sources(block)
            if len(targets) > 1 and not self._is_header(block) and not (self.by_way and block is self.exit):
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
        written = [i for block in self.order for i in self.forwards.blocks[block].instructions]
        view = self.forwards.support.view
        recomputation = Recomputation(self.needed, self._saving_region, home_of, view)
        recomputation.spare(written)
        recomputation.spare_views(written)
        self.recomputed = recomputation.operands
        self._drop_unused(recomputation.views)

    def _drop_unused(self, made_again: Sequence[Instruction]) -> None:
        """Drop from the forwards pass what the pullback makes again and nothing else wants, users first."""
        used = use_counts(self.forwards.graph)
        wanted = {value for value, _ in self.needed}
        for block in self.live:
            if isinstance(block.terminator, Return):  # what is returned is written later
                for value in block.terminator.values:
                    wanted.update((self.forwards.p(value), self.forwards.s(value)))
        for value in reversed(made_again):
            if not used.get(value) and value not in wanted:
                assert value.block is not None
                value.block.instructions.remove(value)
                for operand in value.operands:
                    used[operand] = used.get(operand, 1) - 1

    def _is_met_at_the_end(self) -> bool:
        """Whether several ways meet in the last block and nothing happens there, so that each can have a
        record of its own (see `records`)."""
        exit = self.exit
        assert exit is not None
        ways = self.sources[exit]
        return (
            len(ways) > 1
            and self._region(exit) is None
            and not self.forwards.adjoints[exit]
            and not exit.instructions
            and self._reversed_sources(exit) == ways
            and all(way.handler is None and way.successors == (exit,) for way in ways)
        )

    def _needed_on(self, way: Block) -> list[Slot]:
        """What the pullback of the call of the derived rule needs from the record if the call went through
        `way`."""
        seen = self._before(way)
        return [slot for slot, need in self.needed.items() if slot[1] is None and need.users & seen]

    def _before(self, way: Block, since: Block | None = None) -> set[Block]:
        """The blocks that may have run when `way` ends; if `since` is given, those since it was entered
        last."""
        seen: set[Block] = set()
        waiting = [way]
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                if block is not since:
                    waiting += self.sources[block]
        return seen

    def _is_header(self, block: Block) -> bool:
        loop = self._region(block)
        return loop is not None and loop.header is block

    def _need(self, value: Value, home: Block, user: Block) -> None:
        """Note that the adjoints of the block `user` need `value`, which is defined in the block `home`.

        It goes into the record of the innermost loop around both: a value used behind the loop that
        defines it is saved there once, not in every iteration.
        """
        region = self._saving_region(home)
        while region is not None and user not in region.blocks:
            region = region.parent
        self.needed.setdefault((value, region), Need(home, set())).users.add(user)

    def _save(self) -> None:
        """Write the building of the records into the forwards pass: per iteration, per edge out of a loop,
        per call."""
        forwards = self.forwards
        values = Variables(forwards.graph, initial=lambda variable: Const(None))
        for source in forwards.graph.blocks:
            if source in forwards.blocks.values():
                for target in forwards.blocks[self._original(source)].successors:
                    values.edge(source, target)
        for block in forwards.graph.blocks:
            values.sealed.add(block)
        values.arrange(forwards.graph.entry)
        self.values = values
        written: set[Slot] = set()
        ways = self.sources[self.exit] if self.exit is not None and self.by_way else []
        usual = usual_way(ways, self.sources)
        self.usually = set(self.order) if usual is None else self._before(ways[usual])
        self.windable: dict[Loop, bool] = {}

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
        returning = forwards.blocks[self.exit]
        builder = Builder(forwards.graph, returning)
        builder.position = self.exit.terminator.position
        self.call_record = [slot for slot in self.needed if slot[1] is None]
        if self.by_way:
            ways = self.sources[self.exit]
            self.ways = WayRecords(usual, raising_way(ways), [self._needed_on(way) for way in ways])
            copies = [forwards.blocks[way] for way in ways]
            saved = self.ways.write(forwards.graph, copies, returning, values.read)
        else:
            saved = one_record(builder, self.call_record, values.read)
        self.saved_record = saved
        (out,) = self.exit.terminator.values
        parts = [forwards.p(out)]
        if has_shadow(self.result):
            parts.append(forwards.s(out))
        builder.ret(builder.call(intrinsics._new_, tuple, *parts, saved))
        remove_trivial_phis(forwards.graph, only=set(values.phis))
        self.support.complete(forwards.graph)  # what is recalled has the type of what is saved

    def _original(self, copy: Block) -> Block:
        if not hasattr(self, "_originals"):
            self._originals = {c: b for b, c in self.forwards.blocks.items()}
        return self._originals[copy]

    def _save_loop(self, loop: Loop) -> None:
        forwards = self.forwards
        (latch,) = loop.latches
        slots = [slot for slot in self.needed if slot[1] is loop]
        record = [slot for slot in slots if not self.needed[slot].users.isdisjoint(loop.blocks)]
        (preheader,) = [source for source in self.sources[loop.header] if source is not latch]
        tape = self.tapes[loop] = self._tape(loop, preheader, latch, record)
        for source, target in loop.exits:
            if target not in self.order:
                continue
            executed = self._partial_iteration(loop, source)
            layout = [slot for slot in slots if self.needed[slot].users & executed]
            self.layouts.setdefault((source, target), {})[loop] = layout
            if isinstance(tape, Winding):
                if layout:
                    values = [self.values.read(slot, forwards.blocks[target]) for slot in layout]
                    builder = Builder(forwards.graph, forwards.blocks[target])
                    self.leaving[source, target, loop] = put(builder, tape.value, values)
                continue
            last = tape.value
            if layout:
                pushed = self._push(forwards.blocks[target], layout, tape.value)
                last = self.leaving[source, target, loop] = pushed
            self.tape_at[target, loop] = last
            # An edge that leaves two loops at once saves the tape of the inner one in the record that
            # the outer one writes on the same edge.
            home = target if layout else loop.header if isinstance(tape.value, Phi) else preheader
            self.needed.setdefault((last, loop.parent), Need(home, set())).users.add(target)

    def _tape(self, loop: Loop, preheader: Block, latch: Block, record: Sequence[Slot]) -> Tape:
        """Write the tape of `loop`, on which the records of its iterations are kept, into the forwards
        pass."""
        forwards = self.forwards
        graph, blocks = forwards.graph, forwards.blocks
        read = {slot: self.values.read(slot, blocks[latch]) for slot in record}
        record = sorted(record, key=lambda slot: is_certain(read[slot]))
        self.iteration[loop] = record
        values = [read[slot] for slot in record]
        outermost = loop
        while outermost.parent is not None:
            outermost = outermost.parent
        if (values or not self.wound.isdisjoint(loop.children)) and self._may_wind(outermost):
            reel = self._reel(outermost)
            self.wound.add(loop)
            if loop is outermost:
                return Reel(graph, reel, blocks[latch], values)
            return Winding(graph, reel, blocks[preheader], blocks[latch], values)
        if values:
            return Links(graph, blocks[preheader], blocks[loop.header], blocks[latch], values)
        whole = range_of(loop, self.loops, self.graph)
        if whole is not None:
            return Length(forwards.p(whole))
        return Count(graph, blocks[preheader], blocks[loop.header], blocks[latch])

    def _reel(self, loop: Loop) -> Value:
        """The reel for the records of the outermost loop `loop` and of the loops inside."""
        found = self.reels.get(loop)
        if found is None:
            (preheader,) = [s for s in self.sources[loop.header] if s not in loop.latches]
            builder = Builder(self.forwards.graph, self.forwards.blocks[preheader])
            found = self.reels[loop] = new_reel(builder, self.forwards.blocks[loop.header])
        return found

    def _may_wind(self, loop: Loop) -> bool:
        """Whether the records of the outermost loop `loop` go into a list.

        Where the way back enters the loop elsewhere than in its header, the pullback has no loop over the
        list.
        """
        if loop not in self.windable:
            sources = [source for source, target in loop.exits if target in self.usually]
            self.windable[loop] = sources == [loop.header] and not is_short(loop)
        return self.windable[loop]

    def _push(self, block: Block, record: Sequence[Slot], tape: Value) -> Instruction:
        builder = Builder(self.forwards.graph, block)
        read = [self.values.read(slot, block) for slot in record]
        return builder.call(intrinsics._new_, tuple, *read, tape)

    def _partial_iteration(self, loop: Loop, source: Block) -> set[Block]:
        """The blocks that may have run in the iteration that leaves `loop` from `source`."""
        # Blocks behind inner exits leave the inner loop's tape to be read there.
        return self._before(source, since=loop.header) | {t for s, t in loop.exits if s is source}

    def _records(self) -> Records:
        """The types of all that the forwards pass, which has been typed, saves for the pullback."""
        if self.ways is not None:
            ways = [slots(record) for record in self.ways.records]
        elif len(self.call_record) == 1:
            ways = [(type_of(self.saved_record),)]
        else:
            ways = [slots(self.saved_record) if isinstance(self.saved_record, Instruction) else ()]
        labels = {block: copy.label for block, copy in self.forwards.blocks.items()}
        loops = [
            LoopRecords(
                labels[loop.header],
                tape.form,
                type_of(tape.value),
                tape.mark.value,
                tape.iteration,
                {
                    (labels[source], labels[target]): slots(self.leaving.get((source, target, loop)))
                    for source, target in loop.exits
                    if loop in self.layouts.get((source, target), ())
                },
            )
            for loop, tape in self.tapes.items()
        ]
        return Records(tuple(ways), tuple(loops))

    # -- the pullback ----------------------------------------------------------------------------------

    def _pullback(self) -> Graph:
        graph = Graph(f"{self.graph.name}.pullback")
        graph.qualname = f"{self.graph.qualname}.pullback"
        graph.filename = self.graph.filename
        graph.first_line = self.graph.first_line
        saved = graph.add_argument("saved", type_of(self.saved_record))
        cotangent = None
        if has_cotangent(self.result):
            cotangent = graph.add_argument("cotangent", cotangent_type(self.result))
        writer = PullbackWriter(graph, self.support, self.active)
        writer.without_numpy = self.forwards.without_numpy
        writer.recomputed = self.recomputed
        writer.fields = fields_read(adjoint for left in self.forwards.adjoints.values() for adjoint in left)
        variables = writer.variables
        assert self.exit is not None

        copies = {b: graph.add_block(b.label) for b in reversed(self.live)}
        edges: dict[tuple[Block, Block], Block] = {}
        variables.edge(writer.block, copies[self.exit])
        for block in self.live:
            sources = self._reversed_sources(block)
            for source in sources:
                edge = edges[block, source] = graph.add_block(f"{block.label}_to_{source.label}")
                variables.edge(edge, copies[source])
            targets = [edges[block, source] for source in sources]
            if block is self.exit and self.ways is not None:
                self.ways.connect(writer, copies[block], targets, self.only is not None)
            else:
                for target in targets:
                    variables.edge(copies[block], target)

        variables.arrange(writer.block)
        variables.seal(writer.block)
        self.entered_once = {
            loop
            for loop in self.reels
            if sum(source in copies and target in copies for source, target in loop.exits) == 1
        }
        """The outermost loops whose reel is rewound in one place of the pullback, so that its iterator is
        one value."""
        self.saved = saved
        if self.ways is None:
            open_record(writer, self.call_record, saved)
        (out,) = self.exit.terminator.values
        if cotangent is not None:
            writer.give(out, writer.split(cotangent, self.result, exact=True), self.result)
        writer.builder.jump(copies[self.exit])

        # A loop is finished before what it leads to, so that few are open at a time.
        order = depth_first_postorder([self.exit], self._leaving_first)[::-1]
        missing = {copy: len(variables.predecessors[copy]) for copy in copies.values()}
        missing[copies[self.exit]] -= 1
        if not missing[copies[self.exit]]:
            variables.seal(copies[self.exit])
        for block in order:
            variables.begin(copies[block])
            writer.builder.block = copies[block]
            self._reverse_block(block, writer, edges, copies)
            for source in dict.fromkeys(self._reversed_sources(block)):
                missing[copies[source]] -= 1
                if not missing[copies[source]]:
                    variables.seal(copies[source])
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
        for array in self.forwards.formulas.used_within(block):
            writer.forget(array)
        for adjoint in reversed(self.forwards.adjoints[block]):
            builder.position = adjoint.position if isinstance(adjoint.position, Position) else None
            adjoint.reverse(writer)
        if self._is_header(block):  # what goes round is on the line of the loop, not on that behind it
            positions = [i.position for i in block.instructions] + [block.terminator.position]
            builder.position = next((p for p in positions if p is not None), None)
        waiting = [(phi, writer.take(phi)) for phi in block.phis if phi in self.active]
        sources = self._reversed_sources(block)
        targets = [edges[block, s] for s in sources]
        seen: Value | None = None
        if not sources:
            self._return_cotangents(writer)
        elif block is self.exit and self.ways is not None:
            if self.only is None:
                self.ways.dispatch(writer, self.saved, targets)
            elif self.only is not self.sources[block][self.ways.usual or 0]:
                builder.jump(targets[0])  # whoever calls this pullback has looked at the label
            else:
                given = TupleType(tuple(cotangent_type(type_of(p)) for p in self.forwards.parameters))
                self.ways.expect(writer, self.saved, targets[0], self.others, self.raising, given)
        elif len(sources) == 1:
            builder.jump(targets[0])
        elif self._is_header(block):
            loop = self.loops.innermost[block]
            (latch,) = loop.latches
            inside, outside = targets if sources[0] is latch else targets[::-1]
            is_empty, seen = self.tapes[loop].look(builder, self._carried(writer, loop))
            builder.branch(is_empty, outside, inside)
        else:
            label = writer.get(self.labels[block])
            if len(sources) == 2:
                builder.branch(label, targets[1], targets[0])
            else:
                builder.switch(label, dict(enumerate(targets[:-1])), targets[-1])
        originals = sources if block is self.exit and self.only is not None else self.sources[block]
        for original, source, edge in zip(originals, sources, targets, strict=True):
            writer.variables.seal(edge)
            builder.block = edge
            if block is self.exit and self.ways is not None:
                self.ways.open(writer, self.sources[block].index(source), self.saved)
            if self._is_header(block) and original in self.loops.innermost[block].latches:
                self._forget_cotangents(writer, self.loops.innermost[block])
            self._distribute(writer, waiting, original)
            self._pop(writer, original, source, block, seen)
            builder.jump(copies[source])

    def _distribute(
        self, writer: PullbackWriter, waiting: Sequence[tuple[Phi, Cotangent]], source: Block
    ) -> None:
        for phi, cotangent in waiting:
            operand = phi.operands.get(source)
            if operand is not None and cotangent:
                writer.give(operand, cotangent, type_of(phi))

    def _pop(
        self, writer: PullbackWriter, original: Block, source: Block, block: Block, seen: Value | None
    ) -> None:
        """Go back from `block` to `source` in the pullback: take the record of the iteration that is
        entered off the tape.

        `seen` is what the header of a loop has seen of the tape.
        """
        loop = self._region(block)
        if original is source and loop is not None and block is loop.header and source in loop.latches:
            assert seen is not None
            popped, carried = self.tapes[loop].pop(writer.builder, self._carried(writer, loop), seen)
            self._define(writer, loop, self.iteration[loop], popped, carried)
            return
        left = []
        inner = self._region(original)
        while inner is not None and block not in inner.blocks:
            if inner.header not in self.idle:  # an idle loop that is stepped over has no records
                left.append(inner)
            inner = inner.parent
        for loop in reversed(left):
            if isinstance(self.tapes[loop], Winding):
                layout = self.layouts[original, block][loop]
                iterator = self._carried(writer, loop)
                types = slots(self.leaving.get((original, block, loop)))
                self._define(writer, loop, layout, taken(writer.builder, iterator, types), iterator)
                continue
            tape = writer.get(self.tape_at[block, loop])
            layout = self.layouts[original, block][loop]
            values: list[Value] = []
            if layout:
                *values, tape = writer.unpack(tape, len(layout) + 1)
            self._define(writer, loop, layout, values, self.tapes[loop].rewind(writer.builder, tape))

    def _forget_cotangents(self, writer: PullbackWriter, loop: Loop) -> None:
        """Set the cotangents of what is defined in the loop to zero, where the pullback enters an earlier
        iteration.

        They are zero anyway (each adjoint takes what it uses); saying so here spares a phi per value.
        """
        for block in loop.blocks:
            for value in (*block.phis, *block.instructions):
                if value in self.active:
                    writer.forget(value)

    def _define(
        self,
        writer: PullbackWriter,
        loop: Loop,
        layout: Sequence[Slot],
        values: Sequence[Value],
        carried: Value,
    ) -> None:
        for slot, value in zip(layout, values, strict=True):
            writer.define(slot[0], value)
        if loop in self.entered_once:
            self.iterators[loop] = carried
        elif not isinstance(self.tapes[loop], Winding):
            writer.variables.write(("tape", loop), writer.block, carried)

    def _carried(self, writer: PullbackWriter, loop: Loop) -> Value:
        """The values that the pullback carries around the reverse of `loop`."""
        if isinstance(self.tapes[loop], Winding):
            while loop.parent is not None:
                loop = loop.parent
        if loop in self.entered_once:
            return self.iterators[loop]
        return writer.variables.read(("tape", loop), writer.block)

    def _return_cotangents(self, writer: PullbackWriter) -> None:
        parts = []
        for parameter in self.forwards.parameters:
            type = type_of(parameter)
            part = writer.pack(writer.take(parameter), type)
            if isinstance(type, ValueArrayType) and not isinstance(part, Const) and part not in writer.owned:
                part = writer.builder.call(self.support.new_array, part)  # what is returned is the caller's
            parts.append(part)
        writer.builder.ret(writer.builder.call(intrinsics._new_, tuple, *parts))
