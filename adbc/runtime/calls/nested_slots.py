"""What generated code does with slots of shadows, as an outer level follows it.

A slot holds a number, the shadow of an object, or a tuple of such; which of these it is differs from call
to call, so nothing is known of its type, and each question that is asked about it would be a call that is
decided when it runs.  Here the questions are functions of their own that have no derivative.  What is left
is the arithmetic of numbers, which is followed, and reading, which is a rule: a shadow is itself what is
found in its slot, and so has what stands beside the slot.  What is neither is followed as it stands.
"""

from __future__ import annotations

from typing import Any

from adbc.ir.intrinsics import EXHAUSTED
from adbc.rules.builtins import lists
from adbc.rules.linear_rows import as_it_stands
from adbc.rules.sequences import plain_slice
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.runtime.calls import fields
from adbc.runtime.calls.classes import FIELD, lookup, python_method, way_to_set
from adbc.runtime.state import slots
from adbc.tangents import NO_TANGENT, MutableTangent, internal, slot_shadow
from adbc.tangents.fields import instance_dict
from adbc.tangents.internal import ARRAY_FRESH
from adbc.tangents.scalars import NUMBERS

__all__ = ["ROWS"]

_MEMORY: frozenset[Any] = frozenset({MutableTangent, list, dict})
_LISTS: frozenset[Any] = frozenset({list, dict})


# -- looks ---------------------------------------------------------------------------------------------------


def is_whole(t: Any) -> bool:
    """Whether the shadow of a value with tangent `t` is `t` itself, or has no memory."""
    cls = t.__class__
    return cls in NUMBERS or cls in _MEMORY or t is NO_TANGENT or t is None or cls in ARRAY_FRESH


def is_whole_field(shadow: Any, name: str) -> bool:
    """Whether that is so of the field `name` of the shadow of an object."""
    return shadow.__class__ is MutableTangent and is_whole(shadow.__dict__.get(name))


def is_whole_item(shadow: Any, key: Any) -> bool:
    """Whether that is so of what stands at `key` of the shadow of a list or dict."""
    return type(shadow) in _LISTS and is_whole(shadow[key])


def is_end(value: Any) -> bool:
    """Whether that is no element but the end of a loop."""
    return value is EXHAUSTED


def is_of_keys(shadow: Any) -> bool:
    """Whether that stands for the shadow of a dict whose keys are read."""
    return shadow is slots.KEYS


def are_numbers(t: Any, b: Any) -> bool:
    """Whether both are floats."""
    return t.__class__ is float and b.__class__ is float


def is_number_at(shadow: Any, key: Any, b: Any) -> bool:
    """Whether `b`, and what the shadow of a list or dict has at `key`, are floats."""
    return type(shadow) in _LISTS and shadow[key].__class__ is float and b.__class__ is float


def is_number_in(shadow: Any, name: str, b: Any) -> bool:
    """Whether `b`, and the field `name` of the shadow of an object, are floats."""
    return (
        shadow.__class__ is MutableTangent
        and shadow.__dict__[name].__class__ is float
        and b.__class__ is float
    )


# -- reading -------------------------------------------------------------------------------------------------


def whole(t: Any) -> Any:
    """The shadow of a value with tangent `t`, which is `t` itself or has no memory."""
    return slot_shadow(t)


def whole_field(shadow: Any, name: str) -> Any:
    """The shadow of a field, of which that is so."""
    return slot_shadow(shadow.__dict__.get(name))


def whole_item(shadow: Any, key: Any) -> Any:
    """The shadow of an item, of which that is so."""
    return slot_shadow(shadow[key])


def _whole_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    out = slot_shadow(args[0])
    return out, dargs[0] if out is args[0] else None


def _whole_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    out = slot_shadow(args[0])
    return out, fargs[0] if out is args[0] else None, lambda bout: (None,)


def _field_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    t, beside = fields.GET.frule(args, dargs, NO_KWARGS) if args[1] in args[0].__dict__ else (None, None)
    out = slot_shadow(t)
    return out, beside if out is t else None


def _field_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    shadow, name = args
    if name not in shadow.__dict__:
        return None, None, _nothing
    t, beside, _ = fields.GET.rrule(args, fargs, NO_KWARGS)
    out = slot_shadow(t)
    return out, beside if out is t else None, _nothing


def _item_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    (shadow, key), beside = args, dargs[0]
    t = shadow[key]
    out = slot_shadow(t)
    if out is not t or beside is None:
        return out, None
    found = beside[key]
    return out, None if found is NO_TANGENT else found


def _item_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    (shadow, key), beside = args, fargs[0]
    t = shadow[key]
    out = slot_shadow(t)
    return out, None if out is not t or beside is None else slot_shadow(beside[key]), _nothing


def _nothing(bout: Any) -> Any:
    """The pullback of what gives memory, which has its shadow by its address."""
    return None, None


