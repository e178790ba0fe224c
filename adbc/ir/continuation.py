"""The rest of a graph from a point in it, as a graph of its own.

`rest_of(graph, block, index)` is what remains to be done when the first `index` instructions of
`block` have run: a graph whose arguments are the values that are still needed.  If a loop leads back
to `block`, the new graph has a second, whole copy of it, and values that are arguments on the first
visit are computed on later ones: SSA form is repaired with phis.

Generators are cut into such rests at their yields.  It refuses to know why anybody leaves a graph in
the middle.
"""

from __future__ import annotations

from collections.abc import Iterable

from adbc.ir.builder import Variables, remove_dead_phis, remove_trivial_phis
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Terminator, Unreachable
from adbc.ir.traverse import copy_of
from adbc.ir.values import Const, Instruction, Phi, Undef, Value
from adbc.records import record

__all__ = ["Rest", "rest_of"]


@record(frozen=True)
class Rest:
    """The rest of a graph, and how it relates to the original.  graph: the rest.  live: the values of the
    original graph that its arguments stand for, in order.

    copies: the instructions of the new graph, by the original instruction; where a block was copied
    twice there are two.
    """

    graph: Graph
    live: tuple[Value, ...]
    copies: dict[Instruction, list[Instruction]]


def rest_of(graph: Graph, block: Block, index: int, *, first: Iterable[Value] = ()) -> Rest:
    """The rest of `graph` behind instruction number ``index - 1`` of `block`.

    `first` are values that become the first arguments, needed or not.
    """
    return _Rest(graph, block, index, list(first)).build()


class _Rest:
    def __init__(self, graph: Graph, block: Block, index: int, first: list[Value]) -> None:
        self.source = graph
        self.block = block
        self.index = index
        self.first = first
        new = self.graph = Graph(graph.name)
        new.qualname, new.filename, new.first_line = graph.qualname, graph.filename, graph.first_line
        new.guards, new.facts, new.namespace = list(graph.guards), dict(graph.facts), graph.namespace
        self.copies: dict[Instruction, list[Instruction]] = {}
        self.arguments: dict[Value, Value] = {}

    def build(self) -> Rest:
        entry = self.graph.add_block("entry")
        reached = self._reached()
        self.blocks = {block: self.graph.add_block(block.label) for block in reached}
        variables = Variables(self.graph, initial=self._argument, phi_type=lambda value: None)
        self.variables = variables
        starts = [(self.block, entry, self.index), *((b, c, 0) for b, c in self.blocks.items())]
        for block, copy, _ in starts:
            for successor in block.successors:
                variables.edge(copy, self.blocks[successor])
        for value in self.first:
            self._argument(value)
        # Definitions first: reading a variable must find those of every block.
        made: list[tuple[Instruction, Instruction, Block]] = []
        phis: list[tuple[Phi, Phi, Block]] = []
        for block, copy, start in starts:
            if start == 0 and copy is not entry:
                for phi in block.phis:
                    new = Phi(copy, phi.type, phi.name)
                    copy.phis.append(new)
                    phis.append((phi, new, copy))
                    variables.write(phi, copy, new)
            for instruction in block.instructions[start:]:
                new_instruction = copy.append(copy_of(instruction))
                made.append((instruction, new_instruction, copy))
                self.copies.setdefault(instruction, []).append(new_instruction)
                variables.write(instruction, copy, new_instruction)
        for block, copy, _ in starts:
            copy.terminator = self._terminator(block.terminator)
            copy.handler = None if block.handler is None else self.blocks[block.handler]
        for copy in self.graph.blocks:
            variables.sealed.add(copy)
        for _, new_instruction, copy in made:
            new_instruction.operands = [self._read(v, copy) for v in new_instruction.operands]
        for _, copy, _ in starts:
            for value in copy.terminator.values:
                copy.terminator.replace_value(value, self._read(value, copy))
        for original_phi, new, copy in phis:
            for block, source, _ in starts:
                if copy in source.successors and block in original_phi.operands:
                    new.operands[source] = self._read(original_phi.operands[block], source)
        remove_trivial_phis(self.graph, only=set(variables.phis))
        remove_dead_phis(self.graph)
        return Rest(self.graph, tuple(self.arguments), self.copies)

    def _reached(self) -> list[Block]:
        seen: dict[Block, None] = {}
        waiting = list(self.block.successors)
        while waiting:
            block = waiting.pop(0)
            if block not in seen:
                seen[block] = None
                waiting += block.successors
        return list(seen)

    def _argument(self, value: object) -> Value:
        """The argument that stands for a value computed before this rest began."""
        assert isinstance(value, Value)
        known = self.arguments.get(value)
        if known is None:
            name = getattr(value, "name", None) or f"v{len(self.arguments)}"
            taken = {a.name for a in self.graph.arguments}
            while name in taken:
                name += "_"
            known = self.arguments[value] = self.graph.add_argument(name, value.type)
        return known

    def _read(self, value: Value, copy: Block) -> Value:
        """What `copy` uses for `value`: definitions stand before uses, so what the block itself defines is
        what is found at its end."""
        return value if isinstance(value, Const | Undef) else self.variables.read(value, copy)

    def _terminator(self, terminator: Terminator) -> Terminator:
        position = terminator.position
        match terminator:
            case Jump():
                return Jump(self.blocks[terminator.target], position)
            case Branch():
                return Branch(
                    terminator.condition,
                    self.blocks[terminator.true],
                    self.blocks[terminator.false],
                    position,
                )
            case Switch():
                cases = {case: self.blocks[to] for case, to in terminator.cases.items()}
                return Switch(terminator.value, cases, self.blocks[terminator.default], position)
            case Return():
                return Return(terminator.value, position)
            case Raise():
                return Raise(terminator.exception, terminator.cause, position)
        return Unreachable(position)
