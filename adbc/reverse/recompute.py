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

A view of a shadow is taken again too, ``fu[1:-1]``, and so is what it is indexed by: slices and tuples of
numbers.  At most a number is saved instead of it, and nothing where the places are written in the program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from adbc.ir import intrinsics
from adbc.ir.graph import Block
from adbc.ir.loops import Loop
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target
from adbc.records import record
from adbc.types.derived import ShadowOf
from adbc.types.inference import type_of
from adbc.types.lattice import FLOAT, INT, NONE, ArrayType, Exact

__all__ = ["Need", "Recomputation", "Slot"]

Slot = tuple[Value, Loop | None]
"""A value, and the loop in whose record it is saved (None: in the record of the call)."""


@record
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
    a value is defined; blocks are those of the primal, values those of the forwards pass.  `view` is the
    function that takes views of shadows which may be None.
    """

    def __init__(
        self,
        needed: dict[Slot, Need],
        region_of: Callable[[Block], Loop | None],
        home_of: Callable[[Value], Block],
        view: Callable[..., object],
    ) -> None:
        self.needed = needed
        self.view = view
        self.region_of = region_of
        self.home_of = home_of
        self.spared: dict[Value, tuple[Loop | None, Need]] = {}
        self.operands: dict[Value, tuple[Value, ...]] = {}
        """The operands of spared values, kept here because passes may change the forwards pass before a
        pullback is written."""
        self.views: list[Instruction] = []
        """The views of shadows, and what arrays are indexed by, that are made again: users come last."""
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

    def spare_views(self, instructions: Iterable[Instruction]) -> None:
        """Find the views of shadows, and what arrays are indexed by, that are made again."""
        for instruction in instructions:
            places = self.regions.get(instruction, [])
            if len(places) != 1 or not (self._is_view(instruction) or _is_index(instruction)):
                continue
            (region,) = places
            found = self.needed.get((instruction, region))
            if found is None or len(found.users) != 1 or self.region_of(found.home) is not region:
                continue
            if all(self._can_be_made(found, region, v) for v in instruction.operands[1:]):
                self._spare(instruction, region, found)

    def _is_view(self, instruction: Instruction) -> bool:
        """Whether `instruction` takes a view of the shadow of an array."""
        function = target(instruction)
        if not (function is operator.getitem or function is self.view) or len(instruction.operands) != 3:
            return False
        return all(_is_of_array(v.type) for v in (instruction, instruction.operands[1]))

    def _can_be_made(self, need: Need, region: Loop | None, operand: Value) -> bool:
        """Whether the pullback has `operand`, or makes it, at the price of numbers that are saved."""
        if isinstance(operand, Const) or self._is_there(need, region, operand):
            return True
        if isinstance(operand, Instruction) and self.region_of(self.home_of(operand)) is region:
            if _is_index(operand):
                return all(self._can_be_made(need, region, v) for v in operand.operands[1:])
            return type_of(operand) == INT
        return False

    def _spare(self, instruction: Instruction, region: Loop | None, need: Need) -> None:
        """Have `instruction` made again where `need` says, and of its operands what is not there."""
        for operand in instruction.operands[1:]:
            if isinstance(operand, Const):
                continue
            is_unknown = operand not in self.spared and self._place(region, operand) is None
            if is_unknown and isinstance(operand, Instruction) and _is_index(operand):
                self._spare(operand, region, Need(need.home, set(need.users)))
                continue
            self._operand_need(need, region, operand).users |= need.users
        self.needed.pop((instruction, region), None)
        self.spared[instruction] = region, need
        self.operands[instruction] = tuple(instruction.operands)
        self.views.append(instruction)

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


def _is_of_array(type: object) -> bool:
    return isinstance(type, ShadowOf) and isinstance(type.of, ArrayType)


def _is_index(instruction: Instruction) -> bool:
    """Whether `instruction` makes a slice, or a tuple of what arrays are indexed by."""
    if target(instruction) is not intrinsics._new_:
        return False
    kind, *parts = instruction.operands[1:]
    if not isinstance(kind, Const) or kind.value not in (slice, tuple):
        return False
    return all(
        type_of(part) in (INT, NONE, _DOTS) or (isinstance(part, Instruction) and _is_index(part))
        for part in parts
    )


_DOTS = Exact(type(...))


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) in (float, int)
    return type_of(value) in (FLOAT, INT)
