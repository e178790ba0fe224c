"""The attributes of an instance: its dictionary and its slots, read without running the user's code."""

from __future__ import annotations

import enum
import types
from _thread import _local as LOCAL
from collections.abc import Iterator
from typing import Any

from adbc.errors import UnsupportedError
from adbc.flags import HEAP_TYPE, IMMUTABLE_TYPE
from adbc.functions import is_builtin_function, is_function, stands_for_another

__all__ = [
    "FORMS",
    "LOCAL",
    "FieldKey",
    "access",
    "arguments",
    "has_attributes_beside",
    "has_slots_beside",
    "hides_arguments",
    "hides_dictionary",
    "instance_dict",
    "instance_fields",
    "is_python_class",
    "may_have_attributes",
    "plain_check",
    "refuse_shared_dictionary",
    "set_instance_field",
    "slots_of",
]


class FieldKey:
    """The key of an attribute of a container, which is never equal to the key of an element."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is FieldKey and other.name == self.name

    def __hash__(self) -> int:
        return hash((FieldKey, self.name))


def access(cls: type) -> Any:
    """The class in C whose ``__getattribute__``, ``__setattr__`` and ``__delattr__`` find the fields of
    instances of `cls`: `object`, unless each thread has fields of its own."""
    return LOCAL if issubclass(cls, LOCAL) else object


def instance_dict(x: Any) -> dict[str, Any]:
    """The instance dictionary of `x`, empty if it has none."""
    cls = type(x)
    if (FORMS.get(cls) or _form(cls))[2]:
        return _hidden_dictionary(x)
    try:
        return access(cls).__getattribute__(x, "__dict__")  # type: ignore[no-any-return]  # untyped
    except AttributeError:
        return {}


def _hidden_dictionary(x: Any) -> dict[str, Any]:
    """The instance dictionary of `x`, whose class says something else to ``x.__dict__``."""
    for base in type(x).__mro__:
        descriptor = vars(base).get("__dict__")
        if type(descriptor) is types.GetSetDescriptorType and not _shows_another(base):
            return descriptor.__get__(x)  # type: ignore[no-any-return]  # untyped
    if not type(x).__dictoffset__:
        return {}
    import ctypes  # seldom needed; `object.__getstate__` would ask the class for its slots

    own = ctypes.pythonapi.PyObject_GenericGetDict
    own.argtypes, own.restype = (ctypes.py_object, ctypes.c_void_p), ctypes.py_object
    return own(ctypes.py_object(x), None)  # type: ignore[no-any-return]  # untyped


_VALUES = (str, int, float, complex, bytes, tuple, set, frozenset)


def has_attributes_beside(cls: type) -> bool:
    """Whether an instance of `cls` is a value of a builtin class, or a set, and may have attributes beside.

    The value has its derivative as one of the builtin class has, and a set has none.  The attributes stand in
    the dictionary of the instance, which has a shadow by its own address: so the value may be copied about
    without one.
    """
    return (
        cls not in _VALUES
        and bool(cls.__dictoffset__)
        and issubclass(cls, _VALUES)
        and not issubclass(cls, enum.Enum)
        and is_python_class(cls)
    )


def has_slots_beside(cls: type) -> bool:
    """Whether an instance of `cls` is a text or another value without a derivative, or a set, and has slots:
    no shadow stands beside it, and what is in a slot has one by its own address, if it has memory."""
    return issubclass(cls, _WITHOUT_DERIVATIVE) and bool(slots_of(cls))


_WITHOUT_DERIVATIVE = (str, bytes, int, set, frozenset)
_NATIVE_ENTRIES = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
    types.MemberDescriptorType,
)  # fmt: skip


_Form = tuple[bool, tuple[tuple[str, Any], ...], bool]

FORMS: dict[type, _Form] = {}
"""What `is_python_class` and `slots_of` say of the classes that were met, and whether these hide the
dictionaries of their instances: it is decided with the class."""


def _form(cls: type) -> _Form:
    found = FORMS.get(cls)
    if found is None:
        classes = [c for c in reversed(cls.__mro__) if _is_python_class(c)]
        slots = tuple(slot for c in classes for slot in _own_slots(c))
        found = FORMS[cls] = any(c is cls for c in classes), slots, _hides_dictionary(cls)
    return found


def hides_dictionary(cls: type) -> bool:
    """Whether ``x.__dict__`` of an instance of `cls` is something else than its attributes."""
    return _form(cls)[2]


def _hides_dictionary(cls: type) -> bool:
    """Whether ``x.__dict__`` of an instance of `cls` is what the class says: a property that gives the items
    of a mapping, or the attributes of an object that `x` stands for."""
    owner = next((base for base in cls.__mro__ if "__dict__" in vars(base)), None)
    return owner is not None and (type(vars(owner)["__dict__"]) not in _OF_C or _shows_another(owner))


def _shows_another(cls: type) -> bool:
    """Whether the ``__dict__`` that `cls`, a class in C, has for its instances is that of what they stand
    for.  (That of a class statement is their own, whatever else the class says.)"""
    return stands_for_another(cls) and not _is_python_class(cls)


_OF_C = (types.GetSetDescriptorType, types.MemberDescriptorType)


def is_python_class(cls: type) -> bool:
    """Whether `cls` was made by a class statement: apart from the slots that it asks for, nothing in its
    dictionary is made in C for this class."""
    return _form(cls)[0]


def _is_python_class(cls: type) -> bool:
    if not cls.__flags__ & HEAP_TYPE or cls.__flags__ & IMMUTABLE_TYPE:
        return False
    slots = {mangled for mangled, _ in _own_slots(cls)}
    for name, entry in vars(cls).items():
        if issubclass(type(entry), _NATIVE_ENTRIES) and entry.__objclass__ is cls and name not in slots:
            return False
        if name == "__new__" and is_builtin_function(entry) and entry.__self__ is cls:
            return False
    return True


def _own_slots(cls: type) -> Iterator[tuple[str, Any]]:
    declared = vars(cls).get("__slots__", ())
    names = (declared,) if issubclass(type(declared), str) else tuple(declared)
    for name in names:
        if name in ("__dict__", "__weakref__"):
            continue
        private = name.startswith("__") and not name.endswith("__")
        mangled = f"_{cls.__name__.lstrip('_')}{name}" if private else name
        member = vars(cls).get(mangled)
        if issubclass(type(member), types.MemberDescriptorType):
            yield mangled, member


def may_have_attributes(cls: type) -> bool:
    """Whether an instance of `cls` may get an attribute, even if it has none now."""
    return bool(cls.__dictoffset__) or issubclass(cls, LOCAL) or is_python_class(cls)


def slots_of(cls: type) -> tuple[tuple[str, Any], ...]:
    """The slots of all Python classes of `cls`, by their names in the instance, with their descriptors."""
    return _form(cls)[1]


def instance_fields(x: Any, slots: tuple[tuple[str, Any], ...] | None = None) -> list[tuple[str, Any]]:
    """The attributes that `x` has, with their values.  A slot that is not assigned is absent."""
    found = list(instance_dict(x).items())
    for name, member in slots_of(type(x)) if slots is None else slots:
        try:
            found.append((name, member.__get__(x)))
        except AttributeError:
            continue
    return found


def set_instance_field(x: Any, name: str, value: Any) -> None:
    """Set attribute `name` of `x` without calling the `__setattr__` of its class."""
    for slot, member in slots_of(type(x)):
        if slot == name:
            member.__set__(x, value)
            return
    instance_dict(x)[name] = value


def refuse_shared_dictionary(x: Any) -> None:
    """Raise for `x`, an object with slots whose dictionary is shared: its tangent would need two."""
    raise UnsupportedError(
        f"the __dict__ of a {type(x).__name__} is reached by two ways",
        "the class has __slots__ beside it",
        "pass the object alone",
    )


def arguments(error: BaseException) -> tuple[Any, ...]:
    """What every exception keeps as ``args``, even if its class has another attribute of that name."""
    return _ARGUMENTS.__get__(error)  # type: ignore[no-any-return]  # untyped by nature


_ARGUMENTS: Any = vars(BaseException)["args"]


def hides_arguments(cls: type) -> bool:
    """Whether ``error.args`` of exceptions of `cls` is something else than what they were made of: a slot, a
    property."""
    return next(vars(base)["args"] for base in cls.__mro__ if "args" in vars(base)) is not _ARGUMENTS


def plain_check(kind: Any) -> bool:
    """Whether ``isinstance(x, kind)`` and ``issubclass(x, kind)`` run no Python code of the user's."""
    if issubclass(type(kind), tuple):
        return all(map(plain_check, kind))
    for name in ("__instancecheck__", "__subclasscheck__"):
        check = getattr(type(kind), name, None)
        if is_function(check) and check.__module__ not in _CHECKING:
            return False
    return True


_CHECKING = ("abc", "enum", "typing", "typing_extensions")
"""Modules whose metaclasses check by what was registered with them, or declared in a class."""
