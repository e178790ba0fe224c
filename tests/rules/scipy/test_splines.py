"""Splines at the ends of their intervals and beyond, by degree, boundary condition and axis: the values are
SciPy's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import interpolate

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.rules.scipy.agreement import agrees

X = np.array([0.0, 0.2, 0.35, 0.5, 0.62, 0.8, 1.0])
Y = np.sin(4.0 * X) + 1.3
TABLE = np.stack([Y, Y**2, np.cos(3.0 * X)], axis=1)
PLACES = np.array([-0.31, -0.01, 0.11, 0.48, 0.77, 0.99, 1.02, 1.43])
ENDS = np.concatenate([X, [-1.0, 2.0]])
AT_KNOTS = np.array([-0.2, 0.0, 0.3, 0.5, 0.77, 1.0, 1.3])
RNG = np.random.default_rng(0)


def knots(k: int, twice: bool = False) -> Any:
    inner = [0.3, 0.5, 0.5] if twice and k else [0.3, 0.5]
    return np.concatenate([np.zeros(k + 1), inner, np.ones(k + 1)])


def numbers(t: Any, k: int, *shape: int) -> Any:
    return np.cos(np.arange(np.prod((len(t) - k - 1, *shape), dtype=int)) ** 2.0).reshape(-1, *shape)


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("extrapolate", [True, False, "periodic"])
def test_b_splines_at_knots_and_beyond(k: int, extrapolate: Any) -> None:
    for twice in (False, True):
        t = knots(k, twice)
        c = numbers(t, k, 2)
        for nu in (0, 1, k, k + 1):
            agrees(lambda c, t=t, nu=nu: interpolate.BSpline(t, c, k)(AT_KNOTS, nu, extrapolate), c)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("extrapolate", [True, False, "periodic"])
def test_integrals_of_b_splines(k: int, extrapolate: Any) -> None:
    t = knots(k, True)

    def integral(c: Any, b: Any) -> Any:
        s = interpolate.BSpline(t, c, k)
        return s.integrate(0.1, b, extrapolate) + s.integrate(b - 1.0, -0.1, extrapolate)

    agrees(lambda c, b: np.asarray(integral(c, b)), numbers(t, k), np.asarray(1.7))


@pytest.mark.parametrize("k", range(1, 6))
@pytest.mark.parametrize("ext", range(4))
def test_splev(k: int, ext: int) -> None:
    for twice in (False, True):
        t = knots(k, twice)
        c = np.append(numbers(t, k), np.zeros(k + 1))
        x = AT_KNOTS[1:-1] if ext == 2 else AT_KNOTS
        for nu in range(k + 1):
            agrees(lambda c, t=t, x=x, nu=nu: interpolate.splev(x, (t, c, k), nu, ext), c)


@pytest.mark.parametrize("options", [{"ext": 2}, {"der": 4}, {"ext": 5}])
def test_splev_raises_as_scipy_does(options: Any) -> None:
    t = knots(3)
    c = np.append(numbers(t, 3), np.zeros(4))
    with pytest.raises(ValueError):
        adbc.jvp(lambda c: interpolate.splev(1.7, (t, c, 3), **options), (c,), (c,))


@pytest.mark.parametrize("k", range(1, 6))
def test_knots_are_inserted(k: int) -> None:
    for twice in (False, True):
        t = knots(k, twice)
        c = np.append(numbers(t, k), np.zeros(k + 1))
        for at in (0.3, 0.4, 0.5):
            # SciPy leaves what is behind the coefficients as it was in memory
            agrees(lambda c, t=t, at=at: interpolate.insert(at, (t, c, k), min(2, k))[1][: -k - 1], c)


@pytest.mark.parametrize("ends", ["not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.4))])
def test_ends_of_cubic_splines(ends: Any) -> None:
    for n in (2, 4, 7):
        agrees(
            lambda x, y, q: interpolate.CubicSpline(x, y, bc_type=ends)(q), X[:n], Y[:n], PLACES, rtol=1e-4
        )


@pytest.mark.parametrize("ends", ["not-a-knot", "natural", "clamped", ([(1, 0.3)], [(2, -0.4)])])
def test_ends_of_interpolating_b_splines(ends: Any) -> None:
    for n in (5, 7):
        agrees(
            lambda x, y, q: interpolate.make_interp_spline(x, y, bc_type=ends)(q),
            X[:n],
            Y[:n],
            PLACES,
            rtol=1e-4,
        )


@pytest.mark.parametrize("n", [3, 4, 7])
def test_periodic_splines(n: int) -> None:
    def cubic(x: Any, y: Any, q: Any) -> Any:
        return interpolate.CubicSpline(x, np.append(y, y[0]), bc_type="periodic")(q)

    def of_degree(x: Any, y: Any, q: Any) -> Any:
        return interpolate.make_interp_spline(x, np.append(y, y[0]), 3, bc_type="periodic")(q)

    agrees(cubic, X[:n], Y[: n - 1], PLACES, rtol=1e-4)
    agrees(of_degree, X[:n], Y[: n - 1], PLACES, rtol=1e-4)


PIECEWISE = ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator"]


@pytest.mark.parametrize("name", PIECEWISE)
@pytest.mark.parametrize("extrapolate", [True, False])
def test_piecewise_polynomials_at_ends_and_beyond(name: str, extrapolate: Any) -> None:
    cls = getattr(interpolate, name)
    for nu in (0, 1, 3, 4):
        agrees(lambda y, nu=nu: cls(X, y)(ENDS, nu, extrapolate), TABLE)
    agrees(lambda x, y, q: cls(x, y)(q, 0, extrapolate), X, TABLE, PLACES, rtol=1e-4)
    agrees(
        lambda y, b: np.asarray(cls(X, y).integrate(b, 0.33, extrapolate=extrapolate)), Y, np.asarray(-0.7)
    )


@pytest.mark.parametrize("name", PIECEWISE)
def test_axes_views_and_antiderivatives(name: str) -> None:
    cls = getattr(interpolate, name)
    agrees(lambda y, q: cls(X, y[::-1, :], axis=-1)(q[::-1]), TABLE.T.copy(), PLACES, rtol=1e-4)
    agrees(lambda x, y, q: cls(x, y).antiderivative(2)(q), X, TABLE, PLACES, rtol=1e-4)


def test_the_rule_of_antiderivatives() -> None:
    check_rule(lambda y: interpolate.CubicSpline(X, y).antiderivative()(PLACES) * 1.0, Y)


@pytest.mark.parametrize("k", range(6))
def test_interpolating_b_splines_of_all_degrees(k: int) -> None:
    agrees(lambda x, y, q: interpolate.make_interp_spline(x, y, k)(q), X, TABLE, PLACES, rtol=1e-4)
    agrees(lambda y: interpolate.make_interp_spline(X, y, k, axis=1)(ENDS), TABLE.T.copy(), rtol=1e-4)


FITTED = np.concatenate([np.zeros(4), [0.4, 0.7], np.ones(4)])
WEIGHTS = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 0.5, 0.2])


@pytest.mark.parametrize("method", ["qr", "norm-eq"])
def test_least_squares(method: str) -> None:
    agrees(
        lambda y, w: interpolate.make_lsq_spline(X, y, FITTED, 3, w=w, method=method)(PLACES), TABLE, WEIGHTS
    )


@pytest.mark.parametrize("kind", ["linear", "nearest", "zero", "quadratic", "cubic", "previous", "next"])
def test_interp1d(kind: str) -> None:
    for fill in ("extrapolate", (0.5, 0.7), np.nan):
        agrees(
            lambda y, fill=fill: interpolate.interp1d(
                X[::-1], y[:, ::-1], kind=kind, fill_value=fill, bounds_error=False, axis=1
            )(ENDS),
            TABLE.T.copy(),
        )


PAIRS = RNG.random((9, 2))
WITHIN = RNG.random((4, 2))


@pytest.mark.parametrize("kernel", ["linear", "thin_plate_spline", "cubic", "quintic", "inverse_quadratic"])
def test_radial_functions(kernel: str) -> None:
    def f(points: Any, values: Any, at: Any, near: Any) -> Any:
        options = {"kernel": kernel, "epsilon": 1.3, "neighbors": near, "smoothing": 0.01}
        return interpolate.RBFInterpolator(points, values, **options)(at)

    for near in (None, 7):
        agrees(
            lambda p, v, x, near=near: f(p, v, x, near), PAIRS, PAIRS**2, WITHIN, rtol=1e-4, value_rtol=1e-7
        )


@pytest.mark.parametrize("make", [
    lambda x, y: interpolate.UnivariateSpline(x, y, s=0),
    lambda x, y: interpolate.InterpolatedUnivariateSpline(x, y),
    lambda x, y: interpolate.LSQUnivariateSpline(x, y, [0.4, 0.6]),
])  # fmt: skip
def test_splines_that_are_derived_and_integrated(make: Any) -> None:
    x = np.sort(RNG.random(12)) + 0.05 * np.arange(12)

    def f(y: Any, at: Any) -> Any:
        spline = make(x, y)
        there_and_back = spline.antiderivative(2).derivative(2)
        return spline.derivative()(at) + spline.antiderivative()(at) * there_and_back(at)

    agrees(f, np.cos(3.0 * x), np.array([0.3, 0.45, 0.7]))


def test_a_polynomial_in_a_wide_box_keeps_its_digits() -> None:
    """Its coefficients are hardly decided by the data, and what it is at the places well enough."""
    x, y, at = np.array([1, 2, 4, 6, 8.5]), np.array([0.5, 0.8, 1.3, 2.5, 2.8]), np.array([0.1, 0.5, 0.9])
    moved = np.cos(1.0 + np.arange(5))

    def spline(t: Any) -> Any:
        return np.sum(interpolate.UnivariateSpline(x * (1 + t * moved), y + t * moved, bbox=[-100, 100])(at))

    def polynomial(t: Any) -> Any:
        return np.sum(np.polyval(np.polyfit(x * (1 + t * moved), y + t * moved, 3), at))

    exact = adbc.grad(polynomial)(0.01)
    np.testing.assert_allclose(adbc.grad(spline)(0.01), exact, rtol=1e-8)
    np.testing.assert_allclose(adbc.jvp(spline, (0.01,), (1.0,))[1], exact, rtol=1e-8)


def test_curves_whose_coefficients_are_an_array() -> None:
    t, at = knots(3), np.array([0.1, 0.4, 0.8])
    c = numbers(t, 3, 2).T
    for make in (np.asarray, list):
        agrees(lambda c, make=make: np.stack(interpolate.splev(at, (t, make(c), 3), 1)), c)
        agrees(lambda c, make=make: np.stack(interpolate.splint(0.1, 0.7, (t, make(c), 3))), c)
        agrees(lambda c, make=make: np.stack(interpolate.spalde(0.3, (t, make(c), 3))), c)
        agrees(lambda c, make=make: np.concatenate(interpolate.sproot((t, make(c), 3))), c)


def test_coefficients_that_are_too_few() -> None:
    t = knots(3)

    def f(c: Any) -> Any:
        return np.sum(interpolate.splev(0.3, (t, c, 3))[0])

    for c in (numbers(t, 3, 2), numbers(t, 3)[:3]):
        with pytest.raises(Exception) as plain:
            f(c)
        with pytest.raises(type(plain.value), match=re.escape(str(plain.value))):
            adbc.grad(f)(c)
        with pytest.raises(type(plain.value), match=re.escape(str(plain.value))):
            adbc.jvp(f, (c,), (c,))


def test_places_where_a_piecewise_polynomial_has_a_value() -> None:
    def found(y: Any) -> Any:
        spline = interpolate.CubicSpline(X, y)
        return np.concatenate((spline.solve(1.9, extrapolate=False), spline.roots(extrapolate=False)))

    assert len(found(Y)) == 2
    check_rule(found, Y)
    jumping = interpolate.PPoly(np.array([[1.0, 2.0], [0.1, 0.2]]), [0.0, 1.0, 2.0])
    with pytest.raises(UnsupportedError, match="jumps over the value"):
        adbc.grad(lambda c: interpolate.PPoly(c, [0.0, 1.0, 2.0]).solve(0.6)[0])(jumping.c)


@pytest.mark.parametrize("kind", ["sproot", "roots"])
def test_roots_of_splines_move_at_second_order(kind: str) -> None:
    def root(y: Any) -> Any:
        if kind == "sproot":
            return interpolate.sproot(interpolate.splrep(X, y - 1.5))[0]
        return interpolate.CubicSpline(X, y - 1.5).roots(extrapolate=False)[0]

    v, h = np.cos(np.arange(7.0)), 1e-5
    first = adbc.grad(root)
    expected = (first(Y + h * v) - first(Y - h * v)) / (2 * h)
    np.testing.assert_allclose(adbc.jvp(first, (Y,), (v,))[1], expected, rtol=1e-5, atol=1e-8)
    along = adbc.grad(lambda y: adbc.jvp(root, (y,), (v,))[1])(Y)
    np.testing.assert_allclose(along, expected, rtol=1e-5, atol=1e-8)


GIVEN: list[dict[str, Any]] = [
    {"t": [1.4]},
    {"t": [1.4], "s": 0},
    {"t": [1.4], "task": -1},
    {"t": [1.0, 2.1], "k": 2, "w": np.arange(1.0, 11.0), "xb": -0.1, "xe": 3.2},
]


@pytest.mark.parametrize("number", range(len(GIVEN)))
def test_knots_that_are_given_are_taken(number: int) -> None:
    x = np.linspace(0.0, 3.0, 10)

    def f(y: Any, at: Any) -> Any:
        return interpolate.splev(at, interpolate.splrep(x, y, **GIVEN[number]))

    for _ in range(3):
        check_rule(f, np.sin(2.0 * x), np.array([0.3, 1.7]))


def test_knots_that_scipy_does_not_take() -> None:
    x = np.linspace(0.0, 3.0, 10)
    with pytest.raises(TypeError, match="Knots must be given"):
        adbc.grad(lambda y: interpolate.splrep(x, y, task=-1)[1].sum())(x * x)
    with pytest.raises((TypeError, ValueError), match=r"error occurred|Error on input"):
        interpolate.splrep(x, x * x, t=[7.0])
    with pytest.raises((TypeError, ValueError), match=r"error occurred|Error on input"):
        adbc.grad(lambda y: interpolate.splrep(x, y, t=[7.0])[1].sum())(x * x)
