"""From the items of the assembler to a code object, and the only module that knows `bytecode`.

The library is used in its cheapest form.  A code object has some hundred instructions, but they are nearly
always the same ones: each is spelt by the library once (`_spelt`), and joined with the others here, where
jumps find their targets.  What an instruction is not concerned with (the variables, the table of exceptions,
the flags) the library writes for the code as a whole; the table of locations is that of `locations`.

It refuses to know where the items come from.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import bytecode as library
from bytecode.concrete import ExceptionTableEntry

from adbc.emit import locations
from adbc.emit.items import Begin, Cell, Item, Label, Location
from adbc.records import record
from adbc.types import promises

__all__ = ["Heading", "Units", "encode"]

Units = list[tuple[int, Location]]
"""The size of each instruction in units of two bytes, with its location."""

EXTENDED: Final = dis.opmap["EXTENDED_ARG"]


@record(frozen=True)
class Heading:
    """What a code object says of its function.

    `local_names` begins with the parameters, of which `positional` may be given by position (`posonly` of
    them in no other way).
    """

    name: str
    qualname: str
    filename: str
    first_line: int
    positional: int
    posonly: int
    kwonly: int
    local_names: Sequence[str]
    cell_names: Sequence[str]
    free_names: Sequence[str]


def encode(
    items: Sequence[Item],
    heading: Heading,
    *,
    flags: int,
    stack_size: int,
    constants: Sequence[object],
    names: Sequence[str],
    said: Mapping[int, str] = {},
) -> tuple[types.CodeType, Units]:
    """The code object of the items, and the size and the location of each instruction.

    said: what is promised of values behind instructions, by the ids of those; the code keeps it.
    """
    places = _places(heading.local_names, heading.cell_names, heading.free_names)
    spelt: list[bytes] = []
    where: list[Location] = []
    labels: dict[Label, int] = {}
    jumps: list[tuple[int, str, Label]] = []
    regions: dict[Begin, list[int]] = {}  # the first instruction of each, and the first behind it
    location = Location(heading.first_line)
    marks: list[tuple[int, str]] = []
    for item in items:
        if type(item) is tuple:
            if id(item) in said:
                marks.append((len(spelt), said[id(item)]))
            operation, argument, at = item
            if at is not None:
                location = at
            kind = type(argument)
            if kind is Label:
                jumps.append((len(spelt), operation, argument))
                argument = 0  # until it is known
            elif kind is str or kind is Cell:
                argument = places[argument]
            elif kind is tuple:
                argument = places[argument[0]] << 4 | places[argument[1]]
            spelt.append(_spelt(operation, argument))
            where.append(location)
        elif type(item) is Label:
            labels[item] = len(spelt)
        elif type(item) is Begin:
            regions[item] = [len(spelt)]
        else:
            regions[item.region].append(len(spelt))  # type: ignore[union-attr]
    offsets = _resolved(spelt, jumps, labels)
    if marks:
        kept = promises.kept((offsets[n] + 2 * _prefixes(spelt[n]), text) for n, text in marks)
        constants = [*constants, kept]
    body = library.ConcreteBytecode(consts=tuple(constants), names=tuple(names), varnames=heading.local_names)
    body.name, body.qualname, body.filename = heading.name, heading.qualname, heading.filename
    body.first_lineno = heading.first_line
    body.argcount, body.posonlyargcount = heading.positional, heading.posonly
    body.kwonlyargcount = heading.kwonly
    body.cellvars, body.freevars = list(heading.cell_names), list(heading.free_names)
    body.flags = library.CompilerFlags(flags)
    body.exception_table = [
        ExceptionTableEntry(
            offsets[start] // 2 + _prefixes(spelt[start]),
            offsets[end] // 2 - 1,
            offsets[labels[region.handler]] // 2,
            region.depth,
            region.with_instruction,
        )
        for region, (start, end) in regions.items()
    ]
    units = [(len(code) // 2, at) for code, at in zip(spelt, where, strict=True)]
    frame = body.to_code(stacksize=stack_size, compute_exception_stack_depths=False)
    lines = locations.table(heading.first_line, units)
    return frame.replace(co_code=b"".join(spelt), co_linetable=lines), units


def _places(local_names: Sequence[str], cells: Sequence[str], free: Sequence[str]) -> Mapping[Any, int]:
    """The number of each variable: a parameter that is a cell has just one, other cells have those behind
    the local variables, and variables of the closure come last."""
    places: dict[Any, int] = {name: number for number, name in enumerate(local_names)}
    count = len(local_names)
    for name in cells:
        places[Cell(name, False)] = places.get(name, count)
        count += name not in places
    for name in free:
        places[Cell(name, True)] = count
        count += 1
    return places


@functools.lru_cache(maxsize=1 << 14)
def _spelt(name: str, argument: int | None) -> bytes:
    """The bytes of an instruction, with the prefixes that its argument needs in front and the room for
    caches behind."""
    instruction = library.ConcreteInstr(name) if argument is None else library.ConcreteInstr(name, argument)
    return instruction.assemble() + bytes(2 * instruction.use_cache_opcodes())


def _prefixes(code: bytes) -> int:
    """How many prefixes make the argument of an instruction longer, given its bytes."""
    count = 0
    while code[2 * count] == EXTENDED:
        count += 1
    return count


def _resolved(
    spelt: list[bytes], jumps: list[tuple[int, str, Label]], labels: Mapping[Label, int]
) -> list[int]:
    """Write the distances of the jumps into `spelt`; return the offset of each instruction, and of the end.

    A jump further than one byte tells makes the code longer, and with it other jumps.
    """
    while True:
        offsets = [0, *accumulate(map(len, spelt))]
        moved = False
        for index, name, target in jumps:
            distance = (offsets[labels[target]] - offsets[index + 1]) // 2
            code = _spelt(name, -distance if "BACKWARD" in name else distance)
            moved = moved or len(code) != len(spelt[index])
            spelt[index] = code
        if not moved:
            return offsets
