"""Bins, equal elements, blocks, padding with numbers that are computed, and weighted covariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

V = np.array([0.3, 0.7, 0.2, 0.5, 0.8])
W = np.array([1.3, 0.4, 0.9, 0.6, 0.1])
A = np.arange(12.0).reshape(3, 4) ** 1.1

ONE = [
    "np.bincount([0, 1, 1, 4, 2], v)",
    "np.bincount([0, 1, 1, 4, 2], weights=v, minlength=8)",
    "np.bincount(np.array([0, 1, 1, 4, 2]), weights=list(v))",
    "np.histogram(v, 3, (0.0, 1.0), weights=w)",
    "np.histogram(v, 3, (0.0, 1.0), weights=w, density=True)[0]",
    "np.unique(np.concatenate([v, v]))",
    "np.unique(np.concatenate([v, w, v]), return_inverse=True, return_counts=True)",
    "np.unique(np.stack([v, w, v]), axis=0)",
    "np.unique(np.stack([v, w, v]), True, axis=1)",
    "np.unique([v[0], v[1], v[0]])",
    "np.setdiff1d(v, w)",
    "np.intersect1d(v, v[1:3])",
    "np.setxor1d(v, v[1:3])",
    "np.union1d(v, w)",
    "np.ix_(v, w)",
    "np.block([[v, w], [w, v]])",
    "np.block([v, w[0], 2.0])",
    "np.insert(v, [1, 3], w[:2]) + 0.0",
    "np.cov(v, w, aweights=[1.0, 2.0, 1.5, 0.5, 1.0])",
    "np.cov(v, w, fweights=[1, 2, 1, 3, 1], aweights=[1.0, 2.0, 1.5, 0.5, 1.0], bias=True)",
    "np.cov(v, w, aweights=np.abs(w), ddof=0)",
    "np.corrcoef(v, w)",
]


def called(text: str, names: str) -> Any:
    """A function of these names that makes this call: what stands in the text is constant."""
    return eval(f"lambda {names}: {text}", {"np": np})


@pytest.mark.parametrize("text", ONE)
def test_functions(text: str) -> None:
    check_rule(called(text, "v, w"), V, W)
    check_rule(called(text, "v, w"), V[::-1], np.asfortranarray(W))


PADDED = [
    "mode='mean'",
    "mode='maximum'",
    "mode='minimum', stat_length=2",
    "mode='median', stat_length=((2, 1), (3, 3))",
    "mode='linear_ramp'",
    "mode='linear_ramp', end_values=(3, -2)",
    "mode='edge'",
    "constant_values=2.0",
]


@pytest.mark.parametrize("options", PADDED)
@pytest.mark.parametrize("width", ["1", "((2, 0), (1, 3))"])
def test_padding(options: str, width: str) -> None:
    f = called(f"np.pad(a, {width}, {options})", "a")
    check_rule(f, A)
    whole = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(adbc.jvp(lambda x: f(whole) * x, (1.0,), (1.0,))[0], f(whole))


def test_kinds_of_weights() -> None:
    check_rule(called("np.bincount([0, 1, 1, 4, 2], v)", "v"), V.astype(np.float32), rtol=1e-2, step=0.1)


@pytest.mark.skipif(not hasattr(np, "unique_values"), reason="new in NumPy 2")
def test_unique_values() -> None:
    check_rule(called("np.unique_values(v)", "v"), V)
    check_rule(called("np.unique_counts(v)", "v"), V)


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match=r"np.pad with mode="):
        adbc.grad(lambda v: np.pad(v, 1, mode="mean", constant_values=2).sum())(V)
