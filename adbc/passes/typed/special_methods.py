"""Operators on instances of known classes, and properties, become calls of the functions in Python that do
them.

before::

    %1: Any = call operator.add(%p, %q)            %p: Vector, %q: Vector
    %2: Any = call _getattr_(%p, 'norm')           a property
    %3: bool = call _bool_(%p)                     which has a length
    %4: Tuple[Any, Any] = call _unpack_(%p, 2)     whose ``__iter__`` is a generator
    %5: Any = call _getattr_(%p, 'rate')           of a class that has a ``__getattr__`` and no `rate`
    %6: Iterator[Any] = call _iter_(%p)            whose ``__iter__`` is seen to give an iterator

after::

    %1: Any = call Vector.__add__(%p, %q)
    %2: Any = call Vector.norm.fget(%p)
    %3: bool = call some_length(Vector.__len__, %p)
    %4: Any = call __iter__(%p)                    a function that gives all in a tuple
    %5: Any = call by_hook(%p, 'rate')            which asks for it, if %p has no such field
    %6: Any = call Vector.__iter__(%p)

The order in which operands are asked is CPython's: the left one first, unless the right one is of a derived
class.  A method that may answer `NotImplemented` is called by a function that then asks the other operand.
Calls of instances stay as they are: there may be a rule for the instance.
Needs types.  What is assumed about classes is for `SpecialKnowledge` to note.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from typing import Any, Protocol

from adbc.functions import is_builtin_function, is_function
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _bool_, _foreigncall_, _getattr_, _iter_, _setattr_, _unpack_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target
from adbc.types.callsites import Binding
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import Exact, class_of
from adbc.types.operators import (
    BINARY,
    COMPARISONS,
    UNARY,
    Binary,
    answered,
    answered_mirrored,
    compared,
    falsity,
    length,
    no_length,
    some_length,
    truth,
)
from adbc.types.records import record_field

__all__ = ["SpecialKnowledge", "special_methods"]


class SpecialKnowledge(Protocol):
    """What `special_methods` asks of the rest of the system."""

    def special(self, cls: type, name: str) -> types.FunctionType | None:
        """The function in Python that the special method `name` of instances of exactly `cls` is."""

    def record_names(self, cls: type) -> tuple[str, ...] | None:
        """The fields of `cls`, if it is a frozen dataclass and making and reading its instances is nothing
        else."""

    def accessor(self, cls: type, name: str, way: str) -> types.FunctionType | None:
        """The function in Python that reads (`way` is "get") or writes ("set") the property `name` of
        instances of exactly `cls`."""

    def attribute_hook(self, cls: type, way: str, name: str) -> Any:
        """What asks the ``__getattr__`` of `cls` for attribute `name` of an instance of exactly `cls`, unless
        that has a field of this name; if `way` is "set", the ``__setattr__`` that is given its value."""

    def lacks(self, cls: type, name: str) -> bool:
        """Whether a class in Python, `cls`, has no attribute `name`."""

    def given_at_once(self, cls: type, count: int) -> types.FunctionType | None:
        """The function that gives in a tuple the `count` values that ``__iter__`` of instances of exactly
        `cls` gives, if that is a generator that gives just these."""

    def answers(self, function: types.FunctionType) -> bool:
        """Whether `function` never returns `NotImplemented`."""

    def asked_for_iterator(self, cls: type) -> types.FunctionType | None:
        """The function in Python that is ``__iter__`` of instances of exactly `cls`, if it makes no generator
        and what it returns is seen to be an iterator."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""


_OF_ITEMS: dict[Any, str] = {
    operator.getitem: "__getitem__", operator.setitem: "__setitem__", operator.delitem: "__delitem__",
}  # fmt: skip

_NUMBERS = frozenset({bool, int, float, complex})
"""Classes whose operators have nothing to say to instances of classes in Python that are no numbers."""
_CONTAINERS = frozenset({list, tuple, dict, set, str})
"""Builtin classes that have nothing to say to what is no container of their kind."""
_DERIVED = (float, complex)
"""Instances of classes derived from these are numbers to those, which are asked where their own methods have
no answer."""


