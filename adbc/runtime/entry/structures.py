"""What arguments are made of: values without an address, and lists and dicts that hold such.

A way in is found once per structure of the arguments.  Then a glance has to tell whether an argument has that
structure, and its zero tangent has to be made without a walk: what holds nothing but numbers, text, tuples of
these, or lists and dicts of all this, needs neither the memory of a walk nor its pending work.  Whole columns
of classes are compared at once.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Iterable
from itertools import chain, compress, repeat
from typing import Any

from adbc.runtime.calls.classes import is_heap_type
from adbc.tangents import NO_TANGENT

__all__ = ["Pairs", "is_plain", "structure", "zeros"]

Pairs = list[tuple[Any, Any]]
"""Objects and their tangents."""

_FLOAT = {float}
_INACTIVE = frozenset({str, bytes, int, bool, type(None)})
_ATOMS = _INACTIVE | _FLOAT
_KEYS = frozenset({str, int})
_NESTED = frozenset({list, dict})
_EMPTY = frozenset({type(NO_TANGENT), list, dict})
"""Classes of the tangents of parts that by themselves are no sign of a derivative."""
_DEPTH = 4
"""How many containers may be nested; what holds itself has no end."""
_LONGEST, _DEEPEST = 32, 8
"""Tuples that are longer, or nested more deeply, are data and no structure (`types.typeof`)."""


def structure(x: Any, depth: int = _DEEPEST) -> Any:
    """The class of a value without an address, of a tuple those of its elements as a tuple; None if that is
    not known to say all of its structure."""
    cls = type(x)
    if cls is not tuple:
        return cls if cls in _ATOMS or cls is complex or _is_time(cls) else None
    classes = (*map(type, x),)
    if _ATOMS.issuperset(classes):
        return classes if len(classes) <= _LONGEST else None
    if not depth or len(classes) > _LONGEST:
        return None
    parts = tuple([structure(c, depth - 1) for c in x])
    return None if None in parts else parts


def _is_time(cls: type) -> bool:
    """Whether instances are dates, times or lengths of time, as the standard library has them."""
    return cls.__module__ == "datetime" and not is_heap_type(cls)


def is_plain(parts: Collection[Any]) -> bool:
    """Whether all `parts` are real numbers, text, None, or tuples of these, which have no address."""
    for _ in range(_DEEPEST):
        classes = {*map(type, parts)}
        if tuple not in classes:
            return classes <= _ATOMS or classes <= _ATOMS | {complex}
        if not classes <= _ATOMS | {tuple}:
            return False
        tuples = compress(parts, map(operator.is_, map(type, parts), repeat(tuple)))
        parts = [*chain.from_iterable(tuples)]
    return False


def zeros(x: Any, met: Pairs, is_asked: bool) -> Any:
    """The zero tangent of a list or dict of values without an address, or of such lists and dicts; each of
    these comes into `met` with its own.  None if it holds anything else.

    is_asked: None too if nothing in it is seen to have a derivative, of which somebody asks for it.
    """
    first = len(met)
    t = _zeros(x, met, _DEPTH)
    if t is None or not is_asked:
        return t
    for _, made in met[first:]:
        if not _EMPTY.issuperset(map(type, made if type(made) is list else made.values())):
            return t
    return None


def _zeros(x: Any, met: Pairs, depth: int) -> Any:
    cls = type(x)
    if cls is list:
        parts: Any = x
    elif cls is dict and {*map(type, x)} <= _KEYS and "__builtins__" not in x:  # the globals of a module
        parts = x.values()
    else:
        return None
    classes = {*map(type, parts)}
    t: Any
    if classes == _FLOAT:
        t = [0.0] * len(x) if cls is list else dict.fromkeys(x, 0.0)
    elif classes <= _INACTIVE:
        t = [NO_TANGENT] * len(x) if cls is list else dict.fromkeys(x, NO_TANGENT)
    else:
        made = _of_tuples(parts) if classes == {tuple} else None
        if made is None:
            if not depth:
                return None
            made = [_part(c, met, depth - 1) for c in parts]
            if None in made:
                return None
        t = made if cls is list else dict(zip(x, made, strict=True))
    met.append((x, t))
    return t


def _part(x: Any, met: Pairs, depth: int) -> Any:
    """The zero tangent of what is in a list or dict; None if that is not simple."""
    cls = type(x)
    if cls is float:
        return 0.0
    if cls in _INACTIVE:
        return NO_TANGENT
    if cls is tuple:
        return _of_tuple(x, _DEEPEST)
    return _zeros(x, met, depth) if cls in _NESTED else None


def _of_tuple(x: tuple[Any, ...], depth: int) -> Any:
    """The zero tangent of a tuple; None if there is more in it than atoms and tuples of such."""
    classes = (*map(type, x),)
    if _ATOMS.issuperset(classes):
        return _of_classes(classes)
    if not depth or not _ATOMS.issuperset([cls for cls in classes if cls is not tuple]):
        return None
    parts = [_of_tuple(c, depth - 1) if type(c) is tuple else _part(c, [], 0) for c in x]
    if None in parts:
        return None
    return NO_TANGENT if parts.count(NO_TANGENT) == len(parts) else tuple(parts)


def _of_tuples(parts: Iterable[Any]) -> list[Any] | None:
    """The zero tangents of tuples of the same atoms, as the rows of a table are; None of others."""
    rows = [*map(tuple, map(map, repeat(type), parts))]
    kinds = {*rows}
    if len(kinds) != 1:
        return None
    (classes,) = kinds
    return [_of_classes(classes)] * len(rows) if _ATOMS.issuperset(classes) else None


@functools.lru_cache(256)
def _of_classes(classes: tuple[type, ...]) -> Any:
    """The zero tangent of a tuple of atoms."""
    if float not in classes:
        return NO_TANGENT
    return tuple([0.0 if cls is float else NO_TANGENT for cls in classes])
