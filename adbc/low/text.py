"""The text form of low programs: what `write` writes, `read` reads.

Registers are named where they are written; those without a name are numbered.
"""

from __future__ import annotations

import ast
import collections
import re
from collections.abc import Callable

from adbc.errors import VerificationError
from adbc.low.ops import OPS
from adbc.low.program import (
    Arena,
    Attribute,
    Bail,
    Block,
    Branch,
    Jump,
    Op,
    Operand,
    Phi,
    Program,
    Register,
    Return,
    Site,
    Slot,
    Switch,
    Tape,
    Terminator,
)

__all__ = ["read", "write"]


def write(program: Program) -> str:
    """`program` as text."""
    return "\n".join(_Writer(program).lines()) + "\n"


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: dict[Register, str] = {}
        self.taken: set[str] = set()
        self.counts: collections.Counter[str] = collections.Counter()
        for register in self._registers():
            self.names[register] = self._name(register)

    def _registers(self) -> list[Register]:
        found = [*self.program.parameters]
        for block in self.program.blocks:
            found += [phi.result for phi in block.phis]
            found += [register for op in block.ops for register in op.results]
        return found

    def _name(self, register: Register) -> str:
        stem = name = register.name
        while not name or name in self.taken:
            self.counts[stem] += 1
            name = f"{stem}.{self.counts[stem]}" if stem else str(self.counts[stem])
        self.taken.add(name)
        return name

    def lines(self) -> list[str]:
        program = self.program
        parameters = ", ".join(f"{self.names[r]}: {r.type}" for r in program.parameters)
        found = [f"low {program.name}({parameters}) -> {', '.join(program.results)}"]
        found += [f"tape {tape.name}: {' | '.join(map(_form, tape.formats))}" for tape in program.tapes]
        found += [f"arena {arena.name}: {_form(arena.fields)}" for arena in program.arenas]
        found += [f"slot {slot.name}: {slot.type}" for slot in program.slots]
        for number, site in enumerate(program.sites):
            line = "" if site.line is None else f", line {site.line}"
            found.append(f"site {number}: {site.reason!r}{line}")
        for block in program.blocks:
            found.append(f"{block.label}:")
            found += [f"    {self._phi(phi)}" for phi in block.phis]
            found += [f"    {self._op(op)}" for op in block.ops]
            if block.terminator is not None:
                found.append(f"    {self._terminator(block.terminator)}")
        return found

    def _operand(self, operand: Operand) -> str:
        return f"%{self.names[operand]}" if isinstance(operand, Register) else repr(operand)

    def _results(self, registers: list[Register]) -> str:
        return ", ".join(f"%{self.names[r]}: {r.type}" for r in registers)

    def _phi(self, phi: Phi) -> str:
        parts = ", ".join(f"{block.label}: {self._operand(x)}" for block, x in phi.operands.items())
        return f"{self._results([phi.result])} = phi [{parts}]"

    def _op(self, op: Op) -> str:
        text = op.name
        if op.attribute is not None:
            text += f" {op.attribute.name}" + ("" if op.format is None else f".{op.format}")
        if op.operands:
            text += " " + ", ".join(map(self._operand, op.operands))
        if op.site is not None:
            text += f" else {op.site}"
        return f"{self._results(op.results)} = {text}" if op.results else text

    def _terminator(self, terminator: Terminator) -> str:
        match terminator:
            case Jump(target):
                return f"jump {target.label}"
            case Branch(condition, true, false):
                return f"branch {self._operand(condition)}, {true.label}, {false.label}"
            case Switch(value, cases, default):
                parts = ", ".join(f"{number}: {block.label}" for number, block in cases.items())
                return f"switch {self._operand(value)}, [{parts}], {default.label}"
            case Return(values):
                return f"return {', '.join(map(self._operand, values))}".rstrip()
            case Bail(site):
                return f"bail {site}"


def _form(types: tuple[str, ...]) -> str:
    return f"({', '.join(types)})"


