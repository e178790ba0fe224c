"""What the assembler collects and the encoder spells: instructions, labels, and the borders of regions.

Plain records, because there are hundreds for every function that is built.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

__all__ = ["Cell", "Instr", "Item", "Location", "Mark", "TryBegin", "TryEnd"]

Location: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""Line, last line, column and last column; with columns comes a last line, without a line comes nothing."""


class Instr:
    """One instruction.

    `arg` is what the interpreter is told: a number, the name of a local variable or of something
    global (which of the two, the instruction knows), a pair of local variables, bits and a name, a
    `Cell`, the `Mark` that it jumps to, or the number of a constant.
    """

    __slots__ = ("arg", "location", "name")

    def __init__(self, name: str, arg: Any = None, location: Location | None = None) -> None:
        self.name = name
        self.arg = arg
        self.location = location

    def __repr__(self) -> str:
        return f"<{self.name}>" if self.arg is None else f"<{self.name} {self.arg!r}>"


class Mark:
    """A place in front of the next instruction."""

    __slots__ = ()


class Cell(NamedTuple):
    """A cell variable of the function, or one of its closure."""

    name: str
    is_free: bool


class TryBegin:
    """What follows raises into `target`, behind `stack_depth` values (and the place of the instruction that
    raised, if `push_lasti`) and the exception."""

    __slots__ = ("push_lasti", "stack_depth", "target")

    def __init__(self, target: Mark, push_lasti: bool, stack_depth: int) -> None:
        self.target = target
        self.push_lasti = push_lasti
        self.stack_depth = stack_depth


class TryEnd:
    """The end of what `TryBegin` began; regions do not nest."""

    __slots__ = ()


Item: TypeAlias = Instr | Mark | TryBegin | TryEnd
