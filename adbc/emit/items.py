"""What the assembler collects: instructions, labels and the borders of protected regions, in the order of
the code.

An instruction is a tuple of its name, its argument and where it belongs in the source.  The argument is

* a number, or None if there is none,
* the name of a local variable, or two for an instruction that stands for a pair,
* a `Cell`, or
* the `Label` that is jumped to.

It refuses to know what an instruction does.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from adbc.records import record

__all__ = ["Begin", "Cell", "End", "Item", "Label", "Location", "Op"]


class Location(NamedTuple):
    """A place in the source: lines from 1, columns in bytes from 0; None where it is not known."""

    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None


Op: TypeAlias = tuple[str, Any, Location | None]
"""An instruction: name, argument, location; without a location it belongs where the one in front of it
does."""


class Label:
    """A place in the code.  `depth` is the height of the stack there, once known."""

    __slots__ = ("depth", "placed")

    def __init__(self) -> None:
        self.depth: int | None = None
        self.placed = False


class Cell(NamedTuple):
    """A variable that is a cell: of this code, or (`free`) of the closure."""

    name: str
    free: bool


@record(frozen=True, slots=True, eq=False)
class Begin:
    """The border where a region begins: what raises in it goes to `handler`, with `depth` values left on
    the stack, then the number of the instruction if that is wanted, and the exception."""

    handler: Label
    depth: int
    with_instruction: bool = False


@record(frozen=True, slots=True, eq=False)
class End:
    """The border where the region that began at `region` ends."""

    region: Begin


Item: TypeAlias = Op | Label | Begin | End
