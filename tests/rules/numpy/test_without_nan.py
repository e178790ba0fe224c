"""Extrema, variances, medians and quantiles that leave out what is not a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

A = np.array([0.3, -1.2, 2.5, 0.9, 1.7])
M = np.array([[0.3, 2.1, -0.4], [1.2, 0.7, 3.3], [-0.6, 1.9, 0.2], [2.4, -1.1, 0.8]])
HOLES = np.arange(12).reshape(4, 3) % 5 == 1

CALLS: list[Callable[..., Any]] = [
    *[
        call
        for name in ("nanmax", "nanmin", "nanvar", "nanstd", "nanmedian")
        for f in [getattr(np, name)]
        for call in (
            f,
            lambda a, f=f: f(a, axis=0),
            lambda a, f=f: f(a, -1, keepdims=True) * 2.0,
            lambda a, f=f: f(a, axis=(0, 1)),
            lambda a, f=f: f(a.T, axis=1),
            lambda a, f=f: f(a[::-1, ::2], axis=0),
            lambda a, f=f: f(a[1]),
        )
    ],
    lambda a: np.nanmax(a, initial=1.0, axis=0) * 1.0,
    lambda a: np.nanmax(a, where=a > 0.0, initial=-9.0),
    lambda a: np.nansum(a, initial=2.0, axis=0),
    lambda a: np.nanvar(a, ddof=1, axis=0),
    lambda a: np.nanstd(a, axis=0, ddof=1, keepdims=True),
    lambda a: np.nanstd(list(a[0])),
    lambda a: np.nanquantile(a, 0.3),
    lambda a: np.nanquantile(a, [0.2, 0.9], axis=0),
    lambda a: np.nanquantile(a, 1.0, axis=1),
    lambda a: np.nanquantile(a, 0.3, axis=(0, 1), keepdims=True),
    lambda a: np.nanquantile(a, 0.3, method="hazen"),
    lambda a: np.nanpercentile(a, 41.0, axis=-2),
    lambda a: np.nanpercentile(a, [5, 50, 95]),
]


@pytest.mark.parametrize("f", CALLS, ids=lambda v: None)
def test_calls(f: Callable[..., Any]) -> None:
    check_rule(f, M)
    check_rule(lambda a: f(np.where(HOLES, np.nan, a)), M)
    given = np.where(HOLES, np.nan, M)
    np.testing.assert_array_equal(adbc.vjp(f, given)[0], f(given))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_places_of_quantiles(axis: int | None) -> None:
    check_rule(lambda a, q: np.nanquantile(np.where(HOLES, np.nan, a), q, axis), M, np.array([0.15, 0.62]))
    check_rule(lambda a, q: np.nanpercentile(np.where(HOLES, np.nan, a), q, axis), M, 35.0)


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanvar", "nanstd", "nanmedian"])
def test_single_precision_and_complex_numbers(name: str) -> None:
    f = getattr(np, name)
    gradient = adbc.grad(lambda a: f(a))(A.astype(np.float32))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, adbc.grad(lambda a: f(a))(A), rtol=1e-5, atol=1e-6)
    if name in ("nanvar", "nanstd"):
        check_rule(f, A + 1j * A[::-1])


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanvar", "nanstd", "nanmedian", "nanmean"])
def test_what_is_empty(name: str) -> None:
    f = getattr(np, name)
    try:
        expected = f(np.zeros((0, 3)), axis=0)
    except ValueError as plain:
        with pytest.raises(ValueError, match=str(plain)[:20]):
            adbc.vjp(lambda a: f(a, axis=0), np.zeros((0, 3)))
    else:
        np.testing.assert_array_equal(adbc.vjp(lambda a: f(a, axis=0), np.zeros((0, 3)))[0], expected)


test_what_is_empty = pytest.mark.filterwarnings("ignore::RuntimeWarning")(test_what_is_empty)


def test_ties_follow_the_first() -> None:
    a = np.array([np.nan, 2.0, 1.0, 2.0])
    np.testing.assert_array_equal(adbc.grad(lambda a: np.nanmax(a))(a), [0.0, 1.0, 0.0, 0.0])
