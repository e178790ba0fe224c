"""How many arguments functions in C take.

A rule, or what stands for a function, may take another number of arguments than the function does, or
raise another exception for it.  So a call that does not fit is made plainly: the function looks at the number
of its arguments before anything else, and raises what it raises in a plain run.
"""

from __future__ import annotations

import inspect
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["is_misfit"]

_IN_C = frozenset({types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType})
_OF_NUMPY = frozenset({"ufunc", "_ArrayFunctionDispatcher"})
_MANY = 1 << 30
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

_UNTOLD: dict[Callable[..., Any], tuple[int, int]] = {
    getattr: (2, 3),
    next: (1, 2),
    iter: (1, 2),
    list.__getitem__: (2, 2),
    dict.__getitem__: (2, 2),
    dict.pop: (2, 3),
    OrderedDict.pop: (2, 3),
    **dict.fromkeys((dict.clear, dict.copy, dict.items, dict.keys, dict.values), (1, 1)),
    **dict.fromkeys((OrderedDict.clear, OrderedDict.copy), (1, 1)),
    **dict.fromkeys((OrderedDict.items, OrderedDict.keys, OrderedDict.values), (1, 1)),
    **dict.fromkeys((deque.pop, deque.popleft, deque.clear, deque.copy, deque.reverse), (1, 1)),
    **dict.fromkeys((deque.append, deque.appendleft, deque.extend, deque.extendleft), (2, 2)),
    **dict.fromkeys((deque.remove, deque.count), (2, 2)),
}
"""Functions whose signatures nothing tells, with the least and the largest number of positional arguments."""

_OF_ONE: dict[Any, str] = {max: "default", min: "default"}
"""Keywords that go with one positional argument only."""

_known: dict[Any, tuple[int, int] | None] = {}


def _bounds(function: Any) -> tuple[int, int] | None:
    """The least and the largest number of positional arguments of `function`; None if nothing tells."""
    if type(function).__name__ == "ufunc":
        return function.nin, function.nin + function.nout
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return _UNTOLD.get(function)
    by_position = [p for p in parameters if p.kind in _BY_POSITION]
    is_open = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    least = sum(p.default is inspect.Parameter.empty for p in by_position)
    return least, _MANY if is_open else len(by_position)


def is_misfit(function: Any, count: int, keywords: Sequence[str] = ()) -> bool:
    """Whether `function`, one in C, takes no `count` arguments by position, or not beside these keywords.

    Where nothing tells, it counts as one that does.
    """
    cls = type(function)
    if cls not in _IN_C and not (cls.__name__ in _OF_NUMPY and cls.__module__ == "numpy"):
        return False
    try:
        bounds = _known[function]
    except KeyError:
        if cls is types.BuiltinFunctionType and type(function.__self__) is not types.ModuleType:
            return False  # bound to an object: such methods come and go
        bounds = _known[function] = _bounds(function)
    except TypeError:  # its hash is that of the object that it is bound to
        return False
    if bounds is None:
        return count > 1 and bool(keywords) and _OF_ONE.get(function) in keywords
    return count > bounds[1] or (count < bounds[0] and not keywords)
