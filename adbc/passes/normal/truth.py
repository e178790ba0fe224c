"""Truth tests of what is certainly a bool are removed, and inverted conditions turned round.

before::

    %1 = call operator.is_(%x, None)        %3 = call operator.not_(%x)
    %2 = call _bool_(%1)                    branch %3, then, else
    branch %2, then, else

after::

    %1 = call operator.is_(%x, None)        %3 = call _bool_(%x)
    branch %1, then, else                   branch %3, else, then

Comparisons are not certain: NumPy's give arrays.  Needs calls; leaves conditions that are bools.
"""

from __future__ import annotations

import operator
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import (
    _bool_,
    _class_is_,
    _exhausted_,
    _foreigncall_,
    _method_is_,
    _not_contains_,
)
from adbc.ir.terminators import Branch
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import constant, drop, target, use_counts

__all__ = ["certain_bools", "truth"]

_BOOLS: tuple[Any, ...] = (
    operator.is_,
    operator.is_not,
    operator.not_,
    operator.contains,
    _bool_,
    _exhausted_,
    _not_contains_,
    _class_is_,
    _method_is_,
)
_FOREIGN_BOOLS: tuple[Any, ...] = (isinstance, issubclass, callable, hasattr, any, all, bool)


def truth(graph: Graph) -> Graph:
    _join_inversions(graph)
    _turn_inverted_branches(graph)
    certain = certain_bools(graph)
    replaced: dict[Value, Value] = {
        i: i.operands[1]
        for i in graph.instructions()
        if target(i) is _bool_ and _is_bool(i.operands[1], certain)
    }
    left_handlers = drop(graph, {i for i in replaced if isinstance(i, Instruction)})
    graph.replace_uses(replaced)
    if left_handlers:
        remove_unreachable(graph)
    return graph


def certain_bools(graph: Graph) -> set[Value]:
    """The instructions and phis whose value is True or False."""
    certain: set[Value] = {i for i in graph.instructions() if _gives_bool(i)}
    phis = {phi for block in graph.blocks for phi in block.phis}
    certain |= phis
    waiting = True
    while waiting:  # start from "all phis are bools" and take back what has another operand
        wrong = {
            phi
            for phi in phis
            if phi in certain and not all(_is_bool(v, certain) for v in phi.operands.values())
        }
        certain -= wrong
        waiting = bool(wrong)
    return certain


def _gives_bool(instruction: Instruction) -> bool:
    function = target(instruction)
    if function is _foreigncall_:
        called = constant(instruction.operands[1])
        return any(called is f for f in _FOREIGN_BOOLS)
    return any(function is f for f in _BOOLS)


def _is_bool(value: Value, certain: set[Value]) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, bool)
    return isinstance(value, Instruction | Phi) and value in certain


def _join_inversions(graph: Graph) -> None:
    """Join ``%1 = _bool_(%x); %2 = not_(%1)`` into one instruction, where nothing stands between the two."""
    uses = use_counts(graph)
    gone = set()
    for block in graph.blocks:
        for first, second in zip(block.instructions, block.instructions[1:], strict=False):
            if (
                target(first) is _bool_
                and target(second) is operator.not_
                and second.operands[1] is first
                and uses[first] == 1
            ):
                second.operands[1] = first.operands[1]
                gone.add(first)
    drop(graph, gone)


def _turn_inverted_branches(graph: Graph) -> None:
    """Turn a branch on ``not_(%x)`` into a branch on ``_bool_(%x)`` with the arms exchanged."""
    uses = use_counts(graph)
    for block in graph.blocks:
        end = block.terminator
        if not isinstance(end, Branch):
            continue
        condition = end.condition
        # `_bool_(not_(x))` is `not_(x)` already, where the decoder had to ask for a bool.
        inner = condition
        if target(inner) is _bool_ and uses[inner] == 1:
            assert isinstance(inner, Instruction)
            inner = inner.operands[1]
        if target(inner) is operator.not_ and uses[inner] == 1:
            assert isinstance(inner, Instruction)
            inner.operands[0] = Const(_bool_)
            end.true, end.false = end.false, end.true
