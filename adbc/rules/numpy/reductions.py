"""Rules of reductions along axes, and of cumulative sums and products.

Ties: ``max`` and ``min`` follow the first extremum in the order of the axes.  ``std`` of constant
data has derivative 0.  ``prod`` and ``cumprod`` are right with zeros among the factors.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.rules.formulas import Formula, FormulaCall, function_of
from adbc.rules.numpy.base import shaped
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.reduction_rule import ReductionRule
from adbc.rules.quick import quick
from adbc.rules.table import Rule
from adbc.tangents.array_products import divide, is_finite, multiply

__all__ = ["QUICK", "ROWS", "Formulas", "axes_of", "kept", "lines", "unlines"]

Formulas = tuple[Callable[..., Any], Formula | Callable[..., Any]]


def axes_of(x: Any, axis: Any) -> tuple[int, ...]:
    """The axes that `axis` means, as non-negative numbers in order."""
    ndim = np.ndim(x)
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, tuple):
        return tuple(sorted(a % ndim for a in axis))
    return (axis % ndim,) if ndim else ()


def kept(by: Any, x: Any, axis: Any) -> Any:
    """An array `by` of the shape of a reduction of `x` along `axis`, with reduced axes kept as length 1."""
    axes = axes_of(x, axis)
    return np.reshape(by, tuple(1 if i in axes else n for i, n in enumerate(np.shape(x))))


def spread(by: Any, x: Any, axis: Any) -> Any:
    """An array `by` of the shape of a reduction of `x`, repeated along the reduced axes."""
    return np.broadcast_to(kept(by, x, axis), np.shape(x))


def _order(x: Any, axis: Any) -> tuple[int, ...]:
    """The axes of `x`, those that `axis` means last."""
    axes = axes_of(x, axis)
    return tuple(i for i in range(np.ndim(x)) if i not in axes) + axes


def lines(x: Any, axis: Any) -> Any:
    """The array `x` with all that lies along `axis` (one, several or None) on its last axis."""
    kept_axes = np.ndim(x) - len(axes_of(x, axis))
    moved = np.transpose(x, _order(x, axis))
    return moved.reshape((*moved.shape[:kept_axes], math.prod(moved.shape[kept_axes:])))


def unlines(flat: Any, x: Any, axis: Any) -> Any:
    """The inverse of `lines`, for something with the elements of `x`."""
    order = _order(x, axis)
    shape = [np.shape(x)[i] for i in order]
    return np.transpose(flat.reshape(shape), np.argsort(np.array(order, int)))


def masked(d: Any, where: Any) -> Any:
    """The elements of `d` where the mask `where` is on, else 0."""
    return d if where is True else np.where(where, d, 0)


# -- sums and means --------------------------------------------------------------------------------------


def sum_jvp(
    d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **_: Any
) -> Any:
    if where is True and d.__class__ is np.ndarray:
        return _SUM(d, axis, None, None, keepdims)
    return np.sum(d, axis=axis, keepdims=keepdims, where=where)


def widened(by: Any, shape: tuple[int, ...], /, axis: Any = None, keepdims: Any = False, **_: Any) -> Any:
    """The cotangent `by` of a reduction of an array of `shape`, with reduced axes kept as length 1."""
    if keepdims is True or axis is None or not shape:  # a number may be given an axis too
        return by
    wide = list(shape)
    for i in axis if type(axis) is tuple else (axis,):
        wide[i] = 1
    return by.reshape(wide)


def sum_back(by: Any, shape: tuple[int, ...], /, where: Any = True, **others: Any) -> Any:
    by = np.asarray(by)
    d = np.empty(shape, by.dtype)
    d[...] = widened(by, shape, **others)
    return masked(d, where)


SUM_FORMULA = shaped(sum_back, makes_new=True)


def counted(x: Any, axis: Any, where: Any, keepdims: Any) -> Any:
    """The number of elements that a reduction of `x` takes together."""
    if where is True and axis is None:
        return np.size(x)
    if where is True:
        count = 1
        for i in axes_of(x, axis):
            count *= np.shape(x)[i]
        return count
    return np.sum(np.broadcast_to(where, np.shape(x)), axis=axis, keepdims=keepdims)


def mean_jvp(
    d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **_: Any
) -> Any:
    return sum_jvp(d, y, x, axis, keepdims, where) / counted(x, axis, where, keepdims)


def mean_vjp(by: Any, y: Any, x: Any, axis: Any = None, where: Any = True, **_: Any) -> Any:
    count = counted(x, axis, where, True)
    return masked(np.broadcast_to(kept(by, x, axis) / count, np.shape(x)), where)


def _share(by: Any, shape: tuple[int, ...], /, axis: Any = None, **others: Any) -> Any:
    """The cotangent `by` of a mean of an array of `shape`, divided by the number of elements in each mean."""
    axes = range(len(shape)) if axis is None else axis if type(axis) is tuple else (axis,)
    return by / max(math.prod([shape[i] for i in axes]), 1)  # there is none of an empty array to be wrong


def mean_back(by: Any, shape: tuple[int, ...], /, **others: Any) -> Any:
    return sum_back(_share(by, shape, **others), shape, **others)


_PLAIN_MEAN = shaped(mean_back, makes_new=True)


def deviation(x: Any, axis: Any, where: Any, mean: Any, dtype: Any) -> Any:
    """The array `x` minus its mean along `axis`, which of complex numbers may be asked for as a real one."""
    if mean is not None:
        return x - mean
    return x - np.mean(x, axis=axis, dtype=dtype, keepdims=True, where=where)


def freedom(x: Any, axis: Any, where: Any, keepdims: Any, ddof: Any, correction: Any) -> Any:
    """The divisor of a variance."""
    count = counted(x, axis, where, keepdims)
    return np.maximum(count - (ddof if correction is None else correction), 0)


def var_jvp(
    d: Any, y: Any, x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False, where: Any = True,
    mean: Any = None, correction: Any = None, dtype: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """The tangent of a variance: the sum of 2 Re(conj(x - mean) dx) / n; that of the mean sums to zero.

    Of real numbers NumPy takes squares, also where their mean is complex.
    """
    off = deviation(x, axis, where, mean, dtype)
    terms = np.real(multiply(np.conjugate(off), d)) if np.iscomplexobj(x) else multiply(off, d)
    n = freedom(x, axis, where, keepdims, ddof, correction)
    return divide(2 * np.sum(terms, axis=axis, keepdims=keepdims, where=where), n)


def var_vjp(
    by: Any, y: Any, x: Any, axis: Any = None, ddof: Any = 0, where: Any = True,
    mean: Any = None, correction: Any = None, dtype: Any = None, **_: Any,
) -> Any:  # fmt: skip
    n = freedom(x, axis, where, True, ddof, correction)
    off = deviation(x, axis, where, mean, dtype)
    if np.iscomplexobj(x):
        by = np.real(by)  # of what is real, also where `dtype` makes it complex
    else:
        off = conj(off)
    return masked(multiply(2 * off, divide(kept(by, off, axis), n)), where)  # of a mean with more axes, too


def half_inverse(y: Any) -> Any:
    """The quotient 1 / (2 y), which is 0 where y is 0."""
    return np.where(y == 0, 0, 0.5 / np.where(y == 0, 1, y))


def std_jvp(d: Any, y: Any, x: Any, **others: Any) -> Any:
    return multiply(half_inverse(y), var_jvp(d, y, x, **others))


def std_vjp(by: Any, y: Any, x: Any, **others: Any) -> Any:
    return var_vjp(multiply(conj(half_inverse(y)), by), y, x, **others)


def _of_mean(formulas: Formulas) -> Formulas:
    """The formulas of the mean that a variance or deviation is taken around, by those of the array: what
    counts is the difference of the two."""
    along, against = map(function_of, formulas)
    assert along is not None
    assert against is not None
    return (
        lambda d, y, x, **others: -along(d, y, x, **others),
        lambda by, y, x, **others: -against(by, y, x, **others),
    )


def var_by_ddof(
    d: Any,
    y: Any,
    x: Any,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
    **_: Any,
) -> Any:
    """The derivative of a variance by what is taken off its divisor, times `d`, in both modes."""
    return multiply(d, divide(y, freedom(x, axis, where, keepdims, ddof, correction)))


def std_by_ddof(d: Any, y: Any, x: Any, **others: Any) -> Any:
    return 0.5 * var_by_ddof(d, y, x, **others)


# -- extrema ---------------------------------------------------------------------------------------------


def chosen(y: Any, x: Any, axis: Any, where: Any) -> Any:
    """The mask of the elements that are the extremum `y`: the first one along the reduced axes."""
    x = np.asarray(x, np.result_type(y))  # `dtype=`: in which they were compared
    peak = kept(y, x, axis)
    equal = np.logical_or(x == peak, np.logical_and(x != x, peak != peak))
    if where is not True:
        equal = np.logical_and(equal, where)
    flat = lines(equal, axis)
    first = np.logical_and(flat, np.cumsum(flat, axis=-1) == 1)
    return unlines(first, x, axis)


def extremum_jvp(
    d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **others: Any
) -> Any:
    if where is True and "initial" not in others and is_finite(y):  # so that it is one of the numbers
        equal = np.equal(x, y if keepdims is True else kept(y, x, axis))
        if np.count_nonzero(equal) == np.size(y):  # each has been found once
            return np.sum(np.where(equal, d, 0.0), axis=axis, keepdims=keepdims)
    return np.sum(np.where(chosen(y, x, axis, where), d, 0), axis=axis, keepdims=keepdims)


def extremum_vjp(by: Any, y: Any, x: Any, axis: Any = None, where: Any = True, **others: Any) -> Any:
    is_number = axis is None and (by.__class__ is float or by.__class__ is np.float64)
    if is_number and where is True and "initial" not in others and x.__class__ is np.ndarray:
        place = x.argmax()
        if x.item(place) != y:
            place = x.argmin()  # and where it is no number, the first that is none
        if x.item(place) == y or y != y:  # else those that are none have been passed over
            d = np.zeros(x.shape)
            d.reshape(-1)[place] = by
            return d
    if where is True and "initial" not in others and is_finite(y):  # so that it is one of the numbers
        peak, by_peak = (y, by) if others.get("keepdims") is True else (kept(y, x, axis), kept(by, x, axis))
        equal = np.equal(x, peak)
        if np.count_nonzero(equal) == np.size(y):  # each has been found once
            return np.where(equal, by_peak, 0.0)
    return np.where(chosen(y, x, axis, where), kept(by, x, axis), 0)


def ptp_jvp(d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, **_: Any) -> Any:
    high = extremum_jvp(d, np.max(x, axis, keepdims=keepdims), x, axis, keepdims)
    return high - extremum_jvp(d, np.min(x, axis, keepdims=keepdims), x, axis, keepdims)


def ptp_vjp(by: Any, y: Any, x: Any, axis: Any = None, **_: Any) -> Any:
    return extremum_vjp(by, np.max(x, axis), x, axis) - extremum_vjp(by, np.min(x, axis), x, axis)


# -- products --------------------------------------------------------------------------------------------


def others_product(x: Any, axis: Any, where: Any) -> Any:
    """For each element of `x`, the product of the others that are reduced together with it."""
    if where is not True:
        x = np.where(where, x, 1)
    axes = axes_of(x, axis)
    if len(axes) == 1 and x.__class__ is np.ndarray:
        return _others_along(x, axes[0])
    flat = lines(x, axis)
    return unlines(_others_along(flat, flat.ndim - 1), x, axis)


def _others_along(x: Any, axis: int) -> Any:
    """For each element of `x`, the product of the others along `axis`: of those before and those behind."""
    start, found = (slice(None),) * axis, np.ones_like(x)
    if x.shape[axis] > 1:
        _PRODUCTS(x[(*start, slice(-1))], axis, None, found[(*start, slice(1, None))])
        found[(*start, slice(-1))] *= _PRODUCTS(x[(*start, slice(None, 0, -1))], axis)[(*start, _BACK)]
    return found


_PRODUCTS: Any = np.multiply.accumulate
_BACK = slice(None, None, -1)


def multiplied(x: Any, y: Any) -> Any:
    """The factors of the product `y`: of complex numbers the real parts, if a real product was asked for."""
    return np.real(x) if np.iscomplexobj(x) and not np.iscomplexobj(y) else x


def prod_jvp(
    d: Any,
    y: Any,
    x: Any,
    axis: Any = None,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
    **_: Any,
) -> Any:
    x = multiplied(x, y)
    terms = multiply(others_product(x, axis, where), d)
    return np.sum(terms, axis=axis, keepdims=keepdims, where=where) * initial


def prod_vjp(by: Any, y: Any, x: Any, axis: Any = None, initial: Any = 1, where: Any = True, **_: Any) -> Any:
    others = others_product(multiplied(x, y), axis, where)
    if initial.__class__ is not int or initial != 1:
        others = others * initial
    wide = by if axis is None and np.ndim(by) == 0 else kept(by, x, axis)
    return masked(multiply(conj(others), wide), where)


# -- cumulative ------------------------------------------------------------------------------------------


def lined(x: Any, axis: Any) -> Any:
    """The array `x` with the cumulative axis last: flattened if `axis` is None."""
    return np.reshape(x, (1, -1))[0] if axis is None else np.moveaxis(x, axis, -1)


def unlined(d: Any, x: Any, axis: Any) -> Any:
    """The inverse of `lined`."""
    return np.reshape(d, np.shape(x)) if axis is None else np.moveaxis(d, -1, axis)


def cumsum_jvp(d: Any, y: Any, x: Any, axis: Any = None, **_: Any) -> Any:
    return np.cumsum(d, axis=axis)


def cumsum_back(by: Any, shape: tuple[int, ...], /, axis: Any = None, **_: Any) -> Any:
    """The cotangent of a cumulative sum: the cumulative sum from behind."""
    if axis is None or by.ndim == 1:
        return by[::-1].cumsum()[::-1].reshape(shape)
    return np.flip(np.cumsum(np.flip(by, axis), axis=axis), axis)


CUMSUM_FORMULA = shaped(cumsum_back)


def cumprod_jvp(d: Any, y: Any, x: Any, axis: Any = None, **_: Any) -> Any:
    """The tangent of a cumulative product: dy[k] = dy[k-1] x[k] + y[k-1] dx[k], which needs no division."""
    if np.ndim(x) == 0:
        return d
    flat, dx = lined(multiplied(x, y), axis), lined(d, axis)
    total, dtotal = np.ones_like(flat[..., 0:1]), np.zeros_like(dx[..., 0:1])
    parts = []
    for k in range(flat.shape[-1]):
        here = flat[..., k : k + 1]
        dtotal = dtotal * here + total * dx[..., k : k + 1]
        total = total * here
        parts.append(dtotal)
    moved = np.concatenate(parts, axis=-1) if parts else dx
    return moved if axis is None else np.moveaxis(moved, -1, axis)


def cumprod_vjp(by: Any, y: Any, x: Any, axis: Any = None, **_: Any) -> Any:
    """The cotangent of a cumulative product: the recurrence of `cumprod_jvp`, transposed."""
    if np.ndim(x) == 0:
        return np.reshape(by, ())
    flat = conj(lined(multiplied(x, y), axis))
    b = by if axis is None else np.moveaxis(by, axis, -1)
    out = conj(y if axis is None else np.moveaxis(y, axis, -1))
    if flat.shape[-1] == 0:
        return x
    found = _cumulated_back(b, flat, out, operator.mul)
    if not is_finite(found):  # else to ask it of each product would cost as much as these do
        found = _cumulated_back(b, flat, out, multiply)
    return unlined(found, x, axis)


def _cumulated_back(by: Any, factors: Any, out: Any, times: Callable[..., Any]) -> Any:
    """The cotangent of the `factors`, on the last axis, whose cumulative products are `out`."""
    parts = []
    carry = np.zeros_like(by[..., 0:1])
    for k in range(factors.shape[-1] - 1, -1, -1):
        carry = by[..., k : k + 1] + carry
        parts.append(times(out[..., k - 1 : k], carry) if k else carry)
        carry = times(factors[..., k : k + 1], carry)
    parts.reverse()
    return np.concatenate(parts, axis=-1)


def _leader(y: Any, x: Any, axis: int) -> Any:
    """The place along `axis` of the element that is the extremum so far, `y`, for each element of `x`."""
    y, n = np.moveaxis(y, axis, -1), np.shape(x)[axis]
    is_new = np.ones(y.shape, bool)
    is_new[..., 1:] = y[..., 1:] != y[..., :-1]
    return np.moveaxis(np.maximum.accumulate(np.where(is_new, np.arange(n), 0), axis=-1), -1, axis)


def running_jvp(d: Any, y: Any, x: Any, axis: Any = 0, **_: Any) -> Any:
    axis = 0 if axis is None else axis  # None is for arrays with one axis
    return np.take_along_axis(d, _leader(y, x, axis), axis)


def running_vjp(by: Any, y: Any, x: Any, axis: Any = 0, **_: Any) -> Any:
    axis = 0 if axis is None else axis
    places = np.moveaxis(_leader(y, x, axis), axis, -1)
    d = np.zeros(places.shape, by.dtype)
    rest = np.indices(places.shape, sparse=True)[:-1]
    np.add.at(d, (*rest, places), np.moveaxis(by, axis, -1))
    return np.moveaxis(d, -1, axis)


# -- differences -----------------------------------------------------------------------------------------


def reduction(function: Any, names: str, formulas: Formulas, **defaults: Any) -> ReductionRule:
    """The row of a reduction of one array, whose function has the parameters `names`."""
    result = "whole" if names not in (CUMULATIVE, UFUNC_REDUCE, UFUNC_ACCUMULATE) else None
    kind = MeanRule if formulas is MEAN else ReductionRule
    row = kind(function, names, jvp=[formulas[0]], vjp=[formulas[1]], defaults=defaults, result=result)
    if result == "whole" and formulas in _WHOLE:
        row.formulas = (_WHOLE[formulas],)
    if "initial" in row.names and formulas in _OF_INITIAL:
        row.take_besides(initial=_OF_INITIAL[formulas])
    if names == MOMENT:
        of_freedom = _OF_FREEDOM[formulas]
        row.take_besides(
            ("ddof", "correction"), ddof=of_freedom, mean=_of_mean(formulas), correction=of_freedom
        )
    return row


class MeanRule(ReductionRule):
    """The rule of ``np.mean``, whose cotangent without a mask follows from the shape of the array."""

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        found = super().formula_call(count, keywords, is_complex)
        if found is None or found.formulas is self.formulas:  # of real numbers, and of all of them
            return found
        if any(name == "where" for name, _ in found.others):
            return found
        return dataclasses.replace(found, formulas=(_PLAIN_MEAN,))


_SUM: Any = np.add.reduce
_PROD: Any = np.multiply.reduce
_MAX: Any = np.maximum.reduce
_MIN: Any = np.minimum.reduce

# What NumPy's functions of these names are, of an array of its own class: they ask what class it is first.


@quick
def quick_sum(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _SUM(a, axis, None, None, keepdims)


@quick
def quick_prod(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _PROD(a, axis, None, None, keepdims)


@quick
def quick_max(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _MAX(a, axis, None, None, keepdims)


@quick
def quick_min(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return _MIN(a, axis, None, None, keepdims)


@quick
def quick_mean(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The mean of an array; in one division where the array is of double precision."""
    if axis is None and keepdims is False and a.dtype.char == "d" and a.size:
        return _SUM(a, None) / a.size
    return np.mean(a, axis, keepdims=keepdims)


