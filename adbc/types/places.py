"""What calls that read or write an attribute find where the class of the object is known: a field of the
instance, what the class has until the instance gets a field of its own, a constant beside the fields, or
what a class has that is read itself.
"""

from __future__ import annotations

import types
from typing import Protocol

from adbc.ir.values import Const, Instruction, Value
from adbc.types.inference import type_of
from adbc.types.lattice import Exact, class_of

__all__ = [
    "COUNTS", "Places", "is_beside", "is_count", "is_default", "is_field", "is_kept", "is_method",
    "is_variable", "method_front", "named_place",
]  # fmt: skip


class Places(Protocol):
    """What is known of the attributes of the instances of classes."""

    def is_field(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field."""

    def is_kept(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else a constant that
        the class has."""

    def is_default(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else an object that the
        class has."""

    def is_beside(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls`, a frozen dataclass, is a constant that the
        class has, unless an instance was given one beside its fields."""

    def is_variable(self, owner: type | types.ModuleType, name: str) -> bool:
        """Whether ``owner.name`` is a global variable: an object that stands in a class or module of the
        program and is given as it is."""

    def method(self, cls: type, name: str) -> types.FunctionType | None:
        """The Python function that attribute `name` of instances of exactly `cls` is bound to, if it is one
        and unless the instance has a field of that name."""

    def unbound(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        """The function of the static or class method that attribute `name` of instances of exactly `cls` is,
        unless they have such a field, and whether it is given the class."""

    def has(self, cls: type, name: str) -> bool | None:
        """Whether all instances of exactly `cls`, or none, have an attribute `name`, and no code is asked for
        it; None if that is not known."""

    def asks_nothing(self, cls: type, name: str) -> bool:
        """Whether no code is asked for attribute `name` of instances of exactly `cls`."""


def is_field(call: Instruction, places: Places) -> bool:
    """Whether `call` reads or writes a plain field."""
    place = _place(call)
    return place is not None and places.is_field(*place)


def is_kept(call: Instruction, places: Places) -> bool:
    """Whether `call` reads or writes a plain field for which the class has a constant as a default."""
    place = _place(call)
    return place is not None and places.is_kept(*place)


def is_default(call: Instruction, places: Places) -> bool:
    """Whether `call` reads or writes a plain field for which the class has an object as a default."""
    place = _place(call)
    return place is not None and places.is_default(*place)


def is_beside(call: Instruction, places: Places) -> bool:
    """Whether `call` reads a constant of the class of a record, or what this has beside its fields."""
    place = _place(call)
    return place is not None and places.is_beside(*place)


def is_variable(call: Instruction, places: Places) -> bool:
    """Whether `call` reads a variable that stands in a class or module."""
    owner, name = (value.value if isinstance(value, Const) else None for value in call.operands[1:3])
    if not isinstance(owner, type | types.ModuleType) or not isinstance(name, str):
        return False
    return places.is_variable(owner, name)


COUNTS = frozenset({int, bool, str, bytes, types.NoneType})
"""The classes of what is set in classes and functions to count, to number and to name."""


def is_count(call: Instruction) -> bool:
    """Whether `call` sets an attribute of a class or function that is known, of ordinary name, to a count."""
    _, owner, name, value = call.operands
    if not (isinstance(owner, Const) and isinstance(name, Const) and type(name.value) is str):
        return False
    is_plain = type(owner.value) in (type, types.FunctionType) and not name.value.startswith("__")
    return is_plain and class_of(type_of(value)) in COUNTS


def is_method(call: Instruction, places: Places) -> types.FunctionType | None:
    """The function of the attribute that `call` reads, if that is a method written in Python."""
    _, obj, name = call.operands
    known = type_of(obj)
    if isinstance(known, Exact) and isinstance(name, Const) and isinstance(name.value, str):
        return places.method(known.cls, name.value)
    return None


def method_front(call: Instruction, places: Places) -> list[Value] | None:
    """The function in Python that a call of the attribute which `call` reads runs, and what stands in front
    of the arguments, if anything: the object of a method, the class of a class method."""
    function = is_method(call, places)
    _, obj, name = call.operands
    if function is not None:
        return [Const(function), obj]
    known = type_of(obj)
    if not isinstance(known, Exact) or not isinstance(name, Const) or type(name.value) is not str:
        return None
    found = places.unbound(known.cls, name.value)
    if found is None:
        return None
    return [Const(found[0]), *([Const(known.cls)] if found[1] else [])]


def named_place(obj: Value, name: Value) -> tuple[type, str] | None:
    """The class of `obj`, and the text that `name` is, if both are known."""
    known = type_of(obj)
    if isinstance(known, Exact) and isinstance(name, Const) and isinstance(name.value, str):
        return known.cls, name.value
    return None


def _place(call: Instruction) -> tuple[type, str] | None:
    """The class of the object, and the name of the attribute, that `call` reads or writes, if both are
    known."""
    return named_place(call.operands[1], call.operands[2])
