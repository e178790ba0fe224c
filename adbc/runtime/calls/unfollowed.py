"""Functions that are never entered: those that differentiate, and some of the standard library."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from adbc.runtime.state.activity import is_active
from adbc.tangents.protocol import kind_of

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

_ABOUT_FRAMES = frozenset({"linecache", "traceback", "warnings", "_py_warnings"})
"""Modules that show frames and exceptions, or say something about them."""

_FINDERS = frozenset({("logging", "Logger.findCaller")})
"""Functions that look at the frames that they are called from."""

_LEVELS = ("critical", "debug", "error", "exception", "info", "log", "warning")
_LOGGING = frozenset({*_LEVELS, *(f"Logger.{name}" for name in _LEVELS)})
"""Functions of `logging` that say something.  Given a value with a derivative they are followed, since a
handler may keep it."""

_OF_TEXT = frozenset(
    {
        "codecs", "fnmatch", "genericpath", "glob", "locale", "ntpath", "os", "pathlib", "pathlib._abc",
        "pathlib._local", "pathlib.types", "posixpath", "re", "re._casefix", "re._compiler", "re._parser",
        "_strptime", "tempfile", "zoneinfo",
    }
)  # fmt: skip
"""Modules of names, texts and times.  What they keep for later (a cache of patterns, the parts of a path)
stays, as after a plain call."""


def runs_as_it_is(
    function: types.FunctionType, args: Sequence[Any] = (), shadows: Sequence[Any] = ()
) -> bool:
    """Whether `function`, of the standard library, does what is not followed and has no derivative: it makes
    classes or types, it looks at frames, or it is about texts and is given nothing else.

    Functions of `typing` that are given values with derivatives only hand them on, and are followed.
    """
    name, module = function.__qualname__, function.__module__
    if (module, name) in _AS_THEY_ARE or module in _ABOUT_FRAMES or (module, name) in _FINDERS:
        return True
    if module == "logging":
        given = zip(args, shadows, strict=True)
        return name in _LOGGING and not any(is_active(s) for x, s in given if not _is_logger(x))
    if module in _OF_TEXT:
        return all(kind_of(type(x)).inactive and not isinstance(x, types.FunctionType) for x in args)
    return module in _TYPING and not name.endswith("__init_subclass__") and not any(map(is_active, shadows))


def _is_logger(x: Any) -> bool:
    return any(cls.__module__ == "logging" and cls.__name__ == "Logger" for cls in type(x).__mro__)


_DIFFERENTIATION = frozenset(
    {
        "adbc.api", "adbc.runtime", "adbc.runtime.entry.boxed", "adbc.runtime.entry.forward",
        "adbc.runtime.entry.reverse",
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
