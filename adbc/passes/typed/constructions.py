"""Calls of ordinary classes become the two calls that they consist of.

before::

    %p: Any = call _new_(Particle, 1.0, %v)

after::

    %p: Particle = call _instance_(Particle)
    %1: None = call Particle.__init__(%p, 1.0, %v)

or, where ``__init__`` only keeps what it is given, ::

    %1: None = call _init_field_(%p, 'x', 1.0)
    %2: None = call _init_field_(%p, 'v', %v)

With arguments out of a dict, ::

    %p: Any = call _apply_(Particle, %t, %d)                 %t = call _new_(tuple, 1.0)

becomes::

    %p: Particle = call _instance_(Particle)
    %1: tuple = call _new_(tuple, %p, 1.0)
    %2: None = call _apply_(Particle.__init__, %1, %d)

A class that is derived from a builtin container or number, and is called as that is, makes its instances of
what the builtin class makes (`types.derived_builtins`)::

    %v: Any = call _new_(Vector, %g)                         class Vector(tuple)

becomes::

    %1: tuple = call _foreigncall_(tuple, %g)
    %v: Vector = call as_instance(Vector, %1)

and one of a class that is derived from a list or dict is made empty, and then filled::

    %v: Stack = call empty(Stack)
    %1: None = call list.extend(%v, %g)

So the class of the object is known without a guess, and ``__init__`` is called like any other function that
is known.  For classes of which that is all that calling them does (`ConstructionKnowledge.constructor`), and
whose ``__init__`` is known to return None: another result would be an error.  Needs types.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Protocol

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _apply_, _foreigncall_, _init_field_, _instance_, _new_, _setattr_
from adbc.ir.terminators import Return
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target
from adbc.types.callsites import Binding
from adbc.types.derived_builtins import as_instance, empty
from adbc.types.inference import BUILT_BY_SYNTAX, Oracle, call_parts, type_of
from adbc.types.lattice import ANY, NONE, ConstType, Exact
from adbc.types.records import FACTORY, made_record

__all__ = ["ConstructionKnowledge", "constructions"]


class ConstructionKnowledge(Protocol):
    """What `constructions` asks of the rest of the system."""

    def constructor(self, cls: type) -> types.FunctionType | None:
        """The ``__init__`` that a call of `cls` runs on a new object, if the call does nothing else."""

    def derived_from(self, cls: type) -> Any:
        """The builtin class of which a call of `cls` makes an instance, but for its class, if it does nothing
        else."""

    def filled_by(self, cls: type) -> types.FunctionType | None:
        """The ``__init__`` that a call of `cls` runs on a new and empty list or dict of that class, if it
        does nothing else."""

    def made_by(self, cls: type) -> types.FunctionType | None:
        """The ``__new__`` that a call of `cls`, derived from `tuple` or `float`, runs, if it does nothing
        else."""

    def is_value(self, cls: type, base: type) -> bool:
        """Whether instances of `cls`, derived from `base`, `tuple` or `float`, are values like those."""

    def is_bare(self, cls: type) -> bool:
        """Whether a call of `cls` without arguments makes a new object and does nothing else."""

    def record_names(self, cls: type) -> tuple[str, ...] | None:
        """The fields of `cls`, if it is a frozen dataclass and making and reading its instances is nothing
        else."""

    def body(self, function: types.FunctionType) -> Graph:
        """The graph of `function`, which can be lifted."""

    def is_field(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field."""

    def is_kept(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else a constant that
        the class has."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""


def constructions(graph: Graph, knowledge: ConstructionKnowledge, oracle: Oracle) -> bool:
    """Write calls of classes as allocation and ``__init__``, in place; returns whether anything changed."""
    changed = False
    for block in graph.blocks:
        calls: list[Instruction] = []
        for call in block.instructions:
            written = _written(call, knowledge, oracle)
            calls += [call] if written is None else written
            changed |= written is not None
        block.instructions = calls
    return changed


def _written(call: Instruction, knowledge: ConstructionKnowledge, oracle: Oracle) -> list[Instruction] | None:
    """The calls that `call`, which is one of them, of a class consists of; None if it is none, or that is
    not known."""
    if target(call) is _apply_:
        return _spread(call, knowledge)
    cls, arguments = _class_called(call)
    if cls is None:
        return _allocated(call, knowledge)
    derived = _derived(call, cls, arguments, knowledge)
    if derived is not None:
        return derived
    if not arguments and knowledge.is_bare(cls):
        call.operands = [Const(_instance_), Const(cls)]
        return [call]
    record = _record(call, cls, arguments, knowledge)
    if record is not None:
        call.operands, call.keywords = record, ()
        return [call]
    function = knowledge.constructor(cls)
    if function is not None:
        return _initialised(call, cls, function, _instance_, arguments, knowledge, oracle)
    function = knowledge.filled_by(cls)
    if function is not None:
        return _initialised(call, cls, function, empty, arguments, knowledge, oracle)
    function = knowledge.made_by(cls)
    if function is None or knowledge.bind(function, 1 + len(arguments), call.keywords) is None:
        return None
    call.operands = [Const(function), Const(cls), *arguments]
    return [call]


def _initialised(
    call: Instruction,
    cls: type,
    function: types.FunctionType,
    maker: Callable[[Any], Any],
    arguments: list[Value],
    knowledge: ConstructionKnowledge,
    oracle: Oracle,
) -> list[Instruction] | None:
    """The calls that make an instance of `cls` by `maker`, which `call` is then, and initialise it by
    `function`, if that is known to return None."""
    known, keywords = [Exact(cls), *map(type_of, arguments)], call.keywords
    if knowledge.bind(function, len(known), keywords) is None:
        return None
    if oracle(function, known, keywords) != NONE:
        return None
    stores = _stores(call, cls, function, arguments, knowledge)
    if stores is None:
        stores = [_put_in(call, [Const(function), call, *arguments], keywords)]
    call.operands, call.keywords = [Const(maker), Const(cls)], ()
    return [call, *stores]


def _derived(
    call: Instruction, cls: type, arguments: list[Value], knowledge: ConstructionKnowledge
) -> list[Instruction] | None:
    """The calls that make an instance of `cls`, which `call` is then, of what the builtin class makes that
    it is derived from; None if that is not what `call` does."""
    base = knowledge.derived_from(cls)
    by_position = len(arguments) - len(call.keywords)
    if base is None or by_position > 1 or (call.keywords and base is not dict):
        return None
    if base is not list and arguments and _has_handler(call):
        return None
    if base in (tuple, float):
        return _of_value(call, base, cls, arguments)
    calls = [call]
    if base is dict and arguments:
        items = _put_in(call, [Const(_foreigncall_), Const(dict), *arguments], call.keywords)
        items.type = ANY
        calls = [items, call, _put_in(call, [Const(dict.update), call, items])]
    elif arguments:
        calls = [call, _put_in(call, [Const(list.extend), call, *arguments])]
    call.operands, call.keywords = [Const(empty), Const(cls)], ()
    return calls


def _has_handler(call: Instruction) -> bool:
    """Whether an exception of `call` goes to a handler: only the last call of several would have it."""
    return call.block is not None and call.block.handler is not None


def _of_value(call: Instruction, base: Any, cls: type, arguments: list[Value]) -> list[Instruction]:
    """The calls that make an instance of `cls`, which `call` is then, of the tuple or float that `base` makes
    of the arguments."""
    plain: Value = Const(base())
    if arguments:
        plain = _put_in(call, [Const(_foreigncall_), Const(base), *arguments])
        plain.type = ANY
    call.operands = [Const(as_instance), Const(cls), plain]
    return [plain, call] if isinstance(plain, Instruction) else [call]


def _allocated(call: Instruction, knowledge: ConstructionKnowledge) -> list[Instruction] | None:
    """The calls that do what ``tuple.__new__(cls, ...)`` or ``float.__new__(cls, ...)`` does, if `call` is
    one of these with a class of which that is known."""
    if call.op != "call" or call.keywords:
        return None
    callee, arguments = call_parts(call)
    base = _ALLOCATORS.get(id(constant(callee)))
    if base is None or not 1 <= len(arguments) <= 2 or _has_handler(call):
        return None
    known = type_of(arguments[0])
    cls: Any = known.value if isinstance(known, ConstType) else constant(arguments[0])
    if not isinstance(cls, type) or not knowledge.is_value(cls, base):
        return None
    return _of_value(call, base, cls, list(arguments[1:]))


_ALLOCATORS: dict[int, Any] = {id(tuple.__new__): tuple, id(float.__new__): float}


def _spread(call: Instruction, knowledge: ConstructionKnowledge) -> list[Instruction] | None:
    """The calls that make an object of a class called with arguments out of a dict, and initialise it:
    `call` is its allocation then.  None if it is left as it is."""
    if len(call.operands) != 4 or call.keywords:
        return None
    cls, given = constant(call.operands[1]), call.operands[2]
    if not isinstance(cls, type) or cls in BUILT_BY_SYNTAX or knowledge.record_names(cls) is not None:
        return None
    if constant(given) == ():
        first: list[Value] = []
    elif isinstance(given, Instruction) and target(given) is _new_ and constant(given.operands[1]) is tuple:
        first = given.operands[2:]
    else:
        return None
    function = knowledge.constructor(cls)
    if function is None or not _returns_nothing(function, knowledge):
        return None
    together = _put_in(call, [Const(_new_), Const(tuple), call, *first])
    together.type = ANY
    initialise = _put_in(call, [Const(_apply_), Const(function), together, call.operands[3]])
    call.operands = [Const(_instance_), Const(cls)]
    return [call, together, initialise]


def _returns_nothing(function: types.FunctionType, knowledge: ConstructionKnowledge) -> bool:
    """Whether `function` is seen to return None whatever it is given."""
    if knowledge.bind(function, function.__code__.co_argcount, ()) is None:
        return False  # it may be that it cannot be lifted
    graph = knowledge.body(function)
    ends = [block.terminator for block in graph.blocks]
    return not graph.is_generator and all(
        constant(end.value) is None for end in ends if isinstance(end, Return)
    )


def _put_in(call: Instruction, operands: list[Value], keywords: tuple[str, ...] = ()) -> Instruction:
    """A call that stands behind `call` and has no result."""
    made = Instruction("call", operands, keywords=keywords, type=NONE, position=call.position)
    made.block = call.block
    return made


def _stores(
    call: Instruction,
    cls: type,
    function: types.FunctionType,
    arguments: list[Value],
    knowledge: ConstructionKnowledge,
) -> list[Instruction] | None:
    """What ``__init__`` does, if that is to keep arguments and constants as different fields."""
    binding = knowledge.bind(function, 1 + len(arguments), call.keywords)
    assert binding is not None
    graph = knowledge.body(binding.function)
    if len(graph.blocks) != 1 or graph.entry.handler is not None:
        return None
    given = [call, *arguments]
    values: dict[Value, Value] = {
        parameter: slot if isinstance(slot, Const) else given[slot]
        for parameter, slot in zip(graph.arguments, binding.slots, strict=True)
    }
    found: dict[str, Instruction] = {}
    for store in graph.entry.instructions:
        if target(store) is not _setattr_ or store.operands[1] is not graph.arguments[0]:
            return None
        name, value = store.operands[2:]
        kept = value if isinstance(value, Const) else values.get(value)
        if kept is None or kept is call or not isinstance(name, Const) or type(name.value) is not str:
            return None
        is_own = knowledge.is_field(cls, name.value) or knowledge.is_kept(cls, name.value)
        if name.value in found or not is_own:
            return None
        found[name.value] = _put_in(call, [Const(_init_field_), call, name, kept])
    return list(found.values())


def _record(
    call: Instruction, cls: type, arguments: list[Value], knowledge: ConstructionKnowledge
) -> list[Value] | None:
    """The operands of the call that makes an instance of `cls` of its fields, if it is a frozen dataclass or
    a named tuple."""
    if knowledge.record_names(cls) is None:
        return None
    made = cls.__new__ if issubclass(cls, tuple) else cls.__init__
    binding = knowledge.bind(made, 1 + len(arguments), call.keywords)
    if binding is None:
        return None
    fields = [slot if isinstance(slot, Const) else arguments[slot - 1] for slot in binding.slots[1:]]
    if any(constant(field) is FACTORY for field in fields):
        return None  # what the factory makes has a derivative of its own
    return [Const(made_record), Const(cls), *fields]


def _class_called(call: Instruction) -> tuple[type | None, list[Value]]:
    """The class that `call` calls, None if it is not known, and the arguments."""
    callee: Any = call.operands[0] if call.op == "call" else None
    if not isinstance(callee, Const):
        return None, []
    kind, arguments = callee, call.operands[1:]
    if callee.value is _new_ and arguments and isinstance(arguments[0], Const):
        kind, *arguments = arguments  # type: ignore[assignment]  # a Const
    cls: Any = kind.value
    return (cls, arguments) if isinstance(cls, type) and cls not in BUILT_BY_SYNTAX else (None, [])
