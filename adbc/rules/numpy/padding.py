"""The body of `numpy.pad`, mode by mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.numpy.composed import are_numbers
from adbc.rules.numpy.shapes import back_by_number
from adbc.rules.quick import once_per_call, quick
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]

STATISTICS = ("mean", "maximum", "minimum", "median")
"""The modes that pad with a number computed of the elements at the end."""


def is_usual(array: Any, pad_width: Any) -> bool:
    """Whether what is padded is an array of floats or complex numbers, by widths that NumPy broadcasts."""
    return are_numbers(array) and array.size > 0 and not isinstance(pad_width, dict)


def _inner(x: Any, pad_width: Any) -> tuple[slice, ...]:
    """The place of `x` in what it is padded to."""
    shape = np.shape(x)
    before = np.broadcast_to(np.asarray(pad_width), (len(shape), 2))[:, 0].tolist()
    return tuple([slice(start, start + n) for start, n in zip(before, shape, strict=True)])


@quick
def _by_constant(array: Any, value: Any, pad_width: Any) -> Any:
    return np.pad(array, pad_width, constant_values=value)


def constant_jvp(d: Any, y: Any, array: Any, value: Any, pad_width: Any) -> Any:
    return np.pad(d, pad_width)


def constant_vjp(by: Any, y: Any, array: Any, value: Any, pad_width: Any) -> Any:
    return by[_inner(array, pad_width)]


def value_jvp(d: Any, y: Any, array: Any, value: Any, pad_width: Any) -> Any:
    return np.pad(np.zeros(np.shape(array)), pad_width, constant_values=1.0) * d


def value_vjp(by: Any, y: Any, array: Any, value: Any, pad_width: Any) -> Any:
    return np.sum(by) - np.sum(by[_inner(array, pad_width)])


@quick
def _by_elements(array: Any, pad_width: Any, mode: Any) -> Any:
    return np.pad(array, pad_width, mode)


def elements_jvp(d: Any, y: Any, array: Any, pad_width: Any, mode: Any) -> Any:
    return np.pad(d, pad_width, mode)


elements_vjp = back_by_number(_by_elements)


def pad(
    array: Any, pad_width: Any, mode: Any = "constant", *, constant_values: Any = None, **others: Any
) -> Any:
    if not others and is_usual(array, pad_width):
        if mode == "constant" and (
            constant_values is None or type(constant_values) is float or type(constant_values) is int
        ):
            value = 0.0 if constant_values is None else constant_values
            return _by_constant(array, value, pad_width)
        if constant_values is None and mode in ("edge", "wrap", "reflect", "symmetric"):
            return _by_elements(array, pad_width, mode)
    if constant_values is not None:
        others["constant_values"] = constant_values
    return _padded(array, pad_width, mode, others)


def _padded_oddly(array: Any, widths: Any, mode: str) -> Any:
    """The array reflected in the points at its ends."""
    skipped = 1 if mode == "reflect" else 0
    for axis in range(array.ndim):
        n = array.shape[axis]
        before, after = widths[axis]
        if max(before, after) > n - skipped:
            raise UnsupportedError(
                "np.pad with reflect_type='odd' by more than there are elements",
                "adbc has no rule for that form",
                "pad several times",
            )
        first, last = np.take(array, [0], axis=axis), np.take(array, [n - 1], axis=axis)
        left = np.take(array, range(before - 1 + skipped, skipped - 1, -1), axis=axis)
        right = np.take(array, range(n - 1 - skipped, n - 1 - skipped - after, -1), axis=axis)
        array = np.concatenate((2 * first - left, array, 2 * last - right), axis=axis)
    return array


@once_per_call
def _padded(array: Any, pad_width: Any, mode: Any, kwargs: Any) -> Any:
    array = np.asarray(array)
    if array.dtype.kind in "OV":
        raise UnsupportedError(
            "np.pad of objects or records",
            "adbc has no rule for that form",
            "make a larger array, and write into it",
        )
    known = {"constant": "constant_values", "linear_ramp": "end_values"}
    known.update(dict.fromkeys(STATISTICS, "stat_length"))
    known.update(dict.fromkeys(("reflect", "symmetric"), "reflect_type"))
    if not isinstance(mode, str) or [name for name in kwargs if name != known.get(mode)]:
        raise UnsupportedError(
            f"np.pad with mode={mode!r} and {', '.join(kwargs)}",
            "adbc has no rule for that form",
            "make a larger array, and write into it",
        )
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    if mode == "constant" and np.ndim(kwargs.get("constant_values", 0)) == 0:
        value = kwargs.get("constant_values", 0)
        shape = tuple([n + before + after for n, (before, after) in zip(array.shape, widths, strict=True)])
        result = np.full(shape, value, dtype=array.dtype)
        inner = tuple([slice(before, before + n) for n, (before, _) in zip(array.shape, widths, strict=True)])
        result[inner] = array
        return result
    if mode in STATISTICS or mode in ("linear_ramp", "constant"):
        given = kwargs.get(known[mode])
        for axis in range(array.ndim):
            array = _padded_by_numbers(array, axis, widths[axis], mode, _pair(given, array.ndim, axis))
        return array
    if mode not in ("edge", "wrap", "reflect", "symmetric"):
        raise UnsupportedError(
            f"np.pad with mode={mode!r}",
            "adbc has no rule for that form",
            "make a larger array, and write into it",
        )
    kind = kwargs.get("reflect_type", "even")
    if kind == "odd":
        return _padded_oddly(array, widths, mode)
    if kind != "even":
        raise UnsupportedError(
            f"np.pad with reflect_type={kind!r}", "adbc has no rule for that form", "use 'even' or 'odd'"
        )
    for axis in range(array.ndim):
        before, after = widths[axis]
        array = np.take(array, _padded_places(array.shape[axis], before, after, mode), axis=axis)
    return array


@once_per_call
def _padded_places(n: int, before: int, after: int, mode: str) -> Any:
    """For each place of a padded axis, the number of the element that it repeats."""
    place = np.arange(-before, n + after)
    if mode == "edge":
        return np.clip(place, 0, n - 1)
    if mode == "wrap":
        return place % n
    if mode == "symmetric":
        place = place % (2 * n)
        return np.where(place < n, place, 2 * n - 1 - place)
    period = max(2 * (n - 1), 1)
    place = place % period
    return np.where(place < n, place, period - place)


@once_per_call
def _pair(given: Any, ndim: int, axis: int) -> Any:
    """What is given for the two ends of an axis: by one number, one pair, or pairs for all axes."""
    if given is None:
        return None, None
    pairs = np.broadcast_to(np.asarray(given), (ndim, 2))
    return pairs[axis, 0], pairs[axis, 1]


@once_per_call
def _padded_by_numbers(array: Any, axis: int, widths: Any, mode: str, given: Any) -> Any:
    """The array padded along one axis with numbers that are computed from what is there."""
    n = array.shape[axis]
    parts = [array]
    for end in (0, 1):
        width = widths[end]
        if width:
            if mode == "constant":
                shape = tuple([width if k == axis else m for k, m in enumerate(array.shape)])
                part = np.full(shape, given[end], dtype=array.dtype)
            elif mode == "linear_ramp":
                edge = np.take(array, 0 if end == 0 else n - 1, axis=axis)
                stop = 0 if given[end] is None else given[end]
                ramp = np.linspace(stop, edge, width, endpoint=False, axis=axis)
                part = ramp if end == 0 else np.flip(ramp, axis)
            else:
                count = n if given[end] is None else min(int(given[end]), n)
                ends = np.take(array, range(count) if end == 0 else range(n - count, n), axis=axis)
                number = _number_of(mode, ends, axis)
                part = np.repeat(number, width, axis=axis)
            part = np.asarray(part)
            if array.dtype.kind in "iu":
                part = np.floor(part) if mode == "linear_ramp" else np.rint(part)
            parts.insert(0 if end == 0 else len(parts), part.astype(array.dtype))
    return np.concatenate(parts, axis=axis)


@once_per_call
def _number_of(mode: str, ends: Any, axis: int) -> Any:
    if mode == "mean":
        return np.mean(ends, axis=axis, keepdims=True)
    if mode == "median":
        return np.median(ends, axis=axis, keepdims=True)
    extreme = np.max if mode == "maximum" else np.min
    return extreme(ends, axis=axis, keepdims=True)


ROWS: list[Rule] = [
    ZeroRule(is_usual, result=bool),
    ArrayRule(
        _by_constant, "array value pad_width",
        jvp=[constant_jvp, value_jvp], vjp=[constant_vjp, value_vjp],
    ),
    ArrayRule(_by_elements, "array pad_width mode", jvp=[elements_jvp], vjp=[elements_vjp]),
    Overlay(np.pad, pad, when=plain),
]  # fmt: skip
