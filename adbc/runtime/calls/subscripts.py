"""Subscripts: ``obj[key]`` of classes that implement it in Python, and keys that stand for whole numbers by
an ``__index__`` written in Python."""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import stands_for_position
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.classes import is_python_function, lookup, python_method
from adbc.runtime.calls.steps import Call, Delegate, Protocols, Resolver, Step
from adbc.runtime.state.activity import is_active

__all__ = ["PROTOCOLS", "slice_at"]


def whole(x: Any) -> int:
    """``operator.index(x)`` where the class of `x` has ``__index__``."""
    answer = intrinsics._load_special_(x, "__index__")()
    if not issubclass(type(answer), int):
        raise TypeError(f"__index__ returned non-int (type {type(answer).__name__})")
    return answer  # type: ignore[no-any-return]  # an int


def _index(call: Call, table: RuleTable) -> Step | None:
    is_own = len(call.args) == 1 and stands_for_position(type(call.args[0]))
    return Delegate(call.of(whole)) if is_own else None


def plain_index(index: Any) -> Any:
    """An index with whole numbers in place of objects with ``__index__``."""
    if type(index) is not slice:
        return operator.index(index)
    start, stop, step = index.start, index.stop, index.step
    start = None if start is None else operator.index(start)
    stop = None if stop is None else operator.index(stop)
    return slice(start, stop, None if step is None else operator.index(step))


def item_at(obj: Any, key: Any) -> Any:
    """``obj[key]`` of a sequence; `key` may have objects with ``__index__`` for whole numbers."""
    return obj[plain_index(key)]


def set_item_at(obj: Any, key: Any, value: Any) -> None:
    """``obj[key] = value`` of a sequence; `key` may have objects with ``__index__`` for whole numbers."""
    obj[plain_index(key)] = value


def delete_item_at(obj: Any, key: Any) -> None:
    """``del obj[key]`` of a sequence; `key` may have objects with ``__index__`` for whole numbers."""
    del obj[plain_index(key)]


def on_whole_numbers(function: Any, *args: Any) -> Any:
    """``function(*args)``, all of which are whole numbers, or have an ``__index__``."""
    numbers = []
    for x in args:
        numbers.append(operator.index(x))  # noqa: PERF401  # before 3.12 a comprehension is a function
    return function(*numbers)


def method_at(method: Any, container: Any, index: Any, *rest: Any) -> Any:
    """``method(container, index, *rest)`` of a list."""
    return method(container, operator.index(index), *rest)


def _has_index(x: Any) -> bool:
    """Whether `x`, an index or a bound of one, has an ``__index__`` written in Python."""
    if type(x) is slice:
        return any(map(_has_index, (x.start, x.stop, x.step)))
    return stands_for_position(type(x))


def _whole(call: Call, table: RuleTable) -> Step | None:
    """A function of whole numbers, one of which is an object with an ``__index__`` written in Python."""
    if call.keywords or not any(map(_has_index, call.args)):
        return None
    return Delegate(call.prepend(on_whole_numbers, None, call.function, None, None))


def _method_at(call: Call, table: RuleTable) -> Step | None:
    """A method of a list whose index is an object with an ``__index__`` written in Python."""
    if call.keywords or len(call.args) < 2 or not _has_index(call.args[1]):
        return None
    return Delegate(call.prepend(method_at, None, call.function, None, None))


def _subscript(name: str, body: Any) -> Resolver:
    """The resolver of a subscript: by method `name`, if that is written in Python, or by `body`, which takes
    a key that stands for a whole number, or a slice of such, for that."""

    def subscript(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) < 2 or call.keywords:
            return None
        obj, key = call.args[:2]
        method = python_method(type(obj), name)
        if method is not None:
            return Delegate(call.of(method))
        return Delegate(call.of(body)) if _has_index(key) and _goes_by_position(type(obj), key) else None

    return subscript


_SEQUENCES = (list, tuple, str, bytes, bytearray, range)


def _goes_by_position(cls: type, key: Any) -> bool:
    """Whether `key` says a position in an instance of `cls`, which is implemented in C."""
    if issubclass(cls, _SEQUENCES):
        return True
    return type(key) is not slice and (
        issubclass(cls, (deque, memoryview)) or hasattr(cls, "__array_interface__")
    )


def slice_at(*bounds: Any) -> Any:
    """``slice(*bounds)`` of the ints that the bounds stand for: a slice has no shadow, and whoever read an
    object from it would find one without a derivative."""
    places = []
    for x in bounds:
        places.append(x if x is None else operator.index(x))  # noqa: PERF401  # before 3.12 a function
    return slice(*places)


_item = _subscript("__getitem__", item_at)


def _getitem(call: Call, table: RuleTable) -> Step | None:
    """``obj[key]``, of a class ``cls[key]`` too."""
    found = _item(call, table)
    if found is not None:
        return found
    obj = call.args[0]
    method = None
    if issubclass(type(obj), type) and lookup(type(obj), "__getitem__") is None:
        found = lookup(obj, "__class_getitem__")
        method = found.__func__ if issubclass(type(found), classmethod) else found
        method = method if is_python_function(method) else None
    return None if method is None else Delegate(call.of(method))


def _slice(call: Call, table: RuleTable) -> Step | None:
    """The step for ``slice(...)`` of values that have a derivative: that of the syntax of slices."""
    if call.keywords or not 0 < len(call.args) < 4 or not any(map(is_active, call.shadows)):
        return None
    args, shadows, origins = call.args, call.shadows, call.origins
    if len(args) == 1:
        args, shadows, origins = (None, *args), (None, *shadows), (None, *origins)
    made = (slice, *args), (None, *shadows), (None, *origins)
    return Delegate(Call(intrinsics._new_, None, *made, (), None))


PROTOCOLS: Protocols = {
    operator.getitem: _getitem,
    operator.setitem: _subscript("__setitem__", set_item_at),
    operator.delitem: _subscript("__delitem__", delete_item_at),
    operator.index: _index,
    **dict.fromkeys((range, chr, bin, hex, oct), _whole),
    list.insert: _method_at,
    list.pop: _method_at,
    slice: _slice,
}
"""What subscripts, and functions of whole numbers, lead to."""
