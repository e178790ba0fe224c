"""What a code object does to variables: read off the decoded instructions, so the same for all interpreters.

Other parts of the system ask here instead of looking at opcodes.  Code nested in a code object (functions,
classes, comprehensions that are functions) is only looked at where that is said.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Sequence

from adbc.cpython.decode import Instruction, Slot, decode
from adbc.functions import is_function
from adbc.records import record

__all__ = [
    "Questions", "attributes_reset", "calls_by_name", "globals_written", "imports", "names_in",
    "names_on_lines",
    "parameters_read", "questions", "rebinds_beyond_its_frame", "shared_written", "with_nested",
]  # fmt: skip

_READS = frozenset({"load", "load_bound", "load_and_clear", "load_deref", "class_deref"})
_WRITES_GLOBAL = frozenset({"store_global", "delete_global"})
_STORING = [number for name, number in dis.opmap.items() if name in {"STORE_GLOBAL", "DELETE_GLOBAL"}]
_WRITES_SHARED = frozenset({"store_deref", "delete_deref"})


def parameters_read(function: Callable[..., object]) -> frozenset[int] | None:
    """The positions of the parameters that occur in the code of `function`; None if that cannot be said."""
    return _parameters_read(function) if is_function(function) else None


@functools.lru_cache(maxsize=4096)  # formulas of rules are asked about wherever they are used
def _parameters_read(function: types.FunctionType) -> frozenset[int] | None:
    code = function.__code__
    if code.co_flags & inspect.CO_VARARGS:
        return None
    read = set(code.co_cellvars)  # a function inside may read these
    for instruction in decode(code).instructions:
        if instruction.name in _READS and isinstance(instruction.arg, Slot):
            read.add(instruction.arg.name)
    return frozenset(i for i, name in enumerate(code.co_varnames[: code.co_argcount]) if name in read)


def globals_written(code: types.CodeType) -> frozenset[str]:
    """The global names that `code`, or code nested in it, binds or unbinds."""
    return frozenset(
        i.arg
        for part in with_nested(code)
        if any(number in part.co_code[::2] for number in _STORING)
        for i in decode(part).instructions
        if i.name in _WRITES_GLOBAL
    )


def imports(code: types.CodeType) -> bool:
    """Whether `code`, or code nested in it, has an import statement."""
    return any(i.name == "import_name" for part in with_nested(code) for i in decode(part).instructions)


@functools.lru_cache(maxsize=4096)  # asked of the same functions for each call that they are passed to
def names_in(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals and attributes in `code` and in code nested in it, each once."""
    return tuple(dict.fromkeys(name for part in with_nested(code) for name in part.co_names))


@functools.lru_cache(maxsize=256)
def names_on_lines(code: types.CodeType) -> dict[int | None, frozenset[str]]:
    """By line, the names of variables and attributes that instructions of `code` there have to do with."""
    found: dict[int | None, set[str]] = {}
    for instruction in dis.get_instructions(code):
        if instruction.positions is not None and issubclass(type(instruction.argval), str):
            found.setdefault(instruction.positions.lineno, set()).add(instruction.argval)
    return {line: frozenset(names) for line, names in found.items()}


def attributes_reset(code: types.CodeType) -> frozenset[str] | None:
    """The attributes of its argument that `code` sets to constants, if it does nothing else; or None."""
    names = set()
    for instruction in decode(code).instructions:
        if instruction.name == "store_attribute":
            names.add(instruction.arg)
        elif instruction.name not in _OF_RESETTING:
            return None
    return frozenset(names) if code.co_argcount == 1 and code.co_nlocals == 1 else None


_OF_RESETTING = frozenset({"const", "load", "load_bound", "return"})
"""The instructions that set an attribute of the one variable there is to a constant, or to that itself."""


@record(frozen=True)
class Questions:
    """What code that binds nothing but its own variables may ask: the attributes that it reads, the globals
    and the methods that it calls, and the operators that it has, by name."""

    attributes: frozenset[str]
    functions: frozenset[str]
    methods: frozenset[str]
    operators: frozenset[str]


@functools.lru_cache(maxsize=1024)
def questions(code: types.CodeType) -> Questions | None:
    """What `code` asks, if it changes nothing itself; None if that is not seen."""
    return _questions(decode(code).instructions)


@functools.lru_cache(maxsize=1024)
def calls_by_name(code: types.CodeType) -> frozenset[str] | None:
    """The globals that `code` calls, if these are all of its calls, and all else that it does is to ask, and
    to set attributes; None if that is not seen."""
    asked = _questions([i for i in decode(code).instructions if i.name != "store_attribute"])
    return None if asked is None or asked.methods else asked.functions


def _questions(instructions: Sequence[Instruction]) -> Questions | None:
    attributes: set[str] = set()
    functions: set[str] = set()
    methods: set[str] = set()
    for at, i in enumerate(instructions):
        if i.name not in _ASKING or (i.name == "binary" and i.arg not in _COMPARING):
            return None
        if i.name == "attribute":
            attributes.add(i.arg)
        elif i.name == "null":  # it stands beside what is called: from 3.13 on behind a function, else before
            before, behind = instructions[at - 1] if at else None, instructions[at + 1]
            called = [
                j
                for j in (before, behind)
                if j is not None
                and (j.name == "attribute" or (j.name == "global" and (j is behind) is _NULL_FIRST))
            ]
            if not called:
                return None
            functions.update(j.arg for j in called if j.name == "global")
            methods.update(j.arg for j in called if j.name == "attribute")
    operators = {i.arg.rstrip("_") for i in instructions if i.name in ("binary", "unary")}
    operators |= {"contains"} if any(i.name == "contains" for i in instructions) else set()
    return Questions(frozenset(attributes), frozenset(functions), frozenset(methods), frozenset(operators))


_NULL_FIRST = sys.version_info < (3, 13)
_ASKING = frozenset(
    {
        "attribute", "binary", "branch_false", "branch_none", "branch_not_none", "branch_true", "build_tuple",
        "call", "const", "contains", "copy", "global", "jump", "load", "load_bound", "null", "pop",
        "return", "store", "swap", "unary",
    }
)  # fmt: skip
_COMPARING = frozenset(
    {
        "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "is", "is_not", "le", "lshift", "lt", "mod",
        "mul", "ne", "or_", "pow", "rshift", "sub", "truediv", "xor",
    }
)  # fmt: skip


def with_nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """`code` and all code nested in it."""
    yield code
    for constant in code.co_consts:
        if issubclass(type(constant), types.CodeType):
            yield from with_nested(constant)


def shared_written(code: types.CodeType) -> frozenset[str]:
    """The variables in cells, its own and others', that `code` itself binds or unbinds."""
    return frozenset(i.arg.name for i in decode(code).instructions if i.name in _WRITES_SHARED)


@functools.lru_cache(maxsize=4096)  # asked of the same functions for each call that they are passed to
def rebinds_beyond_its_frame(code: types.CodeType) -> bool:
    """Whether `code` may bind or unbind a global, or a variable of a function around it."""
    return any(
        i.name in _WRITES_GLOBAL or (i.name in _WRITES_SHARED and i.arg.free)
        for i in decode(code).instructions
    )
