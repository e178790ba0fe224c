"""Distributions whose densities have short derivatives: by all parameters, in all forms of calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import adbc
from adbc.rules.scipy.densities import LOGARITHMS
from adbc.testing import test_rule as check_rule

SHAPES: dict[Any, tuple[float, ...]] = {
    stats.norm: (), stats.expon: (), stats.t: (3.3,), stats.gamma: (2.3,), stats.chi2: (3.5,),
    stats.beta: (2.3, 1.7),
}  # fmt: skip
X = np.array([0.31, 0.62, 0.9])
NAMES = ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"]


def test_there_is_a_case_of_each() -> None:
    assert SHAPES.keys() == LOGARITHMS.keys()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("distribution", SHAPES, ids=lambda d: d.name)
def test_all_parameters(distribution: Any, name: str) -> None:
    given = (*SHAPES[distribution], 0.1, 1.2)
    check_rule(lambda x, *p: getattr(distribution, name)(x, *p), X, *given)
    check_rule(
        lambda x, *p: getattr(distribution, name)(x, *p[:-2], scale=p[-1], loc=p[-2]),
        np.stack([X, X]),
        *given,
    )
    check_rule(lambda x, *p: getattr(distribution(*p), name)(x), 0.62, *given)
    check_rule(lambda x, s: getattr(distribution, name)(x, *given[:-2], 0.1, s), X, X + 0.5)


def test_outside_of_the_support_and_in_other_precision() -> None:
    outside = np.array([-0.5, 0.62, 1.5])
    check_rule(lambda x: stats.beta.pdf(x, 2.3, 1.7), outside)
    for method in (stats.norm.logpdf, stats.norm.cdf):
        value, tangent = adbc.jvp(method, (X.astype(np.float32),), (np.ones(3, np.float32),))
        assert value.dtype == method(X.astype(np.float32)).dtype == tangent.dtype
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(adbc.jvp(lambda s: stats.norm.pdf(X, 0.0, s), (-1.0,), (1.0,))[0]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("distribution", SHAPES, ids=lambda d: d.name)
def test_shapes_of_arrays_and_constants_outside(distribution: Any, name: str) -> None:
    shapes = SHAPES[distribution]
    method = getattr(distribution, name)
    outside = 0.31 if name.startswith("log") else -0.5  # of whose logarithm there are no differences
    for x in (np.array(0.62), np.zeros(0), np.array([outside, 0.62])):
        check_rule(lambda x, s: method(x, *shapes, np.array([[0.1], [0.2]]), s), x, 1.3)
    check_rule(lambda x: method(x, *shapes), 0.62, order=2)
    assert not np.any(adbc.grad(lambda x: np.sum(method(x, *shapes, 0.0, -1.0)))(X))


def test_the_ends_of_the_support_are_those_of_the_object() -> None:
    short = type(stats.norm)(a=-1.0, b=0.5, name="short")
    slopes = adbc.grad(lambda x: np.sum(short.logpdf(x)))(X)
    np.testing.assert_allclose(slopes, [-0.31, 0.0, 0.0])


def test_a_method_that_is_replaced_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return np.sum(stats.norm.logpdf(x))

    for _ in range(4):
        np.testing.assert_allclose(adbc.grad(f)(X), -X)
    monkeypatch.setattr(stats.norm, "logpdf", lambda x: 3.0 * x)
    np.testing.assert_allclose(adbc.grad(f)(X), 3.0)
    monkeypatch.undo()
    np.testing.assert_allclose(adbc.grad(f)(X), -X)
    monkeypatch.setattr(stats, "norm", stats.expon)
    np.testing.assert_allclose(adbc.grad(f)(X), -1.0)


def test_wrong_calls_are_as_wrong_as_before() -> None:
    for call in (
        lambda x: stats.norm.pdf(x, 0.1, loc=0.3),
        lambda x: stats.norm.pdf(x, 0.1, 1.0, 2.0),
        lambda x: stats.gamma.pdf(x),
        lambda x: stats.norm.pdf(x, size=3),
    ):
        with pytest.raises(TypeError):
            call(0.3)
        with pytest.raises(TypeError):
            adbc.grad(call)(0.3)


def test_second_derivatives() -> None:
    def f(p: Any) -> Any:
        return np.sum(stats.t.logpdf(X, p[0], p[1], p[2]) + stats.norm.logcdf(X, p[1], p[2]))

    p, v = np.array([3.3, 0.1, 1.2]), np.array([1.0, -0.5, 0.3])
    step = 1e-5
    expected = (adbc.grad(f)(p + step * v) - adbc.grad(f)(p - step * v)) / (2 * step)
    np.testing.assert_allclose(adbc.hvp(f, (p,), (v,))[0], expected, rtol=1e-6, atol=1e-8)


def test_a_distribution_of_the_users_is_followed() -> None:
    class Shifted(stats.rv_continuous):
        shift = 0.0

        def _pdf(self, x: Any) -> Any:
            return np.exp(-((x - self.shift) ** 2))

    def f(x: float) -> Any:
        own = Shifted()
        own.shift = x
        return own.pdf(0.3)

    x, step = 0.7, 1e-6
    expected = (f(x + step) - f(x - step)) / (2 * step)
    assert adbc.grad(f)(x) == pytest.approx(expected, rel=1e-6)
    assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "f, slope",
    [
        (lambda x: stats.gamma.logpdf(x, 1.0), -1.0),
        (lambda x: stats.gamma.pdf(x, 1.0), -1.0),
        (lambda x: stats.chi2.logpdf(x, 2.0), -0.5),
        (lambda x: stats.beta.logpdf(x, 1.0, 2.0), -1.0),
    ],
)
def test_at_the_end_of_the_support(f: Any, slope: float) -> None:
    assert adbc.grad(f)(0.0) == pytest.approx(slope)
    assert adbc.jvp(f, (0.0,), (1.0,))[1] == pytest.approx(slope)


@pytest.mark.parametrize("z", [5.0, 38.5, 40.0, 200.0])
def test_far_out(z: float) -> None:
    """The logarithm of the tail falls as fast as z + 1/z - 2/z**3, nearly."""
    slope = z + 1 / z - 2 / z**3
    for f, x, sign in ((stats.norm.logcdf, -z, 1.0), (stats.norm.logsf, z, -1.0)):
        assert adbc.grad(f)(x) == pytest.approx(sign * slope, rel=1e-3 if z < 10 else 1e-8)
        assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(sign * slope, rel=1e-3 if z < 10 else 1e-8)


@pytest.mark.parametrize("name", ["pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"])
def test_poisson(name: str) -> None:
    method = getattr(stats.poisson, name)
    whole = np.array([0, 2, 5])
    check_rule(lambda mu: method(whole, mu), np.array([0.3, 1.2, 4.0]))
    check_rule(lambda mu: method(whole + 3, loc=3, mu=mu), np.array([[0.7], [2.3]]))
    check_rule(lambda mu: method(2, mu), 1.3, order=2)
    check_rule(lambda mu: method(3, mu), np.zeros(0))
    for k in (-1, 2.5) if not name.startswith("log") else ():
        check_rule(lambda mu, k=k: method(k, mu), np.array([0.3, 1.2]))
    assert adbc.grad(lambda mu: method(2, mu))(-1.0) == 0.0


@pytest.mark.parametrize("name", ["pdf", "logpdf"])
def test_dirichlet(name: str) -> None:
    method = getattr(stats.dirichlet, name)
    alpha, x = np.array([1.3, 2.2, 1.0]), np.array([0.2, 0.5])
    check_rule(lambda x, a: method(x, a), x, alpha)
    check_rule(lambda x, a: method(x, a), np.stack([x, x[::-1]], axis=1), alpha)
    check_rule(lambda x, a: method(np.append(x, 1 - np.sum(x)), a), x, alpha)
    check_rule(lambda x, a: method(x=x, alpha=a), x, alpha, order=2)
    check_rule(lambda a: method([0.2, 0.5, 0.3], a), alpha)
    check_rule(lambda a: getattr(stats.dirichlet(a), name)(x), alpha)
    check_rule(lambda a: method([[0.2, 0.3], [0.5, 0.4], [0.3, 0.3]], a), alpha)


@pytest.mark.parametrize(
    ("distribution", "shapes"), [(stats.gamma, (1.0,)), (stats.chi2, (2.0,)), (stats.beta, (1.0, 1.0))]
)
def test_where_an_exponent_is_zero_its_derivative_is_not(distribution: Any, shapes: Any) -> None:
    check_rule(lambda x, *s: distribution.logpdf(x, *s), 0.31, *shapes, order=2)


def _normal(name: str, **others: Any) -> Any:
    return lambda *args, **more: getattr(stats.multivariate_normal, name)(*args, **others, **more)


COVARIANCE = np.array([[2.0, 0.1, 9.0], [0.3, 1.5, 0.2], [-0.4, 0.5, 1.2]])
"""Its upper triangle is not read."""
MEAN = np.array([0.2, -0.1, 0.4])


@pytest.mark.parametrize("name", ["pdf", "logpdf"])
def test_normal_vectors(name: str) -> None:
    f = _normal(name)
    for x in (X, np.stack([X, 2 * X]), np.stack([[X, -X]] * 2), np.stack([[X]] * 2), np.zeros((0, 3))):
        check_rule(f, x, MEAN, COVARIANCE)
        check_rule(_normal(name, allow_singular=True), x, MEAN, COVARIANCE)
    check_rule(lambda x, mean, cov: f(x=x, cov=cov, mean=mean), X, MEAN, COVARIANCE, order=2)
    check_rule(lambda x, cov: f(x, None, cov), X, COVARIANCE)
    check_rule(lambda x, mean: f(x, mean), X, MEAN)
    check_rule(lambda a: f([[a, 1.0], [2.0, 3.0]], [a, a], [[2.0, 1.0], [a, 3.0]]), 0.5)
    check_rule(lambda x, cov: getattr(stats.multivariate_normal(MEAN, cov), name)(x), X, COVARIANCE)
    check_rule(lambda x, d: f(x, MEAN, stats.Covariance.from_diagonal(d)), X, X + 1)


@pytest.mark.parametrize("name", ["pdf", "logpdf"])
def test_normal_vectors_whose_covariance_is_a_number_or_a_diagonal(name: str) -> None:
    f = _normal(name)
    check_rule(f, X, MEAN, X + 1, order=2)
    check_rule(f, X, MEAN, 1.3)
    check_rule(lambda x: f(x), X)
    for x in (0.3, X, X[:, None]):
        check_rule(f, x, 0.2, 1.3, order=2)
        check_rule(f, x, np.array([0.2]), np.array([[1.3]]))


def _slopes(f: Any, *args: float) -> tuple[list[float], list[float]]:
    """The derivatives of a function of numbers, and those that its differences say."""
    steps = 1e-6 * np.eye(len(args))
    expected = [float((f(*(args + h)) - f(*(args - h))) / 2e-6) for h in steps]
    forward = [adbc.jvp(f, args, tuple(h / 1e-6))[1] for h in steps]
    np.testing.assert_allclose(forward, expected, rtol=1e-6)
    return list(adbc.grad(f, argnums=tuple(range(len(args))))(*args)), expected


def test_normal_vectors_whose_covariance_is_singular() -> None:
    """It keeps its rank here; where there is no density, it is constant."""
    ones = np.ones((3, 3))
    for name in ("pdf", "logpdf"):
        f = _normal(name)
        found, expected = _slopes(lambda t, s, f=f: f(t * np.ones(3), None, s * ones, True), 0.7, 1.3)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        outside = adbc.grad(_normal(name, allow_singular=True), argnums=(0, 1, 2))(X, MEAN, ones)
        assert not any(np.any(slope) for slope in outside)
        with pytest.raises(np.linalg.LinAlgError):
            adbc.grad(f)(X, MEAN, ones)
    found, expected = _slopes(lambda s: stats.multivariate_normal.entropy(None, s * ones), 1.3)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_entropy_of_normal_vectors() -> None:
    entropy = stats.multivariate_normal.entropy
    check_rule(entropy, MEAN, COVARIANCE, order=2)
    check_rule(lambda mean, cov: entropy(cov=cov, mean=mean), MEAN, COVARIANCE)
    check_rule(lambda cov: entropy(cov=cov), COVARIANCE)
    for mean, cov in ((MEAN, X), (MEAN, 1.3), (0.2, 1.3), (np.array([0.2]), np.array([[1.3]]))):
        check_rule(entropy, mean, cov)
