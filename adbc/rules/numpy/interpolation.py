"""The rule of ``np.interp``: straight lines between points.

At a point the slope is that of the line to its right, of the last line at the last point; outside of all the
function is constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.table import Rule
from adbc.tangents.array_products import multiply

__all__ = ["ROWS"]


class _Segments:
    """Where each `x` lies among the points `xp`.

    low, high: the numbers of the points to its left and right; share: how far it is from the first to the
    second; width: the distance of these; is_left, is_right: whether it is left or right of all points.
    """

    __slots__ = ("high", "is_left", "is_right", "low", "share", "width")

    def __init__(self, x: Any, xp: Any, period: Any) -> None:
        xp = np.asarray(xp)
        self.low: Any
        self.high: Any
        self.share: Any
        self.width: Any
        self.is_left = self.is_right = False
        last = len(xp) - 1
        if period is not None:
            self._around(np.mod(x, abs(period)), np.mod(xp, abs(period)), abs(period))
        elif last == 0:
            self.low = self.high = np.zeros(np.shape(x), np.intp)
            self.share, self.width = np.zeros(np.shape(x)), 1.0
            self.is_left, self.is_right = np.less(x, xp[0]), np.greater(x, xp[0])
        elif np.ndim(x) == 0:
            self._of_one(x, xp, last)
        else:
            x = np.asarray(x)
            low = xp.searchsorted(x, "right") - 1
            self.low = low = np.minimum(np.maximum(low, 0), last - 1)
            self.high = low + 1
            left = xp[low]
            self.width = xp[self.high] - left
            self.share = np.minimum(np.maximum((x - left) / self.width, 0.0), 1.0)
            self.is_left, self.is_right = x < xp[0], x > xp[last]

    def _of_one(self, x: Any, xp: Any, last: int) -> None:
        low = int(xp.searchsorted(x, "right")) - 1
        low = 0 if low < 0 else min(low, last - 1)
        self.low, self.high = low, low + 1
        self.is_left, self.is_right = bool(x < xp[0]), bool(x > xp[last])
        self.width = xp[low + 1] - xp[low]
        self.share = 0.0 if self.is_left else 1.0 if self.is_right else (x - xp[low]) / self.width

    def _around(self, x: Any, xp: Any, period: Any) -> None:
        """The segments of a circle, whose points and places begin at zero."""
        order = np.argsort(xp, kind="stable")
        around = np.concatenate((order[-1:], order, order[:1]))
        places = xp[around]
        places[0] -= period
        places[-1] += period
        low = np.clip(np.searchsorted(places, x, "right") - 1, 0, len(places) - 2)
        self.low, self.high = around[low], around[low + 1]
        self.width = places[low + 1] - places[low]
        self.share = (x - places[low]) / self.width

    def slope(self, fp: Any) -> Any:
        fp = np.asarray(fp)
        found = (fp[self.high] - fp[self.low]) / self.width
        if self.is_left is False and self.is_right is False:
            return found
        return np.where(np.logical_or(self.is_left, self.is_right), 0.0, found)

    def inner(self, left: Any, right: Any) -> tuple[Any, Any]:
        """The weights of the values at both points, none where `left` or `right` are given in their place."""
        low, high = 1.0 - self.share, self.share
        if left is not None and self.is_left is not False:
            low = np.where(self.is_left, 0.0, low)
        if right is not None and self.is_right is not False:
            low, high = np.where(self.is_right, 0.0, low), np.where(self.is_right, 0.0, high)
        return low, high

    def spread(self, low: Any, high: Any, count: int) -> Any:
        """The sum of `low` and `high`, one for each `x`, by the points to its left and right."""
        d = np.zeros(count, np.result_type(low, high))
        np.add.at(d, self.low, low)
        np.add.at(d, self.high, high)
        return d


def _ends(left: Any, right: Any, period: Any) -> tuple[Any, Any]:
    return (left, right) if period is None else (None, None)


def interp_dx(
    d: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    return multiply(_Segments(x, xp, period).slope(fp), d)


def interp_bx(
    by: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    return multiply(np.conjugate(_Segments(x, xp, period).slope(fp)), by)


def interp_dxp(
    d: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    at = _Segments(x, xp, period)
    return -at.slope(fp) * ((1.0 - at.share) * d[at.low] + at.share * d[at.high])


def interp_bxp(
    by: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    at = _Segments(x, xp, period)
    push = -np.conjugate(at.slope(fp)) * by
    return at.spread((1.0 - at.share) * push, at.share * push, len(xp))


def interp_dfp(
    d: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    at = _Segments(x, xp, period)
    low, high = at.inner(*_ends(left, right, period))
    return low * d[at.low] + high * d[at.high]


def interp_bfp(
    by: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    at = _Segments(x, xp, period)
    low, high = at.inner(*_ends(left, right, period))
    return at.spread(low * by, high * by, len(fp))


def interp_left(
    d: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """The part of `left`, in both modes: where it is what is found."""
    return np.where(_Segments(x, xp, None).is_left, d, 0.0) if period is None else np.zeros_like(y)


def interp_right(
    d: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    return np.where(_Segments(x, xp, None).is_right, d, 0.0) if period is None else np.zeros_like(y)


def _by_period(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The derivative by the period: how many of them the points lie away from their places counts."""
    at = _Segments(x, xp, period)
    x, xp, size = np.asarray(x), np.asarray(xp), abs(period)
    rounds_low = np.rint((x - at.share * at.width - xp[at.low]) / size)
    rounds_high = np.rint((x + (1.0 - at.share) * at.width - xp[at.high]) / size)
    return -np.sign(period) * at.slope(fp) * ((1.0 - at.share) * rounds_low + at.share * rounds_high)


def interp_dperiod(
    d: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    return _by_period(x, xp, fp, period) * d


def interp_bperiod(
    by: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    return np.conjugate(_by_period(x, xp, fp, period)) * by


def interp_all(by: Any, y: Any, x: Any, xp: Any, fp: Any) -> Any:
    """The cotangents of places, points and values: the place of each among the points is found once."""
    at = _Segments(x, xp, None)
    push = np.conjugate(at.slope(fp)) * by
    low, high = 1.0 - at.share, at.share
    return (
        push,
        at.spread(-low * push, -high * push, len(xp)),
        at.spread(low * by, high * by, len(fp)),
    )


class InterpRule(ArrayRule):
    """The rule of ``np.interp``, which builders write inline where the points and values alone are given."""

    def __init__(self) -> None:
        jvp = [interp_dx, interp_dxp, interp_dfp]
        vjp = [interp_bx, interp_bxp, interp_bfp]
        ends = [interp_left, interp_right]
        super().__init__(
            np.interp,
            "x xp fp left right period",
            jvp=[*jvp, *ends, interp_dperiod],
            vjp=[*vjp, *ends, interp_bperiod],
        )
        self._of_three = ArrayRule(np.interp, "x xp fp", jvp=jvp, vjp=vjp, when=plain)
        self._of_three.together = interp_all

    def formula_call(self, count: int, keywords: Sequence[str], is_complex: bool = False) -> Any:
        return self._of_three.formula_call(count, keywords, is_complex) if count == 3 else None

    def tangent_call(self, count: int, keywords: Sequence[str]) -> Any:
        return self._of_three.tangent_call(count, keywords) if count == 3 else None


ROWS: list[Rule] = [InterpRule()]
