"""Structured arrays that NumPy makes of lists of tuples: each tuple is one record, and stands for it field by
field.

The tangent has numbers of the tangents of the tuples where the array has numbers of the tuples, and what the
shadow of the array has received goes back to the tuples in the same way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import array_part, gather_tangent, give, new_shadow
from adbc.rules.sequences import Source
from adbc.tangents import NO_TANGENT
from adbc.tangents.array_memory import has_number_fields
from adbc.tangents.internal import in_order

__all__ = ["is_of_records", "records_shadow", "records_tangent"]


def is_of_records(out: Any) -> bool:
    """Whether `out` is a structured array with numbers in it."""
    return isinstance(out, np.ndarray) and out.dtype.kind == "V" and has_number_fields(out.dtype)


def records_tangent(x: Any, dx: Any, out: Any) -> Any:
    """The tangent of `out`, the structured array that is made of the list or tuple `x` with tangent `dx`."""
    tangent = new_shadow(out, True)
    _fill(tangent, x, dx)
    return tangent


def records_shadow(x: Any, f: Any, out: Any) -> tuple[Any, Callable[[], Any]]:
    """The shadow of `out`, the structured array that is made of the list or tuple `x` with shadow `f`, and a
    function that gives `x` what that has received: it returns the rdata of `x`."""
    shadow = new_shadow(out, True)
    return shadow, _giving(shadow, x, f)


def _fill(whole: Any, x: Any, dx: Any) -> None:
    """Write `dx`, the tangent of the list or tuple `x`, into the array or record `whole`."""
    if dx is None or dx is NO_TANGENT:
        return
    parts = _parts(whole, x)
    for (at, field), xi, di in zip(parts, x, in_order(x, dx), strict=True):
        if isinstance(field, np.ndarray | np.void) and field.dtype.names is not None:
            _fill(field, xi, di)
        elif field.dtype.kind in "fc":
            given = gather_tangent(xi, array_part(di))
            if getattr(given, "is_batch", False):
                raise UnsupportedError(
                    f"a batch of tangents goes into an array of dtype {whole.dtype}",
                    "its fields have no place for several tangents",
                    "call adbc.jvp for one tangent at a time",
                )
            if given is not None:
                whole[at] = given


def _giving(whole: Any, x: Any, f: Any) -> Callable[[], Any]:
    """What gives the list or tuple `x`, whose shadow is `f`, that which stands in the array or record
    `whole` then."""
    parts = _parts(whole, x)
    source = Source(x, f)
    givers: list[Callable[[], Any]] = []
    for (at, field), xi, fi in zip(parts, x, source.shadows, strict=True):
        if fi is None:
            givers.append(_nothing)
        elif isinstance(field, np.ndarray | np.void) and field.dtype.names is not None:
            givers.append(_giving(field, xi, fi))
        elif field.dtype.kind in "fc":
            givers.append(functools.partial(_give_field, fi, xi, whole, at))
        else:
            givers.append(_nothing)
    return lambda: source.give([give_part() for give_part in givers])


def _give_field(f: Any, x: Any, whole: Any, at: Any) -> Any:
    return give(f, x, whole[at])


def _nothing() -> None:
    return None


def _parts(whole: Any, x: Any) -> list[tuple[Any, Any]]:
    """The places in the array or record `whole` that the elements of `x` stand for, with what is there.

    Raises `UnsupportedError` if `x` is something else than a tuple for a record, or than a list of as many
    elements for an array.
    """
    is_array = isinstance(whole, np.ndarray) and whole.ndim > 0
    if is_array:
        fits = isinstance(x, list | tuple) and len(x) == len(whole)
    else:
        fits = type(x) is tuple and len(x) == len(whole.dtype.names)
    if not fits:
        raise UnsupportedError(
            f"a {type(x).__name__} with a derivative becomes a part of an array of dtype {whole.dtype}",
            "only tuples with a number for each field are followed there",
            "make the array with np.empty, and write its fields",
        )
    if not is_array and isinstance(whole, np.ndarray):
        whole = whole[()]
    return [(at, whole[at]) for at in (range(len(x)) if is_array else whole.dtype.names)]
