"""From a code object to instructions of one canonical set, the same for all interpreter versions.

Superinstructions are split, caches and prefixes are gone, keyword names sit in the call, a method
load is an attribute load and an empty receiver, truth tests stand before the jumps that need them,
and attributes of a new function sit in its `make_function`.  Jumps hold the index of their target.

The canonical set (stack effects written bottom .. top; ``_`` is the empty receiver):

======================= ====================== ===========================================================
name                    argument               effect
======================= ====================== ===========================================================
const                   value                  [] -> [value]
null                    -                      [] -> [_]
pop, copy n, swap n     int                    as the opcodes
load, load_bound        Slot                   [] -> [v]; `load` may find the slot unbound
load_and_clear          Slot                   [] -> [v or unbound], and the slot is unbound
store, delete           Slot
make_cell               Slot                   what the slot holds goes into a new cell in the slot
load_deref              Slot                   also store_deref, delete_deref: through the cell in the slot
global                  name                   [] -> [v]; also store_global, delete_global
class_global, .._deref  name, Slot             [namespace] -> [v]: what a class has, else the global or cell
namespace               -                      [] -> [the mapping that holds the names of a class]
load_name               name                   [] -> [v]: through that mapping, else a global; also
                                               store_name, delete_name
setup_annotations       -                      the mapping has a dict of annotations
attribute               name                   [o] -> [v]
store_attribute         name                   [v, o] -> []; delete_attribute: [o] -> []
super                   -                      [super, cls, self] -> [super(cls, self)]
import_name             name                   [level, names] -> [module]
import_from             name                   [module] -> [module, v]
call                    (count, keywords)      [f, _ or self, a1 .. an] -> [r]; also [_, f, ..]
call_ex                 flags                  [f, _, args] or [_, f, args]; a mapping if flags & 1
make_function           names of parts         [parts .., code] -> [f]
binary, unary           operation of the IR    [a, b] -> [r]; [a] -> [r]
contains                inverted               [item, container] -> [bool]
store_subscript         -                      [v, o, i] -> []; delete_subscript: [o, i] -> []
build_*, list_*, ...    count or depth         as the opcodes
unpack, unpack_ex       n, (before, after)     as the opcodes
convert                 1 str, 2 repr, 3 ascii [v] -> [s]
format                  (conversion, spec)     [v, (spec)] -> [s]
interpolation           (conversion, spec)     [v, text, (spec)] -> [i]
template                -                      [strings, interpolations] -> [template]
for_iter                index                  [it] -> [it, v], or [] at the target when exhausted;
                                               also [it, _] -> [it, _, v], and both are popped
jump                    index
branch_true, .._false   index                  [bool] -> []
return                  -                      [v] -> nothing
raise                   count                  [exception, cause][:count]
reraise                 count                  [.., exception]: raised again; nothing else is looked at
push_exc_info           -                      [exc] -> [previous, exc]
pop_except              -                      [previous] -> []
check_exc_match         -                      [exc, kind] -> [exc, bool]
check_eg_match          -                      [exc, kind] -> [rest, match or None]
prep_reraise_star       -                      [original, raised] -> [exc or None]
before_with             -                      [manager] -> [exit, value]
load_special            name                   [manager] -> [method, _]
with_except_start       -                      [exit, lasti, previous, exc] -> [.., result];
                                               also [exit, _, lasti, previous, exc]
get_len                 -                      [s] -> [s, length]
match_test              operation of the IR    [s] -> [s, bool]
match_keys              -                      [s, keys] -> [s, keys, values or None]
match_class             count                  [s, class, names] -> [values or None]
intrinsic_1, .._2       number                 [a] -> [r]; [a, b] -> [r]
refuse                  construct              reached only if the function is to be refused
======================= ====================== ===========================================================

This module does not know what the instructions do to values: `lift` does.
"""

from __future__ import annotations

import bisect
import builtins
import dataclasses
import dis
import functools
import itertools
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from adbc.cpython import v311, v312, v313, v314, v315
from adbc.cpython.refusals import refusal
from adbc.errors import LiftError
from adbc.records import record

