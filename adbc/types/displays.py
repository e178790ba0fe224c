"""Displays of constants: ``[0.5, 2.0]``, lists of such, and ``{"a": [0.5, 2.0]}``.

A list counts as active because an active value may be written into it.  Into a display that is used in one
call, and that the function called does not keep, nobody can write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.intrinsics import _new_
from adbc.ir.values import Const, Instruction, Value

__all__ = ["is_constant_dict", "is_constant_display", "keeps_no_list"]

_NUMBERS = frozenset({int, float, complex, bool, str, type(None)})


def is_constant_display(value: Value, users: Callable[[Value], Sequence[Any]]) -> bool:
    """Whether `value` is a list, tuple or dict of constants, made here, that one instruction has: `users`
    says which have a value."""
    if not isinstance(value, Instruction) or value.op != "call" or len(users(value)) != 1:
        return False
    callee, *operands = value.operands
    if not isinstance(callee, Const) or callee.value is not _new_ or value.keywords:
        return False
    kind, *elements = operands
    if not isinstance(kind, Const) or not (kind.value is list or kind.value is tuple or kind.value is dict):
        return False
    return all(_is_number(x) or is_constant_display(x, users) for x in elements)


def _is_number(value: Value) -> bool:
    if not isinstance(value, Const):
        return False
    if type(value.value) is tuple:
        return all(type(x) in _NUMBERS for x in value.value)
    return type(value.value) in _NUMBERS


def keeps_no_list(function: Any) -> bool:
    """Whether `function` is one of NumPy's, which read lists and keep none."""
    return callable(function) and not isinstance(function, type) and _module(function) == "numpy"


def _module(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def is_constant_dict(value: Value) -> bool:
    """Whether `value` is a new dict of immutable constants, as the keyword defaults of a function are."""
    if not isinstance(value, Instruction) or value.op != "call":
        return False
    parts = [x.value if isinstance(x, Const) else value for x in value.operands]
    if parts[0] is not _new_ or parts[1] is not dict:
        return False
    return all(type(part) in _IMMUTABLE for part in parts[2:])


_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, type(None)})
