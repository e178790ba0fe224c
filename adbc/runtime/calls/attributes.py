"""The attribute protocol, as ``object.__getattribute__`` and its kin run it.

Each function looks at classes and descriptors and says what happens next, in the terms of `resolve`;
user code (properties, hooks, descriptors) is never run here but handed on to be differentiated.
"""

from __future__ import annotations

import operator
import sys
import types
from typing import Any

from adbc.cpython.wrappers import CACHED
from adbc.errors import ConstWriteError, UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.classes import overrides
from adbc.rules.lookup import RuleTable
from adbc.rules.table import Rule
from adbc.runtime.calls import exceptions, fields
from adbc.runtime.calls.classes import (
    goes_first,
    is_heap_type,
    is_python_function,
    lookup,
    python_method,
)
from adbc.runtime.calls.properties import is_property, of_property
from adbc.runtime.calls.steps import (
    Beside,
    Call,
    Delegate,
    Foreign,
    Found,
    Locate,
    OfClass,
    OfException,
    OfFunction,
    OnClass,
    Protocols,
    Resolver,
    Step,
    UseRow,
    Value,
    pass_to_row,
)
from adbc.runtime.report.variables import Variables, caller_of, code_of
from adbc.runtime.state.activity import is_active, is_opaque
from adbc.tangents import NO_TANGENT, FData
from adbc.tangents.fields import (
    LOCAL,
    access,
    has_attributes_beside,
    has_slots_beside,
    hides_dictionary,
    instance_dict,
)
from adbc.tangents.protocol import kind_of

__all__ = ["PROTOCOLS", "bound_shadow", "get_default", "plain_get", "refuse_hook", "variables"]

_PLAIN_GET = object.__getattribute__
_PLAIN_SET = object.__setattr__
_PLAIN_DEL = object.__delattr__


def get_attribute(call: Call, table: RuleTable) -> Step | None:
    """``obj.name``: by an overridden ``__getattribute__``, else the usual way, and by ``__getattr__`` if that
    raises an AttributeError."""
    obj, name = call.args[:2]
    cls = type(obj)
    hook, other = python_method(cls, "__getattribute__"), python_method(cls, "__getattr__")
    if hook is not None and issubclass(cls, type):
        raise refuse_hook(cls)
    if other is None or issubclass(cls, _NAMESPACES):
        return plain_get(call, table) if hook is None else Delegate(call.of(hook))
    if hook is None:
        descriptor = lookup(cls, name) if issubclass(type(name), str) else None
        if name in instance_dict(obj) and not goes_first(descriptor):
            return plain_get(call, table)
        if descriptor is None and not any(name in vars(base) for base in cls.__mro__):
            return Delegate(call.on(other, 0, 1))
        if descriptor is None or issubclass(type(descriptor), _METHODS):
            return plain_get(call, table)
    return Delegate(call.of(found_or_asked))


def found_or_asked(obj: Any, name: str) -> Any:
    """``obj.name`` where the class of `obj` has a ``__getattr__``, and the usual way may raise."""
    try:
        return intrinsics._load_special_(obj, "__getattribute__")(name)
    except AttributeError:
        pass
    return intrinsics._load_special_(obj, "__getattr__")(name)


_METHODS = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


def refuse_hook(meta: type) -> UnsupportedError:
    """The error for a metaclass that runs code wherever an attribute of a class is read."""
    return UnsupportedError(
        f"metaclass {meta.__name__!r} has a __getattribute__ written in Python",
        "it runs whenever anybody looks at one of its classes, adbc included",
        "use __getattr__ or a property of the metaclass",
    )


_NAMESPACES = (types.ModuleType, type)


def _read(obj: Any, name: str) -> Any:
    """``obj.name``, past a ``__getattribute__`` or ``__getattr__`` written in Python."""
    cls = type(obj)
    if overrides(cls, "__getattribute__") or overrides(cls, "__getattr__"):
        return access(cls).__getattribute__(obj, name)
    return getattr(obj, name)


