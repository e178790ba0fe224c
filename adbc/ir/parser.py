"""Reading graphs from the text that `printer` writes.

The parser checks syntax and names: labels and values must be defined once, somewhere.  It refuses to
know what makes a graph right, so that broken graphs can be written down and shown to `verify`.

Types are not understood either: they become `ParsedType`, which prints as it was read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import NoReturn

from adbc.errors import AdbcError
from adbc.ir.constants import named_constant
from adbc.ir.graph import HOME, IMPORT, Block, Graph, Guard
from adbc.ir.ops import OPS
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Terminator, Unreachable
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Value

__all__ = ["ParseError", "ParsedType", "parse_graph"]


class ParseError(AdbcError, ValueError):
    """The text is not that of a graph."""


class ParsedType(str):
    """The text of a type."""

    __slots__ = ()


NUMBER = r"(?:\d+\.?\d*(?:e[+-]?\d+)?)"
TOKEN = re.compile(
    rf"""
      (?P<string>b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))
    | (?P<complex>\(-?{NUMBER}[+-]{NUMBER}j\)|-?{NUMBER}j)
    | (?P<number>-?0x[0-9a-f]+|-?{NUMBER}|-inf\b)
    | (?P<const><const\ \d+>)
    | (?P<value>%[\w.]+)
    | (?P<name>[\w.]*\w)
    | (?P<mark>[][(){{}},:=])
    """,
    re.VERBOSE,
)
SPACE = re.compile(r"\s*(?:;.*)?")
MARK = re.compile(r"\*{1,2}|/")
KEYWORD = re.compile(r"[^\W\d]\w*=")
NAME = re.compile(r"[\w.]+")
LABEL_LINE = re.compile(r"(?P<label>[\w.]+)\s*:\s*(?:handler\s+(?P<handler>[\w.]+)\s*)?(?:;.*)?")
STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


def parse_graph(text: str, constants: Mapping[int, object] | None = None) -> Graph:
    """The graph that `text` describes; `constants` says what ``<const N>`` is, by number."""
    return _Parser(text, constants or {}).graph


class _Line:
    """A cursor in a line of the text."""

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.at = 0
        self.skip()

    def fail(self, message: str) -> NoReturn:
        raise ParseError(f"line {self.number}: {message}\n    {self.text.strip()}")

    def skip(self) -> None:
        space = SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()

    @property
    def done(self) -> bool:
        return self.at == len(self.text)

    def peek(self) -> str:
        """The next token without taking it; the empty string at the end."""
        token = TOKEN.match(self.text, self.at)
        return "" if token is None else token[0]

    def token(self) -> tuple[str, str]:
        """Take the next token: its kind and its text."""
        token = TOKEN.match(self.text, self.at)
        if token is None:
            self.fail("unexpected end of the line" if self.done else f"cannot read {self.text[self.at :]!r}")
        self.at = token.end()
        self.skip()
        assert token.lastgroup is not None
        return token.lastgroup, token[0]

    def accept(self, text: str) -> bool:
        """Take the next token if it is `text`."""
        if self.peek() != text:
            return False
        self.token()
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected {text!r} before {self.text[self.at :]!r}")

    def name(self) -> str:
        """Take a label or a word; unlike elsewhere, it may begin with a digit."""
        return self.match(NAME) or self.fail("expected a name")

    def match(self, pattern: re.Pattern[str]) -> str:
        """Take what `pattern` matches here, which may be nothing."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        self.skip()
        return match[0]

    def until(self, *stops: str) -> str:
        """Take the text before the first of `stops` that stands outside brackets and strings."""
        start, depth = self.at, 0
        while self.at < len(self.text):
            if depth == 0 and self.text.startswith(stops, self.at):
                break
            string = STRING.match(self.text, self.at)
            if string is not None:
                self.at = string.end()
                continue
            depth += (self.text[self.at] in "([{") - (self.text[self.at] in ")]}")
            self.at += 1
        else:
            self.fail(f"expected one of {stops}")
        found = self.text[start : self.at].strip()
        self.skip()
        return found

    def end(self) -> None:
        if not self.done:
            self.fail(f"unexpected {self.text[self.at :]!r}")


