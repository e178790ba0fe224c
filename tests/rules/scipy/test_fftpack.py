"""Transforms of ``scipy.fftpack``: what those of ``scipy.fft`` do, by the older names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import fftpack

import adbc
from adbc.errors import AdbcError
from adbc.testing import test_rule as check_rule

RNG = np.random.default_rng(6)
REAL = RNG.normal(size=(3, 6))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 6))


def call(name: str, **keywords: Any) -> Any:
    function = getattr(fftpack, name)
    return lambda x: function(x, **keywords)


def agrees(f: Any, x: Any) -> None:
    """`f` is differentiated right, and gives what it gives without that, its argument as it was."""
    kept = x.copy()
    check_rule(f, x)
    value, _ = adbc.jvp(f, (x,), (np.ones_like(x),))
    assert np.array_equal(value, f(x))
    assert np.array_equal(x, kept)


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("keywords", [{}, {"n": 5}, {"n": 8}, {"axis": 0}], ids=str)
@pytest.mark.parametrize("x", [REAL, COMPLEX], ids=["real", "complex"])
def test_one_axis(name: str, keywords: Any, x: Any) -> None:
    agrees(call(name, **keywords), x)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "fft2", "ifft2"])
@pytest.mark.parametrize("keywords", [{}, {"shape": (2, 5)}, {"axes": (1, 0)}], ids=str)
def test_several_axes(name: str, keywords: Any) -> None:
    agrees(call(name, **keywords), COMPLEX)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosines_and_sines(name: str, kind: int) -> None:
    for norm in (None, "ortho"):
        agrees(call(name, type=kind, norm=norm), REAL)
        agrees(call(name + "n", type=kind, norm=norm), REAL)
    agrees(call(name, type=kind, n=4, axis=0), REAL)
    agrees(call(name, type=kind), COMPLEX)
    agrees(call(name + "n", type=kind, shape=(4,), axes=(1,)), REAL)


def test_what_is_there_and_back() -> None:
    agrees(lambda x: fftpack.idct(fftpack.dct(x, norm="ortho") * 2.0, norm="ortho"), REAL[0])
    agrees(lambda x: abs(fftpack.fft(x * 2.0)) ** 2, REAL[0])


def test_packed_spectra_are_refused() -> None:
    with pytest.raises(AdbcError):
        adbc.jvp(fftpack.rfft, (REAL[0],), (REAL[0],))
