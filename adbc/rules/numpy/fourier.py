"""Rules of the discrete Fourier transforms.

Without its scale a transform of a complex signal is a symmetric matrix F with conj(F) F = n, so that its
adjoint is the inverse transform, with the scales of the two exchanged.  What is padded is cut off on the way
back, and what was cut off is padded with zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.formulas import Formula
from adbc.rules.numpy.base import ArrayRule
from adbc.rules.numpy.completing import completed, last_rows
from adbc.rules.table import Rule

__all__ = ["EXCHANGED", "LAST_ROWS", "ROWS", "axes_of", "halved", "resized"]

EXCHANGED: dict[str | None, Any] = {
    None: "forward",
    "backward": "forward",
    "forward": "backward",
    "ortho": "ortho",
}


def resized(d: Any, size: int, axis: int) -> Any:
    """`d` cut off or padded with zeros to length `size` along `axis`."""
    present = d.shape[axis]
    if present == size:
        return d
    d = np.moveaxis(d, axis, -1)
    if present > size:
        d = d[..., :size]
    else:
        d = np.concatenate([d, np.zeros((*d.shape[:-1], size - present), d.dtype)], axis=-1)
    return np.moveaxis(d, -1, axis)


def _symmetric(by: Any, axis: int) -> Any:
    """The first half of ``by[k] + conj(by[-k])`` along `axis`, which transforms to twice the real part."""
    is_last = axis in (-1, by.ndim - 1)
    by = by if is_last else np.moveaxis(by, axis, -1)
    n = by.shape[-1]
    half = by[..., : n // 2 + 1].copy()
    half[..., :1] *= 2.0
    rest, mirrored = half[..., 1:], by[..., : n - n // 2 - 1 : -1]
    np.add(rest.real, mirrored.real, out=rest.real)
    np.subtract(rest.imag, mirrored.imag, out=rest.imag)
    return half if is_last else np.moveaxis(half, -1, axis)


def _line(function: Any, inverse: Any, real_inverse: Any) -> ArrayRule:
    """The rule of a transform along one axis; real_inverse: `inverse` from half of a symmetric spectrum."""

    def jvp(d: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        return function(d, n, axis, norm)

    def vjp(by: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        if np.isrealobj(a):  # the imaginary part of the cotangent is dropped
            d = real_inverse(_symmetric(by, axis), by.shape[axis], axis, EXCHANGED[norm])
            d *= 0.5
        else:
            d = inverse(by, None, axis, EXCHANGED[norm])
        return resized(d, np.shape(a)[axis], axis)

    formula = Formula(vjp, makes_new=True)
    return ArrayRule(function, "a n axis norm out", jvp=[jvp], vjp=[formula], defaults={"axis": -1})


def axes_of(a: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes of `a` that are transformed by a call with `s` and `axes`."""
    if axes is None:
        return tuple(range(-(np.ndim(a) if s is None else len(s)), 0))
    return tuple(axes)


def _grid(function: Any, inverse: Any, usual: Any) -> ArrayRule:
    """The rule of a transform along several axes, which are `usual` if the call does not say."""

    def jvp(d: Any, y: Any, a: Any, s: Any = None, axes: Any = usual, norm: Any = None) -> Any:
        return function(d, s, axes, norm)

    def vjp(by: Any, y: Any, a: Any, s: Any = None, axes: Any = usual, norm: Any = None) -> Any:
        places = axes_of(a, s, axes)
        d = inverse(by, None, places, EXCHANGED[norm])
        for axis in places:
            d = resized(d, np.shape(a)[axis], axis)
        return d

    return ArrayRule(function, "a s axes norm out", jvp=[jvp], vjp=[vjp], defaults={"axes": usual})


