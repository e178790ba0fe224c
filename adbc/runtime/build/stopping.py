"""Which functions may raise `StopIteration` where they are called.

A generator from whose code that comes out raises a `RuntimeError` instead; a loop into which it is written
would let it pass.  What calls such a function therefore stays a generator.  The names in the code are asked,
and not the graph: that costs nothing, and says yes too often rather than too seldom.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

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
    """Whether `code` calls a function that may raise `StopIteration`: one of its module, one made in it, or a
    method that a class of its module has by that name."""
    seen = set() if seen is None else seen
    seen.add(code)
    called = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    module = globals.get("__name__")
    classes = [vars(cls) for cls in globals.values() if isinstance(cls, type) and cls.__module__ == module]
    for name in code.co_names:
        found = (globals.get(name), *(methods.get(name) for methods in classes))
        functions = (f for f in found if type(f) is types.FunctionType)
        called += [f.__code__ for f in functions if f.__globals__ is globals]
    return any(may_stop(c, globals, seen) for c in called if c not in seen and len(seen) < _MOST)
