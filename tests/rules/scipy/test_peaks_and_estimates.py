"""Peaks of signals, densities that are estimated by kernels, and Hankel transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import fft, signal, stats

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.rules.scipy.agreement import agrees

RNG = np.random.default_rng(4)
SIGNAL = RNG.standard_normal(40).cumsum()
PEAKS = signal.find_peaks(SIGNAL)[0]
DATA, POINTS, WEIGHTS = RNG.standard_normal((2, 15)), RNG.standard_normal((2, 4)), RNG.random(15)


@pytest.mark.filterwarnings("ignore:some peaks have a width of 0")
@pytest.mark.parametrize("window", [None, 5, 9])
def test_prominences_and_widths(window: Any) -> None:
    agrees(lambda x: signal.peak_prominences(x, PEAKS, wlen=window)[0], SIGNAL)
    for height in (0.0, 0.3, 0.5, 0.9, 1.0):
        agrees(lambda x, height=height: signal.peak_widths(x, PEAKS, height, wlen=window), SIGNAL)


def test_rules_of_prominences_and_widths() -> None:
    check_rule(lambda x: signal.peak_prominences(x[::-1], PEAKS[:3])[0], SIGNAL[::-1].copy(), step=1e-4)
    check_rule(lambda x: signal.peak_widths(x, PEAKS)[0], SIGNAL, step=1e-4)


def test_properties_of_peaks() -> None:
    agrees(lambda x: signal.find_peaks(x, prominence=0.3, width=1)[1]["widths"], SIGNAL)
    agrees(lambda x: signal.find_peaks(x, height=0.0, distance=3)[1]["peak_heights"], SIGNAL)


@pytest.mark.parametrize("method", [None, "silverman", 0.4, lambda kde: 0.3])
def test_densities(method: Any) -> None:
    agrees(lambda d, p: stats.gaussian_kde(d, method)(p), DATA, POINTS)
    agrees(lambda d, p, w: stats.gaussian_kde(d, method, weights=w).logpdf(p), DATA, POINTS, WEIGHTS)


def test_rules_of_densities() -> None:
    check_rule(lambda d, p: stats.gaussian_kde(d)(p), DATA[0], POINTS[0], step=1e-3)
    agrees(lambda d, p: stats.gaussian_kde(d)(p), DATA, POINTS[:, 0].copy())
    with pytest.raises(ValueError, match="dimension"):
        adbc.jvp(lambda d: stats.gaussian_kde(d)(np.ones((3, 4))), (DATA,), (DATA,))


@pytest.mark.parametrize("name", ["fht", "ifht"])
def test_hankel_transforms(name: str) -> None:
    function = getattr(fft, name)
    a = RNG.random((2, 8))
    for offset in (0.0, 0.3):
        for bias in (0.0, -0.3):
            agrees(lambda a, offset=offset, bias=bias: function(a, 0.1, 1.0, offset, bias), a)
    agrees(lambda a: function(a[::-1, 1:], 0.1, 0.5), a)
    check_rule(lambda a: function(a, 0.1, 2.0, bias=0.2), a)
    single = a.astype(np.float32)
    found, _ = adbc.jvp(lambda a: function(a, 0.1, 1.0), (single,), (single,))
    assert found.dtype == function(single, 0.1, 1.0).dtype


def test_hankel_transforms_by_their_parameters_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"scipy.fft.fht by dln(.|\n)*stop_gradient"):
        adbc.grad(lambda d: fft.fht(np.arange(8.0), d, 1.0).sum())(0.1)
