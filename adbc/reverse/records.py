"""The record of a call: what a derived rule hands from its forwards pass to its pullback.

Where all ways through the function meet before anything else happens at the end, each way has a record of
its own, ``(label, values...)``: it has exactly what the reverse of that way needs, and the pullback looks
at the label first.  The usual way, the one on which all guesses of types were right and no exception is
returned, has the label None.
Otherwise there is one record, made at the end, and what a way did not compute is None in it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target as function_of
from adbc.reverse.pullback import PullbackWriter
from adbc.reverse.recompute import Slot
from adbc.types.inference import runs_rest, type_of
from adbc.types.lattice import AbstractType

__all__ = ["WayRecords", "one_record", "open_record", "raising_way", "usual_way"]

Read = Callable[[Slot, Block], Value]
"""The value of a slot at the end of a block of the forwards pass."""


def one_record(builder: Builder, slots: Sequence[Slot], read: Read) -> Value:
    """The values of `slots` at the end of the builder's block, as one value."""
    values = [read(slot, builder.block) for slot in slots]
    if not values:
        return Const(None)
    return values[0] if len(values) == 1 else builder.call(intrinsics._new_, tuple, *values)


def open_record(writer: PullbackWriter, slots: Sequence[Slot], saved: Value) -> None:
    """Let the values of `slots` be those in `saved`, which `one_record` made."""
    values = [saved] if len(slots) == 1 else writer.unpack(saved, len(slots)) if slots else []
    for (value, _), element in zip(slots, values, strict=True):
        writer.define(value, element)


class WayRecords:
    """The records of a call that has one per way into the last block.

    usual: the number of the usual way.  raised: that of the way on which an exception is returned.  layouts:
    the slots of each.
    """

    def __init__(self, usual: int | None, raised: int | None, layouts: Sequence[Sequence[Slot]]) -> None:
        self.layouts = layouts
        self.usual, self.raised = usual, raised

    def write(self, graph: Graph, ways: Sequence[Block], exit: Block, read: Read) -> Value:
        """Write a record at the end of each of `ways`, and the phi of all of them in `exit`."""
        records = Phi(exit, name="record")
        self.records: list[Instruction] = []
        """The instruction that makes the record, by number of the way."""
        for k, (way, layout) in enumerate(zip(ways, self.layouts, strict=True)):
            values = [read(slot, way) for slot in layout]
            label = None if k == self.usual else k
            record = Builder(graph, way).call(intrinsics._new_, tuple, label, *values)
            records.operands[way] = record
            self.records.append(record)
        exit.phis.append(records)
        return records

    def connect(self, writer: PullbackWriter, block: Block, targets: Sequence[Block], is_only: bool) -> None:
        """Declare the edges of the pullback from `block` to where each way goes back to (`is_only`: to the
        usual one)."""
        self.others: Block | None = None
        if is_only:
            writer.variables.edge(block, targets[0])
            return
        if self.usual is not None and len(targets) > 2:
            self.others = writer.graph.add_block("other_ways")
            writer.variables.edge(block, self.others)
            writer.variables.seal(self.others)
        for k, target in enumerate(targets):
            writer.variables.edge(block if k == self.usual else self.others or block, target)

    def dispatch(self, writer: PullbackWriter, saved: Value, targets: Sequence[Block]) -> None:
        """End the writer's block with a jump to the way back that the record `saved` names."""
        builder = writer.builder
        label = builder.call(operator.getitem, saved, 0)
        rest = [(k, target) for k, target in enumerate(targets) if k != self.usual]
        if self.usual is not None:
            is_usual = builder.call(operator.is_, label, None)
            builder.branch(is_usual, targets[self.usual], self.others or rest[0][1])
            if self.others is None:
                return
            builder.block = self.others
        *cases, (_, default) = rest
        builder.switch(label, dict(cases), default)

    def expect(
        self,
        writer: PullbackWriter,
        saved: Value,
        target: Block,
        others: object,
        raising: object,
        given: AbstractType,
    ) -> None:
        """End the writer's block: go to `target` if `saved` is of the usual way, else return what the
        pullback `others`, or `raising` where an exception was returned, gives when it is called with the same
        arguments: values of the type `given`."""
        builder, graph = writer.builder, writer.graph
        label = builder.call(operator.getitem, saved, 0)
        elsewhere = graph.add_block("other_ways")
        builder.branch(builder.call(operator.is_, label, None), target, elsewhere)
        builder.block = elsewhere
        if raising is not None:
            raised, other = graph.add_block("raised"), graph.add_block("not_raised")
            builder.branch(builder.call(operator.eq, label, self.raised), raised, other)
            builder.block = raised
            builder.ret(builder.call(raising, *graph.arguments, type=given))
            builder.block = other
        builder.ret(builder.call(others, *graph.arguments, type=given))

    def open(self, writer: PullbackWriter, way: int, saved: Value) -> None:
        """Let the values of way number `way` be those in `saved`, its record."""
        layout = self.layouts[way]
        if layout:
            _, *values = writer.unpack(saved, len(layout) + 1, type_of(self.records[way]))
            for (value, _), element in zip(layout, values, strict=True):
                writer.define(value, element)


def usual_way(ways: Sequence[Block], sources: Mapping[Block, Sequence[Block]]) -> int | None:
    """The number of the way on which all guesses were right and nothing was raised, if there is one such
    way.

    sources: the predecessors of the blocks of the primal.
    """
    usual = [k for k, way in enumerate(ways) if not _is_surprising(way, sources)]
    return usual[0] if len(usual) == 1 else None


def raising_way(ways: Sequence[Block]) -> int | None:
    """The number of the way on which an exception is returned that was caught for that, if there is one."""
    return next((k for k, way in enumerate(ways) if any(map(_gives_exception, way.instructions))), None)


def _gives_exception(call: Instruction) -> bool:
    return function_of(call) is intrinsics._raised_


def _is_surprising(block: Block, sources: Mapping[Block, Sequence[Block]]) -> bool:
    """Whether the function goes on in `block`, of the primal, after a wrong guess of a type, or returns an
    exception there.  Where exceptions are caught, that guess stands in a block in front of it."""
    while True:
        if any(map(_is_surprise, block.instructions)):
            return True
        before = sources[block]
        if len(before) != 1 or not _leads_on(before[0], block):
            return False
        (block,) = before


def _is_surprise(call: Instruction) -> bool:
    """Whether `call` notes a wrong guess, or gives what the rest of the function gives, or an exception."""
    function = function_of(call)
    if function is intrinsics._observe_ or function is intrinsics._raised_:
        return True
    return function is intrinsics._attempt_ and runs_rest(call.operands[1])


def _leads_on(block: Block, following: Block) -> bool:
    """Whether the function goes on in `following`, behind `block`, if nothing is raised there."""
    end = block.terminator
    if isinstance(end, Branch):
        return function_of(end.condition) is intrinsics._is_raised_ and end.false is following
    return end.successors == (following,)
