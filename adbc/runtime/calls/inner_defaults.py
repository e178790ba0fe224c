"""Defaults of functions that are called in a derivative which is differentiated once more.

A default that is a constant at the inner level may be none at the outer one: a function made there has it.
So a way does not name the object that it has met, but reads it from the function, where the outer level finds
what stands beside it: by its address if it has memory, else in the shadow of the function.
"""

from __future__ import annotations

from typing import Any

from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Pullback, Rule, ZeroRule
from adbc.runtime.calls.nested import apart, closed_tangent
from adbc.runtime.state import made_functions
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent, slot_increment, slot_shadow, zero_tangent
from adbc.tangents.walk import is_address_tangent

__all__ = [
    "ROWS", "default_at", "default_of", "default_shadow", "default_tangent", "give_default", "itself",
    "place_of",
]  # fmt: skip


def place_of(function: Any, number: int) -> tuple[str, Any]:
    """Where the default of parameter `number` stands: the attribute of the function, and the key in that."""
    code = function.__code__
    if number < code.co_argcount:
        return "__defaults__", number - code.co_argcount + len(function.__defaults__)
    return "__kwdefaults__", code.co_varnames[number]


def itself(context: Context, function: Any) -> Any:
    """`function`, beside which stands at the outer level what its address leads to: for a way it may be a
    constant."""
    return function


def default_of(function: Any, name: str, key: Any) -> Any:
    """A default of `function` that is a value."""
    return getattr(function, name)[key]


def default_at(context: Context, function: Any, name: str, key: Any) -> Any:
    """A default of `function` that is found by its address.  Nothing else may have a derivative there: the
    context says that the outer level has to look."""
    return getattr(function, name)[key]


class _DefaultRule(Rule):
    """The row of `default_of`: beside the default stands what the shadow of the function has for it."""

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        found = slot_in(dargs[0], args[1], args[2])
        return default_of(*args), None if found is NO_TANGENT else found

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        shadow, name, key = fargs[0], args[1], args[2]
        value, found = default_of(*args), slot_in(shadow, name, key)
        if found is None:
            return value, None, lambda bout: (None, None, None)

        def default_pullback(bout: Any) -> tuple[Any, ...]:
            give_default(shadow, name, key, bout)
            return None, None, None

        return value, slot_shadow(found), default_pullback


def slot_in(shadow: Any, name: str, key: Any) -> Any:
    """What stands for a default in the shadow, or tangent, of a function; None if nothing does."""
    if type(shadow) is not MutableTangent:
        return None
    slots = getattr(shadow, name, None)
    return None if slots is None or slots is NO_TANGENT else slots[key]


# -- what is known of a default at the inner level -----------------------------------------------------------


def default_tangent(tangent: Any, name: str, key: Any) -> Any:
    """The tangent of a default, from that of the function; None for zero."""
    found = getattr(tangent, name)[key]
    return None if found is NO_TANGENT else found


def default_shadow(shadow: Any, name: str, key: Any) -> Any:
    """The shadow of a default, from that of the function."""
    return slot_shadow(getattr(shadow, name)[key])


def give_default(shadow: Any, name: str, key: Any, r: Any) -> None:
    """Add the cotangent `r` of a default to what the shadow of the function has for it."""
    if r is None:
        return
    slots = getattr(shadow, name)
    new = slot_increment(slots[key], r)
    if issubclass(type(slots), tuple):
        setattr(shadow, name, (*slots[:key], new, *slots[key + 1 :]))
    else:
        slots[key] = new


# -- functions that are made in forward mode -----------------------------------------------------------------


def function_tangent(context: Any, function: Any, cells: Any, defaults: Any, kwdefaults: Any) -> Any:
    """The tangent of a function that was just made, whose defaults have the derivatives of both levels."""
    made = closed_tangent(context, function, cells)
    if defaults is not None:
        register_defaults(context, function, "__defaults__", defaults)
        if are_values(defaults):
            parts = [zero_of(function, i) if t is None else t for i, t in enumerate(defaults)]
            made.__defaults__ = tuple(parts)
            note_defaults(function)
    if kwdefaults is not None:
        register_defaults(context, function, "__kwdefaults__", kwdefaults)
        if are_values(kwdefaults):
            made.__kwdefaults__ = kwdefaults
            note_defaults(function)
    return made


def register_defaults(context: Context, function: Any, name: str, tangents: Any) -> None:
    """Let the inner level know what stands beside defaults that are found by their addresses."""
    values = getattr(function, name)
    for key in values if issubclass(type(values), dict) else range(len(values)):
        if is_address_tangent(type(tangents[key])):
            context.shadows.register(values[key], tangents[key])


def are_values(tangents: Any) -> bool:
    """Whether one of the tangents of defaults is not found by the address of the default."""
    found = tangents.values() if issubclass(type(tangents), dict) else tangents
    return any(not (t is None or t is NO_TANGENT or is_address_tangent(type(t))) for t in found)


def zero_of(function: Any, number: int) -> Any:
    """The zero tangent of a default by position."""
    return zero_tangent(function.__defaults__[number])


def note_defaults(function: Any) -> None:
    """Note that `function` has defaults that are no constants."""
    with_active_defaults.add(function)


ROWS: list[Rule] = [
    _DefaultRule(default_of),
    Overlay(made_functions.function_tangent, function_tangent),
    ZeroRule(are_values, result=bool),
    ZeroRule(zero_of),
    ZeroRule(note_defaults),
    *apart(itself, default_at, register_defaults),
]
