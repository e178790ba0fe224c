"""The specification of the intermediate representation, and the check that a graph obeys it.

A graph that breaks a rule is a bug in adbc: in the lifter, a pass or a builder, never in the user's
code.  All problems are collected, and shown below the lines they concern in the printed graph.

Graph
    1. It has blocks; the first is the entry.  Labels are unique and made of letters, digits, ``_``
       and ``.``.  A block is listed once, and its `graph` is the graph.
    2. Arguments have distinct names that can be written, their `index` is their place, and the counts
       of positional-only and keyword-only parameters and the flags for ``*args`` and ``**kwargs`` fit
       their number.
    3. No edge leads to the entry, normal or exceptional, so it has no phis.

Control flow
    4. Every successor and every handler is a block of the graph.
    5. The two arms of a branch differ.  The condition is a bool: a constant one must be True or False.
    6. The cases of a switch are ints, as must be a constant that it looks at.
    7. A `Raise` with a cause has an exception.

Values
    8. Operands are values of this graph: its arguments, the phis and instructions in its blocks,
       constants.  An instruction or phi stands in one place, and its `block` is that place.
    9. A phi has exactly one operand for each predecessor of its block, exceptional ones included.
   10. `UNDEF` is an operand of phis only.
   11. A definition dominates its uses.  The operand of a phi is used at the end of the predecessor.
   12. Where a block with a handler raises, the result of its last instruction does not exist: neither
       the handler nor its phis may use it.
   Uses in blocks that cannot be reached are exempt from 11 and 12; there, everything dominates.

Operations
   13. Every operation is a row of `ops.OPS`, with the number of operands the row asks for, an
       attribute if and only if the row has one (``cell_set`` may carry the name of its variable).
   14. Variadic operations have a sensible number of operands: a call its function, ``build_map`` pairs,
       ``build_slice`` two or three, ``apply`` two or three, ``cell_new`` at most one.
   15. Keywords stand on calls only, are distinct, and no more than the arguments.

Exceptions
   16. A handler begins with ``catch``, which stands nowhere else, and is entered by exceptional edges
       only.
   17. Only the last instruction of a block with a handler, or its `Raise`, may raise into the handler.
       Which instructions cannot raise is not known here: `interpret` checks this while running.

Normal form (`normal_form=True`)
   18. Every instruction is a ``call``, or the ``catch`` of a handler.

Typed (`is_typed` is given: of a derived graph whose primal is typed)
   19. Arguments, phis and instructions have a type of which `is_typed` is true.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable

from adbc.errors import VerificationError
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.ops import OPS
from adbc.ir.printer import Names, Place, print_graph
from adbc.ir.terminators import Branch, Raise, Switch, Terminator
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value
from adbc.records import record

__all__ = ["Problem", "contents", "problems", "verify"]

LABEL = re.compile(r"[\w.]+")

OPERANDS: dict[str, tuple[int, int | None]] = {
    "call": (1, None),
    "apply": (2, 3),
    "build_slice": (2, 3),
    "cell_new": (0, 1),
}
"""The least and greatest number of operands of variadic operations that do not take any number."""

OPTIONAL_ATTRIBUTE = frozenset({"cell_set"})
"""Operations whose attribute says something to readers and nothing to the operation."""


@record(frozen=True)
class Problem:
    """A broken rule: the place in the graph, the name of the place, and what is wrong."""

    place: Place
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def verify(
    graph: Graph, *, normal_form: bool = False, is_typed: Callable[[object], bool] | None = None
) -> None:
    """Raise `VerificationError` with all problems of `graph`, shown in its text, if there are any.

    `is_typed` says whether the object that a value has as its type is a type.
    """
    found = problems(graph, normal_form=normal_form, is_typed=is_typed)
    if not found:
        return
    notes: dict[int, list[str]] = {}
    for problem in found:
        notes.setdefault(id(problem.place), []).append(f"error: {problem.message}")
    text = print_graph(graph, lambda place: "\n".join(notes.get(id(place), ())))
    count = "1 problem" if len(found) == 1 else f"{len(found)} problems"
    summary = "\n".join(f"  {problem}" for problem in found)
    raise VerificationError(f"{count} in graph {graph.name}:\n{summary}\n\n{text}")


def problems(
    graph: Graph, *, normal_form: bool = False, is_typed: Callable[[object], bool] | None = None
) -> list[Problem]:
    """Every problem of `graph`, in the order of the text."""
    checker = _Checker(graph, normal_form, is_typed)
    checker.run()
    if not checker.found:
        return []
    order: dict[int, int] = {id(graph): 0}
    for block in graph.blocks:
        for place in (block, *block.phis, *block.instructions, block.terminator):
            order.setdefault(id(place), len(order))
    return sorted(checker.found, key=lambda problem: order.get(id(problem.place), len(order)))


def contents(graph: Graph) -> list[object]:
    """All that the verifier looks at, with objects as their addresses: the same as before if nothing that
    matters to it has changed since.  It takes a small part of the time that `problems` takes."""
    found: list[object] = [graph.has_varargs, graph.has_varkw, graph.posonly_count, graph.kwonly_count]
    for argument in graph.arguments:
        found += (id(argument), argument.name, argument.index, id(argument.type))
    for block in graph.blocks:
        found += (id(block), block.label, id(block.graph), id(block.handler))
        for phi in block.phis:
            found += (id(phi), id(phi.block), id(phi.type))
            found += map(id, phi.operands)
            found += map(id, phi.operands.values())
        for one in block.instructions:
            found += (id(one), id(one.block), one.op, one.keywords, one.attribute is None, id(one.type))
            found += map(id, one.operands)
        terminator = block.terminator
        found.append(id(terminator))
        found += map(id, terminator.successors)
        found += map(id, terminator.values)
        if isinstance(terminator, Switch):
            found += terminator.cases
    return found


class _Checker:
    def __init__(self, graph: Graph, normal_form: bool, is_typed: Callable[[object], bool] | None) -> None:
        self.graph = graph
        self.is_typed = is_typed
        self.normal_form = normal_form
        self.found: list[Problem] = []
        self.blocks: set[Block] = set(graph.blocks)
        self.defined: dict[Value, Block | None] = {}
        """Where each value of the graph is defined; None for arguments."""
        self.handlers: set[Block] = {b.handler for b in graph.blocks if b.handler is not None}

    @functools.cached_property
    def names(self) -> Names:
        """The names of values in messages, which most graphs do not need."""
        return Names(self.graph)

    def report(self, place: Place, block: Block | None, message: str) -> None:
        if block is None:
            where = self.graph.name
        elif isinstance(place, Phi | Instruction):
            where = f"{block.label}: {self.names.value(place)}"
        elif isinstance(place, Terminator):
            where = f"{block.label}: {type(place).__name__.lower()}"
        else:
            where = block.label
        problem = Problem(place, where, message)
        if problem not in self.found:  # an operand may be used twice
            self.found.append(problem)

    def run(self) -> None:
        self.check_graph()
        if not self.graph.blocks:
            return
        self.check_definitions()
        self.check_edges()
        self.check_handlers()
        for block in self.graph.blocks:
            for instruction in block.instructions:
                self.check_operation(instruction, block)
            self.check_terminator(block.terminator, block)
        self.check_uses()
        if self.is_typed is not None:
            self.check_types(self.is_typed)

    def check_types(self, is_typed: Callable[[object], bool]) -> None:
        untyped = [argument.name for argument in self.graph.arguments if not is_typed(argument.type)]
        if untyped:
            self.report(self.graph, None, f"no type: {', '.join(untyped)}")
        for block in self.graph.blocks:
            values: list[Phi | Instruction] = [*block.phis, *block.instructions]
            for value in values:
                if not is_typed(value.type):
                    self.report(value, block, f"its type is {value.type}")

    # -- graph ---------------------------------------------------------------------------------------

    def check_graph(self) -> None:
        graph = self.graph
        if not graph.blocks:
            self.report(graph, None, "there are no blocks")
        labels: set[str] = set()
        seen: set[Block] = set()
        for block in graph.blocks:
            if block in seen:
                self.report(block, block, "block is listed twice")
            elif block.label in labels:
                self.report(block, block, f"label {block.label} is not unique")
            seen.add(block)
            labels.add(block.label)
            if not LABEL.fullmatch(block.label):
                self.report(block, block, f"label {block.label!r} cannot be written")
            if block.graph is not graph:
                self.report(block, block, "block belongs to another graph")
        names: set[str] = set()
        for i, argument in enumerate(graph.arguments):
            if argument.name in names:
                self.report(graph, None, f"there are two arguments {argument.name}")
            names.add(argument.name)
            # Digits would be taken for the number of a value without a name.
            if not LABEL.fullmatch(argument.name) or argument.name.isdecimal():
                self.report(graph, None, f"argument {argument.name!r} cannot be written")
            if argument.index != i:
                self.report(graph, None, f"argument {argument.name} is number {i}, not {argument.index}")
        flags = graph.has_varargs + graph.has_varkw
        if graph.posonly_count + graph.kwonly_count + flags > len(graph.arguments):
            self.report(graph, None, "there are fewer arguments than the signature says")

    def check_definitions(self) -> None:
        for argument in self.graph.arguments:
            self.defined[argument] = None
        for block in self.graph.blocks:
            values: list[Phi | Instruction] = [*block.phis, *block.instructions]
            for value in values:
                if value in self.defined:
                    self.report(value, block, f"{self.names.value(value)} is defined twice")
                elif value.block is not block:
                    other = "no block" if value.block is None else f"block {value.block.label}"
                    self.report(value, block, f"says that it is in {other}")
                self.defined[value] = block

    # -- control flow --------------------------------------------------------------------------------

    def check_edges(self) -> None:
        graph = self.graph
        sources: dict[Block, list[Block]] = {block: [] for block in graph.blocks}
        for block in dict.fromkeys(graph.blocks):
            for successor in block.terminator.successors:
                if successor not in self.blocks:
                    message = f"goes to {successor.label}, which is not a block of this graph"
                    self.report(block.terminator, block, message)
            if block.handler is not None and block.handler not in self.blocks:
                message = f"handler {block.handler.label} is not a block of this graph"
                self.report(block, block, message)
            for successor in block.successors:
                if successor in sources:
                    sources[successor].append(block)
        if sources[graph.entry]:
            labels = _list(b.label for b in sources[graph.entry])
            self.report(graph.entry, graph.entry, f"the entry has predecessors: {labels}")
        if graph.entry.phis:
            self.report(graph.entry, graph.entry, "the entry has phis")
        for block, expected in sources.items():
            for phi in block.phis:
                missing = [b.label for b in expected if b not in phi.operands]
                extra = [b.label for b in phi.operands if b not in expected]
                if missing:
                    self.report(phi, block, f"no operand for predecessor {_list(missing)}")
                if extra:
                    self.report(phi, block, f"operand for {_list(extra)}, which is not a predecessor")

    def check_handlers(self) -> None:
        for block in self.graph.blocks:
            for i, instruction in enumerate(block.instructions):
                if instruction.op == "catch" and (i or block not in self.handlers):
                    self.report(instruction, block, "catch must come first in a handler")
            if block not in self.handlers:
                continue
            if not block.instructions or block.instructions[0].op != "catch":
                self.report(block, block, "handler does not begin with catch")
        for block in self.graph.blocks:
            for successor in block.terminator.successors:
                if successor in self.handlers:
                    message = f"goes to handler {successor.label}, which only exceptions may enter"
                    self.report(block.terminator, block, message)

    def check_terminator(self, terminator: Terminator, block: Block) -> None:
        if isinstance(terminator, Branch):
            if terminator.true is terminator.false:
                self.report(terminator, block, "the arms of the branch are the same")
            condition = terminator.condition
            if isinstance(condition, Const) and not isinstance(condition.value, bool):
                self.report(terminator, block, "the condition is a constant that is not a bool")
        elif isinstance(terminator, Switch):
            for case in terminator.cases:
                if type(case) is not int:
                    self.report(terminator, block, f"case {case!r} is not an int")
            if isinstance(terminator.value, Const) and not isinstance(terminator.value.value, int):
                self.report(terminator, block, "switches on a constant that is not an int")
        elif isinstance(terminator, Raise) and terminator.exception is None and terminator.cause is not None:
            self.report(terminator, block, "has a cause but no exception")

    # -- operations ----------------------------------------------------------------------------------

    def check_operation(self, instruction: Instruction, block: Block) -> None:
        op, count = instruction.op, len(instruction.operands)

        def report(message: str) -> None:
            self.report(instruction, block, message)

        row = OPS.get(op)
        if row is None:
            report(f"there is no operation {op}")
            return
        if self.normal_form and op not in ("call", "catch"):
            report(f"{op} is not allowed in normal form")
        if row.arity is not None:
            if count != row.arity:
                report(f"{op} takes {row.arity} operands, not {count}")
        else:
            least, most = OPERANDS.get(op, (0, None))
            if count < least or (most is not None and count > most):
                report(f"{op} cannot have {count} operands")
            if op == "build_map" and count % 2:
                report(f"build_map takes keys and values, not {count} operands")
        if row.attribute is not None and instruction.attribute is None:
            report(f"{op} needs an attribute")
        if row.attribute is None and instruction.attribute is not None and op not in OPTIONAL_ATTRIBUTE:
            report(f"{op} has no attribute")
        if instruction.keywords:
            if op != "call":
                report(f"{op} has no keywords")
            elif len(instruction.keywords) > count - 1:
                report("there are more keywords than arguments")
            if len(set(instruction.keywords)) < len(instruction.keywords):
                report("a keyword is given twice")

    # -- uses ----------------------------------------------------------------------------------------

    def check_uses(self) -> None:
        dominators = Dominators(self.graph)
        for block in self.graph.blocks:
            for phi in block.phis:
                for source, value in phi.operands.items():
                    if (
                        type(value) is not Const
                        and self.is_known(value, phi, block)
                        and source in self.blocks
                        and block in source.successors
                        and not dominators.available_on_edge(value, source, block)
                    ):
                        self.report(phi, block, self.unavailable(value, source, block))
            # Most operands stand in the block of their user, or have been looked at there: what is available
            # at one place of a block stays so.
            available: set[Value] = {phi for phi in block.phis if phi.block is block}
            for i, instruction in enumerate(block.instructions):
                for value in instruction.operands:
                    if type(value) is Const or value in available:
                        continue
                    if self.is_available(dominators, value, instruction, block, i):
                        available.add(value)
                if instruction.block is block:
                    available.add(instruction)
            for value in block.terminator.values:
                if value not in available:
                    self.is_available(dominators, value, block.terminator, block, None)

    def is_available(
        self,
        dominators: Dominators,
        value: Value,
        user: Instruction | Terminator,
        block: Block,
        index: int | None,
    ) -> bool:
        """Whether `user`, number `index` in `block`, may use `value`; reports if not."""
        if isinstance(value, Undef):
            self.report(user, block, "only phis may use undef")
        elif self.is_known(value, user, block):
            if dominators.available(value, block, index):
                return True
            self.report(user, block, self.unavailable(value, None, block))
        return False

    def is_known(self, value: object, user: Place, block: Block) -> bool:
        if isinstance(value, Const | Undef):
            return True
        if not isinstance(value, Value):
            self.report(user, block, f"operand {value!r} is not a value")
        elif value not in self.defined:
            self.report(user, block, f"uses {self.names.value(value)}, which is not in this graph")
        elif isinstance(value, Argument):
            return True
        else:
            # What is in the wrong place has been reported; its uses would only repeat it.
            return isinstance(value, Phi | Instruction) and value.block is self.defined[value]
        return False

    def unavailable(self, value: Value, source: Block | None, block: Block) -> str:
        name = self.names.value(value)
        home = self.defined[value]
        assert home is not None
        if (
            home.handler is not None
            and home.instructions
            and home.instructions[-1] is value
            and (block is home.handler or source is home)
        ):
            return f"{name} does not exist in the handler: it is what {home.label} was computing"
        if source is not None:
            return f"{name} of block {home.label} is not defined at the end of {source.label}"
        return f"{name} of block {home.label} is not defined on every path to its use"


def _list(labels: Iterable[str]) -> str:
    return ", ".join(labels)
