"""Comparisons that C code makes of what stands in containers, where Python code answers for some of it.

`list.index` and its kin, and the comparison of lists and tuples, compare one element after the other, and so
do the functions here, which adbc can follow.  Dicts and their views, which compare by hash, are compared by C
code that is watched.
"""

from __future__ import annotations

import operator
import sys
from collections import OrderedDict, deque
from types import MethodType
from typing import Any

from adbc.rules.builtins.operators import of_equal_functions
from adbc.rules.lookup import RuleTable
from adbc.rules.sequences import count_of
from adbc.rules.table import ZeroRule
from adbc.runtime.calls.contained import compares_in_python, compares_plainly
from adbc.runtime.calls.steps import Call, Delegate, Protocols, Resolver, RunWatched, Step, UseRow

__all__ = ["PLAINLY", "PROTOCOLS", "SEARCHES", "compare_containers", "compared_plainly"]


def place_of(base: Any, values: Any, value: Any, start: int, stop: int) -> int:
    """The first index from `start` to `stop` of an element that is or equals `value`; -1 if there is none.

    `values` is of class `base`, or one derived from it, whose methods are not asked.
    """
    size = base.__len__(values)
    if start < 0:
        start = max(start + size, 0)
    if stop < 0:
        stop = max(stop + size, 0)
    index = start
    while index < stop and index < base.__len__(values):
        x = base.__getitem__(values, index)
        if x is value or x == value:
            return index
        index += 1
    return -1


class _Missing:
    """The error of `list.index` and its kin for a value that is not there."""

    def __call__(self, method: Any, value: Any) -> None:
        method(method.__objclass__(), value)


missing = _Missing()


def index_of(method: Any, values: Any, value: Any, start: int = 0, stop: int = sys.maxsize, /) -> int:
    """``method(values, value, ...)``, which is `list.index` or `tuple.index`."""
    index = place_of(method.__objclass__, values, value, start, stop)
    if index < 0:
        missing(method, value)
    return index


def count_in(method: Any, values: Any, value: Any, /) -> int:
    """``method(values, value)``, which is `list.count` or `tuple.count`."""
    return count_of(method.__objclass__.__iter__(values), value)


def removed(method: Any, values: Any, value: Any, /) -> None:
    """``list.remove(values, value)``."""
    index = place_of(list, values, value, 0, sys.maxsize)
    if index < 0:
        missing(method, value)
    list.__delitem__(values, index)


def _searching(body: Any) -> Resolver:
    """The resolver of a method that compares the elements with its argument, one after the other."""

    def searching(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) < 2 or call.keywords:
            return None
        if compares_in_python(call.args[:2]):
            return Delegate(call.prepend(body, None, call.function, None, None))
        # another call object: this depends on what stands in the container
        return UseRow(ZeroRule(call.function), call.of(call.function)) if body is not removed else None

    return searching


# -- containers with containers ------------------------------------------------------------------------------


def first_difference(a: Any, b: Any) -> int:
    """The index of the first elements of `a` and `b` that differ; the length of the shorter if none do."""
    index = 0
    while index < len(a) and index < len(b):
        x, y = a[index], b[index]
        if not (x is y or x == y):
            return index
        index += 1
    return index


def compared(compare: Any, a: Any, b: Any) -> Any:
    """``compare(a, b)`` of two lists, tuples or deques, by one of the six comparisons of `operator`."""
    equal, unequal = compare is operator.eq, compare is operator.ne
    if (equal or unequal) and type(a) is not tuple and len(a) != len(b):
        return unequal
    index = first_difference(a, b)
    if index >= len(a) or index >= len(b):
        return compare(len(a), len(b))
    if equal or unequal:
        return unequal
    return compare(a[index], b[index])


_ONE_BY_ONE = (list, tuple, deque)


def compare_containers(call: Call) -> Step | None:
    """The step of a comparison of two builtin containers, which may be up to Python code; None of others."""
    a, b = call.args
    if type(a) not in _COMPARED or type(b) not in _COMPARED:
        return compare_in_c(call, None) if _derive_from_containers(call) else None
    if not compares_in_python(call.args):
        # another call object: this depends on what stands in the containers
        return UseRow(ZeroRule(call.function), call.of(call.function))
    if type(a) is type(b) and type(a) in _ONE_BY_ONE:
        return Delegate(call.prepend(compared, None, call.function, None, None))
    return RunWatched(call, "compares")


def _derive_from_containers(call: Call) -> bool:
    """Whether classes that derive from builtin ones have left it to these to compare their instances."""
    name = call.function.__name__
    is_any = False
    for x, asked in zip(call.args, (name, _MIRRORED.get(name, name)), strict=True):
        cls, method = type(x), f"__{asked}__"
        found = next(vars(base)[method] for base in cls.__mro__ if method in vars(base))
        if found is not getattr(object, method) and (found.__hash__ is None or found not in _METHODS):
            return False
        is_any = is_any or issubclass(cls, _WITH_PARTS)
    return is_any


def compare_in_c(call: Call, table: RuleTable | None) -> Step | None:
    """The step of a comparison by a method of a builtin class: ``dict.__eq__(a, b)``, which an operator asks
    where the classes of the operands derive from it."""
    if len(call.args) != 2 or call.keywords:
        return None
    if compares_in_python(call.args):
        return RunWatched(call, "compares")
    # another call object: this depends on what stands in the containers
    return UseRow(ZeroRule(call.function), call.of(call.function))


_BUILTIN: tuple[Any, ...] = (
    int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, deque, OrderedDict,
    type({}.keys()), type({}.items()),
)  # fmt: skip
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_WITH_PARTS = (list, tuple, dict, set, frozenset, deque)
_METHODS = frozenset(
    vars(cls)[name]
    for cls in _BUILTIN
    for name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
    if name in vars(cls)
)
"""The methods of builtin classes that compare."""

_COMPARED: tuple[Any, ...] = (list, tuple, deque, dict, type({}.items()), type({}.values()))

SEARCHES = (list.index, list.count, list.remove, tuple.index, tuple.count)
"""Methods that look for an element that is equal to their argument."""

PROTOCOLS: Protocols = {
    list.index: _searching(index_of),
    list.count: _searching(count_in),
    list.remove: _searching(removed),
    tuple.index: _searching(index_of),
    tuple.count: _searching(count_in),
    **dict.fromkeys(_METHODS, compare_in_c),
}
"""What searches for an equal element lead to."""

_COMPARISONS = frozenset({operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge})
_COMPARING: tuple[Any, ...] = (*_COMPARISONS, list.index, list.count, tuple.index, tuple.count)
_EQUALITY = (operator.eq, operator.ne)
PLAINLY: dict[Any, ZeroRule] = {function: ZeroRule(function) for function in _COMPARING}
"""The rows for what compares elements of lists and tuples in C."""


def compared_plainly(function: Any, args: Any) -> Any:
    """The row for a call of `function` that compares elements of lists and tuples, or two methods, where it
    is seen quickly that no Python code does; None of any other call."""
    row = PLAINLY.get(function)
    if row is None or len(args) < 2:
        return None
    if type(args[0]) is MethodType and function in _EQUALITY:
        return row if type(args[1]) is MethodType and of_equal_functions(*args) is not None else None
    if function in _COMPARISONS and not (type(args[0]) in _ONE_BY_ONE and type(args[1]) in _ONE_BY_ONE):
        return None
    return row if compares_plainly(args[:2]) else None
