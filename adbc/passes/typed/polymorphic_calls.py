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

A method that is a value, as that of a state machine is which keeps the method to call next in a field, is
taken apart: what is called is its function, and the object that it is bound to is the first argument::

    %t: bool = call _class_is_(%m, MethodType)          # and what follows where that is so
    %o: Any = call record_field(%m, '__self__')
    %s: bool = call _method_is_(%m, Machine.on, %o)
    %u: bool = call _class_is_(%o, Machine)
    %o1: Machine = call _assume_(%o, Machine)
    %y1: Any = call Machine.on(%o1, %x)

Where what stands between is left by a side exit, the rest of the function is given the method as an object,
which is made there (`bound_method`).
"""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from adbc.flags import HEAP_TYPE
from adbc.functions import default_of
from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import take_handler
from adbc.ir.ops import PURE
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.typed.guards import test_for_method
from adbc.records import record
from adbc.types.callables import BoundType, Callables
from adbc.types.inference import is_rest, type_of
from adbc.types.lattice import ANY, BOOL, INT, NONE, STR, AbstractType, ClosureType, ConstType, Exact
from adbc.types.records import record_field

__all__ = ["Fork", "Seen", "split_calls", "split_methods", "split_names"]


MethodOf = Callable[[Instruction], "Sequence[Value] | None"]
Front = Sequence["Value | None"]
"""A function and what stands in front of its arguments; None for the object that a method is read from."""


class Seen(Protocol):
    """What a value turned out to be."""

    callables: Callables
    gave_up: bool
    """Whether no type is guessed for it."""
    reals: tuple[Exact, ...]
    """Which of Python's and NumPy's numbers of 64 bits it was."""

    @property
    def guess(self) -> AbstractType | None:
        """The type that it had last, as far as types are guessed."""


def split_calls(graph: Graph, seen: Callable[[Value], Seen | None], method_of: MethodOf) -> bool:
    """Write the polymorphic calls of `graph` once for each kind of what they call, in place.

    `seen` says what is known of a value of unknown type, None if nothing ever is; `method_of` tells the
    function that an attribute of an object of known class is expected to be, and what it is bound to, if any.
    Returns whether types have to be inferred again.
    """
    written = 0
    users = _users(graph)
    for read, uses in _methods(graph, users):
        if (found := seen(read.operands[1])) is None:
            continue
        classes = [known for known in found.callables.kinds if isinstance(known, Exact)]
        if classes and written < _LIMIT:
            written += len(classes) * len(uses.calls)
            _split_apart(graph, read, uses, classes, found, method_of)
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


class Named(Protocol):
    """The texts that named attributes at one place, and whether others may still be noted."""

    texts: list[str]
    is_open: bool


def split_names(graph: Graph, names: Callable[[Instruction], Named | None]) -> bool:
    """Write what reads or writes an attribute of an object of known class by a text that is not known, with
    the call of what is read, once for each text that was seen there, in place; returns whether types have to
    be inferred again."""
    written, users = 0, _users(graph)
    called = {c.operands[0]: c for c in graph.instructions() if c.op == "call"}
    for read in list(graph.instructions()):
        if not _is_named_late(read) or not _may_be_split(read) or (found := names(read)) is None:
            continue
        block, name = read.block, read.operands[3]
        assert block is not None
        look = [_look(found, name, read)] if found.is_open else []
        if not found.texts or written >= _LIMIT:
            at = block.instructions.index(read)
            block.instructions[at:at] = look
            continue
        call = called.get(read)
        if call is not None and not (_may_be_split(call) and _follows(read, call, users)):
            call = None
        fork = Fork(graph, read if call is None else call, "named")
        if call is not None:
            fork.builder.block.instructions.remove(read)
        for text in found.texts:
            other = fork.test(operator.eq, name, Const(text))
            given = [Const(text) if value is name else value for value in read.operands[1:]]
            result = fork.builder.call(read.operands[0], *given)
            if call is not None:
                result = fork.builder.call(result, *call.operands[1:], keywords=call.keywords)
            fork.give(result)
            fork.builder.block = other
            written += 1
        fork.give_as_it_was(*look, *([read] if call is None else [read, call]))
    return written > 0


def _is_named_late(call: Instruction) -> bool:
    """Whether `call` reads or writes an attribute that a text names which is not known."""
    if not _calls(call, intrinsics._foreigncall_) or call.keywords:
        return False
    function, *given = call.operands[1:]
    way = {2: getattr, 3: setattr}.get(len(given))
    if way is None or not isinstance(function, Const) or function.value is not way:
        return False
    obj, name = given[:2]
    known = type_of(obj)
    is_instance = isinstance(known, Exact) and bool(known.cls.__flags__ & HEAP_TYPE)
    return is_instance and type_of(name) == STR and not isinstance(name, Const)


def split_methods(graph: Graph, method_of: MethodOf) -> bool:
    """Test attributes of objects of known classes, which are called where they are read, for the methods that
    they are expected to be, in place; returns whether there were any."""
    users, written = _users(graph), 0
    for call in list(graph.instructions()):
        read = call.operands[0] if call.op == "call" else None
        if not isinstance(read, Instruction) or not _calls(read, intrinsics._getattr_) or written >= _LIMIT:
            continue
        if not _may_be_split(call) or not _is_read_to_call(read, call, users):
            continue
        front = method_of(read)
        if front is None:
            continue
        fork = Fork(graph, call, "called")
        unbound = graph.add_block(f"{fork.label}.other")
        fork.test_method(read, front, unbound)
        callee, *given = *front, *call.operands[1:]
        fork.give(fork.builder.call(callee, *given, keywords=call.keywords))
        fork.builder.block = unbound
        fork.give_as_it_was(call)
        written += 1
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


@record
class _Uses:
    """What is done with a method that was read: it is called, or handed to the rest of the function."""

    calls: list[Instruction]
    rests: list[Instruction]


def _methods(graph: Graph, users: dict[Value, int]) -> list[tuple[Instruction, _Uses]]:
    """The attributes that are read from values of unknown type to be called and for nothing else, with these
    calls and with side exits on the way to them, unless they are called where they are read."""
    found: dict[Value, _Uses] = {}
    for call in graph.instructions():
        callee = call.operands[0] if call.op == "call" else None
        if isinstance(callee, Instruction) and _calls(callee, intrinsics._getattr_):
            found.setdefault(callee, _Uses([], [])).calls.append(call)
    for block in graph.blocks:
        last = block.instructions[-1] if block.instructions else None
        if last is not None and is_rest(last) and block.handler is None:
            for value in dict.fromkeys(last.operands[1:]):
                if value in found and last.operands.count(value) == 1:
                    found[value].rests.append(last)
    return [
        (read, uses)
        for read, uses in found.items()
        if isinstance(read, Instruction)
        and type_of(read) is ANY
        and type_of(read.operands[1]) is ANY
        and users[read] == len(uses.calls) + len(uses.rests)
        and all(_may_be_split(call) for call in (read, *uses.calls))
        and not _is_read_to_call(read, uses.calls[0], users)
    ]


def _may_be_split(call: Instruction) -> bool:
    """Whether `call` may stand in several blocks: one with a handler is ended by what may raise."""
    block = call.block
    assert block is not None
    return block.handler is None or block.instructions[-1] is call


def _is_read_to_call(callee: Instruction, call: Instruction, users: dict[Value, int]) -> bool:
    """Whether `callee` is an attribute that is read for `call` alone, with nothing between that does
    anything."""
    return _calls(callee, intrinsics._getattr_) and _follows(callee, call, users)


def _follows(callee: Instruction, call: Instruction, users: dict[Value, int]) -> bool:
    """Whether `callee` is made for `call` alone, with nothing between that does anything."""
    block = call.block
    if callee.block is not block or users[callee] != 1:
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


def _look(found: Seen | Named, value: Value, call: Instruction) -> Instruction:
    """What lets `found` see `value`, in front of `call`."""
    operands = [Const(intrinsics._observe_), Const(found), value]
    look = Instruction("call", operands, type=NONE, position=call.position)
    look.block = call.block
    return look


class Fork:
    """An instruction that is written once for each of several kinds, with tests in front: its block is cut
    behind it, and the ways meet there.

    What it gives is, behind, `result`.  `builder` stands where the next test, or what is left, belongs.
    """

    def __init__(self, graph: Graph, instruction: Instruction, what: str) -> None:
        block = instruction.block
        assert block is not None
        self.graph, self.label = graph, block.label
        self._protect = take_handler(block)
        at = block.instructions.index(instruction)
        self.behind = graph.cut(block, at + 1, f"{block.label}.{what}")
        self.result = Phi(self.behind, ANY, instruction.name)
        self.behind.phis.append(self.result)
        graph.replace_uses({instruction: self.result})
        del block.instructions[at:]
        self.builder = Builder(graph, block)
        self.builder.position = instruction.position

    def test(self, function: Any, *arguments: Any, other: Block | None = None) -> Block:
        """Go on where this holds; returns the block for where it does not: `other`, if that is given."""
        one = self.graph.add_block(f"{self.label}.known")
        other = other or self.graph.add_block(f"{self.label}.other")
        self.builder.branch(self.builder.call(function, *arguments, type=BOOL), one, other)
        self.builder.block = one
        return other

    def test_method(self, method: Value, front: Sequence[Value], other: Block) -> None:
        """Go on where `method` is the function in `front`, bound to what follows there, which an attribute of
        the object itself may hide; else in `other`."""
        bound = self.graph.add_block(f"{self.label}.bound")
        function, *known = test_for_method(front)
        test = self.builder.call(function, method, *known, type=BOOL)
        self.builder.branch(test, bound, other)
        self.builder.block = bound

    def give(self, value: Value) -> None:
        """Let this be the result on the way where the builder stands."""
        self.result.operands[self.builder.block] = value
        self._protect(self.builder.block)
        self.builder.jump(self.behind)

    def give_as_it_was(self, *instructions: Instruction) -> None:
        """Let the last of `instructions`, which were not written anew, be the result on the last way."""
        for instruction in instructions:
            self.builder.block.append(instruction)
        self.give(instructions[-1])


def _split(
    graph: Graph,
    call: Instruction,
    method: Instruction | None,
    value: Value,
    kinds: Sequence[AbstractType],
    found: Seen,
    method_of: MethodOf,
) -> None:
    fork = Fork(graph, call, "called")
    builder = fork.builder
    if method is not None:
        builder.block.instructions.remove(method)
    for known in kinds:
        if isinstance(known, BoundType):
            _call_bound(fork, known, value, call)
            continue
        other = fork.test(*_test_for(known, value))
        callee: Value = builder.call(intrinsics._assume_, value, Const(known), type=known)
        given = call.operands[1:]
        if method is not None:
            callee = builder.call(intrinsics._getattr_, callee, *method.operands[2:], type=ANY)
            front = method_of(callee)
            if front is not None:
                fork.test_method(callee, front, other)
                callee, *given = *front, *given
        elif isinstance(known, ClosureType) and not call.keywords:
            classes = found.callables.defaults.get(known.code, ())
            given = [*given, *_defaults(fork, known.code, callee, len(given), classes, other)]
        fork.give(builder.call(callee, *given, keywords=call.keywords))
        builder.block = other
    look = [_look(found, value, call)] if found.callables.is_open else []
    fork.give_as_it_was(*look, *([] if method is None else [method]), call)


def _call_bound(fork: Fork, known: BoundType, value: Value, call: Instruction) -> None:
    """Write `call`, of `value`, for where that is a method of this kind; go on where it is not."""
    builder = fork.builder
    other = fork.test(intrinsics._class_is_, value, Const(types.MethodType))
    method = builder.call(intrinsics._assume_, value, Const(_METHOD), type=_METHOD)
    owner = builder.call(record_field, method, Const("__self__"), type=ANY)
    fork.test(intrinsics._method_is_, method, Const(known.function), owner, other=other)
    fork.test(intrinsics._class_is_, owner, Const(known.cls), other=other)
    obj = builder.call(intrinsics._assume_, owner, Const(Exact(known.cls)), type=Exact(known.cls))
    fork.give(builder.call(Const(known.function), obj, *call.operands[1:], keywords=call.keywords))
    builder.block = other


_METHOD = Exact(types.MethodType)


def _defaults(
    fork: Fork,
    code: types.CodeType,
    function: Value,
    count: int,
    classes: Sequence[type | None],
    other: Block,
) -> list[Value]:
    """The defaults of `function`, which is called with `count` arguments, for the parameters that are left,
    each tested for the class that it was seen to be of; the way where one is of another is `other`."""
    missing = code.co_argcount - count
    if code.co_flags & _GATHERING or code.co_kwonlyargcount or not 0 < missing <= len(classes):
        return []
    if None in classes[-missing:]:
        return []
    found: list[Value] = []
    for index in range(-missing, 0):
        cls = classes[index]
        assert cls is not None
        default = fork.builder.call(default_of, function, Const(index), type=ANY)
        one = fork.graph.add_block(f"{fork.label}.default")
        fork.builder.branch(
            fork.builder.call(intrinsics._class_is_, default, Const(cls), type=BOOL), one, other
        )
        fork.builder.block = one
        if cls in _ASSUMED:
            known = Exact(cls)
            default = fork.builder.call(intrinsics._assume_, default, Const(known), type=known)
        found.append(default)
    return found


_ASSUMED = (float, int, bool, str)


_GATHERING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _split_apart(
    graph: Graph,
    read: Instruction,
    uses: _Uses,
    kinds: Sequence[Exact],
    found: Seen,
    method_of: MethodOf,
) -> None:
    """Split `read`, of a method, by the classes of its object, and the calls by what was found there."""
    value = read.operands[1]
    fork = Fork(graph, read, "read")
    builder, which = fork.builder, Phi(fork.behind, INT)
    fork.behind.phis.insert(0, which)
    bound: dict[int, tuple[Exact, Front]] = {}
    for number, known in enumerate(kinds, 1):
        other = fork.test(*_test_for(known, value))
        obj = builder.call(intrinsics._assume_, value, Const(known), type=known)
        attribute = builder.call(intrinsics._getattr_, obj, *read.operands[2:], type=ANY)
        front = method_of(attribute)
        if front is not None:
            bound[number] = known, [None if v is obj else v for v in front]
            fork.test_method(attribute, front, other)
        which.operands[builder.block] = Const(0 if front is None else number)
        fork.give(attribute if front is None else Const(None))
        builder.block = other
    which.operands[builder.block] = Const(0)
    fork.give_as_it_was(*([_look(found, value, read)] if found.callables.is_open else []), read)
    for call in uses.calls:
        _call_by_number(graph, call, which, value, bound)
    fronts = tuple([tuple([v.value if isinstance(v, Const) else None for v in f]) for _, f in bound.values()])
    for rest in uses.rests:
        block = rest.block
        assert block is not None
        operands = [Const(bound_method), fork.result, which, value, Const((*bound,)), Const(fronts)]
        method = Instruction("call", operands, type=ANY, position=rest.position)
        method.block = block
        block.instructions.insert(-1, method)
        rest.operands = [method if v is fork.result else v for v in rest.operands]


def bound_method(
    method: Any, which: int, obj: Any, numbers: tuple[int, ...], fronts: tuple[tuple[Any, ...], ...]
) -> Any:
    """The method that was read from `obj`: that of `fronts` (a function, with what it is bound to, None for
    `obj`) of which `which` is the number in `numbers`, else `method` itself."""
    if which not in numbers:
        return method
    function, *owner = fronts[numbers.index(which)]
    if not owner:
        return function
    return types.MethodType(function, obj if owner[0] is None else owner[0])


def _call_by_number(
    graph: Graph, call: Instruction, which: Phi, value: Value, bound: Mapping[int, tuple[Exact, Front]]
) -> None:
    """Let `call` call the method of `value` that the number `which` says, if that is in `bound`."""
    fork = Fork(graph, call, "called")
    builder = fork.builder
    for number, (known, front) in bound.items():
        other = fork.test(operator.eq, which, Const(number))
        obj = builder.call(intrinsics._assume_, value, Const(known), type=known) if None in front else None
        callee, *given = [obj if v is None else v for v in front]
        fork.give(builder.call(callee, *given, *call.operands[1:], keywords=call.keywords))
        builder.block = other
    fork.give_as_it_was(call)


def _test_for(known: AbstractType, value: Value) -> tuple[Any, ...]:
    """The call that tests `value` for one of the kinds."""
    if isinstance(known, ConstType):
        return operator.is_, value, Const(known.value)
    if isinstance(known, ClosureType):
        return intrinsics._code_is_, value, Const(known)
    assert isinstance(known, Exact)
    return intrinsics._class_is_, value, Const(known.cls)
