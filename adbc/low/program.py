"""A low program: registers of three types, blocks with phis, tapes of typed records, and places to bail out.

    low square(x: f64) -> f64, f64
    site 0: 'overflow of an int', line 7
    entry:
        %1: f64 = fmul %x, %x
        %2: f64 = fadd %x, %x
        return %1, %2

A register has one of the `TYPES`; a constant operand is a Python float, int or bool, and has the type of its
class.  A `list` is a parameter, the floats of a Python list.  What `store` writes to is one that nobody else
has seen, for a program that gives up has had no effect.

* Tapes are stacks of records.  A record has one of the formats of its tape, which are tuples of types; the
  empty format is a mark.  `push` puts a record on a tape, `pop` takes the last one, `next` says first whether
  there is any, and `take` whether the last one is a mark (which is then taken).  Where there is no record,
  the values are zeros.  Several loops may have their records on one tape, one above the other: `height` says
  how high it is, and what takes records is given the height at which those of its loop begin.
* Arenas hold nodes, which are records that never go.  `node` makes one and gives a number that is not 0,
  `fields` gives what is in it.
* Slots are variables; `get` and `set` are their only uses.
* A site is a place where the program gives up: `bail`, `bail_if`, and arithmetic on ints, which leave it with
  the number of the site.  A program that gives up has had no effect.

What each operation means is a row of `ops.OPS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from adbc.records import record

__all__ = [
    "BOOL", "F64", "I64", "LIST", "Arena", "Bail", "Block", "Branch", "Jump", "Op", "Operand", "Phi",
    "Program", "Register", "Return", "Site", "Slot", "Switch", "Tape", "Terminator", "type_of",
]  # fmt: skip

F64, I64, BOOL, LIST = "f64", "i64", "i1", "list"


class Register:
    """A value that is computed once.  Registers are the same if they are one object."""

    __slots__ = ("name", "type")

    def __init__(self, type: str, name: str = "") -> None:
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.type} register {self.name or hex(id(self))}>"


Operand = Register | float | int | bool


def type_of(operand: Operand) -> str:
    """The type of an operand; of a constant, that of its class."""
    if isinstance(operand, Register):
        return operand.type
    if isinstance(operand, bool):
        return BOOL
    return I64 if isinstance(operand, int) else F64


@record(frozen=True)
class Site:
    """A place where a program gives up: why, and in which line of the user's code."""

    reason: str
    line: int | None = None


@dataclasses.dataclass(eq=False)
class Tape:
    """A stack of records.  formats: the types of the values of each kind of record."""

    name: str
    formats: list[tuple[str, ...]] = dataclasses.field(default_factory=list)

    @property
    def is_tagged(self) -> bool:
        """Whether each record says which format it has."""
        return len(self.formats) > 1


@dataclasses.dataclass(eq=False)
class Arena:
    """Nodes of one form: the types of the values in each."""

    name: str
    fields: tuple[str, ...] = ()


@dataclasses.dataclass(eq=False)
class Slot:
    """A variable."""

    name: str
    type: str


Attribute = Tape | Arena | Slot | None


@dataclasses.dataclass(eq=False)
class Op:
    """One operation: a row of `ops.OPS`.

    attribute: the tape, arena or slot that it is about.  format: which of the formats of the tape.  site:
    where it bails out, if it may.
    """

    name: str
    operands: list[Operand]
    results: list[Register]
    attribute: Attribute = None
    format: int | None = None
    site: int | None = None


@dataclasses.dataclass(eq=False)
class Phi:
    """The merge of one operand per predecessor; all phis of a block are read at the same time."""

    result: Register
    operands: dict[Block, Operand] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False)
class Jump:
    target: Block

    @property
    def successors(self) -> tuple[Block, ...]:
        return (self.target,)

    @property
    def operands(self) -> tuple[Operand, ...]:
        return ()


@dataclasses.dataclass(eq=False)
class Branch:
    condition: Operand
    true: Block
    false: Block

    @property
    def successors(self) -> tuple[Block, ...]:
        return (self.true, self.false)

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (self.condition,)


@dataclasses.dataclass(eq=False)
class Switch:
    value: Operand
    cases: dict[int, Block]
    default: Block

    @property
    def successors(self) -> tuple[Block, ...]:
        return (*self.cases.values(), self.default)

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (self.value,)


@dataclasses.dataclass(eq=False)
class Return:
    values: list[Operand]

    @property
    def successors(self) -> tuple[Block, ...]:
        return ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        return tuple(self.values)


@dataclasses.dataclass(eq=False)
class Bail:
    """The program gives up, at this site."""

    site: int

    @property
    def successors(self) -> tuple[Block, ...]:
        return ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        return ()


Terminator = Jump | Branch | Switch | Return | Bail


@dataclasses.dataclass(eq=False)
class Block:
    """A straight line of operations, with phis in front and a terminator behind."""

    label: str
    phis: list[Phi] = dataclasses.field(default_factory=list)
    ops: list[Op] = dataclasses.field(default_factory=list)
    terminator: Terminator | None = None

    @property
    def successors(self) -> tuple[Block, ...]:
        return () if self.terminator is None else self.terminator.successors


@dataclasses.dataclass(eq=False)
class Program:
    """A function.  results: the types of what `Return` gives."""

    name: str
    parameters: list[Register] = dataclasses.field(default_factory=list)
    results: list[str] = dataclasses.field(default_factory=list)
    tapes: list[Tape] = dataclasses.field(default_factory=list)
    arenas: list[Arena] = dataclasses.field(default_factory=list)
    slots: list[Slot] = dataclasses.field(default_factory=list)
    sites: list[Site] = dataclasses.field(default_factory=list)
    blocks: list[Block] = dataclasses.field(default_factory=list)

    def predecessors(self) -> dict[Block, list[Block]]:
        """The predecessors of each block, each once."""
        found: dict[Block, list[Block]] = {block: [] for block in self.blocks}
        for block in self.blocks:
            for successor in dict.fromkeys(block.successors):
                found[successor].append(block)
        return found

    def ops(self) -> Iterator[Op]:
        """Every operation, block by block."""
        for block in self.blocks:
            yield from block.ops

    def __str__(self) -> str:
        from adbc.low.text import write  # it is made of what is here

        return write(self)
