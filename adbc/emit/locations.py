"""The table of locations of a code object, for code whose columns the assembling library cannot write.

The library writes columns from 128 to 255 into a form of entry that has seven bits for each.  A table with
such an entry covers more than the code has, and CPython 3.11 writes past its end when it is traced or
profiled.  The entries written here are those that hold any number; CPython describes the format in
``Objects/locations.md`` (later ``InternalDocs/code_objects.md``), and it is the same from 3.11 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

__all__ = ["Location", "table"]

UNITS = 8
"""How many units of code one entry covers at most."""

WITHOUT_COLUMNS, LONG, NOWHERE = 13, 14, 15


class Location(NamedTuple):
    """Lines from 1, columns in bytes from 0; None where it is not known."""

    line: int | None
    end_line: int | None
    column: int | None
    end_column: int | None


def table(first_line: int, units: Iterable[tuple[int, Location]]) -> bytes:
    """The table for instructions of so many units of two bytes each, in their order."""
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
    if location.end_line is None or location.column is None or location.end_column is None:
        return bytes([_head(WITHOUT_COLUMNS, units), *_six_bits(signed)])
    numbers = (signed, location.end_line - location.line, location.column + 1, location.end_column + 1)
    return bytes([_head(LONG, units), *(byte for number in numbers for byte in _six_bits(number))])


def _head(code: int, units: int) -> int:
    return 0x80 | code << 3 | units - 1


def _six_bits(number: int) -> Iterator[int]:
    """Lowest bits first; bit 6 says that there are more."""
    while number > 0x3F:
        yield number & 0x3F | 0x40
        number >>= 6
    yield number
