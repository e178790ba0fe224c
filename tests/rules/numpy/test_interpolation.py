"""``np.interp``: places, points, values, what stands beyond the ends, and circles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .harness import check_each_path

XP = np.array([-1.0, 0.2, 0.9, 2.0])
FP = np.array([0.3, 1.7, -0.4, 2.2])
X = np.array([[-0.6, 0.5], [1.3, 1.95]])
OUTSIDE = np.array([-1.7, -0.3, 1.1, 2.6, 3.0])

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x, xp, fp: np.interp(x, xp, fp), (0.4, XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp), (-3.0, XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp), (3.0, XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp), (X, XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp), (OUTSIDE, XP, FP)),
    (lambda x, xp, fp: np.interp(x[::-2], xp[::2], fp[1::2]), (OUTSIDE, XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp), (np.array(0.4), XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp), (np.zeros(0), XP, FP)),
    (lambda x, xp, fp: np.interp(x, list(xp), tuple(fp)), (0.4, XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp, 1.0, 2.0), (OUTSIDE, XP, FP)),
    (lambda x, xp, fp: np.interp(x, xp, fp, right=2.0), (OUTSIDE, XP, FP)),
    (lambda x, xp, fp, a, b: np.interp(x, xp, fp, a, b), (OUTSIDE, XP, FP, 0.7, -0.3)),
    (lambda x, xp, fp, a: np.interp(x, xp, fp, left=a), (OUTSIDE, XP, FP, 0.7)),
    (lambda x, xp, fp, b: np.interp(x, xp, fp, right=b), (3.0, XP, FP, 0.7)),
    (lambda x, xp, fp, b: np.interp(x, xp, fp, right=b), (0.3, XP, FP, 0.7)),
    (lambda x, xp, fp: np.interp(x, xp, fp, period=2.5), (OUTSIDE, XP[[2, 0, 1]], FP[:3])),
    (lambda x, xp, fp: np.interp(x, xp, fp, period=-2.5), (0.77, XP[[2, 0, 1]], FP[:3])),
    (lambda x, xp, fp: np.interp(x, xp, fp, 5.0, 6.0, 2.5), (OUTSIDE, XP[:3], FP[:3])),
    (lambda x, xp, fp, p: np.interp(x, xp, fp, period=p), (OUTSIDE, XP[[2, 0, 1]], FP[:3], 2.5)),
    (lambda x, xp, fp, p: np.interp(x, xp, fp, period=p), (-7.3, XP[[2, 0, 1]] * 9.0, FP[:3], -2.5)),
    (lambda x, xp, fp, a: np.interp(x, xp, fp, a, period=2.5), (OUTSIDE, XP[:3], FP[:3], 0.4)),
    (lambda x, xp, fp: np.interp(x, xp, fp), (OUTSIDE, XP[:1], FP[:1])),
    (lambda x, xp, fp, a: np.interp(x, xp, fp, left=a), (OUTSIDE, XP[:1], FP[:1], 0.7)),
    (lambda x, xp, fp: np.interp(x, xp, fp, period=3.0), (OUTSIDE, XP[:1], FP[:1])),
    (lambda x, xp, fp: np.interp(x, xp, fp), (OUTSIDE, XP, FP + 1j * FP[::-1])),
    (lambda x, xp, fp, a: np.interp(x, xp, fp, right=a), (OUTSIDE, XP, FP * 1j, 0.5 - 0.2j)),
    (lambda x, xp: np.interp(x, xp, [1, 2, 4, 8]), (X, XP)),
    (lambda x, fp: np.interp(x, [-1, 0, 1, 2], fp), (X, FP)),
]


@pytest.mark.parametrize(("f", "args"), CALLS, ids=lambda v: None)
def test_calls(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    np.testing.assert_array_equal(adbc.vjp(f, *args)[0], f(*args))
    check_rule(f, *args)


def test_single_precision_keeps_its_dtype() -> None:
    fp = FP.astype(np.float32)
    gradient = adbc.grad(lambda fp: np.interp(X, XP, fp).sum())(fp)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, adbc.grad(lambda fp: np.interp(X, XP, fp).sum())(FP), rtol=1e-6)


def test_conventions() -> None:
    """At a point the slope is that of the line to its right; at the last one, of the last line."""
    slope = adbc.grad(lambda x: np.interp(x, XP, FP))
    assert slope(0.2) == pytest.approx((FP[2] - FP[1]) / (XP[2] - XP[1]))
    assert slope(2.0) == pytest.approx((FP[3] - FP[2]) / (XP[3] - XP[2]))
    assert slope(-1.0) == pytest.approx((FP[1] - FP[0]) / (XP[1] - XP[0]))


def test_second_derivatives() -> None:
    """The slope of a value depends on the distance of the points."""

    def f(xp: Any) -> Any:
        return np.interp(X, xp, FP).sum()

    expected = np.zeros((4, 4))
    for i in range(4):
        h = np.eye(4)[i] * 1e-6
        expected[i] = (adbc.grad(f)(XP + h) - adbc.grad(f)(XP - h)) / 2e-6
    np.testing.assert_allclose(adbc.hessian(f)(XP), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_random_draws_on_each_path(seed: int) -> None:
    """The first call, later ones, and code from the beginning agree with differences."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    xp, fp = np.cumsum(rng.uniform(0.3, 1.0, n)), rng.normal(size=n)
    x = rng.uniform(xp[0] - 0.5, xp[-1] + 0.5, (3, 2)[: 1 + seed % 2])
    named = [{}, {"left": 0.3}, {"left": 0.1, "right": 0.2}, {"period": xp[-1] - xp[0] + 0.4}][seed % 4]

    def f(x: Any, xp: Any, fp: Any) -> Any:
        return np.sum(np.sin(np.interp(x, xp, fp, **named)))

    check_each_path(f, x, xp, fp)
