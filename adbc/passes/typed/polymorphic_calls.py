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
A method of which the object is tested is read where it is called, if only what does nothing stands between.
Else, as where arguments are computed, the object is tested where the method is read, and a number says to the
calls what that has found::

    b:                                                  b.read:
        %m: Any = call _getattr_(%o, 'area')                %w: int = phi [b.bound: 1, b.other: 0]
        %y: Any = call sqrt(%x)                 ->          %m: Any = phi [b.bound: None, b.other: %m2]
        %z: Any = call %m(%y)                               %y: Any = call sqrt(%x)
                                                            %t: bool = call operator.eq(%w, 1)
                                                            branch %t, b.read.known, b.read.other
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.handlers import take_handler
from adbc.ir.ops import PURE
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.types.callables import Callables
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, BOOL, INT, NONE, AbstractType, ClosureType, ConstType, Exact

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
    for read, calls in _methods(graph, users):
        if (found := seen(read.operands[1])) is None:
            continue
        classes = [known for known in found.callables.kinds if isinstance(known, Exact)]
        if classes and written < _LIMIT:
            written += len(classes) * len(calls)
            _split_apart(graph, read, calls, classes, found, method_of)
    for call in list(graph.instructions()):
        block = call.block
        assert block is not None
        callee = call.operands[0] if call.op == "call" else None
        if not isinstance(callee, Instruction) or type_of(callee) is not ANY:
            continue
        if not _may_be_split(call):
            continue  # it raises nothing that is caught, and does nothing much
        is_read = _is_read_to_call(callee, call, users) and type_of(callee.operands[1]) is ANY
        method = callee if is_read else None  # of a known object it is what stands in a field
        value = callee if method is None else callee.operands[1]
        if type_of(value) is not ANY or (found := seen(value)) is None:
            continue
        met = found.callables
        kinds: list[AbstractType] = [k for k in met.kinds if method is None or isinstance(k, Exact)]
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


def _methods(graph: Graph, users: dict[Value, int]) -> list[tuple[Instruction, list[Instruction]]]:
    """The attributes that are read from values of unknown type to be called and for nothing else, with these
    calls, unless they are called where they are read."""
    called: dict[Instruction, list[Instruction]] = {}
    for call in graph.instructions():
        callee = call.operands[0] if call.op == "call" else None
        if isinstance(callee, Instruction) and _calls(callee, intrinsics._getattr_):
            called.setdefault(callee, []).append(call)
    return [
        (read, calls)
        for read, calls in called.items()
        if type_of(read) is ANY
        and type_of(read.operands[1]) is ANY
        and users[read] == len(calls)
        and all(_may_be_split(call) for call in (read, *calls))
        and not _is_read_to_call(read, calls[0], users)
    ]


def _may_be_split(call: Instruction) -> bool:
    """Whether `call` may stand in several blocks: one with a handler is ended by what may raise."""
    block = call.block
    assert block is not None
    return block.handler is None or block.instructions[-1] is call


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


def _split_apart(
    graph: Graph,
    read: Instruction,
    calls: Sequence[Instruction],
    kinds: Sequence[Exact],
    found: Seen,
    method_of: Callable[[Instruction], Any],
) -> None:
    """Split `read`, of a method, by the classes of its object, and `calls` by what was found there."""
    block, value = read.block, read.operands[1]
    assert block is not None
    protect = take_handler(block)
    at = block.instructions.index(read)
    behind = graph.cut(block, at + 1, f"{block.label}.read")
    which, method = Phi(behind, INT), Phi(behind, ANY, read.name)
    behind.phis += [which, method]
    graph.replace_uses({read: method})
    del block.instructions[at:]
    builder = Builder(graph, block)
    builder.position = read.position

    def go_on(number: int, attribute: Value) -> None:
        which.operands[builder.block] = Const(number)
        method.operands[builder.block] = attribute
        protect(builder.block)
        builder.jump(behind)

    bound: dict[int, tuple[Exact, Any]] = {}
    for number, known in enumerate(kinds, 1):
        test = builder.call(*_test_for(known, value), type=BOOL)
        one, other = graph.add_block(f"{block.label}.known"), graph.add_block(f"{block.label}.other")
        builder.branch(test, one, other)
        builder.block = one
        obj = builder.call(intrinsics._assume_, value, Const(known), type=known)
        attribute = builder.call(intrinsics._getattr_, obj, *read.operands[2:], type=ANY)
        function = method_of(attribute)
        if function is None:
            go_on(0, attribute)
        else:
            bound[number] = known, function
            is_bound = graph.add_block(f"{block.label}.bound")
            test = builder.call(intrinsics._method_is_, attribute, Const(function), obj, type=BOOL)
            builder.branch(test, is_bound, other)
            builder.block = is_bound
            go_on(number, Const(None))
        builder.block = other
    if found.callables.is_open:
        builder.block.append(_look(found, value, read))
    builder.block.append(read)
    go_on(0, read)
    for call in calls:
        _call_by_number(graph, call, which, value, bound)


def _call_by_number(
    graph: Graph, call: Instruction, which: Phi, value: Value, bound: Mapping[int, tuple[Exact, Any]]
) -> None:
    """Let `call` call the method of `value` that the number `which` says, if that is in `bound`."""
    block = call.block
    assert block is not None
    protect = take_handler(block)
    at = block.instructions.index(call)
    called = graph.cut(block, at + 1, f"{block.label}.called")
    result = Phi(called, ANY, call.name)
    called.phis.append(result)
    graph.replace_uses({call: result})
    del block.instructions[at:]
    builder = Builder(graph, block)
    builder.position = call.position
    for number, (known, function) in bound.items():
        test = builder.call(operator.eq, which, Const(number), type=BOOL)
        one, other = graph.add_block(f"{block.label}.known"), graph.add_block(f"{block.label}.other")
        builder.branch(test, one, other)
        builder.block = one
        obj = builder.call(intrinsics._assume_, value, Const(known), type=known)
        made = builder.call(Const(function), obj, *call.operands[1:], keywords=call.keywords)
        result.operands[builder.block] = made
        protect(builder.block)
        builder.jump(called)
        builder.block = other
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
