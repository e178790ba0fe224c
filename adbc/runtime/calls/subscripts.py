"""Subscripts: ``obj[key]`` of classes that implement it in Python, and keys that stand for whole numbers by
an ``__index__`` written in Python."""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.table import RuleTable
from adbc.runtime.calls.classes import is_python_function, lookup, python_method
from adbc.runtime.calls.steps import Call, Delegate, Protocols, Resolver, Step
from adbc.runtime.state.activity import is_active

__all__ = ["PROTOCOLS", "slice_at"]


def whole(x: Any) -> int:
    """``operator.index(x)`` of a class with ``__index__``."""
    cls: Any = type(x)
    answer = cls.__index__(x)
    if not isinstance(answer, int):
        raise TypeError(f"__index__ returned non-int (type {type(answer).__name__})")
    return answer


def _index(call: Call, table: RuleTable) -> Step | None:
    is_own = len(call.args) == 1 and python_method(type(call.args[0]), "__index__") is not None
    return Delegate(call.of(whole)) if is_own else None


def plain_index(index: Any) -> Any:
    """An index with whole numbers in place of objects with ``__index__``."""
    if type(index) is not slice:
        return operator.index(index)
    start, stop, step = index.start, index.stop, index.step
    start = None if start is None else operator.index(start)
    stop = None if stop is None else operator.index(stop)
    return slice(start, stop, None if step is None else operator.index(step))


def get_at(container: Any, index: Any) -> Any:
    return container[plain_index(index)]


def set_at(container: Any, index: Any, value: Any) -> None:
    container[plain_index(index)] = value


def delete_at(container: Any, index: Any) -> None:
    del container[plain_index(index)]


def on_whole_numbers(function: Any, *args: Any) -> Any:
    """``function(*args)``, all of which are whole numbers, or have an ``__index__``."""
    numbers = []
    for x in args:
        numbers.append(operator.index(x))  # noqa: PERF401  # before 3.12 a comprehension is a function
    return function(*numbers)


def method_at(method: Any, container: Any, index: Any, *rest: Any) -> Any:
    """``method(container, index, *rest)`` of a list."""
    return method(container, operator.index(index), *rest)


_AT = {operator.getitem: get_at, operator.setitem: set_at, operator.delitem: delete_at}

_INDEXED = (list, tuple, str, bytes, bytearray, range)


def _has_index(x: Any) -> bool:
    """Whether `x`, an index or a bound of one, has an ``__index__`` written in Python."""
    if type(x) is slice:
        return any(map(_has_index, (x.start, x.stop, x.step)))
    return python_method(type(x), "__index__") is not None


def _or_at_index(special: Resolver) -> Resolver:
    """`special`, and sequences of C whose index has an ``__index__`` written in Python."""

    def protocol(call: Call, table: RuleTable) -> Step | None:
        found = special(call, table)
        if found is not None or len(call.args) < 2:
            return found
        if isinstance(call.args[0], _INDEXED) and _has_index(call.args[1]):
            return Delegate(call.of(_AT[call.function]))
        return None

    return protocol


def _whole(call: Call, table: RuleTable) -> Step | None:
    if call.keywords or not any(map(_has_index, call.args)):
        return None
    return Delegate(call.prepend(on_whole_numbers, None, call.function, None, None))


def _method_at(call: Call, table: RuleTable) -> Step | None:
    if call.keywords or len(call.args) < 2 or not _has_index(call.args[1]):
        return None
    return Delegate(call.prepend(method_at, None, call.function, None, None))


def _subscript(name: str, body: Any) -> Resolver:
    """A subscript by method `name`, where that is written in Python; `body` is the same with an int for a key
    that says by ``__index__``, written in Python, which one it stands for."""

    def subscript(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) < 2 or call.keywords:
            return None
        method = python_method(type(call.args[0]), name)
        if method is not None:
            return Delegate(call.of(method))
        is_index = python_method(type(call.args[1]), "__index__") is not None
        return Delegate(call.of(body)) if is_index and _goes_by_position(type(call.args[0])) else None

    return subscript


def _goes_by_position(cls: type) -> bool:
    """Whether a key of an instance of `cls`, which is implemented in C, is a position."""
    return issubclass(cls, (list, tuple, deque, str, bytes, bytearray, range, memoryview)) or hasattr(
        cls, "__array_interface__"
    )


def slice_at(*bounds: Any) -> Any:
    """``slice(*bounds)`` of the ints that the bounds stand for: a slice has no shadow, and whoever read an
    object from it would find one without a derivative."""
    places = []
    for x in bounds:
        places.append(x if x is None else operator.index(x))  # noqa: PERF401  # before 3.12 a function
    return slice(*places)


def item_at(obj: Any, key: Any) -> Any:
    """``obj[key]`` of a sequence."""
    return obj[operator.index(key)]


def set_item_at(obj: Any, key: Any, value: Any) -> None:
    """``obj[key] = value`` of a sequence."""
    obj[operator.index(key)] = value


def delete_item_at(obj: Any, key: Any) -> None:
    """``del obj[key]`` of a sequence."""
    del obj[operator.index(key)]


_item = _subscript("__getitem__", item_at)


def _getitem(call: Call, table: RuleTable) -> Step | None:
    """``obj[key]``, of a class ``cls[key]`` too."""
    found = _item(call, table)
    if found is not None:
        return found
    obj = call.args[0]
    method = None
    if isinstance(obj, type) and lookup(type(obj), "__getitem__") is None:
        found = lookup(obj, "__class_getitem__")
        method = found.__func__ if isinstance(found, classmethod) else found
        method = method if is_python_function(method) else None
    return None if method is None else Delegate(call.of(method))


def _slice(call: Call, table: RuleTable) -> Step | None:
    """``slice(...)`` of values that have a derivative: what syntax makes of them."""
    if call.keywords or not 0 < len(call.args) < 4 or not any(map(is_active, call.shadows)):
        return None
    args, shadows, origins = call.args, call.shadows, call.origins
    if len(args) == 1:
        args, shadows, origins = (None, *args), (None, *shadows), (None, *origins)
    made = (slice, *args), (None, *shadows), (None, *origins)
    return Delegate(Call(intrinsics._new_, None, *made, (), None))


PROTOCOLS: Protocols = {
    operator.getitem: _or_at_index(_getitem),
    operator.setitem: _or_at_index(_subscript("__setitem__", set_item_at)),
    operator.delitem: _or_at_index(_subscript("__delitem__", delete_item_at)),
    operator.index: _index,
    **dict.fromkeys((range, chr, bin, hex, oct), _whole),
    list.insert: _method_at,
    list.pop: _method_at,
    slice: _slice,
}
"""What subscripts, and functions of whole numbers, lead to."""
