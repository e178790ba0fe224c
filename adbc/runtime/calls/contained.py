"""What stands in containers, however deep: whether C code that looks through them runs Python code."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from adbc.rules.classes import NESTING, builtin_data, overrides, plain_text, shown_by
from adbc.rules.table import TextRule
from adbc.runtime.calls.steps import Call, RunWatched, Step, UseTextRow
from adbc.tangents.fields import is_python_class

__all__ = ["compares_in_python", "compares_plainly", "text_in_c"]

_PLAIN = frozenset({int, float, bool, str, bytes, complex, type(None)})
_WITH_ELEMENTS = (dict, list, tuple, deque, set, frozenset)


def _holds(values: Iterable[Any], is_python: Callable[[type], bool], has_keys: bool) -> bool:
    """Whether a class of some value, or of what stands in a container among them, `is_python`; `has_keys`:
    keys of dicts, elements of sets, and what other objects show in their text, are looked at too."""
    pending, seen = list(values), set()
    while pending:
        x = pending.pop()
        cls = type(x)
        shown = shown_by(x) if has_keys else ()
        if id(x) in seen or (builtin_data(cls) and cls not in NESTING and not shown):
            continue
        seen.add(id(x))
        pending.extend(shown)
        if issubclass(cls, dict):
            pending.extend(dict.values(x))
            if has_keys:
                pending.extend(dict.keys(x))
        elif issubclass(cls, (list, deque)):
            within = deque.__iter__(x) if issubclass(cls, deque) else list.__iter__(x)
            kinds = set(map(type, within))
            if not all(builtin_data(kind) and kind not in NESTING for kind in kinds):
                pending.extend(deque.__iter__(x) if issubclass(cls, deque) else list.__iter__(x))
        elif issubclass(cls, tuple):
            pending.extend(tuple.__iter__(x))
        elif has_keys and issubclass(cls, (set, frozenset)):
            pending.extend((set if issubclass(cls, set) else frozenset).__iter__(x))
        if is_python(cls):
            return True
    return False


def _compares(cls: type) -> bool:
    """Whether instances of `cls`, which is no container, compare by Python code."""
    return any(overrides(cls, name) for name in ("__eq__", "__lt__", "__gt__"))


def compares_in_python(values: Iterable[Any]) -> bool:
    """Whether what stands in containers among `values` is compared by Python code."""
    return _holds(values, _compares, False)


def compares_plainly(values: Iterable[Any]) -> bool:
    """Whether it is seen quickly that the elements of lists and tuples among `values`, and the others, are
    compared without Python code (`compares_in_python`)."""
    for x in values:
        cls = type(x)
        if cls in _PLAIN:
            continue
        if cls is not list and cls is not tuple:
            if issubclass(cls, _WITH_ELEMENTS) or _compares(cls):
                return False
            continue
        for inside in set(map(type, x)) - _PLAIN:
            if inside is list or inside is tuple:
                if not all(_PLAIN.issuperset(map(type, y)) for y in x if type(y) is inside):
                    return False
            elif issubclass(inside, _WITH_ELEMENTS) or _compares(inside):
                return False
    return True


_READING: frozenset[Any] = frozenset(
    {operator.mod, str.__mod__, bytes.__mod__, str.format, str.format_map, str.translate}
)
"""Functions that read elements and attributes for the text that they make."""


def _has_text(cls: type) -> bool:
    """Whether instances of `cls` may have a text of their own."""
    return not plain_text(cls)


def _is_read_from(cls: type) -> bool:
    """Whether instances of `cls` may have a text, elements or attributes that Python code gives."""
    return is_python_class(cls) or not plain_text(cls)


def text_in_c(call: Call) -> Step:
    """Text made in C of values that may have a text of their own, however deep inside."""
    is_asked = _is_read_from if call.function in _READING else _has_text
    if _holds(call.args, is_asked, True):
        return RunWatched(call, "makes text", makes_text=True)
    # another call object: this depends on the values, and may not be kept as a decision about their classes
    return UseTextRow(TextRule(call.function), call.of(call.function))
