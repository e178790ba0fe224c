"""Questions to classes: what stands in them, and what their instances do with it.

Nothing here runs user code or depends on an instance, so answers hold until the class is changed
(`build.facts` keeps those that rules were built on).
"""

from __future__ import annotations

import abc
import collections
import datetime
import functools
import re
import time
import types
import weakref
from typing import Any

from adbc.flags import HEAP_TYPE, IMMUTABLE_TYPE
from adbc.ir.intrinsics import _load_special_
from adbc.rules.classes import forbids, overrides, stands_for
from adbc.tangents.containers import DictKind, NamedTupleKind, SequenceKind, TupleKind
from adbc.tangents.fields import has_attributes_beside, has_slots_beside, hides_dictionary
from adbc.tangents.objects import FrozenKind, InstanceKind, frozen_fields
from adbc.tangents.protocol import kind_of
from adbc.tangents.scalars import ScalarKind
from adbc.types.lattice import draws_numbers

__all__ = [
    "CONTAINERS",
    "DEFAULT",
    "FIELD",
    "LIBRARY",
    "MEMBER",
    "PLACE",
    "SLOW",
    "VALUES",
    "Same",
    "accessor",
    "are_fields",
    "asks_nothing",
    "attribute",
    "certain_member",
    "certain_method",
    "class_member",
    "constructor",
    "goes_first",
    "has_place",
    "inherited",
    "initialiser",
    "is_array_or_number",
    "is_bare",
    "is_beside",
    "is_called_plainly",
    "is_declined",
    "is_default",
    "is_field",
    "is_generated",
    "is_heap_type",
    "is_instance",
    "is_kept",
    "is_made_in_a_call",
    "is_python_function",
    "keeps",
    "lacks",
    "lookup",
    "member",
    "method",
    "method_in_c",
    "name_of_class",
    "note_made",
    "presence",
    "python_method",
    "record_names",
    "setting",
    "special",
    "through",
    "through_metaclass",
    "unbound",
    "way_to_set",
]

SLOW = "slow"
"""The answer that classes do not decide a question: `resolve.step` is asked each time."""
FIELD = "field"
"""An attribute that the class has nothing to say about."""
DEFAULT = "default"
"""An attribute of which the class has something that is read where an instance has none of its own."""
MEMBER = "member"
"""An attribute of a class, that stands in the class itself or one that it is derived from."""
PLACE = "place"
"""An attribute that has a place in each instance which the class knows: of ``__slots__`` or named tuples."""

LIBRARY = frozenset(
    {"abc", "collections", "collections.abc", "dataclasses", "enum", "functools", "types", "typing"}
)
"""Modules whose classes and hooks keep what they are given, and have no numbers of their own."""


def is_heap_type(cls: type) -> bool:
    """Whether `cls` was made by a class statement (or is a heap type of C): Python code may implement its
    methods, and they may change at any time."""
    return bool(cls.__flags__ & HEAP_TYPE)


def may_change(cls: type) -> bool:
    """Whether `cls` was made by a class statement, or is a heap type of C that can be changed: what it has
    now it need not have later."""
    return cls.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) == HEAP_TYPE


def is_python_function(f: object) -> bool:
    """Whether `f` is exactly a function written in Python, not something that wraps one."""
    return type(f) is types.FunctionType


