"""The bytes of code objects, compared with what the library `bytecode` makes of the same instructions."""

from __future__ import annotations

import argparse
import contextlib
import dis
import inspect
import statistics
import sys
import tempfile
import types
from collections.abc import Iterable, Iterator
from typing import Any

import bytecode as library
import pytest
from bytecode import instr as opcodes

from adbc.emit import assembler
from adbc.emit.encoder import Encoded, encode
from adbc.emit.items import Cell, Instr, Item, Mark, TryBegin, TryEnd
from adbc.errors import LiftError, VerificationError
from adbc.inspect.roundtrip import roundtrip_code

PY312, PY313 = sys.version_info >= (3, 12), sys.version_info >= (3, 13)
CONSTANTS = {"LOAD_CONST", "KW_NAMES", "RETURN_CONST"}
ENUMS: dict[str, Any] = {
    "BINARY_OP": opcodes.BinaryOp,
    "CALL_INTRINSIC_1": getattr(opcodes, "Intrinsic1Op", None),
    "CALL_INTRINSIC_2": getattr(opcodes, "Intrinsic2Op", None),
    "LOAD_SPECIAL": getattr(opcodes, "SpecialMethod", None),
    "CONVERT_VALUE": getattr(opcodes, "FormatValue", None),
}


def by_library(items: Iterable[Item], names: dict[str, Any]) -> types.CodeType:
    """The code object that the library makes of `items`."""
    marks: dict[Mark, library.Label] = {}

    def label(mark: Mark) -> library.Label:
        return marks.setdefault(mark, library.Label())

    def instruction(item: Instr) -> library.Instr:
        arg = item.arg
        if item.name in CONSTANTS:
            arg = f"constant {arg}"
        elif isinstance(arg, Mark):
            arg = label(arg)
        elif isinstance(arg, Cell):
            arg = opcodes.FreeVar(arg.name) if arg.is_free else opcodes.CellVar(arg.name)
        elif item.name == "COMPARE_OP":
            arg = opcodes.Compare(arg >> 5 | arg & 16 if PY313 else arg >> 4 if PY312 else arg)
        elif item.name in ENUMS:
            arg = ENUMS[item.name](arg)
        location = None if item.location is None else opcodes.InstrLocation(*item.location)
        if arg is None:
            return library.Instr(item.name, location=location)
        return library.Instr(item.name, int(arg) if type(arg) is bool else arg, location=location)

    body = library.Bytecode()
    begin: Any = None
    for item in items:
        if isinstance(item, Instr):
            list.append(body, instruction(item))
        elif isinstance(item, Mark):
            list.append(body, label(item))
        elif isinstance(item, TryBegin):
            begin = library.TryBegin(label(item.target), item.push_lasti, item.stack_depth)
            list.append(body, begin)
        else:
            list.append(body, library.TryEnd(begin))
    body.argnames = list(names["local_names"])
    body.cellvars, body.freevars = list(names["cell_names"]), list(names["free_names"])
    body.first_lineno = names["first_line"]
    body.docstring = "constant 0"
    body.flags = library.CompilerFlags(3)
    return body.to_code(stacksize=100, compute_exception_stack_depths=False, check_pre_and_post=False)


def compare(items: Iterable[Item], encoded: Encoded, names: dict[str, Any]) -> None:
    expected = by_library(items, names)
    assert encoded.code == expected.co_code
    assert [f"constant {number}" for number in encoded.constants] == list(expected.co_consts)
    assert tuple(encoded.names) == expected.co_names
    assert encoded.handlers == expected.co_exceptiontable
    ours = expected.replace(co_linetable=encoded.positions)
    assert list(ours.co_positions()) == list(expected.co_positions())
    assert list(ours.co_lines()) == list(expected.co_lines())


def _without_columns(item: Item) -> Item:
    if isinstance(item, Instr) and item.location:
        return Instr(item.name, item.arg, (item.location[0], None, None, None))
    return item


