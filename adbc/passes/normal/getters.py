"""Getters of `operator` are functions.

before::

    %k = call _foreigncall_(operator.itemgetter, 1)
    %s = call _foreigncall_(sorted, %rows, key=%k)

after, with a function ``lambda obj: obj[1]``::

    %s = call _foreigncall_(sorted, %rows, key=itemgetter)

What a getter picks is said by the constants that it is made of, so it is called like any known function.
Only getters that are called, or handed to what calls them, are replaced: whoever looks at one sees an object
of `operator`.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Callable
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _getattr_
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target

__all__ = ["getters"]

_KEYED: frozenset[Any] = frozenset({
    sorted, min, max, itertools.groupby, heapq.nlargest, heapq.nsmallest, heapq.merge,
})  # fmt: skip
"""Functions that call what they are given as `key`."""
_FIRST: frozenset[Any] = frozenset({map, filter, functools.reduce})
"""Functions that call their first argument."""

Make = Callable[[Any, list[Any], dict[str, Any]], Any]
"""The function that a getter is, by its class and what it is made of; None if there is none."""


def getters(graph: Graph, make: Make) -> bool:
    """Replace getters by the functions that `make` gives, in place; returns whether there were any."""
    found = []
    users = None
    for call in graph.instructions():
        if target(call) is not _foreigncall_ or call.block is None or call.block.handler is not None:
            continue
        function = _function_of(call, make)
        if function is None:
            continue
        users = users or uses(graph)
        if all(_only_calls(user, call) for user in users.get(call, ())):
            found.append((call, function))
    for call, _ in found:
        assert call.block is not None
        call.block.instructions.remove(call)
    if found:
        graph.replace_uses({call: Const(function) for call, function in found})
    return bool(found)


def _function_of(call: Instruction, make: Make) -> Any:
    """The function that the getter is which `call` makes of constants; None if it makes something else."""
    given = [v.value for v in call.operands[2:] if isinstance(v, Const)]
    if len(given) < len(call.operands) - 2:
        return None
    n = len(given) - len(call.keywords)
    return make(constant(call.operands[1]), given[:n], dict(zip(call.keywords, given[n:], strict=True)))


def _only_calls(user: object, made: Value) -> bool:
    """Whether `user` calls `made`, or hands it to what does."""
    if not isinstance(user, Instruction) or user.op != "call" or user.operands.count(made) != 1:
        return False
    at = user.operands.index(made)
    if at == 0:
        return len(user.operands) == 2 and not user.keywords
    n = len(user.operands) - len(user.keywords)
    name = user.keywords[at - n] if at >= n else None
    if target(user) is not _foreigncall_:
        read = user.operands[0]
        return name == "key" and target(read) is _getattr_ and constant(read.operands[2]) == "sort"  # type: ignore[attr-defined]
    function = constant(user.operands[1])
    if name is None and at == 2:
        return _is_among(function, _FIRST)
    is_key = name == "key" or (name is None and at == 3 and function is itertools.groupby)
    return is_key and _is_among(function, _KEYED)


def _is_among(function: Any, functions: frozenset[Any]) -> bool:
    return any(function is f for f in functions)
