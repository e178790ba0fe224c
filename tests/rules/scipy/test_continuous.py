"""Continuous distributions of ``scipy.stats``: inside of their support, at its ends, and outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import adbc
from adbc.rules.scipy.continuous import _body
from tests.programs.checks import check_gradient, check_second_derivative

NAMES = ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"]
DISTRIBUTIONS: dict[Any, tuple[float, ...]] = {
    stats.norm: (), stats.gamma: (2.3,), stats.beta: (2.3, 1.7), stats.t: (4.5,), stats.lognorm: (0.8,),
    stats.expon: (), stats.uniform: (), stats.weibull_min: (1.7,), stats.chi2: (3.5,), stats.laplace: (),
    stats.pareto: (2.5,), stats.genextreme: (0.2,), stats.triang: (0.4,), stats.vonmises: (1.5,),
    stats.skewnorm: (2.0,), stats.invgauss: (0.7,), stats.johnsonsu: (0.5, 1.2), stats.rice: (0.7,),
}  # fmt: skip


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda d: d.name)
def test_values_are_those_of_scipy(distribution: Any) -> None:
    shapes = DISTRIBUTIONS[distribution]
    inside = distribution.ppf([0.1, 0.4, 0.8], *shapes)
    columns = tuple([np.array([[s], [1.1 * s]]) for s in shapes])
    for x in (
        float(inside[0]), inside[1], inside, inside.astype(np.float32), np.array([-np.inf, np.nan]), [2, 50],
        np.zeros((0,)), np.append(inside, 1e3), -5.0,
    ):  # fmt: skip
        for given in (shapes, columns) if np.size(x) != 2 else (shapes,):
            for named in ({}, {"loc": 0.3, "scale": 1.7}, {"scale": -1.0}, {"scale": [[0.5], [2.0]]}):
                for name in NAMES:
                    with np.errstate(all="ignore"):  # SciPy warns of some itself
                        expected = getattr(distribution, name)(x, *given, **named)
                        found = _body(name)(distribution, x, *given, **named)
                    assert type(found) is type(expected)
                    assert np.shape(found) == np.shape(expected)
                    assert np.array_equal(found, expected, equal_nan=True), (name, x, given, named)
                    assert found.dtype == expected.dtype


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_by_all_parameters(name: str) -> None:
    x = np.array([0.4, 1.3, 2.9])

    def f(x: Any, a: Any, loc: Any, scale: Any) -> Any:
        return np.sum(getattr(stats.gamma, name)(x, a, loc=loc, scale=scale) * np.array([1.0, 0.7, 0.2]))

    check_gradient(f, x, 2.3, 0.1, 1.4, argnums=(0, 1, 2, 3), rtol=1e-5)
    if not name.startswith("log"):  # of which the values are infinite
        check_gradient(f, x, 2.3, 0.8, 1.4, argnums=(0, 1, 2, 3), rtol=1e-5)  # one lies outside
    frozen = adbc.grad(lambda m: getattr(stats.norm(loc=m, scale=1.3), name)(x).sum())(0.4)
    assert frozen == pytest.approx(adbc.grad(lambda m: getattr(stats.norm, name)(x, m, 1.3).sum())(0.4))


def test_second_derivatives() -> None:
    x = np.array([0.4, 1.3, 2.9])
    check_second_derivative(lambda s: np.sum(stats.norm.logpdf(x, 0.2, s)), 1.4, rtol=1e-6)


def test_what_is_not_as_it_should_be() -> None:
    assert adbc.grad(lambda s: stats.norm.pdf(0.3, 0.0, s))(1.5) != 0.0
    assert np.isnan(adbc.value_and_grad(lambda s: stats.norm.pdf(0.3, 0.0, s))(-1.5)[0])
    assert adbc.value_and_grad(lambda x: stats.expon.pdf(x))(-1.0) == (0.0, 0.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        adbc.grad(lambda x: stats.gamma.pdf(x))(1.0)


def test_a_distribution_that_is_defined_by_a_formula() -> None:
    class Ramp(stats.rv_continuous):
        def _pdf(self, x: Any, p: Any) -> Any:
            return (p + 1.0) * x**p

    ramp = Ramp(a=0.0, b=1.0, name="ramp", shapes="p")
    check_gradient(lambda p, x: ramp.pdf(x, p).sum(), 1.7, np.array([0.3, 0.8]), argnums=(0, 1))


def test_complex_numbers_give_what_scipy_gives() -> None:
    x = np.array([0.3 + 0.2j, 0.7 - 0.1j])
    expected = stats.dweibull.cdf(x, 1.5)
    value, tangent = adbc.jvp(lambda x: stats.dweibull.cdf(x, 1.5), (x,), (x * 0.0,))
    assert value.dtype == expected.dtype == tangent.dtype == np.dtype(complex)
    np.testing.assert_array_equal(value, expected)


@pytest.mark.skipif(not hasattr(stats, "dpareto_lognorm"), reason="SciPy is older")
def test_a_survival_function_by_logarithms() -> None:
    x = np.array([0.3, 0.8])
    check_gradient(lambda x: stats.dpareto_lognorm.sf(x, 0.2, 0.5, 2.0, 1.5).sum(), x)


@pytest.mark.parametrize("name", ["kstwobign", "landau", "ksone"])
def test_distribution_functions_whose_densities_are_known(name: str) -> None:
    distribution, shapes = getattr(stats, name), (5,) if name == "ksone" else ()
    x, p = np.array([0.35, 0.6, 0.85]), np.array([0.2, 0.7])
    for method in ("cdf", "sf"):
        check_gradient(lambda x, m=method: getattr(distribution, m)(x, *shapes, loc=0.1, scale=1.2).sum(), x)
    for method in ("ppf", "isf"):
        check_gradient(lambda p, m=method: getattr(distribution, m)(p, *shapes, scale=1.2).sum(), p)


def test_of_complex_angles_the_real_part_counts() -> None:
    x = np.array([0.3 + 0.4j])
    with pytest.warns(np.exceptions.ComplexWarning):
        _, tangent = adbc.jvp(lambda x: stats.vonmises.cdf(x, 1.5), (x,), (np.array([1.0 + 2.0j]),))
    np.testing.assert_allclose(tangent, stats.vonmises.pdf(0.3, 1.5))
