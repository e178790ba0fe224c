"""Tests for a class, and for a method, are one call, which says what is known where they hold.

before::

    entry:                                                  entry:
        %1 = call _foreigncall_(builtins.type, %x)              %1 = call _foreigncall_(builtins.type, %m)
        %2 = call operator.is_(%1, builtins.float)              %2 = call operator.is_(%1, types.MethodType)
                                                                branch %2, is_method, other
                                                            is_method:
                                                                %3 = call _getattr_(%m, '__func__')
                                                                %4 = call operator.is_(%3, Point.norm)
                                                                branch %4, is_norm, other
                                                            is_norm:
                                                                %5 = call _getattr_(%m, '__self__')
                                                                %6 = call operator.is_(%5, %obj)
                                                                jump other
                                                            other:
                                                                %7 = phi [is_norm: %6, is_method: False,
                                                                          entry: False]
                                                                branch %7, then, else

after::

    entry:                                                  entry:
        %2 = call _class_is_(%x, builtins.float)                %2 = call _method_is_(%m, Point.norm, %obj)
                                                                jump other
                                                            other:
                                                                branch %2, then, else

Code that was derived asks in this way, and is lifted again where its derivative is taken: what is asked then
has no derivative, whatever is known of the object.  Not for classes of which something may stand for an
instance (generators, iterators and functions of `functools`).  Needs foreign calls.
"""

from __future__ import annotations

import builtins
import operator
import sys
import types
from typing import Any

from adbc.functions import is_function
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _class_is_, _foreigncall_, _getattr_, _method_is_
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, drop, target, use_counts

__all__ = ["class_tests"]


def class_tests(graph: Graph) -> Graph:
    asked: set[Instruction] = set()
    for block in graph.blocks:
        for call in block.instructions:
            if target(call) is operator.is_ and _is_meant(constant(call.operands[2])):
                kind = call.operands[1]
                if isinstance(kind, Instruction) and _is_class_of(kind):
                    call.operands = [Const(_class_is_), kind.operands[2], call.operands[2]]
                    asked.add(kind)
    if asked:
        counts = use_counts(graph)
        if drop(graph, {kind for kind in asked if kind not in counts}):  # it cannot raise
            remove_unreachable(graph)
    entered: dict[Block, int] = {}
    for block in graph.blocks:
        for to in block.terminator.successors:
            entered[to] = entered.get(to, 0) + 1
    replaced: dict[Value, Value] = {}
    counts = use_counts(graph)
    for block in graph.blocks:
        _join(block, entered, counts, replaced)
    if replaced:
        graph.replace_uses(replaced)
        remove_unreachable(graph)
    return graph


_BUILTIN: frozenset[Any] = frozenset({
    bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset,
    types.NoneType, types.MethodType,
})  # fmt: skip
_LIBRARY = sys.stdlib_module_names - {"__main__"}


def _is_meant(cls: Any) -> bool:
    """Whether `cls` is a class that is asked for as it is: of many in the standard library there may be
    instances of adbc's own that stand for some of its, and `type` gives what they stand for."""
    if not isinstance(cls, type):
        return False
    module = cls.__module__  # which a class may define as it likes
    return cls in _BUILTIN or (isinstance(module, str) and module.partition(".")[0] not in _LIBRARY)


def _is_class_of(call: Instruction) -> bool:
    """Whether `call` gives the class of something: it calls `type` with one argument."""
    return (
        target(call) is _foreigncall_
        and constant(call.operands[1]) is builtins.type
        and len(call.operands) == 3
        and not call.keywords
    )


def _join(
    block: Block, entered: dict[Block, int], counts: dict[Value, int], replaced: dict[Value, Value]
) -> None:
    """Ask at the end of `block` for a method at once, if that is what the blocks behind it do."""
    end = block.terminator
    first = block.instructions[-1] if block.instructions else None
    if first is None or not isinstance(end, Branch) or end.condition is not first:
        return
    if target(first) is not _class_is_ or constant(first.operands[2]) is not types.MethodType:
        return
    method, there = first.operands[1], end.false
    second = _part_test(end.true, "__func__", method, entered)
    inner = end.true.terminator
    if second is None or not isinstance(inner, Branch) or inner.condition is not second[0]:
        return
    third = _part_test(inner.true, "__self__", method, entered)
    last = inner.true.terminator
    if third is None or not isinstance(last, Jump) or not last.target is inner.false is there:
        return
    function, owner = second[1], third[1]
    if not is_function(constant(function)):
        return
    if entered[there] != 3 or len(there.phis) != 1:
        return
    if any(counts.get(i) != 1 for b in (end.true, inner.true) for i in b.instructions):
        return
    (phi,) = there.phis
    if phi.operands[inner.true] is not third[0]:
        return
    if not all(constant(phi.operands[b]) is False for b in (block, end.true)):
        return
    first.operands = [Const(_method_is_), method, function, owner]
    replaced[phi] = first
    there.phis = []
    block.terminator = Jump(there, end.position)


def _part_test(
    block: Block, name: str, method: Any, entered: dict[Block, int]
) -> tuple[Instruction, Value] | None:
    """The test in `block`, which does nothing else, whether part `name` of `method` is something, and what
    that is."""
    if entered[block] != 1 or block.phis or block.handler is not None or len(block.instructions) != 2:
        return None
    read, test = block.instructions
    if target(read) is not _getattr_ or read.operands[1] is not method or constant(read.operands[2]) != name:
        return None
    if target(test) is not operator.is_:
        return None
    one, other = test.operands[1:]
    return (test, other) if one is read else (test, one) if other is read else None
