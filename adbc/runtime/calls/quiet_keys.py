"""Keys that are seen to change nothing when they are hashed and compared.

It is read off the code of ``__hash__`` and ``__eq__``, and of the methods, properties and functions they
call: it binds no variable but its own, sets no attribute or element, and calls nothing else.  Of what is not
seen, `foreign.settled` looks at what happens.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable
from typing import Any

from adbc.cpython.names import questions
from adbc.rules.classes import overrides
from adbc.runtime.calls.classes import is_heap_type, lookup
from adbc.runtime.calls.properties import is_property, of_property
from adbc.tangents.fields import instance_fields

__all__ = ["are_quiet", "classes_in"]

_CALLED = frozenset(
    {
        abs, bool, float, frozenset, hash, id, int, isinstance, issubclass, len, max, min, round, tuple,
        type,
    }
)  # fmt: skip
"""Builtins that change nothing, on values that answer in C."""
_ALWAYS = ("hash", "eq", "ne", "bool", "len", "index")
_ARITHMETIC = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift",
)  # fmt: skip
_ORDER = ("lt", "le", "gt", "ge")
_ASKED_BY: dict[str, tuple[str, ...]] = {
    **{name: (name, f"r{name}") for name in _ARITHMETIC},
    **dict.fromkeys(_ORDER, _ORDER),
    **{name: (name,) for name in ("getitem", "neg", "pos", "invert", "abs", "round")},
    **dict.fromkeys(("contains", "tuple", "frozenset"), ("contains", "iter", "getitem")),
    **dict.fromkeys(("max", "min"), ("iter", "getitem", *_ORDER)),
    "int": ("int", "trunc"), "float": ("float",),
}  # fmt: skip
"""The special methods, without their underscores, that operators and the functions in `_CALLED` ask for; the
others of these ask for no more than is always asked for."""
_PLAIN = frozenset({str, bytes, int, float, complex, bool, types.NoneType, range})
_NAMED = type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType
_DEPTH = 4


def classes_in(keys: Iterable[Any]) -> frozenset[type] | None:
    """The classes in Python of `keys` and of what is in them; None if something else is there than values and
    instances of these."""
    pending, seen, classes = list(keys), set(), set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls in _PLAIN or id(x) in seen:
            continue
        seen.add(id(x))
        if cls is tuple or cls is frozenset:
            pending.extend(x)
        elif issubclass(cls, _NAMED):  # not `isinstance`, which asks an instance for its ``__class__``
            if cls is not type and issubclass(cls, type):
                return None
        elif not is_heap_type(cls):
            return None
        else:
            classes.add(cls)
            pending.extend(value for _, value in instance_fields(x))
    return frozenset(classes)


def are_quiet(classes: frozenset[type], *, in_order: bool = False) -> bool:
    """Whether instances of `classes`, that hold nothing but each other and values, are hashed and compared
    by code that is seen to change nothing, and put in order too if it is so asked."""
    for cls in classes:
        if any(overrides(cls, name) for name in ("__getattribute__", "__getattr__")):
            return False
    used: set[str] = set()
    names = [*_ALWAYS, *(_ORDER if in_order else ())]
    for name in names:  # it grows, as code is seen that asks for more
        if not all(_is_quiet(lookup(cls, f"__{name}__"), classes, used, 0) for cls in classes):
            return False
        found = [asked for use in used for asked in _ASKED_BY.get(use, ())]
        names += [asked for asked in dict.fromkeys(found) if asked not in names]
    return True


def _is_quiet(method: Any, classes: frozenset[type], used: set[str], depth: int) -> bool:
    """Whether `method` is made in C, or written in Python and seen to change nothing where the objects that
    it meets are of `classes`.  used: gets the operators and builtin functions that it uses, which may ask for
    methods of these classes in turn."""
    if issubclass(type(method), types.WrapperDescriptorType | types.NoneType):
        return True
    if type(method) is not types.FunctionType or depth > _DEPTH:
        return False
    asked = questions(method.__code__)
    if asked is None:
        return False
    used |= asked.operators
    for name in asked.functions:
        found: Any = method.__globals__.get(name, vars(builtins).get(name))
        if any(found is f for f in _CALLED):
            used.add(found.__name__)
        elif type(found) is not types.FunctionType or not _is_quiet(found, classes, used, depth + 1):
            return False
    for name in asked.methods:
        found = [lookup(cls, name) for cls in classes]
        if not any(found) or not all(f is None or _is_quiet(f, classes, used, depth + 1) for f in found):
            return False
    return all(
        _is_plain_attribute(cls, name, classes, used, depth) for cls in classes for name in asked.attributes
    )


def _is_plain_attribute(cls: type, name: str, classes: frozenset[type], used: set[str], depth: int) -> bool:
    """Whether to read attribute `name` of an instance of `cls` changes nothing."""
    found = lookup(cls, name)
    if is_property(found, "__get__"):
        return (read := of_property(found, "__get__")) is not None and _is_quiet(
            read, classes, used, depth + 1
        )
    return not issubclass(type(found), type) and (
        issubclass(type(found), types.MemberDescriptorType | types.GetSetDescriptorType | types.FunctionType)
        or lookup(type(found), "__get__") is None
    )
