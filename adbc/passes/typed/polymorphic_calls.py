"""Polymorphic inline caches: a call of a value that was seen to be one of a few functions, or of a method of
an instance of one of a few classes, is written once for each of them.

before::

    b:
        %f: Any = call operator.getitem(%layers, %i)
        %y: Any = call %f(%x)
        ...

after::

    b:
        %f: Any = call operator.getitem(%layers, %i)
        %t: bool = call operator.is_(%f, linear)
        branch %t, b.known, b.other
    b.known:
        %f1: Const[linear] = call _assume_(%f, Const[linear])
        %y1: float = call %f1(%x)
        jump b.called
    b.other:
        call _observe_(site, %f)
        %y2: Any = call %f(%x)
        jump b.called
    b.called:
        %y: Any = phi [b.known: %y1, b.other: %y2]
        ...

A guard (`guards`) says of a value for the rest of the function what it is; here what is tested matters to one
call only, and behind it the ways meet again: so nothing is given up where a value is now this and now that.
A method of which the object is tested is read where it is called.  That is no later than where it stood,
for only what does nothing may stand between.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.handlers import take_handler
from adbc.ir.ops import PURE
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.types.callables import Callables
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, BOOL, NONE, AbstractType, ClosureType, ConstType, Exact

__all__ = ["Seen", "split_calls"]


class Seen(Protocol):
    """What a value turned out to be."""

    callables: Callables
    gave_up: bool
    """Whether no type is guessed for it."""

    @property
    def guess(self) -> AbstractType | None:
        """The type that it had last, as far as types are guessed."""


def split_calls(
    graph: Graph, seen: Callable[[Value], Seen | None], method_of: Callable[[Instruction], Any]
) -> bool:
    """Write the polymorphic calls of `graph` once for each kind of what they call, in place.

    `seen` says what is known of a value of unknown type, None if nothing ever is; `method_of` tells the
    function that an attribute of an object of known class is expected to be bound to, if any.  Returns
    whether types have to be inferred again.
    """
    written = 0
    users = _users(graph)
    for call in list(graph.instructions()):
        block = call.block
        assert block is not None
        callee = call.operands[0] if call.op == "call" else None
        if not isinstance(callee, Instruction) or type_of(callee) is not ANY:
            continue
        if block.handler is not None and block.instructions[-1] is not call:
            continue  # it raises nothing that is caught, and does nothing much
        is_read = _is_read_to_call(callee, call, users) and type_of(callee.operands[1]) is ANY
        method = callee if is_read else None  # of a known object it is what stands in a field
        value = callee if method is None else callee.operands[1]
        if type_of(value) is not ANY or (found := seen(value)) is None:
            continue
        met = found.callables
        kinds = [known for known in met.kinds if method is None or isinstance(known, Exact)]
        if kinds and written < _LIMIT:
            written += len(kinds)
            _split(graph, call, method, value, kinds, found, method_of)
        elif not met.kinds and met.is_open and found.gave_up:  # else it is watched where it is made
            block.instructions.insert(block.instructions.index(call), _look(found, value, call))
    return written > 0


_LIMIT = 60
"""The number of calls beyond which no more are written into one function."""


def _users(graph: Graph) -> dict[Value, int]:
    """How often each value is an operand."""
    users: dict[Value, int] = {}
    for block in graph.blocks:
        operands = [v for phi in block.phis for v in phi.operands.values()]
        operands += [v for instruction in block.instructions for v in instruction.operands]
        for value in (*operands, *block.terminator.values):
            users[value] = users.get(value, 0) + 1
    return users


def _is_read_to_call(callee: Instruction, call: Instruction, users: dict[Value, int]) -> bool:
    """Whether `callee` is an attribute that is read for `call` alone, with nothing between that does
    anything."""
    block = call.block
    if not _calls(callee, intrinsics._getattr_) or callee.block is not block or users[callee] != 1:
        return False
    assert block is not None
    first, last = block.instructions.index(callee) + 1, block.instructions.index(call)
    return all(_is_quiet(between) for between in block.instructions[first:last])


def _is_quiet(instruction: Instruction) -> bool:
    callee = instruction.operands[0] if instruction.op == "call" else None
    try:
        return isinstance(callee, Const) and callee.value in PURE
    except TypeError:  # it cannot be hashed
        return False


def _calls(instruction: Instruction, function: Any) -> bool:
    callee = instruction.operands[0] if instruction.op == "call" else None
    return isinstance(callee, Const) and callee.value is function


def _look(found: Seen, value: Value, call: Instruction) -> Instruction:
    """What lets `found` see `value`, in front of `call`."""
    operands = [Const(intrinsics._observe_), Const(found), value]
    look = Instruction("call", operands, type=NONE, position=call.position)
    look.block = call.block
    return look


def _split(
    graph: Graph,
    call: Instruction,
    method: Instruction | None,
    value: Value,
    kinds: Sequence[AbstractType],
    found: Seen,
    method_of: Callable[[Instruction], Any],
) -> None:
    block = call.block
    assert block is not None
    protect = take_handler(block)
    at = block.instructions.index(call)
    called = graph.cut(block, at + 1, f"{block.label}.called")
    result = Phi(called, ANY, call.name)
    called.phis.append(result)
    graph.replace_uses({call: result})
    del block.instructions[at:]
    if method is not None:
        block.instructions.remove(method)
    builder = Builder(graph, block)
    builder.position = call.position
    for known in kinds:
        test = builder.call(*_test_for(known, value), type=BOOL)
        one, other = graph.add_block(f"{block.label}.known"), graph.add_block(f"{block.label}.other")
        builder.branch(test, one, other)
        builder.block = one
        callee: Value = builder.call(intrinsics._assume_, value, Const(known), type=known)
        given = call.operands[1:]
        if method is not None:
            obj = callee
            callee = builder.call(intrinsics._getattr_, obj, *method.operands[2:], type=ANY)
            function = method_of(callee)
            if function is not None:  # which an attribute of the object itself may hide
                bound = graph.add_block(f"{block.label}.bound")
                test = builder.call(intrinsics._method_is_, callee, Const(function), obj, type=BOOL)
                builder.branch(test, bound, other)
                builder.block = bound
                callee, given = Const(function), [obj, *given]
        result.operands[builder.block] = builder.call(callee, *given, keywords=call.keywords)
        protect(builder.block)
        builder.jump(called)
        builder.block = other
    if found.callables.is_open:
        builder.block.append(_look(found, value, call))
    if method is not None:
        builder.block.append(method)
    builder.block.append(call)
    protect(builder.block)
    result.operands[builder.block] = call
    builder.jump(called)


def _test_for(known: AbstractType, value: Value) -> tuple[Any, ...]:
    """The call that tests `value` for one of the kinds."""
    if isinstance(known, ConstType):
        return operator.is_, value, Const(known.value)
    if isinstance(known, ClosureType):
        return intrinsics._code_is_, value, Const(known)
    assert isinstance(known, Exact)
    return intrinsics._class_is_, value, Const(known.cls)
