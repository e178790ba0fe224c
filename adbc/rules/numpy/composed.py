"""Functions that NumPy composes in Python of many others: one call, and a formula for the derivative.

To follow NumPy's own lines costs 30 to 150 times what the call does, for they look at shapes and options.
Where a call is of a form that the formula does not cover, they are followed.

Sources of the formulas: quantiles interpolate between two elements in order (R. J. Hyndman and Y. Fan,
"Sample quantiles in statistical packages", 1996, definition 7); the others are sums.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np

from adbc.rules.numpy.base import ArrayRule, is_plain, plain
from adbc.rules.numpy.reductions import kept, lines, reduction, unlines
from adbc.rules.numpy.shapes import back_by_number
from adbc.rules.quick import quick
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS", "are_floats", "are_numbers", "followed", "formulas_of_quantiles"]


def followed(function: Any) -> Any:
    """NumPy's lines, without a rule."""
    found: Any = inspect.unwrap(function)
    made = types.FunctionType(
        found.__code__, found.__globals__, found.__name__, found.__defaults__, found.__closure__
    )
    made.__kwdefaults__ = found.__kwdefaults__
    return made


def are_floats(x: Any) -> bool:
    """Whether `x` is an array of NumPy's own class, not empty, of real numbers with fractions."""
    return type(x) is np.ndarray and x.dtype.kind == "f" and x.size > 0


def are_numbers(x: Any) -> bool:
    """Whether `x` is an array of NumPy's own class of real numbers with fractions, or of complex numbers."""
    return type(x) is np.ndarray and x.dtype.kind in "fc"


# -- sums without NaN --------------------------------------------------------------------------------------


def _counted(x: Any, where: Any) -> Any:
    """Which elements count."""
    mask = ~np.isnan(x)
    return mask if where is True else mask & where


def nansum_jvp(
    d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **_: Any
) -> Any:
    return np.sum(np.where(_counted(x, where), d, 0), axis=axis, keepdims=keepdims)


def nansum_vjp(by: Any, y: Any, x: Any, axis: Any = None, where: Any = True, **_: Any) -> Any:
    return np.where(_counted(x, where), kept(by, x, axis), 0)


def nanmean_jvp(
    d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, **_: Any
) -> Any:
    mask = _counted(x, where)
    count = np.sum(mask, axis=axis, keepdims=keepdims)
    return np.sum(np.where(mask, d, 0), axis=axis, keepdims=keepdims) / np.maximum(count, 1)


def nanmean_vjp(by: Any, y: Any, x: Any, axis: Any = None, where: Any = True, **_: Any) -> Any:
    mask = _counted(x, where)
    share = kept(by, x, axis)
    count = np.sum(mask, axis=axis, keepdims=True).reshape(share.shape)
    return np.where(mask, share / np.maximum(count, 1), 0)


@quick
def _nansum_of(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.nansum(a, axis, keepdims=keepdims, where=where)


@quick
def _nanmean_of(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.nanmean(a, axis, keepdims=keepdims, where=where)


_followed_nansum, _followed_nanmean = followed(np.nansum), followed(np.nanmean)


def _nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    if dtype is None and out is None and initial is None and are_numbers(a):
        return _nansum_of(a, axis, keepdims, where)
    if initial is None:
        return _followed_nansum(a, axis, dtype, out, keepdims, where=where)
    return _followed_nansum(a, axis, dtype, out, keepdims, initial, where)


def _nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    if dtype is None and out is None and are_numbers(a):
        return _nanmean_of(a, axis, keepdims, where)
    return _followed_nanmean(a, axis, dtype, out, keepdims, where=where)


# -- averages ------------------------------------------------------------------------------------------------


def _weighing(a: Any, weights: Any, axis: Any) -> Any:
    """The weights as `a` is multiplied with them."""
    w = np.asarray(weights)
    if w.shape == np.shape(a):
        return w
    shape = [1] * np.ndim(a)
    shape[axis] = w.size
    return w.reshape(shape)


@quick
def _average_of(a: Any, weights: Any, axis: Any, keepdims: Any) -> Any:
    return np.average(a, axis, weights, keepdims=keepdims)


def average_by_values(d: Any, y: Any, a: Any, weights: Any, axis: Any, keepdims: Any) -> Any:
    w = _weighing(a, weights, axis)
    total = np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=keepdims)
    return np.sum(d * w, axis=axis, keepdims=keepdims) / total


def average_by_weights(d: Any, y: Any, a: Any, weights: Any, axis: Any, keepdims: Any) -> Any:
    w = _weighing(a, weights, axis)
    total = np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=keepdims)
    away = np.asarray(a) - kept(y, a, axis)
    return np.sum(_weighing(a, d, axis) * away, axis=axis, keepdims=keepdims) / total


