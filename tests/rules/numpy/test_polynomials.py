"""Polynomials: values, derivatives, integrals and fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import polynomial

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

from .harness import check_each_path

P = np.array([0.7, -1.2, 2.5, 0.4])
X = np.array([0.3, -1.2, 2.5, 0.9, 1.7, -0.4])
Y = np.array([1.1, 0.2, -0.7, 1.9, 0.6, -1.3])
W = np.array([0.5, 1.5, 0.8, 1.1, 0.3, 0.9])
G = np.array([[0.3, 2.1, -0.4], [1.2, 0.7, 1.3]])
C2 = np.arange(8.0).reshape(4, 2) / 3.0 - 1.0

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: np.vander(x), (P,)),
    (lambda x: np.vander(x, 3), (P,)),
    (lambda x: np.vander(x, 3, increasing=True), (P[::2],)),
    (lambda x: np.vander(x, 1), (P,)),
    (lambda x: np.vander(x, 0), (P,)),
    (lambda x: np.vander(list(x), 2), (P,)),
    (lambda x: np.vander(x, 3), (P * (1 + 0.4j),)),
    (lambda p, x: np.polyval(p, x), (P, 0.6)),
    (lambda p, x: np.polyval(p, x), (P, G)),
    (lambda p, x: np.polyval(list(p), x), (P, G)),
    (lambda p, x: np.polyval(p[::-2], x[:, 1]), (P, G)),
    (lambda p, x: np.polyval(p, x), (P * 1j, G)),
    (lambda p, x: np.polyval(p, x), (P, X * (1 - 0.3j))),
    (lambda x: np.polyval([1, 2, 3], x), (X,)),
    (lambda x: np.polyval([2.0], x), (X,)),
    (lambda x: np.polyval([], x) + x, (X,)),
    (lambda p: np.polyval(p, 3), (P,)),
    (lambda p: np.polyval(p, np.arange(3)), (P,)),
    (lambda p, x: np.polyval(p, x), (C2, 0.7)),
    (lambda p, x: np.polyval(p, x), (C2, G.T)),
    (lambda p, x: np.polyval(p, x), (C2[:, :1], G)),
    (lambda p: np.polyder(p), (P,)),
    (lambda p: np.polyder(p, 2), (P,)),
    (lambda p: np.polyder(p, 4), (P,)),
    (lambda p: np.polyder(p, m=0), (P,)),
    (lambda p: np.polyint(p), (P,)),
    (lambda p: polynomial.Polynomial(p).deriv()(0.3) + polynomial.Polynomial(p).integ()(0.4), (P,)),
    (lambda p: (polynomial.Chebyshev(p) * polynomial.Chebyshev(p[:2])).coef * 1.0, (P,)),
    (lambda p: (np.poly1d(p) * np.poly1d(p[:2])).coeffs * 1.0, (P,)),
    (lambda p: np.polyint(p, 2), (P,)),
    (lambda p: np.polyint(p, 0) * 2.0, (P,)),
    (lambda p, k: 1.0 * np.polyint(p, k=k), (P, 0.3)),
    (lambda p, k: 1.0 * np.polyint(p, 2, k), (P, np.array([0.3, 0.7]))),
    (lambda x, y: np.polyfit(x, y, 2), (X, Y)),
    (lambda x, y: np.polyfit(x, y, 0), (X, Y)),
    (lambda x, y: np.polyfit(x, y, 5), (X, Y)),
    (lambda x, y, w: np.polyfit(x, y, 1, w=w), (X, Y, W)),
    (lambda x, y, w: np.polyfit(x, y, 2, w=w), (X, np.stack([Y, Y**2], axis=1), W)),
    (lambda x, y: np.polyfit(x, y, 1, full=True)[0], (X, Y)),
    (lambda x, y: np.polyfit(x[::2], y[::-2], 1), (X, Y)),
    (lambda y: np.polyfit([0, 1, 2, 3, 4, 5], y, 2), (Y,)),
    (lambda y: np.polyfit(X, y, 2), (Y,)),
    (lambda x: np.polyfit(x, [1, 0, 2, 3, 1, 1], 2), (X,)),
    (lambda p, x: np.poly1d(p)(x), (P, 0.6)),
    (lambda p, x: polynomial.Polynomial(p)(x), (P, 0.6)),
    (lambda p, x: polynomial.Chebyshev(p, domain=[-2.0, 3.0])(x), (P, X)),
]
FAMILIES = [("polynomial", "poly"), ("chebyshev", "cheb"), ("legendre", "leg"), ("hermite", "herm"),
            ("hermite_e", "herme"), ("laguerre", "lag")]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), CALLS, ids=lambda v: None)
def test_calls(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    value, _ = adbc.vjp(f, *args)
    np.testing.assert_array_equal(value, f(*args))
    check_rule(f, *args, rtol=1e-5)


@pytest.mark.parametrize(("home", "prefix"), FAMILIES, ids=lambda v: v)
def test_series(home: str, prefix: str) -> None:
    f = getattr(getattr(polynomial, home), f"{prefix}val")
    for x in (0.6, X, G, X * (1 + 0.2j), np.zeros((0, 2))):
        check_rule(f, x, P)
        check_rule(f, x, P[:1])
        check_rule(lambda x, c, f=f: f(x, c, tensor=True), x, C2)
    check_rule(f, X, P * 1j)
    check_rule(lambda x, c: f(x, list(c)), 0.6, P)
    check_rule(lambda x: f(x, [1, 2, 3]), X)
    check_rule(lambda c: f(2, c), P)
    check_rule(lambda x, c: f(x, c, tensor=False), np.array([0.3, -0.7]), C2)
    check_rule(lambda x, c: f(x, c, False), 0.3, C2)
    check_rule(lambda x, c: f(x, c, tensor=False), G, C2[:, :1])


def test_single_precision_keeps_its_dtype() -> None:
    x = X.astype(np.float32)
    for f in (
        lambda x: np.polyval(x, 2).sum(),
        lambda x: np.vander(x, 3).sum(),
        lambda x: np.polyder(x).sum(),
    ):
        assert adbc.grad(f)(x).dtype == np.float32
        np.testing.assert_allclose(adbc.grad(f)(x), adbc.grad(f)(X), rtol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_fits_of_too_high_a_degree() -> None:
    """The solution of least norm is not smooth in the places."""
    x = np.array([0.0, 0.0, 1.0, 1.0])
    with pytest.raises(UnsupportedError, match="fewer independent equations"):
        adbc.grad(lambda x: np.polyfit(x, Y[:4], 2)[0])(x)


def test_second_derivatives() -> None:
    for f, x in (
        (lambda y: np.sum(np.polyfit(X, y, 2) ** 2), Y),
        (lambda x: np.polyfit(x, Y, 2)[0], X),
        (lambda x: np.sum(np.vander(x, 4)), X),
        (lambda x: np.sum(np.polyval(P, x)), X),
        (lambda x: np.sum(polynomial.chebyshev.chebval(x, P)), X),
    ):
        steps = np.eye(len(x)) * 1e-6
        expected = [(adbc.grad(f)(x + h) - adbc.grad(f)(x - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(adbc.hessian(f)(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_random_draws_on_each_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, w = rng.normal(size=7), rng.normal(size=7), rng.uniform(0.5, 1.5, 7)
    degree = seed % 4
    check_each_path(lambda x, y, w: np.sum(np.sin(np.polyfit(x, y, degree, w=w))), x, y, w)
    check_each_path(lambda p, x: np.sum(np.sin(np.polyval(p, x))), rng.normal(size=degree), x)
    check_each_path(lambda p, x: polynomial.Legendre(p)(x).sum(), rng.normal(size=degree + 1), x)


FAMILIES = [
    polynomial.Polynomial, polynomial.Chebyshev, polynomial.Legendre, polynomial.Hermite, polynomial.HermiteE,
    polynomial.Laguerre,
]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_series_in_series(family: Any) -> None:
    """The value of a series at another is a series, as is what converts one."""

    def inserted(c: Any) -> Any:
        return np.sum(family(c)(polynomial.Polynomial([0.3, 1.2])).coef ** 2)

    def converted(c: Any) -> Any:
        return np.sum(family(c, domain=[0.0, 3.0]).convert(kind=polynomial.Polynomial).coef ** 2)

    def cast_from_a_domain(a: float) -> Any:
        return np.sum(family([0.4, 1.1, 0.7], domain=[-1.0, a]).convert(kind=polynomial.Chebyshev).coef ** 2)

    def fitted(a: float) -> Any:
        x = np.array([0.0, 0.5, 1.2, 2.0])
        fit = family.fit(a * x, np.sin(x), 2)
        return np.sum(fit.convert(kind=polynomial.Polynomial).coef ** 2)

    check_rule(inserted, np.array([0.4, 1.1, 0.7]))
    check_rule(converted, np.array([0.4, 1.1, 0.7]))
    check_rule(cast_from_a_domain, 1.7)
    check_rule(fitted, 1.3)


def test_examples_of_fits_print_nothing(capfd: Any) -> None:
    """LAPACK prints lines of its own about equations with a NaN, as those of equal places have."""

    def program(x: Any) -> Any:
        total = 0.0 * x
        for k in range(3):
            total += np.polyfit(np.arange(5), np.sin(np.arange(5) * x), k)[0]
        return total

    for _ in range(4):
        adbc.jvp(program, (1.3,), (1.0,))
        adbc.grad(program)(1.3)
    assert capfd.readouterr() == ("", "")
