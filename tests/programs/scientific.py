"""Programs of science and engineering that end in SciPy: solvers, filters, splines, integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import integrate, interpolate, linalg, optimize, signal, sparse, stats
from scipy.sparse.linalg import spsolve
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation

PLACES = np.linspace(0.0, 3.0, 8)
OBSERVED = np.sin(2.0 * PLACES) + 0.1 * np.cos(9.0 * PLACES)


def gaussian_process(theta: Any) -> Any:
    """The likelihood of observations by the amplitude, the length and the noise of a Gaussian process."""
    amplitude, length, noise = np.exp(theta)
    gap = PLACES[:, None] - PLACES[None, :]
    covariance = amplitude * np.exp(-0.5 * (gap / length) ** 2) + noise * np.eye(len(PLACES))
    factor, lower = linalg.cho_factor(covariance, lower=True)
    alpha = linalg.cho_solve((factor, lower), OBSERVED)
    return 0.5 * OBSERVED @ alpha + np.log(np.diag(factor)).sum()


def pharmacokinetics(theta: Any) -> Any:
    """The misfit of measured concentrations after a dose, by the rates of a model with two compartments."""
    absorbed, cleared, exchanged = np.exp(theta)

    def rates(t: float, y: Any) -> list[Any]:
        gut, blood, tissue = y
        return [
            -absorbed * gut,
            absorbed * gut - (cleared + exchanged) * blood + 0.3 * tissue,
            exchanged * blood - 0.3 * tissue,
        ]

    times = [0.5, 1.0, 2.0, 4.0]
    found = integrate.solve_ivp(
        rates, (0.0, 4.0), [10.0, 0.0, 0.0], method="LSODA", t_eval=times, rtol=1e-10, atol=1e-11
    )
    return ((found.y[1] - np.array([3.0, 4.1, 3.9, 2.2])) ** 2).sum()


def implied_volatility(market: Any) -> Any:
    """The volatility at which the formula of Black and Scholes gives the price of an option."""
    price, spot, rate = market

    def excess(sigma: float, strike: float, years: float) -> Any:
        d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / (sigma * math.sqrt(years))
        d2 = d1 - sigma * math.sqrt(years)
        return spot * stats.norm.cdf(d1) - strike * math.exp(-rate * years) * stats.norm.cdf(d2) - price

    return optimize.brentq(excess, 0.01, 2.0, args=(100.0, 0.75), xtol=1e-14)


def filtered(parameters: Any) -> Any:
    """The energy of a signal behind three filters, by the pole of the first."""
    pole, gain = parameters
    t = np.arange(60) / 20.0
    x = np.sin(2 * np.pi * 1.5 * t) + 0.4 * np.sin(2 * np.pi * 6.0 * t)
    first = signal.lfilter([gain * (1.0 - pole)], [1.0, -pole], x)
    second = signal.sosfilt(signal.butter(2, 0.3, output="sos"), first)
    third = signal.filtfilt([0.3, 0.3], [1.0, -0.4], second)
    return np.mean(third**2)


def spline(knots: Any) -> Any:
    """The bending energy and a value of a curve through points."""
    x = np.array([0.0, 0.7, 1.1, 2.0, 2.6])
    curve = interpolate.CubicSpline(x, knots, bc_type="natural")
    bending = curve(np.linspace(0.0, 2.6, 30), 2)
    smooth = interpolate.PchipInterpolator(x, knots)(1.6)
    return np.sum(bending**2) * 0.01 + curve.integrate(0.2, 2.2) + smooth


def kriging(parameters: Any) -> Any:
    """The value that is predicted at a place from those at others, by the range and the place."""
    reach, east, north = parameters
    points = np.array([[0.0, 0.0], [1.0, 0.2], [0.3, 1.1], [1.2, 1.3]])
    values = np.array([1.0, 2.0, 0.5, 1.7])
    among = 1.0 - np.exp(-cdist(points, points) / reach)
    system = np.ones((5, 5))
    system[:4, :4] = among
    system[4, 4] = 0.0
    to_place = 1.0 - np.exp(-cdist(points, np.array([[east, north]])) / reach)
    weights = linalg.solve(system, np.append(to_place[:, 0], 1.0), assume_a="sym")
    return weights[:4] @ values


def finite_elements(conductivity: Any) -> Any:
    """The work of a load on a bar of elements, assembled from their matrices."""
    n = len(conductivity)
    rows, columns, numbers = [], [], []
    for e in range(n):
        for i, j, sign in ((e, e, 1.0), (e, e + 1, -1.0), (e + 1, e, -1.0), (e + 1, e + 1, 1.0)):
            rows.append(i)
            columns.append(j)
            numbers.append(sign * conductivity[e] * n)
    whole = sparse.coo_matrix((np.array(numbers), (rows, columns)), shape=(n + 1, n + 1)).tocsc()
    load = np.full(n, 1.0 / n)
    u = spsolve(whole[1:, 1:], load)
    return load @ u


def robot(angles: Any) -> Any:
    """How far the hand of an arm of three joints is from where it should be."""
    reach = np.zeros(3)
    turn = Rotation.identity()
    for axis, angle, length in zip("zyx", angles, (0.5, 0.4, 0.3), strict=True):
        turn = turn * Rotation.from_euler(axis, angle)
        reach = reach + turn.apply([length, 0.0, 0.1])
    wanted = Rotation.from_rotvec([0.1, 0.4, -0.2])
    return np.sum((reach - np.array([0.6, 0.5, 0.2])) ** 2) + (wanted.inv() * turn).magnitude() ** 2


def integral(parameters: Any) -> Any:
    """A mean over a distribution that ends at a limit, of which all depends on the parameters."""
    mean, width, limit = parameters

    def density(x: float, width: float) -> Any:
        return math.exp(-0.5 * ((x - mean) / width) ** 2)

    total, _ = integrate.quad(density, -np.inf, limit, args=(width,))
    first, _ = integrate.quad(lambda x: x * density(x, width), mean - 8.0 * width, limit)
    return first / total


def inner_fit(data: Any) -> Any:
    """The half-life of a decay that is fitted to the data."""
    t = np.array([0.0, 1.0, 2.0, 3.0, 5.0])

    def misfit(p: Any) -> Any:
        return p[0] * np.exp(-p[1] * t) - data

    def slopes(p: Any) -> Any:
        return np.stack([np.exp(-p[1] * t), -p[0] * t * np.exp(-p[1] * t)], axis=1)

    found = optimize.least_squares(misfit, [1.0, 0.3], jac=slopes, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return math.log(2.0) / found.x[1]


def inner_fit_without_slopes(data: Any) -> Any:
    """The same, where the fit takes differences: what it solves is an inner derivative."""
    t = np.array([0.0, 1.0, 2.0, 3.0, 5.0])
    found = optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * t) - data, [1.0, 0.3])
    return math.log(2.0) / found.x[1]


DECAY = np.array([2.0, 1.3, 0.95, 0.6, 0.28])

PROGRAMS: list[tuple[Any, Any]] = [
    (gaussian_process, np.array([0.1, -0.2, -2.0])),
    (pharmacokinetics, np.array([0.2, -0.9, -1.3])),
    (implied_volatility, np.array([9.0, 101.0, 0.03])),
    (filtered, np.array([0.7, 1.2])),
    (spline, np.array([1.0, 1.7, 0.4, 0.9, 2.1])),
    (kriging, np.array([0.8, 0.6, 0.5])),
    (finite_elements, np.array([1.0, 2.0, 1.5, 0.7])),
    (robot, np.array([0.3, -0.4, 0.9])),
    (integral, np.array([0.2, 0.9, 1.1])),
    (inner_fit, DECAY),
]