def lookup(cls: type, name: str) -> Any:
    """The attribute `name` of `cls` or its bases, not bound, as the type slots see it; None if absent."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def is_declined(cls: type, name: str) -> bool:
    """Whether `cls` says by None that its instances have no special method `name`: then nothing else is tried
    in place of it."""
    return is_heap_type(cls) and forbids(cls, name)


def python_method(cls: type, name: str) -> Any:
    """What is called, with the instance before the arguments, for the special method `name` of `cls` if
    Python code may implement it: the function, or what asks a descriptor for it; None if it is C code, or
    absent."""
    found = lookup(cls, name) if cls.__flags__ & HEAP_TYPE else None
    if found is None or is_python_function(found):
        return found
    return through(name) if overrides(cls, name) else None


@functools.cache
def through(name: str) -> Any:
    """A function that calls the special method `name` of its first argument, as the interpreter does it where
    that is no function: what stands in the class is bound to the instance as any descriptor is."""

    def special_method(obj: Any, /, *args: Any, **named: Any) -> Any:
        return _load_special_(obj, name)(*args, **named)

    return special_method


def initialiser(cls: type) -> Any:
    """What ``type.__call__`` runs on a new instance of exactly `cls`, given the instance and the arguments;
    None if that does nothing."""
    found = lookup(cls, "__init__")
    if found is object.__init__:
        return None
    return through("__init__") if overrides(cls, "__init__") and not is_python_function(found) else found


def constructor(cls: type) -> Any:
    """The ``__init__`` that calling `cls` runs on a new object, if it does nothing else; else None."""
    if not is_called_plainly(cls) or type(kind_of(cls)) is not InstanceKind:
        return None
    if lookup(cls, "__new__") is not object.__new__ or lookup(cls, "__del__") is not None:
        return None  # what is done when an object goes may not be done where it was not made
    found = lookup(cls, "__init__")
    return found if type(found) is types.FunctionType else None


def is_bare(cls: type) -> bool:
    """Whether calling `cls` without arguments makes a new object and does nothing else."""
    return (
        is_heap_type(cls)
        and is_called_plainly(cls)
        and type(kind_of(cls)) is InstanceKind
        and lookup(cls, "__new__") is object.__new__
        and lookup(cls, "__init__") is object.__init__
        and lookup(cls, "__del__") is None
    )


def is_called_plainly(cls: type) -> bool:
    """Whether calling `cls` is to make an instance: its metaclass has nothing to say, or only that it may not
    have abstract methods, and it has none."""
    if type(cls) is not type and (type(cls) is not abc.ABCMeta or getattr(cls, "__abstractmethods__", True)):
        return False
    return not issubclass(cls, BaseException)


def class_member(cls: type, name: str) -> tuple[Any, bool] | None:
    """The Python function that ``cls.name`` calls, and whether it is given `cls`, as a class method is; None
    if it calls anything else."""
    if type(cls) is not type and type(cls) is not abc.ABCMeta:
        return None
    if not is_heap_type(cls) or lookup(type(cls), name) is not None:
        return None
    found = lookup(cls, name)
    if type(found) is staticmethod or type(found) is classmethod:
        function = found.__func__
        return (function, type(found) is classmethod) if is_python_function(function) else None
    return (found, False) if is_python_function(found) else None


def inherited(cls: type, behind: type, name: str) -> Any:
    """The Python function that ``super(behind, x).name`` binds to an `x` of exactly `cls`; None if that is
    anything else."""
    mro = cls.__mro__
    if not is_heap_type(cls) or behind not in mro or type(kind_of(cls)) not in _INHERITING:
        return None
    for base in mro[mro.index(behind) + 1 :]:
        if name in base.__dict__:
            found = base.__dict__[name]
            return found if is_python_function(found) else None
    return None


_INHERITING = (InstanceKind, TupleKind, SequenceKind, DictKind, ScalarKind)


def certain_method(cls: type, name: str) -> Any:
    """The Python function that attribute `name` of instances of exactly `cls` is, which have no place for a
    field of that name, or should have none; None if there is none."""
    if type(kind_of(cls)) in (TupleKind, ScalarKind):  # is looked at like `FrozenKind`
        return special(cls, name) if type(lookup(cls, "__getattribute__")) is _IN_C else None
    if type(kind_of(cls)) is NamedTupleKind:
        return special(cls, name) if record_names(cls) is not None else None
    if type(kind_of(cls)) is FrozenKind:  # is looked at by `types.records.unhidden`
        return special(cls, name) if _has_default_reads(cls) and name not in kind_of(cls).names else None  # type: ignore[attr-defined]
    if not _has_default_access(cls) or lookup(cls, "__dict__") is not None:
        return None
    return method(cls, name)


SILENT = frozenset({float, int, bool, complex, str, bytes, type(None), list, tuple, dict, set, frozenset})
"""Classes in C that are met everywhere, and have nothing to say about ``__class__`` of their instances."""


def is_instance(cls: type, asked: type) -> bool | None:
    """What ``isinstance(x, asked)`` is for an `x` of exactly `cls`; None if `asked` has something to say, or
    `x` may say that it is of another class."""
    if type(asked).__instancecheck__ is not type.__instancecheck__:
        return None
    meant = stands_for(cls)
    if asked in cls.__mro__ or (meant is not None and asked in meant.__mro__):
        return True
    if meant is not None or cls in SILENT:
        return False
    says = ("__class__", "__getattribute__")
    return None if any(name in base.__dict__ for base in cls.__mro__[:-1] for name in says) else False


def method(cls: type, name: str) -> Any:
    """The function that attribute `name` of instances of exactly `cls` is, unless they have a field of that
    name: one in Python, or also one in C of a class that `has_state_in_c` or is derived from a builtin
    container; None if there is none."""
    if has_state_in_c(cls) or _is_container(cls):
        found = lookup(cls, name)
        return found if type(found) in _METHODS else None
    if not cls.__flags__ & HEAP_TYPE or type(kind_of(cls)) is not InstanceKind:
        return None
    if lookup(cls, "__getattribute__") is not object.__getattribute__:
        return None
    found = lookup(cls, name)
    return found if type(found) is types.FunctionType else None


_METHODS = (types.FunctionType, types.MethodDescriptorType)
_IN_C = types.WrapperDescriptorType


def _is_container(cls: type) -> bool:
    """Whether `cls` is a class in Python that is derived from a builtin container which has memory, and has
    its attributes read as that has."""
    return (
        bool(cls.__flags__ & HEAP_TYPE)
        and type(kind_of(cls)) in (SequenceKind, DictKind)
        and type(lookup(cls, "__getattribute__")) is _IN_C
    )


def unbound(cls: type, name: str) -> tuple[Any, bool] | None:
    """The Python function that attribute `name` of instances of exactly `cls` is, unless they have a field of
    that name, and whether it is bound to the class: a static or a class method; None if there is none."""
    if not cls.__flags__ & HEAP_TYPE or type(kind_of(cls)) not in _READ_PLAINLY:
        return None
    if lookup(cls, "__getattribute__") not in (object.__getattribute__, tuple.__getattribute__):
        return None
    found = lookup(cls, name)
    if type(found) is not staticmethod and type(found) is not classmethod:
        return None
    function = found.__func__
    return (function, type(found) is classmethod) if is_python_function(function) else None


def presence(cls: type, name: str) -> str | None:
    """Whether instances of exactly `cls` have an attribute `name`, if no code is asked for it: "always",
    "never", or only if it is their "own"; None if code may be asked."""
    if not _has_default_reads(cls):
        return None
    found = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), _ABSENT)
    if found is _ABSENT:
        return "own" if issubclass(type(lookup(cls, "__dict__")), types.GetSetDescriptorType) else "never"
    kind = type(found)
    if kind is types.MemberDescriptorType:
        return "own"
    if kind in (types.FunctionType, staticmethod, classmethod, _FIELD_OF_TUPLE):
        return "always"
    is_plain = not any(hasattr(kind, hook) for hook in ("__get__", "__set__", "__delete__"))
    return "always" if is_plain else None


class Same:
    """An object, which is what another is only if it is the same."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def setting(cls: type, name: str) -> Same | None:
    """The number or text that ``cls.name`` is; None if it is anything else, or a metaclass has a say."""
    if not is_heap_type(cls) or type(cls) not in _METACLASSES or lookup(type(cls), name) is not None:
        return None
    found = lookup(cls, name)
    return Same(found) if found is not None and type(found) in _DEFAULTS else None


