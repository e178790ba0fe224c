"""The table of operations of low programs: what each takes, gives, and means.

A row has the types of operands and results and a Python function of the operands, which the interpreter
calls.  Rows without one are about tapes, slots and the like, which the interpreter knows.  The functions do
what a machine does: a division by zero is infinite, and the sine of what is infinite is NaN.  Whether Python
would raise is for the program to test, by `bail_if`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from adbc.low.program import BOOL, F64, I64, LIST
from adbc.records import record

__all__ = ["LIBM", "OPS", "Row", "wraps"]


@record(frozen=True)
class Row:
    """An operation.

    takes, gives: the types of operands and results; None where these depend on what it is about.
    meaning: what it gives, by its operands.  bails: whether it has a site.
    """

    takes: tuple[str, ...] | None
    gives: tuple[str, ...] | None
    meaning: Callable[..., Any] | None = None
    bails: bool = False


def wraps(value: int) -> bool:
    """Whether a result of arithmetic on ints does not fit into 64 bits."""
    return not -(2**63) <= value < 2**63


def _divided(x: float, y: float) -> float:
    try:
        return x / y
    except ZeroDivisionError:
        if x == 0.0 or x != x:
            return math.nan
        return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _remainder(x: float, y: float) -> float:
    try:
        return math.fmod(x, y)
    except ValueError:
        return math.nan


def _of_machine(function: Callable[..., float]) -> Callable[..., float]:
    """A function of `math` as the one of C that it calls: NaN or infinite where Python raises."""

    def meaning(*arguments: float) -> float:
        try:
            return function(*arguments)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return meaning


def _rounded(function: Callable[[float], int]) -> Callable[[float], float]:
    def meaning(x: float) -> float:
        return math.copysign(float(function(x)), x) if math.isfinite(x) else x

    return meaning


LIBM: dict[str, int] = {
    **dict.fromkeys(
        ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
         "exp", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc"), 1,
    ),
    **dict.fromkeys(("atan2", "pow"), 2),
}  # fmt: skip
"""The functions of the mathematical library of C that are called, by the number of their arguments."""

_F, _FF, _I, _II, _B, _BB = (F64,), (F64, F64), (I64,), (I64, I64), (BOOL,), (BOOL, BOOL)

OPS: dict[str, Row] = {
    "fadd": Row(_FF, _F, operator.add),
    "fsub": Row(_FF, _F, operator.sub),
    "fmul": Row(_FF, _F, operator.mul),
    "fdiv": Row(_FF, _F, _divided),
    "frem": Row(_FF, _F, _remainder),
    "fneg": Row(_F, _F, operator.neg),
    "fabs": Row(_F, _F, math.fabs),
    "sqrt": Row(_F, _F, _of_machine(math.sqrt)),
    "copysign": Row(_FF, _F, math.copysign),
    "floor": Row(_F, _F, _rounded(math.floor)),
    "ceil": Row(_F, _F, _rounded(math.ceil)),
    "trunc": Row(_F, _F, _rounded(math.trunc)),
    **{name: Row((F64,) * count, _F, _of_machine(getattr(math, name))) for name, count in LIBM.items()},
    "feq": Row(_FF, _B, operator.eq),
    "fne": Row(_FF, _B, operator.ne),
    "flt": Row(_FF, _B, operator.lt),
    "fle": Row(_FF, _B, operator.le),
    "fgt": Row(_FF, _B, operator.gt),
    "fge": Row(_FF, _B, operator.ge),
    "finite": Row(_F, _B, math.isfinite),
    "iadd": Row(_II, _I, operator.add, bails=True),
    "isub": Row(_II, _I, operator.sub, bails=True),
    "imul": Row(_II, _I, operator.mul, bails=True),
    # These are for divisors that are neither 0 nor -1.
    "ifloordiv": Row(_II, _I, operator.floordiv),
    "imod": Row(_II, _I, operator.mod),
    "ieq": Row(_II, _B, operator.eq),
    "ine": Row(_II, _B, operator.ne),
    "ilt": Row(_II, _B, operator.lt),
    "ile": Row(_II, _B, operator.le),
    "igt": Row(_II, _B, operator.gt),
    "ige": Row(_II, _B, operator.ge),
    "itof": Row(_I, _F, float),
    # This one is for numbers that fit.
    "ftoi": Row(_F, _I, int),
    "btoi": Row(_B, _I, int),
    "and": Row(_BB, _B, operator.and_),
    "or": Row(_BB, _B, operator.or_),
    "xor": Row(_BB, _B, operator.xor),
    "not": Row(_B, _B, operator.not_),
    "fselect": Row((BOOL, F64, F64), _F, lambda c, x, y: x if c else y),
    "iselect": Row((BOOL, I64, I64), _I, lambda c, x, y: x if c else y),
    "bselect": Row((BOOL, BOOL, BOOL), _B, lambda c, x, y: x if c else y),
    "length": Row((LIST,), _I, len),
    # This one is for indices in range, and 0, where there is something even in an empty list.
    "load": Row((LIST, I64), _F, lambda values, at: values[at] if at or values else 0.0),
    # This one is for indices in range, of lists that nobody else has seen.
    "store": Row((LIST, I64, F64), ()),
    "bail_if": Row(_B, (), bails=True),
    "poll": Row((), ()),
    "get": Row((), None),
    "set": Row(None, ()),
    "height": Row((), _I),
    "push": Row(None, ()),
    "pop": Row(_I, None, bails=True),
    "next": Row(_I, None, bails=True),
    "take": Row(_I, None, bails=True),
    "node": Row(None, _I),
    "fields": Row(_I, None, bails=True),
}
