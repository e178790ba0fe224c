"""Slots: what generated code calls where it reads or writes one number in a container.

A container that was declared constant has no shadow: reading it is free, writing an active number
into it is an error.  The shadow of a number's slot holds a number, so indices mean the same in both.
"""

from __future__ import annotations

import types
from typing import Any

from adbc.errors import ConstWriteError
from adbc.ir.intrinsics import EXHAUSTED
from adbc.rules.table import NO_KWARGS
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    FData,
    MutableTangent,
    RData,
    fill_tangent,
    project,
    shadow_iterator,
    shadow_steps,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
    steps_left,
)
from adbc.tangents.activity_marks import mark_active
from adbc.tangents.duals import with_fields
from adbc.tangents.fields import instance_dict
from adbc.tangents.keys import key_tangent

__all__ = [
    "KEYS",
    "SINK",
    "add_to_field",
    "add_to_item",
    "add_to_kept",
    "add_to_slot",
    "append_array",
    "append_flat",
    "append_item",
    "append_tangent",
    "as_float",
    "bound_shadow",
    "bound_tangent",
    "check_slot",
    "exchange",
    "field_slot_shadow",
    "field_slot_tangent",
    "item_slot_shadow",
    "item_slot_tangent",
    "kept_number",
    "put_field",
    "put_field_tangent",
    "record_rdata",
    "record_slot_shadow",
    "record_slot_tangent",
    "restore_field",
    "restore_item",
    "restore_slot",
    "resumed_shadow",
    "resumed_view",
    "store_field",
    "store_item",
    "take_field",
    "take_slot",
    "undo_append",
    "undo_flat",
]  # fmt: skip


def add_to_slot(shadow: Any, index: Any, b: Any) -> None:
    """The adjoint of ``container[index]``: `b` is added to what the shadow has there."""
    if shadow is not None:
        shadow[index] = shadow.item(index) + b  # no number of NumPy is made for it


def check_slot(container: Any, shadow: Any) -> None:
    """Refuse to write a number that has a derivative into a constant."""
    if shadow is None:
        raise ConstWriteError(
            f"a value that has a derivative is written into a constant {type(container).__name__}",
            "its derivative would be lost",
        )


def exchange(container: Any, shadow: Any, index: Any, value: Any, is_active: bool) -> Any:
    """Do ``container[index] = value`` of a number, which has a derivative if `is_active` is true; gives what
    `restore_slot` puts back."""
    if is_active:
        if shadow is None:
            check_slot(container, None)
        mark_active(shadow)
    old = container[index]
    container[index] = value
    return old


def restore_slot(container: Any, shadow: Any, index: Any, old: Any) -> Any:
    """The adjoint of ``container[index] = value``: `old` is put back; gives the cotangent of the value."""
    container[index] = old
    if shadow is None:
        return 0.0
    b = shadow.item(index)
    shadow[index] = 0.0
    return b


# -- lists, dicts and fields: anything may be in a slot ----------------------------------------------------


def as_float(rdata: Any) -> float:
    """Rdata of a float: NumPy's numbers and zeros become floats."""
    if type(rdata) is float:
        return rdata
    return 0.0 if rdata is None else project(rdata, 0.0)


class _Sink:
    """Stands for the shadow of a constant: what is added to it is nobody's."""

    __slots__ = ()

    def __getitem__(self, key: object) -> float:
        return 0.0

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def __getattr__(self, name: str) -> float:
        return 0.0

    def __setattr__(self, name: str, value: object) -> None:
        pass


SINK = _Sink()
_ABSENT = object()
_MEMORY: frozenset[type] = frozenset({MutableTangent, list, dict})
"""The most frequent classes of tangents that are shadows as they are."""


def add_to_item(shadow: Any, key: Any, b: Any) -> None:
    """The adjoint of ``container[key]``.  What reaches a key of a dict, as a value, is lost there; objects in
    it have theirs by their addresses."""
    if shadow is not None and b is not None and shadow is not KEYS:
        t = shadow[key]
        shadow[key] = t + b if t.__class__ is float and b.__class__ is float else slot_increment(t, b)


def add_to_field(shadow: Any, name: str, b: Any) -> None:
    """The adjoint of ``obj.name``."""
    if shadow is not None and b is not None:
        fields = shadow.__dict__
        t = fields[name]
        fields[name] = t + b if t.__class__ is float and b.__class__ is float else slot_increment(t, b)


def add_to_kept(shadow: Any, name: str, b: Any) -> None:
    """The adjoint of ``obj.name``, where that may be a constant of the class."""
    if shadow is not None and name in shadow.__dict__:
        add_to_field(shadow, name, b)


def item_slot_shadow(shadow: Any, key: Any, value: object = None) -> Any:
    """The shadow of what stands in ``container[key]``; None if that is no element but the end of a loop."""
    if shadow is None or value is EXHAUSTED:
        return None
    t = shadow[key]
    cls = t.__class__
    if cls is float:
        return NO_FDATA
    return t if cls in _MEMORY else slot_shadow(t)


