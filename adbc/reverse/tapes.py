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
from adbc.ir.values import Const, Phi, Value
from adbc.types.inference import type_of
from adbc.types.lattice import FLOAT, INT

__all__ = ["Count", "Length", "Links", "Reel", "Tape", "Winding", "is_certain", "put", "taken"]

LONGEST: Final = 3
"""A record of more values than these is a tuple on the reel: that costs less than so many instructions."""


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

    value: Value

    @abc.abstractmethod
    def rewind(self, builder: Builder, tape: Value) -> Value: ...

    @abc.abstractmethod
    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        """Whether all records are off, and what was seen."""

    @abc.abstractmethod
    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]: ...


class Links(Tape):
    """Tuples of `size` values and the record before."""

    def __init__(
        self, graph: Graph, preheader: Block, header: Block, latch: Block, values: Sequence[Value]
    ) -> None:
        self.size = len(values)
        self.value = tape = Phi(header, name="tape")
        header.phis.append(tape)
        tape.operands[preheader] = Const(None)
        tape.operands[latch] = Builder(graph, latch).call(intrinsics._new_, tuple, *values, tape)

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return tape

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        return builder.call(operator.is_, carried, None), carried

    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]:
        *values, previous = _unpacked(builder, seen, self.size + 1)
        return values, previous


class Count(Tape):
    """The number of iterations: the pullback runs a ``for`` loop, and what is carried is its iterator."""

    def __init__(self, graph: Graph, preheader: Block, header: Block, latch: Block) -> None:
        self.value = tape = Phi(header, name="tape")
        header.phis.append(tape)
        tape.operands[preheader] = Const(0)
        tape.operands[latch] = Builder(graph, latch).call(operator.add, tape, 1)

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return builder.call(intrinsics._iter_, builder.call(builtins.range, tape))

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        seen = builder.call(intrinsics._next_, carried)
        return builder.call(intrinsics._exhausted_, seen), seen

    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]:
        return (), carried


class Length(Count):
    """The number of iterations of a loop over all of a range: the range itself."""

    def __init__(self, range: Value) -> None:
        self.value = range

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return builder.call(intrinsics._iter_, tape)


class Reel(Tape):
    """A list of all values, and what the loops inside have wound around it."""

    def __init__(self, graph: Graph, reel: Value, latch: Block, values: Sequence[Value]) -> None:
        self.value = reel
        self.size = len(values)
        put(Builder(graph, latch), reel, values or [_ITERATION])

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return builder.call(builtins.reversed, tape)

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        seen = builder.call(intrinsics._next_, carried)
        return builder.call(intrinsics._exhausted_, seen), seen

    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]:
        return _rest(builder, carried, seen, self.size), carried


class Winding(Tape):
    """Records of an inner loop on the reel of the outermost one.

    The iterator is that of the outer loop, which nothing is done to: it is carried along.
    """

    def __init__(
        self, graph: Graph, reel: Value, preheader: Block, latch: Block, values: Sequence[Value]
    ) -> None:
        self.value = reel
        self.size = len(values)
        put(Builder(graph, latch), reel, values or [_ITERATION])
        is_told_by_none = not 1 <= self.size <= LONGEST or is_certain(values[-1])
        self.mark = Const(None if is_told_by_none else intrinsics.BEGINNING)
        Builder(graph, preheader).call(intrinsics._record_, reel, self.mark)

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return tape

    def look(self, builder: Builder, carried: Value) -> tuple[Value, Value]:
        seen = builder.call(intrinsics._recall_, carried)
        return builder.call(operator.is_, seen, self.mark), seen

    def pop(self, builder: Builder, carried: Value, seen: Value) -> tuple[Sequence[Value], Value]:
        return _rest(builder, carried, seen, self.size), carried


_ITERATION: Final = Const(True)
"""The record of an iteration that saves nothing."""


def put(builder: Builder, reel: Value, values: Sequence[Value]) -> None:
    """Put `values` on a reel."""
    if len(values) > LONGEST:
        values = [builder.call(intrinsics._new_, tuple, *values)]
    builder.call(intrinsics._record_, reel, *values)


def taken(builder: Builder, iterator: Value, size: int) -> list[Value]:
    """The `size` values that have been put on a reel last."""
    if not size:
        return []
    return _rest(builder, iterator, builder.call(intrinsics._recall_, iterator), size)


def _rest(builder: Builder, iterator: Value, seen: Value, size: int) -> list[Value]:
    """The same, where one step of the iterator has given what is `seen`."""
    if size > LONGEST:
        return _unpacked(builder, seen, size)
    if not size:
        return []
    before = [builder.call(intrinsics._recall_, iterator) for _ in range(size - 1)]
    return [*before[::-1], seen]


def _unpacked(builder: Builder, record: Value, size: int) -> list[Value]:
    parts = builder.call(intrinsics._unpack_, record, size)
    return [builder.call(intrinsics._project_, parts, k) for k in range(size)]
