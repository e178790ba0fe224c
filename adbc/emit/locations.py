"""The table of locations of a code object.

CPython describes the format in ``Objects/locations.md`` (later ``InternalDocs/code_objects.md``), and it is
the same from 3.11 on.  An entry covers up to eight units of code.  Its first byte has its form and how many;
none of the bytes that follow has the highest bit, so columns from 128 on need the long form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from adbc.emit.items import Location

__all__ = ["table"]

UNITS = 8
"""How many units of code one entry of the table covers at most."""

ON_NEXT_LINES, WITHOUT_COLUMNS, LONG, NOWHERE = 10, 13, 14, 15
SHORT_COLUMNS, SHORT_LENGTH = 72, 15
"""The limits of an entry of two bytes, for the same line as before: of the column, with eight columns per
form, and of the length."""


def table(first_line: int, units: Iterable[tuple[int, Location]]) -> bytes:
    """The table of locations, for instructions of so many units of two bytes each, in their order."""
    result = bytearray()
    line = first_line
    for location, run in groupby(units, itemgetter(1)):
        left = sum(size for size, _ in run)
        while left > 0:
            result += _entry(min(left, UNITS), line, location)
            line = line if location.line is None else location.line
            left -= UNITS
    return bytes(result)


def _entry(units: int, line: int, location: Location) -> bytes:
    if location.line is None:
        return bytes([_head(NOWHERE, units)])
    step = location.line - line
    # The sign is the lowest bit.
    signed = -step << 1 | 1 if step < 0 else step << 1
    column, end_column = location.column, location.end_column
    if location.end_line is None or column is None or end_column is None:
        return bytes([_head(WITHOUT_COLUMNS, units), *_six_bits(signed)])
    if location.end_line == location.line:
        if step == 0 and column < SHORT_COLUMNS and end_column - column <= SHORT_LENGTH:
            return bytes([_head(column // 8, units), column % 8 << 4 | end_column - column])
        if step in (1, 2) and column < 128 and end_column < 128:
            return bytes([_head(ON_NEXT_LINES + step, units), column, end_column])
    numbers = (signed, location.end_line - location.line, column + 1, end_column + 1)
    return bytes([_head(LONG, units), *(byte for number in numbers for byte in _six_bits(number))])


def _head(code: int, units: int) -> int:
    return 0x80 | code << 3 | units - 1


def _six_bits(number: int) -> Iterator[int]:
    """The bytes of a number, six bits each, lowest first; bit 6 says that there are more."""
    while number > 0x3F:
        yield number & 0x3F | 0x40
        number >>= 6
    yield number