class _Parser:
    def __init__(self, text: str, constants: Mapping[int, object]) -> None:
        self.constants = constants
        self.blocks: dict[str, Block] = {}
        self.values: dict[str, Value] = {}
        lines = [
            _Line(line, number)
            for number, line in enumerate(text.splitlines(), 1)
            if SPACE.fullmatch(line) is None
        ]
        if not lines:
            raise ParseError("there is no graph")
        self.graph = self.header(lines[0])
        # Values and blocks are used before they are defined, so definitions are collected first.
        rest = self.guards(lines[1:])
        bodies = self.split(rest)
        for block, body in bodies.items():
            if not body:
                raise ParseError(f"block {block.label} is empty")
            for line in body:
                is_definition = line.peek().startswith("%")
                if is_definition and line is body[-1]:
                    line.fail("a block ends with a terminator")
                if not is_definition and line is not body[-1]:
                    line.fail("a terminator must be the last line of its block")
                if is_definition:
                    self.define(line, block)
        for block, body in bodies.items():
            self.fill(block, body)

    # -- the header ----------------------------------------------------------------------------------

    def header(self, line: _Line) -> Graph:
        kind_of_graph = line.name()
        if kind_of_graph not in ("graph", "generator"):
            line.fail("expected a graph")
        graph = Graph(line.until("("))
        graph.is_generator = kind_of_graph == "generator"
        line.expect("(")
        keyword_only = False
        while not line.accept(")"):
            mark = line.match(MARK)
            if mark == "/":
                graph.posonly_count = len(graph.arguments)
            elif mark == "*" and line.peek() in (",", ")"):
                keyword_only = True
            else:
                name = line.name()
                kind = ParsedType(line.until(",", ")")) if line.accept(":") else None
                self.add_value(line, name, graph.add_argument(name, kind))
                graph.has_varargs = graph.has_varargs or mark == "*"
                graph.has_varkw = graph.has_varkw or mark == "**"
                graph.kwonly_count += keyword_only and not mark
            if line.peek() != ")":
                line.expect(",")
        if line.accept("free"):
            free = [line.name()]
            while line.accept(","):
                free.append(line.name())
            graph.free = tuple(free)
        line.end()
        return graph

    def guards(self, lines: list[_Line]) -> list[_Line]:
        for i, line in enumerate(lines):
            if LABEL_LINE.fullmatch(line.text.strip()):
                return lines[i:]
            if line.name() != "guard":
                line.fail("expected a guard or a block")
            name = line.name()
            home = (f"{name}{HOME}",) if line.accept(HOME) else ()
            name = line.name() if home else name
            path = (*home, *(f"{IMPORT}{line.name()}" if name == IMPORT.strip() else name).split("."))
            line.expect("is")
            self.graph.guards.append(Guard(path, self.constant(line)))
            line.end()
        return []

    # -- definitions ---------------------------------------------------------------------------------

    def split(self, lines: list[_Line]) -> dict[Block, list[_Line]]:
        bodies: dict[Block, list[_Line]] = {}
        handlers: list[tuple[Block, str, _Line]] = []
        body: list[_Line] = []
        for line in lines:
            head = LABEL_LINE.fullmatch(line.text.strip())
            if head is None:
                body.append(line)
                continue
            if head["label"] in self.blocks:
                line.fail(f"there are two blocks {head['label']}")
            block = self.blocks[head["label"]] = Block(self.graph, head["label"])
            self.graph.blocks.append(block)
            body = bodies[block] = []
            if head["handler"]:
                handlers.append((block, head["handler"], line))
        for block, label, line in handlers:
            block.handler = self.block(line, label)
        return bodies

    def define(self, line: _Line, block: Block) -> None:
        name = line.token()[1][1:]
        kind = ParsedType(line.until(" = ")) if line.accept(":") else None
        line.expect("=")
        op = line.name()
        own_name = None if name.isdecimal() else name
        if op == "phi":
            phi = Phi(block, kind, own_name)
            if block.instructions:
                line.fail("a phi must stand before the instructions")
            block.phis.append(phi)
            self.add_value(line, name, phi)
        else:
            self.add_value(line, name, block.append(Instruction(op, [], type=kind, name=own_name)))

    def add_value(self, line: _Line, name: str, value: Value) -> None:
        if name in self.values:
            line.fail(f"there are two definitions of %{name}")
        self.values[name] = value

    # -- bodies --------------------------------------------------------------------------------------

    def fill(self, block: Block, body: list[_Line]) -> None:
        definitions: list[Phi | Instruction] = [*block.phis, *block.instructions]
        for value, line in zip(definitions, body[:-1], strict=True):
            # `define` has read up to the operands.
            if isinstance(value, Phi):
                self.phi(line, value)
            else:
                self.operands(line, value)
            line.end()
        block.terminator = self.terminator(body[-1])
        body[-1].end()

    def phi(self, line: _Line, phi: Phi) -> None:
        line.expect("[")
        while not line.accept("]"):
            block = self.block(line, line.name())
            line.expect(":")
            if block in phi.operands:
                line.fail(f"there are two operands for {block.label}")
            phi.operands[block] = self.operand(line)
            if line.peek() != "]":
                line.expect(",")

    def operands(self, line: _Line, instruction: Instruction) -> None:
        keywords: list[str] = []
        if instruction.op == "call":
            instruction.operands.append(self.operand(line))
            line.expect("(")
            while not line.accept(")"):
                self.argument(line, instruction, keywords)
                if line.peek() != ")":
                    line.expect(",")
        else:
            # With no operands to come, what follows can only be the attribute.
            row = OPS.get(instruction.op)
            if not line.done and (row is None or row.arity != 0):
                self.argument(line, instruction, keywords)
                while line.accept(","):
                    self.argument(line, instruction, keywords)
        if not line.done:
            instruction.attribute = self.constant(line)
        instruction.keywords = tuple(keywords)

    def argument(self, line: _Line, instruction: Instruction, keywords: list[str]) -> None:
        keyword = line.match(KEYWORD)
        if keyword:
            keywords.append(keyword[:-1])
        elif keywords:
            line.fail("a positional argument follows a keyword argument")
        instruction.operands.append(self.operand(line))

    def terminator(self, line: _Line) -> Terminator:
        word = line.name()
        match word:
            case "jump":
                return Jump(self.block(line, line.name()))
            case "branch":
                condition = self.operand(line)
                line.expect(",")
                true = self.block(line, line.name())
                line.expect(",")
                return Branch(condition, true, self.block(line, line.name()))
            case "switch":
                return self.switch(line)
            case "return":
                return Return(self.operand(line))
            case "raise":
                exception = None if line.done or line.peek() == "from" else self.operand(line)
                return Raise(exception, self.operand(line) if line.accept("from") else None)
            case "unreachable":
                return Unreachable()
        line.fail(f"there is no terminator {word}")

    def switch(self, line: _Line) -> Switch:
        value = self.operand(line)
        line.expect(",")
        line.expect("[")
        cases: dict[int, Block] = {}
        while not line.accept("]"):
            case = self.constant(line)
            if not isinstance(case, int):
                line.fail("a case is an int")
            line.expect(":")
            cases[case] = self.block(line, line.name())
            if line.peek() != "]":
                line.expect(",")
        line.expect(",")
        return Switch(value, cases, self.block(line, line.name()))

    # -- operands ------------------------------------------------------------------------------------

    def block(self, line: _Line, label: str) -> Block:
        if label not in self.blocks:
            line.fail(f"there is no block {label}")
        return self.blocks[label]

    def operand(self, line: _Line) -> Value:
        if line.accept("undef"):
            return UNDEF
        if line.peek().startswith("%"):
            name = line.token()[1][1:]
            if name not in self.values:
                line.fail(f"nothing is called %{name}")
            return self.values[name]
        return Const(self.constant(line))

    def constant(self, line: _Line) -> object:
        kind, text = line.token()
        match kind:
            case "complex":
                return complex(text)
            case "string" | "number":
                return float(text) if text == "-inf" else ast.literal_eval(text)
            case "const":
                number = int(text[len("<const ") : -1])
                if number not in self.constants:
                    line.fail(f"nobody said what {text} is")
                return self.constants[number]
            case "name" if text == "frozenset":
                return self.frozenset(line)
            case "name":
                try:
                    return named_constant(text)
                except LookupError as error:
                    line.fail(error.args[0])
            case "mark" if text == "(":
                return tuple(self.items(line, ")"))
        line.fail(f"expected an operand, not {text!r}")

    def frozenset(self, line: _Line) -> frozenset[object]:
        line.expect("(")
        if line.accept(")"):
            return frozenset()
        line.expect("{")
        parts = frozenset(self.items(line, "}"))
        line.expect(")")
        return parts

    def items(self, line: _Line, close: str) -> list[object]:
        parts: list[object] = []
        while not line.accept(close):
            parts.append(self.constant(line))
            if line.peek() != close:
                line.expect(",")
        return parts
