"""``scipy.signal``: recursive filters, convolutions, and the median under a window.

A recursive filter divides by a polynomial: what it divides is a sum of shifted signals, and only the division
needs a rule.  That is linear in the signal, its adjoint runs backwards in time, and by the coefficients of
the polynomial it is an implicit function.  Filters in sections, forwards and backwards, and resampling go
through these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from adbc.errors import UnsupportedError
from adbc.rules.scipy.base import FormulaRule, ask, bodies, internal, linear
from adbc.rules.scipy.ndimage import CONSTANT, wider
from adbc.rules.table import Rule

__all__ = ["ROWS"]


# -- recursive filters -------------------------------------------------------------------------------------


def divided(a: Any, u: Any) -> Any:
    """The signals y, along the last axis, with y[n] = u[n] - a[1] y[n-1] - a[2] y[n-2] - ..."""
    return signal.lfilter(np.ones(1, a.dtype), a, u)


def _delayed(y: Any, k: int) -> Any:
    """`y` later by `k`."""
    d = np.zeros_like(y)
    d[..., k:] = y[..., : y.shape[-1] - k]
    return d


def _along_a(d: Any, y: Any, a: Any, u: Any) -> Any:
    change: Any = np.zeros(y.shape, np.result_type(d, y))
    for k in range(1, min(len(a), y.shape[-1])):
        change = change + d[k] * _delayed(y, k)
    return -divided(np.asarray(a), change)


def _against_u(by: Any, y: Any, a: Any, u: Any) -> Any:
    return divided(np.conjugate(a), by[..., ::-1])[..., ::-1]


def _against_a(by: Any, y: Any, a: Any, u: Any) -> Any:
    s = _against_u(by, y, a, u)
    d = np.zeros(len(a), np.result_type(s, y))
    for k in range(1, min(len(a), y.shape[-1])):
        d[k] = -np.sum(np.conjugate(_delayed(y, k)) * s)
    return d


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    b, a, x = np.atleast_1d(np.asarray(b)), np.atleast_1d(np.asarray(a)), np.asarray(x)
    dtype = np.result_type(b, a, x) if zi is None else np.result_type(b, a, x, zi)
    if dtype.kind not in "fc":
        dtype = np.dtype(float)
    order = max(len(a), len(b)) - 1
    b, a = (b / a[0]).astype(dtype), (a / a[0]).astype(dtype)
    x = np.moveaxis(x.astype(dtype), axis, -1)
    n = x.shape[-1]
    u = np.zeros((*x.shape[:-1], n + order), dtype)
    for k in range(len(b)):
        u[..., k : k + n] += b[k] * x
    if zi is not None:
        u[..., :order] += np.moveaxis(np.asarray(zi), axis, -1)
    y = divided(a, u[..., :n]) if len(a) > 1 else u[..., :n] * 1.0
    result = np.moveaxis(y, -1, axis)
    if zi is None:
        return result
    end = u[..., n:] * 1.0
    for i in range(order):
        for k in range(i + 1, min(len(a), n + i + 1)):
            end[..., i] -= a[k] * y[..., n + i - k]
    return result, np.moveaxis(end, -1, axis)


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    sos, x = np.atleast_2d(np.asarray(sos)), np.asarray(x)
    if sos.ndim != 2 or sos.shape[1] != 6 or not np.all(sos[:, 3] == 1):
        raise ValueError("sos must be of shape (n_sections, 6), and sos[:, 3] all ones")
    ends = []
    for i in range(len(sos)):
        if zi is None:
            x = lfilter(sos[i, :3], sos[i, 3:], x, axis)
        else:
            x, end = lfilter(sos[i, :3], sos[i, 3:], x, axis, np.asarray(zi)[i])
            ends.append(end)
    return x if zi is None else (x, np.stack(ends))


# -- convolutions ------------------------------------------------------------------------------------------


def _whole(by: Any, x: Any, h: Any, mode: str) -> Any:
    """The cotangent of a full convolution, from that of the part that `mode` keeps."""
    full = [n + k - 1 for n, k in zip(np.shape(x), np.shape(h), strict=True)]
    if mode == "full":
        return by
    if mode == "same":
        start = [(f - n) // 2 for f, n in zip(full, np.shape(by), strict=True)]
    else:
        start = [min(n, k) - 1 for n, k in zip(np.shape(x), np.shape(h), strict=True)]
    d = np.zeros(full, by.dtype)
    d[tuple(slice(s, s + n) for s, n in zip(start, np.shape(by), strict=True))] = by
    return d


def _convolve_x(by: Any, x: Any, h: Any, mode: str = "full", method: str = "auto") -> Any:
    return signal.correlate(_whole(by, x, h, mode), h, "valid", method)


def _convolve_h(by: Any, x: Any, h: Any, mode: str = "full", method: str = "auto") -> Any:
    return signal.correlate(_whole(by, x, h, mode), x, "valid", method)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    in1, in2 = np.asarray(in1), np.asarray(in2)
    return signal.convolve(in1, np.conjugate(np.flip(in2)), mode, method)


def _correlate2d(in1: Any, in2: Any, mode: str, method: str) -> Any:
    """``correlate``, of which other elements are the "same" where a length is even."""
    if mode != "same":
        return correlate(in1, in2, mode, method)
    (n, m), (k, j) = np.shape(in1), np.shape(in2)
    return correlate(in1, in2, "full", method)[k // 2 : k // 2 + n, j // 2 : j // 2 + m] * 1.0


_PADS = {
    "fill": "constant",
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "symmetric",
    "symmetric": "symmetric",
}
"""By name of what is behind the boundary of an image, how `numpy.pad` calls it."""


def _bounded(function: Any, convolved: Any, is_first: bool) -> Any:
    """The body of `function`: `convolved` of images, which go on behind their boundary.

    Of an even length, the middle that is the "same" begins with the first of two elements if `is_first`."""

    def body(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
        ask(function, (in1, in2), mode, boundary, fillvalue)
        if mode == "valid" or (boundary == "fill" and type(fillvalue) is int and fillvalue == 0):
            return convolved(in1, in2, mode, "direct")
        (n, m), (k, j) = np.shape(in1), np.shape(in2)
        width = ((k - 1, k - 1), (j - 1, j - 1))
        if boundary == "fill":
            wide = np.pad(in1, width, "constant", constant_values=fillvalue)
        else:
            wide = np.pad(in1, width, _PADS[boundary])  # type: ignore[call-overload]  # one of its modes
        whole = convolved(wide, in2, "valid", "direct")
        if mode == "full":
            return whole
        top, left = ((k - 1) // 2, (j - 1) // 2) if is_first else (k // 2, j // 2)
        return whole[top : top + n, left : left + m] * 1.0

    return body


def _folded(k: Any, n: int, mode: str) -> Any:
    """Where the samples of places `k` of an endless signal stand in its `n` samples."""
    if mode == "wrap":
        return k % n
    if mode == "reflect":
        k = k % max(2 * n - 2, 1)
        return np.minimum(k, 2 * n - 2 - k)
    k = k % (2 * n)
    return np.minimum(k, 2 * n - 1 - k)


def _beyond(x: Any, more: int, mode: str, cval: Any) -> Any:
    """`x` with so many samples `more` before and behind it, along its last axis, as `mode` continues it."""
    n = x.shape[-1]
    k = np.arange(-more, n + more)
    before, behind = np.minimum(k, 0), np.maximum(k - (n - 1), 0)
    inside = x[..., np.clip(k, 0, n - 1)]
    if mode == "constant":
        return np.where((before < 0) | (behind > 0), cval, inside)
    if mode == "edge":
        return inside
    if mode in ("wrap", "reflect", "symmetric"):
        return x[..., _folded(k, n, mode)]
    if mode == "antisymmetric":
        return x[..., _folded(k, n, mode)] * np.where(k // n % 2 == 0, 1.0, -1.0)
    if mode == "line":
        return inside + (x[..., -1:] - x[..., :1]) / (n - 1) * (before + behind)
    if mode == "smooth":
        first, last = x[..., 1:2] - x[..., :1], x[..., -1:] - x[..., -2:-1]
        return inside + first * before + last * behind
    raise UnsupportedError(
        f"scipy.signal.upfirdn with mode={mode!r}",
        "adbc has no rule for that form",
        "use np.pad(x, n, mode='reflect', reflect_type='odd') first",
    )


def upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: Any = 0
) -> Any:
    h, x = np.asarray(h), np.moveaxis(np.asarray(x), axis, -1)
    wanted = ((x.shape[-1] - 1) * up + len(h) - 1) // down + 1
    more = 0
    if mode not in (None, "constant") or cval not in (None, 0):
        more = -(-(len(h) - 1) // up)
        x = _beyond(x, more, mode or "constant", cval)
    n = x.shape[-1]
    dtype = np.result_type(h, x, np.float32)
    wide = np.zeros((*x.shape[:-1], (n - 1) * up + 1), dtype)
    wide[..., ::up] = x
    taps = np.reshape(h.astype(dtype), (1,) * (x.ndim - 1) + (len(h),))
    whole = signal.convolve(wide, taps, "full", "direct")[..., more * up :: down]
    return np.moveaxis(whole[..., :wanted], -1, axis)


# -- filters that begin as if the signal had been mirrored -------------------------------------------------

_SPLINE = internal("scipy.signal._spline")
_BLOCK = 64
"""The number of samples whose shares in a linear function are asked for at once."""


def _of_first_order(function: Any) -> Any:
    def begun(input: Any, z1: Any, precision: Any = -1.0) -> Any:
        return function(input, z1, precision)

    return begun


def _of_second_order(function: Any) -> Any:
    def begun(input: Any, r: Any, omega: Any, precision: Any = -1.0) -> Any:
        return function(input, r, omega, precision)

    return begun


def _beginning(name: str, public: str, wrapped: Any) -> list[Rule]:
    """The rows of the function in C that gives the first values of the filter `public` of signals, in rows:
    a linear function of them, of which the share of each sample is asked for."""
    function = getattr(_SPLINE, name, None)
    if function is None:
        return []
    begun = wrapped(function)

    def along(d: Any, out: Any, input: Any, *given: Any, **named: Any) -> Any:
        return begun(np.ascontiguousarray(d), *given, **named)  # of other memory SciPy reads what is between

    def back(by: Any, out: Any, input: Any, *given: Any, **named: Any) -> Any:
        n, dtype = np.shape(input)[1], np.asarray(input).dtype
        blocks = [np.eye(min(_BLOCK, n - k), n, k, dtype) for k in range(0, n, _BLOCK)]
        shares = np.concatenate([begun(block, *given, **named) for block in blocks])
        return by @ np.conjugate(shares).T

    def body(*given: Any) -> Any:
        return begun(*given)

    row = FormulaRule(begun, jvp=[along], vjp=[back], name=f"scipy.signal.{public}")
    return [row, *bodies(_SPLINE, {name: body})]


def separable(input: Any, hrow: Any, hcol: Any) -> Any:
    return signal.sepfir2d(input, hrow, hcol)


def _separable_input(by: Any, input: Any, hrow: Any, hcol: Any) -> Any:
    """The adjoint by the matrices of the two axes, which are not symmetric at their ends."""
    (n, m), dtype, one = np.shape(input), np.asarray(input).dtype, np.ones(1, np.asarray(hrow).dtype)
    rows, columns = separable(np.eye(m, dtype=dtype), hrow, one), separable(np.eye(n, dtype=dtype), one, hcol)
    return np.conjugate(columns).T @ by @ np.conjugate(rows).T


def _by_taps(by: Any, h: Any, filtered: Any) -> Any:
    """The cotangent of the taps `h`, of which `filtered` gives the result for others."""
    return np.array([np.sum(np.conjugate(filtered(tap)) * by) for tap in np.eye(len(h), dtype=h.dtype)])


def _separable_hrow(by: Any, input: Any, hrow: Any, hcol: Any) -> Any:
    return _by_taps(by, hrow, lambda tap: separable(input, tap, hcol))


def _separable_hcol(by: Any, input: Any, hrow: Any, hcol: Any) -> Any:
    return _by_taps(by, hcol, lambda tap: separable(input, hrow, tap))


def sepfir2d(input: Any, hrow: Any, hcol: Any) -> Any:
    image = np.asarray(input)
    # C code makes numbers of the image's kind of a list, and looks what kind an array is of.
    dtype = np.result_type(image, np.float32)
    rows, columns = (
        np.asarray(h, dtype) if isinstance(h, list | tuple) else np.asarray(h) for h in (hrow, hcol)
    )
    return separable(image, rows, columns)


# -- the median under a window -----------------------------------------------------------------------------


def median_2d(image: Any, sizes: Any) -> Any:
    """The body of the function in C: outside of the image there are zeros."""
    wide = image
    for axis, size in enumerate(sizes):
        wide = wider(wide, axis, int(size) // 2, int(size) // 2, CONSTANT, 0)
    n, m = np.shape(image)
    places = [(k, j) for k in range(int(sizes[0])) for j in range(int(sizes[1]))]
    parts = np.stack([wide[k : k + n, j : j + m] for k, j in places])
    return np.sort(parts, axis=0)[len(places) // 2].astype(np.asarray(image).dtype)


ROWS: list[Rule] = [
    FormulaRule(
        divided,
        jvp=[_along_a, lambda d, y, a, u: divided(np.asarray(a), d)],
        vjp=[_against_a, _against_u],
        name="scipy.signal.lfilter",
    ),
    linear(signal.convolve, (0, 1), transpose=(_convolve_x, _convolve_h)),
    linear(
        separable,
        (0, 1, 2),
        transpose=(_separable_input, _separable_hrow, _separable_hcol),
        name="scipy.signal.sepfir2d",
    ),
    *_beginning("symiirorder1_ic", "symiirorder1", _of_first_order),
    *_beginning("symiirorder2_ic_fwd", "symiirorder2", _of_second_order),
    *_beginning("symiirorder2_ic_bwd", "symiirorder2", _of_second_order),
    *bodies(internal("scipy.signal._sigtools"), {"_medfilt2d": median_2d}),
    *bodies(
        signal,
        {
            "lfilter": lfilter,
            "sosfilt": sosfilt,
            "correlate": correlate,
            "convolve2d": _bounded(signal.convolve2d, signal.convolve, True),
            "correlate2d": _bounded(signal.correlate2d, _correlate2d, False),
            "upfirdn": upfirdn,
            "sepfir2d": sepfir2d,
        },
    ),
]