# -- what is followed ----------------------------------------------------------------------------------------


_slot_shadow = as_it_stands(slot_shadow)
_slot_increment = as_it_stands(internal.slot_increment)
_field_slot_shadow = as_it_stands(slots.field_slot_shadow)
_item_slot_shadow = as_it_stands(slots.item_slot_shadow)


def _shadow(t: Any) -> Any:
    return whole(t) if is_whole(t) else _slot_shadow(t)


def _field_shadow(shadow: Any, name: str) -> Any:
    if shadow is None:
        return None
    return whole_field(shadow, name) if is_whole_field(shadow, name) else _field_slot_shadow(shadow, name)


def _item_shadow(shadow: Any, key: Any, value: object = None) -> Any:
    if is_end(value):
        return None
    if shadow is None:
        return None
    return whole_item(shadow, key) if is_whole_item(shadow, key) else _item_slot_shadow(shadow, key)


def _increment(t: Any, r: Any) -> Any:
    if r is None:
        return t
    return t + r if are_numbers(t, r) else _slot_increment(t, r)


def _add_to_item(shadow: Any, key: Any, b: Any) -> None:
    if shadow is None or b is None or is_of_keys(shadow):
        return
    if is_number_at(shadow, key, b):
        shadow[key] = shadow[key] + b
    else:
        shadow[key] = _increment(shadow[key], b)


def _add_to_field(shadow: Any, name: str, b: Any) -> None:
    if shadow is None or b is None:
        return
    values = shadow.__dict__
    if is_number_in(shadow, name, b):
        values[name] = values[name] + b
    else:
        values[name] = _increment(values[name], b)


# -- slices of lists -----------------------------------------------------------------------------------------


def are_new_floats(out: Any, a: Any, fa: Any) -> bool:
    """Whether a slice of list `a` holds floats alone, and the shadow of the list has as many slots."""
    return len(fa) == len(a) and _FLOATS.issuperset(map(type, out))


def are_objects(out: Any, fout: Any) -> bool:
    """Whether the slots for a slice are shadows of objects, which keep their cotangents themselves."""
    return len(fout) == len(out) and _MEMORY.issuperset(map(type, fout))


_FLOATS: frozenset[Any] = frozenset({float})
_getslice_forwards = as_it_stands(lists._getslice_forwards)


def _slice(a: Any, where: Any, fa: Any, fwhere: Any) -> Any:
    """`lists._getslice_forwards`, by other means."""
    if fa is None:
        return _getslice_forwards(a, where, fa, fwhere)
    places = plain_slice(where)
    out = a[places]
    if are_new_floats(out, a, fa):
        fout = [0.0] * len(out)
        return out, fout, (fa, places, fout)
    fout = fa[places]
    if are_objects(out, fout):
        return out, fout, None
    return _getslice_forwards(a, where, fa, fwhere)


# -- new fields ----------------------------------------------------------------------------------------------


def is_new(obj: Any, shadow: Any, name: str) -> bool:
    """Whether an object of an ordinary class has no attribute `name` yet."""
    cls = type(obj)
    return (
        type(shadow) is MutableTangent
        and way_to_set(cls, name) is FIELD
        and lookup(cls, name) is None
        and python_method(cls, "__getattr__") is None
        and name not in instance_dict(obj)
    )


_ABSENT = slots._ABSENT
_store_field = as_it_stands(slots.store_field)


def _store(rrule: Any, obj: Any, shadow: Any, name: str, value: float, is_active: bool) -> Any:
    """`slots.store_field`, by other means."""
    if is_new(obj, shadow, name):
        setattr(obj, name, value)
        setattr(shadow, name, 0.0)
        return _ABSENT
    return _store_field(rrule, obj, shadow, name, value, is_active)


_LOOKS: tuple[Any, ...] = (
    is_whole, is_whole_field, is_whole_item, are_numbers, is_number_at, is_number_in, is_end, is_of_keys,
    are_new_floats, are_objects, is_new,
)  # fmt: skip

ROWS: list[Rule] = [
    *[ZeroRule(look, result=bool) for look in _LOOKS],
    Primitive(whole, frule=_whole_frule, rrule=_whole_rrule, is_fitted=True),
    Primitive(whole_field, frule=_field_frule, rrule=_field_rrule, is_fitted=True),
    Primitive(whole_item, frule=_item_frule, rrule=_item_rrule, is_fitted=True),
    Overlay(slot_shadow, _shadow),
    Overlay(slots.field_slot_shadow, _field_shadow),
    Overlay(slots.item_slot_shadow, _item_shadow),
    Overlay(internal.slot_increment, _increment),
    Overlay(slots.add_to_item, _add_to_item),
    Overlay(slots.add_to_field, _add_to_field),
    ZeroRule(plain_slice, result=slice),
    Overlay(lists._getslice_forwards, _slice),
    Overlay(slots.store_field, _store),
]
