"""Operations on constants are done now, where nobody can tell; branches on constants become jumps.

before::

    %1 = call operator.mul(2, 0.5)
    branch True, a, b

after (uses of ``%1`` see ``1.0``)::

    jump a

Only numbers, bools, None and str of exactly the builtin classes, and only operations on them that
are quick, give a small result and do not raise; what raises is left to raise at run time.  The members
of an enumeration are constants, too: Python binds their names only once; and so are class and length of a
tuple that is made of its elements.
Needs calls; leaves blocks that cannot be reached, which `unreachable` removes.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _bool_, _foreigncall_, _getattr_, _new_
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import NOTHING, constant, drop, target

__all__ = ["fold_constants"]

_NUMBERS = (int, float, complex, bool)
_PLAIN = (*_NUMBERS, type(None), str)
_LIMIT = 1 << 64

_ARITHMETIC: tuple[Callable[..., Any], ...] = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.neg,
    operator.pos,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
_ANY: tuple[Callable[..., Any], ...] = (
    operator.not_,
    operator.eq,
    operator.ne,
    _bool_,
)


def fold_constants(graph: Graph) -> Graph:
    replaced: dict[Value, Value] = {}
    for block in graph.blocks:
        for instruction in block.instructions:
            value = _folded(instruction, replaced)
            if value is not NOTHING:
                replaced[instruction] = Const(value)
    left_handlers = drop(graph, {i for i in replaced if isinstance(i, Instruction)})
    graph.replace_uses(replaced)
    if left_handlers:
        remove_unreachable(graph)
    _fold_branches(graph)
    return graph


_COPIED = frozenset({int, float, complex, str, bytes, tuple, frozenset})
"""Classes of constants of which there may be several that are equal."""


def _folded(instruction: Instruction, replaced: dict[Value, Value]) -> Any:
    function = target(instruction)
    if function is _foreigncall_ and len(instruction.operands) == 3 and not instruction.keywords:
        return _of_tuple(constant(instruction.operands[1]), instruction.operands[2])
    arguments = [constant(replaced.get(v, v)) for v in instruction.operands[1:]]
    if instruction.keywords or any(x is NOTHING for x in arguments):
        return NOTHING
    if function is _getattr_:
        return _member(*arguments)
    if any(function is f for f in _ANY):
        return function(*arguments) if all(type(x) in _PLAIN for x in arguments) else NOTHING
    if function is operator.is_ or function is operator.is_not:
        # Whether two equal numbers are one object is the interpreter's business.
        is_sure = any(type(x) not in _COPIED for x in arguments)
        return function(*arguments) if is_sure else NOTHING
    if any(function is f for f in _ARITHMETIC) and all(type(x) in _NUMBERS for x in arguments):
        return _computed(function, arguments)
    return NOTHING


def _of_tuple(function: Any, made: Value) -> Any:
    """The class or the length of the tuple `made`, if that is asked for and it is made of its elements."""
    if (
        not isinstance(made, Instruction)
        or target(made) is not _new_
        or constant(made.operands[1]) is not tuple
    ):
        return NOTHING
    return tuple if function is type else len(made.operands) - 2 if function is len else NOTHING


def _computed(function: Callable[..., Any], arguments: list[Any]) -> Any:
    try:
        value = function(*arguments)
    except (ArithmeticError, TypeError):  # division by zero, overflow; an ordering of complex numbers
        return NOTHING
    return NOTHING if type(value) is int and abs(value) >= _LIMIT else value


def _member(cls: Any, name: Any) -> Any:
    """The member of the enumeration `cls` that is called `name`, if that is what they are."""
    if type(cls) is not enum.EnumType or type(name) is not str or name not in cls.__members__:
        return NOTHING
    member: Any = cls.__members__[name]
    return member if getattr(cls, name) is member else NOTHING


def _fold_branches(graph: Graph) -> None:
    for block in graph.blocks:
        end = block.terminator
        if not isinstance(end, Branch):
            continue
        condition = constant(end.condition)
        if type(condition) is not bool:
            continue
        taken, left = (end.true, end.false) if condition else (end.false, end.true)
        block.terminator = Jump(taken, end.position)
        if left is not block.handler:
            for phi in left.phis:
                phi.operands.pop(block, None)
