"""Filters and convolutions of ``scipy.signal`` and ``scipy.ndimage``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage, signal

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

RNG = np.random.default_rng(8)
X = RNG.normal(size=12)
IMAGE = RNG.normal(size=(6, 7))
W = IMAGE[:3, 2:4]
B, A = np.array([0.3, 0.2, 0.1]), np.array([1.5, -0.6, 0.2])
SOS = signal.butter(4, 0.3, output="sos")


@pytest.mark.parametrize("dtype", [float, np.float32, complex])
def test_lfilter(dtype: Any) -> None:
    b, a, x = B.astype(dtype), A.astype(dtype), X.astype(dtype)
    if dtype is complex:
        x = x + 1j * X[::-1]
    check_rule(lambda b, a, x: signal.lfilter(b, a, x), b, a, x)


def test_lfilter_in_other_ways() -> None:
    check_rule(lambda b, a, x: signal.lfilter(b, a, x, axis=0), B, A, IMAGE)
    check_rule(lambda b, a, x, zi: signal.lfilter(b, a, x, zi=zi), B, A, X, np.array([0.4, -0.3]))
    check_rule(lambda b, a, x, zi: signal.lfilter(b, a, x, zi=zi), B, A, X[:1], np.array([0.4, -0.3]))
    check_rule(lambda b, x: signal.lfilter(b, 1.0, x), B, X[::2])
    check_rule(lambda a, x: signal.lfilter([1.0], a, x), A, X)
    check_rule(lambda b, x, zi: signal.lfilter(b, [2.0], x, 0, zi), B, X, np.array([0.4, -0.3]))
    check_rule(lambda r: signal.lfilter([1.0 - r], [1.0, -r], X), 0.7)


def test_sections_and_both_directions() -> None:
    x = RNG.normal(size=40)
    check_rule(lambda x: signal.sosfilt(SOS, x), X)
    check_rule(lambda x, zi: signal.sosfilt(SOS, x, zi=zi), X, RNG.normal(size=(2, 2)))
    check_rule(lambda x: signal.filtfilt(B, A, x), x)
    check_rule(lambda b, a: signal.filtfilt(b, a, x), B, A)
    check_rule(lambda x: signal.sosfiltfilt(SOS, x), x)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("method", ["direct", "fft", "auto"])
def test_convolutions(mode: str, method: str) -> None:
    for x, h in [(X, B), (X[:2], X), (IMAGE, IMAGE[:3, :2]), (X + 1j, B + 1j * A), (X[::-2], A)]:
        if mode == "valid" and x.size < h.size:
            x, h = h, x
        check_rule(lambda x, h: signal.convolve(x, h, mode, method), x, h)
        check_rule(lambda x, h: signal.correlate(x, h, mode, method), x, h)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_other_convolutions(mode: str) -> None:
    check_rule(lambda x, h: signal.fftconvolve(x, h, mode), X, B)
    check_rule(lambda x, h: signal.oaconvolve(x, h, mode), X, B)
    check_rule(lambda x, h: signal.convolve2d(x, h, mode), IMAGE, IMAGE[:3, :2])
    check_rule(lambda x, h: signal.correlate2d(x, h, mode), IMAGE, IMAGE[:3, :2])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("shape", [(3, 2), (2, 4)])
def test_boundaries_of_images(mode: str, boundary: str, shape: tuple[int, int]) -> None:
    for function in (signal.convolve2d, signal.correlate2d):
        check_rule(
            lambda x, h, f=function: f(x, h, mode, boundary=boundary, fillvalue=0.7),
            IMAGE,
            IMAGE[: shape[0], : shape[1]],
        )
    with pytest.raises(ValueError, match="boundary"):
        adbc.grad(lambda x: signal.convolve2d(x, IMAGE, "same", boundary="other").sum())(IMAGE.copy())


def test_resampling() -> None:
    check_rule(lambda h, x: signal.upfirdn(h, x, 3, 2), B, X)
    check_rule(lambda h, x: signal.upfirdn(h, x, 2, axis=0), B, IMAGE)
    for mode in ("wrap", "edge", "smooth", "symmetric", "reflect", "antisymmetric", "line"):
        check_rule(lambda h, x, mode=mode: signal.upfirdn(h, x, 3, 2, mode=mode), B, X)
    check_rule(lambda h, x: signal.upfirdn(h, x, 1, 2, mode="constant", cval=0.7), B, X)
    check_rule(lambda x: signal.resample_poly(x, 3, 2, padtype="line"), X)
    check_rule(lambda x: signal.resample(x, 7), X)
    check_rule(lambda x: signal.resample_poly(x, 3, 2), X)
    check_rule(lambda x: signal.detrend(x), X)
    check_rule(lambda x: signal.savgol_filter(x, 5, 2), X)
    check_rule(lambda x: signal.savgol_filter(x, 5, 2, mode="nearest"), X)
    check_rule(lambda x: abs(signal.hilbert(x)), X)


MODES = ["reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap"]


@pytest.mark.parametrize("mode", MODES)
def test_filters_of_images(mode: str) -> None:
    check_rule(lambda x: ndimage.convolve(x, W, mode=mode, cval=1.5), IMAGE)
    check_gradient(lambda w: np.sum(ndimage.convolve(IMAGE, w, mode=mode, cval=1.5) ** 2), W)
    check_rule(lambda x: ndimage.correlate(x, W, mode=mode, origin=(0, -1)), IMAGE)
    check_rule(lambda x: ndimage.convolve1d(x, B, axis=0, mode=mode), IMAGE)
    check_gradient(lambda w: np.sum(ndimage.convolve1d(IMAGE, w, axis=0, mode=mode) ** 2), B)
    check_rule(lambda x: ndimage.gaussian_filter(x, 1.2, mode=mode), IMAGE)
    check_rule(lambda x: ndimage.uniform_filter(x, 4, mode=mode), IMAGE)
    check_rule(lambda x: ndimage.gaussian_filter1d(x, 0.8, order=1, mode=mode), X)


def test_other_filters_of_images() -> None:
    for name in ("sobel", "prewitt", "laplace"):
        check_rule(lambda x, name=name: getattr(ndimage, name)(x), IMAGE)
    check_rule(lambda x: ndimage.gaussian_laplace(x, 0.9), IMAGE)
    check_rule(lambda x: ndimage.gaussian_filter(x, (0.7, 1.1)), IMAGE.astype(np.float32))
    check_rule(lambda x: ndimage.maximum_filter(x, 3), IMAGE, step=1e-4)
    check_rule(lambda x: ndimage.minimum_filter(x, (2, 3)), IMAGE, step=1e-4)

    def into(x: Any, out: Any) -> Any:
        ndimage.gaussian_filter(x, 1.0, output=out)
        return out * x

    check_rule(into, IMAGE, np.ones_like(IMAGE))
    check_rule(lambda s: ndimage.gaussian_filter(IMAGE, s), 1.2, step=1e-4)


def test_splines_of_signals_and_images() -> None:
    wide, long = np.tile(IMAGE, (4, 4)), np.tile(X, 4)
    check_rule(lambda x: signal.symiirorder1(x, 0.3, 0.4), long)
    check_rule(lambda x: signal.symiirorder1(x, 0.3, 0.4), long + 1j * long[::-1])
    check_rule(lambda x, c: signal.symiirorder1(x, c, 0.2), wide, 0.3)
    check_rule(lambda x: signal.symiirorder2(x, 0.4, 0.7), np.tile(X, 8))  # several blocks of samples
    check_rule(lambda x: signal.cspline2d(x), wide)
    check_rule(lambda x: signal.qspline2d(x), wide)
    check_rule(lambda x: signal.spline_filter(x), np.tile(IMAGE, (8, 8)))
    with pytest.raises(UnsupportedError, match=r"scipy\.signal\.symiirorder1 .* 'z1'"):
        adbc.grad(lambda z: signal.symiirorder1(long, 0.3, z).sum())(0.4)


def test_separable_filters() -> None:
    rows, columns = RNG.normal(size=3), RNG.normal(size=5)
    check_rule(signal.sepfir2d, IMAGE, rows, columns)
    check_rule(lambda x, h: signal.sepfir2d(x, [0.2, 0.5, 0.3], h), IMAGE, columns)
    single = IMAGE.astype(np.float32)
    check_rule(lambda x: signal.sepfir2d(x, [1.0, 2.0, 1.0], (1.0, 0.0, -1.0)), single)
    taps = lambda a, b: signal.sepfir2d(single, [a, 2.0, b], (1, 0.0, a * b))  # noqa: E731
    check_rule(taps, 0.7, 1.2, rtol=1e-2, step=0.1)
    with pytest.raises(TypeError, match="Cannot cast"):
        adbc.grad(lambda x: signal.sepfir2d(x, rows, columns).sum())(single)
    check_rule(signal.sepfir2d, single, *[h.astype(np.float32) for h in (rows, columns)])
    check_rule(signal.sepfir2d, IMAGE + 1j * IMAGE[::-1], rows + 1j * rows[::-1], columns + 0.2j)


@pytest.mark.parametrize("size", [3, (3, 5), (1, 3)])
def test_medians_of_images(size: Any) -> None:
    check_rule(lambda x: signal.medfilt2d(x, size), IMAGE)
    apart = RNG.permutation(IMAGE.size).reshape(IMAGE.shape) + 1.0
    check_rule(lambda x: signal.medfilt2d(x, size), apart.astype(np.float32))
