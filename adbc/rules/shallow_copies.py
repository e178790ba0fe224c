"""``copy.copy`` of lists, dicts and instances that are copied by fields.

The copy has fields of its own, and what stands in them is that of the original, with its shadow.  Whatever
says itself how it is copied is followed.
"""

from __future__ import annotations

import copy
import types
from typing import Any

from adbc.rules.deep_copies import is_plain_class
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import MutableTangent, slot_increment, slot_rdata, slot_shadow, slot_tangent
from adbc.tangents.fields import instance_dict, instance_fields

__all__ = ["ROWS"]


def is_copied_by_fields(x: Any) -> bool:
    """Whether `x` is an instance that says nothing itself of how it is copied."""
    cls = type(x)
    if cls in copy._copy_dispatch or hasattr(cls, "__copy__") or not is_plain_class(cls):  # type: ignore[attr-defined]  # it is there
        return False
    return not any(name.startswith("__") for name in instance_dict(x))  # it may hide a method


def with_same_fields(x: Any) -> Any:
    """What ``copy.copy(x)`` gives where `is_copied_by_fields` holds."""
    return copy.copy(x)


def _frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    y, d = with_same_fields(args[0]), dargs[0]
    return y, None if d is None else MutableTangent(**d.__dict__)


def _rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    y, f = with_same_fields(args[0]), fargs[0]
    if f is None:
        return y, None, lambda bout: (None,)
    fields = f.__dict__
    fy = MutableTangent()
    own = fy.__dict__
    for name, value in instance_fields(y):
        if name in fields:
            own[name] = slot_tangent(value, slot_shadow(fields[name]))

    def copy_pullback(bout: Any) -> tuple[None]:
        for name, slot in own.items():
            r = slot_rdata(slot)
            if r is not None:
                fields[name] = slot_increment(fields[name], r)
        return (None,)

    return y, fy, copy_pullback


_followed = types.FunctionType(copy.copy.__code__, vars(copy), "copy")


def _copy(x: Any) -> Any:
    if type(x) is list or type(x) is dict:
        return x.copy()
    if is_copied_by_fields(x):
        return with_same_fields(x)
    return _followed(x)


ROWS: list[Rule] = [
    ZeroRule(is_copied_by_fields, result=bool),
    Primitive(with_same_fields, frule=_frule, rrule=_rrule, is_fitted=True, result=lambda cls: cls),
    Overlay(copy.copy, _copy),
]
