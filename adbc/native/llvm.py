"""A low program as the text of LLVM's intermediate representation.

The function that is written (`RUN`) is given the parameters, and where the results go; it returns 0, or the
number of the site at which it gave up plus one, or a negative `Status`.  What it has allocated is freed by
then.  Another one (`ENTRY`) is what Python calls: a function of C that takes an array of objects, floats and
ints, of which a list has two, address and length.  It returns a tuple of floats, or what `RUN` returned.

Floats are computed as they are written: no flag allows LLVM to change an order or to contract a product and
a sum.  Functions of the C library are called under names that LLVM does not know, so that it does not
compute them itself (`PREFIX`).
"""

from __future__ import annotations

import enum
import itertools
import struct
from collections.abc import Sequence

from adbc.low.ops import LIBM, OPS
from adbc.low.program import (
    BOOL,
    F64,
    I64,
    LIST,
    Arena,
    Bail,
    Block,
    Branch,
    Jump,
    Op,
    Operand,
    Program,
    Register,
    Return,
    Switch,
    Tape,
    type_of,
)

__all__ = ["CALLED", "ENTRY", "IMPORTED", "PREFIX", "Status", "write"]

ENTRY, RUN = "adbc_entry", "adbc_run"
CALLED = (
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals", "PyFloat_AsDouble",
    "PyFloat_FromDouble", "PyLong_AsLongLong", "PyLong_FromLongLong", "PyTuple_New", "PyTuple_SetItem",
)  # fmt: skip
"""The functions of Python's interface that code calls."""
PREFIX = "adbc_"

IMPORTED = {**LIBM, "fmod": 2}
"""The functions of the C library that code calls, by the number of their arguments."""


class Status(enum.IntEnum):
    """What code returns that did not come to an end."""

    INTERRUPTED = -1
    """A handler of a signal has raised an exception."""
    NO_MEMORY = -2


POLL_EVERY = 1 << 20
"""After so many turns of loops it is asked whether there was a signal, and other threads may run."""

_FIRST_CAPACITY = 256
"""How many words a tape has room for at first."""

_TYPES = {F64: "double", I64: "i64", BOOL: "i1"}
_DOUBLES = {"fadd": "fadd", "fsub": "fsub", "fmul": "fmul", "fdiv": "fdiv"}
_INTRINSICS = {
    "fabs": "llvm.fabs.f64", "sqrt": "llvm.sqrt.f64", "copysign": "llvm.copysign.f64",
    "floor": "llvm.floor.f64", "ceil": "llvm.ceil.f64", "trunc": "llvm.trunc.f64",
}  # fmt: skip
_FLOAT_TESTS = {"feq": "oeq", "fne": "une", "flt": "olt", "fle": "ole", "fgt": "ogt", "fge": "oge"}
_INT_TESTS = {"ieq": "eq", "ine": "ne", "ilt": "slt", "ile": "sle", "igt": "sgt", "ige": "sge"}
_BITS = {"and": "and", "or": "or", "xor": "xor"}
_CHECKED = {"iadd": "sadd", "isub": "ssub", "imul": "smul"}
_SELECTS = ("fselect", "iselect", "bselect")


def write(program: Program) -> str:
    """The text of a module with the function `ENTRY`."""
    return _Writer(program).module()


