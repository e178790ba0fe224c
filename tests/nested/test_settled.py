"""Derivatives of derivatives get their code in the first few calls, through rules of libraries too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg

import adbc
from adbc.runtime import default_engine

X = np.linspace(0.0, 1.0, 12)[:, None]
Y = np.sin(6.0 * X[:, 0])
P = np.array([0.1, -1.0, -2.0])
V = np.array([0.3, -0.2, 0.5])


def likelihood(p: Any) -> Any:
    """Of a Gaussian process, by a factor of its covariance."""
    k = np.exp(p[0]) * np.exp(-0.5 * ((X - X.T) / np.exp(p[1])) ** 2) + np.exp(p[2]) * np.eye(12)
    factor = linalg.cho_factor(k, lower=True)
    return 0.5 * Y @ linalg.cho_solve(factor, Y) + np.sum(np.log(np.diag(factor[0])))


@pytest.mark.slow
def test_products_with_the_hessian_of_a_likelihood() -> None:
    h = 1e-5
    expected = (adbc.grad(likelihood)(P + h * V) - adbc.grad(likelihood)(P - h * V)) / (2 * h)
    for _ in range(7):
        np.testing.assert_allclose(adbc.hvp(likelihood, (P,), (V,))[0], expected, rtol=1e-6)
    builds = default_engine().builds
    for _ in range(60):
        adbc.hvp(likelihood, (P,), (V,))
    assert default_engine().builds == builds


def test_an_inner_gradient_of_an_array_that_is_turned() -> None:
    def f(p: Any) -> Any:
        inner = adbc.grad(lambda x, p: np.sum(np.cosh(x * p[::-1])))
        return np.sum(inner(np.array([0.2, 0.3, 0.4]), p) ** 2)

    first, h = adbc.grad(f), 1e-5
    expected = (first(P + h * V) - first(P - h * V)) / (2 * h)
    np.testing.assert_allclose(adbc.jvp(first, (P,), (V,))[1], expected, rtol=1e-6, atol=1e-8)