def field_slot_shadow(shadow: Any, name: str) -> Any:
    """The shadow of ``obj.name``."""
    if shadow is None:
        return None
    t = shadow.__dict__.get(name)
    cls = t.__class__
    return t if cls in _MEMORY else NO_FDATA if cls is float else slot_shadow(t)


def record_slot_shadow(shadow: Any, name: str) -> Any:
    """The shadow of ``record.name``, a field of a frozen dataclass or named tuple."""
    return shadow.__dict__.get(name) if shadow.__class__ is FData else None


def record_rdata(names: tuple[str, ...], *parts: Any) -> Any:
    """The rdata of a record that has `parts` for the fields of these `names`, and zero for all others."""
    return with_fields(RData, dict(zip(names, parts)))  # noqa: B905  # as many


class _Undo:
    """The adjoint of a write that was made by the general rule."""

    __slots__ = ("pullback",)

    def __init__(self, pullback: Any) -> None:
        self.pullback = pullback

    def run(self) -> Any:
        b = self.pullback(None)[2]
        return 0.0 if b is None else b


def store_item(rrule: Any, container: Any, shadow: Any, key: Any, value: float, is_active: bool) -> Any:
    """Do ``container[key] = value``; gives what `restore_item` needs.  A float in place of a float is the
    common case: the shadow has a number there and keeps it."""
    try:
        old = container[key]
    except IndexError:
        old = _ABSENT  # an assignment says so in other words
    if type(old) is float and shadow is not None:
        container[key] = value
        return old
    fvalue = NO_FDATA if is_active else None
    return _Undo(rrule((container, key, value), (shadow, None, fvalue), NO_KWARGS)[2])


def restore_item(container: Any, shadow: Any, key: Any, old: Any) -> Any:
    """The adjoint of `store_item`: gives the cotangent of the value."""
    if type(old) is float:
        container[key] = old
        b = shadow[key]
        shadow[key] = 0.0
        return b
    return old.run()


def append_item(values: list[Any], shadow: Any, value: float, is_active: bool) -> None:
    """Do ``values.append(value)``; the slot of the shadow has a zero."""
    if shadow is not None:
        shadow.append(0.0 if type(value) is float else value.__class__(0.0))
    elif is_active:
        check_slot(values, None)
    values.append(value)


def append_flat(values: list[Any], shadow: Any, value: Any, tangent: Any, is_active: Any) -> None:
    """Do ``values.append(value)`` of a tuple of numbers, objects and what has no derivative, of which
    `tangent` is that of a new one.  It has a derivative if `is_active`, its shadow where it has objects, is
    true."""
    if shadow is not None:
        shadow.append(tangent)
    elif is_active:
        check_slot(values, None)
    values.append(value)


def append_array(values: list[Any], shadow: Any, array: Any, of_array: Any) -> None:
    """Do ``values.append(array)``, where `array` has the shadow `of_array`; None is that of a constant."""
    if shadow is not None:
        shadow.append(NO_TANGENT if of_array is None else of_array)
    elif of_array is not None:
        check_slot(values, None)
    values.append(array)


def append_tangent(tangent: Any, dvalue: Any) -> None:
    """Forward mode: the tangent of a list follows ``values.append(value)``; None is that of a constant."""
    if tangent is not None:
        tangent.append(dvalue)


def undo_append(values: list[Any], shadow: Any) -> Any:
    """The adjoint of `append_item`: gives the cotangent of the value."""
    del values[-1]
    return None if shadow is None else shadow.pop()


def undo_flat(values: list[Any], shadow: Any) -> Any:
    """The adjoint of `append_flat`: gives the cotangent of the tuple."""
    del values[-1]
    return None if shadow is None else shadow.pop()


def store_field(rrule: Any, obj: Any, shadow: Any, name: str, value: float, is_active: bool) -> Any:
    """Do ``obj.name = value``; gives what `restore_field` needs."""
    old = getattr(obj, name, _ABSENT)
    if shadow is not None:
        if type(old) is float:
            setattr(obj, name, value)
            return old
        if old is _ABSENT and type(shadow) is MutableTangent:
            setattr(obj, name, value)
            setattr(shadow, name, 0.0)
            return old
    fvalue = NO_FDATA if is_active else None
    return _Undo(rrule((obj, name, value), (shadow, None, fvalue), NO_KWARGS)[2])


def restore_field(obj: Any, shadow: Any, name: str, old: Any) -> Any:
    """The adjoint of `store_field`: gives the cotangent of the value."""
    if type(old) is float:
        setattr(obj, name, old)
        b = getattr(shadow, name)
        setattr(shadow, name, 0.0)
        return b
    if old is _ABSENT:  # there was no such field
        object.__delattr__(obj, name)
        return shadow.__dict__.pop(name)
    return old.run()


