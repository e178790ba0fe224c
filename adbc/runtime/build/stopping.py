"""Which functions may raise `StopIteration` where they are called.

A generator from whose code that comes out raises a `RuntimeError` instead; a loop into which it is written
would let it pass.  What calls such a function therefore stays a generator.  The names in the code are asked,
and not the graph: that costs nothing, and says yes too often rather than too seldom.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from adbc.cpython.libraries import is_library_class, is_library_code
from adbc.passes.normal.dropped_generators import makes_generators

__all__ = ["calls_what_stops", "may_stop", "stops_inside"]

_NAMES = {"next", "__next__", "anext", "StopIteration"}

_MOST = 60
"""So many functions are looked into, and no more."""


def may_stop(
    code: types.CodeType, globals: Mapping[str, Any], seen: set[types.CodeType] | None = None
) -> bool:
    """Whether a call of a function with this code may raise `StopIteration`, as far as its names say."""
    return not makes_generators(code) and stops_inside(code, globals, seen)


def stops_inside(
    code: types.CodeType, globals: Mapping[str, Any], seen: set[types.CodeType] | None = None
) -> bool:
    """Whether running `code` may raise `StopIteration`, which a generator makes another error of."""
    return not _NAMES.isdisjoint(code.co_names) or calls_what_stops(code, globals, seen)


def calls_what_stops(
    code: types.CodeType, globals: Mapping[str, Any], seen: set[types.CodeType] | None = None
) -> bool:
    """Whether `code` calls a function that may raise `StopIteration`: one that its module knows by name, and
    that is of no library, one made in it, or a method that a class has by that name that its module knows."""
    seen = set() if seen is None else seen
    seen.add(code)
    called: list[tuple[types.CodeType, Mapping[str, Any]]] = [
        (constant, globals) for constant in code.co_consts if isinstance(constant, types.CodeType)
    ]
    classes = [vars(cls) for cls in globals.values() if isinstance(cls, type) and not is_library_class(cls)]
    for name in code.co_names:
        found = (globals.get(name), *(methods.get(name) for methods in classes))
        functions = (f for f in found if type(f) is types.FunctionType)
        called += [(f.__code__, f.__globals__) for f in functions if _is_of_program(f, globals)]
    return any(may_stop(c, space, seen) for c, space in called if c not in seen and len(seen) < _MOST)


def _is_of_program(function: types.FunctionType, globals: Mapping[str, Any]) -> bool:
    """Whether `function` is one of the module with these `globals`, or of another that is no library."""
    space = function.__globals__
    return space is globals or not is_library_code(function.__code__.co_filename, space)