def special_methods(graph: Graph, knowledge: SpecialKnowledge) -> bool:
    """Call special methods by their functions, in place; returns whether anything changed."""
    changed = False
    for block in graph.blocks:
        for call in block.instructions:
            operands = _operands(call, knowledge) if call.op == "call" else None
            if operands is not None:
                call.operands = operands
                changed = True
    return changed


def _operands(call: Instruction, knowledge: SpecialKnowledge) -> list[Value] | None:
    """The operands of the call that does what `call` does by a special method or an accessor."""
    function = target(call)
    if call.keywords or not isinstance(call.operands[0], Const):
        return None
    if function is _getattr_ or function is _setattr_:
        return _accessed(call, "get" if function is _getattr_ else "set", knowledge)
    arguments = call_parts(call)[1]
    if function is _foreigncall_:
        function = constant(call.operands[1])
        if function is bool or function is len:
            return _measured(function, arguments, knowledge)
        if function is not abs and function is not next:
            return None
    if function is _unpack_:
        return _unpacked(arguments, knowledge)
    if function is _iter_:
        return _iterated(arguments, knowledge)
    if function is _bool_ or function is operator.not_:
        return _measured(function, arguments, knowledge)
    if is_builtin_function(function):
        if function in BINARY and len(arguments) == 2:
            return _asked(BINARY[function], arguments[0], arguments[1], knowledge)
        if function in _OF_ITEMS and len(arguments) == (3 if function is operator.setitem else 2):
            return _of_method(_OF_ITEMS[function], arguments, knowledge)
        if function in UNARY and len(arguments) == 1:
            return _of_method(UNARY[function], arguments, knowledge)
        if function in COMPARISONS and len(arguments) == 2:
            return _compared(COMPARISONS[function], arguments[0], arguments[1], knowledge)
    return None


def _class_of_instance(value: Value) -> type | None:
    """The class of `value`, if it is known exactly."""
    known = type_of(value)
    return known.cls if isinstance(known, Exact) else None


def _of_method(name: str, arguments: Sequence[Value], knowledge: SpecialKnowledge) -> list[Value] | None:
    cls = _class_of_instance(arguments[0])
    function = None if cls is None else knowledge.special(cls, name)
    if function is None or knowledge.bind(function, len(arguments), ()) is None:
        return None
    return [Const(function), *arguments]


def _unpacked(arguments: Sequence[Value], knowledge: SpecialKnowledge) -> list[Value] | None:
    cls, count = _class_of_instance(arguments[0]), constant(arguments[1])
    if cls is None or cls.__module__ == "builtins" or type(count) is not int:
        return None
    function = knowledge.given_at_once(cls, count)
    return None if function is None else [Const(function), arguments[0]]


def _iterated(arguments: Sequence[Value], knowledge: SpecialKnowledge) -> list[Value] | None:
    cls = _class_of_instance(arguments[0])
    if cls is None or cls.__module__ == "builtins":
        return None
    function = knowledge.asked_for_iterator(cls)
    return None if function is None else [Const(function), arguments[0]]


def _compared(
    by: tuple[str, str, str], x: Value, y: Value, knowledge: SpecialKnowledge
) -> list[Value] | None:
    """The call of a function that asks the left operand, and the right one where that has no answer."""
    left, right = _class_of_instance(x), class_of(type_of(y))
    if left is None or right is None or (right is not left and left in right.__mro__):
        return None
    name, symbol, mirrored = by
    function = knowledge.special(left, name)
    if function is None or knowledge.bind(function, 2, ()) is None:
        return None
    if knowledge.answers(function):
        return [Const(function), x, y]
    if issubclass(left, _DERIVED):
        return None
    second = None
    if right not in _NUMBERS:
        second = knowledge.special(right, mirrored) if right is _class_of_instance(y) else None
        if second is None or knowledge.bind(second, 2, ()) is None:
            return None
    return [Const(compared), Const(symbol), Const(function), Const(second), x, y]


