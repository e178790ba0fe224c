"""What a thread runs that is started in a call: a look at what reaches it, and at what it may change.

A thread runs a function or a method, and from there the methods of what these hold.  Nothing is followed.
So what has a derivative may not be found on the way, nor memory that it may change later, unseen.
"""

from __future__ import annotations

import functools
import threading
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from adbc.cpython.cells import captured
from adbc.cpython.libraries import is_library_class, is_library_code
from adbc.cpython.wrappers import wrapped_by
from adbc.errors import UnsupportedError
from adbc.runtime.calls.changes import in_step
from adbc.runtime.calls.foreign import active_global
from adbc.runtime.state.context import Context
from adbc.tangents import MutableTangent
from adbc.tangents.contents import contents, differs
from adbc.tangents.fields import instance_fields, is_python_class

__all__ = ["check_thread", "look_at_thread"]

_MEMORY = (list, dict, set, deque, bytearray)
_VALUES = (str, bytes, int, float, bool, types.NoneType)


def run_by(roots: Iterable[Any]) -> Iterator[tuple[Any, bool]]:
    """The objects that are reached by what may be run when methods or functions among `roots` are called, by
    attributes of objects and by methods of the user's classes; with each, whether that is by an object of a
    library."""
    pending, seen = [(x, False) for x in roots], dict[int, Any]()
    while pending:
        x, is_inside = pending.pop()
        cls = type(x)
        if cls in _VALUES or id(x) in seen:
            continue
        seen[id(x)] = x
        yield x, is_inside
        parts = wrapped_by(x)
        found: list[Any] = []
        if parts is not None:
            found += parts
        elif cls is types.FunctionType:
            found += captured(x)
            is_inside = is_inside or is_library_code(x.__code__.co_filename, x.__globals__)
        elif cls in (list, tuple, set, frozenset, deque):
            found += x
        elif cls is dict:
            found += x.values()
        elif is_python_class(cls) and not issubclass(cls, type):
            found += [value for _, value in instance_fields(x)]
            for base in cls.__mro__:
                if is_python_class(base) and not is_library_class(base):
                    found += filter(None, map(_function_in, vars(base).values()))
            is_inside = is_inside or is_library_class(cls)
        pending += [(y, is_inside) for y in found]


def _function_in(member: Any) -> Any:
    """The function behind `member` of a class, or None."""
    if issubclass(type(member), staticmethod | classmethod):
        member = member.__func__
    elif issubclass(type(member), property):
        member = member.fget
    elif issubclass(type(member), functools.cached_property):
        member = member.func
    return member if type(member) is types.FunctionType else None


def check_thread(context: Context, thread: threading.Thread) -> None:
    """Raise if `thread`, which is to be started, runs what has a derivative, or what may change memory of the
    user's."""
    own = vars(thread)
    target = own.get("_target")
    roots = (
        [target, own.get("_args"), own.get("_kwargs")] if type(thread) is threading.Thread else [thread.run]
    )
    name = getattr(target, "__qualname__", "") or f"{type(thread).__qualname__}.run"
    # What is only in a tuple is not known by its address, but by the place that it stands in.
    shadow = context.shadows.lookup(thread)
    if isinstance(shadow, MutableTangent) and any(map(context.is_active, vars(shadow).values())):
        _refuse(name, "which a value with a derivative reaches")
    for x, is_inside in run_by(roots):
        if type(x) is types.FunctionType:
            if active_global(context, x) or context.is_active(context.known_shadow(x)):
                _refuse(name, "which a value with a derivative reaches")
        elif context.is_active(context.known_shadow(x)):
            what = "a value" if type(x) is types.MethodType else f"a {type(x).__name__}"
            _refuse(name, f"which {what} with a derivative reaches")
        elif not is_inside and issubclass(type(x), _MEMORY) and own.get("_kwargs") is not x:
            _refuse(name, f"which reaches a {type(x).__name__} that it may change while the function goes on")
    context.started[id(thread)] = thread, list(contents((thread,)))


def look_at_thread(context: Context, thread: threading.Thread) -> None:
    """Note what `thread`, which has been waited for, has put into its attributes: these are constants."""
    if id(thread) in context.started and not thread.is_alive():
        _, before = context.started.pop(id(thread))
        in_step(context, [(x, old) for x, old in before if differs(x, old)])


def _refuse(name: str, what: str) -> None:
    raise UnsupportedError(
        f"a thread is started that runs {name}, {what}",
        "what another thread computes is not followed",
        "call it in the function itself, or by the map or submit of a concurrent.futures.ThreadPoolExecutor",
    )
