"""Calls that make text of numbers, or read numbers from text: which of them have to be looked at.

Text has no derivative, but what is read from it would be a constant, so the runtime remembers which text was
made from numbers with a derivative (`runtime.calls.texts`).  A call is of no concern if types tell that no
such number and no such text goes into it: most text that a program makes says what its constants, counters
and names are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.values import Const, Instruction, Value
from adbc.types.inference import call_parts, type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    AbstractType,
    ArrayType,
    Exact,
    ListType,
    TupleType,
    class_of,
    has_shadow,
    is_number,
    is_real,
)

__all__ = ["is_open_text", "may_meet_text", "of_text"]


def of_text(
    row: Any, arguments: Sequence[Value], keywords: Sequence[str], active: Callable[[Value], bool]
) -> Kind | None:
    """What becomes of a call that has the rule `row`, if that makes or reads text that may say what a number
    with a derivative is; else None."""
    if row.of_text:
        if not any(_may_say_number(a, active) for a in arguments):
            return None
        # In reverse mode something may have to come back to memory that is written.
        is_met = keywords or any(active(a) and not _is_bare(a) for a in arguments)
        return Kind.DYNAMIC if is_met else Kind.TEXT
    return Kind.DYNAMIC if may_meet_text(row, arguments, keywords) else None


def may_meet_text(row: Any, arguments: Sequence[Value], keywords: Sequence[str]) -> bool:
    """Whether a call that has the rule `row`, which makes no text, may be given text, so that it is looked at
    when it is made."""
    if row.of_text:
        return False
    if row.converts is not None:
        by_position = len(arguments) - len(keywords)
        return any(map(_may_hold_text, (*arguments[:by_position][row.converts], *arguments[by_position:])))
    return row.meets_text and any(map(is_open_text, arguments))


def is_open_text(value: Value) -> bool:
    """Whether `value` is text that the code does not hold as a constant."""
    return not isinstance(value, Const) and class_of(type_of(value)) in (str, bytes)


def _may_say_number(value: Value, active: Callable[[Value], bool]) -> bool:
    """Whether text that says what `value` is may say what a number with a derivative is."""
    if isinstance(value, Const):
        return False
    if active(value):
        return True
    if isinstance(value, Instruction) and value.op == "call":
        callee, arguments = call_parts(value)
        if isinstance(callee, Const) and callee.value is intrinsics._format_:
            return _may_say_number(arguments[0], active)
    return not _holds_numbers(type_of(value))


def _is_bare(value: Value) -> bool:
    """Whether `value` is a real number, beside which there stands nothing."""
    known = type_of(value)
    return is_real(known) and not has_shadow(known)


def _may_hold_text(value: Value) -> bool:
    """Whether `value` is such text, shows it, or is a list or tuple of which it is not known that none is in
    it: arrays hold none, for they are not made of such text."""
    known = type_of(value)
    if isinstance(value, Const) or class_of(known) not in _HOLDING:
        return False
    return not _holds_numbers(known, ArrayType)


def _holds_numbers(known: AbstractType, *others: type[AbstractType]) -> bool:
    """Whether values of this type are numbers, or of one of the kinds `others`, or hold nothing else."""
    if isinstance(known, TupleType):
        return all(_holds_numbers(element, *others) for element in known.elements)
    if isinstance(known, ListType):
        return _holds_numbers(known.element, *others)
    return (
        isinstance(known, others) or is_number(known) or (isinstance(known, Exact) and known.cls in _NO_TEXT)
    )


_HOLDING = frozenset({str, bytes, bytearray, memoryview, list, tuple})
_NO_TEXT = frozenset({bool, int, float, complex, type(None)})
_NUMERIC = ("float", "complex", "int", "uint", "bool")
"""How the names of dtypes begin in whose arrays there is no text."""
