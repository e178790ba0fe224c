"""Operators: the special methods by which they ask their operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "BINARY", "COMPARISONS", "UNARY", "Binary", "answered", "answered_mirrored", "unsupported",
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
    operator.lt: ("__lt__", "<"), operator.le: ("__le__", "<="), operator.gt: ("__gt__", ">"),
    operator.ge: ("__ge__", ">="), operator.eq: ("__eq__", "=="), operator.ne: ("__ne__", "!="),
}  # fmt: skip
"""The comparisons, by the method of the left operand, which is asked first if the right one is not of a
derived class."""

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