__all__ = ["TABLES", "Code", "Instruction", "Region", "Slot", "decode", "table"]

TABLES: dict[tuple[int, int], types.ModuleType] = {
    (3, 11): v311,
    (3, 12): v312,
    (3, 13): v313,
    (3, 14): v314,
    (3, 15): v315,
}


@record(frozen=True, slots=True)
class Slot:
    """A local variable of the frame: parameters and plain locals, then cells, then free variables."""

    index: int
    name: str
    free: bool


@record(frozen=True, slots=True)
class Region:
    """The handler of an instruction.

    The handler begins at index `target`.  It finds on the stack the lowest `depth` values, on those, if
    `lasti`, a number that only `reraise` uses, and on top the exception.
    """

    target: int
    depth: int
    lasti: bool


class Instruction(NamedTuple):
    """A canonical instruction.  `region`: where control goes if it raises."""

    name: str
    arg: Any
    offset: int
    positions: dis.Positions | None
    region: Region | None = None


@record(frozen=True)
class Code:
    """A decoded code object.

    jumps: by index, what may follow the instructions behind which control does not just go on: the next one
    first, then the target.
    """

    code: types.CodeType
    slots: tuple[Slot, ...]
    instructions: tuple[Instruction, ...]
    jumps: dict[int, tuple[int, ...]]


def table() -> types.ModuleType:
    """The opcode table of the running interpreter."""
    try:
        return TABLES[sys.version_info[:2]]
    except KeyError:
        known = ", ".join(f"{major}.{minor}" for major, minor in TABLES)
        raise LiftError(
            "adbc does not know the bytecode of Python "
            f"{sys.version_info[0]}.{sys.version_info[1]}: use {known}"
        ) from None


def decode(code: types.CodeType) -> Code:
    """The canonical instructions of `code`."""
    return _Decoder(code).run()


_BRANCHES = frozenset({"branch_true", "branch_false", "for_iter", "send", "send_pair"})
_ENDS = frozenset({"return", "raise", "reraise", "cleanup_throw", "refuse"})


class _Raw(NamedTuple):
    """An instruction of the interpreter's, without what is only there to be read: `dis` takes far longer."""

    opname: str
    arg: int
    target: int | None
    offset: int
    positions: dis.Positions


def _raw(code: types.CodeType) -> list[_Raw]:
    """The instructions of `code`.  Jumps are relative to what stands behind them and their caches."""
    units = code.co_code
    opcodes, arguments = units[::2], units[1::2]
    places: dict[Any, dis.Positions] = {}
    found: list[_Raw] = []
    extended, count = 0, len(opcodes)
    for k, place in enumerate(code.co_positions()):
        opcode = opcodes[k]
        if opcode == _CACHE:
            continue
        arg = arguments[k] | extended
        extended = arg << 8 if opcode == dis.EXTENDED_ARG else 0
        target = None
        if opcode in _JUMPS:
            behind = k + 1
            while behind < count and opcodes[behind] == _CACHE:
                behind += 1
            target = 2 * (behind + _JUMPS[opcode] * arg)
        positions = places.get(place)
        if positions is None:
            positions = places[place] = dis.Positions(*place)
        found.append(_Raw(dis.opname[opcode], arg, target, 2 * k, positions))
    return found


_CACHE = dis.opmap["CACHE"]
_JUMPS = {op: -1 if "JUMP_BACKWARD" in dis.opname[op] else 1 for op in dis.hasjrel}
"""By opcode of a jump, in which direction it goes."""


# -- slots and fields ----------------------------------------------------------------------------


def _slots(code: types.CodeType) -> tuple[Slot, ...]:
    parameters = set(code.co_varnames)
    own = [*code.co_varnames, *(name for name in code.co_cellvars if name not in parameters)]
    names = [(name, False) for name in own] + [(name, True) for name in code.co_freevars]
    return tuple(Slot(i, name, free) for i, (name, free) in enumerate(names))


_OPERATORS = (
    *("add", "and", "floordiv", "lshift", "matmul", "mul", "mod"),
    *("or", "pow", "rshift", "sub", "truediv", "xor"),
)
_BINARY = [*_OPERATORS, *(f"i{name}" for name in _OPERATORS), "getitem"]
_COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
_PARTS = (1, "defaults"), (2, "kwdefaults"), (4, "annotations"), (8, "closure"), (16, "annotate")