def descriptor(cls: type, name: str, way: str) -> tuple[Any, Same] | None:
    """The Python function by which an object that stands in `cls` as `name` reads (`way` is "get") or writes
    ("set") that attribute of instances of exactly `cls`, whatever these have themselves, and the object."""
    if not (_has_default_reads if way == "get" else _has_default_access)(cls):
        return None
    found = lookup(cls, name)
    if not is_heap_type(type(found)) or not goes_first(found):
        return None
    function = lookup(type(found), f"__{way}__")
    return (function, Same(found)) if is_python_function(function) else None


def cached_function(cls: type, name: str) -> tuple[Any, Same] | None:
    """The Python function of the ``functools.cached_property`` that stands in `cls` as `name`, and that, if
    instances of exactly `cls` keep what it gives among their fields."""
    found = lookup(cls, name)
    if type(found) is not functools.cached_property or found.attrname != name:
        return None
    if not _has_default_access(cls) or not _is_own(cls, None) or hides_dictionary(cls):
        return None
    return (found.func, Same(found)) if is_python_function(found.func) else None


def asks_nothing(cls: type, name: str) -> bool:
    """Whether no code is asked for attribute `name` of instances of exactly `cls`, be it there or not."""
    return presence(cls, name) is not None


def name_of_class(cls: type) -> str | None:
    """What ``cls.__name__`` is, if no metaclass has a say in it."""
    is_plain = is_heap_type(cls) and type(cls) in _METACLASSES
    return cls.__name__ if is_plain else None


