"""Transforms of ``scipy.fft``: every function, over kinds of arguments, axes, lengths and scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import fft

from adbc.testing import test_rule as check_rule

RNG = np.random.default_rng(5)
REAL = RNG.normal(size=(3, 6))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 6))
COSINES = ["dct", "idct", "dst", "idst"]


def call(name: str, **keywords: Any) -> Any:
    function = getattr(fft, name)
    return lambda x: function(x, **keywords)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize(
    "keywords",
    [{}, {"n": 5}, {"n": 8}, {"axis": 0}, {"norm": "ortho"}, {"norm": "forward"}, {"workers": 1}],
    ids=str,
)
def test_one_axis(name: str, keywords: Any) -> None:
    if name not in ("rfft", "ihfft"):
        check_rule(call(name, **keywords), COMPLEX)
    if name != "ihfft" or "axis" not in keywords:
        check_rule(call(name, **keywords), REAL)


@pytest.mark.parametrize("suffix", ["2", "n"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize(
    "keywords", [{}, {"s": (2, 5)}, {"axes": (1, 0)}, {"norm": "ortho"}, {"norm": "forward"}], ids=str
)
def test_several_axes(name: str, suffix: str, keywords: Any) -> None:
    x = REAL if name in ("rfft", "ihfft") else COMPLEX
    check_rule(call(name + suffix, **keywords), x)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", COSINES)
def test_cosines_and_sines(name: str, kind: int) -> None:
    for norm in (None, "ortho", "forward"):
        check_rule(call(name, type=kind, norm=norm), REAL)
        check_rule(call(name + "n", type=kind, norm=norm), REAL)
    check_rule(call(name, type=kind, n=4, axis=0), REAL)
    check_rule(call(name, type=kind), COMPLEX)
    check_rule(call(name + "n", type=kind, s=4, axes=1), REAL)


@pytest.mark.parametrize("name", ["fft", "rfft", "dct", "fftn"])
def test_kinds_of_arrays(name: str) -> None:
    check_rule(call(name), REAL.astype(np.float32))
    check_rule(call(name), REAL[::-1, ::2])
    check_rule(call(name), np.asfortranarray(REAL))
    check_rule(lambda x: getattr(fft, name)([x, 2.0, x * x]), 0.7)


def test_what_may_be_overwritten_is_not() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        z = fft.fft(y, overwrite_x=True)
        w = fft.dct(y, 2, None, -1, None, True)
        return (z * z.conj()).real.sum() + w.sum()

    check_rule(f, COMPLEX.real.copy())


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_weights_that_are_not_those_of_the_scale(name: str, kind: int) -> None:
    for norm, orthogonalize in ((None, True), ("ortho", False), ("forward", True), ("ortho", True)):
        check_rule(
            lambda x, n=norm, o=orthogonalize: getattr(fft, name)(x, type=kind, norm=n, orthogonalize=o),
            RNG.normal(size=(3, 4)),
        )
