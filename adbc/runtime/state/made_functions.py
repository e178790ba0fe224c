"""Functions that differentiated code makes: their shadows and tangents, and those of their defaults."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

from adbc.runtime.state.activity import is_active
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent, fill_tangent, slot_rdata, slot_tangent
from adbc.tangents.walk import is_address_tangent

__all__ = ["defaults_pullback", "function_shadow", "function_tangent"]


def function_shadow(
    context: Context, function: types.FunctionType, cells: Any, defaults: Any, kwdefaults: Any
) -> Any:
    """The shadow of a function that was just made: its cells by name, and its defaults."""
    return _of_function(context, function, cells, defaults, kwdefaults, slot_tangent)


def function_tangent(
    context: Context, function: types.FunctionType, cells: Any, defaults: Any, kwdefaults: Any
) -> Any:
    """The tangent of a function that was just made: those of its cells by name, and of its defaults."""
    return _of_function(context, function, cells, defaults, kwdefaults, fill_tangent)


def _of_function(
    context: Context,
    function: types.FunctionType,
    cells: Any,
    defaults: Any,
    kwdefaults: Any,
    fill: Callable[[Any, Any], Any],
) -> Any:
    kept: dict[str, Any] = {}
    if function.__defaults__ and defaults is not None:
        _register_defaults(context, function.__defaults__, defaults)
        if any(map(_is_kept, defaults)):
            kept["__defaults__"] = tuple(map(fill, function.__defaults__, defaults))
    if function.__kwdefaults__ and kwdefaults is not None:
        shadows = [kwdefaults[name] for name in function.__kwdefaults__]
        _register_defaults(context, function.__kwdefaults__.values(), shadows)
        if any(map(_is_kept, shadows)):
            kept["__kwdefaults__"] = kwdefaults
    if cells is None:
        cells = (None,) * len(function.__closure__ or ())
    tangent = MutableTangent()
    for name, cell, shadow in zip(
        function.__code__.co_freevars, function.__closure__ or (), cells, strict=True
    ):
        tangent.__dict__[name] = context.shadows.tangent(cell) if shadow is None else shadow
    if kept:
        tangent.__dict__.update(kept)
        with_active_defaults.add(function)
    context.shadows.register(function, tangent)
    return tangent


def _is_kept(shadow: Any) -> bool:
    """Whether a default has a derivative, or memory that may come to have one: whoever asks whether one is
    reached from the function is to find it there."""
    if shadow is None or shadow is NO_TANGENT:
        return False
    return is_address_tangent(type(shadow)) or is_active(shadow)


def _register_defaults(context: Context, values: Iterable[Any], shadows: Iterable[Any]) -> None:
    for value, shadow in zip(values, shadows, strict=True):
        if is_address_tangent(type(shadow)):
            context.shadows.register(value, shadow)


def defaults_pullback(shadow: Any) -> Callable[[Any], Any]:
    """What gives the defaults of a function with this shadow the cotangents that it has collected."""
    fields = getattr(shadow, "__dict__", {})
    return lambda bout: (slot_rdata(fields.get("__defaults__")),)
