"""Callables that the library makes of others: bound methods, partial applications, cached functions."""

from __future__ import annotations

import functools
import types
from typing import Any

__all__ = ["CACHED", "calls_a_cached_one", "wrapped_by"]

CACHED: Any = type(functools.lru_cache(maxsize=1)(len))
"""The class of functions that remember what they have given."""


def wrapped_by(x: Any) -> tuple[Any, ...] | None:
    """What the callable `x` is made of: a function, and what it is called with; None if `x` is of no such
    class."""
    cls = type(x)
    if cls is types.MethodType:
        return x.__func__, x.__self__
    if cls is functools.partial:
        return x.func, x.args, x.keywords
    if cls is CACHED:
        return (getattr(x, "__wrapped__", None),)
    return None


def calls_a_cached_one(function: types.FunctionType) -> bool:
    """Whether a name in the code of `function` is that of a function with a cache, or of itself."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if issubclass(type(c), types.CodeType)]
        for name in code.co_names:
            if name == function.__name__ or type(function.__globals__.get(name)) is CACHED:
                return True
    return False
