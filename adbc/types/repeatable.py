"""What may be done twice: instructions that have no effect and depend on nothing that changes.

Numbers are computed, tuples made and taken apart, and memory is read that nothing writes to in between, as
long as all instructions from one place to another are of this kind.
"""

from __future__ import annotations

import builtins
import operator
import types
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.values import Const, Instruction, Value
from adbc.types.derived import DerivativeType, TapeType, UnionType
from adbc.types.inference import type_of
from adbc.types.lattice import (
    BOOL,
    INT,
    LIST,
    NONE,
    TANGENT,
    AbstractType,
    ArrayType,
    Exact,
    ListType,
    TupleType,
    is_number,
)

__all__ = ["is_repeatable"]

_ARITHMETIC = frozenset(
    map(
        id,
        (
            operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
            operator.pow, operator.neg, operator.pos, operator.abs, operator.lt, operator.le, operator.eq,
            operator.ne, operator.gt, operator.ge, operator.not_, operator.iadd, operator.isub, operator.imul,
            operator.itruediv,
        ),
    )
)  # fmt: skip
_BUILTINS = frozenset(map(id, (builtins.float, builtins.int, builtins.bool, builtins.abs, builtins.min,
                               builtins.max, builtins.range, builtins.len)))  # fmt: skip
_QUIET = frozenset(
    map(
        id,
        (
            operator.is_, operator.is_not, intrinsics._class_is_, intrinsics._array_is_, intrinsics._form_is_,
            intrinsics._exhausted_, intrinsics._bool_,
            intrinsics._project_, intrinsics._unpack_, intrinsics._or_else_, intrinsics._nonzero_,
            intrinsics._real_, intrinsics._next_, intrinsics._recall_, intrinsics._not_nan_,
        ),
    )
)  # fmt: skip


def _is_plain(value: Value) -> bool:
    """Whether `value` is of a type that has neither state nor code of the user's."""
    if isinstance(value, Const):
        return type(value.value) in (float, int, bool, types.NoneType, str)
    return _is_plain_type(type_of(value))


def _is_plain_type(kind: AbstractType | None) -> bool:
    if isinstance(kind, TupleType):
        return all(map(_is_plain_type, kind.elements))
    return kind in (INT, BOOL, TANGENT, NONE) or (kind is not None and is_number(kind))


def _is_container(kind: AbstractType) -> bool:
    """Whether values of this type are read without running code of the user's."""
    if isinstance(kind, UnionType):
        return all(map(_is_container, kind.members))
    if isinstance(kind, DerivativeType):
        kind = kind.of
    return isinstance(kind, TupleType | ListType | ArrayType) or kind in (LIST, Exact(tuple), Exact(range))


def is_repeatable(instruction: Instruction, quiet: frozenset[int]) -> bool:
    """Whether to execute `instruction` twice is the same as once; so it is for functions at the addresses
    `quiet`."""
    if instruction.op != "call" or instruction.keywords or not isinstance(instruction.operands[0], Const):
        return False
    function, arguments = instruction.operands[0].value, instruction.operands[1:]
    if function is intrinsics._foreigncall_ and isinstance(arguments[0], Const):
        function, arguments = arguments[0].value, arguments[1:]
    address = id(function)
    if function is intrinsics._new_:
        return isinstance(arguments[0], Const) and arguments[0].value is tuple
    if function is intrinsics._iter_ or function is reversed:
        return isinstance(type_of(arguments[0]), TapeType) or _is_container(type_of(arguments[0]))
    if function is intrinsics._next_ or function is intrinsics._recall_:
        return _is_made_here(arguments[0])
    if function is operator.getitem or function is len:
        return _is_container(type_of(arguments[0])) and all(map(_is_plain, arguments[1:]))
    if address in _ARITHMETIC:  # of the type of a number is what was computed from numbers
        return _is_plain_type(instruction.type)
    if address in _BUILTINS or _is_mathematics(function):
        return all(map(_is_plain, arguments))
    return address in _QUIET or address in quiet


def _is_mathematics(function: Any) -> bool:
    """Whether `function` computes numbers from numbers: a function of `math`, or a partial derivative."""
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and (module == "math" or module.startswith("adbc.rules."))


def _is_made_here(iterator: Value) -> bool:
    """Whether `iterator` is made anew each time that the graph runs."""
    callee = iterator.operands[0] if isinstance(iterator, Instruction) and iterator.op == "call" else None
    return isinstance(callee, Const) and any(callee.value is f for f in (reversed, intrinsics._iter_))
