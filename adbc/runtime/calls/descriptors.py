"""Descriptors made in C that are asked by name: ``descriptor.__get__(obj)``, ``__set__`` and ``__delete__``.

Where the descriptor is what the class of the object has under its name, this is reading, setting or deleting
that attribute, past all hooks; where the object is of another class, the error is the user's.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.attributes import bound_shadow
from adbc.runtime.calls.classes import is_python_function, lookup
from adbc.runtime.calls.steps import Call, Delegate, Found, Protocols, Resolver, Step, Value

__all__ = ["PROTOCOLS"]

_DATA = (types.MemberDescriptorType, types.GetSetDescriptorType)
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)


def _data(attribute: Callable[..., Any], count: int) -> Resolver:
    """The resolver of a method of a data descriptor, which is `attribute` of the object and the name, and of
    its third argument if `count` is 3."""

    def data(call: Call, table: RuleTable) -> Step | None:
        if call.keywords or len(call.args) < count - 1 or len(call.args) > 3:
            return None
        descriptor, obj = call.args[:2]
        if obj is None and attribute is object.__getattribute__:
            return Found(call, call.perform())
        if not issubclass(type(obj), descriptor.__objclass__):
            call.perform()  # for its error
            return None
        if lookup(type(obj), descriptor.__name__) is not descriptor:
            return None  # another class has something else of this name
        if issubclass(type(obj), type) and attribute is not object.__getattribute__:
            return None
        named = call.on(attribute, 1)
        value = call.on(attribute, 2) if count == 3 else call.on(attribute)
        args = (obj, descriptor.__name__, *value.args)
        shadows, origins = (*named.shadows, None, *value.shadows), (*named.origins, None, *value.origins)
        return Delegate(Call(attribute, None, args, shadows, origins, (), None))

    return data


def _method(call: Call, table: RuleTable) -> Step | None:
    """``list.append.__get__(values)``: the method, bound to the object."""
    if call.keywords or not 2 <= len(call.args) <= 3:
        return None
    descriptor, obj = call.args[:2]
    out = call.perform()
    if obj is None or out is descriptor:
        return Found(call, out)
    return Value(call.on(descriptor, 1), out, bound_shadow(call.shadows[1], False))


def _property(function: str, count: int) -> Resolver:
    """The resolver of ``__get__`` and its kin of a property, which calls its `function`."""

    def of_property(call: Call, table: RuleTable) -> Step | None:
        if call.keywords or not count <= len(call.args) <= 3:
            return None
        own = getattr(call.args[0], function)
        if (call.args[1] is None and function == "fget") or own is None:
            return Found(call, call.perform())
        return Delegate(call.on(own, *range(1, count)))

    return of_property


def _of_class(call: Call, table: RuleTable) -> Step | None:
    """``__get__`` of a classmethod or staticmethod around a function, which is not given the object."""
    wraps = is_python_function(getattr(call.args[0], "__func__", None)) if call.args else False
    return Found(call, call.perform()) if wraps and not call.keywords else None


PROTOCOLS: Protocols = {
    **{vars(cls)["__get__"]: _data(object.__getattribute__, 2) for cls in _DATA},
    **{vars(cls)["__set__"]: _data(object.__setattr__, 3) for cls in _DATA},
    **{vars(cls)["__delete__"]: _data(object.__delattr__, 2) for cls in _DATA},
    **{vars(cls)["__get__"]: _method for cls in _METHODS},
    property.__get__: _property("fget", 2),
    property.__set__: _property("fset", 3),
    property.__delete__: _property("fdel", 2),
    classmethod.__get__: _of_class,
    staticmethod.__get__: _of_class,
}
"""What the methods of descriptors lead to."""
