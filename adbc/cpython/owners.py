"""Which code a function was made in, and which of the variables that it shares with that code are kept.

A code object does not know the one around it.  Its qualified name says where to look, and it is a constant of
what is found there, or it was made otherwise.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from adbc.cpython.names import shared_written, with_nested
from adbc.functions import is_function

__all__ = ["kept_freevars"]

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


Written = MutableMapping[types.CodeType, frozenset[str]]
"""The variables in cells that code binds itself, as far as it has been asked: `shared_written`."""


def kept_freevars(
    code: types.CodeType, globals: Mapping[str, Any], written: Written | None = None
) -> frozenset[int]:
    """The numbers of the free variables of `code` that keep their values while a function with it runs.

    Those are the ones that only the function around it sets, which waits meanwhile: neither of the two is a
    generator or coroutine, which others go on with.  globals: where the outermost function is looked up.
    written: what has been found of code, to be looked at and added to: functions with many inside ask for all
    of them each time.
    """
    written = {} if written is None else written
    if not code.co_freevars or code.co_flags & _SUSPENDED:
        return frozenset()
    around = _around(code, globals)
    kept = set()
    for number, name in enumerate(code.co_freevars):
        owner = next((outer for outer in around if name in outer.co_cellvars), None)
        if owner is None or owner.co_flags & _SUSPENDED or not owner.co_flags & inspect.CO_NEWLOCALS:
            continue
        inside = (part for part in with_nested(owner) if part is not owner)
        if not any(name in _written_by(part, written) for part in inside):
            kept.add(number)
    return frozenset(kept)


def _written_by(code: types.CodeType, written: Written) -> frozenset[str]:
    found = written.get(code)
    if found is None:
        found = written[code] = shared_written(code)
    return found


def _around(code: types.CodeType, globals: Mapping[str, Any]) -> list[types.CodeType]:
    """The code objects around `code`, the innermost first; empty if they are not found."""
    names = code.co_qualname.split(".<locals>")[0].split(".")
    found: Any = globals.get(names[0])
    for name in names[1:]:
        found = vars(found).get(name) if issubclass(type(found), type) else None
    while (inner := _wrapped(found)) is not None:
        found = inner
    if not is_function(found):
        return []
    return next((path for path in _paths(found.__code__, []) if path[0] is code), [])[1:]


def _wrapped(found: Any) -> Any:
    """What a decorator has put `found` around; None if it is no such thing."""
    if issubclass(type(found), staticmethod | classmethod):
        return found.__func__
    if issubclass(type(found), property):
        return found.fget
    has_attributes = is_function(found) or type(found) is functools._lru_cache_wrapper
    return vars(found).get("__wrapped__") if has_attributes else None


def _paths(code: types.CodeType, around: list[types.CodeType]) -> Iterator[list[types.CodeType]]:
    """`code` and all code nested in it, each with what is around it behind it."""
    path = [code, *around]
    yield path
    for constant in code.co_consts:
        if issubclass(type(constant), types.CodeType):
            yield from _paths(constant, path)
