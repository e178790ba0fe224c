"""`copy`: its functions are Python, and are followed; here is what they ask of objects written in C.

``__reduce_ex__`` says how an object is made again.  For `copy` it is enough to say so by protocol 4, as
the interpreter does: of what class, with which arguments, with which attributes and which items.
"""

from __future__ import annotations

import copyreg
import dataclasses
import struct
from collections import OrderedDict, defaultdict, deque
from typing import Any

from adbc.rules import deep_copies, shallow_copies
from adbc.rules.classes import inherits
from adbc.rules.deque_classes import room_of
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.objects import FrozenKind
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]

_POINTER = struct.calcsize("P")


def slot_names(cls: type) -> list[str]:
    """The names in ``__slots__`` of `cls` and all its bases."""
    return list(copyreg._slotnames(cls))  # type: ignore[attr-defined]  # what the interpreter calls too


def has_own(cls: type, name: str) -> bool:
    """Whether `cls` has a method `name` that is not the one of `object`."""
    return not inherits(cls, name, object)


def check_copied(cls: type) -> None:
    """Raise, as the interpreter does, if instances hold something in memory that only C code knows."""
    if issubclass(cls, (list, dict)) or hasattr(cls, "__getnewargs__"):
        return
    known = object.__basicsize__ + len(slot_names(cls)) * _POINTER
    known += _POINTER * ((cls.__dictoffset__ > 0) + (cls.__weakrefoffset__ > 0))
    if cls.__itemsize__ or cls.__basicsize__ > known:
        raise TypeError(f"cannot pickle {cls.__name__!r} object")


def _getstate(obj: Any, /) -> Any:
    if has_own(type(obj), "__getattribute__"):
        return _state_unasked(obj)
    state: Any = None
    if hasattr(obj, "__dict__") and obj.__dict__:
        state = obj.__dict__
    slots: dict[str, Any] = {}
    for name in slot_names(type(obj)):
        if hasattr(obj, name):
            slots[name] = getattr(obj, name)
    return (state, slots) if slots else state


def _state_unasked(obj: Any, /) -> Any:
    """What `_getstate` gives of an instance whose class answers itself for attributes: it is asked for slots,
    once for each, and not for its dictionary."""
    state: Any = None
    if type(obj).__dictoffset__:
        own = object.__getattribute__(obj, "__dict__")
        if own:
            state = own
    slots: dict[str, Any] = {}
    for name in slot_names(type(obj)):
        value = getattr(obj, name, _UNSET)
        if value is not _UNSET:
            slots[name] = value
    return (state, slots) if slots else state


_UNSET = object()


def names_of_record(cls: type) -> tuple[str, ...]:
    """The fields of `cls`, if it is a frozen dataclass whose instances are values, and says nothing itself of
    how they are copied; else nothing."""
    kind = kind_of(cls)
    own = getattr(cls, "__getstate__", None)
    is_own = not (inherits(cls, "__getstate__", object) or own is _GENERATED)
    return kind.names if isinstance(kind, FrozenKind) and not is_own else ()


_GENERATED = getattr(dataclasses, "_dataclass_getstate", None)
"""What a dataclass with slots that is frozen has for its ``__getstate__``."""


def _make_record(cls: Any, names: tuple[str, ...], *values: Any) -> Any:
    """An instance of `cls` with these values for its fields, which its constructor stores."""
    return cls(**dict(zip(names, values)))  # noqa: B905  # as many


def _reduce_ex(obj: Any, protocol: Any, /) -> Any:
    cls = type(obj)
    if has_own(cls, "__reduce__"):
        return obj.__reduce__()
    is_asked = has_own(cls, "__getattribute__")
    if is_asked:
        obj.__reduce__  # noqa: B018  # which may have an effect
    names = names_of_record(cls)
    if names:
        beside = {k: v for k, v in vars(obj).items() if k not in names} if hasattr(obj, "__dict__") else None
        return _make_record, (cls, names, *[getattr(obj, name) for name in names]), beside or None
    check_copied(cls)
    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    if hasattr(cls, "__getnewargs_ex__"):
        args, keywords = obj.__getnewargs_ex__()
    elif hasattr(cls, "__getnewargs__"):
        args = obj.__getnewargs__()
    if has_own(cls, "__getstate__"):
        state = obj.__getstate__()
    else:
        if is_asked:
            obj.__getstate__  # noqa: B018
        state = _getstate(obj)
    items = iter(obj) if issubclass(cls, list) else None
    pairs = iter(obj.items()) if issubclass(cls, dict) else None
    if keywords:
        return copyreg.__newobj_ex__, (cls, args, keywords), state, items, pairs  # type: ignore[attr-defined]
    return copyreg.__newobj__, (cls, *args), state, items, pairs  # type: ignore[attr-defined]  # it is there


def _deque_reduce(d: Any, /) -> Any:
    return type(d), (() if d.maxlen is None else ((), d.maxlen)), None, iter(d)


def _derived_reduce(d: Any, /) -> Any:
    state = d.__getstate__() if has_own(type(d), "__getstate__") else _getstate(d)
    room = room_of(d)
    return type(d), (() if room is None else ((), room)), state, iter(d)


def _ordered_reduce(d: Any, /) -> Any:
    return type(d), (), None, None, iter(d.items())


def _derived_ordered_reduce(d: Any, /) -> Any:
    state = d.__getstate__() if has_own(type(d), "__getstate__") else _getstate(d)
    return type(d), (), state, None, iter(d.items())


def _default_reduce(d: Any, /) -> Any:
    return type(d), (() if d.default_factory is None else (d.default_factory,)), None, None, iter(d.items())


def _default_copy(d: Any, /) -> Any:
    return type(d)(d.default_factory, d)


def _exactly(wanted: type) -> Any:
    return lambda cls, *rest: cls is wanted


ROWS: list[Rule] = [
    *deep_copies.ROWS,
    *shallow_copies.ROWS,
    ZeroRule(slot_names, result=list),
    ZeroRule(has_own, result=bool),
    ZeroRule(names_of_record),
    ZeroRule(check_copied),
    Overlay(object.__reduce_ex__, _reduce_ex),
    Overlay(object.__getstate__, _getstate),
    Overlay(deque.__reduce__, _deque_reduce, when=_exactly(deque)),
    Overlay(deque.__reduce__, _derived_reduce),
    Overlay(OrderedDict.__reduce__, _ordered_reduce, when=_exactly(OrderedDict)),
    Overlay(OrderedDict.__reduce__, _derived_ordered_reduce),
    Overlay(defaultdict.__reduce__, _default_reduce),
    Overlay(defaultdict.__copy__, _default_copy),
    Overlay(defaultdict.copy, _default_copy),
]
