"""Graphs and blocks: the two nouns that hold the others together.

A `Graph` is a function in SSA form.  It has arguments and blocks; a block has phis, a list of
instructions and one terminator.  What can be an operand is in `values`, how blocks end in `terminators`.
These three modules hold the data and the smallest possible set of methods; checking, printing, walking and
building live next door.

They refuse to know what an operation means (`ops`), where a graph came from (`lift`) and what a derivative
is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adbc.ir.printer import print_graph
from adbc.ir.terminators import Terminator, Unreachable
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.records import record

__all__ = ["HOME", "IMPORT", "MODULE", "Block", "Graph", "Guard", "globals_made"]


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


IMPORT = "import "
"""With this begins the path to what is found among the modules that are loaded, not among globals."""
HOME = ":"
"""With this ends the name of a module that a path begins with whose names are those of that module."""


@record(frozen=True)
class Guard:
    """A fact about the outside world that the graph was specialised on.

    The object reached from the function's globals by `path` (a global or builtin name, or a package that is
    imported, as `IMPORT` and its name; then attribute names) is `value`, by identity.  In a function of
    another module, which was written in, the path begins with the name of that module and `HOME`.
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
        """What else the graph was specialised on, by name."""
        self.namespace: dict[str, Any] | None = None
        """The globals of the function, and of the functions that it makes, if they are known."""
        self.answers: Any = None
        """What `types.kept_answers` keeps from one time to the next."""
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

    def cut(self, block: Block, at: int, label: str) -> Block:
        """Move what stands in `block` from instruction number `at` on, and where it goes from there, to a new
        block, which is returned; nothing leads there yet."""
        rest = self.add_block(label)
        rest.instructions = block.instructions[at:]
        del block.instructions[at:]
        for instruction in rest.instructions:
            instruction.block = rest
        rest.terminator = block.terminator
        for successor in rest.successors:
            for phi in successor.phis:
                if block in phi.operands:
                    phi.operands[rest] = phi.operands.pop(block)
        return rest

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
        return print_graph(self)


MODULE = 7
"""The number of the operand of what makes a function that says of which module its names are, if that is not
the module of the graph."""


def globals_made(call: Instruction) -> dict[str, Any] | None:
    """The globals of the function that `call` makes, if they are known."""
    if len(call.operands) > MODULE:
        module = call.operands[MODULE]
        assert isinstance(module, Const)
        return vars(module.value)
    assert call.block is not None
    return call.block.graph.namespace
