"""What generated code needs at run time beyond what both modes do, as the reverse builder sees it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adbc.derive.support import CommonSupport
from adbc.ir.graph import Graph
from adbc.records import record
from adbc.types.callsites import Binding
from adbc.types.lattice import AbstractType

__all__ = ["DerivedEntry", "Support"]


class DerivedEntry(Protocol):
    """The derived reverse rule of a Python function for one signature, perhaps not built yet.

    ``forwards(context, x, [fx], ...) -> (out, [fout], saved)`` and
    ``pullback(saved, [bout]) -> (bx, ...)``: a shadow stands behind each active parameter whose type
    has one, and behind the output if its type does; a cotangent comes back for each active
    parameter whose type has one (always as a tuple), and `bout` is there if the output's type has one.
    If it `takes_function`, the function and its shadow stand behind the context.
    """

    forwards: Callable[..., Any]
    pullback: Callable[..., Any]
    result: AbstractType
    takes_function: bool


@record(frozen=True, kw_only=True)
class Support(CommonSupport):
    """What generated code of reverse mode needs at run time.

    The companion of a value that has memory is its shadow: `fx` is that of `x`.  `bx` is a cotangent.
    """

    derived: Callable[[Binding, Sequence[AbstractType], Sequence[int]], DerivedEntry]
    protected: Callable[[Binding, Sequence[AbstractType], Sequence[int]], DerivedEntry]
    """What `derived` is for calls whose exceptions are caught: what is raised comes back as a `Raised`."""
    rule: Callable[[Any], Callable[..., Any]] = operator.attrgetter("rrule")
    parameters_read: Callable[[Callable[..., object]], frozenset[int] | None]
    """Which of its parameters a function reads; None if that is not known."""
    attempt: Callable[..., Any]
    """attempt(context, keywords, f, ff, xs, fs): what `call` does, but the result is a `Raised` if the call
    raised"""
    mark_active: Callable[..., Any]
    """mark_active(fu): active values are about to be written into the array of this shadow"""
    carry: Callable[..., Any]
    """carry(fu, fx): the same as `mark_active` does, unless `fx` is None"""
    mark_inactive: Callable[..., Any]
    """mark_inactive(fu): nothing active is in the array of this shadow, which was just made"""
    note_inactive: Callable[..., Any]
    """note_inactive(fu, fxs, with_lists): the same, if what it was made from, with these shadows, is
    inactive; with_lists: it was made just now by a row of which `keeps_lists`"""
    keeps_lists: Callable[[Any], bool]
    """Whether a row is of a function that leaves lists as they are, and gives nothing that was in them."""
    number_shadow: Callable[..., Any]
    """number_shadow(fxs): that of a number that was made from arrays with these shadows, None if they are
    inactive"""
    fresh_shadow: Callable[..., Any]
    """fresh_shadow(out, False): the zero shadow of an inactive new object"""
    defaults_pullback: Callable[..., Any]
    """defaults_pullback(ffunction) -> pullback; pullback(None) -> (rdata of the tuple of defaults,)"""
    freevar: Callable[..., Any]
    """freevar(function, index): a cell of the closure of `function`"""
    freevar_shadow: Callable[..., Any]
    """freevar_shadow(context, function, ffunction, index): the shadow of a cell of the closure of
    `function`"""
    item_rdata: Callable[..., Any]
    """item_rdata(rdata, index): the rdata of an element, None if zero"""
    add_to_slot: Callable[..., Any]
    """add_to_slot(fu, index, b): ``fu[index] += b``, nothing if `fu` is None"""
    restore_slot: Callable[..., Any]
    """restore_slot(u, fu, index, old): does ``u[index] = old``; gives the cotangent in the slot of `fu`,
    now zero"""
    append_array: Callable[..., Any]
    """append_array(l, fl, x, fx): does ``l.append(x)`` of an array, and lets the shadow grow with that of the
    array"""
    append_flat: Callable[..., Any]
    """append_flat(l, fl, x, tangent, is_active): does ``l.append(x)`` of a tuple of numbers and objects, and
    lets the shadow grow with the list by its `tangent`"""
    append_item: Callable[..., Any]
    """append_item(l, fl, x, is_active): does ``l.append(x)`` of a number, and lets the shadow grow with the
    list"""
    undo_append: Callable[..., Any]
    """undo_append(l, fl) -> bx: takes back `append_item`, and gives the cotangent of the number"""
    undo_flat: Callable[..., Any]
    """undo_flat(l, fl) -> bx: takes back `append_flat`, and gives the cotangent of the tuple"""
    add_to_item: Callable[..., Any]
    """add_to_item(fl, index, b): the slot of the shadow of a list or dict grows by `b`, if neither is
    missing"""
    add_to_field: Callable[..., Any]
    """add_to_field(f, name, b): the field `name` of the shadow `f` of an object grows by `b`"""
    add_to_kept: Callable[..., Any]
    """add_to_kept(f, name, b): what `add_to_field` does, if there is such a field"""
    record_rdata: Callable[..., Any]
    """record_rdata(names, *parts): the rdata of a record, of which these fields have the rdata `parts`"""
    exchange: Callable[..., Any]
    """exchange(u, fu, index, value, is_active) -> the number that `value` was written over"""
    store_item: Callable[..., Any]
    """store_item(rrule, l, fl, index, value, is_active) -> old, whatever `restore_item` needs"""
    store_field: Callable[..., Any]
    restore_item: Callable[..., Any]
    """restore_item(l, fl, index, old) -> the cotangent of the value, a number"""
    restore_field: Callable[..., Any]
    slot_of: Callable[..., Any]
    """slot_of(value, fvalue): what stands in a slot of a shadow for `value`, whose shadow is `fvalue`"""
    take_slot: Callable[..., Any]
    """take_slot(f, name) -> the rdata in a field of the shadow `f`, which is zero then"""
    put_field: Callable[..., Any]
    """put_field(rrule, obj, f, name, value, fvalue) -> old, whatever `take_field` needs"""
    take_field: Callable[..., Any]
    """take_field(obj, f, name, old) -> the rdata of the value"""
    set_field: Callable[..., Any]
    """The general reverse rule of writing a field."""
    give_array: Callable[..., Any]
    """give_array(fx, x, d): the shadow of array `x` grows by `d`, broadcasting undone"""
    inner: Callable[..., Any]
    """inner(d, p): the sum of ``d * p``, if both are arrays of one shape; else the product"""
    copied: Callable[..., Any]
    """copied(x): a copy of an array"""
    fit: Callable[..., Any]
    """fit(d, x): `d` as a cotangent of the number or array `x`, broadcasting undone"""
    fit_array: Callable[..., Any]
    """fit_array(d, shape, code): `d` as a cotangent of an array of that shape and dtype (see `fit`)"""
    filled_array: Callable[..., Any]
    """filled_array(d, shape, code): `d`, or zeros of that shape and dtype if it is None"""
    filled: Callable[..., Any]
    """filled(d, x): `d`, or zeros like array `x` if it is None"""
    add_to_array: Callable[..., Any]
    """add_to_array(a, b): the sum of two cotangents of one array, either perhaps None; `a` may be written
    to"""
    transposed: Callable[..., Any]
    """transposed(d): ``d.T``, or None if `d` is None"""
    reshaped: Callable[..., Any]
    """reshaped(d, shape): `d` in that shape, or None if `d` is None"""
    share: Callable[..., Any]
    """share(number, part, whole): what the elements of an array of shape `part` are given, each, by a
    cotangent full of `number` in the shape `whole` that it was broadcast to"""
    full_array: Callable[..., Any]
    """full_array(number, shape, code): an array of that shape and dtype, full of `number`"""
    new_array: Callable[..., Any]
    """new_array(d): a copy of the array `d`, or None if `d` is None"""
    as_part: Callable[..., Any]
    """as_part(index, d, shape, code): zeros of that shape and dtype, with `d` at `index`"""
    add_to_part: Callable[..., Any]
    """add_to_part(whole, index, d, shape, code): `whole`, which may be written to, with `d` added at
    `index`; zeros of that shape and dtype stand for a `whole` that is None"""
    give_own: Callable[..., Any]
    """give_own(fx, d): what `give_array` does, where no two elements of `fx` are at one place"""
    take_own: Callable[..., Any]
    """take_own(fx, d): what `give_own` does for ``-d``"""
    negate: Callable[..., Any]
    """negate(d): ``-d``, written over `d`"""
    take_array: Callable[..., Any]
    """take_array(fx, x, d), as_negative_part(index, d, shape, code), take_from_part(whole, index, d, shape,
    code): what `give_array`, `as_part` and `add_to_part` do for ``-d``"""
    as_negative_part: Callable[..., Any]
    take_from_part: Callable[..., Any]
    taken_part: Callable[..., Any]
    """taken_part(fu, index, shape, code): the cotangent of an array of that shape and dtype that was written
    into the part of `u` at `index`; that of `fu` is zero then"""
    taken_number: Callable[..., Any]
    """taken_number(fu, index, x): the same, of a number `x`"""
    move_part: Callable[..., Any]
    """move_part(fu, index, fv): `fv` grows by the part of `fu`, which is zero then"""
    clear_part: Callable[..., Any]
    """clear_part(fu, index): the part of `fu` is zero then"""
    clear: Callable[..., Any]
    """clear(part): `part` of a shadow is zero then"""
    values: bool
    """Whether arrays may be treated like numbers (not where rules are watched)."""
    lost_in_text: Callable[..., Any]
    """lost_in_text(context): NaN if a number was read from text that was made of numbers, else zero"""
    float_rdata: Callable[..., Any]
    """float_rdata(rdata): the rdata of a number as a Python float, 0.0 if it is zero"""
    add: Callable[..., Any]
    """add(rdata, rdata): the sum of two cotangents, None being zero"""
    later: Callable[[str, Callable[[], Graph]], Callable[..., Any]]
    """later(name, graph): a function whose graph is made when it is first called"""
    no_tangent: object
    """What stands in a slot of a shadow where there is no derivative."""
    no_fdata: object
    """The shadow of an active value that is identified by value."""
