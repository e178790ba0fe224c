"""``copy.deepcopy`` of plain structures: containers, arrays of numbers, instances that are copied by fields.

What such a structure is made of is copied by code of `copy` alone, which is not followed then.  The copy has
a tangent of its own, with the numbers of that of the original in forward mode; in reverse mode the pullback
adds what that has received to that of the original, place by place.  Whatever says itself how it is copied is
followed.
"""

from __future__ import annotations

import copy
import copyreg
import enum
import inspect
import types
from collections.abc import Iterator, Sequence
from typing import Any

from adbc.rules.classes import inherits
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    MutableTangent,
    slot_increment,
    slot_rdata,
    slot_shadow,
    zero_tangent,
)
from adbc.tangents.fields import instance_dict, instance_fields, slots_of
from adbc.tangents.internal import ARRAY_FRESH
from adbc.tangents.objects import InstanceKind
from adbc.tangents.protocol import kind_of
from adbc.tangents.scalars import ScalarKind

__all__ = ["ROWS", "is_plain_class"]

_ATOMS: frozenset[type] = frozenset({float, int, bool, str, bytes, complex, type(None), range})
"""Classes whose instances are their own copies, and hold nothing."""
_NUMBERS = (float, complex)
_LISTS: frozenset[type] = frozenset({list, tuple})
_OWN_COPY = (
    "__deepcopy__", "__getattr__", "__setstate__", "__getnewargs__", "__getnewargs_ex__", "__del__",
)  # fmt: skip
"""Methods that `object` has not, by which a class has a say in how instances are copied, or in what becomes
of the copies."""
_OF_OBJECT = ("__new__", "__getattribute__", "__reduce__", "__reduce_ex__", "__getstate__")


def is_plain_structure(x: Any) -> bool:
    """Whether nothing in `x` says itself how it is copied, and all that is in it is copied or has no
    derivative."""
    pending, met = [x], set()
    classes: set[type] = set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls in _ATOMS:
            continue
        if id(x) in met:
            continue
        met.add(id(x))
        if cls in _LISTS:
            pending += x
        elif cls is dict:
            if not all(map(_is_own_copy, x)):
                return False
            pending += x.values()
        elif cls in ARRAY_FRESH:
            if x.dtype.kind not in "biufcmMSU":
                return False
        elif cls in classes or is_plain_class(cls):
            classes.add(cls)
            own = instance_dict(x)
            if any(name.startswith("__") for name in own):
                return False  # it may hide a method
            fields = instance_fields(x) if slots_of(cls) else own.items()
            pending += [value for _, value in fields]
        elif not _is_own_copy(x):
            return False
    return True


def _is_own_copy(x: Any) -> bool:
    """Whether `x`, which may be a key, is its own copy or an equal one, and no part of it has an address."""
    cls = type(x)
    if cls in _ATOMS:
        return True
    if cls is tuple:
        return all(map(_is_own_copy, x))
    kind = kind_of(cls)
    if isinstance(kind, ScalarKind):
        return cls.__module__ == "numpy"
    return issubclass(cls, enum.Enum) and kind.inactive  # the class is asked: an object may answer itself


def is_plain_class(cls: Any) -> bool:
    """Whether instances of `cls` have fields in a dictionary and in slots and nothing else, and are copied by
    these."""
    kind, meta = kind_of(cls), type(cls)
    if type(kind) is not InstanceKind or cls in copyreg.dispatch_table:
        return False
    if slots_of(cls) and not _are_found_by_name(cls):
        return False
    if not inherits(meta, "__getattribute__", type) or hasattr(meta, "__getattr__"):
        return False  # its class answers in Python for what it has
    if cls in copy._deepcopy_dispatch:  # type: ignore[attr-defined]  # it is there
        return False
    if any(hasattr(cls, name) for name in _OWN_COPY):
        return False
    return all(inherits(cls, name, object) for name in _OF_OBJECT)


def _are_found_by_name(cls: Any) -> bool:
    """Whether nothing stands in front of the slots of instances of `cls`, and no code is asked to set one."""
    found = (inspect.getattr_static(cls, name) is member for name, member in slots_of(cls))
    return inherits(cls, "__setattr__", object) and all(found)


def plain_copy(x: Any) -> Any:
    """What ``copy.deepcopy(x)`` gives where `is_plain_structure` holds."""
    return copy.deepcopy(x)


def _pairs(t: Any, s: Any) -> Iterator[tuple[Any, Any]]:
    """The parts with an address of tangent or shadow `s`, of a copy, each with that of `t`, of the original,
    in its place; where the original is a constant there is none."""
    pending, met = [(t, s)], set()
    while pending:
        t, s = pending.pop()
        cls = type(s)
        if t is None or t is NO_TANGENT or t is NO_FDATA or s is NO_TANGENT or s is NO_FDATA:
            continue
        if type(t) is not cls:
            if isinstance(t, _NUMBERS) and isinstance(s, _NUMBERS):
                continue
            raise TypeError(f"a {type(t).__name__} in the place of a {cls.__name__}")  # a batch of tangents
        if cls is tuple:
            pending += zip(t, s, strict=True)
        elif cls is list or cls is dict or cls is MutableTangent or cls in ARRAY_FRESH:
            if id(s) in met:
                continue
            met.add(id(s))
            yield t, s
            if cls is list:
                pending += zip(t, s, strict=True)
            elif cls in (dict, MutableTangent):
                ours, theirs = _fields(s), _fields(t)
                pending += [(theirs[key], part) for key, part in ours.items() if key in theirs]


def _fields(t: Any) -> Any:
    return t if type(t) is dict else t.__dict__


def _add(t: Any, s: Any) -> None:
    """Add the numbers that stand in `s` itself, not those in its parts with an address, to those in `t`."""
    cls = type(t)
    if cls in ARRAY_FRESH:
        t += s
        return
    into, given = (t, s) if cls is list else (_fields(t), _fields(s))
    for key in range(len(given)) if cls is list else given.keys() & into.keys():
        r = slot_rdata(given[key])
        if r is not None:
            into[key] = slot_increment(into[key], r)


def _frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    y = plain_copy(args[0])
    if y is args[0]:
        return y, dargs[0]
    dy = zero_tangent(y, is_found=True)
    if dargs[0] is not None:
        for t, s in list(_pairs(dargs[0], dy)):
            _add(s, t)
        dy = slot_increment(dy, slot_rdata(dargs[0]))
    return y, dy


def _rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    y = plain_copy(args[0])
    if y is args[0]:
        return y, fargs[0], lambda bout: (bout,)
    fy = slot_shadow(zero_tangent(y, is_found=True))
    pairs = [] if fargs[0] is None else list(_pairs(fargs[0], fy))

    def copy_pullback(bout: Any) -> Sequence[Any]:
        for t, s in pairs:
            _add(t, s)
        return (bout,)

    return y, fy, copy_pullback


_followed = types.FunctionType(copy.deepcopy.__code__, vars(copy), "deepcopy", copy.deepcopy.__defaults__)


def _deepcopy(x: Any, memo: Any = None, _nil: Any = ()) -> Any:
    if memo is None and is_plain_structure(x):
        return plain_copy(x)
    return _followed(x, memo)


ROWS: list[Rule] = [
    ZeroRule(is_plain_structure, result=bool),
    Primitive(plain_copy, frule=_frule, rrule=_rrule, is_fitted=True, result=lambda cls: cls),
    Overlay(copy.deepcopy, _deepcopy),
]
