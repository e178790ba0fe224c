"""Python functions that are never entered: those that differentiate, and some of the standard library."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from adbc.runtime.state.activity import is_active

__all__ = ["is_differentiation", "runs_as_it_is"]

_AS_THEY_ARE = frozenset(
    {
        ("dataclasses", "_process_class"), ("collections", "namedtuple"),
        ("enum", "EnumType.__new__"), ("enum", "EnumType.__prepare__"), ("typing", "NamedTupleMeta.__new__"),
        ("typing", "get_type_hints"), ("inspect", "get_annotations"), ("annotationlib", "get_annotations"),
        ("typing", "_TypedDictMeta.__new__"),
    }
)  # fmt: skip

_TYPING = ("typing", "typing_extensions")


def runs_as_it_is(function: types.FunctionType, shadows: Sequence[Any] = ()) -> bool:
    """Whether `function`, of the standard library, makes classes, functions or types by ways not followed.

    Functions of `typing` that are given values with derivatives only hand them on, and are followed.
    """
    name, module = function.__qualname__, function.__module__
    if (module, name) in _AS_THEY_ARE:
        return True
    return module in _TYPING and not name.endswith("__init_subclass__") and not any(map(is_active, shadows))


_DIFFERENTIATION = frozenset(
    {
        "adbc.api", "adbc.runtime", "adbc.runtime.entry.boxed", "adbc.runtime.entry.forward",
        "adbc.runtime.entry.gradients", "adbc.runtime.entry.reverse",
    }
)  # fmt: skip


def is_differentiation(function: Any) -> bool:
    """Whether `function` is one of adbc's own that differentiate, or was made by one (``adbc.grad(f)``).

    They are never entered: their own bookkeeping has no derivative.
    """
    cls = type(function)
    if cls is types.MethodType:
        return is_differentiation(function.__func__)
    if cls is types.FunctionType:
        return function.__globals__.get("__name__") in _DIFFERENTIATION
    return cls.__module__ in _DIFFERENTIATION
