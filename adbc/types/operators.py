"""Operators: the special methods by which they ask their operands."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from adbc.ir.sentinels import EXHAUSTED

__all__ = [
    "BINARY", "COMPARISONS", "UNARY", "Binary", "answered", "answered_mirrored", "compared", "falsity",
    "length", "length_told", "no_length", "some_length", "stepped", "truth", "unsupported",
]  # fmt: skip


class Binary(NamedTuple):
    """The special methods of an operator with two operands.

    forward: that of the left operand.  mirrored: that of the right one, which is asked second.  in_place:
    what the left one is asked for first.  symbol: what the operator is called in errors.
    """

    forward: str
    mirrored: str
    in_place: str | None
    symbol: str


_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip


def _binary() -> dict[Callable[..., Any], Binary]:
    found: dict[Callable[..., Any], Binary] = {}
    for name, symbol in _SYMBOLS.items():
        forward, mirrored, in_place = f"__{name}__", f"__r{name}__", f"__i{name}__"
        long = "** or pow()" if name == "pow" else symbol
        found[getattr(operator, forward)] = Binary(forward, mirrored, None, long)
        found[getattr(operator, in_place)] = Binary(forward, mirrored, in_place, f"{symbol}=")
    return found


BINARY = _binary()
"""The arithmetic operators with two operands."""

COMPARISONS = {
    operator.lt: ("__lt__", "<", "__gt__"), operator.le: ("__le__", "<=", "__ge__"),
    operator.gt: ("__gt__", ">", "__lt__"), operator.ge: ("__ge__", ">=", "__le__"),
    operator.eq: ("__eq__", "==", "__eq__"), operator.ne: ("__ne__", "!=", "__ne__"),
}  # fmt: skip
"""The comparisons, by the method of the left operand, which is asked first if the right one is not of a
derived class, the symbol, and the method of the right operand."""

UNARY: dict[Callable[..., Any], str] = {
    operator.neg: "__neg__",
    operator.pos: "__pos__",
    operator.invert: "__invert__",
    operator.getitem: "__getitem__",
    abs: "__abs__",
    next: "__next__",
}
"""Functions that ask their first argument, and what for."""


def unsupported(symbol: str, x: Any, y: Any) -> TypeError:
    """The error that CPython raises where neither operand has an answer."""
    return TypeError(
        f"unsupported operand type(s) for {symbol}: '{type(x).__name__}' and '{type(y).__name__}'"
    )


def answered(symbol: str, first: Any, second: Any, x: Any, y: Any) -> Any:
    """What `first` of `x` answers about `y`, else `second`, if there is one, of `y` about `x`."""
    answer = first(x, y)
    if answer is NotImplemented and second is not None:
        answer = second(y, x)
    if answer is NotImplemented:
        raise unsupported(symbol, x, y)
    return answer


def answered_mirrored(symbol: str, method: Any, x: Any, y: Any) -> Any:
    """What `method` of `y` answers about `x`, which is a number that has nothing to say to `y`."""
    answer = method(y, x)
    if answer is NotImplemented:
        raise unsupported(symbol, x, y)
    return answer


def compared(symbol: str, first: Any, second: Any, x: Any, y: Any) -> Any:
    """What `first` of `x` answers when it is compared with `y`, else `second`, if there is one, of `y` about
    `x`; without an answer, what is no order is a matter of identity."""
    answer = first(x, y)
    if answer is NotImplemented and second is not None:
        answer = second(y, x)
    if answer is not NotImplemented:
        return answer
    if symbol == "==":
        return x is y
    if symbol == "!=":
        return x is not y
    raise TypeError(
        f"'{symbol}' not supported between instances of '{type(x).__name__}' and '{type(y).__name__}'"
    )


def stepped(method: Any, x: Any) -> Any:
    """The next value of `x` in a loop, where `method` is its ``__next__``; `EXHAUSTED` at the end."""
    try:
        return method(x)
    except StopIteration:
        return EXHAUSTED


def length(method: Any, x: Any) -> int:
    """``len(x)`` where `method` is the ``__len__`` of `x`."""
    return length_told(method(x))


def length_told(found: Any) -> int:
    """The length that `found`, which a ``__len__`` gave, stands for, or CPython's error."""
    if type(found) is int and 0 <= found <= sys.maxsize:
        return found
    number = int(operator.index(found))
    if number < 0:
        raise ValueError("__len__() should return >= 0")
    if number > sys.maxsize:
        raise OverflowError("cannot fit 'int' into an index-sized integer")
    return number


def truth(method: Any, x: Any) -> bool:
    """``bool(x)`` where `method` is the ``__bool__`` of `x`."""
    answer = method(x)
    if type(answer) is not bool:
        raise TypeError(f"__bool__ should return bool, returned {type(answer).__name__}")
    return answer


def falsity(method: Any, x: Any) -> bool:
    """``not x`` where `method` is the ``__bool__`` of `x`."""
    return not truth(method, x)


def some_length(method: Any, x: Any) -> bool:
    """``bool(x)`` where `method` is the ``__len__`` of `x`, which has no ``__bool__``."""
    return length(method, x) != 0


def no_length(method: Any, x: Any) -> bool:
    """``not x`` where `method` is the ``__len__`` of `x`, which has no ``__bool__``."""
    return length(method, x) == 0