def axis_zero(formulas: Formulas, single: bool = False) -> Formulas:
    """The pair `formulas`, changed for a function whose axis is 0 if not given.

    single: the function has one axis only, which may be given as a tuple.
    """
    jvp, vjp = map(function_of, formulas)
    assert jvp is not None
    assert vjp is not None

    def meant(axis: Any) -> Any:
        return axis[0] if single and type(axis) is tuple else axis

    return (
        lambda d, y, x, axis=0, **others: jvp(d, y, x, axis=meant(axis), **others),
        lambda d, y, x, axis=0, **others: vjp(d, y, x, axis=meant(axis), **others),
    )


def _spread_sum(by: Any, y: Any, x: Any) -> Any:
    return np.full(np.shape(x), by)


def _spread_mean(by: Any, y: Any, x: Any) -> Any:
    return np.full(np.shape(x), by / max(np.size(x), 1))


def _mean_share(by: Any, shape: tuple[int, ...]) -> Any:
    return by / max(math.prod(shape), 1)


SUM: Formulas = (sum_jvp, SUM_FORMULA)
MEAN: Formulas = (mean_jvp, mean_vjp)
VAR: Formulas = (var_jvp, var_vjp)
STD: Formulas = (std_jvp, std_vjp)
EXTREMUM: Formulas = (extremum_jvp, extremum_vjp)
PTP: Formulas = (ptp_jvp, ptp_vjp)
PROD: Formulas = (prod_jvp, prod_vjp)
_WHOLE: dict[Formulas, Formula] = {
    SUM: Formula(_spread_sum, uniform=1),
    MEAN: Formula(_spread_mean, uniform=_mean_share),
}
"""The formulas that builders write inline for reductions of a whole array, where no axis is put back."""


