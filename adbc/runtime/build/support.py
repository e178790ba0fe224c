"""The functions that generated code calls, put together for the builders."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Container, Sequence
from typing import Any, Protocol

from adbc.cpython.names import parameters_read
from adbc.forward import ForwardSupport
from adbc.ir.graph import Graph
from adbc.passes.derived.strong_zeros import Strong
from adbc.reverse import Support
from adbc.runtime.build.knowledge import Knowledge
from adbc.runtime.build.partials import Partials
from adbc.runtime.build.results import completion, forward_results, reverse_results
from adbc.runtime.calls import asked_classes, exceptions, fields, texts
from adbc.runtime.calls.counters import attribute_store
from adbc.runtime.calls.forward import ForwardCalls
from adbc.runtime.calls.reverse import ReverseCalls
from adbc.runtime.report.debug import Watch
from adbc.runtime.state import array_shadows as arrays
from adbc.runtime.state import slots
from adbc.runtime.state.activity import keeps_lists, note_inactive, number_shadow
from adbc.runtime.state.closures import captured, freevar, freevar_shadow
from adbc.runtime.state.context import Context
from adbc.runtime.state.globals import check_global, global_store
from adbc.runtime.state.made_functions import defaults_pullback, function_shadow, function_tangent
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    add,
    divide,
    fill_tangent,
    fresh_shadow,
    fresh_tangent,
    multiply,
    project,
    slot_tangent,
)
from adbc.tangents.activity_marks import carry, mark_active, mark_inactive
from adbc.types import AbstractType
from adbc.types.callsites import Binding
from adbc.types.decisions import Decisions

__all__ = ["forward_support", "reverse_support"]


class Owner(Protocol):
    """Whose code the helpers are for: an engine."""

    @property
    def knowledge(self) -> Knowledge: ...

    @property
    def partials(self) -> Partials: ...

    @property
    def guarded(self) -> Container[tuple[int, str]]: ...

    @property
    def builds(self) -> int: ...

    def static_entry(
        self, binding: Binding, types_: Sequence[AbstractType], active: Sequence[int], mode: str
    ) -> Any: ...

    def later(self, name: str, graph: Callable[[], Graph]) -> types.FunctionType: ...


Told = Callable[[Decisions], None]


def _by_name(*functions: Any) -> dict[str, Any]:
    return {function.__name__: function for function in functions}


_ABOUT_ARRAYS: dict[str, Any] = _by_name(
    arrays.give_array, arrays.copied, arrays.inner, arrays.fit, arrays.filled, arrays.fit_array,
    arrays.filled_array, arrays.add_to_array, arrays.transposed, arrays.reshaped, arrays.share,
    arrays.full_array, arrays.new_array, arrays.as_part, arrays.add_to_part, arrays.give_own, arrays.take_own,
    arrays.negate, arrays.take_array, arrays.as_negative_part, arrays.take_from_part, arrays.taken_part,
    arrays.taken_number, arrays.move_part, arrays.clear_part, arrays.clear,
)  # fmt: skip
"""The functions about arrays that reverse mode is handed under their own names."""


_STRONG = Strong(arrays.times, arrays.scaled, multiply, divide, frozenset(map(id, (slots.as_float,))))


def _common(
    owner: Owner, mode: str, calls: ReverseCalls | ForwardCalls, watch: Watch | None, told: Told | None
) -> dict[str, Any]:
    """The fields of `derive.CommonSupport` that are filled alike in both modes."""
    return {
        "knowledge": owner.knowledge,
        "derived": lambda binding, types_, active: owner.static_entry(binding, types_, active, mode),
        "partial": owner.partials.partial,
        "call": calls.call,
        "call_with_displays": calls.call_with_displays,
        "protocol": calls.handler,
        "row_handler": calls.row_handler,
        "instance": Context.instance_shadow,
        "store_global": global_store(owner.guarded),
        "store_attribute": attribute_store(owner, calls.call),
        "check_global": check_global,
        "resumed": slots.resumed_shadow,
        "resumed_view": slots.resumed_view,
        "keys": slots.KEYS,
        "view": arrays.view,
        "sink": slots.SINK,
        "check_slot": slots.check_slot,
        "strong": _STRONG,
        "checks_aliases": watch is not None and watch.debug,
        "check_type": watch.result if watch is not None and watch.debug else None,
        "watch": watch.number if watch is not None and watch.trace_nan else None,
        "told": told,
    }


def reverse_support(
    owner: Owner, calls: ReverseCalls, watch: Watch | None = None, told: Told | None = None
) -> Support:
    """What the builder of reverse mode is handed.

    watch: what checks the calls of rules, in debug mode.  told: see `CommonSupport.told`.
    """
    knowledge = owner.knowledge
    support = Support(
        complete=completion(lambda: reverse_results(support), knowledge.oracle, knowledge.sample),
        **_common(owner, "reverse", calls, watch, told),
        parameters_read=parameters_read,
        later=owner.later,
        protected=lambda binding, types_, active: owner.static_entry(binding, types_, active, "protected"),
        attempt=calls.attempt,
        fresh_shadow=fresh_shadow,
        mark_active=mark_active,
        carry=carry,
        mark_inactive=mark_inactive,
        note_inactive=note_inactive,
        keeps_lists=keeps_lists,
        number_shadow=number_shadow,
        known=Context.known_shadow,
        kept=Context.kept_shadow,
        given=Context.given_shadow,
        caught=exceptions.caught,
        passed=exceptions.passed,
        function=function_shadow,
        defaults_pullback=defaults_pullback,
        freevar=freevar,
        freevar_shadow=freevar_shadow,
        item=item,
        item_rdata=item,
        append_item=slots.append_item,
        append_array=slots.append_array,
        append_flat=slots.append_flat,
        undo_append=slots.undo_append,
        undo_flat=slots.undo_flat,
        add_to_item=slots.add_to_item,
        add_to_field=slots.add_to_field,
        add_to_kept=slots.add_to_kept,
        item_slot=slots.item_slot_shadow,
        field_slot=slots.field_slot_shadow,
        record_slot=slots.record_slot_shadow,
        record_rdata=slots.record_rdata,
        check_kept=fields.check_kept,
        is_instance=asked_classes.is_instance,
        default_fields=fields.default_fields,
        exchange=slots.exchange,
        store_item=slots.store_item,
        store_field=slots.store_field,
        restore_item=slots.restore_item,
        restore_field=slots.restore_field,
        slot_of=slot_tangent,
        take_slot=slots.take_slot,
        put_field=slots.put_field,
        take_field=slots.take_field,
        set_field=fields.SET.rrule,
        bound=slots.bound_shadow,
        **_ABOUT_ARRAYS,
        values=watch is None,
        add_to_slot=slots.add_to_slot,
        restore_slot=slots.restore_slot,
        text=texts.open_text,
        lost_in_text=texts.lost_in_text,
        float_rdata=slots.as_float,
        add=add,
        no_tangent=NO_TANGENT,
        no_fdata=NO_FDATA,
    )
    return support if watch is None else dataclasses.replace(support, rule=watch.rrule)


def forward_support(
    owner: Owner, calls: ForwardCalls, watch: Watch | None = None, told: Told | None = None
) -> ForwardSupport:
    """What the builder of forward mode is handed.

    watch: what checks the calls of rules, in debug mode.  told: see `CommonSupport.told`.
    """
    knowledge = owner.knowledge
    support = ForwardSupport(
        complete=completion(lambda: forward_results(support), knowledge.oracle, knowledge.sample),
        **_common(owner, "forward", calls, watch, told),
        straight=owner.partials.straight,
        text=texts.text,
        fresh_tangent=fresh_tangent,
        known=Context.known_tangent,
        kept=Context.kept_tangent,
        given=Context.given_tangent,
        append_tangent=slots.append_tangent,
        function=function_tangent,
        captured=captured,
        item=item_tangent,
        fill_tangent=fill_tangent,
        fit_number=fit_number,
        fit_array=arrays.fit,
        own_array=arrays.own_array,
        fill_array=arrays.filled,
        make_tuple=make_tuple,
        item_slot=slots.item_slot_tangent,
        field_slot=slots.field_slot_tangent,
        record_slot=slots.record_slot_tangent,
        check_kept=fields.check_kept,
        is_instance=asked_classes.is_instance,
        default_fields=fields.default_fields,
        put_field=slots.put_field_tangent,
        kept_number=slots.kept_number,
        set_field=fields.SET.frule,
        bound=slots.bound_tangent,
        caught=exceptions.caught,
        passed=exceptions.passed,
        formulas=watch is None,
    )
    return support if watch is None else dataclasses.replace(support, rule=watch.frule)


def item(whole: Any, index: int) -> Any:
    """The shadow or rdata of an element of a tuple, None if the tuple has none."""
    return None if whole is None else whole[index]


def item_tangent(whole: Any, index: int) -> Any:
    """The tangent of an element of a tuple, None for zero."""
    if whole is None or whole is NO_TANGENT:
        return None
    part = whole[index]
    return None if part is NO_TANGENT else part


def make_tuple(xs: tuple[Any, ...], dxs: tuple[Any, ...]) -> Any:
    """The tangent of a tuple: None if all of it is zero, else with a real tangent for each element."""
    if all(d is None for d in dxs):
        return None
    return tuple(map(fill_tangent, xs, dxs))


def fit_number(d: Any, x: Any) -> Any:
    """`d` as the tangent of `x`, a real number."""
    if d.__class__ is type(x):
        return d
    fitted = project(d, x)  # what follows is in Python, for a derivative of this one follows it
    return 0.0 if fitted is None or fitted is NO_TANGENT else fitted
