"""How the records of the iterations of one loop are kept.

A record is what an iteration saves.  The tape of a loop begins in its preheader, gets a record in its
latch, and is taken apart, last record first, by the pullback:

* one value or more: a linked list of tuples, ``(values..., previous)``; the first one's previous is None;
* none: the number of iterations; where a ``for`` loop over a range has no other way out, that is the
  length of the range, and nothing is done per iteration.

In each form the tape is a value of the graph that belongs to one run of the loop, and to nobody else.
"""

from __future__ import annotations

import abc
import builtins
import operator
from collections.abc import Sequence

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Const, Graph, Phi, Value

__all__ = ["Count", "Length", "Links", "Tape"]


class Tape(abc.ABC):
    """The tape of one loop.  `value` is the tape in the forwards pass, in the loop and behind it.

    In the pullback, `rewind` turns the tape into what is carried around the reversed loop, `is_empty`
    tests that in the header, and `pop` takes the last record off behind the test: it gives the values and
    what is carried on.
    """

    value: Value

    @abc.abstractmethod
    def rewind(self, builder: Builder, tape: Value) -> Value: ...

    @abc.abstractmethod
    def is_empty(self, builder: Builder, carried: Value) -> Value: ...

    @abc.abstractmethod
    def pop(self, builder: Builder, carried: Value) -> tuple[Sequence[Value], Value]: ...


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

    def is_empty(self, builder: Builder, carried: Value) -> Value:
        return builder.call(operator.is_, carried, None)

    def pop(self, builder: Builder, carried: Value) -> tuple[Sequence[Value], Value]:
        parts = builder.call(intrinsics._unpack_, carried, self.size + 1)
        *values, previous = [builder.call(intrinsics._project_, parts, k) for k in range(self.size + 1)]
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

    def is_empty(self, builder: Builder, carried: Value) -> Value:
        return builder.call(intrinsics._exhausted_, builder.call(intrinsics._next_, carried))

    def pop(self, builder: Builder, carried: Value) -> tuple[Sequence[Value], Value]:
        return (), carried


class Length(Count):
    """The number of iterations of a loop over all of a range: the range itself."""

    def __init__(self, range: Value) -> None:
        self.value = range

    def rewind(self, builder: Builder, tape: Value) -> Value:
        return builder.call(intrinsics._iter_, tape)
