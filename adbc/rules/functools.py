"""`functools.reduce`, in Python so that its function is differentiated."""

from __future__ import annotations

import functools
from typing import Any

from adbc.ir.intrinsics import EXHAUSTED, UNBOUND, _next_
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]


def _reduce(function: Any, iterable: Any, initial: Any = UNBOUND, /) -> Any:
    iterator = iter(iterable)
    value = initial
    if value is UNBOUND:
        value = _next_(iterator)
        if value is EXHAUSTED:
            raise TypeError("reduce() of empty iterable with no initial value")
    for x in iterator:
        value = function(value, x)
    return value


ROWS: list[Rule] = [Overlay(functools.reduce, _reduce)]
