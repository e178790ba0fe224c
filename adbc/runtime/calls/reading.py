"""Reading attributes, and what the machinery has, in dynamic calls: short ways where the class of an object
says how one is found.

The ways are kept with the classes; whatever has none goes the whole way of `attributes`.
"""

from __future__ import annotations

import abc
from collections import defaultdict
from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, ClassVar

from adbc.ir import intrinsics
from adbc.rules.classes import stands_for
from adbc.rules.table import NO_KWARGS
from adbc.runtime.calls.classes import (
    CONTAINERS,
    DEFAULT,
    FIELD,
    MEMBER,
    PLACE,
    SLOW,
    VALUES,
    attribute,
    certain_method,
    has_place,
    is_array_or_number,
    is_heap_type,
    lookup,
    member,
    method_in_c,
    python_method,
    through_metaclass,
)
from adbc.runtime.calls.fields import dictionary
from adbc.runtime.calls.generators import Generator
from adbc.runtime.calls.objects import Objects
from adbc.runtime.calls.plain import is_of_library
from adbc.runtime.calls.plans import Mode
from adbc.runtime.calls.steps import Call
from adbc.runtime.state.context import Context
from adbc.tangents import MutableTangent
from adbc.tangents.fields import LOCAL, has_attributes_beside, hides_dictionary, slots_of
from adbc.tangents.protocol import kind_of
from adbc.tangents.scalars import Service

__all__ = ["Attributes"]

Values = tuple[Any, ...]
_COMPUTED_IN_C = (GetSetDescriptorType, MemberDescriptorType)
"""The classes of descriptors of attributes that C code gives."""
_WITH_OWN_ATTRIBUTES = (type, super, ModuleType, FunctionType, MethodType, BaseException, Generator)
"""The classes of objects in C of whose attributes `attributes` knows more than their descriptors say."""
_CLASS_OF = vars(object)["__class__"]
_FACTORY = vars(defaultdict)["default_factory"]
"""What missing values are made by stands beside the items, and may have a derivative as an attribute has."""


_DICTIONARY = "dictionary"
"""The dictionary of an ordinary instance: beside it stands that of what stands beside the instance."""
_OF_OBJECTS = frozenset({"__class__", "__dict__"})
_OF_METHOD = "method"
"""The object or function of a bound method: a part of it, or found in the class."""
_OF_SERVICE = "of a service"
"""An attribute in the dictionary of an object that has no derivative itself (`Service`)."""
_PARTS_OF_METHODS = frozenset({"__func__", "__self__"})
_NO_PARTS: dict[str, Any] = {}


def _of_object(cls: type, name: str) -> Any:
    """How instances of `cls`, a class in Python, have attribute `name`, one of those that `object` gives;
    None if the class may have something else in mind."""
    if not is_heap_type(cls) or issubclass(cls, _WITH_OWN_ATTRIBUTES):
        return None
    if python_method(cls, "__getattribute__") is not None or python_method(cls, "__getattr__") is not None:
        return None
    found = lookup(cls, name)
    if name == "__class__":
        return found if found is _CLASS_OF else None
    is_plain = type(found) is GetSetDescriptorType and found.__name__ == name and not hides_dictionary(cls)
    is_alone = not slots_of(cls) and not has_attributes_beside(cls) and not issubclass(cls, LOCAL)
    return _DICTIONARY if is_plain and is_alone else None


class Certain:
    """A method of instances that have no place for an attribute which could hide it."""

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function


