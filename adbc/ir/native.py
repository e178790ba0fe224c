"""Functions that are one instruction of the interpreter and nothing else.

Some syntax has a meaning that no Python function can spell: an ``except`` clause changes what the
thread is handling, a re-raise leaves traceback and context alone, a pattern looks at flags of a
class.  Frames of plain functions share the state of handled exceptions with their callers, so the
same instruction in a function of its own does the same thing: whoever runs a graph just calls it.

It refuses to know what the instructions are for, and knows only opcodes that are alike on all
versions.
"""

from __future__ import annotations

import opcode
import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["written_as"]

F = TypeVar("F", bound=Callable[..., Any])


def written_as(*steps: str) -> Callable[[F], F]:
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
    """How many units of cache follow the opcode; the table's form depends on the version."""
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
