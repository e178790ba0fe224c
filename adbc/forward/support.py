"""What generated dual code needs at run time beyond what both modes do, as the forward builder sees it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adbc.derive.support import CommonSupport
from adbc.ir.graph import Graph
from adbc.records import record

__all__ = ["ForwardSupport"]


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@record(frozen=True, kw_only=True)
class ForwardSupport(CommonSupport):
    """What generated code of forward mode needs at run time.

    The companion of a value is its tangent: for a number it is a number, for anything else it may be None,
    which is zero.  The entry of a derived rule has ``forwards(context, x, [dx], ...) -> (out, dout)``: a
    tangent behind each active argument.  What is active may be `PERHAPS`.
    """

    rule: Callable[[Any], Callable[..., Any]] = operator.attrgetter("frule")
    straight: Callable[[Any], Graph | None]
    """The graph of a function, if it can be written into another."""
    fresh_tangent: Callable[..., Any]
    """fresh_tangent(out): the tangent of a new inactive object"""
    append_tangent: Callable[..., Any]
    """append_tangent(dl, dx): the tangent of a list, if there is one, is appended the tangent of a number"""
    captured: Callable[..., Any]
    """captured(context, function, dfunction): the cells of the closure of `function`, each with its tangent
    behind"""
    put_field: Callable[..., Any]
    """put_field(frule, obj, d, name, value, dvalue): does ``obj.name = value``, also to the tangent"""
    set_field: Callable[..., Any]
    """The general forward rule of writing a field."""
    kept_number: Callable[..., Any]
    """kept_number(d, name): the tangent of a number that is a field of an object, or a constant of its
    class"""
    fit_number: Callable[..., Any]
    """fit_number(d, x): `d` as the tangent of `x`, a real number"""
    fit_array: Callable[..., Any]
    """fit_array(d, x): `d` in shape and dtype of the array `x`"""
    own_array: Callable[..., Any]
    """own_array(d, x, source): `d` in shape and dtype of array `x`, in memory that is not that of the tangent
    `source`"""
    fill_array: Callable[..., Any]
    """fill_array(d, x): `d`, or zeros like array `x`"""
    fill_tangent: Callable[..., Any]
    """fill_tangent(x, dx): `dx`, or the zero that an element `x` of a tuple has for a tangent"""
    make_tuple: Callable[..., Any]
    """make_tuple(xs, dxs): the tangent of a tuple, from its elements' tangents (None: zero)"""
    formula: Callable[[Callable[..., Any]], Callable[..., Any]] = _itself
    """formula(function): a function of tangents, as generated code calls it"""
    formulas: bool = True
    """Whether rules are written inline where they can be; in debug mode they are called."""
