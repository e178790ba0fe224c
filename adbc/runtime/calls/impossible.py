"""Calls of builtin functions and operators that change nothing, and mostly raise: a class has no method for
them.

Programs ask by trying (``try: float(x)``), so the error is the plain one, whatever `x` depends on: no code of
the class runs.
"""

from __future__ import annotations

import builtins
import math
import operator
import types
from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.runtime.calls.classes import lookup
from adbc.tangents.fields import is_python_class
from adbc.types.operators import BINARY

__all__ = ["SYNTAX", "changes_nothing"]

SYNTAX = frozenset(
    id(f)
    for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
        operator.pow, operator.matmul, operator.lshift, operator.rshift, operator.and_, operator.or_,
        operator.xor, operator.neg, operator.pos, operator.invert, operator.getitem,
        operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, operator.index,
        iter, len, reversed, intrinsics._iter_,
    )
)  # fmt: skip
"""Operators that change nothing, by address: what is called may have no hash."""

_ITERABLE = ("__iter__", "__getitem__")
_REAL = ("__float__", "__index__")
_ASKED: dict[Any, tuple[str, ...]] = {
    operator.setitem: ("__setitem__",),
    operator.delitem: ("__delitem__",),
    operator.contains: ("__contains__", *_ITERABLE),
    builtins.next: ("__next__",),
    intrinsics._next_: ("__next__",),
    builtins.divmod: ("__divmod__",),
    builtins.abs: ("__abs__",),
    builtins.round: ("__round__",),
    builtins.float: _REAL,
    builtins.complex: ("__complex__", *_REAL),
    builtins.int: ("__int__", "__index__", "__trunc__"),
    math.floor: ("__floor__", *_REAL),
    math.ceil: ("__ceil__", *_REAL),
    math.trunc: ("__trunc__",),
    math.fsum: _ITERABLE,
    math.prod: _ITERABLE,
}
"""The methods of the class of the first argument, one of which the function needs."""
_NEEDS = {id(function): names for function, names in _ASKED.items()}
"""By address: what is called may have no hash."""
_OF_NUMBERS = {
    id(function): _REAL
    for function in vars(math).values()
    if type(function) is types.BuiltinFunctionType and function not in _ASKED
}
_CONTAINERS = frozenset({list, tuple, dict, set, frozenset, deque, OrderedDict, types.NoneType})
"""Classes in C that are no numbers, and that nobody makes a number of in another way, as of text."""
_CHANGES = frozenset(map(id, (operator.setitem, operator.delitem)))


_IN_PLACE = {id(function): by.in_place for function, by in BINARY.items() if by.in_place is not None}


def changes_nothing(function: Any, args: Sequence[Any]) -> bool:
    """Whether it is seen that to call `function` does nothing but give a result, or raise."""
    if id(function) in SYNTAX:
        return True
    in_place = _IN_PLACE.get(id(function))
    if in_place is not None:  # without such a method the operator is the plain one
        return len(args) == 2 and lookup(type(args[0]), in_place) is None
    return _is_impossible(function, args)


def _is_impossible(function: Any, args: Sequence[Any]) -> bool:
    """Whether `function` needs a method that the class of its first argument has not got."""
    names = _NEEDS.get(id(function)) or _OF_NUMBERS.get(id(function))
    if names is None or not args:
        return False
    if function is builtins.divmod and is_python_class(type(args[-1])):
        return False  # which may have the reflected method
    cls = type(args[0])
    if not (id(function) in _CHANGES or cls in _CONTAINERS or is_python_class(cls)):
        return False
    return all(lookup(cls, name) is None for name in names)