def read(text: str) -> Program:
    """The program that `text` says; raises `VerificationError` where it says none."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return _Reader(lines).program


_HEAD = re.compile(r"low ([\w.]+)\((.*)\) -> ?(.*)$")
_SITE = re.compile(r"site \d+: ('.*'|\".*\")(?:, line (\d+))?$")
_OP = re.compile(r"(?:(%.*?) = )?(\w+)(?: ([a-zA-Z]\w*)(?:\.(\d+))?)?(?: ([^e].*?))??(?: else (\d+))?$")
_PHI = re.compile(r"%([\w.]+): (\w+) = phi \[(.*)\]$")


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        head = _HEAD.match(lines[0])
        if head is None:
            raise VerificationError(f"this is no head of a low program: {lines[0]}")
        self.registers: dict[str, Register] = {}
        self.program = program = Program(head[1])
        program.parameters = [self._new(*part.split(": ")) for part in _parts(head[2])]
        program.results = _parts(head[3])
        self.about: dict[str, Attribute] = {}
        self.labels = {line[:-1]: Block(line[:-1]) for line in lines if line[:1] != " " and line[-1:] == ":"}
        program.blocks = list(self.labels.values())
        later: list[Callable[[], None]] = []
        block: Block | None = None
        for line in lines[1:]:
            if line[0] != " ":
                block = self.labels.get(line[:-1])
                if block is None:
                    self._declare(line)
            elif block is not None:
                self._line(block, line.strip(), later)
        for finish in later:  # when all registers are known
            finish()

    def _new(self, name: str, type: str) -> Register:
        name = name.lstrip("%")
        register = self.registers[name] = Register(type, "" if name.isdecimal() else name)
        return register

    def _declare(self, line: str) -> None:
        what, _, rest = line.partition(" ")
        name, _, form = rest.partition(": ")
        program = self.program
        if what == "tape":
            tape = Tape(name, [tuple(_parts(part.strip()[1:-1])) for part in form.split("|")])
            program.tapes.append(tape)
            self.about[name] = tape
        elif what == "arena":
            arena = Arena(name, tuple(_parts(form[1:-1])))
            program.arenas.append(arena)
            self.about[name] = arena
        elif what == "slot":
            slot = Slot(name, form)
            program.slots.append(slot)
            self.about[name] = slot
        else:
            site = _SITE.match(line)
            if site is None:
                raise VerificationError(f"this is no part of a low program: {line}")
            program.sites.append(Site(ast.literal_eval(site[1]), int(site[2]) if site[2] else None))

    def _operand(self, text: str) -> Operand:
        if text[0] == "%":
            found = self.registers.get(text[1:])
            if found is None:
                raise VerificationError(f"{text} is never assigned")
            return found
        if text in ("nan", "inf", "-inf"):
            return float(text)
        constant: Operand = ast.literal_eval(text)
        return constant

    def _line(self, block: Block, line: str, later: list[Callable[[], None]]) -> None:
        phi = _PHI.match(line)
        if phi is not None:
            made = Phi(self._new(phi[1], phi[2]))
            block.phis.append(made)
            pairs = [part.split(": ") for part in _parts(phi[3])]
            later.append(lambda: made.operands.update({self.labels[b]: self._operand(x) for b, x in pairs}))
            return
        word = line.partition(" ")[0]
        if word in _TERMINATORS:
            later.append(lambda: setattr(block, "terminator", _TERMINATORS[word](self, line)))
            return
        found = _OP.match(line)
        if found is None or found[2] not in OPS:
            raise VerificationError(f"this is no operation: {line}")
        results = [self._new(*part.split(": ")) for part in _parts(found[1] or "")]
        about, rest = found[3], found[5] or ""
        if about is not None and about not in self.about:  # a constant: True, nan
            about, rest = None, ", ".join(filter(None, [about, rest])).replace(", ,", ",")
        op = Op(found[2], [], results, self.about[about] if about else None)
        op.format = int(found[4]) if found[4] else None
        op.site = int(found[6]) if found[6] else None
        block.ops.append(op)
        later.append(lambda: op.operands.extend(map(self._operand, _parts(rest))))

    def jump(self, line: str) -> Terminator:
        return Jump(self.labels[line.split()[1]])

    def branch(self, line: str) -> Terminator:
        condition, true, false = _parts(line.removeprefix("branch "))
        return Branch(self._operand(condition), self.labels[true], self.labels[false])

    def switch(self, line: str) -> Terminator:
        value, cases, default = re.fullmatch(r"switch (.*), \[(.*)\], ([\w.>]+)", line).groups()  # type: ignore[union-attr]
        pairs = [part.split(": ") for part in _parts(cases)]
        return Switch(self._operand(value), {int(n): self.labels[b] for n, b in pairs}, self.labels[default])

    def returned(self, line: str) -> Terminator:
        return Return(list(map(self._operand, _parts(line.removeprefix("return").strip()))))

    def bail(self, line: str) -> Terminator:
        return Bail(int(line.split()[1]))


_TERMINATORS: dict[str, Callable[[_Reader, str], Terminator]] = {
    "jump": _Reader.jump, "branch": _Reader.branch, "switch": _Reader.switch, "return": _Reader.returned,
    "bail": _Reader.bail,
}  # fmt: skip


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
