"""Functions of which it is known that they are called as they are, if they are given constants only.

`plain.is_plain` looks at each call anew: at what is called, at what that leads to, at what it is given.
Where a function is given numbers and texts without a derivative, what was found rests on the function alone:
on its code, on what it has captured, and on what the names in it mean.  That is kept, and compared before it
is used.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from adbc.cpython.cells import captured
from adbc.cpython.libraries import FOR_CONSTANTS, is_library_code, is_library_module
from adbc.cpython.names import names_in
from adbc.cpython.wrappers import CACHED
from adbc.flags import HEAP_TYPE
from adbc.runtime.calls.reach import KEEP_NOTHING, package_of
from adbc.runtime.state.closures import with_active_defaults
from adbc.tangents import NO_TANGENT

__all__ = ["CONSTANTS", "PlainFunction", "are_constants", "may_look_at_callers", "remember"]

CONSTANTS = frozenset({str, bytes, int, float, complex, bool, types.NoneType})
"""Classes of values that lead nowhere."""

_ABSENT = object()


def may_look_at_callers(function: Any) -> bool:
    """Whether Python code that `function` runs may look at who called it.

    Of classes those of `typing` do, and a class of enums without members, which is called to make another:
    what is made tells which module it is of.
    """
    module = getattr(function, "__module__", None)
    if hasattr(function, "__globals__"):
        return module not in FOR_CONSTANTS
    return module == "typing" or getattr(function, "_member_map_", None) == {}


class PlainFunction:
    """What is known of a function, or class, that was called as it is.  It does not keep that alive.

    is_harmless: whether what it runs rebinds nothing that derived code uses.
    is_quiet: whether the code that it leads to is the user's, and finds functions and constants only.
    """

    def __init__(
        self, function: Any, reached: list[types.FunctionType], died: Callable[[Any], object]
    ) -> None:
        self.reference = weakref.ref(function, died)
        self.reached = [_Reached(f) for f in reached]
        self.is_harmless = function.__module__ in FOR_CONSTANTS
        self.is_quiet = bool(reached) and all(map(_finds_functions_only, reached))
        self.looks = may_look_at_callers(function)
        """Whether it may look at who called."""
        self.finds_memory = False
        """Whether it was seen to find memory by itself, so that each call is looked at."""

    def holds(self, function: Any) -> bool:
        """Whether all that this rests on is as it was; `function` has the address of that which it is of."""
        if self.reference() is not function:
            return False
        for reached in self.reached:  # noqa: SIM110  # called often
            if not reached.holds():
                return False
        return True


class _Reached:
    """What a function in Python, which is called, was when it was looked at."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = weakref.ref(function)
        self.code = weakref.ref(function.__code__)
        self.defaults = None if _is_of_library(function) else _defaults(function)
        self.contents = list(map(_held, captured(function)))
        namespace = function.__globals__
        self.names = [(n, _held(namespace.get(n, _ABSENT))) for n in _named(function)]

    def holds(self) -> bool:
        f = self.function()
        if f is None or f.__code__ is not self.code() or f in with_active_defaults:
            return False
        if self.defaults is not None and self.defaults != _defaults(f):
            return False
        if self.contents:
            now = captured(f)
            if len(now) != len(self.contents) or any(h() is not x for h, x in zip(self.contents, now)):  # noqa: B905
                return False
        if self.names:
            namespace = f.__globals__
            for name, held in self.names:
                if namespace.get(name, _ABSENT) is not held():
                    return False
        return True


def _held(x: Any) -> Callable[[], Any]:
    """What gives `x`, without keeping it alive if others may want it gone."""
    return (lambda: x) if x is _ABSENT or type(x) in CONSTANTS else weakref.ref(x)


def are_constants(xs: Sequence[Any], fs: Sequence[Any]) -> bool:
    """Whether all arguments are values of `CONSTANTS` without a derivative."""
    for x, f in zip(xs, fs):  # noqa: B905  # called often
        if (f is not None and f is not NO_TANGENT) or type(x) not in CONSTANTS:
            return False
    return True


def remember(known: dict[int, PlainFunction], function: Any) -> None:
    """Put `function`, which was called as it is on nothing but constants, into `known`, if what that rests
    on can be told."""
    is_class = issubclass(type(function), type)
    if not is_class and type(function) is not types.FunctionType and type(function) is not CACHED:
        return
    if "<locals>" in function.__qualname__:
        return  # the next call is of another one
    reached = [] if is_class else _functions_only(function)  # what a class leads to is looked at each time
    if reached is not None:
        at = id(function)
        known[at] = PlainFunction(function, reached, lambda _: known.pop(at, None))


def _functions_only(function: Any) -> list[types.FunctionType] | None:
    """The functions in Python that `function` leads to; None if it leads to anything else that may change."""
    found: dict[int, types.FunctionType] = {}
    pending = [function]
    while pending:
        x = pending.pop()
        if type(x) is CACHED:
            pending.append(getattr(x, "__wrapped__", None))
        elif type(x) is types.FunctionType:
            if id(x) not in found:
                found[id(x)] = x
                pending.extend(captured(x))
                if not _is_of_library(x):
                    pending.extend(x.__defaults__ or ())
                    pending.extend((x.__kwdefaults__ or {}).values())
                    pending.extend(x.__globals__[n] for n in _named(x) if n in x.__globals__)
        elif issubclass(type(x), types.ModuleType):
            if not is_library_module(x):
                return None
        elif not (type(x) in CONSTANTS or issubclass(type(x), type | types.BuiltinFunctionType)):
            return None
    return list(found.values())


def _is_of_library(function: types.FunctionType) -> bool:
    return is_library_code(function.__code__.co_filename, function.__globals__)


def _finds_functions_only(function: types.FunctionType) -> bool:
    """Whether `function`, of those that `_functions_only` finds, is the user's, and names neither classes in
    Python nor packages that may keep something."""
    if _is_of_library(function):
        return False
    values = [*captured(function), *(function.__globals__.get(name) for name in _named(function))]
    return not any(
        x.__flags__ & HEAP_TYPE
        if issubclass(type(x), type)
        else issubclass(type(x), types.ModuleType) and package_of(x) not in KEEP_NOTHING
        for x in values
    )


def _defaults(function: types.FunctionType) -> tuple[Any, Any]:
    return function.__defaults__, dict(function.__kwdefaults__ or {})


def _named(function: types.FunctionType) -> Sequence[str]:
    """The names of globals in code of the user's: those of a library are taken to mean what they did."""
    return () if _is_of_library(function) else names_in(function.__code__)
