"""How the records of the iterations of one loop are kept.

A record is what an iteration saves.  The tape of a loop begins in its preheader, gets a record in its
latch, and is taken apart, last record first, by the pullback:

* `Reel`, `Winding`: a list of values.  An outermost loop whose way back begins in its header has a list of
  its own, and the loops inside wind their records on that too, each behind a mark.  The pullback runs
  through the list backwards, with one iterator for all of these loops: an inner loop ends at its mark, the
  outer one where the list does;
* `Links`: linked tuples, ``(values..., previous)``; the first one's previous is None;
* `Count`, `Length`, where nothing is saved: the number of iterations; where a ``for`` loop over a range has
  no other way out, that is the range itself, and nothing is done per iteration.

In each form the tape belongs to one run of the loop, and to nobody else.  Links never change.  A list does,
and it is right because the pullback goes back exactly the way that the forwards pass went: what is put on a
reel is recalled, in the opposite order, where the pullback undoes what followed it.  An exception that leaves
the function takes the list along; one that is caught in it leaves the loop by an edge that has a record of
its own, as any other way out.  The pullback does not change the list, so it may be called again.
"""

from __future__ import annotations

import abc
import builtins
import operator
from collections.abc import Sequence
from typing import Final

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.reverse.layout import Slots, TapeForm
from adbc.types.derived import LinksType, TapeType, merge
from adbc.types.inference import type_of
from adbc.types.lattice import BOOL, FLOAT, INT, AbstractType, TupleType

__all__ = [
    "Count",
    "Length",
    "Links",
    "Reel",
    "Tape",
    "Winding",
    "is_certain",
    "new_reel",
    "put",
    "slots",
    "taken",
]

LONGEST: Final = 3
"""The most values of a record that stand on a reel one by one; more are put into a tuple, which costs less
than so many instructions."""


def is_certain(value: Value) -> bool:
    """Whether `value` is not None when the forwards pass runs."""
    if isinstance(value, Const):
        return value.value is not None
    return type_of(value) in (FLOAT, INT)


class Tape(abc.ABC):
    """The tape of one loop.  `value` is the tape in the forwards pass, in the loop and behind it.

    In the pullback, `rewind` turns the tape into what is carried around the reversed loop, `look` tests that
    in the header, and `pop` takes the last record off behind the test: it gives the values and what is
    carried on.  `look` tells `pop` what it has seen.
    """

    form: TapeForm
    value: Value
    mark: Const = Const(None)
    """The value that stands on a reel in front of the records of the loop."""
    record: Instruction | None = None
    """The instruction that puts the record of an iteration on the tape, if one is saved."""

    @property
    def iteration(self) -> Slots:
        """The types of the values that an iteration saves; they are known once the forwards pass is typed."""
        return slots(self.record)

    @abc.abstractmethod
    def rewind(self, builder: Builder, tape: Value) -> Value: ...

    @abc.abstractmethod
    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        """Whether all records have been taken off the tape, and what was seen of it."""

    @abc.abstractmethod
    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]: ...


class Links(Tape):
    """A tape of nested tuples: each record has the values of an iteration and the record before."""

    form = TapeForm.LINKS

    def __init__(
        self, graph: Graph, preheader: Block, header: Block, latch: Block, values: Sequence[Value]
    ) -> None:
        self.value = tape = Phi(header, LinksType(header.label), "tape")
        header.phis.append(tape)
        tape.operands[preheader] = Const(None)
        self.record = Builder(graph, latch).call(intrinsics._new_, tuple, *values, tape)
        tape.operands[latch] = self.record

    @property
    def iteration(self) -> Slots:
        return slots(self.record)[:-1]

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return tape

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        return builder.call(operator.is_, carried, None), carried

    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]:
        *values, previous = _unpacked(builder, seen, slots(self.record))
        return values, previous


class Count(Tape):
    """A tape that is the number of iterations: the pullback runs a ``for`` loop, and carries its iterator."""

    form = TapeForm.COUNT

    def __init__(self, graph: Graph, preheader: Block, header: Block, latch: Block) -> None:
        self.value = tape = Phi(header, INT, "tape")
        header.phis.append(tape)
        tape.operands[preheader] = Const(0)
        tape.operands[latch] = Builder(graph, latch).call(operator.add, tape, 1, type=INT)

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return builder.call(intrinsics._iter_, builder.call(builtins.range, tape))

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        seen = builder.call(intrinsics._next_, carried)
        return builder.call(intrinsics._exhausted_, seen), seen

    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]:
        return (), carried


