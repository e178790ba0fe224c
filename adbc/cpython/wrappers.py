"""Callables that the library makes of others: bound methods, partial applications, cached functions."""

from __future__ import annotations

import functools
import types
from typing import Any

__all__ = ["CACHED", "are_computed_anew", "wrapped_by"]

CACHED: Any = type(functools.lru_cache(maxsize=1)(len))
"""The class of functions that remember what they have given."""


_NUMBERS: frozenset[type | None] = frozenset({float, complex})
_WITHOUT_CODE = _NUMBERS | {int, bool, str, bytes, type(None)}


def are_computed_anew(classes: frozenset[type | None]) -> bool:
    """Whether a function with a cache that is given values of these classes is computed whenever it is
    followed: of two equal numbers each may depend on something else."""
    return not _NUMBERS.isdisjoint(classes) and classes <= _WITHOUT_CODE


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
