"""Convolutions, and angles without jumps."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.numpy.composed import are_floats, followed
from adbc.rules.numpy.elementwise import conj
from adbc.rules.quick import quick
from adbc.rules.table import Overlay, Rule
from adbc.tangents.array_products import strongly

__all__ = ["ROWS"]

# -- convolutions ------------------------------------------------------------------------------------------

_MODES = ("valid", "same", "full")


def _whole(by: Any, n: int, k: int, mode: Any, start: int) -> Any:
    """The cotangent of the full convolution of `n` and `k` elements, from that of the part that `mode` keeps:
    in mode ``"same"`` that from `start` on."""
    name = _MODES[mode] if type(mode) is int else mode
    if name == "full":
        return by
    found = np.zeros(n + k - 1, by.dtype)
    begin = start if name == "same" else min(n, k) - 1
    found[begin : begin + len(by)] = by
    return found


def _at_least_one(x: Any) -> Any:
    return np.atleast_1d(np.asarray(x))


def convolve_da(d: Any, y: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return strongly(np.convolve, d, v, mode)


def convolve_dv(d: Any, y: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return strongly(np.convolve, a, d, mode)


def _convolved(by: Any, a: Any, v: Any, mode: Any) -> Any:
    n, k = np.size(a), np.size(v)
    return _whole(by, n, k, mode, (min(n, k) - 1) // 2)


def convolve_ba(by: Any, y: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    found = strongly(np.correlate, _convolved(by, a, v, mode), _at_least_one(v), "valid")
    return found.reshape(np.shape(a))


def convolve_bv(by: Any, y: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    found = strongly(np.correlate, _convolved(by, a, v, mode), _at_least_one(a), "valid")
    return found.reshape(np.shape(v))


def correlate_da(d: Any, y: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    return strongly(np.correlate, d, v, mode)


def correlate_dv(d: Any, y: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    return strongly(np.correlate, a, d, mode)


def _correlated(by: Any, a: Any, v: Any, mode: Any) -> Any:
    n, k = np.size(a), np.size(v)
    return _whole(by, n, k, mode, (k - 1) // 2 if k <= n else n // 2)


def correlate_ba(by: Any, y: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    turned = conj(_at_least_one(v))[::-1]
    found = strongly(np.correlate, _correlated(by, a, v, mode), turned, "valid")
    return found.reshape(np.shape(a))


def correlate_bv(by: Any, y: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    found = strongly(np.correlate, _correlated(by, a, v, mode), _at_least_one(a), "valid")
    return conj(found)[::-1].reshape(np.shape(v))


# -- angles ------------------------------------------------------------------------------------------------


@quick
def _unwrap_of(p: Any, period: Any, discont: Any, axis: Any) -> Any:
    return np.unwrap(p, discont, axis, period=period)


def unwrap_p(d: Any, y: Any, p: Any, period: Any, discont: Any, axis: Any) -> Any:
    """The part of the angles, in both modes: whole periods are added to them."""
    return d


def unwrap_period(d: Any, y: Any, p: Any, period: Any, discont: Any, axis: Any) -> Any:
    return np.rint((y - p) / period) * d


_lines_of_unwrap = followed(np.unwrap)
_TURN = 2.0 * np.pi


def _unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = _TURN) -> Any:
    if are_floats(p):
        return _unwrap_of(p, period, discont, axis)
    return _lines_of_unwrap(p, discont, axis, period=period)


ROWS: list[Rule] = [
    ArrayRule(np.convolve, "a v mode", jvp=[convolve_da, convolve_dv], vjp=[convolve_ba, convolve_bv]),
    ArrayRule(np.correlate, "a v mode", jvp=[correlate_da, correlate_dv], vjp=[correlate_ba, correlate_bv]),
    ArrayRule(
        _unwrap_of, "p period discont axis",
        jvp=[unwrap_p, unwrap_period], vjp=[unwrap_p, unwrap_period],
    ),
    Overlay(np.unwrap, _unwrap, when=plain),
]  # fmt: skip