def certain_member(cls: type, name: str) -> tuple[Any, bool] | None:
    """The static or class method (`unbound`) that attribute `name` of instances of exactly `cls` is, which
    have no place for a field of that name, or should have none; None if there is none."""
    kind = kind_of(cls)
    if isinstance(kind, NamedTupleKind):
        is_certain = record_names(cls) is not None
    elif isinstance(kind, FrozenKind):  # is looked at by `types.records.unhidden`
        is_certain = _has_default_reads(cls) and name not in kind.names
    else:
        is_certain = _has_default_access(cls) and lookup(cls, "__dict__") is None
    return unbound(cls, name) if is_certain else None


def has_state_in_c(cls: type) -> bool:
    """Whether instances of exactly `cls` have their state out of sight, and so no derivative, but methods
    with rules, in C and in Python, which attributes of an instance may hide."""
    return cls.__module__ == "random" and draws_numbers(cls)


def special(cls: type, name: str) -> Any:
    """The Python function that stands in `cls`, or a class that it is derived from, as the special method
    `name`; None if there is no such function."""
    if not cls.__flags__ & HEAP_TYPE or type(kind_of(cls)) not in _WITH_SPECIALS:
        return None
    found = lookup(cls, name)
    return found if type(found) is types.FunctionType else None


def entered(cls: type, name: str) -> Any:
    """What a ``with`` statement runs as the special method `name`, one of its two, of instances of exactly
    `cls`: a function or a method in C, which binds to them; None if it is anything else."""
    found = lookup(cls, name)
    return found if issubclass(type(found), _BINDING) else None


_BINDING = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


def record_names(cls: type) -> tuple[str, ...] | None:
    """The fields of `cls` if it is a frozen dataclass, or a named tuple without other attributes, whose
    instances are made by calling it, and whose fields are read, without anything else being done."""
    kind = kind_of(cls)
    if isinstance(kind, NamedTupleKind):
        return _names_of_tuple(cls)
    if not isinstance(kind, FrozenKind) or type(cls) is not type or not _has_default_reads(cls):
        return None
    init = lookup(cls, "__init__")
    code = getattr(init, "__code__", None)
    if not is_still_frozen(cls):
        return None
    if lookup(cls, "__new__") is not object.__new__ or lookup(cls, "__del__") is not None or code is None:
        return None
    parameters = code.co_varnames[1 : code.co_argcount]
    if parameters != kind.names or code.co_kwonlyargcount:
        return None
    if any(_is_computed(name, cls) for name in kind.names):
        return None
    return kind.names


