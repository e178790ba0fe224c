"""Functions of packages that have never heard of adbc, unmodified."""

from __future__ import annotations

import colorsys
from typing import Any

import easing_functions
import numpy as np
import psychrolib
import pytest
from geographiclib.geodesic import Geodesic
from scipy import optimize
from scipy.integrate._ivp import rk

import adbc
from adbc.testing import test_rule
from tests.programs.checks import check_gradient

POINT = np.array([1.3, 0.7, 0.8, 1.9, 1.2])


def test_scipy_rosen() -> None:
    gradient = check_gradient(optimize.rosen, POINT)
    np.testing.assert_allclose(gradient, optimize.rosen_der(POINT), rtol=1e-12)
    test_rule(optimize.rosen, POINT)


def test_scipy_rosen_along_a_direction() -> None:
    direction = np.array([1.0, -0.5, 0.25, 2.0, -1.0])
    value, tangent = adbc.jvp(optimize.rosen, (POINT,), (direction,))
    assert value == optimize.rosen(POINT)
    assert tangent == pytest.approx(optimize.rosen_der(POINT) @ direction, rel=1e-12)


def pendulum(t: Any, y: Any) -> Any:
    return np.array([y[1], -np.sin(y[0]) - 0.1 * t * y[1]])


def runge_kutta(y: Any, h: Any) -> Any:
    """Two steps of SciPy's integrator, whose stages are written into a scratch array."""
    stages = np.empty((7, 2))
    f = pendulum(0.0, y)
    t = 0.0
    for _ in range(2):
        y, f = rk.rk_step(pendulum, t, y, f, h, rk.RK45.A, rk.RK45.B, rk.RK45.C, stages)
        t = t + h
    return np.sum(y * y) + stages[3, 1]


def test_scipy_runge_kutta() -> None:
    check_gradient(runge_kutta, np.array([0.5, -0.3]), 0.2, argnums=(0, 1))
    test_rule(runge_kutta, np.array([0.5, -0.3]), 0.2)


def distance(latitude: float, longitude: float, latitude2: float, longitude2: float) -> float:
    result: float = Geodesic.WGS84.Inverse(latitude, longitude, latitude2, longitude2)["s12"]
    return result


def test_geographiclib_inverse_geodesic() -> None:
    """Karney's algorithm: series, Newton's method on the auxiliary sphere, angles reduced exactly."""
    wellington, salamanca = (-41.32, 174.81), (40.96, -5.50)
    check_gradient(distance, *wellington, *salamanca, argnums=(0, 1, 2, 3), rtol=1e-6)
    check_gradient(distance, 52.0, 13.0, 48.8, 2.3, argnums=(0, 1, 2, 3), rtol=1e-6)


def test_geographiclib_direction_of_steepest_distance() -> None:
    """The gradient by the second point is a unit vector along the geodesic: an answer from geometry."""
    geodesic = Geodesic.WGS84.Inverse(52.0, 13.0, 48.8, 2.3)
    north, _ = adbc.grad(distance, (2, 3))(52.0, 13.0, 48.8, 2.3)
    eccentricity2 = Geodesic.WGS84.f * (2.0 - Geodesic.WGS84.f)
    sine = np.sin(np.radians(48.8))
    radius = Geodesic.WGS84.a * (1.0 - eccentricity2) / (1.0 - eccentricity2 * sine * sine) ** 1.5
    assert north / np.radians(1.0) / radius == pytest.approx(np.cos(np.radians(geodesic["azi2"])), rel=1e-9)


@pytest.fixture
def metric() -> None:
    psychrolib.SetUnitSystem(psychrolib.SI)


def enthalpy(temperature: float, humidity: float, pressure: float) -> float:
    ratio = psychrolib.GetHumRatioFromRelHum(temperature, humidity, pressure)
    result: float = psychrolib.GetMoistAirEnthalpy(temperature, ratio)
    return result


@pytest.mark.usefixtures("metric")
@pytest.mark.parametrize("temperature", [24.0, -7.0])
def test_psychrolib_enthalpy(temperature: float) -> None:
    check_gradient(enthalpy, temperature, 0.4, 101325.0, argnums=(0, 1, 2))
    test_rule(psychrolib.GetSatVapPres, temperature)


@pytest.mark.usefixtures("metric")
def test_psychrolib_passes_on_its_own_exceptions() -> None:
    with pytest.raises(ValueError, match="must be in range"):
        adbc.grad(psychrolib.GetSatVapPres)(500.0)


@pytest.mark.parametrize(
    "name", ["ElasticEaseIn", "BounceEaseOut", "BackEaseInOut", "CircularEaseIn", "ExponentialEaseInOut"]
)
def test_easing_functions(name: str) -> None:
    ease = getattr(easing_functions, name)

    def movement(start: float, end: float, duration: float, t: float) -> Any:
        return ease(start, end, duration)(t)

    check_gradient(movement, 0.5, 3.0, 2.0, 0.55, argnums=(0, 1, 2, 3), step=1e-3)
    test_rule(movement, 0.5, 3.0, 2.0, 0.55, step=1e-3)


@pytest.mark.parametrize("color", [(0.2, 0.4, 0.7), (0.8, 0.1, 0.3), (0.3, 0.9, 0.2)])
@pytest.mark.parametrize("there,back", [("rgb_to_hls", "hls_to_rgb"), ("rgb_to_hsv", "hsv_to_rgb")])
def test_colorsys(color: tuple[float, float, float], there: str, back: str) -> None:
    convert, revert = getattr(colorsys, there), getattr(colorsys, back)
    test_rule(convert, *color, step=1e-3)

    def changed(r: float, g: float, b: float) -> Any:
        x, y, z = convert(r, g, b)
        r, g, b = revert(x + 0.01, 0.9 * y, z)
        return r * g + b

    check_gradient(changed, *color, argnums=(0, 1, 2), step=1e-3)
