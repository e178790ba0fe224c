"""Derivatives of derivatives: what a call of one of adbc's own functions leads to where it is differentiated.

Where a function that is differentiated takes a derivative, the inner derivative is built for the types at
hand,
and the outer mode differentiates its code as it would that of the user.  The inner level has a context and
shadows of its own, which are objects like any other to the outer level; so neither sees what is the other's.

What inner code calls of the runtime is of three kinds:

- what computes with numbers, shadows and cotangents is followed like code of the user's;
- what looks at classes alone has a zero derivative (`ZERO`);
- what keeps the books of a level, its context and its memo of shadows, stands *apart* (`APART`): it is
  called as
  it is, and what it gives has its derivative by its address, for a memo leads from object to object and is
  never asked for a number.

All else is refused (`is_machinery`): a derivative is never lost there.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from adbc.cpython.libraries import is_library_class
from adbc.ir import intrinsics
from adbc.rules import recollections
from adbc.rules.declared import LOOKING, contents_before
from adbc.rules.kinds import RowKind
from adbc.rules.lookup import derived_body
from adbc.rules.table import Args, Overlay, Rule, ZeroRule
from adbc.runtime.calls.asked_classes import is_instance
from adbc.runtime.calls.classes import SLOW
from adbc.runtime.calls.exceptions import caught, passed
from adbc.runtime.calls.fields import OWN
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import nested
from adbc.runtime.state import array_shadows, closures
from adbc.runtime.state.activity import keeps_lists, note_inactive, number_shadow
from adbc.runtime.state.closures import freevar
from adbc.runtime.state.context import Context
from adbc.runtime.state.globals import check_global
from adbc.runtime.state.made_functions import function_shadow, function_tangent
from adbc.runtime.state.shadows import Shadows
from adbc.tangents import NO_FDATA, NO_TANGENT, MutableTangent, fill_tangent, internal, protocol, walk
from adbc.tangents import activity_marks as marks
from adbc.tangents.iterators import shown_by, steps_left
from adbc.tangents.keys import put_off
from adbc.tangents.protocol import kind_of

__all__ = [
    "FOLLOWED",
    "LEAVING",
    "ROWS",
    "ApartRule",
    "adopt_all",
    "apart",
    "followed",
    "is_machinery",
    "leaves_memory",
]

Maker = Callable[[Any, Context, Call], Call]
FOLLOWED: dict[Any, Maker] = {}
"""By function that differentiates, or by class of what one has made: ``maker(calls, context, call)`` gives
the call of a function in Python that computes the same, which is made in its place."""

LEAVING: set[Any] = set()
"""Functions that differentiate, or only make what does, and classes of that: their calls leave memory as it
was."""


def followed(call: Call) -> Maker:
    """What says how `call`, of a function that differentiates, is followed; raises if nothing does."""
    function = call.function
    known = FOLLOWED.get(function) if type(function) is types.FunctionType else None
    maker = known or FOLLOWED.get(type(function))
    if maker is None:
        raise nested(function)
    return maker


def leaves_memory(function: Any) -> bool:
    """Whether a call of `function`, which differentiates, leaves all memory as it was."""
    return type(function) in LEAVING or (type(function) is types.FunctionType and function in LEAVING)


_MACHINERY = (
    "adbc.types", "adbc.lift", "adbc.passes", "adbc.emit", "adbc.cpython",
    "adbc.runtime.build", "adbc.runtime.cold", "adbc.runtime.entry", "adbc.runtime.state",
    "adbc.runtime.report",
    *[
        f"adbc.runtime.calls.{name}"
        for name in (
            "binding", "dispatched", "driver", "foreign", "forward", "in_c", "iterating", "known_functions",
            "lost_arguments", "plain", "replaying",
            "plain_functions", "plans", "reading", "resolve", "reverse", "steps",
        )
    ],
)  # fmt: skip
_FOLLOWED = frozenset(
    {
        "adbc.passes.normal.managers",  # what throws into the generator of a manager is code of the program
        "adbc.runtime.state.slots", "adbc.runtime.state.array_shadows", "adbc.runtime.state.made_functions",
        "adbc.runtime.build.support", "adbc.runtime.entry.held", "adbc.runtime.entry.nested",
        "adbc.runtime.entry.nested_rules",
        "adbc.runtime.entry.results", "adbc.types.attributes", "adbc.types.operators", "adbc.types.records",
    }
)  # fmt: skip


def is_machinery(function: Any) -> bool:
    """Whether `function`, written in Python, belongs to what differentiates, and is not followed."""
    if type(function) is not types.FunctionType:
        return False
    name = function.__globals__.get("__name__") or ""
    return name.startswith(_MACHINERY) and name not in _FOLLOWED


def adopt_all(context: Context, call: Call) -> None:
    """Let the memo know the objects among the arguments of `call`, and all inside them."""
    shadows = context.shadows
    for x, f in zip(call.args, call.shadows, strict=True):
        if f is None and kind_of(type(x)).address:
            f = shadows.lookup(x)
        if f is not None and f is not NO_TANGENT and f is not NO_FDATA:
            shadows.adopt(x, f, anew=True)


def known_shadow(context: Context, x: Any) -> Any:
    """The shadow of `x`, by whose derivative nobody asks."""
    return context.known_shadow(x)


def known_tangent(context: Context, x: Any) -> Any:
    """The tangent of `x`, for which none is given; None for zero."""
    return context.known_tangent(x)


def instance(context: Context, obj: Any) -> Any:
    """The shadow, or tangent, of a new instance."""
    return context.instance_shadow(obj)


def fill_all(values: Any, tangents: Any) -> Any:
    """The tangent of a tuple of `values`."""
    return tuple([fill_tangent(x, d) for x, d in zip(values, tangents, strict=True)])


class ApartRule(Rule):
    """The row of a function that stands apart.

    at_once: ``at_once(context, args, beside)`` gives the result and what stands beside it where the arguments
    say that, else `SLOW`.  It saves looking for all that the arguments reach.
    """

    kind = RowKind.PRIMITIVE
    is_apart = True

    def __init__(self, function: Any, at_once: Callable[..., Any] | None = None) -> None:
        super().__init__(function)
        self.at_once = at_once


def apart(*functions: Any) -> list[Rule]:
    """Rows of functions that stand apart."""
    return [ApartRule(function) for function in functions]


def _cell(context: Context, args: Args, beside: Args) -> Any:
    """A cell of a function, and what stands beside it for the outer level."""
    function, index = args
    return freevar(function, index), closures.freevar_shadow(context, function, beside[0], index)


def _cell_shadow(context: Context, args: Args, beside: Args) -> Any:
    """The shadow of a cell, which is in that of the function, and what stands beside it there."""
    _, function, shadow, index = args
    over = beside[2]
    if shadow.__class__ is not MutableTangent or over.__class__ is not MutableTangent:
        return SLOW
    name = function.__code__.co_freevars[index]
    known, found = shadow.__dict__.get(name), over.__dict__.get(name)
    if known is None or known is NO_TANGENT or found is None or found is NO_TANGENT:
        return SLOW
    return known, found


def closed_tangent(context: Context, function: Any, cells: Any) -> Any:
    """The tangent of a function that was just made, of which only the cells have one."""
    return function_tangent(context, function, cells, None, None)


_STRUCTURAL: tuple[Any, ...] = (
    kind_of, internal._hook, protocol._classify, marks.mark_active,
    marks.mark_inactive, note_inactive, number_shadow, internal.fresh_shadow,
    internal.fresh_tangent, put_off, recollections.note,
)  # fmt: skip
"""Functions that look at classes and structure alone."""

_QUESTIONS = (
    walk.is_address_tangent, keeps_lists, is_library_class, array_shadows.are_finite, is_instance,
    recollections.is_left, marks.is_inactive,
)  # fmt: skip
"""Functions that do so and answer with yes or no."""

_ARITHMETIC = (intrinsics._nonzero_, intrinsics._product_, intrinsics._quotient_)
"""Functions of numbers in formulas, which written code calls where its own lines for them do not do."""

ROWS: list[Rule] = [
    Overlay(array_shadows.times, array_shadows.times_followed),
    OWN,
    *[Overlay(function, derived_body(function) or function) for function in _ARITHMETIC],
    *[ZeroRule(function) for function in (*_STRUCTURAL, *LOOKING)],
    *[ZeroRule(function, result=bool) for function in _QUESTIONS],
    ApartRule(freevar, _cell),
    ApartRule(closures.freevar_shadow, _cell_shadow),
    *apart(
        Context, Context.known_shadow, Context.known_tangent, Context.given_shadow, Context.given_tangent,
        Context.instance_shadow, Context.met,
        Context.kept_shadow, Context.kept_tangent, Context.note_kept, Context.met_before,
        Context.keep, Context.go_in, Context.is_active, Context.class_fields,
        Context.found_default, Context.keep_default,
        Shadows.tangent, Shadows.found, Shadows.known, Shadows.register, Shadows.adopt, Shadows.lookup,
        Shadows.hold_constant, Shadows.hold_if_free, Shadows.is_constant,
        closures.captured, check_global, function_shadow, caught,
        passed, contents_before, shown_by, steps_left, known_shadow, known_tangent, instance, closed_tangent,
    ),
]  # fmt: skip
