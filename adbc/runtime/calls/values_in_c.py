"""Calls of what is made in C on values that do not change and hold nothing of the user's: texts, numbers,
dates, patterns and their matches, slices of whole numbers, iterators over matches.

Where none of them has a derivative, such a call is made as it is, and nothing is looked at before or after.
"""

from __future__ import annotations

import gc
import re
from types import BuiltinFunctionType, MethodDescriptorType
from typing import Any

from adbc.ir import intrinsics
from adbc.runtime.calls.classes import VALUES

__all__ = ["METHOD_OF_CLASS", "are_values", "takes_values"]

METHOD_OF_CLASS: type = type(re.compile("").match)
"""The second class of bound methods in C, of those that know the class that defines them."""

_FINDER: type = type(re.finditer("", ""))
_SCANNER: type = type(re.compile("").scanner(""))  # type: ignore[attr-defined]  # is not in the stubs
_PLACES = frozenset({type(None), int, bool})
_STEPS = frozenset({intrinsics._iter_, intrinsics._next_})


def are_values(xs: tuple[Any, ...], fs: tuple[Any, ...]) -> bool:
    """Whether all arguments are such values, without a derivative."""
    for x, f in zip(xs, fs):  # noqa: B905  # called often
        if f is not None or (x.__class__ not in VALUES and not _holds_nothing(x)):
            return False
    return True


def _holds_nothing(x: Any) -> bool:
    """Whether `x` is a slice of whole numbers, or an iterator over the matches of a pattern in a text."""
    if x.__class__ is slice:
        return _PLACES.issuperset((x.start.__class__, x.stop.__class__, x.step.__class__))
    if x.__class__ is not _FINDER:
        return False
    scan, *rest = gc.get_referents(x) or (None,)
    return getattr(scan, "__self__", None).__class__ is _SCANNER and rest in ([], [None])


def takes_values(function: Any) -> bool:
    """Whether `function` is an operator, a method in C of the class of such values, or a step of an iterator:
    given such values it does nothing but give a result."""
    if function.__class__ is BuiltinFunctionType:
        return bool(function.__module__ == "_operator")
    if function.__class__ is MethodDescriptorType:
        return function.__objclass__ in VALUES
    return function in _STEPS