FIELDS: dict[str, Callable[[_Decoder, int], Any]] = {
    "oparg": lambda d, n: n,
    "none": lambda d, n: None,
    "const": lambda d, n: d.code.co_consts[n],
    "common": lambda d, n: d.table.COMMON[n],
    "assertion_error": lambda d, n: AssertionError,
    "build_class": lambda d, n: builtins.__build_class__,
    "name": lambda d, n: d.code.co_names[n],
    "name>>1": lambda d, n: d.code.co_names[n >> 1],
    "name>>2": lambda d, n: d.code.co_names[n >> 2],
    "slot": lambda d, n: d.slots[n],
    "slot>>4": lambda d, n: d.slots[n >> 4],
    "slot&15": lambda d, n: d.slots[n & 15],
    "operator": lambda d, n: _BINARY[n],
    "comparison": lambda d, n: _COMPARISONS[n],
    "comparison>>4": lambda d, n: _COMPARISONS[n >> 4],
    "comparison>>5": lambda d, n: _COMPARISONS[n >> 5],
    "is?": lambda d, n: "is_not" if n else "is",
    "before_after": lambda d, n: (n & 255, n >> 8),
    "conversion_spec": lambda d, n: (n & 3, bool(n & 4)),
    "conversion>>2_spec": lambda d, n: (n >> 2, bool(n & 1)),
    "simple": lambda d, n: (0, False),
    "with_spec": lambda d, n: (0, True),
    "parts": lambda d, n: tuple(name for bit, name in _PARTS if n & bit),
}
"""How a step's argument is cut out of the opcode's argument; ``target`` is that of the jump."""


_Do = Callable[["_Decoder", _Raw, int], None]


def _steps(row: str) -> tuple[tuple[int, _Do], ...]:
    """Parse a row of a version table: ``name [field] [if bit], ...``.

    What is to be done, each behind the bit of the argument that says whether it is, or 0.
    """
    steps = []
    for text in row.split(", "):
        text, _, bit = text.partition(" if ")
        name, _, field = text.partition(" ")
        steps.append((int(bit or 0), _FOLDS.get(name) or _emitting(name, field)))
    return tuple(steps)


def _emitting(name: str, field: str) -> _Do:
    """What emits the canonical instruction `name`, whose argument is cut out as `field` says."""
    if field == "target":
        return lambda d, raw, n: d.emit(raw, name, raw.target)
    if field in FIELDS:
        cut = FIELDS[field]
        if name == "const":
            return lambda d, raw, n: d.constant(raw, cut(d, n))
        return lambda d, raw, n: d.emit(raw, name, cut(d, n))
    arg = int(field) if field.isdigit() else field or None
    return lambda d, raw, n: d.emit(raw, name, arg)


_parsed: dict[str, tuple[tuple[int, _Do], ...]] = {}  # rows of the table, parsed when first met


# -- decoding ------------------------------------------------------------------------------------


