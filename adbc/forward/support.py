"""What generated dual code needs at run time, as the forward builder sees it."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.graph import Graph
from adbc.types.callsites import Binding, Knowledge
from adbc.types.decisions import Decisions
from adbc.types.lattice import AbstractType

__all__ = ["ForwardSupport"]


@dataclasses.dataclass(frozen=True)
class ForwardSupport:
    """Each field is written into generated code as a constant; docstrings say how it is called there."""

    knowledge: Knowledge
    complete: Callable[[Graph], Graph]
    """What types the values that a builder has left without a type (`types.completion`), in place."""
    derived: Callable[[Binding, Sequence[AbstractType], Sequence[int]], Any]
    """An object with ``forwards(context, x, [dx], ...) -> (out, dout)``: a tangent behind each active one; if
    it `takes_function`, the function and its tangent stand behind the context.  What is active may be
    `PERHAPS`."""
    partial: Callable[[Any, int], Graph | None]
    straight: Callable[[Any], Graph | None]
    """The graph of a function, if it can be written into another."""
    call: Callable[..., Any]
    """call(context, keywords, f, df, xs, dxs) -> (out, dout)"""
    protocol: Callable[[object], Callable[..., Any] | None]
    """The handler of an intrinsic or operator: handler(context, xs, dxs) -> (out, dout)."""
    fresh_tangent: Callable[..., Any]
    """fresh_tangent(out): the tangent of a new inactive object"""
    known_tangent: Callable[..., Any]
    """known_tangent(context, value)"""
    append_tangent: Callable[..., Any]
    """append_tangent(dl, dx): the tangent of a list, if it has one, gets that of a number"""
    instance_tangent: Callable[..., Any]
    """instance_tangent(context, obj): the tangent of a new instance, which has no fields yet"""
    function_tangent: Callable[..., Any]
    """function_tangent(context, function, dclosure, ddefaults, dkwdefaults)"""
    captured: Callable[..., Any]
    """captured(context, function, dfunction): the cells of the closure, each followed by its tangent"""
    store_global: Callable[..., Any]
    """store_global(context, globals, name, value, dvalue)"""
    item_slot_tangent: Callable[..., Any]
    """item_slot_tangent(dl, index[, value]): of a slot of a list or dict, None for zero"""
    field_slot_tangent: Callable[..., Any]
    view: Callable[..., Any]
    """view(fu, index): ``fu[index]``, a view, None if `fu` is None"""
    sink: object
    """What stands for the tangent of a constant where it is read (zeros) and written to (nothing happens)."""
    empty: object
    """What stands for it where an element is looked for: everything in it is `NoTangent`."""
    bound_tangent: Callable[..., Any]
    """bound_tangent(value, obj, dobj, name): the tangent of `value`, a method of `obj` or its field `name`"""
    resumed_tangent: Callable[..., Any]
    """resumed_tangent(dl, index): the shadow of an iterator over a list that has given `index` elements"""
    check_slot: Callable[..., Any]
    """check_slot(u, du): an active number may be written into `u`, or `ConstWriteError`"""
    item_tangent: Callable[..., Any]
    """item_tangent(dtuple, index)"""
    fit_number: Callable[..., Any]
    """fit_number(d, x): `d` as the tangent of `x`, a real number"""
    fit_array: Callable[..., Any]
    """fit_array(d, x): `d` in shape and dtype of array `x`"""
    own_array: Callable[..., Any]
    """own_array(d, x, source): the same, in memory that is not that of the tangent `source`"""
    fill_array: Callable[..., Any]
    """fill_array(d, x): `d`, or zeros like array `x`"""
    fill_tangent: Callable[..., Any]
    """fill_tangent(x, dx): `dx`, or the zero that an element `x` of a tuple has for a tangent"""
    make_tuple: Callable[..., Any]
    """make_tuple(xs, dxs): the tangent of a tuple, from its elements' tangents (None: zero)"""
    caught_tangent: Callable[..., Any]
    """caught_tangent(context, exception): its tangent; if it is a refusal, which no handler may see, it is
    raised again"""
    frule: Callable[[Any], Callable[..., Any]] = operator.attrgetter("frule")
    """The frule of a row, as it is written into generated code; in debug mode one that checks it."""
    formulas: bool = True
    """Whether rules are written inline where they can be, and not called; in debug mode they are called."""
    checks_aliases: bool = False
    """Rows with a zero derivative are called as rules too, so that they can be checked."""
    watch: Callable[[Any, str], Any] | None = None
    """watch(number, name): it, or an error if it is not finite; written behind inlined products"""
    told: Callable[[Decisions], object] | None = None
    """told(decisions): what became of each call of the graph that was built, for those who look inside"""
