"""Branches that types have decided become jumps, so that types need not be joined where they lead.

before::

    %1: bool = call _foreigncall_(isinstance, %other, Dual)       %other: Dual
    branch %1, same, other

after::

    jump same

Decided are the questions whether something is of a class, where that does not answer for itself, whether
``type(x)`` or ``x.__class__`` is a class, whether something is None, and the tests of guards, where more has
become known since they were inserted.  Behind what can only raise, as a tuple of three elements does that is
unpacked into two names, there is nothing.  Needs types.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from typing import Any, Protocol

from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _assume_, _class_is_, _foreigncall_, _form_is_, _getattr_, _new_, _unpack_
from adbc.ir.terminators import Branch, Jump, Unreachable
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, drop, target, tells_its_class, use_counts
from adbc.types.inference import can_only_raise, type_of
from adbc.types.lattice import (
    NONE,
    AbstractType,
    ArrayType,
    ComplexType,
    Exact,
    ListType,
    RealType,
    TupleType,
    class_of,
)
from adbc.types.places import Places, named_place

__all__ = ["BranchKnowledge", "decided_branches", "drop_idle_tests"]


class BranchKnowledge(Places, Protocol):
    """What `decided_branches` asks of the rest of the system."""

    def is_instance(self, cls: type, asked: type) -> bool | None:
        """What ``isinstance(x, asked)`` is for an `x` of exactly `cls`; None if one of the two answers for
        itself."""

    def class_told(self, cls: type) -> type:
        """What ``type(x)`` is for an `x` of exactly `cls`: or the class that it stands for."""


def decided_branches(graph: Graph, knowledge: BranchKnowledge) -> bool:
    """Replace branches that types have decided by jumps, in place; returns whether there were any."""
    changed = False
    guards: set[Instruction] = set()
    for block in graph.blocks:
        changed |= _cut_behind_errors(block)
        _read_classes(block, knowledge)
        end = block.terminator
        if not isinstance(end, Branch) or end.true is end.false:
            continue
        answer = _answer(end.condition, knowledge)
        if answer is None:
            continue
        taken, left = (end.true, end.false) if answer else (end.false, end.true)
        if _is_guard(end):
            guards.add(end.condition)  # type: ignore[arg-type]  # a call
        block.terminator = Jump(taken, end.position)
        if left is not block.handler:
            for phi in left.phis:
                phi.operands.pop(block, None)
        changed = True
    if changed:
        remove_unreachable(graph)
        used = use_counts(graph) if guards else {}
        drop(graph, {test for test in guards if not used.get(test)})
    return changed


def _is_guard(branch: Branch) -> bool:
    """Whether a guess is tested, which nobody but the guard knows: behind a test of the program's own nothing
    is assumed, and the rest of the function behind a guess may want to know what it gave."""
    test = branch.condition
    if target(test) is _form_is_:
        return True
    if target(test) is not _class_is_ or not branch.true.instructions:
        return False
    first = branch.true.instructions[0]
    return target(first) is _assume_ and first.operands[1] is test.operands[1]  # type: ignore[attr-defined]  # a call


def drop_idle_tests(graph: Graph, knowledge: BranchKnowledge | None = None) -> None:
    """Leave out tests that have been decided and that nobody needs, and what was asked for them alone, in
    place; without `knowledge`, only those that are about one object and its class.

    Before guesses are put in, this is too early: what the rest of the function behind one is given is told by
    the graph before types.
    """
    while True:
        used = use_counts(graph)
        idle = {
            call
            for call in graph.instructions()
            if not used.get(call) and _does_nothing_else(call, knowledge)
        }
        if not idle:
            return
        drop(graph, idle)


def _does_nothing_else(test: Instruction, knowledge: BranchKnowledge | None) -> bool:
    """Whether `test` only compares, or asks for a class that does not answer for itself."""
    if target(test) is _foreigncall_:
        if knowledge is None:
            return False
        if constant(test.operands[1]) is type:
            return len(test.operands) == 3
        return _answer(test, knowledge) is not None
    return target(test) in (_class_is_, _form_is_, operator.is_, operator.is_not, operator.not_)


def _cut_behind_errors(block: Block) -> bool:
    """Leave out what stands in `block` behind an unpacking that can only raise; returns whether there was
    one."""
    for at, call in enumerate(block.instructions):
        if target(call) is _unpack_ and can_only_raise(call):
            is_last = at + 1 == len(block.instructions)
            if isinstance(block.terminator, Unreachable) or (block.handler is not None and not is_last):
                return False
            for successor in dict.fromkeys(block.terminator.successors):
                for phi in successor.phis:
                    phi.operands.pop(block, None)
            del block.instructions[at + 1 :]
            block.terminator = Unreachable(call.position)
            return True
    return False


def _read_classes(block: Block, knowledge: BranchKnowledge) -> None:
    """Read ``x.__class__`` as ``type(x)``, where that is known and no class has a say in it."""
    for call in block.instructions:
        if target(call) is _getattr_ and constant(call.operands[2]) == "__class__":
            cls = class_of(type_of(call.operands[1]))
            if cls is None:
                continue
            if tells_its_class(cls) or knowledge.class_told(cls) is not cls:
                call.operands = [Const(_foreigncall_), Const(type), call.operands[1]]


def _answer(condition: Value, knowledge: BranchKnowledge) -> bool | None:
    if isinstance(condition, Const):
        return condition.value if type(condition.value) is bool else None
    function = target(condition)
    if function is operator.not_:
        answer = _answer(condition.operands[1], knowledge)  # type: ignore[attr-defined]  # a call
        return None if answer is None else not answer
    if function is operator.is_ or function is operator.is_not:
        answer = _is_none(*condition.operands[1:])  # type: ignore[attr-defined]
        if answer is None:
            one, other = condition.operands[1:]  # type: ignore[attr-defined]
            answer = _is_class(one, other, knowledge)
        return None if answer is None else answer is (function is operator.is_)
    if function is _class_is_:
        cls = class_of(type_of(condition.operands[1]))  # type: ignore[attr-defined]
        return None if cls is None else cls is constant(condition.operands[2])  # type: ignore[attr-defined]
    if function is _form_is_:
        return _is_of_form(type_of(condition.operands[1]), constant(condition.operands[2]))  # type: ignore[attr-defined]
    if function is _foreigncall_ and constant(condition.operands[1]) is isinstance:  # type: ignore[attr-defined]
        x, classes = condition.operands[2:]  # type: ignore[attr-defined]
        cls = class_of(type_of(x))
        return None if cls is None or isinstance(x, Const) else _is_of_some(cls, classes, knowledge)
    if function is _foreigncall_ and constant(condition.operands[1]) is hasattr:  # type: ignore[attr-defined]
        return _has(condition.operands[2:], knowledge)  # type: ignore[attr-defined]
    return None


def _has(given: Sequence[Value], knowledge: BranchKnowledge) -> bool | None:
    """Whether an object has an attribute, both of which are `given`."""
    place = named_place(given[0], given[1]) if len(given) == 2 else None
    return None if place is None else knowledge.has(*place)


def _is_of_some(cls: type, asked: Value, knowledge: BranchKnowledge) -> bool | None:
    """Whether an instance of exactly `cls` is of the class that `asked` is, or of one of a tuple of them."""
    kind = constant(asked)
    if isinstance(kind, type):
        return knowledge.is_instance(cls, kind)
    if target(asked) is _new_ and constant(asked.operands[1]) is tuple:  # type: ignore[attr-defined]  # a call
        kinds: Sequence[Value] = asked.operands[2:]  # type: ignore[attr-defined]
    elif isinstance(kind, tuple):
        kinds = [Const(k) for k in kind]
    elif isinstance(kind, types.UnionType):
        kinds = [Const(type(None) if k is None else k) for k in kind.__args__]
    else:
        return None
    for one in kinds:  # in this order, and no further than to the first that has it for an instance
        answer = _is_of_some(cls, one, knowledge)
        if answer is not False:
            return answer
    return False


def _is_of_form(known: AbstractType, form: Any) -> bool | None:
    """What `_form_is_` answers for a tuple of a `known` type, if that decides it."""
    if not isinstance(known, TupleType):
        return None
    if len(known.elements) != len(form):
        return False
    answers = [
        _is_of_form(element, asked) if type(asked) is tuple else asked is None or class_of(element) is asked
        for element, asked in zip(known.elements, form, strict=True)
    ]
    return True if all(answer is True for answer in answers) else None


def _is_class(x: Value, y: Value, knowledge: BranchKnowledge) -> bool | None:
    """Whether `x` is `y`, where both are classes, of which some are read of what is an instance."""
    one, other = _class(x, knowledge), _class(y, knowledge)
    return None if one is None or other is None else one is other


def _class(value: Value, knowledge: BranchKnowledge) -> type | None:
    """The class that `value` is, be it a constant or read of something."""
    read = _read_of_class(value)
    if read is not None:
        cls = class_of(type_of(read))
        return None if cls is None else knowledge.class_told(cls)
    known = constant(value)
    return known if isinstance(known, type) else None


def _read_of_class(value: Value) -> Value | None:
    """The object of which `value` is the class, if it is read as one that cannot lie."""
    is_call = target(value) is _foreigncall_
    if is_call and constant(value.operands[1]) is type and len(value.operands) == 3:  # type: ignore[attr-defined]
        return value.operands[2]  # type: ignore[attr-defined,no-any-return]
    return None


def _is_none(x: Value, y: Value) -> bool | None:
    if constant(x) is None:
        x, y = y, x
    if constant(y) is not None or isinstance(x, Const):
        return None
    known = type_of(x)
    if known == NONE:
        return True
    is_some = isinstance(known, Exact | TupleType | ListType | RealType | ComplexType | ArrayType)
    return False if is_some else None
