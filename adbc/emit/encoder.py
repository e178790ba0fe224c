"""From instructions to the bytes of a code object: arguments, caches, jumps, positions, handlers.

The formats are those of CPython's ``InternalDocs/code_objects.md`` and ``exception_handling.md`` (before
3.14: ``Objects/locations.md`` and ``exception_handling_notes.txt``); which instruction is which number, and
how many cache entries follow it, the running interpreter says itself.

It refuses to know what the instructions do: stack size and depths of regions come from `assembler`.
"""

from __future__ import annotations

import itertools
import opcode
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from adbc.emit.items import Cell, Instr, Item, Location, Mark, TryBegin
from adbc.errors import VerificationError

__all__ = ["Encoded", "encode"]

OPCODES: Final[dict[str, int]] = dict(opcode.opmap)
EXTENDED_ARG: Final = OPCODES["EXTENDED_ARG"]


def _cache_entries() -> dict[str, int]:
    known: Any = opcode._inline_cache_entries  # type: ignore[attr-defined]  # private, and so is what `dis` uses
    if isinstance(known, list):  # by number, up to 3.12
        return {name: known[number] for name, number in OPCODES.items() if number < len(known)}
    return dict(known)


CACHES: Final = {name: count for name, count in _cache_entries().items() if count}

CONSTANTS: Final = frozenset({"LOAD_CONST", "KW_NAMES", "RETURN_CONST"})
"""Instructions whose number is that of a constant."""
LOCALS: Final = frozenset({"LOAD_FAST", "STORE_FAST", "DELETE_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
"""Instructions that name one local variable; other names are global ones or attributes."""
BACKWARD: Final = frozenset({"JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})


class Encoded(NamedTuple):
    """The parts of a code object that depend on its instructions.

    constants: the numbers of the constants that are used, in the order in which the code numbers them.
    """

    code: bytes
    constants: list[int]
    names: list[str]
    positions: bytes
    handlers: bytes


class _Region:
    """A line of the table of handlers, in instructions at first: from `start` to before `end`."""

    __slots__ = ("begin", "end", "start")

    def __init__(self, begin: TryBegin, start: int) -> None:
        self.begin = begin
        self.start = start
        self.end = start


def encode(
    items: Iterable[Item],
    *,
    local_names: Sequence[str],
    cell_names: Sequence[str],
    free_names: Sequence[str],
    first_line: int,
) -> Encoded:
    """The bytes for `items`; local variables are numbered as in `local_names`.

    A constant is numbered when it is first used, from 1: constant 0 is the documentation's.
    """
    locals = {name: number for number, name in enumerate(local_names)}
    cells = _cell_numbers(locals, cell_names, free_names)
    constants: dict[int, int] = {0: 0}
    names: dict[str, int] = {}
    instructions: list[Instr] = []
    arguments: list[int] = []
    jumps: list[tuple[int, Mark, bool]] = []
    marks: dict[Mark, int] = {}
    regions: list[_Region] = []
    is_open = False
    for item in items:
        kind = type(item)
        if kind is Instr:
            assert isinstance(item, Instr)
            name, arg = item.name, item.arg
            form = type(arg)
            if arg is None:
                arg = 0
            elif form is int:
                if name in CONSTANTS:
                    arg = constants.setdefault(arg, len(constants))
            elif form is str:
                arg = locals[arg] if name in LOCALS else names.setdefault(arg, len(names))
            elif form is Mark:
                jumps.append((len(arguments), arg, name in BACKWARD))
                arg = 0
            elif form is Cell:
                arg = cells[arg]
            else:
                arg = _joined(arg, locals, names)
            instructions.append(item)
            arguments.append(arg)
        elif kind is Mark:
            marks[item] = len(arguments)  # type: ignore[index]  # a mark, which mypy cannot see
        elif isinstance(item, TryBegin):
            if is_open:
                raise VerificationError("a region begins in another")
            is_open = True
            regions.append(_Region(item, len(arguments)))
        else:
            is_open = False
            regions[-1].end = len(arguments)
    numbers = [OPCODES[item.name] for item in instructions]
    caches = [CACHES.get(item.name, 0) for item in instructions]
    sizes = [1 + cache for cache in caches]  # in code units, with the prefixes of long arguments
    for at, argument in enumerate(arguments):
        if argument > 0xFF:
            sizes[at] += _prefixes(argument)
    starts = _relax(sizes, caches, arguments, [(at, marks[mark], back) for at, mark, back in jumps])
    return Encoded(
        _code(numbers, arguments, caches),
        list(constants),
        list(names),
        _positions(_locations(instructions, first_line), sizes, first_line),
        _handlers(regions, marks, starts, sizes, caches),
    )


def _cell_numbers(
    locals: dict[str, int], cell_names: Sequence[str], free_names: Sequence[str]
) -> dict[Cell, int]:
    """Cells are numbered behind the local variables, but for parameters, which keep their number."""
    numbers: dict[Cell, int] = {}
    behind = len(locals)
    for name in cell_names:
        if name in locals:
            numbers[Cell(name, False)] = locals[name]
        else:
            numbers[Cell(name, False)] = behind
            behind += 1
    for name in free_names:
        numbers[Cell(name, True)] = behind
        behind += 1
    return numbers


def _joined(arg: tuple[Any, ...], locals: dict[str, int], names: dict[str, int]) -> int:
    """Two local variables in four bits each, or bits with a name above them."""
    *bits, name = arg
    if isinstance(bits[0], str):
        first, second = locals[bits[0]], locals[name]
        if first > 15 or second > 15:
            raise VerificationError("a pair has four bits for the number of a variable")
        return first << 4 | second
    joined = names.setdefault(name, len(names))
    for bit in reversed(bits):
        joined = joined << 1 | bit
    return joined


def _prefixes(argument: int) -> int:
    """How many EXTENDED_ARG an argument needs."""
    return (argument > 0xFF) + (argument > 0xFFFF) + (argument > 0xFFFFFF)


def _relax(
    sizes: list[int], caches: list[int], arguments: list[int], jumps: list[tuple[int, int, bool]]
) -> list[int]:
    """Give jumps their distances, and the instructions their places (the last one is the end of the code).

    A longer distance may need a prefix, which makes other distances longer; nothing ever gets shorter.
    """
    while True:
        starts = list(itertools.accumulate(sizes, initial=0))
        grown = False
        for index, target, back in jumps:
            distance = starts[target] - starts[index + 1]
            argument = -distance if back else distance
            if argument < 0:
                raise VerificationError("a jump goes in the wrong direction")
            arguments[index] = argument
            size = 1 + caches[index] + _prefixes(argument)
            if size > sizes[index]:
                sizes[index] = size
                grown = True
        if not grown:
            return starts


def _code(numbers: list[int], arguments: list[int], caches: list[int]) -> bytes:
    code = bytearray()
    for number, argument, cache in zip(numbers, arguments, caches, strict=True):
        if argument > 0xFF:
            for shift in range(8 * _prefixes(argument), 0, -8):
                code += bytes((EXTENDED_ARG, argument >> shift & 0xFF))
        code.append(number)
        code.append(argument & 0xFF)
        if cache:
            code += bytes(2 * cache)
    return bytes(code)


# -- positions -------------------------------------------------------------------------------------


def _locations(instructions: list[Instr], first_line: int) -> list[Location]:
    """That of each instruction: its own, or the one of the instruction in front of it."""
    locations: list[Location] = []
    location: Location = (first_line, None, None, None)
    for item in instructions:
        if item.location is not None:
            location = item.location
        locations.append(location)
    return locations


def _positions(locations: list[Location], sizes: list[int], first_line: int) -> bytes:
    """The table of positions: one entry for neighbours that have the same one."""
    table = bytearray()
    before = first_line
    at, count = 0, len(locations)
    while at < count:
        location, size = locations[at], sizes[at]
        at += 1
        while at < count and (locations[at] is location or locations[at] == location):
            size += sizes[at]
            at += 1
        while size > 0:  # an entry covers up to eight units
            _add_position(table, location, min(size, 8) - 1, before)
            if location[0] is not None:
                before = location[0]
            size -= 8
    return bytes(table)


NO_POSITION, LONG, NO_COLUMNS, ONE_LINE = 15, 14, 13, 10


def _add_position(table: bytearray, location: Location, size: int, before: int) -> None:
    line, last_line, column, last_column = location
    if line is None:
        table.append(0x80 | NO_POSITION << 3 | size)
    elif last_line is None or column is None or last_column is None:
        table.append(0x80 | NO_COLUMNS << 3 | size)
        _add_signed(table, line - before)
    elif last_line == line == before and column < 72 and 0 <= last_column - column <= 15:
        table.append(0x80 | column & 0x78 | size)
        table.append((column & 7) << 4 | last_column - column)
    elif last_line == line and 1 <= line - before <= 2 and column < 128 and last_column < 128:
        # Bytes that begin an entry have the eighth bit, so columns have seven.
        table += bytes((0x80 | (ONE_LINE + line - before) << 3 | size, column, last_column))
    else:
        table.append(0x80 | LONG << 3 | size)
        _add_signed(table, line - before)
        for number in (last_line - line, column + 1, last_column + 1):
            _add_number(table, number)


def _add_number(table: bytearray, number: int) -> None:
    """Six bits at a time, lowest first."""
    while number > 0x3F:
        table.append(0x40 | number & 0x3F)
        number >>= 6
    table.append(number)


def _add_signed(table: bytearray, number: int) -> None:
    _add_number(table, -number << 1 | 1 if number < 0 else number << 1)


# -- handlers --------------------------------------------------------------------------------------


def _handlers(
    regions: list[_Region], marks: dict[Mark, int], starts: list[int], sizes: list[int], caches: list[int]
) -> bytes:
    """The table of handlers, in which regions are found by place."""
    table = bytearray()
    for region in regions:
        if region.end <= region.start:
            continue
        # A prefix cannot raise, and the place of an instruction is that behind its prefixes.
        start = starts[region.start] + sizes[region.start] - 1 - caches[region.start]
        begin = region.begin
        for number, first in (
            (start, 0x80),
            (starts[region.end] - start, 0),
            (starts[marks[begin.target]], 0),
            (begin.stack_depth << 1 | begin.push_lasti, 0),
        ):
            _add_digits(table, number, first)
    return bytes(table)


def _add_digits(table: bytearray, number: int, first: int) -> None:
    """Six bits at a time, highest first; `first` is a bit of the first byte."""
    shift = max(number.bit_length() - 1, 0) // 6 * 6
    while shift:
        table.append(first | 0x40 | number >> shift & 0x3F)
        first = 0
        shift -= 6
    table.append(first | number & 0x3F)
