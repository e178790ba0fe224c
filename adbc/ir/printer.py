"""Graphs as text.  What is printed here, `parser` reads back.

    graph newton(x: Any, n: Any)
    entry:
        jump loop
    loop:
        %y = phi [entry: 1.0, body: %4]
        %i = phi [entry: 0, body: %5]
        %1: bool = call operator.lt(%i, %n)
        branch %1, body, done

- The header holds the parameters with the marks of a Python signature (``/``, ``*``, ``*args``,
  ``**kwargs``), then ``free a, b`` if there are free variables.  A line ``guard math.sin is math.sin``
  follows for each guard; ``guard shapes: Circle is ...`` says what a name means in another module.
- Values without a name are numbered from 1 in order; a name that is taken gets a suffix.
- A call is ``call function(arguments, name=keyword argument)``.  Any other operation is its name, its
  operands, then its attribute: ``%2 = getattr %x 'name'``.
- A value that has a type is printed with it: ``%1: bool``.
- ``body: handler h`` is a block whose exceptional edge goes to ``h``.
- Constants are written as `constants` says.  What has no text is ``<const N>``, numbered by object;
  `placeholders` tells which object that is.
- ``;`` begins a comment.

File name, qualified name, positions and types of constants are not part of the text.  A printed graph
need not be right: this is how broken ones are looked at, so everything here copes with anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias, Union

from adbc.ir.constants import constant_text
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Terminator, Unreachable
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value

if TYPE_CHECKING:  # a graph prints itself
    from adbc.ir.graph import Block, Graph

__all__ = ["Names", "Place", "placeholders", "print_graph"]

Place: TypeAlias = Union["Graph", "Block", Phi, Instruction, Terminator]
"""What has a line of its own in the text of a graph."""

INDENT = "    "


def print_graph(
    graph: Graph,
    annotate: Callable[[Place], str | None] | None = None,
    *,
    positions: bool = False,
) -> str:
    """The text of `graph`, without a newline at the end.

    `annotate` is asked for each place; what it returns is woven in as comment lines below the place.
    With `positions`, a comment at the end of a line says which source line it is from.
    """
    names = Names(graph)
    lines: list[str] = []
    for place, text in _lines(graph, names):
        where = getattr(place, "position", None) if positions else None
        lines.append(text if where is None else f"{text}  ; {where}")
        note = annotate(place) if annotate is not None else None
        if note:
            indent = 2 * INDENT if isinstance(place, Phi | Instruction | Terminator) else INDENT
            lines += [f"{indent}; {line}".rstrip() for line in note.splitlines()]
    return "\n".join(lines)


def placeholders(graph: Graph) -> dict[int, object]:
    """The objects that ``<const N>`` stands for in the text of `graph`, by number."""
    names = Names(graph)
    for _ in _lines(graph, names):
        pass
    return names.numbered


class Names:
    """The names of a graph's values and constants in its text."""

    def __init__(self, graph: Graph) -> None:
        self._names: dict[Value, str] = {}
        self._numbers: dict[int, int] = {}
        self.numbered: dict[int, object] = {}
        """The objects without a text, by number."""

        taken: set[str] = set()
        for argument in graph.arguments:
            self._names.setdefault(argument, argument.name)
            taken.add(argument.name)
        unnamed = 0
        for block in graph.blocks:
            values: list[Phi | Instruction] = [*block.phis, *block.instructions]
            for value in values:
                if value in self._names:
                    continue
                stem = re.sub(r"[^\w.]", "_", value.name or "")
                # A name made of digits would collide with the numbers.
                if not stem or stem.isdecimal():
                    unnamed += 1
                    self._names[value] = str(unnamed)
                    continue
                name, count = stem, 0
                while name in taken:
                    count += 1
                    name = f"{stem}.{count}"
                taken.add(name)
                self._names[value] = name

    def value(self, value: object) -> str:
        """How an operand is written."""
        if isinstance(value, Const):
            return self.constant(value.value)
        if isinstance(value, Undef):
            return "undef"
        if not isinstance(value, Value):
            return f"<no value: {value!r}>"
        if value not in self._names:
            # Of another graph, or of none: only broken graphs have such.
            name = value.name if isinstance(value, Argument | Phi | Instruction) else None
            self._names[value] = f"?{name or len(self._names)}"
        return f"%{self._names[value]}"

    def constant(self, constant: object) -> str:
        """How a constant is written."""
        text = constant_text(constant)
        if text is not None:
            return text
        number = self._numbers.setdefault(id(constant), len(self._numbers))
        self.numbered[number] = constant
        return f"<const {number}>"

    def typed(self, value: Value) -> str:
        """How a value is written where it is defined."""
        return self.value(value) if value.type is None else f"{self.value(value)}: {value.type!s}"


