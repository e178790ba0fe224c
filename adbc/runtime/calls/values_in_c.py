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
    for x, f in zip(xs, fs):  # noqa: B905, SIM110  # called often
        if f is not None or (type(x) not in VALUES and not _holds_nothing(x)):
            return False
    return True


def _holds_nothing(x: Any) -> bool:
    """Whether `x` is a slice of whole numbers, or an iterator over the matches of a pattern in a text."""
    if type(x) is slice:
        return _PLACES.issuperset((type(x.start), type(x.stop), type(x.step)))
    if type(x) is not _FINDER:
        return False
    scan, *rest = gc.get_referents(x) or (None,)
    return type(getattr(scan, "__self__", None)) is _SCANNER and rest in ([], [None])


def takes_values(function: Any) -> bool:
    """Whether `function` is an operator, a method in C of the class of such values, or a step of an iterator:
    given such values it does nothing but give a result."""
    if type(function) is BuiltinFunctionType:
        return bool(function.__module__ == "_operator")
    if type(function) is MethodDescriptorType:
        return function.__objclass__ in VALUES
    return function in _STEPS
