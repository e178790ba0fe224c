"""What is called through a class, `super` or an instance becomes a call of the function in Python that it is.

before::

    %1: Any = call _getattr_(Vector, 'polar')               a class method
    %2: Any = call %1(%r, %a)
    %3: super = call _foreigncall_(super, Planet, %self)     %self: Moon
    %4: Any = call _getattr_(%3, 'pull')
    %5: Any = call %4(%r)
    %6: Any = call %layer(%x)                                %layer: Layer
    %7: Any = call %cls(%x)                                  %cls is the class Vector
    %8: Any = call <bound method Random.gauss>(0.0, 1.0)     what ``random.gauss`` is
    %9: Any = call <table with a cache>(%k)                  it reads what may have a derivative
    %10: Any = call _load_special_(%timer, '__enter__')      %timer: Timer
    %11: Any = call %10()

after::

    %2: Any = call Vector.polar(Vector, %r, %a)
    %5: Any = call Body.pull(%self, %r)
    %6: Any = call Layer.__call__(%layer, %x)
    %7: Any = call _new_(Vector, %x)
    %8: Any = call Random.gauss(<the generator of the module>, 0.0, 1.0)
    %9: Any = call table(%k)
    %11: Any = call Timer.__enter__(%timer)

Needs types.  What is assumed about classes is for `AttributeKnowledge` to note.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, Protocol

from adbc.functions import is_function
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _getattr_, _load_special_, _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target
from adbc.types.callsites import Binding
from adbc.types.inference import BUILT_BY_SYNTAX, call_parts, type_of
from adbc.types.lattice import NONE, AbstractType, ConstType, Exact
from adbc.types.records import unhidden
from adbc.types.shared_methods import shared_method

__all__ = ["AttributeKnowledge", "is_known_read", "known_attributes", "read_function"]


class AttributeKnowledge(Protocol):
    """What `known_attributes` asks of the rest of the system."""

    def rows(self, function: object) -> Sequence[Any]:
        """All rules of `function`."""

    def class_member(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        """The function in Python that ``cls.name`` calls, and whether `cls` is put in front of the
        arguments."""

    def inherited(self, cls: type, behind: type, name: str) -> types.FunctionType | None:
        """The method in Python that ``super(behind, obj).name`` is for instances of exactly `cls`."""

    def inherited_in_c(self, cls: type, behind: type, name: str) -> Any:
        """The method in C with a rule that ``super(behind, obj).name`` is for instances of exactly `cls`,
        which is derived from a builtin container or number."""

    def allocator(self, cls: type, behind: type) -> Any:
        """The ``__new__`` in C of `tuple` or `float` that ``super(behind, cls).__new__`` is, if `cls` is
        derived from it."""

    def called(self, cls: type) -> types.FunctionType | None:
        """The function in Python that a call of an instance of exactly `cls` runs, unless instances may have
        rules."""

    def certain_method(self, cls: type, name: str) -> types.FunctionType | None:
        """The method in Python that attribute `name` of instances of exactly `cls` is, which can have no
        field of that name."""

    def certain_member(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        """The function in Python of the static or class method that attribute `name` of instances of exactly
        `cls` is, which can have no field of that name, and whether it is given the class."""

    def special(self, cls: type, name: str) -> types.FunctionType | None:
        """The function in Python that the special method `name` of instances of exactly `cls` is."""

    def record_names(self, cls: type) -> tuple[str, ...] | None:
        """The fields of `cls`, if it is a frozen dataclass and making and reading its instances is nothing
        else."""

    def entered(self, cls: type, name: str) -> object | None:
        """What a ``with`` statement runs as the special method `name` of instances of exactly `cls`, if it
        has a rule."""

    def wrapped(self, function: object, given: Sequence[AbstractType]) -> types.FunctionType | None:
        """The function in Python that has been given a cache, which is by-passed, if `function` is such a one
        and keeps nothing for arguments of these types."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""


def known_attributes(graph: Graph, knowledge: AttributeKnowledge) -> bool:
    """Call what classes are known to have by its function, in place, and leave the reads; returns whether
    anything changed."""
    changed = False
    for block in graph.blocks:
        for call in list(block.instructions):
            callee = call.operands[0] if call.op == "call" else None
            if callee is None:
                continue
            if isinstance(callee, Const):
                changed = _call_shared(call, callee) or _call_wrapped(call, knowledge) or changed
                continue
            if isinstance(callee, Instruction) and target(callee) is _getattr_:
                front = _through_attribute(callee, knowledge)
            elif isinstance(callee, Instruction) and target(callee) is _load_special_:
                front = _of_manager(callee, knowledge)
            else:
                front = _called_itself(callee, knowledge)
            if front is None:
                continue
            if not _is_bound(front, call, knowledge):
                continue
            if isinstance(callee, Instruction) and target(callee) is not _load_special_:
                _check_unhidden(call, callee, front, knowledge)
            call.operands[:1] = front
            changed = True
    return changed


def _is_bound(front: Sequence[Value], call: Instruction, knowledge: AttributeKnowledge) -> bool:
    """Whether what is put in front of the arguments of `call` goes together with them, as far as it is a
    function in Python without a rule."""
    function, count = constant(front[0]), len(front) + len(call.operands) - 2
    if function is _new_ or not is_function(function) or knowledge.rows(function):
        return True
    return knowledge.bind(function, count, call.keywords) is not None


def _call_shared(call: Instruction, callee: Const) -> bool:
    """Call a method of the generator of the module `random` by its function; whether `call` was of one."""
    count = 1
    if callee.value is _foreigncall_:
        callee, count = call.operands[1], 2  # type: ignore[assignment]  # if it is none, it has no value
    method = shared_method(getattr(callee, "value", None))
    if method is not None:
        call.operands[:count] = [Const(method[0]), Const(method[1])]
    return method is not None