def plain_get(call: Call, table: RuleTable, is_seen: bool = False) -> Step | None:
    """``object.__getattribute__(obj, name)``.

    Nothing here may ask the object itself (``obj.__class__``, ``isinstance``): its class may answer.
    """
    obj, name = call.args[:2]
    if not issubclass(type(name), str):
        return None
    cls = type(obj)
    if issubclass(cls, _NAMESPACES):
        return _of_class(call, name) if issubclass(cls, type) else Found(call, getattr(obj, name))
    if cls is super:
        return _of_super(call, name)
    if issubclass(cls, BaseException) and not is_seen:
        return OfException(call)
    descriptor = lookup(cls, name)
    if name == "__dict__" and cls is LOCAL:  # which has no descriptor for it
        return _dictionary(call)
    if goes_first(descriptor):
        return _data_descriptor(call, descriptor, table)
    if name in instance_dict(obj):
        if cls is types.FunctionType:
            return OfFunction(_item(operator.getitem, call))
        return _field(fields.GET, call.on(fields.get_field, 0, 1))
    if descriptor is None:
        if any(name in vars(base) for base in cls.__mro__):
            return _class_attribute(call, cls, name)
        if cls is types.MethodType:
            return Delegate(call.of(of_its_function))
        return _foreign_read(call, name)
    return _bind(call, descriptor, table)


def _item(operation: Any, call: Call) -> Call:
    """The call that does with an attribute of a function what `operation` does with an item: its ``__dict__``
    is memory that has a shadow by its address.  That of the function is not asked: there may be none where
    the function is met by another name, and it has the cells, which have names too."""
    args = (call.args[0].__dict__, *call.args[1:])
    return Call(operation, None, args, (None, *call.shadows[1:]), (None, *call.origins[1:]))


def _field(row: Rule, call: Call) -> Step:
    """The step that reads, sets or deletes, by `row`, what stands in the dictionary of an instance."""
    cls, name = type(call.args[0]), call.args[1]
    if not issubclass(type(lookup(cls, name)), types.MemberDescriptorType):
        is_beside = has_attributes_beside(cls)
    else:
        is_given = row is fields.SET and call.shadows[2] is not None and call.shadows[2] is not NO_TANGENT
        is_beside = is_given and has_slots_beside(cls)
    return Beside(call, row) if is_beside else UseRow(row, call)


def of_its_function(method: Any, name: str) -> Any:
    """``method.name`` where methods have no such attribute: what their function has."""
    return getattr(method.__func__, name)


_COMPILED = "cython_function_or_method"
"""The name of the classes of functions that Cython has made, which are bound as those of Python are."""


def _bind(call: Call, descriptor: Any, table: RuleTable) -> Step:
    """What `descriptor`, found in the class of an object and no data descriptor, gives for that object."""
    obj, name = call.args[:2]
    cls, kind = type(obj), type(descriptor)
    if kind is types.FunctionType or kind is CACHED or kind.__name__ == _COMPILED:
        return Value(call, types.MethodType(descriptor, obj), bound_shadow(call.shadows[0], True))
    if kind in (types.MethodDescriptorType, types.WrapperDescriptorType):
        return Value(call, _read(obj, name), bound_shadow(call.shadows[0], False))
    if kind in (staticmethod, classmethod, types.ClassMethodDescriptorType):
        return Found(call, _read(obj, name))
    getter = lookup(kind, "__get__")
    if is_python_function(getter):
        return _getter(call, getter, descriptor, cls)
    if getter is not None:
        return _c_descriptor(call, descriptor, table)
    return _class_attribute(call, cls, name)


