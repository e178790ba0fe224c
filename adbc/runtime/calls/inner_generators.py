"""Generators that are made in a derivative which is differentiated once more.

They go on by the methods of `Generator`, which both levels follow.  What makes one is written here in Python
that can be followed.
"""

from __future__ import annotations

from typing import Any

from adbc.rules.table import Rule
from adbc.runtime.calls.generators import Generator, refuse_left_open
from adbc.runtime.calls.nested import apart
from adbc.runtime.state.closures import cells_of
from adbc.runtime.state.context import Context
from adbc.runtime.state.graph_functions import Segments
from adbc.tangents import NO_TANGENT, MutableTangent, fill_tangent, slot_tangent

__all__ = ["ROWS", "ended", "filled", "generator", "slotted", "with_cells"]


def generator(context: Context, segments: Segments, state: Any, beside: Any, name: str) -> Any:
    """A new generator with this initial `state`, and its shadow, in which `beside` is the tangent of that."""
    made = Generator(segments.functions, state, name, segments.code.co_qualname)
    shadow = MutableTangent()
    fields = shadow.__dict__
    for field in ("segments", "at", "is_running", "returned", "__name__", "__qualname__"):
        fields[field] = NO_TANGENT
    fields["state"] = beside
    register(context, made, shadow, segments)
    return made, shadow


def register(context: Context, made: Generator, shadow: MutableTangent, segments: Segments) -> None:
    """Let the inner level know a generator, and that it may have to be closed."""
    context.shadows.register(made, shadow)
    if segments.guarded:
        context.opening().append((made, segments))


def ended(context: Context) -> None:
    """Raise where the forwards pass of an inner level has come to its end, if a generator was left open."""
    refuse_left_open(context.opened)


def cells(function: Any) -> Any:
    """The cells of a function."""
    return function.__closure__ or ()


def cell_shadows(context: Context, function: Any, shadow: Any) -> Any:
    """What stands beside the cells of a function."""
    return tuple([beside for _, beside in cells_of(context, function, shadow)])


def with_cells(context: Context, function: Any, shadow: Any, values: Any, beside: Any) -> Any:
    """The initial state of a generator that `function` makes of the arguments `values`, and what stands
    beside it."""
    return (*values, *cells(function)), (*beside, *cell_shadows(context, function, shadow))


def filled(values: Any, tangents: Any) -> Any:
    """The tangent of a state, in forward mode."""
    return tuple([fill_tangent(x, d) for x, d in zip(values, tangents, strict=True)])


def slotted(values: Any, shadows: Any) -> Any:
    """The tangent of a state, in reverse mode."""
    return tuple([slot_tangent(x, f) for x, f in zip(values, shadows, strict=True)])


ROWS: list[Rule] = apart(register, ended, cells, cell_shadows)