def average_to_values(by: Any, y: Any, a: Any, weights: Any, axis: Any, keepdims: Any) -> Any:
    w = np.broadcast_to(_weighing(a, weights, axis), np.shape(a))
    return kept(by, a, axis) / np.sum(w, axis=axis, keepdims=True) * w


def average_to_weights(by: Any, y: Any, a: Any, weights: Any, axis: Any, keepdims: Any) -> Any:
    w = _weighing(a, weights, axis)
    share = kept(by, a, axis) / np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=True)
    found = share * (np.asarray(a) - kept(y, a, axis))
    repeated = tuple(i for i, n in enumerate(w.shape) if n == 1)
    return np.sum(found, axis=repeated).reshape(np.shape(weights))


_followed_average = followed(np.average)


def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    if returned or keepdims is np._NoValue or type(a) is not np.ndarray:
        return _followed_average(a, axis, weights, returned, keepdims=keepdims)
    if weights is None:
        return np.mean(a, axis, keepdims=keepdims)
    are_floats = type(weights) is np.ndarray and a.dtype.kind == weights.dtype.kind == "f"
    if are_floats and (weights.shape == a.shape or (type(axis) is int and weights.ndim == 1)):
        return _average_of(a, weights, axis, keepdims)
    return _followed_average(a, axis, weights, returned, keepdims=keepdims)


# -- quantiles -----------------------------------------------------------------------------------------------


