"""Calls that run no code written in Python: nobody else has a say while they are made.

What such a call changes is memory of its arguments.  Variables of closures, globals and classes stay as they
are.  Needs types.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

from adbc.functions import is_builtin_function
from adbc.ir import intrinsics
from adbc.ir.values import Const, Instruction, Value
from adbc.types.effects import is_passive
from adbc.types.inference import type_of
from adbc.types.lattice import (
    AbstractType,
    ArrayType,
    ConstType,
    Exact,
    IteratorType,
    ListType,
    TupleType,
    class_of,
)

__all__ = ["HARMLESS", "is_quiet"]

HARMLESS: frozenset[int] = frozenset(
    map(
        id,
        (
            intrinsics._assume_, intrinsics._instance_, intrinsics._class_is_, intrinsics._method_is_,
            intrinsics._code_is_, intrinsics._members_,
            intrinsics._array_is_, intrinsics._form_is_, intrinsics._exhausted_,
            intrinsics._next_at_, intrinsics._take_at_, intrinsics._list_iterator_,
            intrinsics._list_reversed_, intrinsics._observe_, intrinsics._check_,
            intrinsics._remember_,
            intrinsics._unpack_list_, intrinsics._element_, intrinsics._view_iterator_, intrinsics._next_key_,
            intrinsics._next_value_, intrinsics._next_entry_, intrinsics._next_place_,
            intrinsics._entry_key_, intrinsics._entry_value_,
            intrinsics._project_, operator.is_, operator.is_not, range,
        ),
    )
)  # fmt: skip
"""Functions that change nothing and run no code of the user or of other packages."""

_OF_MODULES = frozenset({"_operator", "math", "cmath"})
"""Modules whose functions ask the classes of their arguments, and nobody else."""
_OF_NUMBERS: tuple[Any, ...] = (abs, round, min, max, sum, len, divmod, pow, float, int, bool, complex, range)
_OF_LISTS: tuple[Any, ...] = (list.append, list.pop, list.insert, list.reverse, list.copy, list.clear)
_READING = frozenset(
    map(id, (intrinsics._list_append_, intrinsics._cell_get_, intrinsics._cell_peek_, intrinsics._freevar_))
)
_CONTAINS: tuple[Any, ...] = (operator.contains, intrinsics._not_contains_)
_DISPLAYS = (tuple, list, slice)
_CONTAINERS = frozenset({list, tuple, str, bytes, range, dict})
"""Classes whose elements are found, and gone through, without asking these."""
_SOME: tuple[Any, ...] = (
    [],
    (),
    "",
    b"",
    range(0),
    range(1 << 70),
    {},
    {}.values(),
    {}.items(),
    reversed([]),
)
_ITERATORS = frozenset(type(iter(some)) for some in _SOME)
_WALKS: tuple[Any, ...] = (zip, enumerate, reversed)
"""Iterators that go through others."""
_HASHED_IN_C = frozenset({int, float, bool, str, bytes, complex, types.NoneType})


def is_quiet(call: Instruction, is_field: Callable[[type, str], bool] | None = None) -> bool:
    """Whether `call` runs no code written in Python.  is_field: of which attributes of instances of a class
    it is known that to read or set them does not either."""
    if call.op != "call" or not isinstance(call.operands[0], Const):
        return False
    function, arguments = call.operands[0].value, call.operands[1:]
    if id(function) in HARMLESS or id(function) in _READING:
        return True
    if function is intrinsics._foreigncall_:
        function = arguments[0].value if isinstance(arguments[0], Const) else None
        arguments = arguments[1:]
    if call.keywords:
        return False
    known = [type_of(value) for value in arguments]
    if function is intrinsics._new_:
        return isinstance(arguments[0], Const) and arguments[0].value in _DISPLAYS
    if function is intrinsics._getattr_ or function is intrinsics._setattr_:
        name, of = arguments[1], known[0]
        if is_field is None or not isinstance(of, Exact) or not isinstance(name, Const):
            return False
        return isinstance(name.value, str) and is_field(of.cls, name.value)
    if function is operator.getitem or function is operator.setitem:
        return _is_quiet_place(known[0], known[1])
    if function is intrinsics._iter_ or any(function is walk for walk in _WALKS):
        return all(map(_is_gone_through, arguments))
    if function is intrinsics._next_ or function is intrinsics._unpack_:
        return _is_gone_through(arguments[0])
    if function is intrinsics._bool_:
        return _is_container(known[0]) or is_passive(known[0])
    if any(function is asking for asking in _CONTAINS):
        return class_of(known[0]) is dict and _is_quiet_place(known[0], known[1])
    if function is isinstance:
        return all(isinstance(type_, ConstType) and type(type_.value) is type for type_ in known[1:])
    if any(function is method for method in _OF_LISTS):
        return class_of(known[0]) is list
    return _asks_only_classes(function) and all(map(is_passive, known))


def _asks_only_classes(function: Any) -> bool:
    if any(function is of for of in _OF_NUMBERS) or type(function).__name__ == "ufunc":
        return True
    return is_builtin_function(function) and function.__module__ in _OF_MODULES


def _is_container(known: AbstractType) -> bool:
    if isinstance(known, TupleType | ListType):
        return True
    return class_of(known) in _CONTAINERS or (isinstance(known, ArrayType) and is_passive(known))


def _is_gone_through(value: Value) -> bool:
    """Whether the elements of `value` are found in C alone."""
    known = type_of(value)
    if _is_container(known) or isinstance(known, IteratorType) or class_of(known) in _ITERATORS:
        return True
    if not isinstance(value, Instruction) or value.op != "call" or not isinstance(value.operands[0], Const):
        return False
    function = value.operands[0].value
    if function is intrinsics._iter_ or any(function is walk for walk in _WALKS):
        return all(map(_is_gone_through, value.operands[1:]))
    return False


def _is_quiet_place(container: AbstractType, key: AbstractType) -> bool:
    """Whether what has type `container` is asked for what is at a key, or given something, in C alone."""
    if not _is_container(container):
        return False
    return is_passive(key) if class_of(container) is not dict else class_of(key) in _HASHED_IN_C
