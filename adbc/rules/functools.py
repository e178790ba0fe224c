"""`functools.reduce` and `functools.partial`, in Python so that their functions are differentiated."""

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


class _Partial:
    """`functools.partial`, followed like a class of the user's: what it holds keeps its derivative."""

    def __init__(self, func: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


def _partial(func: Any, /, *args: Any, **keywords: Any) -> Any:
    if not callable(func):
        raise TypeError("the first argument must be callable")
    return _Partial(func, args, keywords)


ROWS: list[Rule] = [Overlay(functools.reduce, _reduce), Overlay(functools.partial, _partial)]
