"""The nouns of the intermediate representation: graph, block, value, terminator.

A `Graph` is a function in SSA form.  It has arguments and blocks; a block has phis, a list of
instructions and one terminator.  Everything that can be used as an operand is a `Value`: arguments,
constants, phis and instructions.  This module holds the data and the smallest possible set of
methods; checking, printing, walking and building live next door.

It refuses to know what an operation means (`ops`), where a graph came from (`lift`) and what a
derivative is.  The `type` of a value is an object that the IR carries and prints, nothing more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = [
    "UNDEF",
    "Argument",
    "Block",
    "Branch",
    "Const",
    "Graph",
    "Guard",
    "Inlined",
    "Instruction",
    "Jump",
    "Phi",
    "Position",
    "Raise",
    "Return",
    "Switch",
    "Terminator",
    "Undef",
    "Unreachable",
    "Value",
]


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """A place in the source: lines are 1-based, columns are 0-based UTF-8 offsets, None if unknown."""

    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    inlined: Inlined | None = None
    """Set if the place is in another function, which was written into this one."""

    def __str__(self) -> str:
        return f"{self.line}" if self.column is None else f"{self.line}:{self.column}"


@dataclasses.dataclass(frozen=True, slots=True)
class Inlined:
    """A function that was written into another, and where that called it."""

    name: str
    qualname: str
    filename: str
    first_line: int
    call: Position | None


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


class Terminator:
    """The end of a block.  `values` are its operands, `successors` its normal edges, in order."""

    __slots__ = ("position",)

    def __init__(self, position: Position | None = None) -> None:
        self.position = position

    @property
    def values(self) -> tuple[Value, ...]:
        return ()

    @property
    def successors(self) -> tuple[Block, ...]:
        return ()

    def replace_value(self, old: Value, new: Value) -> None:
        """Use `new` wherever this terminator uses `old`."""

    def replace_successor(self, old: Block, new: Block) -> None:
        """Go to `new` wherever this terminator goes to `old`."""


class Jump(Terminator):
    __slots__ = ("target",)

    def __init__(self, target: Block, position: Position | None = None) -> None:
        super().__init__(position)
        self.target = target

    @property
    def successors(self) -> tuple[Block, ...]:
        return (self.target,)

    def replace_successor(self, old: Block, new: Block) -> None:
        if self.target is old:
            self.target = new


class Branch(Terminator):
    """Go to `true` if `condition` (a bool) holds, else to `false`.  The two differ."""

    __slots__ = ("condition", "false", "true")

    def __init__(self, condition: Value, true: Block, false: Block, position: Position | None = None) -> None:
        super().__init__(position)
        self.condition = condition
        self.true = true
        self.false = false

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.condition,)

    @property
    def successors(self) -> tuple[Block, ...]:
        return (self.true, self.false)

    def replace_value(self, old: Value, new: Value) -> None:
        if self.condition is old:
            self.condition = new

    def replace_successor(self, old: Block, new: Block) -> None:
        if self.true is old:
            self.true = new
        if self.false is old:
            self.false = new


class Switch(Terminator):
    """Go to ``cases[value]``, or to `default` if there is no such case.  Cases are ints."""

    __slots__ = ("cases", "default", "value")

    def __init__(
        self, value: Value, cases: dict[int, Block], default: Block, position: Position | None = None
    ) -> None:
        super().__init__(position)
        self.value = value
        self.cases = cases
        self.default = default

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.value,)

    @property
    def successors(self) -> tuple[Block, ...]:
        return tuple(dict.fromkeys((*self.cases.values(), self.default)))

    def replace_value(self, old: Value, new: Value) -> None:
        if self.value is old:
            self.value = new

    def replace_successor(self, old: Block, new: Block) -> None:
        self.cases = {k: new if b is old else b for k, b in self.cases.items()}
        if self.default is old:
            self.default = new


class Return(Terminator):
    __slots__ = ("value",)

    def __init__(self, value: Value, position: Position | None = None) -> None:
        super().__init__(position)
        self.value = value

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.value,)

    def replace_value(self, old: Value, new: Value) -> None:
        if self.value is old:
            self.value = new


class Raise(Terminator):
    """Raise `exception` (re-raise the current one if None), from `cause` if given."""

    __slots__ = ("cause", "exception")

    def __init__(
        self,
        exception: Value | None,
        cause: Value | None = None,
        position: Position | None = None,
    ) -> None:
        super().__init__(position)
        self.exception = exception
        self.cause = cause

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(v for v in (self.exception, self.cause) if v is not None)

    def replace_value(self, old: Value, new: Value) -> None:
        if self.exception is old:
            self.exception = new
        if self.cause is old:
            self.cause = new


class Unreachable(Terminator):
    __slots__ = ()


class Block:
    """A straight line of instructions with phis in front and a terminator behind.

    `handler`, if set, is the exceptional edge: the block that is entered when the last instruction
    of this block (or its `Raise`) raises.  A handler block begins with the raw operation ``catch``.
    """

    __slots__ = ("graph", "handler", "instructions", "label", "phis", "terminator")

    def __init__(self, graph: Graph, label: str) -> None:
        self.graph = graph
        self.label = label
        self.phis: list[Phi] = []
        self.instructions: list[Instruction] = []
        self.terminator: Terminator = Unreachable()
        self.handler: Block | None = None

    @property
    def successors(self) -> tuple[Block, ...]:
        """Normal successors, then the handler."""
        normal = self.terminator.successors
        return normal if self.handler is None or self.handler in normal else (*normal, self.handler)

    def append(self, instruction: Instruction) -> Instruction:
        instruction.block = self
        self.instructions.append(instruction)
        return instruction

    def __repr__(self) -> str:
        return f"<block {self.label}>"


@dataclasses.dataclass(frozen=True)
class Guard:
    """A fact about the outside world that the graph was specialised on.

    The object reached from the function's globals by `path` (a global or builtin name, then
    attribute names) is `value`, by identity.
    """

    path: tuple[str, ...]
    value: object


class Graph:
    """A function: arguments, blocks (the first is the entry), and where it came from.

    Arguments stand in the order of the code object's local variables: positional-only, positional
    or keyword, keyword-only, then ``*args`` and ``**kwargs``; the counts and flags below say which
    is which.  `free` names the cells of the closure, which ``_freevar_`` reads by index.  Calling a
    generator makes an object that runs the blocks; it need not contain a yield that can be reached.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.qualname = name
        self.filename = "<adbc>"
        self.first_line = 1
        self.arguments: list[Argument] = []
        self.posonly_count = 0
        self.kwonly_count = 0
        self.has_varargs = False
        self.has_varkw = False
        self.is_generator = False
        self.free: tuple[str, ...] = ()
        self.facts: dict[Any, Any] = {}
        """What else it was specialised on, by names for it."""
        self.namespace: dict[str, Any] | None = None
        """The globals of the function, and of those that it makes, if they are known."""
        self.blocks: list[Block] = []
        self.guards: list[Guard] = []
        self._labels = 0
        self._taken: set[str] = set()
        self._counted = 0

    @property
    def entry(self) -> Block:
        return self.blocks[0]

    def add_argument(self, name: str, type: Any = None) -> Argument:
        """Append a new argument; names are made unique."""
        taken = {a.name for a in self.arguments}
        while name in taken:
            name += "_"
        argument = Argument(name, len(self.arguments), type)
        self.arguments.append(argument)
        return argument

    def add_block(self, label: str | None = None) -> Block:
        """Append a new block; labels are made unique."""
        # The labels are gathered anew if blocks have been added or removed by other means.
        if self._counted != len(self.blocks):
            self._taken = {b.label for b in self.blocks}
        taken = self._taken
        if label is None or label in taken:
            stem = label or "b"
            while label is None or label in taken:
                label = f"{stem}{self._labels}" if stem == "b" else f"{stem}.{self._labels}"
                self._labels += 1
        block = Block(self, label)
        self.blocks.append(block)
        taken.add(label)
        self._counted = len(self.blocks)
        return block

    def instructions(self) -> Iterator[Instruction]:
        """Every instruction, block by block."""
        for block in self.blocks:
            yield from block.instructions

    def predecessors(self) -> dict[Block, list[Block]]:
        """The predecessors of every block, each once, exceptional edges included."""
        result: dict[Block, list[Block]] = {block: [] for block in self.blocks}
        for block in self.blocks:
            for successor in block.successors:
                result[successor].append(block)
        return result

    def replace_uses(self, replacements: dict[Value, Value]) -> None:
        """Replace every use of a key by its value, following chains, in one sweep."""
        if not replacements:
            return

        def final(value: Value) -> Value:
            while value in replacements:
                value = replacements[value]
            return value

        for block in self.blocks:
            for phi in block.phis:
                for pred, value in phi.operands.items():
                    phi.operands[pred] = final(value)
            for instruction in block.instructions:
                for v in instruction.operands:
                    if v in replacements:
                        instruction.operands = [final(v) for v in instruction.operands]
                        break
            for value in block.terminator.values:
                if value in replacements:
                    block.terminator.replace_value(value, final(value))

    def __repr__(self) -> str:
        return f"<graph {self.name}, {len(self.blocks)} blocks>"

    def __str__(self) -> str:
        from adbc.ir.printer import print_graph

        return print_graph(self)
