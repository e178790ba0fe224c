"""Branches that types have decided become jumps, so that types need not be joined where they lead.

before::

    %1: bool = call _foreigncall_(isinstance, %other, Dual)       %other: Dual
    branch %1, same, other

after::

    jump same

Decided are the questions whether something is of a class, where that does not answer for itself, and whether
it is None.  Needs types.
"""

from __future__ import annotations

import operator
from typing import Protocol

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Value
from adbc.passes.query import constant, target
from adbc.types.inference import type_of
from adbc.types.lattice import NONE, Exact, ListType, RealType, TupleType, class_of

__all__ = ["BranchKnowledge", "decided_branches"]


class BranchKnowledge(Protocol):
    """What `decided_branches` asks of the rest of the system."""

    def is_instance(self, cls: type, asked: type) -> bool | None:
        """What ``isinstance(x, asked)`` is for an `x` of exactly `cls`; None if one of the two answers for
        itself."""


def decided_branches(graph: Graph, knowledge: BranchKnowledge) -> bool:
    """Replace branches that types have decided by jumps, in place; returns whether there were any."""
    changed = False
    for block in graph.blocks:
        end = block.terminator
        if not isinstance(end, Branch) or end.true is end.false:
            continue
        answer = _answer(end.condition, knowledge)
        if answer is None:
            continue
        taken, left = (end.true, end.false) if answer else (end.false, end.true)
        block.terminator = Jump(taken, end.position)
        if left is not block.handler:
            for phi in left.phis:
                phi.operands.pop(block, None)
        changed = True
    if changed:
        remove_unreachable(graph)
    return changed


def _answer(condition: Value, knowledge: BranchKnowledge) -> bool | None:
    function = target(condition)
    if function is operator.not_:
        answer = _answer(condition.operands[1], knowledge)  # type: ignore[attr-defined]  # a call
        return None if answer is None else not answer
    if function is operator.is_ or function is operator.is_not:
        answer = _is_none(*condition.operands[1:])  # type: ignore[attr-defined]
        return None if answer is None else answer is (function is operator.is_)
    if function is _foreigncall_ and constant(condition.operands[1]) is isinstance:  # type: ignore[attr-defined]
        x, classes = condition.operands[2:]  # type: ignore[attr-defined]
        cls, asked = class_of(type_of(x)), constant(classes)
        if cls is None or isinstance(x, Const) or not isinstance(asked, type):
            return None
        return knowledge.is_instance(cls, asked)
    return None


def _is_none(x: Value, y: Value) -> bool | None:
    if constant(x) is None:
        x, y = y, x
    if constant(y) is not None or isinstance(x, Const):
        return None
    known = type_of(x)
    if known == NONE:
        return True
    return False if isinstance(known, Exact | TupleType | ListType | RealType) else None
