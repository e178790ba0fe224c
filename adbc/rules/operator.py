"""`operator`: what is more than an operator of Python, in Python so that it is differentiated.

The operators themselves have rows beside the values they are about.  What an `itemgetter` or the like
was made with is read from it: it may have been made long before anything is differentiated.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from adbc.ir.intrinsics import _load_special_
from adbc.rules.classes import overrides
from adbc.rules.sequences import count_of
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def keys_of(getter: Any) -> tuple[Any, ...]:
    """The keys of an `operator.itemgetter`."""
    keys: tuple[Any, ...] = getter.__reduce__()[1]
    return keys


def paths_of(getter: Any) -> tuple[tuple[str, ...], ...]:
    """The names of an `operator.attrgetter`, taken apart at the dots."""
    return tuple([tuple(path.split(".")) for path in getter.__reduce__()[1]])


def _itemgetter_call(getter: Any, obj: Any, /) -> Any:
    keys = keys_of(getter)
    if len(keys) == 1:
        return obj[keys[0]]
    out: list[Any] = []
    for key in keys:
        out.append(obj[key])  # noqa: PERF401  # before 3.12 a comprehension is a function
    return tuple(out)


def _attribute(obj: Any, path: Any) -> Any:
    for name in path:
        obj = getattr(obj, name)
    return obj


def _attrgetter_call(getter: Any, obj: Any, /) -> Any:
    paths = paths_of(getter)
    if len(paths) == 1:
        return _attribute(obj, paths[0])
    out: list[Any] = []
    for path in paths:
        out.append(_attribute(obj, path))  # noqa: PERF401  # before 3.12 a comprehension is a function
    return tuple(out)


def parts_of(caller: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Name, arguments and keywords of an `operator.methodcaller`."""
    made, args = caller.__reduce__()
    if isinstance(made, functools.partial):
        return made.args[0], args, dict(made.keywords)
    return args[0], args[1:], {}


def _methodcaller_call(caller: Any, obj: Any, /) -> Any:
    name, args, keywords = parts_of(caller)
    return getattr(obj, name)(*args, **keywords)


class _Methodcaller:
    """`operator.methodcaller` made with arguments that have a derivative."""

    def __init__(self, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.name = name
        self.args = args
        self.keywords = keywords

    def __call__(self, obj: Any, /) -> Any:
        return getattr(obj, self.name)(*self.args, **self.keywords)


def _methodcaller(name: Any, /, *args: Any, **keywords: Any) -> Any:
    if not isinstance(name, str):
        raise TypeError("method name must be a string")
    return _Methodcaller(name, args, keywords)


def _check_sequence(a: Any) -> None:
    if not hasattr(a, "__getitem__"):
        raise TypeError(f"'{type(a).__name__}' object can't be concatenated")


def _concat(a: Any, b: Any, /) -> Any:
    _check_sequence(a)
    return a + b


def _iconcat(a: Any, b: Any, /) -> Any:
    _check_sequence(a)
    a += b
    return a


def _index_of(a: Any, b: Any, /) -> int:
    index = 0
    for x in a:
        if x is b or x == b:
            return index
        index += 1  # noqa: SIM113  # what is differentiated had better be simple
    raise ValueError("sequence.index(x): x not in sequence")


def _length_hint(obj: Any, default: int = 0, /) -> Any:
    cls = type(obj)
    if hasattr(cls, "__len__"):
        try:
            return len(obj)
        except TypeError:
            pass
    if not hasattr(cls, "__length_hint__"):
        return default
    try:
        hint = _load_special_(obj, "__length_hint__")()
    except TypeError:
        return default
    if hint is NotImplemented:
        return default
    if not isinstance(hint, int):
        raise TypeError(f"__length_hint__ must be an integer, not {type(hint).__name__}")
    if hint < 0:
        raise ValueError("__length_hint__() should return >= 0")
    return hint


def _c_length(cls: type, *default: type) -> bool:
    return not any(overrides(cls, name) for name in ("__len__", "__length_hint__"))


def _call(obj: Any, /, *args: Any, **keywords: Any) -> Any:
    return obj(*args, **keywords)


ROWS: list[Rule] = [
    ZeroRule(keys_of, result=tuple),
    ZeroRule(paths_of, result=tuple),
    ZeroRule(parts_of, result=tuple),
    Overlay(operator.itemgetter.__call__, _itemgetter_call),
    Overlay(operator.attrgetter.__call__, _attrgetter_call),
    Overlay(operator.methodcaller.__call__, _methodcaller_call),
    Overlay(operator.methodcaller, _methodcaller),
    Overlay(operator.concat, _concat),
    Overlay(operator.iconcat, _iconcat),
    Overlay(operator.countOf, count_of, result=int),
    Overlay(operator.indexOf, _index_of, result=int),
    ZeroRule(operator.length_hint, when=_c_length, result=int),
    Overlay(operator.length_hint, _length_hint),
    Overlay(operator.call, _call),
]
