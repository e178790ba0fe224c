"""Log-likelihoods of ``scipy.stats``, unmodified: SciPy's own Python with the rules of what it calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import adbc
from tests.programs.checks import check_gradient

DATA = np.array([0.3, 1.2, 2.4, 0.7])


def likelihood(name: str, method: str = "logpdf") -> Any:
    function = getattr(getattr(stats, name), method)

    def total(x: Any, *parameters: Any) -> Any:
        return function(x, *parameters).sum()

    return total


@pytest.mark.parametrize(
    "name,parameters",
    [
        ("norm", (0.2, 1.3)),
        ("expon", (0.1, 1.3)),
        ("gamma", (2.2, 0.1, 1.4)),
        ("t", (4.5, 0.3, 1.2)),
        ("beta", (2.2, 1.4, 0.0, 3.0)),
        ("lognorm", (0.8, 0.1, 1.2)),
        ("cauchy", (0.2, 1.1)),
        ("laplace", (0.2, 1.1)),
        ("logistic", (0.2, 1.1)),
        ("weibull_min", (1.7, 0.1, 1.3)),
    ],
)
def test_logpdf(name: str, parameters: tuple[float, ...]) -> None:
    f = likelihood(name)
    gradient = check_gradient(f, DATA, *parameters, argnums=tuple(range(len(parameters) + 1)))
    directions = (np.array([0.5, -1.0, 0.3, 2.0]), 0.7, -0.4, 1.1, 0.9)[: len(gradient)]
    _, tangent = adbc.jvp(f, (DATA, *parameters), directions)
    assert tangent == pytest.approx(sum(np.sum(g * d) for g, d in zip(gradient, directions, strict=True)))


def test_gradient_of_the_normal_likelihood() -> None:
    by_x, by_loc, by_scale = adbc.grad(likelihood("norm"), (0, 1, 2))(DATA, 0.2, 1.3)
    z = (DATA - 0.2) / 1.3
    np.testing.assert_allclose(by_x, -z / 1.3, rtol=1e-12)
    assert by_loc == pytest.approx(z.sum() / 1.3, rel=1e-12)
    assert by_scale == pytest.approx((z * z - 1).sum() / 1.3, rel=1e-12)


def test_data_outside_the_support_have_no_gradient() -> None:
    x = np.array([-1.0, 0.5, 2.0])
    value, gradient = adbc.value_and_grad(lambda x: np.exp(stats.expon.logpdf(x, 0.0, 1.3)).sum())(x)
    assert value == pytest.approx(np.exp(-x[1:] / 1.3).sum() / 1.3)
    np.testing.assert_allclose(gradient, [0.0, *(-np.exp(-x[1:] / 1.3) / 1.3**2)], rtol=1e-12)


@pytest.mark.parametrize(
    "name,parameters", [("norm", (0.2, 1.3)), ("expon", (0.1, 1.3)), ("logistic", (0.2, 1.3))]
)
@pytest.mark.parametrize("method", ["pdf", "cdf", "logcdf", "sf", "logsf"])
def test_other_methods(name: str, parameters: tuple[float, ...], method: str) -> None:
    check_gradient(likelihood(name, method), DATA, *parameters, argnums=(0, 1, 2))


@pytest.mark.parametrize("f", [
    stats.mstats.gmean,
    stats.mstats.hmean,
    lambda a: stats.mstats.zscore(a)[1],
    lambda a: stats.gmean(a, weights=np.ma.array(np.arange(1.0, 7.0), mask=[0, 1, 0, 0, 0, 0])),
])  # fmt: skip
def test_masks_stay(f: Any) -> None:
    def g(x: Any) -> Any:
        return f(np.ma.array(np.arange(1.0, 7.0) * x + x * x, mask=[0, 0, 0, 1, 0, 1]))

    slope = (g(1.5 + 1e-6) - g(1.5 - 1e-6)) / 2e-6
    for found in (adbc.jvp(g, (1.5,), (1.0,)), adbc.value_and_grad(g)(1.5)):
        assert found == (pytest.approx(g(1.5), rel=1e-13), pytest.approx(slope, rel=1e-6))
