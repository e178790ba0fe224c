"""Functions that leave out what is not a number: extrema, variances, medians and quantiles.

Where a call is of a form that the formulas do not cover, NumPy's lines are followed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.numpy.composed import are_floats, followed, formulas_of_quantiles
from adbc.rules.numpy.reductions import EXTREMUM, STD, VAR, kept, lines, reduction, unlines
from adbc.rules.numpy.sorting import ranks
from adbc.rules.quick import quick
from adbc.rules.table import Overlay, Rule
from adbc.tangents.array_products import multiply

__all__ = ["ROWS"]

# -- extrema -----------------------------------------------------------------------------------------------


@quick
def _nanmax_of(a: Any, axis: Any, keepdims: Any) -> Any:
    return np.nanmax(a, axis, keepdims=keepdims)


@quick
def _nanmin_of(a: Any, axis: Any, keepdims: Any) -> Any:
    return np.nanmin(a, axis, keepdims=keepdims)


_lines_of_nanmax, _lines_of_nanmin = followed(np.nanmax), followed(np.nanmin)


def _options(keepdims: Any, initial: Any, where: Any) -> dict[str, Any]:
    """What NumPy's functions are given by name: of what was not given they want to see nothing."""
    given = {"keepdims": keepdims, "initial": initial, "where": where}
    return {name: option for name, option in given.items() if option is not None}


def _nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, initial: Any = None, where: Any = None
) -> Any:
    if out is None and initial is None and where is None and are_floats(a):
        return _nanmax_of(a, axis, keepdims is not None and bool(keepdims))
    return _lines_of_nanmax(a, axis, out, **_options(keepdims, initial, where))


def _nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, initial: Any = None, where: Any = None
) -> Any:
    if out is None and initial is None and where is None and are_floats(a):
        return _nanmin_of(a, axis, keepdims is not None and bool(keepdims))
    return _lines_of_nanmin(a, axis, out, **_options(keepdims, initial, where))


# -- variances ---------------------------------------------------------------------------------------------


@quick
def _nanvar_of(a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    return np.nanvar(a, axis, None, None, ddof, keepdims)


@quick
def _nanstd_of(a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    return np.nanstd(a, axis, None, None, ddof, keepdims)


def _skipping(formulas: Any) -> Any:
    """The formulas of a moment, of the elements that are numbers."""
    along, against = formulas

    def jvp(d: Any, y: Any, a: Any, **others: Any) -> Any:
        mask = ~np.isnan(a)
        return along(np.where(mask, d, 0), y, np.where(mask, a, 0), where=mask, **others)

    def vjp(by: Any, y: Any, a: Any, **others: Any) -> Any:
        mask = ~np.isnan(a)
        return against(by, y, np.where(mask, a, 0), where=mask, **others)

    return jvp, vjp


_lines_of_nanvar, _lines_of_nanstd = followed(np.nanvar), followed(np.nanstd)


def _nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False,
    **others: Any,
) -> Any:  # fmt: skip
    if dtype is None and out is None and not others and are_floats(a):
        return _nanvar_of(a, axis, ddof, keepdims)
    return _lines_of_nanvar(a, axis, dtype, out, ddof, keepdims, **others)


def _nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False,
    **others: Any,
) -> Any:  # fmt: skip
    if dtype is None and out is None and not others and are_floats(a):
        return _nanstd_of(a, axis, ddof, keepdims)
    return _lines_of_nanstd(a, axis, dtype, out, ddof, keepdims, **others)


# -- medians and quantiles ---------------------------------------------------------------------------------


@quick
def _nanmedian_of(a: Any, axis: Any, keepdims: Any) -> Any:
    return np.nanmedian(a, axis, keepdims=keepdims)


def _middle(a: Any, axis: Any) -> Any:
    """The weight of each element in a median of those that are numbers."""
    flat = lines(a, axis)
    n = np.sum(~np.isnan(flat), axis=-1, keepdims=True)
    rank = ranks(flat)  # in which what is not a number comes last
    weight = 0.5 * (rank == (n - 1) // 2) + 0.5 * (rank == n // 2)
    return unlines(np.where(n > 0, weight, 0.0), a, axis)


def nanmedian_jvp(d: Any, y: Any, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return np.sum(multiply(_middle(a, axis), d), axis=axis, keepdims=keepdims)


def nanmedian_vjp(by: Any, y: Any, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _middle(a, axis) * kept(by, a, axis)


_lines_of_nanmedian = followed(np.nanmedian)


def _nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    if out is None and not overwrite_input and are_floats(a):
        return _nanmedian_of(a, axis, keepdims)
    return _lines_of_nanmedian(a, axis, out, overwrite_input, keepdims)


@quick
def _nanquantile_of(a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    return np.nanquantile(a, q, axis, keepdims=keepdims)


@quick
def _nanpercentile_of(a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    return np.nanpercentile(a, q, axis, keepdims=keepdims)


_lines_of_nanquantile, _lines_of_nanpercentile = followed(np.nanquantile), followed(np.nanpercentile)


def _nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False, **others: Any,
) -> Any:  # fmt: skip
    is_linear = method == "linear" and not others and out is None and not overwrite_input
    if is_linear and are_floats(a) and type(q) is not complex:
        return _nanquantile_of(a, q, axis, keepdims)
    return _lines_of_nanquantile(a, q, axis, out, overwrite_input, method, keepdims, **others)


def _nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False, **others: Any,
) -> Any:  # fmt: skip
    is_linear = method == "linear" and not others and out is None and not overwrite_input
    if is_linear and are_floats(a) and type(q) is not complex:
        return _nanpercentile_of(a, q, axis, keepdims)
    return _lines_of_nanpercentile(a, q, axis, out, overwrite_input, method, keepdims, **others)


_BY_SHARE = formulas_of_quantiles(1.0, skips=True)
_BY_PERCENT = formulas_of_quantiles(100.0, skips=True)

ROWS: list[Rule] = [
    reduction(_nanmax_of, "a axis keepdims", EXTREMUM),
    reduction(_nanmin_of, "a axis keepdims", EXTREMUM),
    reduction(_nanvar_of, "a axis ddof keepdims", _skipping(VAR)),
    reduction(_nanstd_of, "a axis ddof keepdims", _skipping(STD)),
    ArrayRule(_nanmedian_of, "a axis keepdims", jvp=[nanmedian_jvp], vjp=[nanmedian_vjp]),
    ArrayRule(_nanquantile_of, "a q axis keepdims", jvp=_BY_SHARE[0], vjp=_BY_SHARE[1]),
    ArrayRule(_nanpercentile_of, "a q axis keepdims", jvp=_BY_PERCENT[0], vjp=_BY_PERCENT[1]),
    Overlay(np.nanmax, _nanmax, when=plain),
    Overlay(np.nanmin, _nanmin, when=plain),
    Overlay(np.nanvar, _nanvar, when=plain),
    Overlay(np.nanstd, _nanstd, when=plain),
    Overlay(np.nanmedian, _nanmedian, when=plain),
    Overlay(np.nanquantile, _nanquantile, when=plain),
    Overlay(np.nanpercentile, _nanpercentile, when=plain),
]