def _float(x: float) -> str:
    return "0x" + struct.pack(">d", x).hex().upper()


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.names: dict[Register, str] = {}
        self.counter = itertools.count()
        self.labels = {block: f"b{i}" for i, block in enumerate(program.blocks)}
        self.last: dict[Block, str] = {}
        """The label of the last piece of each block: operations may cut it."""
        self.label = ""
        self.sites: set[int] = set()
        self.has_no_memory = self.has_poll = False

    # -- the module ----------------------------------------------------------------------------------------

    def module(self) -> str:
        program = self.program
        for i, register in enumerate(program.parameters):
            self.names[register] = f"%p{i}"
        bodies = [self.block(block) for block in program.blocks]
        parameters = [text for register in program.parameters for text in self._parameter(register)]
        head = [
            *[f"declare double @{PREFIX}{name}({', '.join(['double'] * n)})" for name, n in IMPORTED.items()],
            *[f"declare double @{name}({'double, double' if 'copysign' in name else 'double'})"
              for name in _INTRINSICS.values()],
            *[f"declare {{i64, i1}} @llvm.{name}.with.overflow.i64(i64, i64)" for name in _CHECKED.values()],
            "declare ptr @realloc(ptr, i64)",
            "declare void @free(ptr)",
            *_POLL,
            f"define internal i32 @{RUN}({', '.join([*parameters, 'ptr %out'])}) {{",
            "start:",
        ]  # fmt: skip
        lines = [*head, *self._allocated(), f"br label %{self.labels[program.blocks[0]]}"]
        for block, body in zip(program.blocks, bodies, strict=True):
            lines.append(f"{self.labels[block]}:")
            lines += [self._phi(phi.result, phi.operands) for phi in block.phis]
            lines += body
        return "\n".join([*lines, *self._ends(), "}", *self._entry()]) + "\n"

    def _entry(self) -> list[str]:
        """The function that Python calls."""
        lines = [f"define ptr @{ENTRY}(ptr %self, ptr %given, i64 %count) {{", "start:"]
        passed: list[str] = []
        for register in self.program.parameters:
            for as_float in [register.type == F64] if register.type != LIST else [False, False]:
                i = len(passed)
                take, type = ("AsDouble", "double") if as_float else ("AsLongLong", "i64")
                taken = f"Py{'Float' if as_float else 'Long'}_{take}"
                lines += [
                    f"%at{i} = getelementptr ptr, ptr %given, i64 {i}",
                    f"%object{i} = load ptr, ptr %at{i}",
                    f"%x{i} = call {type} @{taken}(ptr %object{i})",
                ]
                passed.append(f"{type} %x{i}")
            if register.type == LIST:
                lines.append(f"%buffer{i} = inttoptr i64 %x{i - 1} to ptr")
                passed[-2] = f"ptr %buffer{i}"
        count = len(self.program.results)
        lines += [
            f"%out = alloca [{max(1, count)} x double]",
            f"%status = call i32 @{RUN}({', '.join([*passed, 'ptr %out'])})",
            "switch i32 %status, label %stopped "
            f"[i32 0, label %done i32 {int(Status.INTERRUPTED)}, label %raised]",
            "stopped:", "%why = sext i32 %status to i64", "%told = call ptr @PyLong_FromLongLong(i64 %why)",
            "ret ptr %told", "raised:", "ret ptr null", "done:",
            f"%tuple = call ptr @PyTuple_New(i64 {count})",
            "%is_null = icmp eq ptr %tuple, null", "br i1 %is_null, label %raised, label %fill", "fill:",
        ]  # fmt: skip
        for i in range(count):
            lines += [
                f"%place{i} = getelementptr double, ptr %out, i64 {i}",
                f"%float{i} = load double, ptr %place{i}",
                f"%made{i} = call ptr @PyFloat_FromDouble(double %float{i})",
                f"%set{i} = call i32 @PyTuple_SetItem(ptr %tuple, i64 {i}, ptr %made{i})",
            ]
        return [*lines, "ret ptr %tuple", "}"]

    def _parameter(self, register: Register) -> list[str]:
        name = self.names[register]
        if register.type == LIST:
            return [f"ptr {name}", f"i64 {name}.length"]
        return [f"{'i64' if register.type == BOOL else _TYPES[register.type]} {name}"]

    def _stacks(self) -> list[str]:
        return [*[tape.name for tape in self.program.tapes], *[arena.name for arena in self.program.arenas]]

    def _allocated(self) -> list[str]:
        lines = ["%status = alloca i32", "%turns = alloca i64", f"store i64 {POLL_EVERY}, ptr %turns"]
        for name in self._stacks():
            lines += [f"%{name}.base = alloca ptr", f"store ptr null, ptr %{name}.base"]
            for part in ("top", "room"):
                lines += [f"%{name}.{part} = alloca i64", f"store i64 0, ptr %{name}.{part}"]
        for slot in self.program.slots:
            type = _TYPES[slot.type]
            zero = _float(0.0) if slot.type == F64 else "0"
            lines += [f"%{slot.name} = alloca {type}", f"store {type} {zero}, ptr %{slot.name}"]
        for register in self.program.parameters:
            if register.type == BOOL:
                name = self.names[register]
                lines.append(f"{name}.bit = trunc i64 {name} to i1")
        return lines

    def _ends(self) -> list[str]:
        """The blocks in which the function ends."""
        lines = []
        for site in sorted(self.sites):
            lines += [f"bail{site}:", f"store i32 {site + 1}, ptr %status", "br label %exit"]
        if self.has_no_memory:
            lines += ["no_memory:", f"store i32 {int(Status.NO_MEMORY)}, ptr %status", "br label %exit"]
        if self.has_poll:
            lines += ["interrupted:", f"store i32 {int(Status.INTERRUPTED)}, ptr %status", "br label %exit"]
        lines.append("exit:")
        for name in self._stacks():
            lines += [f"%{name}.end = load ptr, ptr %{name}.base", f"call void @free(ptr %{name}.end)"]
        return [*lines, "%answer = load i32, ptr %status", "ret i32 %answer"]

    # -- pieces ------------------------------------------------------------------------------------------

    def add(self, line: str) -> None:
        self.lines.append(line)

    def new(self, text: str) -> str:
        """The name of a new value, which `text` says."""
        name = f"%v{next(self.counter)}"
        self.add(f"{name} = {text}")
        return name

    def name(self, register: Register) -> str:
        if register not in self.names:
            self.names[register] = f"%r{len(self.names)}"
        name = self.names[register]
        return f"{name}.bit" if register.type == BOOL and name.startswith("%p") else name

    def operand(self, x: Operand) -> str:
        if isinstance(x, Register):
            return self.name(x)
        if isinstance(x, bool):
            return "true" if x else "false"
        return str(x) if isinstance(x, int) else _float(x)

    def typed(self, x: Operand) -> str:
        return f"{_TYPES[type_of(x)]} {self.operand(x)}"

    def begin(self, label: str) -> None:
        """Begin a new piece of the block that is written."""
        self.add(f"{label}:")
        self.label = label

    def fresh(self, stem: str) -> str:
        return f"{stem}{next(self.counter)}"

    def unless(self, condition: str, target: str) -> None:
        """Go on unless `condition` holds; then go to `target`."""
        on = self.fresh("on")
        self.add(f"br i1 {condition}, label %{target}, label %{on}")
        self.begin(on)

    def bail(self, site: int | None) -> str:
        assert site is not None
        self.sites.add(site)
        return f"bail{site}"

    def _phi(self, result: Register, operands: dict[Block, Operand]) -> str:
        parts = ", ".join(f"[{self.operand(x)}, %{self.last[block]}]" for block, x in operands.items())
        return f"{self.name(result)} = phi {_TYPES[result.type]} {parts}"

    # -- blocks ------------------------------------------------------------------------------------------

    def block(self, block: Block) -> list[str]:
        self.lines, self.label = [], self.labels[block]
        for op in block.ops:
            self.op(op)
        self.terminator(block)
        self.last[block] = self.label
        return self.lines

    def terminator(self, block: Block) -> None:
        match block.terminator:
            case Jump(target):
                self.add(f"br label %{self.labels[target]}")
            case Branch(condition, true, false):
                ways = f"label %{self.labels[true]}, label %{self.labels[false]}"
                self.add(f"br i1 {self.operand(condition)}, {ways}")
            case Switch(value, cases, default):
                listed = " ".join(f"i64 {n}, label %{self.labels[b]}" for n, b in cases.items())
                self.add(f"switch {self.typed(value)}, label %{self.labels[default]} [{listed}]")
            case Return(values):
                for i, value in enumerate(values):
                    at = self.new(f"getelementptr double, ptr %out, i64 {i}")
                    self.add(f"store {self.typed(value)}, ptr {at}")
                self.add("store i32 0, ptr %status")
                self.add("br label %exit")
            case Bail(site):
                self.add(f"br label %{self.bail(site)}")

    def op(self, op: Op) -> None:
        name, given = op.name, list(map(self.operand, op.operands))
        if op.attribute is not None:
            self.stored(op, given)
        elif name == "bail_if":
            self.unless(given[0], self.bail(op.site))
        elif name == "poll":
            self.poll()
        elif name == "store":
            at = self.new(f"getelementptr double, ptr {given[0]}, i64 {given[1]}")
            self.add(f"store double {given[2]}, ptr {at}")
        elif name in _CHECKED:
            pair = self.new(
                f"call {{i64, i1}} @llvm.{_CHECKED[name]}.with.overflow.i64(i64 {given[0]}, i64 {given[1]})"
            )
            self.add(f"{self.name(op.results[0])} = extractvalue {{i64, i1}} {pair}, 0")
            self.unless(self.new(f"extractvalue {{i64, i1}} {pair}, 1"), self.bail(op.site))
        else:
            self.add(f"{self.name(op.results[0])} = {self.plain(op, given)}")

    def plain(self, op: Op, given: Sequence[str]) -> str:
        """What gives the result of an operation that only computes."""
        name, typed = op.name, ", ".join(map(self._typed, op.operands))
        if name in _DOUBLES:
            return f"{_DOUBLES[name]} double {given[0]}, {given[1]}"
        if name in _INTRINSICS:
            return f"call double @{_INTRINSICS[name]}({typed})"
        if name in LIBM:
            return f"call double @{PREFIX}{name}({typed})"
        if name == "frem":
            return f"call double @{PREFIX}fmod({typed})"
        if name in _FLOAT_TESTS:
            return f"fcmp {_FLOAT_TESTS[name]} double {given[0]}, {given[1]}"
        if name in _INT_TESTS:
            return f"icmp {_INT_TESTS[name]} i64 {given[0]}, {given[1]}"
        if name in _BITS:
            return f"{_BITS[name]} i1 {given[0]}, {given[1]}"
        if name in _SELECTS:
            return f"select {typed}"
        match name:
            case "fneg":
                return f"fneg double {given[0]}"
            case "finite":
                size = self.new(f"call double @llvm.fabs.f64({typed})")
                return f"fcmp olt double {size}, {_float(float('inf'))}"
            case "not":
                return f"xor i1 {given[0]}, true"
            case "itof":
                return f"sitofp i64 {given[0]} to double"
            case "ftoi":
                return f"fptosi double {given[0]} to i64"
            case "btoi":
                return f"zext i1 {given[0]} to i64"
            case "length":
                return f"add i64 {given[0]}.length, 0"
            case "load":
                at = self.new(f"getelementptr double, ptr {given[0]}, i64 {given[1]}")
                return f"load double, ptr {at}"
        return self.divided(name, given)

    def _typed(self, x: Operand) -> str:
        return "" if type_of(x) == LIST else self.typed(x)

    def divided(self, name: str, given: Sequence[str]) -> str:
        """Quotient or remainder of ints, rounded as Python does: towards minus infinity."""
        x, y = given
        quotient = self.new(f"sdiv i64 {x}, {y}")
        rest = self.new(f"sub i64 {x}, {self.new(f'mul i64 {quotient}, {y}')}")
        differs = self.new(f"icmp slt i64 {self.new(f'xor i64 {rest}, {y}')}, 0")
        is_down = self.new(f"and i1 {differs}, {self.new(f'icmp ne i64 {rest}, 0')}")
        if name == "ifloordiv":
            return f"select i1 {is_down}, i64 {self.new(f'sub i64 {quotient}, 1')}, i64 {quotient}"
        assert name == "imod", name
        return f"select i1 {is_down}, i64 {self.new(f'add i64 {rest}, {y}')}, i64 {rest}"

    def poll(self) -> None:
        self.has_poll = True
        left = self.new(f"sub i64 {self.new('load i64, ptr %turns')}, 1")
        self.add(f"store i64 {left}, ptr %turns")
        ask, on = self.fresh("ask"), self.fresh("on")
        is_over = self.new(f"icmp eq i64 {left}, 0")
        self.add(f"br i1 {is_over}, label %{ask}, label %{on}, !prof !0")
        self.begin(ask)
        self.add(f"store i64 {POLL_EVERY}, ptr %turns")
        is_raised = self.new(f"icmp ne i32 {self.new('call i32 @adbc_poll()')}, 0")
        self.add(f"br i1 {is_raised}, label %interrupted, label %{on}")
        self.begin(on)

    # -- slots, tapes and arenas ---------------------------------------------------------------------------

    def stored(self, op: Op, given: list[str]) -> None:
        about = op.attribute
        if isinstance(about, Tape):
            self.tape(op, about)
        elif isinstance(about, Arena):
            self.arena(op, about, given)
        elif op.name == "get":
            (result,) = op.results
            self.add(f"{self.name(result)} = load {_TYPES[result.type]}, ptr %{about.name}")  # type: ignore[union-attr]
        else:
            self.add(f"store {self.typed(op.operands[0])}, ptr %{about.name}")  # type: ignore[union-attr]

    def pushed(self, name: str, words: Sequence[tuple[str, str]]) -> str:
        """Put words, each with its type, on a stack; the number of words that were there before."""
        count = len(words)
        top = self.new(f"load i64, ptr %{name}.top")
        end = self.new(f"add i64 {top}, {count}")
        is_full = self.new(f"icmp ugt i64 {end}, {self.new(f'load i64, ptr %{name}.room')}")
        grow, on = self.fresh("grow"), self.fresh("on")
        self.add(f"br i1 {is_full}, label %{grow}, label %{on}, !prof !0")
        self.begin(grow)
        room = self.new(f"add i64 {self.new(f'shl i64 {end}, 1')}, {_FIRST_CAPACITY}")
        base = self.new(f"load ptr, ptr %{name}.base")
        grown = self.new(f"call ptr @realloc(ptr {base}, i64 {self.new(f'shl i64 {room}, 3')})")
        self.has_no_memory = True
        self.unless(self.new(f"icmp eq ptr {grown}, null"), "no_memory")
        self.add(f"store ptr {grown}, ptr %{name}.base")
        self.add(f"store i64 {room}, ptr %{name}.room")
        self.add(f"br label %{on}")
        self.begin(on)
        base = self.new(f"load ptr, ptr %{name}.base")
        for i, (type, word) in enumerate(words):
            place = self.new(f"add i64 {top}, {i}")
            self.add(f"store {type} {word}, ptr {self.new(f'getelementptr i64, ptr {base}, i64 {place}')}")
        self.add(f"store i64 {end}, ptr %{name}.top")
        return top

    def words(self, operands: Sequence[Operand]) -> list[tuple[str, str]]:
        found = []
        for x in operands:
            type, text = _TYPES[type_of(x)], self.operand(x)
            if type == "i1":
                type, text = "i64", self.new(f"zext i1 {text} to i64")
            found.append((type, text))
        return found

    def read(self, name: str, start: str, types: Sequence[str]) -> list[str]:
        """Words of a stack, from number `start` on."""
        base = self.new(f"load ptr, ptr %{name}.base")
        found = []
        for i, type in enumerate(types):
            at = self.new(f"getelementptr i64, ptr {base}, i64 {self.new(f'add i64 {start}, {i}')}")
            if type == BOOL:
                found.append(self.new(f"trunc i64 {self.new(f'load i64, ptr {at}')} to i1"))
            else:
                found.append(self.new(f"load {_TYPES[type]}, ptr {at}"))
        return found

    def tape(self, op: Op, tape: Tape) -> None:
        name = tape.name
        if op.name == "height":
            self.add(f"{self.name(op.results[0])} = load i64, ptr %{name}.top")
            return
        assert op.format is not None
        if op.name == "push":
            told = [("i64", str(op.format))] if tape.is_tagged else []
            self.pushed(name, [*self.words(op.operands), *told])
            return
        if op.name == "pop":
            for register, word in zip(op.results, self.popped(op, tape), strict=True):
                self.copy(register, word)
            return
        top = self.new(f"load i64, ptr %{name}.top")
        base = self.operand(op.operands[0])
        is_empty = self.new(f"icmp {'eq' if op.name == 'next' else 'sle'} i64 {top}, {base}")
        there, on = self.fresh("there"), self.fresh("on")
        absent_from: list[str] = []
        if op.name == "next":
            absent_from.append(self.label)
            self.add(f"br i1 {is_empty}, label %{on}, label %{there}")
            self.begin(there)
        else:
            self.unless(is_empty, self.bail(op.site))
            marks = [i for i, format in enumerate(tape.formats) if not format]
            if marks:
                (tag,) = self.read(name, self.new(f"sub i64 {top}, 1"), (I64,))
                is_mark = self.new(f"icmp eq i64 {tag}, {marks[0]}")
                marked = self.fresh("marked")
                self.add(f"br i1 {is_mark}, label %{marked}, label %{there}")
                self.begin(marked)
                self.add(f"store i64 {self.new(f'sub i64 {top}, 1')}, ptr %{name}.top")
                self.add(f"br label %{on}")
                absent_from.append(marked)
                self.begin(there)
        words = self.popped(op, tape)
        present_from = self.label
        self.add(f"br label %{on}")
        self.begin(on)
        flag, *values = op.results
        ends = [*[(label, True) for label in absent_from], (present_from, False)]
        flags = ", ".join(f"[{str(absent).lower()}, %{label}]" for label, absent in ends)
        self.add(f"{self.name(flag)} = phi i1 {flags}")
        for register, word in zip(values, words, strict=True):
            zero = {F64: _float(0.0), I64: "0", BOOL: "false"}[register.type]
            parts = ", ".join(f"[{zero if absent else word}, %{label}]" for label, absent in ends)
            self.add(f"{self.name(register)} = phi {_TYPES[register.type]} {parts}")

    def copy(self, register: Register, word: str) -> None:
        type = _TYPES[register.type]
        self.add(f"{self.name(register)} = select i1 true, {type} {word}, {type} {word}")

    def popped(self, op: Op, tape: Tape) -> list[str]:
        """The words of a record of this format, which is taken off; bails out if it is not there."""
        assert op.format is not None
        types = [*tape.formats[op.format], *[I64] * tape.is_tagged]
        top = self.new(f"load i64, ptr %{tape.name}.top")
        start = self.new(f"sub i64 {top}, {len(types)}")
        self.unless(self.new(f"icmp slt i64 {start}, {self.operand(op.operands[0])}"), self.bail(op.site))
        if tape.is_tagged:
            (tag,) = self.read(tape.name, self.new(f"sub i64 {top}, 1"), (I64,))
            self.unless(self.new(f"icmp ne i64 {tag}, {op.format}"), self.bail(op.site))
        self.add(f"store i64 {start}, ptr %{tape.name}.top")
        return self.read(tape.name, start, tape.formats[op.format])

    def arena(self, op: Op, arena: Arena, given: list[str]) -> None:
        size = len(arena.fields)
        if op.name == "node":
            before = self.pushed(arena.name, self.words(op.operands))
            number = self.new(f"udiv i64 {before}, {size}")
            self.add(f"{self.name(op.results[0])} = add i64 {number}, 1")
            return
        self.unless(self.new(f"icmp eq i64 {given[0]}, 0"), self.bail(op.site))
        start = self.new(f"mul i64 {self.new(f'sub i64 {given[0]}, 1')}, {size}")
        for register, word in zip(op.results, self.read(arena.name, start, arena.fields), strict=True):
            self.copy(register, word)


_POLL = """
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyFloat_FromDouble(double)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
define internal i32 @adbc_poll() noinline {
%state = call ptr @PyEval_SaveThread()
call void @PyEval_RestoreThread(ptr %state)
%answer = call i32 @PyErr_CheckSignals()
ret i32 %answer
}
!0 = !{!"branch_weights", i32 1, i32 1000000}
""".strip().splitlines()

assert set(OPS) >= set(_INTRINSICS)
