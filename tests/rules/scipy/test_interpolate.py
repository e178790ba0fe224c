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


def test_of_cubic_splines() -> None:
    for ends in ("natural", "clamped", "not-a-knot"):
        check_rule(lambda y, q, ends=ends: interpolate.CubicSpline(X, y, bc_type=ends)(q) * 1.0, Y, Q)
    check_rule(lambda y, q: interpolate.CubicSpline(X, y).derivative()(q) * 1.0, Y, Q)
    check_rule(lambda y, b: interpolate.CubicSpline(X, y).integrate(0.1, b) * 1.0, Y, 0.7)
    check_rule(lambda y, b: interpolate.CubicSpline(X, y).integrate(b, 0.1) * 1.0, Y, 0.7)
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
    for f in (
        lambda x: interpolate.splev(0.4, interpolate.splrep(x, Y)),
        lambda y: interpolate.splev(0.4, interpolate.splrep(X, y, s=0.1)),
    ):
        with pytest.raises(UnsupportedError, match=r"splrep"):
            adbc.grad(lambda z, f=f: float(f(z)))(X if f.__code__.co_varnames[0] == "x" else Y)


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


def test_scattered_data() -> None:
    check_gradient(lambda v: np.sum(interpolate.griddata(PLACES, v, INSIDE) ** 2), VALUES)
    check_gradient(lambda x: np.sum(interpolate.griddata(PLACES, VALUES, x) ** 2), INSIDE)
    check_gradient(lambda v: np.sum(interpolate.griddata(PLACES, v, INSIDE, method="nearest") ** 2), VALUES)
    with pytest.raises(UnsupportedError, match="griddata"):
        adbc.grad(lambda v: interpolate.griddata(PLACES, v, INSIDE, method="cubic").sum())(VALUES)
    with pytest.raises(UnsupportedError, match="griddata by its points"):
        adbc.grad(lambda p: interpolate.griddata(p, VALUES, INSIDE).sum())(PLACES.copy())