def is_still_frozen(cls: type) -> bool:
    """Whether `cls`, whose instances were found to be frozen dataclasses, is made as it was then: its
    constructor, which is written by `dataclasses`, may have been replaced."""
    kind = kind_of(cls)
    return not isinstance(kind, FrozenKind) or frozen_fields(cls) == kind.names


def _names_of_tuple(cls: type) -> tuple[str, ...] | None:
    """`record_names` of a named tuple."""
    if type(cls) is not type or cls.__dictoffset__ or not _has_default_reads(cls):
        return None
    if not is_generated(lookup(cls, "__new__")) or lookup(cls, "__init__") is not object.__init__:
        return None
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]  # of named tuples
    places = [lookup(cls, name) for name in names]
    is_whole = all(type(p) is _FIELD_OF_TUPLE and p.__reduce__()[1][0] == i for i, p in enumerate(places))
    return names if is_whole else None


def is_generated(new: Any) -> bool:
    """Whether `new` is the ``__new__`` that `collections.namedtuple` has written."""
    function = getattr(new, "__func__", new)
    return is_python_function(function) and function.__globals__.get("_tuple_new") is tuple.__new__


def _is_computed(name: str, cls: type) -> bool:
    """Whether a descriptor in `cls` answers for the attribute `name`, which no slot does."""
    found = lookup(cls, name)
    return hasattr(type(found), "__get__") and type(found) is not types.MemberDescriptorType


def accessor(cls: type, name: str, way: str) -> Any:
    """The Python function that reads (`way` is "get") or writes ("set") the property `name` of instances of
    exactly `cls`; None if there is none, or something else may happen."""
    found = lookup(cls, name)
    if type(found) is not property:
        return None
    if type(kind_of(cls)) in (TupleKind, SequenceKind, DictKind, ScalarKind):
        has_hook = way == "set" and lookup(cls, "__setattr__") is not object.__setattr__
        is_plain = type(lookup(cls, "__getattribute__")) is _IN_C and not has_hook
    else:
        is_plain = (_has_default_reads if way == "get" else _has_default_access)(cls)
    if not is_plain:
        return None
    function = found.fget if way == "get" else found.fset
    return function if is_python_function(function) else None


def lacks(cls: type, name: str) -> bool:
    """Whether `cls`, which was made by a class statement, has no attribute `name` that its instances find."""
    return is_heap_type(cls) and type(kind_of(cls)) in _READ_PLAINLY and lookup(cls, name) is None


def goes_first(found: object) -> bool:
    """Whether `found`, an attribute of a class, is read before what an instance has of the same name: a data
    descriptor with a ``__get__``.  What only watches writes is not."""
    kind = type(found)
    return hasattr(kind, "__get__") and (hasattr(kind, "__set__") or hasattr(kind, "__delete__"))


def is_field(cls: type, name: str) -> bool:
    """Whether attribute `name` of instances of exactly `cls` is a plain field, in a dictionary or a slot."""
    if cls is types.SimpleNamespace:
        return lookup(cls, name) is None
    return _has_default_access(cls) and _is_own(cls, lookup(cls, name))


def are_fields(cls: type, names: frozenset[str]) -> bool:
    """Whether all of `names` are plain fields of instances of exactly `cls` (`is_field`)."""
    if cls is types.SimpleNamespace:
        return all(lookup(cls, name) is None for name in names)
    if not _has_default_access(cls):
        return False
    if all(map(names.isdisjoint, [base.__dict__ for base in cls.__mro__])):
        return _is_own(cls, None)
    return all(_is_own(cls, lookup(cls, name)) for name in names)


def is_kept(cls: type, name: str) -> bool:
    """Whether attribute `name` of instances of exactly `cls` is a plain field, or, where an instance has none
    of this name, a number, text or None that the class has."""
    found = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), _ABSENT)
    return type(found) in _DEFAULTS and _has_default_access(cls) and _is_own(cls, None)