def _begun_sum(d: Any, y: Any, x: Any, **_: Any) -> Any:
    return d


def _rest_of_product(y: Any, x: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.prod(multiplied(x, y), axis=axis, keepdims=keepdims, where=where)


def _begun_product(
    d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **_: Any
) -> Any:
    return multiply(_rest_of_product(y, x, axis, keepdims, where), d)


def _begun_product_back(
    by: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **_: Any
) -> Any:
    return multiply(conj(_rest_of_product(y, x, axis, keepdims, where)), by)


def _unbeaten(
    d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **_: Any
) -> Any:
    """The part of the number that an extremum begins with, in both modes: where no element is it."""
    found = np.any(chosen(y, x, axis, where), axis=axes_of(x, axis), keepdims=keepdims)
    return np.where(found, 0.0, d)


_OF_INITIAL: dict[Formulas, Formulas] = {
    SUM: (_begun_sum, _begun_sum),
    PROD: (_begun_product, _begun_product_back),
    EXTREMUM: (_unbeaten, _unbeaten),
}
"""The formulas of the number that a reduction begins with, by those of the array."""

_OF_FREEDOM: dict[Formulas, Formulas] = {VAR: (var_by_ddof, var_by_ddof), STD: (std_by_ddof, std_by_ddof)}
"""The formulas of what is taken off the divisor, by those of the array."""

CUMSUM: Formulas = (cumsum_jvp, CUMSUM_FORMULA)
CUMPROD: Formulas = (cumprod_jvp, cumprod_vjp)

WITH_DTYPE = "a axis dtype out keepdims initial where"
WITHOUT_DTYPE = "a axis out keepdims initial where"
MOMENT = "a axis dtype out ddof keepdims mean correction"
MEAN_NAMES = "a axis dtype out keepdims"
CUMULATIVE = "a axis dtype out"
UFUNC_REDUCE = "array axis dtype out keepdims initial where"
UFUNC_ACCUMULATE = "array axis dtype out"

FUNCTIONS: list[tuple[str, str, Formulas]] = [
    ("sum", WITH_DTYPE, SUM),
    ("mean", MEAN_NAMES, MEAN),
    ("var", MOMENT, VAR),
    ("std", MOMENT, STD),
    ("max", WITHOUT_DTYPE, EXTREMUM),
    ("min", WITHOUT_DTYPE, EXTREMUM),
    ("prod", WITH_DTYPE, PROD),
    ("cumsum", CUMULATIVE, CUMSUM),
    ("cumprod", CUMULATIVE, CUMPROD),
]
"""Name, parameters and formulas of the functions that arrays have as methods of the same name."""


QUICK_NAMES = "a axis keepdims"
QUICK = {"sum": quick_sum, "prod": quick_prod, "max": quick_max, "min": quick_min, "mean": quick_mean}
"""Quicker functions for arrays of NumPy's own class, by the name of the function they replace."""


def _rows() -> list[Rule]:
    rows: list[Rule] = []
    for name, names, formulas in FUNCTIONS:
        own = [reduction(getattr(home, name), names, formulas) for home in (np, np.ndarray)]
        rows += own
        quick = QUICK.get(name)
        if quick is not None:
            rows.append(reduction(quick, QUICK_NAMES, formulas))
            for row in own:
                row.quick = quick
    for alias, names, formulas in [("amax", WITHOUT_DTYPE, EXTREMUM), ("amin", WITHOUT_DTYPE, EXTREMUM)]:
        if getattr(np, alias) is not getattr(np, alias[1:]):
            rows.append(reduction(getattr(np, alias), names, formulas))
    rows.append(reduction(np.ptp, "a axis out keepdims", PTP))
    for ufunc, formulas in [
        (np.add, SUM),
        (np.multiply, PROD),
        (np.maximum, EXTREMUM),
        (np.minimum, EXTREMUM),
        (np.fmax, EXTREMUM),
        (np.fmin, EXTREMUM),
    ]:
        row = reduction(ufunc.reduce, UFUNC_REDUCE, axis_zero(formulas), axis=0)
        row.take_besides(initial=axis_zero(_OF_INITIAL[formulas]))
        rows.append(row)
    running: Formulas = (running_jvp, running_vjp)
    for ufunc, formulas in [
        (np.add, CUMSUM),
        (np.multiply, CUMPROD),
        (np.maximum, running),
        (np.minimum, running),
    ]:
        single = axis_zero(formulas, single=True)
        rows.append(reduction(ufunc.accumulate, UFUNC_ACCUMULATE, single, axis=0))
    return rows


ROWS: list[Rule] = _rows()
