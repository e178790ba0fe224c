"""Functions that NumPy composes of others, by formulas, and the forms in which they are followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

A = np.array([0.3, -1.2, 2.5, 0.9, 1.7])
M = np.array([[0.3, 2.1, -0.4], [1.2, 0.7, 3.3], [-0.6, 1.9, 0.2], [2.4, -1.1, 0.8]])
HOLES = np.where(np.arange(12.0).reshape(4, 3) % 5 == 1, np.nan, M)
W = np.array([0.2, 1.5, 0.7])

# Where NumPy's lines are followed, what they write into empty arrays is taken back, and results are not kept.
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda a: np.nansum(a), (HOLES,)),
    (lambda a: np.nansum(a, axis=0), (HOLES,)),
    (lambda a: np.nansum(a, 1, keepdims=True) * 2.0, (HOLES,)),
    (lambda a: np.nansum(a, where=a > 0.5, initial=2.0), (HOLES,)),
    (lambda a: np.nansum(a * 1j), (HOLES,)),
    (lambda a: np.nanmean(a), (HOLES,)),
    (lambda a: np.nanmean(a, axis=(0, 1)), (HOLES,)),
    (lambda a: np.nanmean(a, -1, keepdims=True), (HOLES,)),
    (lambda a: np.nanmean(a, axis=1, where=a > -0.5), (HOLES,)),
    (lambda a: np.nanmean(a), (A,)),
    (lambda a: np.nanmean(list(a)), (A,)),
    (lambda a, w: np.average(a, weights=w), (A, A**2)),
    (lambda a, w: np.average(a, axis=1, weights=w), (M, W)),
    (lambda a, w: np.average(a, 1, w, keepdims=True), (M, W)),
    (lambda a, w: np.average(a, axis=(0, 1), weights=w), (M, M**2)),
    (lambda a, w: np.average(a, 1, w, True)[1], (M, W)),
    (lambda a: np.average(a), (M,)),
    (lambda a: np.average(a, axis=0), (M,)),
    (lambda a: np.average(a, weights=[1, 2, 3, 4, 5]), (A,)),
    (lambda w: np.average([1.0, 2.0, 3.0], weights=w), (W,)),
    (lambda a, q: np.quantile(a, q), (A, 0.3)),
    (lambda a: np.quantile(a, 0.5), (A,)),
    (lambda a: np.quantile(a, 1.0), (A,)),
    (lambda a, q: np.quantile(a, q, axis=0), (M, np.array([0.1, 0.6]))),
    (lambda a, q: np.quantile(a, q, axis=(0, 1), keepdims=True), (M, np.array([[0.15], [0.62]]))),
    (lambda a: np.quantile(a, [0.25, 0.75], axis=1), (M,)),
    (lambda a: np.quantile(a, 0.3, method="hazen"), (A,)),
    (lambda a: np.quantile(list(a), 0.3), (A,)),
    (lambda a, q: np.percentile(a, q), (A, 35.0)),
    (lambda a: np.percentile(a, [5, 50, 95], axis=0), (M,)),
    (lambda a: np.gradient(a), (A,)),
    (lambda a, h: np.gradient(a, h), (A, 0.3)),
    (lambda a: np.gradient(a[:2]), (A,)),
    (lambda a, h: np.gradient(a, h, axis=0), (M, 0.3)),
    (lambda a: np.gradient(a, 2, axis=-1), (M,)),
    (lambda a: 1.0 * np.gradient(a, edge_order=2), (A,)),
    (lambda a: 1.0 * np.gradient(a)[1], (M,)),
    (lambda a, x: 1.0 * np.gradient(a, x), (A, np.array([0.0, 0.4, 0.7, 1.5, 1.9]))),
    (lambda a: np.ediff1d(a), (M,)),
    (lambda a, x: np.r_[a, x, 2.0, a, 3], (A, 0.7)),
    (lambda a, m: np.r_[a, m[0]], (A, M)),
    (lambda a: np.r_[a[0], a, 2.0 * a[1]], (A,)),
    (lambda a, x: np.concatenate([a[1:], [x * a[0]]]), (A, 0.7)),
    (lambda a, x: np.concatenate(([x, 1.0], a, (2.0,), [x * k for k in range(2)])), (A, 0.7)),
    (lambda a, x: np.vstack([a[:2], [x, a[2]], [1.0, 2.0]]), (A, 0.7)),
    (lambda a, x: np.stack([[x, a[0]], [a[1], 1.0]], axis=1), (A, 0.7)),
    (lambda a, x: np.hstack([a, [x], x, a[0]]), (A, 0.7)),
    (lambda x: np.column_stack([[x, 1.0], (x * x, 2.0)]), (0.7,)),
    (lambda a: np.c_[a, a**2], (A,)),
    (lambda a: 1.0 * np.c_[a[:, None], np.ones(5)], (A,)),
    (lambda a: 1.0 * np.r_[a[:3], 0:4], (A,)),
    (lambda a: 1.0 * np.r_["0,2", a, a], (A,)),
    (lambda x: 1.0 * np.r_[x, 2.0 * x], (0.7,)),
    (lambda a: 1.0 * np.ediff1d(a, to_end=a[0, :2]), (M,)),
    (lambda a, x: np.insert(a, 2, x), (A, 0.7)),
    (lambda a, b: np.insert(a, [1, 1, 4], b), (A, W)),
    (lambda a, b: np.insert(a, [1, -1], b[:2]), (A, W)),
    (lambda a, b: np.insert(a, slice(0, 3), b), (A, W)),
    (lambda a, b: np.insert(a, 1, b, axis=0), (M, W)),
    (lambda a, x: np.insert(a, [0, 3], x, axis=1), (M, 0.7)),
    (lambda a, x: np.insert(a, 4, x), (M, 0.7)),
    (lambda a, x: np.insert(a, 1, x, -1), (M * 1j, 0.7)),
    (lambda a, b: np.insert(list(a), 1, list(b)), (A, W)),
    (lambda a: np.insert(a, np.array([True, False, True, False, False]), [1, 2]), (A,)),
    (lambda a: np.insert(a, [], []), (A,)),
    (lambda a, b: np.block([a, b]), (A, W)),
    (lambda a, b: np.block([a]) + b[0], (A, W)),
    (lambda a, b: np.block([[a, b], [b, a]]), (A, W)),
    (lambda a, b: np.block([[a, a * 2.0], [np.ones((1, 6))], [b, b]]), (M, W)),
    (lambda a, b: 1.0 * np.block([[a, 2.0 * np.eye(4)], [np.zeros((1, 3)), 1, b]]), (M, W)),
    (lambda a, b: np.block([[a * 1j, a]]), (M, W)),
    (lambda a, x: 1.0 * np.block([a, x]), (A, 0.7)),
    (lambda a: 1.0 * np.block([[[a]], [[a]]]), (M,)),
    (lambda a: 1.0 * np.block(a), (M,)),
    (lambda a: np.piecewise(a, [a < 1.0, a >= 1.0], [lambda v: v * v, lambda v: np.sin(v)]), (A,)),
    (lambda a: np.piecewise(a, [a < 1.0], [lambda v: v * v, 3.0]), (M,)),
    (lambda a: np.piecewise(a, a < 1.0, [np.square, np.negative]), (A,)),
    (lambda a, x: np.piecewise(a, [a < 0.0, a > 2.0], [x, lambda v: v * x, lambda v: v**3]), (M, 0.7)),
    (lambda a, x: np.piecewise(a, [a < 0.0, a > -1.0], [lambda v, k: v * k, 2], x), (A, 0.7)),
    (lambda a, x: np.piecewise(a, [a < 0.0], [lambda v, k: v * k, np.exp], k=x), (A - 5.0, 0.7)),
    (lambda a: np.piecewise(a, [a < 0.0, a >= 0.0], [lambda v: -v, lambda v: v * v]), (np.array(0.7),)),
    (lambda x: np.piecewise(x, [x < 0.0, x >= 0.0], [lambda v: -v, lambda v: v * v]), (0.7,)),
    (lambda a: np.piecewise(a, (a < 1.0, a > 2.0), (lambda v: -v, lambda v: v * v)) * 1.0, (A,)),
    (lambda a: np.piecewise(a[::-2], [[True, False, False]], [lambda v: -v, np.exp]), (A,)),
]


@pytest.mark.parametrize(("f", "args"), CALLS, ids=lambda v: None)
def test_formulas(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    given = tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in args)
    value, _ = adbc.vjp(f, *given)
    np.testing.assert_array_equal(value, f(*args))
    moving = [x for x in given if isinstance(x, np.ndarray) and np.isnan(x).any()]
    if moving:  # differences of what is not a number are none
        filled = np.where(np.isnan(HOLES), 0.0, HOLES)
        check_rule(lambda a: f(np.where(np.isnan(HOLES), np.nan, a)), filled)
    else:
        check_rule(f, *given)


def test_what_is_not_a_number_is_the_quantile() -> None:
    """The derivative is that of the element that is not a number, as where NumPy's lines are followed."""
    a = np.array([[0.3, np.nan, 0.1], [1.0, 4.0, 2.5]])

    def f(a: Any) -> Any:
        return np.quantile(a, 0.4, axis=1)

    value, pullback = adbc.vjp(f, a)
    np.testing.assert_array_equal(value, f(a))
    np.testing.assert_allclose(pullback(np.ones(2))[0], [[0.0, 1.0, 0.0], [0.2, 0.0, 0.8]])
    _, along = adbc.jvp(f, (a,), (np.arange(6.0).reshape(2, 3),))
    np.testing.assert_allclose(along, [1.0, 0.2 * 3.0 + 0.8 * 5.0])


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda a: np.quantile(a, 1.5), ValueError),
        (lambda a: np.percentile(a, 20.0, axis=3), np.exceptions.AxisError),
        (lambda a: np.average(a, weights=a - a), ZeroDivisionError),
        (lambda a: np.gradient(a[:1]), ValueError),
        (lambda a: np.insert(a, 9, 1.0), IndexError),
        (lambda a: np.block([[a, a[:2]], [a]]), ValueError),
        (lambda a: np.block([a, [a]]), ValueError),
        (lambda a: np.block([]), ValueError),
        (lambda a: np.piecewise(a, [a < 1.0], [1.0, 2.0, 3.0]), ValueError),
    ],
)
def test_errors_are_those_of_numpy(f: Callable[..., Any], error: Any) -> None:
    with pytest.raises(error) as plain:
        f(A)
    with pytest.raises(error) as found:
        adbc.grad(lambda a: np.sum(f(a)))(A)
    assert str(found.value) == str(plain.value)


def test_a_mean_of_nothing_warns_once() -> None:
    a = np.full(3, np.nan)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice") as heard:
        value, gradient = adbc.value_and_grad(lambda a: np.nanmean(a))(a)
    assert np.isnan(value) and len(heard) == 1
    np.testing.assert_array_equal(gradient, np.zeros(3))