class Attributes(Objects):
    """The part of `Calls` that reads attributes."""

    mode: ClassVar[Mode]
    decided: dict[Any, Any]
    get_field: Callable[..., Any]
    """The rule of reading a field."""

    @abc.abstractmethod
    def decide(self, function: Any, xs: Values) -> Any:
        """The row for a call of `function` on arguments of these classes, if they decide it, else `SLOW`."""

    @abc.abstractmethod
    def use_on_object(self, row: Any, obj: Any, shadow: Any) -> Any:
        """Answer ``obj.name`` by `row`, which the class of `obj` decides: the rule of what computes it."""

    @abc.abstractmethod
    def of_field(self, value: Any, fields: dict[str, Any], name: str) -> Any:
        """Answer ``obj.name``, a field that holds `value`, from the `fields` of what stands beside `obj`."""

    @abc.abstractmethod
    def bind_method(self, function: Any, obj: Any, shadow: Any) -> Any:
        """Answer ``obj.name``, which is the method of `obj` that `function` becomes."""

    @abc.abstractmethod
    def bind_method_in_c(self, descriptor: Any, obj: Any, shadow: Any) -> Any:
        """Answer ``obj.name``, which is the method in C that `descriptor` becomes."""

    @abc.abstractmethod
    def call_slowly(self, context: Context, call: Call, count: int, mode: Mode) -> Any:
        """Answer any call; its origins are places below `count`, for each of which there is a cotangent."""

    @abc.abstractmethod
    def call(
        self, context: Context, keywords: Any, f: Any, ff: Any, xs: Any, fs: Any, mode: Mode | None = None
    ) -> Any:
        """Answer a call."""

    @abc.abstractmethod
    def of_step(self, answer: Any, is_over: bool) -> Any:
        """The answer of a handler, from that of `call` of what the handler's object is asked by."""

    @abc.abstractmethod
    def constant(self, out: Any, fout: Any, count: int, undo: Callable[[], None] | None = None) -> Any:
        """The answer of `call` that `out` is the result, with `fout` beside it, and that nothing comes back
        for the `count` things that were given."""

    @abc.abstractmethod
    def by_row(self, function: Any) -> Callable[..., Any]:
        """The handler of `function` that goes by its rules."""

    @abc.abstractmethod
    def named(self, handle: Any, function: Any) -> Callable[..., Any]:
        """`handle`, the handler of `function`, with a name by which it is found again."""

    def class_of(self, function: Any) -> Callable[..., Any]:
        """The handler of `type`: what asks for a class has no derivative as long as none of them has any."""
        otherwise = self.by_row(function)

        def ask(context: Context, xs: Values, fs: Values, mode: Mode = self.mode) -> Any:
            if len(xs) != 1 or context.classes or context.texts is not None:
                return otherwise(context, xs, fs, mode)
            meant = stands_for(type(xs[0]))
            return self.constant(type(xs[0]) if meant is None else meant, None, 1)

        return self.named(ask, function)

    def apart_of(self, function: Any, at_once: Callable[..., Any]) -> Callable[..., Any]:
        """The handler of `function`, which stands apart."""
        otherwise = self.by_row(function)

        def call(context: Context, xs: Values, fs: Values, mode: Mode = self.mode) -> Any:
            found = at_once(context, xs, fs)
            if found is SLOW:
                return otherwise(context, xs, fs, mode)
            out, beside = found
            return self.constant(out, beside, len(xs))

        return self.named(call, function)

    def get_attribute(self, context: Context, xs: Values, fs: Values, mode: Mode | None = None) -> Any:
        """``obj.name``, with a short way for fields and methods of ordinary instances."""
        obj, name = xs
        cls: type = type(obj)
        found = context.attributes.get((cls, name))
        if found is None:
            found = context.attributes[cls, name] = self.way_to_attribute(cls, name)
        if found is FIELD and name in (fields := obj.__dict__):
            beside = fs[0]
            if beside is None:
                return self.constant(fields[name], None, 2)
            if beside.__class__ is MutableTangent and name in beside.__dict__ and cls is not FunctionType:
                return self.of_field(fields[name], beside.__dict__, name)
            return self.get_field(xs, fs, NO_KWARGS)
        if found is PLACE:
            return self.get_field(xs, fs, NO_KWARGS)
        if found is _OF_SERVICE and name in (fields := obj.__dict__):
            return self.constant(fields[name], self.known_in(context, cls, fields[name]), 2)
        if found is _OF_METHOD:
            own = fs[0]
            if context.texts is not None:
                found = SLOW
            elif name == "__self__" or getattr(own, "__dict__", _NO_PARTS).get(name) is not None:
                return self.get_field(xs, fs, NO_KWARGS)
            else:
                return self.constant(obj.__func__, self.known_in(context, obj, obj.__func__), 2)
        if found is _DICTIONARY:
            own = obj.__dict__
            return self.constant(own, dictionary(obj, own, fs[0]), 2)
        if type(found) is MethodDescriptorType:
            return self.bind_method_in_c(found, obj, fs[0])
        if type(found) is Certain:
            return self.bind_method(found.function, obj, fs[0])
        if type(found) in _COMPUTED_IN_C:
            answer = None if context.texts is not None else self.read_in_c(context, found, obj, fs[0])
            if answer is not None:
                return answer
        elif found is MEMBER:
            value = obj.__dict__.get(name, SLOW) if cls is ModuleType else member(obj, name)
            if value is not SLOW and not context.classes:
                return self.constant(value, self.known_in(context, obj, value), 2)
        elif found is not SLOW:
            if name in obj.__dict__:
                return self.get_field(xs, fs, NO_KWARGS)
            if found is not FIELD and found is not DEFAULT:
                return self.bind_method(found, obj, fs[0])
            if found is DEFAULT and not context.classes:
                value = member(cls, name)
                if value is not SLOW:
                    return self.constant(value, self.known_in(context, cls, value), 2)
            hook = self.way_to_find(context, cls, name) if found is FIELD else SLOW
            if hook is not SLOW and not context.classes:
                return self.of_step(self.call(context, (), hook, None, xs, fs, mode), False)
        call = Call(intrinsics._getattr_, None, xs, fs, (0, 1), (), None)
        return self.call_slowly(context, call, 2, mode or self.mode)

    def known_in(self, context: Context, owner: Any, value: Any) -> Any:
        """What stands beside `value`, which was found in `owner`, a module or class."""
        if type(value) in VALUES or not is_of_library(owner):
            return self.known(context, value)
        before = context.met_before(value)
        shadow = self.known(context, value)
        return shadow if shadow is None else context.note_kept(value, shadow, before)

    def way_to_find(self, context: Context, cls: type, name: str) -> Any:
        """The ``__getattr__``, written in Python, that an instance of `cls` is asked by for what it has not
        got; `SLOW` if there is none, or the class has an attribute `name`."""
        key = cls, name, "getattr()"
        found = context.attributes.get(key)
        if found is None:
            method = python_method(cls, "__getattr__")
            is_in_class = any(name in vars(base) for base in cls.__mro__)  # it may be None there
            found = context.attributes[key] = SLOW if method is None or is_in_class else method
        return found

    def read_in_c(self, context: Context, descriptor: Any, obj: Any, shadow: Any) -> Any:
        """Answer ``obj.name``, which `descriptor` gives in C: by its rule, or as a class or value that has no
        derivative; else None."""
        cls: type = type(obj)
        if descriptor is _CLASS_OF and not context.classes:
            return self.constant(cls, None, 2)
        row = self.decided.get((descriptor, (cls,))) or self.decide(descriptor, (obj,))
        if row is not SLOW:
            return self.use_on_object(row, obj, shadow)
        if self.table.rows(descriptor):
            return None
        value = descriptor.__get__(obj, cls)
        kind: type = type(value)
        is_constant = (kind in VALUES and kind_of(kind).inactive) or (kind is type and not context.classes)
        return self.constant(value, None, 2) if is_constant else None

    def way_to_attribute(self, cls: type, name: str) -> Any:
        """How attribute `name` of instances of `cls` is found (`classes.attribute`)."""
        if type(name) is str:
            if cls is MethodType and name in _PARTS_OF_METHODS and not self.table.rows(lookup(cls, name)):
                return _OF_METHOD
            if name in _OF_OBJECTS and (found := _of_object(cls, name)) is not None:
                return found
            if name != "__dict__" and not is_heap_type(cls) and not issubclass(cls, _WITH_OWN_ATTRIBUTES):
                found = lookup(cls, name)
                if found is _FACTORY and not self.table.rows(found):
                    return PLACE
                if type(found) in _COMPUTED_IN_C:
                    return found
            is_known = cls in CONTAINERS or cls in VALUES or is_array_or_number(cls)
            if is_known and (method := method_in_c(cls, name)) is not None:
                return method
            if cls is ModuleType:
                return MEMBER if lookup(cls, name) is None else SLOW
            if issubclass(cls, type):
                return through_metaclass(cls, name)
            if has_place(cls, name) and not self.table.rows(lookup(cls, name)):
                return PLACE
            if (method := certain_method(cls, name)) is not None and not cls.__dictoffset__:
                return SLOW if self.table.rows(method) else Certain(method)
        found = attribute(cls, name)
        return _OF_SERVICE if found is FIELD and isinstance(kind_of(cls), Service) else found