class _Decoder:
    code: types.CodeType
    slots: tuple[Slot, ...]
    table: types.ModuleType

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.slots = _slots(code)
        self.table = table()
        self.out: list[Instruction] = []
        self.index: dict[int, int] = {}  # offset -> index of the first canonical instruction from there
        self.keywords: tuple[str, ...] = ()
        self.raw = _raw(code)
        self.positions = {raw.offset: k for k, raw in enumerate(self.raw)}
        self.regions = _regions(code, self.raw)

    def run(self) -> Code:
        for raw in self.raw:
            self.index[raw.offset] = len(self.out)
            self.one(raw)
        out = self.out
        jumps: dict[int, tuple[int, ...]] = {}
        for k, instruction in enumerate(out):
            name = instruction.name
            if instruction.region is not None or name == "jump" or name in _BRANCHES:
                out[k] = instruction = self.resolved(instruction)
            if name == "jump":
                jumps[k] = (instruction.arg,)
            elif name in _BRANCHES:
                jumps[k] = (k + 1, instruction.arg)
            elif name in _ENDS:
                jumps[k] = ()
        return Code(self.code, self.slots, tuple(out), jumps)

    def one(self, raw: _Raw) -> None:
        name, n = raw.opname, raw.arg
        if name in self.table.IGNORED:
            return
        if name == "KW_NAMES":
            self.keywords = self.code.co_consts[n]
        elif name == "SET_FUNCTION_ATTRIBUTE":
            self.set_function_attribute(raw, n)
        elif name in self.table.ROWS:
            self.expand(raw, n, self.table.ROWS[name])
        elif n in self.table.BY_NUMBER.get(name, ()):
            self.expand(raw, n, self.table.BY_NUMBER[name][n])
        elif name in self.table.NUMBERS_REFUSED:
            self.emit(raw, "refuse", self.table.NUMBERS_REFUSED[name].get(n, "internal"))
        else:
            self.emit(raw, "refuse", self.table.REFUSED.get(name, "internal"))

    def expand(self, raw: _Raw, n: int, row: str) -> None:
        steps = _parsed.get(row)
        if steps is None:
            steps = _parsed[row] = _steps(row)
        for bit, do in steps:
            if not bit or n & bit:
                do(self, raw, n)

    def emit(self, raw: _Raw, name: str, arg: Any) -> None:
        self.out.append(Instruction(name, arg, raw.offset, raw.positions, self.regions.get(raw.offset)))

    def constant(self, raw: _Raw, value: object) -> None:
        """Emit a constant.  From 3.14 slices of constants are constants, also in tuples; they become
        displays, as before 3.14."""
        parts: tuple[object, ...]
        if type(value) is slice:
            parts = (value.start, value.stop) if value.step is None else (value.start, value.stop, value.step)
        elif type(value) is tuple and _holds_slice(value):
            parts = value
        else:
            self.emit(raw, "const", value)
            return
        for part in parts:
            self.constant(raw, part)
        self.emit(raw, f"build_{type(value).__name__}", len(parts))

    # Instructions that are read together with a neighbour.

    def call(self, raw: _Raw, n: int) -> None:
        """Read ``KW_NAMES names, CALL n``: one call."""
        self.emit(raw, "call", (n, self.keywords))
        self.keywords = ()

    def call_kw(self, raw: _Raw, n: int) -> None:
        """Read ``LOAD_CONST names, CALL_KW n``: one call."""
        if not self.out or self.out[-1].name != "const" or not issubclass(type(self.out[-1].arg), tuple):
            raise refusal(self.code, "keywords", raw.positions.lineno)
        names = self.out.pop().arg
        self.emit(raw, "call", (n, names))

    def call_ex_pair(self, raw: _Raw, n: int) -> None:
        """Read ``CALL_FUNCTION_EX``, which behind ``PUSH_NULL`` is a call without keywords."""
        keywords = not self.out or self.out[-1].name != "null"
        if not keywords:
            self.out.pop()
        self.emit(raw, "call_ex", int(keywords))

    def make_function(self, raw: _Raw, n: int) -> None:
        # From 3.13 the parts follow, one SET_FUNCTION_ATTRIBUTE each.
        parts = () if "SET_FUNCTION_ATTRIBUTE" in self.table.FOLDED else FIELDS["parts"](self, n)
        self.emit(raw, "make_function", parts)

    def set_function_attribute(self, raw: _Raw, n: int) -> None:
        """Read ``MAKE_FUNCTION, SET_FUNCTION_ATTRIBUTE 8, .. 1``: one instruction.  The deepest part is set
        last."""
        made = self.out[-1]
        names = dict(_PARTS)
        if made.name != "make_function" or n not in names:
            self.emit(raw, "refuse", "internal")
            return
        self.out[-1] = made._replace(arg=(names[n], *made.arg))

    def format(self, raw: _Raw, n: int) -> None:
        """Read ``CONVERT_VALUE c, FORMAT_SIMPLE``: one field of an f-string."""
        row = self.table.ROWS[raw.opname].partition(" ")[2]
        conversion, spec = FIELDS[row](self, n)
        if not spec and not conversion and self.out and self.out[-1].name == "convert":
            conversion = self.out.pop().arg
        self.emit(raw, "format", (conversion, spec))

    def yield_value(self, raw: _Raw, n: int) -> None:
        """Read a suspension; whether it is that of ``yield`` or of ``yield from`` stands in the RESUME behind
        it."""
        start = self.positions[raw.offset] + 1
        following = next(r for r in itertools.islice(self.raw, start, None) if r.opname == "RESUME")
        self.emit(raw, "yield_from" if following.arg & 3 == 2 else "yield", None)

    # Jumps.

    def resolved(self, instruction: Instruction) -> Instruction:
        """The instruction with the offsets of its targets replaced by indices."""
        if instruction.region is not None:
            region = dataclasses.replace(instruction.region, target=self.index[instruction.region.target])
            instruction = instruction._replace(region=region)
        if instruction.name != "jump" and instruction.name not in _BRANCHES:
            return instruction
        target = self.index[instruction.arg]
        if instruction.name == "for_iter":
            target = self.after_loop(instruction.arg)
        return instruction._replace(arg=target)

    def after_loop(self, offset: int) -> int:
        """The index behind the instructions that stand for popping an exhausted iterator."""
        position = self.positions[offset]
        expected = list(self.table.LOOP_EXIT)
        while expected:
            name = self.raw[position].opname
            if name == expected[0]:
                expected.pop(0)
            elif name not in self.table.IGNORED:
                raise refusal(self.code, "internal")
            position += 1
        return self.index[self.raw[position].offset]


