"""Cells of closures and their shadows, in both modes."""

from __future__ import annotations

import types
import weakref
from typing import Any

from adbc.runtime.state.context import Context
from adbc.tangents import NO_FDATA, NO_TANGENT

__all__ = ["captured", "cells_of", "freevar", "freevar_shadow", "with_active_defaults"]

with_active_defaults: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
"""Functions made while a derivative was taken whose defaults have a derivative: these are no constants."""


def freevar(function: types.FunctionType, index: int) -> types.CellType:
    """A cell of the closure of `function`."""
    cells = function.__closure__
    assert cells is not None
    return cells[index]


def freevar_shadow(context: Context, function: types.FunctionType, shadow: Any, index: int) -> Any:
    """The shadow of a cell of the closure of `function` (in forward mode its tangent)."""
    if shadow is None:  # found in a class: what is known of it is found by its address
        shadow = context.shadows.lookup(function)
    if shadow is not None and shadow is not NO_FDATA and shadow is not NO_TANGENT:
        known = shadow.__dict__.get(function.__code__.co_freevars[index])
        if known is not None and known is not NO_TANGENT:
            return known
    find = context.shadows.found if context.is_forward else context.shadows.known
    known = find(freevar(function, index))
    return None if known is NO_TANGENT else known  # a cell of a constant


def captured(context: Context, function: types.FunctionType, tangent: Any) -> tuple[Any, ...]:
    """The cells of `function`, each followed by its tangent.

    They are looked up once: a function keeps the cells that it was made with, and these their tangents.
    """
    try:
        known = context.captured[function]
        if known[0] is tangent:
            return known[1]
    except KeyError:
        pass
    parts = tuple([part for pair in cells_of(context, function, tangent) for part in pair])
    context.captured[function] = tangent, parts
    return parts


def cells_of(context: Context, function: types.FunctionType, shadow: Any) -> list[tuple[types.CellType, Any]]:
    """The cells of `function` with their shadows."""
    cells = function.__closure__ or ()
    return [(cell, freevar_shadow(context, function, shadow, i)) for i, cell in enumerate(cells)]
