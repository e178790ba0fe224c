"""Rules of functions that sort elements into bins, or find which of them are equal.

Which elements these are has no derivative; what is taken or added up has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.table import Overlay, Rule, TextRule, ZeroRule

__all__ = ["ROWS"]


# -- sums by bin -------------------------------------------------------------------------------------------


def bincount_jvp(d: Any, y: Any, x: Any, weights: Any = None, minlength: Any = 0, **_: Any) -> Any:
    return np.bincount(_places(x), d, minlength)


def bincount_vjp(by: Any, y: Any, x: Any, weights: Any = None, minlength: Any = 0, **_: Any) -> Any:
    return by[_places(x)]


def _places(x: Any) -> Any:
    """The bins in `x`: of the numbers in a list NumPy makes whole ones, of an array it wants no others."""
    x = np.asarray(x)
    return x.astype(np.intp) if x.dtype.kind == "f" else x


# -- equal elements ----------------------------------------------------------------------------------------


def found(ar: Any, axis: Any, options: Any) -> Any:
    """The places at which the different elements of an array stand first, in their order; the place of each
    element among these; and how often each occurs."""
    others = {name: option for name, option in options.items() if name != "sorted"}
    values, index, inverse, counts = np.unique(ar, True, True, True, axis, **others)
    if not options.get("sorted", True):  # an order of its own, which only the values show
        index = index[np.searchsorted(values, np.unique(ar, **options))]
    return index, inverse, counts


def without_derivative(
    ar: Any, return_index: bool, return_inverse: bool, return_counts: bool, axis: Any, options: Any
) -> Any:
    """``np.unique`` of an array of whole numbers, of text or the like."""
    of_array: Any = np.unique
    return of_array(ar, return_index, return_inverse, return_counts, axis, **options)


def _unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: Any = None, **options: Any,
) -> Any:  # fmt: skip
    ar = np.asanyarray(ar)
    if ar.dtype.kind not in "fcOV":
        return without_derivative(ar, return_index, return_inverse, return_counts, axis, options)
    has_more = return_index or return_inverse or return_counts or axis is not None
    if has_more and not options.get("sorted", True):
        raise UnsupportedError(
            "np.unique with sorted=False and other results",
            "the order of its elements is left open",
            "leave sorted=False out",
        )
    index, inverse, counts = found(ar, axis, options)
    values = np.ravel(ar)[index] if axis is None else np.take(ar, index, axis)
    results = [values]
    if return_index:
        results.append(index)
    if return_inverse:
        results.append(inverse)
    if return_counts:
        results.append(counts)
    return tuple(results) if len(results) > 1 else values


def _ix(*args: Any) -> Any:
    parts = []
    for k, given in enumerate(args):
        part = np.asarray(given)
        if part.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if part.dtype.kind == "b":
            part = np.nonzero(part)[0]
        elif part.size == 0 and not isinstance(given, np.ndarray):
            part = part.astype(np.intp)
        parts.append(np.reshape(part, (1,) * k + (part.size,) + (1,) * (len(args) - k - 1)))
    return tuple(parts)


TEXTS = ("format_float_positional", "format_float_scientific")

ROWS: list[Rule] = [
    ArrayRule(np.bincount, "x weights minlength", jvp=[None, bincount_jvp], vjp=[None, bincount_vjp]),
    ZeroRule(found),
    ZeroRule(without_derivative),
    Overlay(np.unique, _unique, when=plain),
    Overlay(np.ix_, _ix, when=plain),
    *(TextRule(getattr(np, name)) for name in TEXTS),
]
