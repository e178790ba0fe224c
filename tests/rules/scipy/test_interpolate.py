"""Interpolation by ``scipy.interpolate``: by the data, by the places of the data, and by x."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import interpolate

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient
from tests.rules.scipy.agreement import agrees

X = np.array([0.0, 0.2, 0.35, 0.5, 0.62, 0.8, 1.0])
Y = np.sin(4.0 * X) + 1.3
KNOTS = np.array([0.0, 0, 0, 0, 0.5, 1, 1, 1, 1])
Q = np.array([0.11, 0.48, 0.77])
GRID = np.outer(Y, Y[:5] ** 2)
PLACES = np.random.default_rng(0).random((20, 2))
VALUES = PLACES.sum(axis=1) ** 2
INSIDE = np.array([[0.42, 0.33], [0.6, 0.55]])
PIECEWISE = ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator"]


@pytest.mark.parametrize("name", PIECEWISE)
def test_piecewise_polynomials(name: str) -> None:
    check_rule(lambda x, y, q: getattr(interpolate, name)(x, y)(q) * 1.0, X, Y, Q, step=1e-3)
    check_rule(lambda y, q: getattr(interpolate, name)(X, y)(q) * 1.0, Y, 0.4)
    check_rule(lambda y, q: getattr(interpolate, name)(X, y)(q, 1) * 1.0, np.stack([Y, Y**2], axis=1), Q)
    check_rule(lambda y: getattr(interpolate, name)(X, y).integrate(0.1, 0.7) * 1.0, Y)


@pytest.mark.parametrize("ends", ["natural", "clamped"])
def test_ends_of_cubic_splines(ends: str) -> None:
    check_rule(lambda y, q: interpolate.CubicSpline(X, y, bc_type=ends)(q) * 1.0, Y, Q)


def test_derivatives_of_cubic_splines() -> None:
    check_rule(lambda y, q: interpolate.CubicSpline(X, y).derivative()(q) * 1.0, Y, Q)


def test_integrals_of_cubic_splines() -> None:
    check_rule(lambda y, b: interpolate.CubicSpline(X, y).integrate(b, 0.1) * 1.0, Y, 0.7)


def test_piecewise_polynomials_by_coefficients_and_beyond() -> None:
    check_rule(lambda c, q: interpolate.PPoly(c, np.array([0.0, 0.5, 1.0]))(q) * 1.0, GRID[:4, :2].copy(), Q)
    check_rule(lambda q: interpolate.CubicSpline(X, Y)(q) * 1.0, np.array([-0.3, 1.4]))
    beyond = adbc.grad(lambda q: np.nansum(interpolate.CubicSpline(X, Y, extrapolate=False)(q)))
    assert beyond(np.array([-0.3, 0.4]))[0] == 0.0


def test_b_splines() -> None:
    check_rule(lambda c, q: interpolate.BSpline(KNOTS, c, 3)(q) * 1.0, Y[:5], Q)
    check_gradient(lambda c: np.sum(interpolate.BSpline(np.array([0.0, 0, 0, 1, 1, 1]), c, 2)(Q) ** 2), Y[:3])
    check_gradient(lambda y: np.sum(interpolate.make_interp_spline(X, y)(Q) ** 2), Y)
    check_gradient(lambda q: np.sum(interpolate.make_interp_spline(X, Y)(q, 1) ** 2), Q)
    check_gradient(lambda y: np.sum(interpolate.interp1d(X, y, kind="cubic")(Q) ** 2), Y)
    check_gradient(lambda q: np.sum(interpolate.interp1d(X, Y)(q) ** 2), Q)


def test_fitpack() -> None:
    check_gradient(lambda y: np.sum(interpolate.splev(Q, interpolate.splrep(X, y)) ** 2), Y)
    check_gradient(lambda q: np.sum(interpolate.splev(q, interpolate.splrep(X, Y), der=1) ** 2), Q)
    check_gradient(
        lambda q: interpolate.splev(q, interpolate.splrep(X, Y), ext=3).sum(), np.array([0.3, 1.2])
    )
    spline = interpolate.UnivariateSpline(X, Y, s=0)
    check_gradient(lambda q: np.sum(spline(q) ** 2), Q)
    check_gradient(lambda q: np.sum(spline.derivative()(q) ** 2), Q)
    check_gradient(lambda x: np.sum(interpolate.splev(Q, interpolate.splrep(x, Y)) ** 2), X)
    with pytest.raises(UnsupportedError, match=r"splrep"):
        adbc.grad(lambda y: float(interpolate.splev(0.4, interpolate.splrep(X, y, s=1e-3))))(Y)


INNER = [0.4, 0.7]

FITTED = {
    "splrep, even": lambda x, y, q: interpolate.splev(q, interpolate.splrep(x, y, k=2)),
    "knots": lambda x, y, q: interpolate.splev(q, interpolate.splrep(x, y, task=-1, t=INNER)),
    "polynomial": lambda x, y, q: interpolate.splev(q, interpolate.splrep(x, y, s=50.0)),
    "splint": lambda x, y, q: interpolate.splint(q[0], q[2], interpolate.splrep(x, y)),
    "spalde": lambda x, y, q: interpolate.spalde(q[0], interpolate.splrep(x, y)),
    "insert": lambda x, y, q: interpolate.splev(q, interpolate.insert(0.4, interpolate.splrep(x, y))),
    "antiderivative": lambda x, y, q: interpolate.splev(q, interpolate.splantider(interpolate.splrep(x, y))),
    "sproot": lambda x, y, q: interpolate.sproot(interpolate.splrep(x, y - 1.2)),
    "splprep": lambda x, y, q: interpolate.splev(q, interpolate.splprep([x, y], s=0)[0])[1],
    "class": lambda x, y, q: interpolate.InterpolatedUnivariateSpline(x, y)(q),
    "integral": lambda x, y, q: interpolate.UnivariateSpline(x, y, s=0).integral(0.1, q[1]),
    "least squares": lambda x, y, q: interpolate.LSQUnivariateSpline(x, y, INNER)(q),
    "make_interp_spline": lambda x, y, q: interpolate.make_interp_spline(x, y)(q),
    "natural": lambda x, y, q: interpolate.make_interp_spline(x, y, bc_type="natural")(q, 1),
    "smoothing": lambda x, y, q: interpolate.make_smoothing_spline(x, y, lam=0.01)(q),
    "radial": lambda x, y, q: interpolate.RBFInterpolator(x[:, None], y)(q[:, None]),
}


@pytest.mark.parametrize("name", FITTED)
def test_splines_by_places_data_and_points(name: str) -> None:
    check_rule(lambda x, y, q: np.sum(FITTED[name](x, y, q) ** 2), X, Y, Q, step=1e-3)


def test_b_splines_by_their_knots() -> None:
    check_rule(
        lambda t, c, q: interpolate.BSpline(t, c, 3)(q), np.cumsum(np.arange(1.0, 10.0)), Y[:5], Q + 20
    )
    check_rule(lambda c, q: interpolate.BSpline(KNOTS, c, 3)(q, 2), Y[:5], np.array([0.1, 0.45, 0.9, 1.2]))


def test_splines_of_two_variables() -> None:
    def spline(z: Any, q: Any, grid: bool) -> Any:
        fitted = interpolate.RectBivariateSpline(X, X[:5], z)
        return fitted(np.sort(q), q[0], grid=grid) + fitted(0.1, 0.2, dx=1)[0, 0]

    check_rule(lambda z, q: spline(z, q, True), GRID, Q)
    check_gradient(lambda q: np.sum(spline(GRID, q, False) ** 2), Q)


def test_grids_by_splines() -> None:
    agrees(lambda v: interpolate.RegularGridInterpolator((X, X[:5]), v, method="slinear")(INSIDE * 0.6), GRID)


@pytest.mark.parametrize("kernel", ["gaussian", "thin_plate_spline", "cubic", "multiquadric"])
def test_radial_functions(kernel: str) -> None:
    def f(points: Any, values: Any, xi: Any) -> Any:
        return interpolate.RBFInterpolator(points, values, kernel=kernel, epsilon=1.5, smoothing=0.1)(xi)

    check_gradient(lambda p: np.sum(f(p, VALUES[:6], INSIDE) ** 2), PLACES[:6])
    check_gradient(lambda v: np.sum(f(PLACES[:6], v, INSIDE) ** 2), VALUES[:6])
    check_gradient(lambda x: np.sum(f(PLACES[:6], VALUES[:6], x) ** 2), INSIDE)


def test_bernstein_and_several_dimensions() -> None:
    line = np.array([0.0, 0.5, 1.0])
    check_rule(lambda c, q: interpolate.BPoly(c, line)(q) * 1.0, GRID[:4, :2].copy(), Q)
    check_rule(lambda c, q: interpolate.BPoly(c, line)(q, 1) * 1.0, GRID[:4, :2].copy(), Q)
    c = np.arange(24.0).reshape(2, 3, 2, 2) * 0.1
    check_rule(lambda c, p: interpolate.NdPPoly(c, (line, line))(p) * 1.0, c, INSIDE)


def test_grids() -> None:
    def on_grid(values: Any, points: Any) -> Any:
        return interpolate.RegularGridInterpolator((X, X[:5]), values)(points)

    check_gradient(lambda v: np.sum(on_grid(v, INSIDE * 0.6) ** 2), GRID)
    check_gradient(lambda p: np.sum(on_grid(GRID, p) ** 2), INSIDE * 0.6)
    cube = np.stack([GRID, GRID**2, 1.0 / GRID], axis=2)
    axes = (X, X[:5], np.array([0.0, 1.0, 3.0]))
    three = np.array([[0.3, 0.4, 2.0], [0.9, 0.1, 0.2]])
    check_gradient(lambda v: np.sum(interpolate.RegularGridInterpolator(axes, v)(three) ** 2), cube)
    check_gradient(lambda p: np.sum(interpolate.RegularGridInterpolator(axes, cube)(p) ** 2), three)
    check_gradient(lambda v: np.sum(interpolate.interpn((X, X[:5]), v, INSIDE * 0.6) ** 2), GRID)


SCATTERED = {
    "griddata": lambda v: interpolate.griddata(PLACES, v, INSIDE),
    "nearest": lambda v: interpolate.griddata(PLACES, v, INSIDE, method="nearest"),
    "LinearNDInterpolator": lambda v: interpolate.LinearNDInterpolator(PLACES, v)(INSIDE),
    "NearestNDInterpolator": lambda v: interpolate.NearestNDInterpolator(PLACES, v)(INSIDE),
}


@pytest.mark.parametrize("name", SCATTERED)
def test_scattered_data(name: str) -> None:
    agrees(SCATTERED[name], VALUES)
    _, back = adbc.vjp(SCATTERED[name], VALUES)
    weights = np.array([0.3, -1.2])
    assert np.dot(back(weights), VALUES**2) == pytest.approx(np.dot(weights, SCATTERED[name](VALUES**2)))


def test_scattered_data_by_points_and_places() -> None:
    agrees(lambda p, x: interpolate.griddata(p, VALUES, x), PLACES, INSIDE)


def test_scattered_data_that_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="griddata"):
        adbc.grad(lambda v: interpolate.griddata(PLACES, v, INSIDE, method="cubic").sum())(VALUES)
    with pytest.raises(UnsupportedError, match="CloughTocher2DInterpolator by its values"):
        adbc.grad(lambda v: interpolate.CloughTocher2DInterpolator(PLACES, v)(INSIDE).sum())(VALUES)


def test_the_nearest_point_as_it_is_asked_for() -> None:
    for options in ({"distance_upper_bound": 0.2}, {"p": 1}, {"k": 1}):
        agrees(
            lambda v, o=options: np.nan_to_num(interpolate.NearestNDInterpolator(PLACES, v)(INSIDE, **o)),
            VALUES,
        )


@pytest.mark.parametrize("values", [np.arange(12), np.arange(12, dtype=np.float32), np.arange(12) * 1j])
def test_the_class_of_the_nearest_value(values: Any) -> None:
    places = np.stack([np.arange(12.0), np.cos(np.arange(12.0))], axis=1)

    def f(x: Any) -> Any:
        found = interpolate.NearestNDInterpolator(places * x, values)(places * x)
        return np.sum(np.abs(found)) * x, found.dtype

    assert adbc.jvp(f, (1.5,), (1.0,))[0] == f(1.5)
    assert adbc.vjp(f, 1.5)[0] == f(1.5)
