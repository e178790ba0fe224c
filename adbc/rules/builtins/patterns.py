"""What ``match`` statements look at: the values of a mapping, the attributes of an instance.

The bodies say what the interpreter's instructions do, in Python that adbc can follow; what they find
keeps its derivative.
"""

from __future__ import annotations

from typing import Any

from adbc.ir import intrinsics
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]

_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is the subject itself."""


def match_keys(subject: Any, keys: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values of `keys` in the mapping `subject`, or None if one is missing."""
    if len(set(keys)) < len(keys):
        raise ValueError("mapping pattern checks duplicate key")
    found = []
    for key in keys:
        if key not in subject:
            return None
        found.append(subject[key])
    return tuple(found)


def match_class(subject: Any, kind: Any, names: tuple[str, ...], count: int) -> tuple[Any, ...] | None:
    """The attributes of `subject` that ``case kind(...)`` looks at, or None if it does not match."""
    if not isinstance(kind, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, kind):
        return None
    found = []
    positional: tuple[str, ...] = ()
    if count:
        itself = False
        if hasattr(kind, "__match_args__"):
            positional = kind.__match_args__
        else:
            itself = issubclass(kind, _ITSELF)
        allowed = 1 if itself else len(positional)
        if allowed < count:
            raise TypeError(
                f"{kind.__name__}() accepts {allowed} positional sub-pattern{'' if allowed == 1 else 's'}"
                f" ({count} given)"
            )
        if itself:
            found.append(subject)
        for i in range(0 if itself else count):
            try:  # once only: it may be computed
                found.append(getattr(subject, positional[i]))
            except AttributeError:
                return None
    for name in names:
        try:
            found.append(getattr(subject, name))
        except AttributeError:
            return None
    return tuple(found)


ROWS: list[Rule] = [
    Overlay(intrinsics._match_keys_, match_keys),
    Overlay(intrinsics._match_class_, match_class),
]
