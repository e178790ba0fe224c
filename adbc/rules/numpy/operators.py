"""Rules of Python's operators where an operand is an array or a NumPy scalar."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from adbc.rules.numpy.base import array_operands, by_example
from adbc.rules.numpy.elementwise import InplaceRule, elementwise, operator_row
from adbc.rules.numpy.ufuncs import FIRST, divmod_row
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

BINARY: dict[str, str] = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
}
UNARY: dict[str, str] = {"neg": "negative", "pos": "positive", "abs": "absolute"}
BITWISE: dict[str, str] = {
    "iand": "bitwise_and",
    "ior": "bitwise_or",
    "ixor": "bitwise_xor",
    "ilshift": "left_shift",
    "irshift": "right_shift",
}
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge", "and_", "or_", "xor", "invert", "lshift", "rshift")


def _rows() -> list[Rule]:
    rows: list[Rule] = []
    for name, ufunc in {**BINARY, **UNARY}.items():
        rows.append(operator_row(getattr(operator, name), FIRST[ufunc]))
    for name, ufunc in BINARY.items():
        inplace: Any = getattr(operator, "i" + name)
        rows.append(InplaceRule(inplace, getattr(np, ufunc), FIRST[ufunc]))
        rows.append(operator_row(inplace, FIRST[ufunc]))
    for name, ufunc in BITWISE.items():
        rows.append(
            InplaceRule(
                getattr(operator, name), getattr(np, ufunc), elementwise(getattr(np, ufunc), None, None)
            )
        )
    rows.extend(by_example(ZeroRule(getattr(operator, name), when=array_operands)) for name in COMPARISONS)
    rows.append(operator_row(builtins.pow, FIRST["power"], "base exp"))
    rows.append(operator_row(builtins.abs, FIRST["absolute"]))
    rows.append(divmod_row(builtins.divmod, when=array_operands))
    return rows


ROWS: list[Rule] = _rows()
