"""Questions to classes that are derived from builtin ones, and to those that are asked for attributes; and
what an instance is as one of the builtin class."""

from __future__ import annotations

import types
from typing import Any

from adbc.runtime.calls.classes import is_called_plainly, is_heap_type, lookup
from adbc.tangents.containers import DictKind, SequenceKind, TupleKind
from adbc.tangents.fields import hides_dictionary, is_python_class
from adbc.tangents.objects import InstanceKind
from adbc.tangents.protocol import kind_of
from adbc.tangents.scalars import ScalarKind
from adbc.types.derived_builtins import BASES, as_tuple

__all__ = [
    "allocator", "as_plain_number", "as_plain_value", "attribute_hook", "derived_from", "filled_by",
    "inherited_in_c", "is_value", "iterated_as", "made_by",
]  # fmt: skip

_DERIVED = (TupleKind, SequenceKind, DictKind, ScalarKind)
_WITH_HOOKS = (InstanceKind, SequenceKind, DictKind)
_IN_C = types.WrapperDescriptorType


def derived_from(cls: type) -> Any:
    """The builtin class, of `BASES`, of which a call of `cls` makes an instance, but for its class; None if
    it does anything else."""
    if not is_heap_type(cls) or not is_called_plainly(cls) or lookup(cls, "__del__") is not None:
        return None
    for base in BASES:
        if issubclass(cls, base):
            is_same = all(lookup(cls, name) is lookup(base, name) for name in ("__new__", "__init__"))
            return base if is_same and type(kind_of(cls)) in _DERIVED else None
    return None


def filled_by(cls: type) -> Any:
    """The ``__init__`` in Python that a call of `cls`, which is derived from `list` or `dict`, runs on a new
    and empty object, if it does nothing else; else None."""
    base: Any = next((base for base in (list, dict) if issubclass(cls, base)), None)
    if base is None or not is_heap_type(cls) or not is_called_plainly(cls):
        return None
    if lookup(cls, "__new__") is not lookup(base, "__new__") or lookup(cls, "__del__") is not None:
        return None
    found = lookup(cls, "__init__")
    is_container = type(kind_of(cls)) in (SequenceKind, DictKind)
    return found if is_container and type(found) is types.FunctionType else None


def made_by(cls: type) -> Any:
    """The ``__new__`` in Python that a call of `cls`, which is derived from `tuple` or `float`, runs, if it
    does nothing else; else None."""
    if not is_heap_type(cls) or not is_called_plainly(cls) or not issubclass(cls, (tuple, float)):
        return None
    if lookup(cls, "__init__") is not object.__init__ or lookup(cls, "__del__") is not None:
        return None
    found = lookup(cls, "__new__")
    if type(found) is not staticmethod or type(kind_of(cls)) not in (TupleKind, ScalarKind):
        return None
    return found.__func__ if type(found.__func__) is types.FunctionType else None


def is_value(cls: type, base: type) -> bool:
    """Whether instances of `cls`, derived from `base`, `tuple` or `float`, are values like those."""
    kind = TupleKind if base is tuple else ScalarKind
    return is_heap_type(cls) and issubclass(cls, base) and type(kind_of(cls)) is kind


def allocator(cls: type, behind: type) -> Any:
    """The ``__new__`` in C of `tuple` or `float` that ``super(behind, cls).__new__`` is, if instances of
    `cls` are such values; else None."""
    mro = cls.__mro__
    after = mro[mro.index(behind) + 1 :] if behind in mro else ()
    found = next((c.__dict__["__new__"] for c in after if "__new__" in c.__dict__), None)
    for base in (tuple, float):
        if found is base.__new__ and is_value(cls, base):
            return found
    return None


def inherited_in_c(cls: type, behind: type, name: str) -> Any:
    """The method in C that ``super(behind, x).name`` binds to an `x` of exactly `cls`, which is derived from
    a builtin container or number; None if that is anything else."""
    mro = cls.__mro__
    if not is_heap_type(cls) or behind not in mro or type(kind_of(cls)) not in _DERIVED:
        return None
    found = next((c.__dict__[name] for c in mro[mro.index(behind) + 1 :] if name in c.__dict__), None)
    return found if type(found) in (types.MethodDescriptorType, _IN_C) else None


def iterated_as(cls: type) -> type | None:
    """`list` or `tuple`, if a loop over an instance of exactly `cls` goes over the elements that it is as an
    instance of that class, and nobody is asked for anything else; else None."""
    for base in (list, tuple):
        if cls is base:
            return base
        if issubclass(cls, base):
            is_same = lookup(cls, "__iter__") is lookup(base, "__iter__")
            return base if is_same and type(kind_of(cls)) in (SequenceKind, TupleKind) else None
    return None


def attribute_hook(cls: type, way: str, name: str) -> Any:
    """What attribute `name` of instances of exactly `cls` is asked of, unless they have a field of that name,
    or, if `way` is "set", given to: ``__getattr__`` or ``__setattr__`` of the class, in Python, or what a
    container has in C; None if there is none, or something else may happen."""
    if not is_heap_type(cls) or type(kind_of(cls)) not in _WITH_HOOKS:
        return None
    if type(lookup(cls, "__getattribute__")) is not _IN_C or hides_dictionary(cls):
        return None
    if way == "set":
        found = lookup(cls, "__setattr__")
        return found if found is not object.__setattr__ and type(found) in _HOOKS else None
    if name.startswith("__") or any(name in vars(base) for base in cls.__mro__):
        return None
    found = lookup(cls, "__getattr__")
    return found if type(found) in _HOOKS else None


_HOOKS = (types.FunctionType, types.MethodDescriptorType, _IN_C)


def as_plain_number(x: Any) -> Any:
    """The number that `x` is, if it is one of a class derived from a builtin class of numbers, without asking
    its methods; else `x`."""
    cls = type(x)
    if cls in _NUMBERS:
        return x
    if issubclass(cls, int):
        return int.__int__(x)
    if issubclass(cls, (float, complex)) and is_python_class(cls):
        return float.__float__(x) if issubclass(cls, float) else complex.__complex__(x)
    return x


def as_plain_value(x: Any, base: type, shadow: Any) -> Any:
    """The number or tuple that `x`, of a class derived from `base`, is to the methods of `base`; `x` itself
    if `base` is another class, or if the `shadow` of `x` is no shadow of a tuple."""
    if base in _NUMBERS:
        return as_plain_number(x)
    if base is tuple and issubclass(type(x), tuple) and (shadow is None or type(shadow) is tuple):
        return as_tuple(x)
    return x


_NUMBERS = frozenset({int, bool, float, complex})
