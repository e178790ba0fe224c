"""The values of the intermediate representation: everything that can be used as an operand.

Arguments, constants, phis and instructions, and where in the source they come from.  The `type` of a value is
an object that the IR carries and prints, nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adbc.records import record

if TYPE_CHECKING:  # a value is in a block, which is made of values
    from adbc.ir.graph import Block

__all__ = [
    "UNDEF",
    "Argument",
    "Const",
    "Inlined",
    "Instruction",
    "Phi",
    "Position",
    "Undef",
    "Value",
    "inlined_at",
]


@record(frozen=True, slots=True)
class Position:
    """A place in the source: lines are 1-based, columns are 0-based UTF-8 offsets, None if unknown."""

    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    inlined: Inlined | None = None
    """Which function the place is in, if that was written into the function of the graph; else None."""

    def __str__(self) -> str:
        return f"{self.line}" if self.column is None else f"{self.line}:{self.column}"


@record(frozen=True, slots=True)
class Inlined:
    """A function that was written into another, and the place of the call that it replaced."""

    name: str
    qualname: str
    filename: str
    first_line: int
    call: Position | None


def inlined_at(position: Position | None) -> Iterator[Inlined]:
    """The functions that were written into the function of a graph around a place there, the inner ones
    first."""
    while position is not None and position.inlined is not None:
        yield position.inlined
        position = position.inlined.call


class Value:
    """Anything an instruction, phi or terminator can use.  Values compare and hash by identity."""

    __slots__ = ("position", "type")

    def __init__(self, type: Any = None, position: Position | None = None) -> None:
        self.type = type
        self.position = position


class Const(Value):
    """A Python object written into the graph."""

    __slots__ = ("value",)

    def __init__(self, value: object, type: Any = None) -> None:
        self.type = type
        self.position = None
        self.value = value

    def __repr__(self) -> str:
        return f"<const {self.value!r:.40}>"


class Undef(Value):
    """The value of a variable that was never assigned on a path.  Only phis may use it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<undef>"


UNDEF = Undef()


class Argument(Value):
    """A parameter of the graph."""

    __slots__ = ("index", "name")

    def __init__(self, name: str, index: int, type: Any = None) -> None:
        super().__init__(type)
        self.name = name
        self.index = index

    def __repr__(self) -> str:
        return f"<argument {self.name}>"


class Phi(Value):
    """The merge of one value per predecessor.  All phis of a block are read at the same time."""

    __slots__ = ("block", "name", "operands")

    def __init__(self, block: Block, type: Any = None, name: str | None = None) -> None:
        super().__init__(type)
        self.block = block
        self.name = name
        self.operands: dict[Block, Value] = {}

    def __repr__(self) -> str:
        return f"<phi {self.name or hex(id(self))} of {self.block.label}>"


class Instruction(Value):
    """One operation on values.

    `op` names a row of `ops.OPS`.  In normal form it is always ``"call"``: the first operand is the
    function, the rest are the arguments, of which the last ``len(keywords)`` are passed by keyword.
    `attribute` is the immediate of raw operations that have one (an attribute name, a count).
    """

    __slots__ = ("attribute", "block", "keywords", "name", "op", "operands")

    def __init__(
        self,
        op: str,
        operands: Sequence[Value],
        *,
        keywords: tuple[str, ...] = (),
        attribute: Any = None,
        type: Any = None,
        position: Position | None = None,
        name: str | None = None,
    ) -> None:
        self.type = type
        self.position = position
        self.op = op
        self.operands = list(operands)
        self.keywords = keywords
        self.attribute = attribute
        self.name = name
        self.block: Block | None = None

    @property
    def callee(self) -> Value:
        """The function of a call."""
        assert self.op == "call", self.op
        return self.operands[0]

    @property
    def arguments(self) -> list[Value]:
        """The arguments of a call, keyword arguments last."""
        assert self.op == "call", self.op
        return self.operands[1:]

    def __repr__(self) -> str:
        return f"<{self.op} {self.name or hex(id(self))}>"