@contextlib.contextmanager
def comparing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Encoded]]:
    """Whatever is emitted is compared."""
    seen: list[Encoded] = []

    def encode_and_compare(items: Iterable[Item], **names: Any) -> Encoded:
        kept = list(items)
        if any(isinstance(i, Instr) and i.location and (i.location[3] or 0) > 127 for i in kept):
            # The library writes a wrong table for columns that do not fit into seven bits.
            kept = [_without_columns(item) for item in kept]
        encoded = encode(kept, **names)
        compare(kept, encoded, names)
        seen.append(encoded)
        return encoded

    with monkeypatch.context() as patch:
        patch.setattr(assembler, "encode", encode_and_compare)
        yield seen


def codes(module: types.ModuleType) -> Iterator[types.CodeType]:
    """The code of every function of a module, those in classes and in functions too."""
    waiting: list[Any] = list(vars(module).values())
    while waiting:
        found = waiting.pop()
        if inspect.isclass(found) and found.__module__ == module.__name__:
            waiting += vars(found).values()
        elif inspect.isfunction(found) and found.__module__ == module.__name__:
            waiting.append(found.__code__)
        elif inspect.iscode(found):
            waiting += found.co_consts
            yield found


@pytest.mark.parametrize("module", [argparse, tempfile, statistics, dis], ids=lambda m: m.__name__)
def test_whole_modules(module: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with comparing(monkeypatch) as seen:
        for code in codes(module):
            with contextlib.suppress(LiftError):  # what cannot be lifted is not emitted
                roundtrip_code(code, vars(module))
    assert len(seen) > 10


def test_long_arguments_and_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefixes: of constants, of jumps in both directions, and of an instruction where a region begins."""
    body = "\n".join(f"            y = y + {k}.5 if y else f{k}(x)" for k in range(300))
    head = "def f(x, y):\n    for i in range(9):\n        try:\n"
    source = f"{head}{body}\n        except KeyError:\n            y = 1"
    space: dict[str, Any] = {}
    exec(source, space)
    with comparing(monkeypatch) as seen:
        roundtrip_code(space["f"].__code__, space)
    assert any(len(encoded.code) > 5000 for encoded in seen)


def test_three_bytes() -> None:
    begin, end = Mark(), Mark()
    items: list[Item] = [Instr("RESUME", 0), begin, Instr("JUMP_FORWARD", end)]
    items += [Instr("NOP")] * 70000
    items += [Instr("JUMP_BACKWARD", begin), end, Instr("LOAD_CONST", 1), Instr("RETURN_VALUE")]
    names: dict[str, Any] = {"local_names": [], "cell_names": [], "free_names": [], "first_line": 1}
    encoded = encode(items, **names)
    assert len(encoded.code) > 2 * 70000 + 12
    compare(items, encoded, names)


def test_wide_columns() -> None:
    """Columns that do not fit into seven bits take the long form, on the line before as on others."""
    items: list[Item] = [Instr("RESUME", 0, (1, 1, 0, 0))]
    items += [Instr("NOP", location=place) for place in [(2, 2, 100, 130), (2, 2, 127, 128), (4, 6, 300, 2)]]
    encoded = encode(items, local_names=[], cell_names=[], free_names=[], first_line=1)
    code = (lambda: None).__code__.replace(
        co_code=encoded.code, co_linetable=encoded.positions, co_firstlineno=1
    )
    assert list(dict.fromkeys(code.co_positions())) == [
        (1, 1, 0, 0), (2, 2, 100, 130), (2, 2, 127, 128), (4, 6, 300, 2),
    ]  # fmt: skip


def encoded(*items: Item, names: tuple[str, ...] = ()) -> Encoded:
    return encode(items, local_names=names, cell_names=(), free_names=(), first_line=1)


def test_what_is_refused() -> None:
    here = Mark()
    with pytest.raises(VerificationError, match="wrong direction"):
        encoded(here, Instr("JUMP_FORWARD", here))
    begin = TryBegin(here, False, 0)
    with pytest.raises(VerificationError, match="begins in another"):
        encoded(begin, Instr("NOP"), begin, Instr("NOP"), TryEnd(), here)
    if PY313:
        with pytest.raises(VerificationError, match="four bits"):
            encoded(Instr("LOAD_FAST_LOAD_FAST", ("v0", "v16")), names=tuple(f"v{k}" for k in range(17)))


def test_an_empty_region_has_no_line() -> None:
    here = Mark()
    assert not encoded(TryBegin(here, False, 0), TryEnd(), Instr("NOP"), here).handlers
