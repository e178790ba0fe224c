"""Functions that look at values and say nothing smooth about them: zero derivatives, declared.

The derivative of ``len`` or ``print`` is zero, and so by convention is that of what leaves the
numbers: ``str``, ``repr``, ``format``, ``hash``, ``id``.
"""

from __future__ import annotations

import builtins
import time
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import NESTING, builtin_data, overrides, plain_attributes, plain_text, stands_for
from adbc.rules.table import Rule, TextRule, ZeroRule

__all__ = ["ROWS"]


def _c_method(name: str) -> Any:
    """A `when` that holds if method `name` of the class of the first argument is C code."""
    return lambda cls, *rest: not overrides(cls, name)


def _flat_text(*classes: type) -> bool:
    """Whether values of these classes are written as text without Python code being run for their parts."""
    return plain_text(*classes) and not any(issubclass(cls, NESTING) for cls in classes)


def _joinable(*classes: type) -> bool:
    """Whether the second of two arguments holds all elements already: none is made while they are joined."""
    return len(classes) == 2 and classes[1] in (list, tuple, str, dict, set, frozenset)


def _is_itself(*classes: type) -> bool:
    """Whether this is ``type(x)`` of an `x` that does not stand for an object of another class."""
    return len(classes) == 1 and stands_for(classes[0]) is None


def _is_plain_class(*classes: type) -> bool:
    """Whether this is ``type(x)``, and its result an instance of `type` and of no other metaclass."""
    return _is_itself(*classes) and type(classes[0]) is type


def _is_given(*classes: type) -> bool:
    """Whether there is an argument."""
    return bool(classes)


def _of_positions(*classes: type) -> bool:
    """Whether all bounds of a slice are positions, or left out."""
    return 1 <= len(classes) <= 3 and all(cls in (int, type(None)) for cls in classes)


def _hashes(cls: type) -> bool:
    return builtin_data(cls) or not overrides(cls, "__hash__")


_ANSWERS: dict[type, tuple[str, ...]] = {
    bool: (
        "endswith", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower",
        "isnumeric", "isprintable", "isspace", "istitle", "isupper", "startswith",
    ),
    int: ("count", "find", "index", "rfind", "rindex"),
}  # fmt: skip
"""The methods that say of a text what is in it."""

_TEXTS: dict[type, tuple[str, ...]] = {
    bytes: ("encode",),
    list: ("rsplit", "split", "splitlines"),
    str: (
        "capitalize", "casefold", "center", "expandtabs", "format", "ljust", "lower", "lstrip",
        "removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "upper",
        "zfill",
    ),
    tuple: ("partition", "rpartition"),
}  # fmt: skip
"""Those that make texts of a text."""


def _of_text(made: type[ZeroRule], names: dict[type, tuple[str, ...]]) -> list[Rule]:
    return [made(getattr(str, name), result=cls) for cls, known in names.items() for name in known]


ROWS: list[Rule] = [
    ZeroRule(len, when=_c_method("__len__"), result=int),
    ZeroRule(hash, when=_hashes, result=int),
    ZeroRule(id, result=int),
    ZeroRule(type, when=_is_plain_class, result=type),
    ZeroRule(type, when=_is_itself),
    ZeroRule(isinstance, result=bool),
    ZeroRule(issubclass, result=bool),
    ZeroRule(callable, result=bool),
    ZeroRule(intrinsics._members_, result=tuple),
    ZeroRule(hasattr, when=lambda cls, *name: plain_attributes(cls), result=bool),
    TextRule(print, when=_flat_text),
    TextRule(repr, when=_flat_text, result=str),
    TextRule(ascii, when=_flat_text, result=str),
    TextRule(str, when=_flat_text, result=str),
    TextRule(format, when=lambda cls, *spec: _flat_text(cls), result=str),
    TextRule(intrinsics._format_, when=lambda cls, *how: _flat_text(cls), result=str),
    TextRule(intrinsics._join_, result=str),
    ZeroRule(range, result=range),
    ZeroRule(slice, when=_of_positions, result=slice),
    TextRule(ord, result=int),
    *(ZeroRule(f, result=str) for f in (chr, bin, hex, oct)),
    ZeroRule(dir, when=_is_given),  # without an argument it looks at its frame, which is refused
    ZeroRule(builtins.object),
    ZeroRule(builtins.object.__init__),
    ZeroRule(time.time, result=float),
    ZeroRule(time.perf_counter, result=float),
    ZeroRule(time.monotonic, result=float),
    ZeroRule(time.process_time, result=float),
    ZeroRule(time.sleep),
    *_of_text(ZeroRule, _ANSWERS),
    *_of_text(TextRule, _TEXTS),
    TextRule(str.join, when=_joinable, result=str),
    ZeroRule(slice.indices, result=tuple),
]