def _holds_slice(value: object) -> bool:
    return type(value) is slice or (type(value) is tuple and any(map(_holds_slice, value)))


_FOLDS: dict[str, Callable[[_Decoder, _Raw, int], None]] = {
    "call": _Decoder.call,
    "call_kw": _Decoder.call_kw,
    "call_ex_pair": _Decoder.call_ex_pair,
    "make_function": _Decoder.make_function,
    "format": _Decoder.format,
    "yield_value": _Decoder.yield_value,
}


# -- exception regions ---------------------------------------------------------------------------


def _regions(code: types.CodeType, raw: list[_Raw]) -> dict[int, Region]:
    """For each offset in an exception region: the handler, its target still an offset.

    From 3.12 the body of a generator has a handler of its own, which makes a `RuntimeError` of a
    `StopIteration`; that belongs to being a generator, not to the body, and does not count.
    The handler of an inlined comprehension only puts the outer values of its targets back before it
    re-raises.  Without a handler around it nobody can see that, so there it does not count.
    """
    if not code.co_exceptiontable:
        return {}
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    at = {instruction.offset: k for k, instruction in enumerate(raw)}

    starts = [entry.start for entry in entries]  # they are in order, and do not overlap

    def region(offset: int) -> Region | None:
        k = bisect.bisect_right(starts, offset) - 1
        if k < 0 or offset >= entries[k].end:
            return None
        return Region(entries[k].target, entries[k].depth, entries[k].lasti)

    @functools.cache
    def counts(found: Region) -> bool:
        first = raw[at[found.target]]
        if first.opname == "CALL_INTRINSIC_1" and first.arg == 3:
            return False
        seen = set()
        while found.target not in seen:
            seen.add(found.target)
            end = _comprehension_cleanup(raw, at[found.target])
            if end is None:
                return True
            outer = region(raw[end].offset)
            if outer is None:
                return False
            found = outer
        return True

    pairs = ((i.offset, region(i.offset)) for i in raw)
    return {offset: found for offset, found in pairs if found is not None and counts(found)}


def _comprehension_cleanup(raw: list[_Raw], start: int) -> int | None:
    """The index of the RERAISE if the handler at `start` is the clean-up of a comprehension."""
    names = [i.opname for i in raw[start : start + 2]]
    if names != ["SWAP", "POP_TOP"]:
        return None
    for k in range(start + 2, len(raw)):
        if raw[k].opname == "RERAISE":
            return k
        if raw[k].opname not in {"EXTENDED_ARG", "NOP", "STORE_FAST", "STORE_FAST_STORE_FAST", "SWAP"}:
            return None
    return None