def _of_class(call: Call, name: str) -> Step:
    """An attribute of a class: a property of its metaclass, a descriptor written in Python, or a value."""
    obj = call.args[0]
    meta = type(obj)
    above = lookup(meta, name)
    if (read := of_property(above, "__get__")) is not None:
        return Delegate(call.on(read, 0))
    getter = lookup(type(above), "__get__")
    if goes_first(above):
        return (
            _getter(call, getter, above, meta) if is_python_function(getter) else Found(call, _get(obj, name))
        )
    if any(name in vars(base) for base in obj.__mro__):
        found = lookup(obj, name)
        getter = lookup(type(found), "__get__")
        if is_python_function(getter):
            arguments = (found, None, obj)
            return Locate(Call(getter, None, arguments, (None,) * 3, (None,) * 3), 0)
        return _class_attribute(call, obj, name) if getter is None else Found(call, _get(obj, name))
    if above is None:
        hook = lookup(meta, "__getattr__")
        return Delegate(call.on(hook, 0, 1)) if is_python_function(hook) else Found(call, getattr(obj, name))
    if is_python_function(getter):
        return _getter(call, getter, above, meta)
    return _class_attribute(call, meta, name) if getter is None else Found(call, _get(obj, name))


def _get(cls: type, name: str) -> Any:
    """``cls.name``, past a ``__getattribute__`` of the metaclass."""
    return type.__getattribute__(cls, name)


def _class_attribute(call: Call, cls: type, name: str) -> Step:
    """What `cls` or its bases have as `name`, which is no descriptor."""
    owner = next(base for base in cls.__mro__ if name in vars(base))
    return OfClass(call, owner, name, vars(owner)[name])