def put_field(rrule: Any, obj: Any, shadow: Any, name: str, value: Any, fvalue: Any) -> Any:
    """Do ``obj.name = value`` of anything; gives what `take_field` needs."""
    if shadow.__class__ is not MutableTangent:
        return _Undo(rrule((obj, name, value), (shadow, None, fvalue), NO_KWARGS)[2])
    fields = shadow.__dict__
    slot = fields.get(name, _ABSENT)  # of a field that the object has itself
    old = _own_field(obj, name) if slot is _ABSENT else getattr(obj, name, _ABSENT)
    setattr(obj, name, value)
    fields[name] = slot_tangent(value, fvalue)
    return old, slot


def _own_field(obj: Any, name: str) -> Any:
    """The field `name` of `obj`, not a default of this name in the class."""
    if type(getattr(type(obj), name, None)) is types.MemberDescriptorType:
        return getattr(obj, name, _ABSENT)
    return instance_dict(obj).get(name, _ABSENT)


def take_slot(shadow: Any, name: str) -> Any:
    """The rdata in the field `name` of the shadow of an object; it is zero then."""
    fields = shadow.__dict__
    b = slot_rdata(fields[name])
    if b.__class__ is float:
        fields[name] = 0.0
    return b


def take_field(obj: Any, shadow: Any, name: str, old: Any) -> Any:
    """The adjoint of `put_field`: gives the rdata of the value."""
    if old.__class__ is _Undo:
        return old.pullback(None)[2]
    value, slot = old
    fields = shadow.__dict__
    b = slot_rdata(fields[name])
    if slot is _ABSENT:
        del fields[name]
    else:
        fields[name] = 0.0 if slot.__class__ is float else slot
    if value is _ABSENT:
        object.__delattr__(obj, name)
    else:
        setattr(obj, name, value)
    return b


def put_field_tangent(frule: Any, obj: Any, d: Any, name: str, value: Any, dvalue: Any) -> None:
    """Do ``obj.name = value`` of anything, and the same to the tangent `d` of `obj`."""
    if d.__class__ is MutableTangent:
        setattr(obj, name, value)
        d.__dict__[name] = fill_tangent(value, dvalue)
    else:
        frule((obj, name, value), (d, None, dvalue), NO_KWARGS)


def bound_shadow(value: Any, obj: Any, shadow: Any, name: str) -> Any:
    """The shadow of ``obj.name``, a method unless the instance has such a field."""
    if shadow is None:
        return None
    if type(value) is types.MethodType and value.__self__ is obj:
        return FData(__self__=shadow, __func__=None)
    if type(value) is types.BuiltinMethodType and value.__self__ is obj:
        return FData(__self__=shadow)
    return field_slot_shadow(shadow, name)


def resumed_shadow(shadow: Any, index: int, stride: int = 1) -> Any:
    """The shadow of an iterator over a list that goes on with element `index`, and goes by `stride`."""
    result: Any = shadow_iterator([], shadow)
    if shadow is not None:
        result.index, result.stride = index, stride
    return result


def resumed_view(shadow: Any, iterator: Any) -> Any:
    """The shadow of an `iterator` over a dict or a view of it, where the dict has `shadow`; it is left where
    it is."""
    if shadow is None:
        return shadow_iterator([], None)
    left = steps_left(iterator)
    if left is None:
        return shadow_iterator([], None)  # the dict has grown or shrunk, so the next step raises
    return shadow_steps(type(iterator), shadow, left)


class _Keys:
    """What stands for the shadow of a dict where its keys are read, and for its tangent: at each key, the
    tangent of that.  Numbers that are keys are constants."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return 0.0 if type(key) is float else key_tangent(key)

    def __setitem__(self, key: Any, t: Any) -> None:
        """What reaches a key is lost there."""


KEYS = _Keys()


# -- the same in forward mode ------------------------------------------------------------------------------


def item_slot_tangent(tangent: Any, key: Any, value: object = None) -> Any:
    """The tangent of what stands in ``container[key]``, None for zero."""
    if tangent is None or value is EXHAUSTED:
        return None
    t = tangent[key]
    return None if t is NO_TANGENT else t


def bound_tangent(value: Any, obj: Any, tangent: Any, name: str) -> Any:
    """The tangent of ``obj.name``, a method unless the instance has such a field."""
    if tangent is None:
        return None
    if type(value) is types.MethodType and value.__self__ is obj:
        return FData(__self__=tangent, __func__=None)
    if type(value) is types.BuiltinMethodType and value.__self__ is obj:
        return FData(__self__=tangent)
    return field_slot_tangent(tangent, name)


def kept_number(tangent: Any, name: str) -> Any:
    """The tangent of the number ``obj.name``, which may be a constant of the class, or of a record."""
    t = record_slot_tangent(tangent, name)
    return 0.0 if t is None else t


def field_slot_tangent(tangent: Any, name: str) -> Any:
    """The tangent of ``obj.name``, None for zero."""
    t = None if tangent is None else tangent.__dict__.get(name)
    return None if t is NO_TANGENT else t


def record_slot_tangent(tangent: Any, name: str) -> Any:
    """The tangent of ``record.name``, a field of a frozen dataclass or named tuple; None for zero."""
    return None if tangent is None or tangent is NO_TANGENT else field_slot_tangent(tangent, name)