@quick
def _quantile_of(a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    return np.quantile(a, q, axis, keepdims=keepdims)


@quick
def _percentile_of(a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    return np.percentile(a, q, axis, keepdims=keepdims)


def _between(x: Any, q: Any, axis: Any, skips: bool) -> tuple[Any, Any, Any, Any, Any]:
    """The elements of `x` as lines; the places on each line of those between which the quantiles `q`, in a
    flat array, lie; the share of the latter; and how many steps there are from end to end.

    skips: whether what is not a number is left out."""
    flat = lines(x, axis)
    n = flat.shape[-1]
    order = np.argsort(flat, axis=-1, kind="stable")
    steps = np.sum(~np.isnan(flat), axis=-1, keepdims=True) - 1 if skips else n - 1
    place = np.broadcast_to(np.ravel(q) * np.maximum(steps, 0), (*flat.shape[:-1], np.size(q)))
    low = np.clip(np.floor(place).astype(np.intp), 0, n - 1)
    share = place - low
    if not skips:  # what is not a number is the last in the order, and the result then
        low = np.where(np.isnan(np.take_along_axis(flat, order[..., -1:], -1)), n - 1, low)
    high = np.minimum(low + 1, np.maximum(steps, 0) if skips else n - 1)
    return flat, np.take_along_axis(order, low, -1), np.take_along_axis(order, high, -1), share, steps


def _as_result(found: Any, y: Any) -> Any:
    """Quantiles of lines, of which each has its own on the last axis, in the shape of the result `y`."""
    return np.moveaxis(found, -1, 0).reshape(np.shape(y))


def _as_lines(by: Any, flat: Any, count: int) -> Any:
    return np.moveaxis(np.reshape(by, (count, *flat.shape[:-1])), 0, -1)


def formulas_of_quantiles(scale: float, skips: bool = False) -> tuple[Any, Any]:
    """The formulas of quantiles between 0 and `scale`, by values and by places, of both modes.

    skips: whether what is not a number is left out."""

    def by_values(d: Any, y: Any, a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
        _, low, high, share, _ = _between(a, np.asarray(q) / scale, axis, skips)
        along = lines(d, axis)
        found = (1.0 - share) * np.take_along_axis(along, low, -1) + share * np.take_along_axis(
            along, high, -1
        )
        return _as_result(found, y)

    def by_place(d: Any, y: Any, a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
        flat, low, high, _, steps = _between(a, np.asarray(q) / scale, axis, skips)
        slope = np.take_along_axis(flat, high, -1) - np.take_along_axis(flat, low, -1)
        return _as_result(slope * steps / scale * np.ravel(d), y)

    def to_values(by: Any, y: Any, a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
        flat, low, high, share, _ = _between(a, np.asarray(q) / scale, axis, skips)
        given = _as_lines(by, flat, np.size(q))
        weight = np.zeros(flat.shape, np.result_type(given))
        rows = np.indices(low.shape, sparse=True)[:-1]
        np.add.at(weight, (*rows, low), given * (1.0 - share))
        np.add.at(weight, (*rows, high), given * share)
        return unlines(weight, a, axis)

    def to_place(by: Any, y: Any, a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
        flat, low, high, _, steps = _between(a, np.asarray(q) / scale, axis, skips)
        slope = np.take_along_axis(flat, high, -1) - np.take_along_axis(flat, low, -1)
        given = _as_lines(by, flat, np.size(q)) * slope * steps / scale
        return given.reshape(-1, np.size(q)).sum(0).reshape(np.shape(q))

    return (by_values, by_place), (to_values, to_place)


def _quantile_rows(function: Any, of_linear: Any, scale: float) -> list[Rule]:
    lines_of_numpy = followed(function)

    def quantile(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        **others: Any,
    ) -> Any:
        is_linear = method == "linear" and not others and out is None and not overwrite_input
        if is_linear and are_floats(a) and type(q) is not complex:
            return of_linear(a, q, axis, keepdims)
        return lines_of_numpy(a, q, axis, out, overwrite_input, method, keepdims, **others)

    jvp, vjp = formulas_of_quantiles(scale)
    return [
        ArrayRule(of_linear, "a q axis keepdims", jvp=jvp, vjp=vjp),
        Overlay(function, quantile, when=plain),
    ]


# -- differences ---------------------------------------------------------------------------------------------


@quick
def _gradient_of(f: Any, step: Any, axis: Any) -> Any:
    return np.gradient(f, step, axis=axis)


def gradient_by_values(d: Any, y: Any, f: Any, step: Any, axis: Any) -> Any:
    return np.gradient(np.broadcast_to(d, np.shape(f)), step, axis=axis)


def gradient_by_step(d: Any, y: Any, f: Any, step: Any, axis: Any) -> Any:
    return -y / step * d


def gradient_to_values(by: Any, y: Any, f: Any, step: Any, axis: Any) -> Any:
    given = np.moveaxis(np.asarray(by), axis, -1)
    found = np.zeros(given.shape, given.dtype)
    inside = 0.5 * given[..., 1:-1]
    found[..., 2:] += inside
    found[..., :-2] -= inside
    found[..., 0] -= given[..., 0]
    found[..., 1] += given[..., 0]
    found[..., -1] += given[..., -1]
    found[..., -2] -= given[..., -1]
    return np.moveaxis(found, -1, axis) / step


def gradient_to_step(by: Any, y: Any, f: Any, step: Any, axis: Any) -> Any:
    return -np.sum(by * y) / step


_followed_gradient = followed(np.gradient)


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    if type(f) is np.ndarray and f.dtype.kind == "f" and edge_order == 1 and len(varargs) < 2:
        step = varargs[0] if varargs else 1.0
        is_one = type(axis) is int or (axis is None and f.ndim == 1)
        if is_one and f.ndim and (type(step) is float or type(step) is int):
            place = -1 if axis is None else axis
            if f.shape[place] > 1:
                return _gradient_of(f, step, place)
    return _followed_gradient(f, *varargs, axis=axis, edge_order=edge_order)


_followed_ediff1d = followed(np.ediff1d)


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    if to_end is None and to_begin is None and type(ary) is np.ndarray:
        return np.diff(np.ravel(ary))
    return _followed_ediff1d(ary, to_end, to_begin)


# -- joined by subscripts ------------------------------------------------------------------------------------

_GETITEM: Any = type(np.r_).__getitem__
_followed_getitem = followed(_GETITEM)
_ROW, _COLUMN = type(np.r_), type(np.c_)


def _joined(self: Any, key: Any) -> Any:
    """``np.r_[x, 0.0, y]`` and ``np.c_[x, y]`` of arrays with one axis, and numbers among them."""
    cls = type(self)
    if (cls is _ROW or cls is _COLUMN) and type(key) is tuple:
        arrays, others = 0, 0
        for part in key:
            if type(part) is np.ndarray:
                arrays += part.ndim == 1 and part.dtype.char == "d"
            else:
                others += type(part) is float or type(part) is int or type(part) is np.float64
        if cls is _ROW and arrays and arrays + others == len(key):
            return np.concatenate([p if type(p) is np.ndarray else np.array([p], float) for p in key])
        if cls is _COLUMN and arrays and arrays == len(key):
            return np.concatenate([p.reshape(-1, 1) for p in key], -1)
    return _followed_getitem(self, key)


# -- inserted, in blocks, piece by piece ---------------------------------------------------------------------


def _places(obj: Any) -> Any:
    """Where is inserted: of the array made of an empty list NumPy would not know that it is of places."""
    return obj.astype(np.intp) if type(obj) is np.ndarray and obj.size == 0 else obj


def insert_arr(d: Any, y: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    return np.insert(d, _places(obj), np.zeros(np.shape(values)), axis)


def insert_values(d: Any, y: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    return np.insert(np.zeros(np.shape(arr), np.result_type(d)), _places(obj), d, axis)


def insert_arr_back(by: Any, y: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    none = np.zeros(np.shape(values), int)
    return back_by_number(lambda numbers: np.insert(numbers, _places(obj), none, axis))(by, y, arr)


def insert_values_back(by: Any, y: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    none = np.zeros(np.shape(arr), int)
    return back_by_number(lambda numbers: np.insert(none, _places(obj), numbers, axis))(by, y, values)


def is_block(arrays: Any) -> int:
    """How deep the lists in `arrays` are, 1 or 2, if all that is in them are arrays of numbers that have as
    many axes; 0 if that is not so."""
    if type(arrays) is not list or not arrays:
        return 0
    depth = 2 if type(arrays[0]) is list else 1
    rows = arrays if depth == 2 else [arrays]
    for row in rows:
        if type(row) is not list or not row:
            return 0
        for x in row:
            if not are_numbers(x) or not (x.ndim == 1 if depth == 1 else 0 < x.ndim < 3):
                return 0
    return depth


_followed_block = followed(np.block)


def _block(arrays: Any) -> Any:
    depth = is_block(arrays)
    if depth == 1:
        return np.concatenate(arrays)
    if depth == 2:
        rows: list[Any] = []
        for row in arrays:
            parts: list[Any] = []
            for x in row:
                parts.append(x.reshape(1, -1) if x.ndim == 1 else x)  # noqa: PERF401  # before 3.12 a function
            rows.append(np.concatenate(parts, 1))
        return np.concatenate(rows)
    return _followed_block(arrays)


def conditions(x: Any, condlist: Any, count: int) -> list[Any]:
    """Where each of `count` functions is evaluated, by the conditions that `np.piecewise` is given."""
    given: Any = condlist
    if np.isscalar(given) or (not isinstance(given[0], (list, np.ndarray)) and x.ndim):
        given = [given]
    masks = list(np.asarray(given, bool))
    if len(masks) == count - 1:
        masks.append(~np.any(np.asarray(given, bool), axis=0))
    elif len(masks) != count:
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    return masks


_followed_piecewise = followed(np.piecewise)


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    if type(funclist) is not list or not are_numbers(x):
        return _followed_piecewise(x, condlist, funclist, *args, **kw)
    masks = conditions(x, condlist, len(funclist))
    y = np.zeros_like(x)
    for i in range(len(masks)):
        part, mask = funclist[i], masks[i]
        if callable(part):
            values = x[mask]
            if values.size > 0:
                y[mask] = part(values, *args, **kw)
        else:
            y[mask] = part
    return y


def _is_array(*classes: type) -> bool:
    return bool(classes) and classes[0] is np.ndarray and all(map(is_plain, classes))


ROWS: list[Rule] = [
    ZeroRule(are_floats, result=bool),
    ZeroRule(is_block, result=int),
    ZeroRule(conditions, result=list),
    Overlay(np.block, _block),
    Overlay(np.piecewise, _piecewise, when=plain),
    ArrayRule(
        np.insert, "arr obj values axis",
        jvp=[insert_arr, None, insert_values], vjp=[insert_arr_back, None, insert_values_back],
    ),
    ZeroRule(are_numbers, result=bool),
    reduction(_nansum_of, "a axis keepdims where", (nansum_jvp, nansum_vjp)),
    reduction(_nanmean_of, "a axis keepdims where", (nanmean_jvp, nanmean_vjp)),
    Overlay(np.nansum, _nansum, when=plain),
    Overlay(np.nanmean, _nanmean, when=plain),
    ArrayRule(
        _average_of, "a weights axis keepdims",
        jvp=(average_by_values, average_by_weights), vjp=(average_to_values, average_to_weights),
    ),
    Overlay(np.average, _average, when=_is_array),
    *_quantile_rows(np.quantile, _quantile_of, 1.0),
    *_quantile_rows(np.percentile, _percentile_of, 100.0),
    ArrayRule(
        _gradient_of, "f step axis",
        jvp=(gradient_by_values, gradient_by_step), vjp=(gradient_to_values, gradient_to_step),
    ),
    Overlay(np.gradient, _gradient, when=_is_array),
    Overlay(np.ediff1d, _ediff1d, when=_is_array),
    Overlay(_GETITEM, _joined),
]  # fmt: skip