def load_special(call: Call, table: RuleTable) -> Step | None:
    """A special method, such as ``__enter__`` for a ``with`` statement: on the class only, then bound."""
    obj, name = call.args
    descriptor = lookup(type(obj), name)
    if descriptor is None:
        return Found(call, intrinsics._load_special_(obj, name))
    if issubclass(type(descriptor), (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return Value(call, descriptor.__get__(obj, type(obj)), bound_shadow(call.shadows[0], False))
    if issubclass(type(descriptor), (staticmethod, classmethod, types.ClassMethodDescriptorType)):
        return Found(call, descriptor.__get__(obj, type(obj)))
    if hasattr(type(descriptor), "__set__"):
        return _data_descriptor(call, descriptor, table)
    return _bind(call, descriptor, table)


def bound_shadow(shadow: Any, has_function: bool) -> Any:
    """The shadow of a method that is bound to an object with `shadow`; `has_function`: it is written in
    Python."""
    if shadow is None:
        return None
    return FData(__self__=shadow, __func__=None) if has_function else FData(__self__=shadow)


def _is_found_in_class(shadow: Any) -> bool:
    """Whether the function of a bound method with `shadow` was found in a class: by its address it has a
    shadow, if it needs one."""
    return getattr(shadow, "__dict__", {}).get("__func__") is None


def _getter(call: Call, getter: Any, descriptor: Any, cls: type) -> Step:
    """The call of `getter`, the ``__get__`` in Python of a `descriptor` found in a class."""
    arguments = descriptor, call.args[0], cls
    shadows = None, call.shadows[0], None
    return Locate(Call(getter, None, arguments, shadows, (None, call.origins[0], None), (), None), 0)


def _dictionary(call: Call) -> Step:
    """``obj.__dict__``: its shadow is the dictionary of the fields in the shadow of `obj`."""
    obj, shadow = call.args[0], call.shadows[0]
    found = _read(obj, "__dict__")
    if type(obj) is types.FunctionType or has_attributes_beside(type(obj)):
        return Found(call, found)
    beside = fields.dictionary(obj, found, shadow)
    if beside is not None and not fields.has_own_dictionary(obj, shadow):
        raise UnsupportedError(
            f"the __dict__ of a {type(obj).__name__} is used as a dictionary",
            "the class has __slots__ beside it",
            "read and set the attributes by name",
        )
    return Value(call, found, beside)


def _data_descriptor(call: Call, descriptor: Any, table: RuleTable) -> Step:
    """An attribute by a descriptor with a ``__set__``, which goes before what the instance has."""
    kind, (obj, name) = type(descriptor), call.args[:2]
    if kind in (types.GetSetDescriptorType, types.MemberDescriptorType):  # the second in a SimpleNamespace
        if descriptor is _VARIABLES:
            return _variables_of(call, obj.f_locals)
        if descriptor is _CALLER:
            return Found(call, caller_of(obj))
        if descriptor is _CODE:
            return Found(call, code_of(obj))
        if descriptor.__name__ == "__dict__" and not hides_dictionary(type(obj)):
            return _dictionary(call)
        if descriptor is _CLASS:
            return Value(call, type(call.args[0]), None)
    if (read := of_property(descriptor, "__get__")) is not None:
        return Delegate(call.on(read, 0))
    if is_property(descriptor, "__get__") and python_method(type(obj), "__getattr__") is None:
        call.perform()  # for its error: it has no getter
    row = table.find(descriptor, (type(call.args[0]),))
    if row is not None:
        return pass_to_row(row, call.on(descriptor, 0))
    if kind is types.MemberDescriptorType:
        if type(obj) is types.MethodType and name == "__func__" and _is_found_in_class(call.shadows[0]):
            return Found(call, obj.__func__)
        if has_slots_beside(type(obj)):
            return Found(call, fields.get_field(obj, name))
        return UseRow(fields.GET, call.on(fields.get_field, 0, 1))
    getter = lookup(kind, "__get__")
    if is_python_function(getter):
        return _getter(call, getter, descriptor, type(call.args[0]))
    return _c_descriptor(call, descriptor, table)


def _variables_of(call: Call, variables: Any) -> Step:
    """The `variables` of a frame: those of code that is run as it was written, or what refuses."""
    shown = variables.shown() if type(variables) is Variables else None
    return Found(call, variables if shown is None else shown)


_VARIABLES = types.FrameType.__dict__["f_locals"]
_CODE = types.FrameType.__dict__["f_code"]
_CALLER = types.FrameType.__dict__["f_back"]
_CLASS = object.__dict__["__class__"]


def _c_descriptor(call: Call, descriptor: Any, table: RuleTable) -> Step:
    """An attribute computed in C (``array.T``, ``complex.real``): the descriptor itself has the rule."""
    obj, name = call.args[:2]
    row = table.find(descriptor, (type(obj),))
    if row is not None:
        return pass_to_row(row, call.on(descriptor, 0))
    if type(descriptor).__name__ == "_tuplegetter":
        return UseRow(fields.GET, call.on(fields.get_field, 0, 1))
    if name == "__self__" and issubclass(type(obj), types.BuiltinMethodType):
        return UseRow(fields.GET, call.on(fields.get_field, 0, 1))
    if type(descriptor) not in _FIELDS_OF_C:
        getter = lookup(type(descriptor), "__get__")
        row = table.find(getter, (type(descriptor), type(obj), type))
        if row is not None:
            given, beside = (descriptor, obj, type(obj)), (None, call.shadows[0], None)
            origins = None, call.origins[0], None
            return pass_to_row(row, Call(getter, None, given, beside, origins, (), None))
        return _reading(call, name)  # it may run Python code and keep what that gives: it is asked once
    value = getattr(obj, name)
    if kind_of(type(value)).inactive and not is_opaque(value):
        return Found(call, value)  # a class, a number of elements, a name: nothing to differentiate
    if type(obj) is types.FunctionType and name in _ABOUT_FUNCTIONS:
        return Found(call, value)  # found by its address, if it has memory
    return _foreign_read(call, name)


_FIELDS_OF_C = frozenset({types.GetSetDescriptorType, types.MemberDescriptorType})
"""The classes of descriptors of what objects in C have, which may be read any number of times."""
_MEANING = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
"""The attributes of a function from which it follows what a call of it does."""
_ABOUT_FUNCTIONS = frozenset(
    {
        "__name__", "__qualname__", "__module__", "__doc__", "__annotations__", "__annotate__",
        "__type_params__", "__globals__",
    }
)  # fmt: skip
"""What is said about a function rather than held by it, unlike its cells and defaults."""


def _foreign_read(call: Call, name: str) -> Step:
    """The step for an attribute that C code computes, and of which nothing is known."""
    _read(call.args[0], name)  # an attribute that is missing is the user's error, not a missing rule
    return _reading(call, name)


def _reading(call: Call, name: str) -> Step:
    """The step that reads an attribute by C code, which sees no more than the object."""
    return Foreign(Call(_Reader(name), None, call.args[:1], call.shadows[:1], call.origins[:1], (), None))


class _Reader:
    """Reading one attribute, as a callable with a name for error messages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__qualname__ = f"attribute {name!r}"

    def __call__(self, obj: Any) -> Any:
        return _read(obj, self.name)


def _of_super(call: Call, name: str) -> Step:
    """``super().name``: what the classes behind the one named have, bound to the instance."""
    bound = call.args[0]
    obj = bound.__self__
    mro = () if obj is None else bound.__self_class__.__mro__
    at = mro.index(bound.__thisclass__) + 1 if mro else 0
    owner = next((base for base in mro[at:] if name in vars(base)), None)
    if owner is None or name == "__class__":
        return Found(call, getattr(bound, name))
    found = vars(owner)[name]
    is_instance = bound.__self_class__ is not obj
    read = of_property(found, "__get__")
    if read is not None and is_instance:
        self_call = Call(read, None, (obj,), (call.shadows[0],), (call.origins[0],), (), None)
        return Delegate(self_call)
    getter = lookup(type(found), "__get__")
    if getter is None:
        return OfClass(call, owner, name, found)
    if is_python_function(getter):
        arguments = found, obj if is_instance else None, bound.__self_class__
        shadows = None, call.shadows[0] if is_instance else None, None
        origins = None, call.origins[0] if is_instance else None, None
        return Locate(Call(getter, None, arguments, shadows, origins, (), None), 0)
    value = getattr(bound, name)
    if issubclass(type(value), types.MethodType) and not issubclass(type(value.__self__), type):
        return Value(call, value, bound_shadow(call.shadows[0], True))
    if issubclass(type(value), types.BuiltinMethodType | types.MethodWrapperType):
        return Value(call, value, bound_shadow(call.shadows[0], False))
    return Found(call, value)


def get_default(call: Call, table: RuleTable) -> Step | None:
    """``getattr(obj, name[, default])``."""
    if len(call.args) == 2:
        return Delegate(call.of(intrinsics._getattr_))
    obj, name, _ = call.args
    if hasattr(obj, name):
        return Delegate(call.on(intrinsics._getattr_, 0, 1))
    return Value(call, call.args[2], call.shadows[2], origin=call.origins[2])


def _unless_hooked(name: str, plain: Resolver) -> Resolver:
    """The resolver `plain`, unless the class of the object has the special method `name` in Python."""

    def hooked(call: Call, table: RuleTable) -> Step | None:
        hook = python_method(type(call.args[0]), name)
        return plain(call, table) if hook is None else Delegate(call.of(hook))

    return hooked


def plain_set(call: Call, table: RuleTable) -> Step | None:
    """``object.__setattr__(obj, name, value)``."""
    obj, name = call.args[:2]
    if issubclass(type(obj), _NAMESPACES):
        return _through_metaclass(call, "__set__", 2) or OnClass(call.on(setattr, 0, 1, 2))
    if issubclass(type(obj), BaseException):
        of_all = exceptions.set_on_exception(call, name)
        if of_all is not None:
            return of_all
    descriptor = lookup(type(obj), name)
    kind = type(descriptor)
    if descriptor is not None and hasattr(kind, "__set__"):
        if (write := of_property(descriptor, "__set__")) is not None:
            return Delegate(call.on(write, 0, 2))
        if is_property(descriptor, "__set__"):
            call.perform()  # for its error: it has no setter
        setter = lookup(kind, "__set__")
        if is_python_function(setter):
            return Locate(
                Call(
                    setter, None, (descriptor, obj, call.args[2]), (None, call.shadows[0], call.shadows[2]),
                    (None, call.origins[0], call.origins[2]), (), None,
                ), 0
            )  # fmt: skip
        if kind is types.GetSetDescriptorType and descriptor.__name__ in ("__dict__", "__class__"):
            if descriptor.__get__(obj) is call.args[2]:  # ``obj.__dict__ |= other`` has changed it in place
                return Value(call, None, None)
            if fields.may_get_dictionary(obj, name, call.args[2], call.shadows[0]):
                replaced = call.on(fields.replace_dictionary, 0, 2)
                return Locate(replaced, 1) if call.shadows[2] is None else Delegate(replaced)
            raise fields.replaced(obj, name)
        if type(obj) is types.FunctionType and name in _MEANING:
            raise UnsupportedError(
                f"{name} of {obj.__qualname__} is replaced",
                "code that may have been derived for what it was is being differentiated",
                "make another function, or replace it before the call",
            )
        if type(obj) is types.FunctionType and name in _ABOUT_FUNCTIONS:
            return UseRow(exceptions.SET_LINK, call.on(exceptions.set_link, 0, 1, 2))
        row = table.find(getattr(descriptor, "__set__", None), (type(obj), type(call.args[2])))
        if row is not None:
            return pass_to_row(row, call.on(descriptor.__set__, 0, 2))
        if kind is not types.MemberDescriptorType:
            if _is_immutable(obj):
                call.perform()  # for its error
            return Foreign(call)
    if _is_set_in_c(obj, "__setattr__"):
        return _elsewhere(call, setattr, table)
    if descriptor is None and _has_own_ways(type(obj)):
        if lookup(type(obj), "__setattr__") is _PLAIN_SET:
            call.perform()  # for its error: there is no place for it
        if not is_active(call.shadows[2]):
            return Foreign(call.of(setattr))
    if descriptor is None and type(obj) is types.FunctionType:
        return Locate(_item(operator.setitem, call), 0)
    return _field(fields.SET, call.on(fields.set_field, 0, 1, 2))


def plain_delete(call: Call, table: RuleTable) -> Step | None:
    """``object.__delattr__(obj, name)``."""
    if issubclass(type(call.args[0]), _NAMESPACES):
        return _through_metaclass(call, "__delete__") or OnClass(call.on(delattr, 0, 1))
    descriptor = lookup(type(call.args[0]), call.args[1])
    if (drop := of_property(descriptor, "__delete__")) is not None:
        return Delegate(call.on(drop, 0))
    deleter = lookup(type(descriptor), "__delete__")
    if is_python_function(deleter):
        return Locate(call.on(deleter, 0).prepend(deleter, None, descriptor, None, None), 0)
    if _is_immutable(call.args[0]):
        call.perform()  # for its error
    if _is_set_in_c(call.args[0], "__delattr__"):
        return _elsewhere(call, delattr, table)
    if descriptor is None and _has_own_ways(type(call.args[0])):
        return Foreign(call.of(delattr))
    if type(call.args[0]) is types.FunctionType and call.args[1] in call.args[0].__dict__:
        return Locate(_item(operator.delitem, call), 0)
    return _field(fields.DELETE, call.on(fields.delete_field, 0, 1))


def _has_own_ways(cls: type) -> bool:
    """Whether instances of `cls`, made in C, keep attributes in a way of their own, if they keep any."""
    return not is_heap_type(cls) and lookup(cls, "__dict__") is None


def _is_set_in_c(obj: Any, name: str) -> bool:
    """Whether method `name` of the class of `obj`, which sets or deletes attributes, is code in C that is not
    that of `object`."""
    method = lookup(type(obj), name)
    if method in (_PLAIN_SET, _PLAIN_DEL) or is_python_function(method):
        return False
    owner = getattr(method, "__objclass__", object)
    if is_heap_type(owner) and str(owner.__module__).partition(".")[0] not in sys.stdlib_module_names:
        return True  # `object` would set attributes of its instances, whatever it does itself
    try:
        access(type(obj)).__delattr__(obj, 0)  # it is asked first whether it may be used at all
    except TypeError as error:
        return str(error).startswith("can't apply this")
    return False


def _elsewhere(call: Call, function: Any, table: RuleTable) -> Step:
    """The step that sets or deletes, by `function`, an attribute of an object whose class does so in C: that
    of a proxy sets it in what the proxy stands for."""
    if call.function in (_PLAIN_SET, _PLAIN_DEL):
        return Foreign(call)  # which raises
    method = lookup(type(call.args[0]), "__setattr__" if function is setattr else "__delattr__")
    row = table.find(method, tuple(map(type, call.args)))
    if row is not None:
        return pass_to_row(row, call.of(method))
    if function is setattr and is_active(call.shadows[2]):
        raise ConstWriteError(
            f"attribute {call.args[1]!r} of a {type(call.args[0]).__name__} is set to what has a derivative",
            "its class sets attributes by code of its own in C: a proxy, in another object",
            "set it in what the proxy stands for, or make the class one of Python (a dataclass)",
        )
    return Foreign(call.of(function))


def _is_immutable(obj: Any) -> bool:
    """Whether `obj` is a value made in C, of which no attribute can be set or deleted."""
    cls = type(obj)
    return not kind_of(cls).address and _has_own_ways(cls) and lookup(cls, "__setattr__") is _PLAIN_SET


def _through_metaclass(call: Call, method: str, *value: int) -> Step | None:
    """Setting or deleting an attribute of a class for which its metaclass has a descriptor in Python."""
    above = lookup(type(call.args[0]), call.args[1])
    is_plain = is_property(above, method)
    function = of_property(above, method) if is_plain else lookup(type(above), method)
    if not is_python_function(function):
        return None
    if is_plain:
        return Delegate(call.on(function, 0, *value))
    return Locate(call.on(function, 0, *value).prepend(function, None, above, None, None), 0)


def variables(call: Call, table: RuleTable) -> Step | None:
    """``vars(obj)``."""
    if len(call.args) != 1:
        return None
    obj, shadow, origin = call.args[0], call.shadows[0], call.origins[0]
    hooks = ("__getattribute__", "__getattr__")
    if lookup(type(obj), "__dict__") is None and not any(overrides(type(obj), hook) for hook in hooks):
        call.perform()  # for its error, unless it is one of those that have theirs in another way
    return Delegate(
        Call(intrinsics._getattr_, None, (obj, "__dict__"), (shadow, None), (origin, None), (), None)
    )


set_attribute = _unless_hooked("__setattr__", plain_set)
"""``obj.name = value``"""
delete_attribute = _unless_hooked("__delattr__", plain_delete)
"""``del obj.name``"""

PROTOCOLS: Protocols = {
    intrinsics._getattr_: get_attribute,
    intrinsics._setattr_: set_attribute,
    intrinsics._init_field_: set_attribute,
    intrinsics._delattr_: delete_attribute,
    intrinsics._load_special_: load_special,
    getattr: get_default,
    setattr: set_attribute,
    delattr: delete_attribute,
    vars: variables,
    _PLAIN_GET: plain_get,
    _PLAIN_SET: plain_set,
    _PLAIN_DEL: plain_delete,
    LOCAL.__getattribute__: plain_get,
    LOCAL.__setattr__: plain_set,
    LOCAL.__delattr__: plain_delete,
    type.__getattribute__: plain_get,
    type.__setattr__: plain_set,
    type.__delattr__: plain_delete,
}
"""What functions that read, set and delete attributes lead to."""
