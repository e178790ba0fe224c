"""Getters of `operator` as functions: ``itemgetter(1)`` is ``lambda obj: obj[1]``."""

from __future__ import annotations

import functools
import keyword
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["getter_function"]

_SIMPLE = (int, str, float, bool, bytes, type(None))


def getter_function(kind: Any, args: Sequence[Any], named: dict[str, Any]) -> types.FunctionType | None:
    """The function that does what ``kind(*args, **named)`` does, one for all that are made of the same.

    None if `kind` is no class of getters, or its arguments are none that can be written down.
    """
    write = next((write for known, write in _WRITTEN.items() if kind is known), None)
    if write is None or not args or not all(map(_is_simple, (*args, *named.values()))):
        return None
    source = write(args, named)
    return None if source is None else _made(kind.__name__, source)


@functools.lru_cache(500)
def _made(name: str, source: str) -> types.FunctionType:
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(f"def {name}(obj, /):\n    return {source}", __file__, "exec"), space)
    return space[name]  # type: ignore[no-any-return]  # a function


def _is_simple(x: Any) -> bool:
    if type(x) is tuple:
        return all(map(_is_simple, x))
    return type(x) in _SIMPLE and (type(x) is not float or x - x == 0.0)


def _items(args: Sequence[Any], named: dict[str, Any]) -> str | None:
    return None if named else _together([f"obj[{key!r}]" for key in args])


def _attributes(args: Sequence[Any], named: dict[str, Any]) -> str | None:
    if named or not all(type(a) is str and all(map(_is_name, a.split("."))) for a in args):
        return None
    return _together([f"obj.{name}" for name in args])


def _method(args: Sequence[Any], named: dict[str, Any]) -> str | None:
    name, *given = args
    if type(name) is not str or not _is_name(name):
        return None
    parts = [*map(repr, given), *(f"{k}={v!r}" for k, v in named.items())]
    return f"obj.{name}({', '.join(parts)})"


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("__")


def _together(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


_WRITTEN: dict[type, Callable[[Sequence[Any], dict[str, Any]], str | None]] = {
    operator.itemgetter: _items,
    operator.attrgetter: _attributes,
    operator.methodcaller: _method,
}
"""By class of getter, what writes its function."""