def is_default(cls: type, name: str) -> bool:
    """Whether attribute `name` of instances of exactly `cls` is a plain field, or, where an instance has none
    of this name, an object that the class has and that reading leaves as it is."""
    found = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), _ABSENT)
    if found is _ABSENT or any(hasattr(type(found), hook) for hook in ("__get__", "__set__", "__delete__")):
        return False
    return _has_default_access(cls) and _is_own(cls, None)


def is_beside(cls: type, name: str) -> bool:
    """Whether attribute `name` of instances of exactly `cls`, a frozen dataclass, is a number, text or None
    that the class has, unless an instance was given one beside its fields."""
    kind = kind_of(cls)
    if not isinstance(kind, FrozenKind) or name in kind.names or not _has_default_reads(cls):
        return False
    return type(lookup(cls, name)) in _DEFAULTS and lookup(cls, name) is not None


_ABSENT = object()
_DEFAULTS = frozenset({int, float, bool, str, bytes, types.NoneType})


def keeps(cls: type, name: str) -> bool:
    """Whether what is set as attribute `name` of an instance of exactly `cls` is what is read there next: it
    is a field, or hides an attribute of the class that has no ``__set__``, such as a default."""
    found = lookup(cls, name)
    return _has_default_access(cls) and _is_own(cls, found if hasattr(type(found), "__set__") else None)


def _has_default_access(cls: type) -> bool:
    """Whether attributes of instances of exactly `cls` are read and written without hooks."""
    return (
        bool(cls.__flags__ & HEAP_TYPE)
        and type(kind_of(cls)) is InstanceKind
        and lookup(cls, "__getattribute__") is object.__getattribute__
        and lookup(cls, "__getattr__") is None
        and lookup(cls, "__setattr__") is object.__setattr__
    )


_READ_PLAINLY = (InstanceKind, FrozenKind, NamedTupleKind)
_WITH_SPECIALS = (*_READ_PLAINLY, TupleKind, SequenceKind, DictKind, ScalarKind)


def _has_default_reads(cls: type) -> bool:
    """Whether attributes of instances of exactly `cls` are read without hooks."""
    return (
        bool(cls.__flags__ & HEAP_TYPE)
        and type(kind_of(cls)) in _READ_PLAINLY
        and lookup(cls, "__getattribute__") in (object.__getattribute__, tuple.__getattribute__)
        and lookup(cls, "__getattr__") is None
    )


def _is_own(cls: type, found: Any) -> bool:
    """Whether an attribute that the class has as `found` is kept by the instances themselves."""
    if found is None:
        return issubclass(type(lookup(cls, "__dict__")), types.GetSetDescriptorType)
    return type(found) is types.MemberDescriptorType


_METACLASSES = frozenset({type, abc.ABCMeta})
"""Classes of classes that have nothing to do with attributes of instances, or with what is set in a class."""


def attribute(cls: type, name: str) -> Any:
    """How instances of `cls` find attribute `name` in their dictionary: `FIELD`, the function that becomes a
    method unless there is such a field, `DEFAULT`, which is `FIELD` where there is one and else `SLOW`, or
    `SLOW`."""
    if cls is types.SimpleNamespace:
        return FIELD if lookup(cls, name) is None else SLOW
    if type(cls) not in _METACLASSES or not issubclass(
        type(lookup(cls, "__dict__")), types.GetSetDescriptorType
    ):
        return SLOW
    if has_attributes_beside(cls) or hides_dictionary(cls):
        return SLOW
    if is_python_function(lookup(cls, "__getattribute__")) or issubclass(
        cls, (type, types.ModuleType, BaseException, types.FunctionType)
    ):
        return SLOW
    found = lookup(cls, name)
    if found is None:
        return FIELD
    if is_python_function(found):
        return found
    return SLOW if goes_first(found) else DEFAULT


