"""What the variables of a frame are known to hold, from the code alone."""

from __future__ import annotations

import dis
import types
from collections.abc import Sequence

from adbc.cpython.decode import Instruction, decode
from adbc.records import record

__all__ = ["Passed", "passed_at", "reads", "settled"]

_LOADS = frozenset({"load", "load_bound"})
_TAKES = {
    **dict.fromkeys(("load", "load_bound", "load_deref", "const", "global", "null"), 0),
    **dict.fromkeys(("attribute", "unary"), 1),
    "binary": 2,
}
"""How many values an instruction takes that leaves one."""
_CHANGES = frozenset({"store", "delete", "load_and_clear"})


def reads(code: types.CodeType, name: str) -> bool:
    """Whether the variable `name` of a frame is read, or may be by a function that is defined there."""
    found = decode(code).instructions
    return name in code.co_cellvars or any(i.name in _LOADS and i.arg.name == name for i in found)


def settled(code: types.CodeType) -> frozenset[str]:
    """The variables that hold what they are first given until the frame ends: parameters that are never
    stored to, and others that one instruction stores to, outside of loops.  Those of closures are none."""
    instructions = decode(code).instructions
    stores: dict[str, list[int]] = {}
    rounds: list[tuple[int, int]] = []
    unsettled = {*code.co_cellvars, *code.co_freevars}
    for at, instruction in enumerate(instructions):
        if instruction.name == "store":
            stores.setdefault(instruction.arg.name, []).append(at)
        elif instruction.name in _CHANGES:
            unsettled.add(instruction.arg.name)
        elif instruction.name == "jump" and instruction.arg <= at:
            rounds.append((instruction.arg, at))
    count = code.co_argcount + code.co_kwonlyargcount
    found = set(code.co_varnames[:count]) - stores.keys()
    for name, places in stores.items():
        is_repeated = any(start <= places[0] <= end for start, end in rounds)
        if len(places) == 1 and not is_repeated and name not in code.co_varnames[:count]:
            found.add(name)
    return frozenset(found - unsettled)


@record(frozen=True)
class Passed:
    """What a call is given: for each argument the variable that it is, None for anything else."""

    positional: tuple[str | None, ...]
    named: dict[str, str | None]
    receiver: str | None = None
    """The variable that a method is called on."""
    is_method: bool = False
    """Whether what is called is an attribute."""


def passed_at(code: types.CodeType, position: Sequence[int | None]) -> Passed | None:
    """What is passed by the call, or the assignment to a subscript (``o.__setitem__(i, v)``), at a place of
    the source: line, end line, column, end column.  None if there is none, or it is not understood."""
    instructions = decode(code).instructions
    for at in range(len(instructions) - 1, -1, -1):
        name, where = instructions[at].name, instructions[at].positions
        if name not in ("call", "store_subscript") or where is None or not _is_at(where, position):
            continue
        if name == "store_subscript":
            found = _values(instructions, at, 3)
            return None if found is None else Passed((found[2], found[0]), {}, found[1], True)
        count, keywords = instructions[at].arg
        given = _values(instructions, at, count + 2)
        if given is None:
            return None
        first, arguments = at - 1, given[2:]
        for _ in range(count):
            first = _before(instructions, first) or 0
        if instructions[first].name == "null":  # it stands before what is called, or behind it
            first -= 1
        n = count - len(keywords)
        named = dict(zip(keywords, arguments[n:], strict=True))
        if instructions[first].name != "attribute":
            return Passed(tuple(arguments[:n]), named)
        on = instructions[first - 1]
        return Passed(tuple(arguments[:n]), named, on.arg.name if on.name in _LOADS else None, True)
    return None


def _values(instructions: Sequence[Instruction], at: int, count: int) -> list[str | None] | None:
    """The last `count` values on the stack before the instruction at `at`: the variables that they are."""
    found: list[str | None] = []
    last: int | None = at - 1
    for _ in range(count):
        if last is None or last < 0:
            return None
        loads = instructions[last]
        found.append(loads.arg.name if loads.name in _LOADS else None)
        last = _before(instructions, last)
    return found[::-1]


def _before(instructions: Sequence[Instruction], last: int) -> int | None:
    """Where what stands before the value that the instruction at `last` leaves is left; None if there is
    anything between that is not plain arithmetic, or a call."""
    wanted = 1
    while last >= 0:
        instruction = instructions[last]
        name = instruction.name
        taken = instruction.arg[0] + 2 if name == "call" else _TAKES.get(name)
        if taken is None:
            return None
        wanted += taken - 1
        last -= 1
        if not wanted:
            return last
    return None


def _is_at(where: dis.Positions, position: Sequence[int | None]) -> bool:
    return (where.lineno, where.end_lineno, where.col_offset, where.end_col_offset) == tuple(position)
