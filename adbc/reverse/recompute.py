"""Rematerialisation: what the pullback computes again instead of finding it in a record.

before::

    b0:                                       pullback of b0:
        %7 = call operator.mul(%r, %x)            %10, %11, %12, %13 = unpack %5
        %8 = call operator.sub(1.0, %x)           ... %11 * %4 ... %12 * %4 ...
        %9 = call _new_(tuple, %x, %8, %7, %tape)

after::

    b0:                                       pullback of b0:
        %9 = call _new_(tuple, %x, %tape)         %10, %13 = unpack %5
        ...                                       %11 = call operator.sub(1.0, %10)
                                                  %12 = call operator.mul(%2, %10)

One operation on two numbers costs about as much as to save its result and to read it again, and a
number that is not saved can be freed, so that the next one finds its memory still in the cache.  So a
sum, difference, product or quotient of numbers is not saved if the pullback has its operands anyway and
needs it in one block only: at most one operation per value that is spared.  What does not change in a
loop counts as there: it is saved once outside.  Computed again, a value has the same bits.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable

from adbc.ir.graph import Block
from adbc.ir.loops import Loop
from adbc.ir.values import Const, Instruction, Value
from adbc.types.inference import type_of
from adbc.types.lattice import FLOAT, INT

__all__ = ["Need", "Recomputation", "Slot"]

Slot = tuple[Value, Loop | None]
"""A value, and the loop in whose record it is saved (None: in the record of the call)."""


@dataclasses.dataclass
class Need:
    """Where a value to save is defined, and which blocks have adjoints that use it."""

    home: Block
    users: set[Block]


CHEAP = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg)
"""The functions that may be computed again: on floats and ints they neither raise where they have not
raised before, nor call anything."""


class Recomputation:
    """Takes the values that the pullback computes again out of `needed`, for one pair of forwards pass and
    pullback.

    `region_of` is the loop in whose record the values of a block are saved, `home_of` the block in which
    a value is defined; blocks are those of the primal, values those of the forwards pass.
    """

    def __init__(
        self,
        needed: dict[Slot, Need],
        region_of: Callable[[Block], Loop | None],
        home_of: Callable[[Value], Block],
    ) -> None:
        self.needed = needed
        self.region_of = region_of
        self.home_of = home_of
        self.spared: dict[Value, tuple[Loop | None, Need]] = {}
        self.operands: dict[Value, tuple[Value, ...]] = {}
        """The operands of spared values, kept here because passes may change the forwards pass before a
        pullback is written."""
        self.regions: dict[Value, list[Loop | None]] = {}
        for value, region in needed:
            self.regions.setdefault(value, []).append(region)

    def spare(self, instructions: Iterable[Instruction]) -> None:
        """Find the values that are computed again among `instructions`, where operands stand before their
        users.

        The operands of a value that is spared are needed where the value was needed.
        """
        for instruction in instructions:
            places = self.regions.get(instruction, [])
            if len(places) != 1 or not _is_cheap(instruction):
                continue
            (region,) = places
            need = self.needed[instruction, region]
            if len(need.users) != 1 or self.region_of(need.home) is not region:
                continue
            operands = [v for v in instruction.operands if not isinstance(v, Const)]
            if all(self._is_there(need, region, operand) for operand in operands):
                for operand in operands:
                    self._operand_need(need, region, operand).users |= need.users
                self.spared[instruction] = region, self.needed.pop((instruction, region))
                self.operands[instruction] = tuple(instruction.operands)

    def _is_there(self, need: Need, region: Loop | None, operand: Value) -> bool:
        """Whether the pullback has `operand` wherever it uses the value of `need`, or gets it at the price
        of one value saved outside of `region`."""
        if operand in self.spared:
            home, found = self.spared[operand]
            return home is region and found.users == need.users
        return self._place(region, operand) is not None or (
            region is not None and self.home_of(operand) not in region.blocks
        )

    def _place(self, region: Loop | None, operand: Value) -> Slot | None:
        """The slot from which the pullback knows `operand` in `region`."""
        for place in self.regions.get(operand, ()):
            encloses = place is None or (region is not None and region.blocks.keys() < place.blocks.keys())
            # What an outer record has must not change in the loop.
            if place is region or (
                encloses and (region is None or self.needed[operand, place].home not in region.blocks)
            ):
                return operand, place
        return None

    def _operand_need(self, need: Need, region: Loop | None, operand: Value) -> Need:
        if operand in self.spared:
            return self.spared[operand][1]
        slot = self._place(region, operand)
        if slot is None:
            home = self.home_of(operand)
            outer = self.region_of(home)
            while outer is not None and not need.users <= outer.blocks.keys():
                outer = outer.parent
            slot = operand, outer
            self.needed[slot] = Need(home, set())
            self.regions.setdefault(operand, []).append(outer)
        return self.needed[slot]


def _is_cheap(instruction: Instruction) -> bool:
    callee = instruction.operands[0]
    return (
        instruction.op == "call"
        and isinstance(callee, Const)
        and any(callee.value is function for function in CHEAP)
        and all(map(_is_number, instruction.operands[1:]))
    )


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) in (float, int)
    return type_of(value) in (FLOAT, INT)