def _call_wrapped(call: Instruction, knowledge: AttributeKnowledge) -> bool:
    """Call the function behind a cache that is by-passed; whether `call` was of one with a cache."""
    callee, arguments = call_parts(call)
    wrapped = knowledge.wrapped(constant(callee), [*map(type_of, arguments)])
    if wrapped is None or knowledge.bind(wrapped, len(arguments), call.keywords) is None:
        return False
    call.operands = [Const(wrapped), *arguments]
    return True


def _check_unhidden(
    call: Instruction, read: Instruction, front: Sequence[Value], knowledge: AttributeKnowledge
) -> None:
    """Look in front of `call`, of what `read` reads, for an attribute that hides it, if it is a method of an
    object of a class of records, which may have such an attribute and should not."""
    if target(read) is not _getattr_ or _class(read.operands[1]) is not None:
        return
    obj = read.operands[1]
    known = type_of(obj)
    if isinstance(known, Exact) and (
        issubclass(known.cls, (tuple, float, complex)) or knowledge.record_names(known.cls) is not None
    ):
        if not known.cls.__dictoffset__:
            return
        look = Instruction(
            "call", [Const(unhidden), obj, read.operands[2]], type=NONE, position=call.position
        )
        look.block = call.block
        assert call.block is not None
        call.block.instructions.insert(call.block.instructions.index(call), look)


def read_function(read: Instruction, knowledge: AttributeKnowledge) -> list[Value] | None:
    """The function, and what is put in front of the arguments, where what `read` reads is called; None if it
    reads no attribute, or one of which that is not known."""
    return _through_attribute(read, knowledge) if target(read) is _getattr_ else None


def is_known_read(read: Instruction, knowledge: AttributeKnowledge) -> bool:
    """Whether `read` does nothing but look for what `known_attributes` calls by its function."""
    if target(read) is _getattr_:
        return _through_attribute(read, knowledge) is not None
    if target(read) is _load_special_:
        return _of_manager(read, knowledge) is not None
    return _super(read) is not None


def _of_manager(read: Instruction, knowledge: AttributeKnowledge) -> list[Value] | None:
    """The special method that `read` reads for a ``with`` statement, and its object."""
    manager, name = read.operands[1], constant(read.operands[2])
    known = type_of(manager)
    if not isinstance(known, Exact) or type(name) is not str:
        return None
    method: object | None = knowledge.entered(known.cls, name)
    if method is None:
        method = knowledge.special(known.cls, name)
    return None if method is None else [Const(method), manager]


def _through_attribute(read: Instruction, knowledge: AttributeKnowledge) -> list[Value] | None:
    """The function, and what is put in front of the arguments, where what `read` reads is called."""
    source, name = read.operands[1], constant(read.operands[2])
    if type(name) is not str:
        return None
    cls = _class(source)
    if cls is not None:
        found = knowledge.class_member(cls, name)
        if found is None:
            return None
        return [Const(found[0]), Const(cls)] if found[1] else [Const(found[0])]
    made = _super_of_class(source) if name == "__new__" else None
    if made is not None:
        new = knowledge.allocator(*made)
        return None if new is None else [Const(new)]
    above = _super(source)
    if above is not None:
        behind, obj, of = above
        method = knowledge.inherited(of, behind, name) or knowledge.inherited_in_c(of, behind, name)
        return None if method is None else [Const(method), obj]
    known = type_of(source)
    if isinstance(known, Exact):
        method = knowledge.certain_method(known.cls, name)
        if method is not None:
            return [Const(method), source]
        member = knowledge.certain_member(known.cls, name)
        if member is not None:
            return [Const(member[0]), *([Const(known.cls)] if member[1] else [])]
    return None


def _called_itself(callee: Value, knowledge: AttributeKnowledge) -> list[Value] | None:
    cls = _class(callee)
    if cls is not None:
        return None if cls in BUILT_BY_SYNTAX else [Const(_new_), Const(cls)]
    known = type_of(callee)
    if not isinstance(known, Exact):
        return None
    function = knowledge.called(known.cls)
    return None if function is None else [Const(function), callee]


def _class(value: Value) -> type | None:
    """The class that `value` is known to be."""
    known = value.value if isinstance(value, Const) else None
    if known is None and isinstance(found := type_of(value), ConstType):
        known = found.value
    return known if isinstance(known, type) and known.__module__ != "builtins" else None


def _super_of_class(value: Value) -> tuple[type, type] | None:
    """The class, and the one behind which is looked, if `value` is a call of `super` with a class that is
    known."""
    if target(value) is not _foreigncall_ or len(value.operands) != 4:  # type: ignore[attr-defined]  # a call
        return None
    function, behind, obj = value.operands[1:]  # type: ignore[attr-defined]
    cls, start = _class(obj), constant(behind)
    if constant(function) is not super or cls is None or not isinstance(start, type):
        return None
    return (cls, start) if issubclass(cls, start) else None


def _super(value: Value) -> tuple[type, Value, type] | None:
    """The class behind which is looked, the instance and its class, if `value` is a call of `super`."""
    if target(value) is not _foreigncall_ or len(value.operands) != 4:  # type: ignore[attr-defined]  # a call
        return None
    function, behind, obj = value.operands[1:]  # type: ignore[attr-defined]
    known = type_of(obj)
    if constant(function) is not super or not isinstance(known, Exact):
        return None
    cls = constant(behind)
    if not isinstance(cls, type) or not issubclass(known.cls, cls):
        return None
    return cls, obj, known.cls