def halved(by: Any, n: int, axis: int, inner: float) -> Any:
    """Half of a spectrum of `n` numbers, with those that stand for two of the `n` multiplied by `inner`."""
    d = np.moveaxis(np.array(by), axis, -1)
    d[..., 1 : (n + 1) // 2] *= inner
    return np.moveaxis(d, -1, axis)


def _rfft_jvp(d: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return np.fft.rfft(d, n, axis, norm)


def _rfft_vjp(by: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The cotangent of ``rfft``: an ``irfft``, with what that counts twice halved before."""
    size = np.shape(a)[axis] if n is None else n
    d = np.fft.irfft(halved(by, size, axis, 0.5), size, axis, EXCHANGED[norm])
    return resized(d, np.shape(a)[axis], axis)


def _irfft_jvp(d: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return np.fft.irfft(d, n, axis, norm)


def _irfft_vjp(by: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The cotangent of ``irfft``: an ``rfft``, in which numbers that ``irfft`` counts twice are doubled."""
    size = np.shape(y)[axis]
    d = halved(np.fft.rfft(by, size, axis, EXCHANGED[norm]), size, axis, 2.0)
    return resized(d, np.shape(a)[axis], axis)


def _real(function: Any, jvp: Any, vjp: Any) -> ArrayRule:
    return ArrayRule(function, "a n axis norm out", jvp=[jvp], vjp=[vjp], defaults={"axis": -1})


def _real_grid(function: Any, shapes: Any, usual: Any) -> ArrayRule:
    """The rule of ``rfftn`` and its kin: along the last axis a real transform, then others along others."""

    def jvp(d: Any, y: Any, a: Any, s: Any = None, axes: Any = usual, norm: Any = None) -> Any:
        return function(d, s, axes, norm)

    def vjp(by: Any, y: Any, a: Any, s: Any = None, axes: Any = usual, norm: Any = None) -> Any:
        *others, last = axes_of(a, s, axes)
        return shapes(by, y, a, s, tuple(others), last, norm)

    formula = Formula(vjp, makes_new=True)
    return ArrayRule(function, "a s axes norm out", jvp=[jvp], vjp=[formula], defaults={"axes": usual})


def _rfftn_back(by: Any, y: Any, a: Any, s: Any, others: Any, last: Any, norm: Any) -> Any:
    size = np.shape(a)[last] if s is None else s[-1]
    if others:
        by = np.fft.ifftn(by, None, others, EXCHANGED[norm])
    d = np.fft.irfft(halved(by, size, last, 0.5), size, last, EXCHANGED[norm])
    for axis in (*others, last):
        d = resized(d, np.shape(a)[axis], axis)
    return d


def _irfftn_back(by: Any, y: Any, a: Any, s: Any, others: Any, last: Any, norm: Any) -> Any:
    size = np.shape(y)[last]
    d = halved(np.fft.rfft(by, size, last, EXCHANGED[norm]), size, last, 2.0)
    if others:
        d = np.fft.fftn(d, None, others, EXCHANGED[norm])
    for axis in (*others, last):
        d = resized(d, np.shape(a)[axis], axis)
    return d


def _shift(function: Any, inverse: Any) -> ArrayRule:
    def jvp(d: Any, y: Any, x: Any, axes: Any = None) -> Any:
        return function(d, axes)

    def vjp(by: Any, y: Any, x: Any, axes: Any = None) -> Any:
        return inverse(by, axes)

    return ArrayRule(function, "x axes", jvp=[jvp], vjp=[vjp])


ROWS: list[Rule] = completed(
    [
        _line(np.fft.fft, np.fft.ifft, np.fft.irfft),
        _line(np.fft.ifft, np.fft.fft, np.fft.hfft),
        _grid(np.fft.fft2, np.fft.ifftn, (-2, -1)),
        _grid(np.fft.ifft2, np.fft.fftn, (-2, -1)),
        _grid(np.fft.fftn, np.fft.ifftn, None),
        _grid(np.fft.ifftn, np.fft.fftn, None),
        _real(np.fft.rfft, _rfft_jvp, _rfft_vjp),
        _real(np.fft.irfft, _irfft_jvp, _irfft_vjp),
        _real_grid(np.fft.rfft2, _rfftn_back, (-2, -1)),
        _real_grid(np.fft.rfftn, _rfftn_back, None),
        _real_grid(np.fft.irfft2, _irfftn_back, (-2, -1)),
        _real_grid(np.fft.irfftn, _irfftn_back, None),
        _shift(np.fft.fftshift, np.fft.ifftshift),
        _shift(np.fft.ifftshift, np.fft.fftshift),
    ]
)
LAST_ROWS = last_rows(ROWS)