def way_to_set(cls: type, name: str) -> Any:
    """`FIELD` if setting attribute `name` of instances of `cls` writes into their dictionary, or at a
    `PLACE`, and no code in Python is asked; else `SLOW`."""
    if cls is types.SimpleNamespace:  # which has a name of its own for what `object` does
        return attribute(cls, name)
    if type(name) is not str or lookup(cls, "__setattr__") is not object.__setattr__:
        return SLOW
    found = lookup(cls, name)
    if hasattr(type(found), "__set__"):
        return FIELD if has_place(cls, name) and type(found) is types.MemberDescriptorType else SLOW
    return SLOW if attribute(cls, name) is SLOW else FIELD


def through_metaclass(meta: type, name: str) -> Any:
    """`MEMBER` if attribute `name` of classes whose class is exactly `meta` is what stands in them, as far as
    that is no descriptor; else `SLOW`."""
    is_plain = lookup(meta, "__getattribute__") is type.__getattribute__ and lookup(meta, name) is None
    return MEMBER if is_plain else SLOW


_MADE: weakref.WeakSet[type] = weakref.WeakSet()
"""The classes that were made while a derivative was taken, as long as they live."""


def note_made(cls: type) -> None:
    """Remember that `cls` was made while a derivative was taken: its attributes may have derivatives."""
    _MADE.add(cls)


def is_made_in_a_call(cls: type) -> bool:
    """Whether `cls`, or a class that it is derived from, was made while a derivative was taken."""
    return bool(_MADE) and any(base in _MADE for base in cls.__mro__)


def member(cls: type, name: str) -> Any:
    """What stands in `cls` or a class that it is derived from as `name`, if that is no descriptor, or the
    function of a static method; else `SLOW`."""
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            if type(found) is staticmethod and is_python_function(found.__func__):
                return found.__func__
            return SLOW if hasattr(type(found), "__get__") else found
    return SLOW


VALUES: frozenset[type] = frozenset(
    {
        types.NoneType, bool, int, float, complex, str, bytes, range, types.EllipsisType,
        re.Pattern, re.Match,
        datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone,
        time.struct_time,
    }
)  # fmt: skip
"""Classes in C of values that do not change, that hold nothing of the user's, and whose methods and operators
do nothing but give a result if they are given such values."""
CONTAINERS: frozenset[type] = frozenset(
    {list, tuple, dict, set, frozenset, collections.deque, collections.defaultdict, collections.OrderedDict}
)
"""Classes in C whose instances have no attributes but those of their class, and these do not change."""


def is_array_or_number(cls: type) -> bool:
    """Whether instances of `cls`, a class in C, are arrays of NumPy, or numbers of its own."""
    return not is_heap_type(cls) and hasattr(cls, "__array_interface__")


@functools.cache
def method_in_c(cls: type, name: str) -> types.MethodDescriptorType | None:
    """The method `name` of instances of `cls`, an array, or one of `CONTAINERS` or `VALUES`, if there is one
    only: ``super()`` finds another where two of the bases have one of this name."""
    found = [base.__dict__[name] for base in cls.__mro__ if name in base.__dict__]
    return found[0] if len(found) == 1 and type(found[0]) is types.MethodDescriptorType else None


_FIELD_OF_TUPLE: type = type(collections.namedtuple("_Record", "field").field)  # type: ignore[attr-defined]
"""The class of the descriptors of the fields of named tuples."""


def has_place(cls: type, name: str) -> bool:
    """Whether instances of `cls`, a class written in Python, hold attribute `name` at a `PLACE`, and no code
    in Python is asked for it, not where it is missing either."""
    if type(cls) not in _METACLASSES or not is_heap_type(cls) or issubclass(cls, BaseException):
        return False
    if any(is_python_function(lookup(cls, hook)) for hook in ("__getattribute__", "__getattr__")):
        return False
    found = lookup(cls, name)
    if type(found) is types.MemberDescriptorType:
        return is_heap_type(found.__objclass__) and not has_slots_beside(cls)
    return type(found) is _FIELD_OF_TUPLE