class Length(Count):
    """A tape that is a range, all of which the loop has run through: it tells the number of iterations."""

    form = TapeForm.RANGE

    def __init__(self, range: Value) -> None:
        self.value = range

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return builder.call(intrinsics._iter_, tape)


class Reel(Tape):
    """A tape that is one list: the values of all iterations, and the records of the loops inside."""

    form = TapeForm.REEL

    def __init__(self, graph: Graph, reel: Value, latch: Block, values: Sequence[Value]) -> None:
        self.value = reel
        self.is_empty = not values
        self.record = put(Builder(graph, latch), reel, values or [_ITERATION])

    @property
    def iteration(self) -> Slots:
        return () if self.is_empty else slots(self.record)

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return builder.call(builtins.reversed, tape)

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        seen = builder.call(intrinsics._next_, carried, type=_first_seen(self.iteration))
        return builder.call(intrinsics._exhausted_, seen), seen

    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]:
        return _rest(builder, carried, seen, self.iteration), carried


class Winding(Reel):
    """The records of an inner loop, on the reel of the outermost one.

    The pullback carries the iterator of the outer loop along, unchanged.
    """

    form = TapeForm.WINDING

    def __init__(
        self, graph: Graph, reel: Value, preheader: Block, latch: Block, values: Sequence[Value]
    ) -> None:
        super().__init__(graph, reel, latch, values)
        is_told_by_none = not 1 <= len(values) <= LONGEST or is_certain(values[-1])
        self.mark = Const(None if is_told_by_none else intrinsics.BEGINNING)
        Builder(graph, preheader).call(intrinsics._record_, reel, self.mark)

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return tape

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        known = merge(_first_seen(self.iteration), type_of(self.mark))
        seen = builder.call(intrinsics._recall_, carried, type=known)
        return builder.call(operator.is_, seen, self.mark), seen


_ITERATION: Final = Const(True)
"""The record of an iteration that saves nothing."""


def new_reel(builder: Builder, header: Block) -> Value:
    """The reel of the loop with this header, and of the loops inside."""
    return builder.call(intrinsics._new_, list, type=TapeType(header.label), name="tape")


def put(builder: Builder, reel: Value, values: Sequence[Value]) -> Instruction:
    """Put `values` on a reel; return the instruction that has them as its last operands."""
    if len(values) > LONGEST:
        record = builder.call(intrinsics._new_, tuple, *values)
        builder.call(intrinsics._record_, reel, record)
        return record
    return builder.call(intrinsics._record_, reel, *values)


def slots(record: Instruction | None) -> Slots:
    """The types of the values of a record, by the instruction that makes a tuple of them or puts them on a
    reel."""
    return () if record is None else tuple(map(type_of, record.operands[2:]))


def taken(builder: Builder, iterator: Value, types: Sequence[AbstractType]) -> list[Value]:
    """The values that were put last on the reel of `iterator`, given their types."""
    if not types:
        return []
    seen = builder.call(intrinsics._recall_, iterator, type=_first_seen(types))
    return _rest(builder, iterator, seen, types)


def _first_seen(types: Sequence[AbstractType]) -> AbstractType:
    """The type of the value of a record that stands last on a reel, given the types of all values of the
    record."""
    if not types:
        return BOOL
    return TupleType(tuple(types)) if len(types) > LONGEST else types[-1]


def _rest(builder: Builder, iterator: Value, seen: Value, types: Sequence[AbstractType]) -> list[Value]:
    """All values of a record, given `seen`, the first thing that the reel's iterator gave of it."""
    if len(types) > LONGEST:
        return _unpacked(builder, seen, types)
    if not types:
        return []
    before = [builder.call(intrinsics._recall_, iterator, type=t) for t in types[-2::-1]]
    return [*before[::-1], seen]


def _unpacked(builder: Builder, record: Value, types: Sequence[AbstractType]) -> list[Value]:
    parts = builder.call(intrinsics._unpack_, record, len(types), type=TupleType(tuple(types)))
    return [builder.call(intrinsics._project_, parts, k) for k in range(len(types))]