def _lines(graph: Graph, names: Names) -> Iterator[tuple[Place, str]]:
    yield graph, _header(graph, names)
    for block in graph.blocks:
        handler = "" if block.handler is None else f" handler {block.handler.label}"
        yield block, f"{block.label}:{handler}"
        for phi in block.phis:
            cases = ", ".join(f"{b.label}: {names.value(v)}" for b, v in phi.operands.items())
            yield phi, f"{INDENT}{names.typed(phi)} = phi [{cases}]"
        for instruction in block.instructions:
            yield instruction, f"{INDENT}{names.typed(instruction)} = {_operation(instruction, names)}"
        yield block.terminator, f"{INDENT}{_terminator(block.terminator, names)}"


def _header(graph: Graph, names: Names) -> str:
    parameters = []
    count = len(graph.arguments)
    flags = graph.has_varargs + graph.has_varkw
    first_kwonly = count - flags - graph.kwonly_count
    for i, argument in enumerate(graph.arguments):
        stars = ""
        if i == count - flags and graph.has_varargs:
            stars = "*"
        elif i == count - 1 and graph.has_varkw:
            stars = "**"
        if i == first_kwonly and graph.kwonly_count:
            parameters.append("*")
        parameters.append(stars + argument.name + ("" if argument.type is None else f": {argument.type!s}"))
        if i + 1 == graph.posonly_count:
            parameters.append("/")
    text = f"{'generator' if graph.is_generator else 'graph'} {graph.name}({', '.join(parameters)})"
    if graph.free:
        text += f" free {', '.join(graph.free)}"
    for guard in graph.guards:
        path = ".".join(guard.path).replace(":.", ": ")  # the name of a module, and names in it
        text += f"\n{INDENT}guard {path} is {names.constant(guard.value)}"
    return text


def _operation(instruction: Instruction, names: Names) -> str:
    operands = [names.value(value) for value in instruction.operands]
    if instruction.keywords:
        start = len(operands) - len(instruction.keywords)
        for i, keyword in enumerate(instruction.keywords, start):
            if 0 <= i < len(operands):
                operands[i] = f"{keyword}={operands[i]}"
    if instruction.op == "call":
        function = operands.pop(0) if operands else "<nothing>"
        text = f"call {function}({', '.join(operands)})"
    else:
        text = " ".join(filter(None, (instruction.op, ", ".join(operands))))
    if instruction.attribute is not None:
        text += f" {names.constant(instruction.attribute)}"
    return text


def _terminator(terminator: Terminator, names: Names) -> str:
    match terminator:
        case Jump():
            return f"jump {terminator.target.label}"
        case Branch():
            condition = names.value(terminator.condition)
            return f"branch {condition}, {terminator.true.label}, {terminator.false.label}"
        case Switch():
            cases = ", ".join(f"{number}: {block.label}" for number, block in terminator.cases.items())
            return f"switch {names.value(terminator.value)}, [{cases}], {terminator.default.label}"
        case Return():
            return f"return {names.value(terminator.value)}"
        case Raise():
            text = "raise"
            if terminator.exception is not None:
                text += f" {names.value(terminator.exception)}"
            if terminator.cause is not None:
                text += f" from {names.value(terminator.cause)}"
            return text
        case Unreachable():
            return "unreachable"
    return f"<{type(terminator).__name__}>"
