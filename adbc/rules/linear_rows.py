"""Rows of what pullbacks are written with, where they are differentiated once more.

To fit a cotangent to a value, or to add it to a shadow, is linear in the cotangent, and what else is looked
at are classes, shapes and dtypes.  So its tangent is what the same function makes of the tangent, and is
added to the tangent of the shadow; on the way back its cotangent is what the shadow of the shadow has there.
Followed like code of the user's, each would be some ten calls that are decided when they run, and a dozen
rules to build before the first result.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from adbc.errors import ConstWriteError
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule
from adbc.tangents import NO_FDATA, fresh_shadow, fresh_tangent, project
from adbc.tangents.activity_marks import mark_active
from adbc.tangents.internal import cotangent_of

__all__ = ["as_it_stands", "check_grown", "grows", "is_batched", "is_linear", "mutating"]


def as_it_stands(function: Any) -> Any:
    """Another function with the code of `function`, which has no row."""
    return types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )


def is_batched(d: Any) -> bool:
    """Whether `d` is a batch of tangents."""
    return getattr(d.__class__, "is_batch", False)


def is_part(out: Any, d: Any) -> bool:
    """Whether `out` lies in the memory of array `d`: its real part does."""
    numpy: Any = sys.modules.get("numpy")
    return (
        getattr(out, "base", None) is not None
        and d.__class__ is numpy.ndarray
        and numpy.may_share_memory(out, d)
    )


def is_linear(function: Callable[..., Any]) -> Rule:
    """The row of ``function(d, x, ...)``, which fits a cotangent `d`, a number or an array of numbers, to
    something: it is linear in `d`, and gives that itself, or a part or a sum of it."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        (d, *others), dd = args, dargs[0]
        out = function(d, *others, **kwargs)
        if out is None or out is d:
            return out, dd
        if dd is None:
            return out, None if is_part(out, d) else fresh_tangent(out)
        if is_batched(dd):
            from adbc.tangents.array_batches import lanewise  # it imports NumPy

            return out, lanewise(function, (dd, *others), kwargs)
        return out, function(dd, *others, **kwargs)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        (d, *others), fd = args, fargs[0]
        nothing = (None,) * (len(others) + len(kwargs))
        out = function(d, *others, **kwargs)
        if out is None or out is d:
            return out, fd, lambda bout: (bout if fd is NO_FDATA else None, *nothing)
        if is_part(out, d):
            return out, None if fd is None else function(fd, *others, **kwargs), lambda bout: (None, *nothing)
        fout = fresh_shadow(out, active=fd is not None)

        def back(bout: Any) -> Any:
            by = cotangent_of(fout, bout)
            return (None if by is None or fd is None else project(by, d, True), *nothing)

        return out, fout, back

    return Primitive(function, frule=frule, rrule=rrule)


def grows(function: Callable[..., Any], sign: int = 1) -> Rule:
    """The row of ``function(shadow, x, d)``, which lets the shadow of array `x` of numbers grow by `d`, or
    shrink if `sign` is -1."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        (shadow, x, d), (over, _, dd) = args, dargs
        if shadow is None:
            return None, None
        function(shadow, x, d)
        if dd is not None:
            check_grown(over)
            if is_batched(over):
                from adbc.tangents.array_batches import lane  # it imports NumPy

                for n in range(over.width):
                    function(over.data[n], x, lane(dd, n))
            else:
                function(over, x, dd)
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        (shadow, x, d), (over, _, fd) = args, fargs
        if shadow is None:
            return None, None, lambda bout: (None, None, None)
        if fd is not None:
            check_grown(over)
        old = shadow.copy()
        function(shadow, x, d)

        def back(bout: Any) -> Any:
            shadow[...] = old
            return None, None, None if fd is None else project(over if sign > 0 else -over, d, True)

        return None, None, back

    return mutating(Primitive(function, frule=frule, rrule=rrule))


def mutating(row: Rule) -> Rule:
    """Return `row`, marked as one that changes an argument."""
    row.mutates = True
    return row


def check_grown(over: Any) -> None:
    """Raise if the shadow that a cotangent with a derivative is added to is a constant of the outer level."""
    if over is None:
        raise ConstWriteError(
            "a cotangent that has a derivative is added to a shadow that is constant",
            "its derivative would be lost",
        )
    mark_active(over)
