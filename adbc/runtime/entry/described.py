"""What the ways in go by: a description of the arguments by which inline caches are keyed.

Lists of floats, and lists of such lists, are looked through here, for nobody has yet: what is known of their
elements is part of the type that a rule is made for.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any

from adbc.runtime.calls.plans import FLOATS, ROWS
from adbc.runtime.entry.structures import is_object, record, structure
from adbc.runtime.state.engine import SupportView
from adbc.types import AbstractType

__all__ = [
    "BARE",
    "NUMBERS",
    "are_numeric",
    "described",
    "elements",
    "is_array",
    "is_watched",
    "lists_in",
    "owner_of",
]

_FLOAT = frozenset({float})
NUMBERS = frozenset({float, int, bool})
"""Classes of which nothing else is needed to enter a function with an instance."""
BARE = NUMBERS | {str, type(None)}
"""Classes of values that are themselves wherever they stand, beside which there is nothing."""


def elements(x: list[Any]) -> AbstractType | None:
    """The type of a list of floats or of lists of floats, None of any other."""
    classes = [*map(type, x)]
    if classes.count(float) == len(x):
        return FLOATS
    if classes.count(list) == len(x) and _FLOAT.issuperset(map(type, chain.from_iterable(x))):
        return ROWS
    return None


def lists_in(args: Sequence[Any]) -> list[AbstractType | None]:
    """Per argument the type of a list whose elements are known (`elements`); nothing if none is a list."""
    if list not in map(type, args):
        return []
    return [elements(x) if type(x) is list else None for x in args]


def are_numeric(args: Sequence[Any]) -> bool:
    """Whether all arguments are numbers, arrays, or lists."""
    return all(cls in NUMBERS or cls is list or is_array(cls) for cls in map(type, args))


def is_array(cls: type) -> bool:
    """Whether `cls` is NumPy's own class of arrays."""
    return cls.__name__ == "ndarray" and cls.__module__ == "numpy"


def owner_of(x: Any) -> Any:
    """The array that the memory of array `x` belongs to; None if that is no array, or if `x` has gaps, in
    which case its elements might overlap."""
    if not x.flags.forc:
        return None
    while x.base is not None:
        x = x.base
        if type(x) is not sys.modules["numpy"].ndarray:  # loaded: there is an array
            return None
    return x


def described(args: Sequence[Any]) -> tuple[Any, ...] | None:
    """The key of the inline caches at the entrance: classes, of arrays with dtype and dimensions, of lists
    with the type of the elements if that is known, of tuples with the structure, of objects nothing more;
    None if these do not describe the arguments."""
    key: list[Any] = []
    for x in args:
        cls = type(x)
        key.append(cls)
        if cls is list:
            found = elements(x)
            key.append(None if found is None else found is FLOATS)
        elif cls not in NUMBERS and cls is not dict:
            if is_array(cls):
                key.append(x.dtype)
                key.append(x.ndim)
                continue
            parts = structure(x) or record(x)
            if parts is None and not is_object(x):
                return None
            key.append(parts)
    return tuple(key)


def is_watched(support: SupportView) -> bool:
    """Whether debugging looks at every call from outside: then none takes a short way."""
    return support.checks_aliases or support.watch is not None