_BY_TRUTH: dict[Any, Any] = {_bool_: truth, bool: truth, operator.not_: falsity}
_BY_LENGTH: dict[Any, Any] = {
    _bool_: some_length, bool: some_length, operator.not_: no_length, len: length,
}  # fmt: skip
"""Questions for the truth and the length of an object, and what asks its ``__bool__`` or ``__len__``."""


def _measured(question: Any, arguments: Sequence[Value], knowledge: SpecialKnowledge) -> list[Value] | None:
    """The call of a function that asks an object for its truth or its length."""
    cls = _class_of_instance(arguments[0]) if len(arguments) == 1 else None
    if cls is None:
        return None
    method = None if question is len else knowledge.special(cls, "__bool__")
    by = _BY_TRUTH.get(question)
    if method is None and (question is len or knowledge.lacks(cls, "__bool__")):
        method, by = knowledge.special(cls, "__len__"), _BY_LENGTH[question]
    if method is None or knowledge.bind(method, 1, ()) is None:
        return None
    return [Const(by), Const(method), arguments[0]]


def _accessed(call: Instruction, way: str, knowledge: SpecialKnowledge) -> list[Value] | None:
    _, obj, name, *others = call.operands
    cls = _class_of_instance(obj)
    if cls is None or not isinstance(name, Const) or type(name.value) is not str:
        return None
    if way == "get" and name.value in (knowledge.record_names(cls) or ()):
        return [Const(record_field), obj, name]
    function = knowledge.accessor(cls, name.value, way)
    if function is None:
        return _hooked(cls, way, [obj, name, *others], knowledge)
    if knowledge.bind(function, 1 + len(others), ()) is None:
        return None
    return [Const(function), obj, *others]


def _hooked(
    cls: type, way: str, arguments: Sequence[Value], knowledge: SpecialKnowledge
) -> list[Value] | None:
    """The call of what attributes of instances of `cls` are asked of, or given to."""
    name: Any = constant(arguments[1])
    hook = knowledge.attribute_hook(cls, way, name)
    if hook is None or (is_function(hook) and knowledge.bind(hook, len(arguments), ()) is None):
        return None
    return [Const(hook), *arguments]


def _asked(by: Binary, x: Value, y: Value, knowledge: SpecialKnowledge) -> list[Value] | None:
    """The call of a function that asks one operand, and the other one where that has no answer."""
    left, right = class_of(type_of(x)), class_of(type_of(y))
    if left is None or right is None:
        return None
    if left is list or left is tuple:  # they are joined and repeated after the right operand was asked
        method = knowledge.special(right, by.mirrored) if right is _class_of_instance(y) else None
        is_all = method is not None and knowledge.bind(method, 2, ()) and knowledge.answers(method)
        return [Const(method), y, x] if is_all else None
    if left in _NUMBERS:
        method = knowledge.special(right, by.mirrored) if right is _class_of_instance(y) else None
        if method is None or knowledge.bind(method, 2, ()) is None:
            return None
        is_derived = issubclass(right, _DERIVED)
        if is_derived and left is complex:
            return None
        if knowledge.answers(method):
            return [Const(method), y, x]
        if is_derived:
            return None
        return [Const(answered_mirrored), Const(by.symbol), Const(method), x, y]
    if left is not _class_of_instance(x) or (right is not left and left in right.__mro__):
        return None
    if by.in_place is not None and not knowledge.lacks(left, by.in_place):
        in_place = knowledge.special(left, by.in_place)
        is_all = in_place is not None and knowledge.bind(in_place, 2, ()) and knowledge.answers(in_place)
        return [Const(in_place), x, y] if is_all else None
    method = knowledge.special(left, by.forward)
    if method is None or knowledge.bind(method, 2, ()) is None:
        return None
    if knowledge.answers(method):
        return [Const(method), x, y]
    if issubclass(left, _DERIVED):
        return None
    second = None
    has_no_say = right in _NUMBERS or (right in _CONTAINERS and not hasattr(right, by.mirrored))
    if right is not left and not has_no_say and not knowledge.lacks(right, by.mirrored):
        second = knowledge.special(right, by.mirrored)
        if second is None or knowledge.bind(second, 2, ()) is None:
            return None
    return [Const(answered), Const(by.symbol), Const(method), Const(second), x, y]
