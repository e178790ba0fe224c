"""The functions that generated code calls, put together for the builders."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from adbc.errors import AdbcError, UnsupportedError
from adbc.forward import ForwardSupport
from adbc.reverse import Support
from adbc.runtime import fields, slots
from adbc.runtime.activity import is_active
from adbc.runtime.attributes import PROTOCOLS
from adbc.runtime.closures import freevar, freevar_shadow
from adbc.runtime.context import Context
from adbc.runtime.forward_calls import ForwardCalls
from adbc.runtime.resolve import OPERATORS
from adbc.runtime.reverse_calls import ReverseCalls
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    MutableTangent,
    add,
    fill_tangent,
    fresh_shadow,
    fresh_tangent,
)
from adbc.tangents.walk import is_address_tangent

__all__ = ["forward_support", "reverse_support"]

ALL_PROTOCOLS: dict[Any, Any] = {**OPERATORS, **PROTOCOLS}

_ABSENT = object()


def reverse_support(engine: Any) -> Support:
    calls = ReverseCalls(engine, ALL_PROTOCOLS)
    engine.reverse_calls = calls
    return Support(
        knowledge=engine,
        derived=lambda binding, types_, active: engine.static_entry(binding, types_, active, "reverse"),
        partial=engine.partial,
        call=calls.call,
        attempt=calls.attempt,
        protocol=calls.handler,
        fresh_shadow=fresh_shadow,
        known_shadow=Context.known_shadow,
        function_shadow=function_shadow,
        freevar=freevar,
        freevar_shadow=freevar_shadow,
        store_global=global_store(engine),
        item_shadow=item,
        item_rdata=item,
        add_to_item=slots.add_to_item,
        add_to_field=slots.add_to_field,
        item_slot_shadow=slots.item_slot_shadow,
        field_slot_shadow=slots.field_slot_shadow,
        store_item=slots.store_item,
        store_field=slots.store_field,
        restore_item=slots.restore_item,
        restore_field=slots.restore_field,
        set_field=fields.SET.rrule,
        bound_shadow=slots.bound_shadow,
        sink=slots.sink,
        resumed_shadow=slots.resumed_shadow,
        add_to_slot=slots.add_to_slot,
        check_slot=slots.check_slot,
        restore_slot=slots.restore_slot,
        float_rdata=slots.as_float,
        real_rdata=real,
        add=add,
        no_fdata=NO_FDATA,
    )


def forward_support(engine: Any) -> ForwardSupport:
    calls = ForwardCalls(engine, ALL_PROTOCOLS)
    engine.forward_calls = calls
    return ForwardSupport(
        knowledge=engine,
        derived=lambda binding, types_, active: engine.static_entry(binding, types_, active, "forward"),
        partial=engine.partial,
        call=calls.call,
        protocol=calls.handler,
        fresh_tangent=fresh_tangent,
        known_tangent=Context.known_tangent,
        function_tangent=function_shadow,
        freevar=freevar,
        freevar_tangent=freevar_shadow,
        store_global=global_store(engine),
        item_tangent=item_tangent,
        make_tuple=make_tuple,
        item_slot_tangent=slots.item_slot_tangent,
        field_slot_tangent=slots.field_slot_tangent,
        item_number_tangent=slots.item_number_tangent,
        field_number_tangent=slots.field_number_tangent,
        store_item_tangent=slots.store_item_tangent,
        store_field_tangent=slots.store_field_tangent,
        bound_tangent=slots.bound_shadow,
        resumed_tangent=slots.resumed_shadow,
        slot_tangent=slots.load_tangent,
        check_slot=slots.check_slot,
        store_tangent=slots.store_tangent,
        pass_on=pass_on,
        real_tangent=real,
    )


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


def pass_on(error: BaseException) -> None:
    """Raise `error` again if it is a refusal: in a handler of the user's it would be taken for one of the
    user's own errors, and the derivative of another path would be given."""
    if isinstance(error, AdbcError):
        raise error


def real(derivative: Any) -> Any:
    """A derivative as a number."""
    return 0.0 if derivative is None or derivative is NO_TANGENT else derivative


def function_shadow(
    context: Context, function: types.FunctionType, cells: Any, defaults: Any, kwdefaults: Any
) -> Any:
    """The shadow of a function that was just made, in both modes: its cells by name.

    Defaults that hold memory are found again through their address (`Context.known_shadow`).
    """
    for values, shadows in ((function.__defaults__, defaults), (function.__kwdefaults__, kwdefaults)):
        if values and shadows is not None:
            _register_defaults(context, function, values, shadows)
    if function.__closure__ is None:
        return None
    if cells is None:
        cells = (None,) * len(function.__closure__)
    tangent = MutableTangent()
    for name, cell, shadow in zip(function.__code__.co_freevars, function.__closure__, cells, strict=True):
        tangent.__dict__[name] = context.shadows.tangent(cell) if shadow is None else shadow
    context.shadows.register(function, tangent)
    return tangent


def _register_defaults(context: Context, function: Any, values: Any, shadows: Any) -> None:
    if isinstance(values, dict):
        values, shadows = values.values(), [shadows[name] for name in values]
    for value, shadow in zip(values, shadows, strict=True):
        if shadow is None or shadow is NO_TANGENT:
            continue
        if not is_address_tangent(type(shadow)):
            if not is_active(shadow):
                continue
            raise UnsupportedError(
                f"{function.__qualname__} is made with a default value that has a derivative; pass the value"
                " as an argument, or read it from the enclosing function"
            )
        context.shadows.register(value, shadow)


def global_store(engine: Any) -> Callable[..., Any]:
    """The function for ``global name; name = value``, for values without a derivative.

    It gives what undoes it.  A global that generated code takes for fixed (a function that it calls)
    cannot be changed while that code runs.
    """

    def store_global(context: Context, namespace: dict[str, Any], name: str, value: Any, shadow: Any) -> Any:
        if is_active(shadow):
            raise UnsupportedError(
                f"global {name!r} is set to a value that has a derivative; a global outlives the call."
                " Return the"
                " value, or keep it in an object that is passed in."
            )
        old = namespace.get(name, _ABSENT)
        if old is not value and (id(namespace), name) in engine.guarded:
            raise UnsupportedError(
                f"global {name!r} is bound to something else while code that uses what it was bound to is"
                " being"
                " differentiated; bind it before the call, or pass the function or module as an argument"
            )
        context.shadows.adopt(value, shadow)  # it will be met again, as what the global holds
        namespace[name] = value

        def undo(_: object) -> None:
            if old is _ABSENT:
                namespace.pop(name, None)
            else:
                namespace[name] = old

        return undo

    return store_global
