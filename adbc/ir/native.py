"""Intrinsics that are one instruction of the interpreter and nothing else.

Some syntax has a meaning that no Python function can spell: an ``except`` clause changes what the
thread is handling, a re-raise leaves traceback and context alone, a pattern looks at flags of a
class.  Frames of plain functions share the state of handled exceptions with their callers, so the
same instruction in a function of its own does the same thing: whoever runs a graph just calls it.

It knows only opcodes that are alike on all versions, but for the one that `except*` ends with.
"""

from __future__ import annotations

import functools
import opcode
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

__all__: list[str] = []

F = TypeVar("F", bound=Callable[..., Any])


def _written_as(*steps: str) -> Callable[[F], F]:
    """Give the decorated function, of which only the parameters count, the body `steps`.

    A step is ``OPNAME`` or ``OPNAME argument``.  ``LOAD_FAST k`` is parameter `k`.
    """

    def write(function: F) -> F:
        assert isinstance(function, types.FunctionType)
        body = bytearray()
        for step in ("RESUME 0", *steps):
            name, _, argument = step.partition(" ")
            body += bytes((opcode.opmap[name], int(argument or 0)))
            body += bytes(2 * _caches(name))
        code = function.__code__
        function.__code__ = code.replace(
            co_code=bytes(body),
            co_consts=(function.__doc__, None),
            co_stacksize=8,
            co_linetable=_one_line(len(body) // 2),
            co_exceptiontable=b"",
        )
        return function

    return write


def _caches(name: str) -> int:
    """How many units of inline cache follow an opcode; the form of the table that says so depends on the
    version."""
    table: Any = opcode._inline_cache_entries  # type: ignore[attr-defined]
    return int(table[opcode.opmap[name]] if isinstance(table, list) else table.get(name, 0))


def _one_line(units: int) -> bytes:
    """A location table that puts all units on the first line (entries of form 13, delta zero)."""
    table = bytearray()
    while units:
        length = min(units, 8)
        table += bytes((0x80 | 13 << 3 | length - 1, 0))
        units -= length
    return bytes(table)


# -- exceptions ---------------------------------------------------------------------------------------


@_written_as("LOAD_FAST 0", "PUSH_EXC_INFO", "POP_TOP", "RETURN_VALUE")
def _push_exc_info_(exception: BaseException) -> BaseException | None:
    """Begin to handle `exception`; the result is what was handled so far, for `_pop_except_`."""


@_written_as("LOAD_FAST 0", "POP_EXCEPT", "LOAD_CONST 1", "RETURN_VALUE")
def _pop_except_(previous: BaseException | None) -> None:
    """Go back to handling `previous`."""


@_written_as("LOAD_FAST 0", "RERAISE 0")
def _reraise_(exception: BaseException) -> NoReturn:  # type: ignore[empty-body]
    """Raise `exception` again: its context and traceback stay, this frame does not show in it."""


@_written_as("LOAD_FAST 0", "RERAISE 0")
def _go_on_raising_(exception: BaseException) -> NoReturn:  # type: ignore[empty-body]
    """Raise `exception`, which a call has given as a value: as if the call had raised it, its context stays,
    and the frame of the caller shows in its traceback."""


@_written_as("LOAD_FAST 0", "LOAD_FAST 1", "CHECK_EXC_MATCH", "RETURN_VALUE")
def _check_exc_match_(exception: BaseException, kind: Any) -> bool:  # type: ignore[empty-body]
    """Whether ``except kind`` catches `exception`."""


@_written_as("LOAD_FAST 0", "LOAD_FAST 1", "CHECK_EG_MATCH", "BUILD_TUPLE 2", "RETURN_VALUE")
def _check_eg_match_(exception: Any, kind: Any) -> tuple[Any, Any]:  # type: ignore[empty-body]
    """What ``except* kind`` leaves of `exception`, and what it takes, which is handled from now on."""


if sys.version_info >= (3, 12):
    _PREPARE = "CALL_INTRINSIC_2 1"
else:
    _PREPARE = "PREP_RERAISE_STAR"


@_written_as("LOAD_FAST 0", "LOAD_FAST 1", _PREPARE, "RETURN_VALUE")
def _prep_reraise_star_(original: Any, raised: list[Any]) -> Any:
    """What a statement with ``except*`` raises in the end, or None."""


# -- patterns -----------------------------------------------------------------------------------------


@_written_as("LOAD_FAST 0", "MATCH_SEQUENCE", "RETURN_VALUE")
def _match_sequence_(subject: object) -> bool:  # type: ignore[empty-body]
    """Whether a sequence pattern may match `subject`."""


@_written_as("LOAD_FAST 0", "MATCH_MAPPING", "RETURN_VALUE")
def _match_mapping_(subject: object) -> bool:  # type: ignore[empty-body]
    """Whether a mapping pattern may match `subject`."""


@_written_as("LOAD_FAST 0", "LOAD_FAST 1", "MATCH_KEYS", "RETURN_VALUE")
def _match_keys_(subject: Any, keys: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values of `keys` in a mapping, or None if one is missing."""


def _match_class_(subject: object, kind: Any, names: tuple[str, ...], count: int) -> tuple[Any, ...] | None:
    """The attributes that ``case kind(...)`` looks at, `count` by position; None if it does not match."""
    return _with_number("MATCH_CLASS", 3, count)(subject, kind, names)  # type: ignore[no-any-return]  # as is


# -- what CPython itself calls intrinsics ---------------------------------------------------------------


def _intrinsic_1_(value: object, number: int) -> Any:
    """CALL_INTRINSIC_1: type parameters and type aliases."""
    return _with_number("CALL_INTRINSIC_1", 1, number)(value)


def _intrinsic_2_(first: object, second: object, number: int) -> Any:
    """CALL_INTRINSIC_2: type parameters with bounds and defaults."""
    return _with_number("CALL_INTRINSIC_2", 2, number)(first, second)


@functools.cache
def _with_number(name: str, arity: int, number: int) -> Callable[..., Any]:
    """The function that is the instruction `name` with the argument `number`."""

    def instruction(a: Any, b: Any = None, c: Any = None) -> Any:
        pass

    loads = [f"LOAD_FAST {k}" for k in range(arity)]
    return _written_as(*loads, f"{name} {number}", "RETURN_VALUE")(instruction)
