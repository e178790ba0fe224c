"""Rules of functions that choose among elements, or look between them.

``clip`` at a bound follows the clipped value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.rules.numpy.base import ArrayRule, by_example, plain
from adbc.rules.numpy.shapes import back_by_number
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule, ZeroRule
from adbc.tangents.array_products import multiply

__all__ = ["ROWS", "clip_row"]


# -- where, clip -------------------------------------------------------------------------------------------


def where_x(d: Any, y: Any, c: Any, *_: Any) -> Any:
    return np.where(c, d, 0)


def where_y(d: Any, y: Any, c: Any, *_: Any) -> Any:
    return np.where(c, 0, d)


def _bounds(low: Any, high: Any, others: dict[str, Any]) -> tuple[Any, Any]:
    return (others.get("min") if low is None else low), (others.get("max") if high is None else high)


def _inside(x: Any, low: Any, high: Any) -> Any:
    inside = np.ones(np.shape(x), bool)
    if low is not None:
        inside = np.logical_and(inside, np.logical_not(np.less(x, low)))
    if high is not None:
        inside = np.logical_and(inside, np.logical_not(np.greater(x, high)))
    return inside


def clip_x(d: Any, y: Any, x: Any, low: Any = None, high: Any = None, **others: Any) -> Any:
    low, high = _bounds(low, high, others)
    return np.where(_inside(x, low, high), d, 0)


def clip_low(d: Any, y: Any, x: Any, low: Any = None, high: Any = None, **others: Any) -> Any:
    """The part of the lower bound in a clip: where it is above `x` and not above the upper bound."""
    low, high = _bounds(low, high, others)
    taken = np.less(x, low)
    if high is not None:
        taken = np.logical_and(taken, np.less_equal(low, high))
    return np.where(taken, d, 0)


def clip_high(d: Any, y: Any, x: Any, low: Any = None, high: Any = None, **others: Any) -> Any:
    """The part of the upper bound of a clip, which is applied last."""
    low, high = _bounds(low, high, others)
    raised = x if low is None else np.maximum(x, low)
    return np.where(np.greater(raised, high), d, 0)


CLIP = [clip_x, clip_low, clip_high]


class ClipRule(ArrayRule):
    """The rule of ``np.clip``, whose bounds have shorter names too: ``np.clip(x, max=1.0)``."""

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if len(args) != 1 or not kwargs.keys() & {"min", "max"} or kwargs.keys() & {"a_min", "a_max"}:
            return super().bind(args, kwargs)
        rest = dict(kwargs)
        return super().bind((*args, rest.pop("min", None), rest.pop("max", None)), rest)


def clip_row(function: Any, names: str) -> ArrayRule:
    return ArrayRule(function, names, jvp=CLIP, vjp=CLIP)


def _replaced(is_met: Callable[[Any], Any]) -> tuple[Any, Any]:
    """The jvp and vjp of `np.nan_to_num` by what stands where ``is_met(x)``, a real number in both parts of
    complex ones."""

    def jvp(d: Any, y: Any, x: Any, *_: Any) -> Any:
        part = np.where(is_met(np.real(x)), d, 0)
        return part + 1j * np.where(is_met(np.imag(x)), d, 0) if np.iscomplexobj(x) else part

    def vjp(by: Any, y: Any, x: Any, *_: Any) -> Any:
        part = np.where(is_met(np.real(x)), np.real(by), 0)
        return part + np.where(is_met(np.imag(x)), np.imag(by), 0) if np.iscomplexobj(x) else part

    return jvp, vjp


def nan_to_num_x(d: Any, y: Any, x: Any, *_: Any, **others: Any) -> Any:
    """The part of the numbers that stay as they are; a complex one may do so in one of its parts."""
    part = np.where(np.isfinite(np.real(x)), np.real(d), 0)
    return part + 1j * np.where(np.isfinite(np.imag(x)), np.imag(d), 0) if np.iscomplexobj(x) else part


_BY_OTHERS = [_replaced(np.isnan), _replaced(np.isposinf), _replaced(np.isneginf)]


class NanToNumRule(ArrayRule):
    """The rule of ``np.nan_to_num``, which works in place where it is told not to copy an array."""

    def __init__(self) -> None:
        super().__init__(
            np.nan_to_num,
            "x copy nan posinf neginf",
            jvp=[nan_to_num_x, None, *(jvp for jvp, _ in _BY_OTHERS)],
            vjp=[nan_to_num_x, None, *(vjp for _, vjp in _BY_OTHERS)],
            defaults={"copy": True, "nan": 0.0},
        )
        self._of_one = ArrayRule(np.nan_to_num, "x", jvp=[nan_to_num_x], vjp=[nan_to_num_x])

    def formula_call(self, count: int, keywords: Sequence[str], is_complex: bool = False) -> Any:
        return self._of_one.formula_call(count, keywords, is_complex) if count == 1 else None

    def tangent_call(self, count: int, keywords: Sequence[str]) -> Any:
        return self._of_one.tangent_call(count, keywords) if count == 1 else None

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        is_told = "copy" in keywords or count - len(keywords) > 1
        return not is_told and super().is_pure(count, keywords)

    @staticmethod
    def _is_in_place(args: Args, kwargs: Kwargs) -> bool:
        copies = args[1] if len(args) > 1 else kwargs.get("copy", True)
        return not copies and isinstance(args[0], np.ndarray)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        if self._is_in_place(args, kwargs):
            arrays, others, _, _ = self.split(args, kwargs)
            return self._frule_into(args[0], dargs[0], arrays, dargs, others, args, kwargs)
        return super().frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        if self._is_in_place(args, kwargs):
            arrays, others, _, _ = self.split(args, kwargs)
            return self._rrule_into(args[0], fargs[0], arrays, fargs, others, args, kwargs)
        return super().rrule(args, fargs, kwargs)


def _sinc_slope(x: Any, y: Any) -> Any:
    """The derivative of sinc: (cos(pi x) - sinc(x)) / x, 0 at 0."""
    x = np.asarray(x)
    safe = np.where(x == 0, 1, x)
    square = np.square(np.pi * x)  # of a series, for what it says of further derivatives
    near = -np.pi * np.pi * x * (1 / 3 - square * (1 / 30 - square / 840))
    return np.where(x == 0, near, (np.cos(np.pi * x) - y) / safe)


def _angle_scale(x: Any, deg: Any) -> Any:
    """The gradient of the angle at z: i z / |z|**2, 0 at 0."""
    z = np.asarray(x) + 0j
    size = np.real(z * np.conjugate(z))
    unit = np.where(size == 0, 0, 1j * z / np.where(size == 0, 1, size))
    return unit * (180 / np.pi) if deg else unit


# -- elements by number --------------------------------------------------------------------------------------


def compress_jvp(d: Any, y: Any, condition: Any, a: Any, axis: Any = None, **_: Any) -> Any:
    return np.compress(condition, d, axis)


def compress_vjp(by: Any, y: Any, condition: Any, a: Any, axis: Any = None, **_: Any) -> Any:
    return back_by_number(lambda x: np.compress(condition, x, axis))(by, y, a)


def _method_compress(function: Any) -> ArrayRule:
    return ArrayRule(
        function,
        "a condition axis out",
        jvp=[lambda d, y, a, condition=None, axis=None: np.compress(condition, d, axis)],
        vjp=[lambda by, y, a, condition=None, axis=None: compress_vjp(by, y, condition, a, axis)],
    )


def by_number(function: Any, names: str, **defaults: Any) -> ArrayRule:
    """The row of a function that only picks elements of its first argument."""
    return ArrayRule(
        function,
        names,
        jvp=[_picked(function, names)],
        vjp=[_picked_back(function, names)],
        defaults=defaults,
    )


def _call(function: Any, names: str, x: Any, others: dict[str, Any]) -> Any:
    """Call `function` with `x` and the others in order: methods do not take all of them by name."""
    args = []
    for name in names.split()[1:]:
        if name == "out" or name not in others:
            break
        args.append(others[name])
    return function(
        x, *args, **{k: v for k, v in others.items() if k not in names.split()[1 : 1 + len(args)]}
    )


def _picked(function: Any, names: str) -> Any:
    return lambda d, y, x, **others: _call(function, names, d, others)


def _picked_back(function: Any, names: str) -> Any:
    def vjp(by: Any, y: Any, x: Any, **others: Any) -> Any:
        return back_by_number(lambda numbers: _call(function, names, numbers, others))(by, y, x)

    return vjp


def _three(*classes: type) -> bool:
    return len(classes) == 3 and plain(*classes)


ROWS: list[Rule] = [
    ArrayRule(
        np.where, "condition x y", jvp=[None, where_x, where_y], vjp=[None, where_x, where_y], when=_three
    ),
    by_example(ZeroRule(np.where, when=plain)),
    ClipRule(np.clip, "a a_min a_max out", jvp=CLIP, vjp=CLIP),
    clip_row(np.ndarray.clip, "a min max out"),
    NanToNumRule(),
    ArrayRule(
        np.sinc,
        "x",
        jvp=[lambda d, y, x: multiply(_sinc_slope(x, y), d)],
        vjp=[lambda by, y, x: multiply(np.conj(_sinc_slope(x, y)), by)],
    ),
    ArrayRule(
        np.angle,
        "z deg",
        jvp=[lambda d, y, z, deg=False: np.real(multiply(np.conjugate(_angle_scale(z, deg)), d))],
        vjp=[lambda by, y, z, deg=False: multiply(_angle_scale(z, deg), by)],
    ),
    by_number(np.take, "a indices axis out mode"),
    by_number(np.ndarray.take, "a indices axis out mode"),
    by_number(np.take_along_axis, "arr indices axis"),
    by_number(np.delete, "arr obj axis"),
    ArrayRule(np.compress, "condition a axis out", jvp=[None, compress_jvp], vjp=[None, compress_vjp]),
    _method_compress(np.ndarray.compress),
]
