"""Functions that choose another one by the class of an argument: what `functools.singledispatch` makes.

The choice depends on a class and on what has been registered, and has no derivative.  So it is made here, by
the registry as it is; the cache of the function, which code that is being differentiated may clear, and the
pullback fill again, is left alone.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Sequence
from typing import Any

from adbc.runtime.calls.steps import Call, Delegate, Found, Step

__all__ = ["CALLED", "CHOOSING", "chosen", "implementation"]

_example: Any = functools.singledispatch(lambda x: x)
CALLED: types.CodeType = _example.__code__
"""The code of functions that call what they choose."""
_ASKING: types.CodeType = _example.dispatch.__code__

CHOOSING = frozenset({CALLED, _ASKING})
"""The code of functions that choose: of what is called, and of its ``dispatch``."""


def chosen(call: Call) -> Step | None:
    """What a call of a function with code in `CHOOSING` leads to; None if it fails, or has unusual
    arguments."""
    function = call.function
    if function.__code__ is CALLED:
        found = implementation(function, call.args[: call.count])
        return None if found is None else Delegate(call.of(found))
    if len(call.args) != 1 or call.keywords or not issubclass(type(call.args[0]), type):
        return None
    return Found(call, _implementation(function, call.args[0]))


def implementation(function: types.FunctionType, args: Sequence[Any]) -> Any:
    """What `function`, which has the code `CALLED`, calls with the positional `args`; None if it fails."""
    if not args:
        return None
    dispatch = _in_cell(function, "dispatch")
    if type(dispatch) is not types.FunctionType or dispatch.__code__ is not _ASKING:
        return None
    return _implementation(dispatch, args[0].__class__)


def _implementation(dispatch: types.FunctionType, cls: type) -> Any:
    """What ``dispatch(cls)`` gives."""
    registry = _in_cell(dispatch, "registry")
    return registry[cls] if cls in registry else functools._find_impl(cls, registry)  # type: ignore[attr-defined]


def _in_cell(function: types.FunctionType, name: str) -> Any:
    """The variable `name` of the function around `function`."""
    return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents  # type: ignore[index]
