"""Tangents by hand: for some of the programs, the one that an engineer would write for forward mode.

``tangent(arguments, directions)`` is what ``adbc.jvp(function, arguments, directions)`` is; a direction that
is None is zero for good, and nothing is computed with it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.workload import Function
from benchmarks.workloads import elements, guarded, scalar
from benchmarks.workloads.scalar import Triple

__all__ = ["TANGENTS"]

Given = tuple[Any, ...]
Answer = tuple[Any, Any]


# -- Local floats --------------------------------------------------------------------------------------


def logistic_map(arguments: Given, directions: Given) -> Answer:
    (r, x, steps), dr = arguments, directions[0]
    dx = 0.0
    for _ in range(steps):
        a, b = r * x, 1.0 - x
        dx = (dr * x + r * dx) * b - a * dx
        x = a * b
    return x, dx


def logistic_sine(arguments: Given, directions: Given) -> Answer:
    (r, x, steps), dr = arguments, directions[0]
    dx = 0.0
    for _ in range(steps):
        a, b = r * x, 1.0 - x
        dx, x = (dr * x + r * dx) * b - a * dx + 0.05 * math.cos(x) * dx, a * b + 0.05 * math.sin(x)
    return x, dx


def newton(arguments: Given, directions: Given) -> Answer:
    (x, steps), dx = arguments, directions[0]
    y, dy = 1.0, 0.0
    for _ in range(steps):
        q = x / y
        dy = 0.5 * (dy + (dx - q * dy) / y)
        y = 0.5 * (y + q)
    return y, dy


def kepler(arguments: Given, directions: Given) -> Answer:
    (eccentricity, count), d_eccentricity = arguments, directions[0]
    total = d_total = 0.0
    for k in range(count):
        mean = 2.0 * math.pi * k / count
        anomaly, d_anomaly = mean, 0.0
        for _ in range(50):
            sine, cosine = math.sin(anomaly), math.cos(anomaly)
            slope = 1.0 - eccentricity * cosine
            step = (anomaly - eccentricity * sine - mean) / slope
            d_slope = eccentricity * sine * d_anomaly - d_eccentricity * cosine
            d_excess = d_anomaly - d_eccentricity * sine - eccentricity * cosine * d_anomaly
            d_anomaly -= (d_excess - step * d_slope) / slope
            anomaly -= step
            if abs(step) < 1e-12:
                break
        cosine = math.cos(anomaly)
        total += 1.0 - eccentricity * cosine
        d_total += eccentricity * math.sin(anomaly) * d_anomaly - d_eccentricity * cosine
    return total, d_total


def slope(
    x: float, dx: float, y: float, dy: float, z: float, dz: float,
    sigma: float, d_sigma: float, rho: float, beta: float,
) -> tuple[Triple, Triple]:  # fmt: skip
    difference, rest = y - x, rho - z
    return (
        (sigma * difference, x * rest - y, x * y - beta * z),
        (
            d_sigma * difference + sigma * (dy - dx),
            dx * rest - x * dz - dy,
            dx * y + x * dy - beta * dz,
        ),
    )


def lorenz(arguments: Given, directions: Given) -> Answer:
    (sigma, h, steps), d_sigma = arguments, directions[0]
    x, y, z = 1.0, 0.5, -0.7
    dx = dy = dz = 0.0
    for _ in range(steps):
        (a, b, c), (da, db, dc) = slope(x, dx, y, dy, z, dz, sigma, d_sigma, 28.0, 8.0 / 3.0)
        (d, e, f), (dd, de, df) = slope(
            x + h * a, dx + h * da, y + h * b, dy + h * db, z + h * c, dz + h * dc,
            sigma, d_sigma, 28.0, 8.0 / 3.0,
        )  # fmt: skip
        half = 0.5 * h
        x, y, z = x + half * (a + d), y + half * (b + e), z + half * (c + f)
        dx, dy, dz = dx + half * (da + dd), dy + half * (db + de), dz + half * (dc + df)
    return x * x + y * y + z * z, 2.0 * (x * dx + y * dy + z * dz)


def velocity(
    state: Triple, d_state: Triple, sigma: float, d_sigma: float, rho: float, d_rho: float,
    beta: float, d_beta: float,
) -> tuple[Triple, Triple]:  # fmt: skip
    x, y, z = state
    dx, dy, dz = d_state
    difference, rest = y - x, rho - z
    return (
        (sigma * difference, x * rest - y, x * y - beta * z),
        (
            d_sigma * difference + sigma * (dy - dx),
            dx * rest + x * (d_rho - dz) - dy,
            dx * y + x * dy - d_beta * z - beta * dz,
        ),
    )


def moved(
    state: Triple, d_state: Triple, velocity: Triple, d_velocity: Triple, h: float
) -> tuple[Triple, Triple]:
    return (
        (state[0] + h * velocity[0], state[1] + h * velocity[1], state[2] + h * velocity[2]),
        (d_state[0] + h * d_velocity[0], d_state[1] + h * d_velocity[1], d_state[2] + h * d_velocity[2]),
    )


def lorenz_rk4(arguments: Given, directions: Given) -> Answer:
    sigma, rho, beta, h, steps = arguments
    d_sigma, d_rho, d_beta, *_ = directions
    state, d_state = (1.0, 0.5, -0.7), (0.0, 0.0, 0.0)
    for _ in range(steps):
        k1, d1 = velocity(state, d_state, sigma, d_sigma, rho, d_rho, beta, d_beta)
        second = moved(state, d_state, k1, d1, 0.5 * h)
        k2, d2 = velocity(*second, sigma, d_sigma, rho, d_rho, beta, d_beta)
        third = moved(state, d_state, k2, d2, 0.5 * h)
        k3, d3 = velocity(*third, sigma, d_sigma, rho, d_rho, beta, d_beta)
        fourth = moved(state, d_state, k3, d3, h)
        k4, d4 = velocity(*fourth, sigma, d_sigma, rho, d_rho, beta, d_beta)
        part = h / 6.0
        state = (
            state[0] + part * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0]),
            state[1] + part * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1]),
            state[2] + part * (k1[2] + 2.0 * k2[2] + 2.0 * k3[2] + k4[2]),
        )
        d_state = (
            d_state[0] + part * (d1[0] + 2.0 * d2[0] + 2.0 * d3[0] + d4[0]),
            d_state[1] + part * (d1[1] + 2.0 * d2[1] + 2.0 * d3[1] + d4[1]),
            d_state[2] + part * (d1[2] + 2.0 * d2[2] + 2.0 * d3[2] + d4[2]),
        )
    (x, y, z), (dx, dy, dz) = state, d_state
    return x * x + y * y + z * z, 2.0 * (x * dx + y * dy + z * dz)


# -- Lists, attributes, functions ------------------------------------------------------------------------


def horner(arguments: Given, directions: Given) -> Answer:
    (x, coefficients), dx = arguments, directions[0]
    result = d_result = 0.0
    for c in coefficients:
        d_result = d_result * x + result * dx
        result = result * x + c
    return result, d_result


def dot_lists(arguments: Given, directions: Given) -> Answer:
    (a, b), da = arguments, directions[0]
    total = d_total = 0.0
    for i in range(len(a)):
        y = b[i]
        total += a[i] * y
        d_total += da[i] * y
    return total, d_total


def heat_elements(arguments: Given, directions: Given) -> Answer:
    (u, k, steps), du = arguments, directions[0]
    n = len(u)
    for _ in range(steps):
        left, d_left = u[0], du[0]
        for i in range(1, n - 1):
            here, d_here = u[i], du[i]
            u[i] = here + k * (u[i + 1] - 2.0 * here + left)
            du[i] = d_here + k * (du[i + 1] - 2.0 * d_here + d_left)
            left, d_left = here, d_here
    return sum(u), sum(du)


class Particle:
    """With the tangents of its fields."""

    def __init__(self, x: float, v: float) -> None:
        self.x, self.v = x, v
        self.dx = self.dv = 0.0

    def step(self, stiffness: float, d_stiffness: float, h: float) -> None:
        part = h * stiffness
        self.dv = self.dv - (h * d_stiffness * self.x + part * self.dx)
        self.v = self.v - part * self.x
        self.dx = self.dx + h * self.dv
        self.x = self.x + h * self.v


def oscillator(arguments: Given, directions: Given) -> Answer:
    (stiffness, h, steps), d_stiffness = arguments, directions[0]
    particle = Particle(1.0, 0.0)
    for _ in range(steps):
        particle.step(stiffness, d_stiffness, h)
    return particle.x * particle.x, 2.0 * particle.x * particle.dx


def simpson(
    f: Function, a: float, fa: float, dfa: float, b: float, fb: float, dfb: float, m: float, fm: float,
    dfm: float, whole: float, d_whole: float, tolerance: float,
) -> tuple[float, float]:  # fmt: skip
    left, right = 0.5 * (a + m), 0.5 * (m + b)
    f_left, df_left = f(left)
    f_right, df_right = f(right)
    lower, upper = (m - a) / 6.0, (b - m) / 6.0
    first, d_first = lower * (fa + 4.0 * f_left + fm), lower * (dfa + 4.0 * df_left + dfm)
    second, d_second = upper * (fm + 4.0 * f_right + fb), upper * (dfm + 4.0 * df_right + dfb)
    error = first + second - whole
    if abs(error) < 15.0 * tolerance:
        return first + second + error / 15.0, d_first + d_second + (d_first + d_second - d_whole) / 15.0
    half = 0.5 * tolerance
    x, dx = simpson(f, a, fa, dfa, m, fm, dfm, left, f_left, df_left, first, d_first, half)
    y, dy = simpson(f, m, fm, dfm, b, fb, dfb, right, f_right, df_right, second, d_second, half)
    return x + y, dx + dy


def quadrature(arguments: Given, directions: Given) -> Answer:
    (decay, frequency, tolerance), (d_decay, d_frequency, _) = arguments, directions

    def f(x: float) -> tuple[float, float]:
        phase = frequency * x
        damping, sine = math.exp(-decay * x), math.sin(phase)
        return damping * sine, damping * (math.cos(phase) * d_frequency - d_decay * sine) * x

    a, b = 0.0, 2.0
    m = 0.5 * (a + b)
    (fa, dfa), (fb, dfb), (fm, dfm) = f(a), f(b), f(m)
    part = (b - a) / 6.0
    whole, d_whole = part * (fa + 4.0 * fm + fb), part * (dfa + 4.0 * dfm + dfb)
    return simpson(f, a, fa, dfa, b, fb, dfb, m, fm, dfm, whole, d_whole, tolerance)


# -- Elements of arrays ----------------------------------------------------------------------------------


def map_elements(arguments: Given, directions: Given) -> Answer:
    (x,), (dx,) = arguments, directions
    y, dy = np.empty(len(x)), np.empty(len(x))
    for i in range(len(x)):
        here, sine = x[i], math.sin(x[i])
        y[i] = here * sine
        dy[i] = (sine + here * math.cos(here)) * dx[i]
    return np.sum(y), np.sum(dy)


def heat_array(arguments: Given, directions: Given) -> Answer:
    (initial, k, steps), d_initial = arguments, directions[0]
    u, du = initial.copy(), d_initial.copy()
    for _ in range(steps):
        new, d_new = u.copy(), du.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + k * (u[i + 1] - 2.0 * u[i] + u[i - 1])
            d_new[i] = du[i] + k * (du[i + 1] - 2.0 * du[i] + du[i - 1])
        u, du = new, d_new
    total = d_total = 0.0
    for i in range(len(u)):
        here = u[i]
        total += here * here
        d_total += 2.0 * here * du[i]
    return total, d_total


def cholesky(arguments: Given, directions: Given) -> Answer:
    (a,), (da,) = arguments, directions
    n = len(a)
    lower, d_lower = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s, ds = a[i, j], da[i, j]
            for k in range(j):
                x, y = lower[i, k], lower[j, k]
                s -= x * y
                ds -= x * d_lower[j, k] + d_lower[i, k] * y
            if i == j:
                root = lower[i, j] = math.sqrt(s)
                d_lower[i, j] = 0.5 * ds / root
            else:
                pivot = lower[j, j]
                quotient = lower[i, j] = s / pivot
                d_lower[i, j] = (ds - quotient * d_lower[j, j]) / pivot
    total = d_total = 0.0
    for i in range(n):
        pivot = lower[i, i]
        total += 2.0 * math.log(pivot)
        d_total += 2.0 * d_lower[i, i] / pivot
    return total, d_total


def cumulative(arguments: Given, directions: Given) -> Answer:
    (x, decay), (dx, d_decay) = arguments, directions
    level, d_level = x.copy(), dx.copy()
    energy, d_energy = np.zeros(len(x)), np.zeros(len(x))
    for i in range(1, len(x)):
        before = level[i - 1]
        level[i] += decay * before
        d_level[i] += d_decay * before + decay * d_level[i - 1]
        here = level[i]
        energy[i] += energy[i - 1] + here * here
        d_energy[i] += d_energy[i - 1] + 2.0 * here * d_level[i]
    return energy[-1], d_energy[-1]


TANGENTS: dict[Function, Function] = {
    scalar.logistic_map: logistic_map,
    scalar.logistic_sine: logistic_sine,
    scalar.newton: newton,
    scalar.kepler: kepler,
    scalar.lorenz: lorenz,
    scalar.lorenz_rk4: lorenz_rk4,
    guarded.horner: horner,
    guarded.dot_lists: dot_lists,
    guarded.heat_elements: heat_elements,
    guarded.oscillator: oscillator,
    guarded.quadrature: quadrature,
    elements.map_elements: map_elements,
    elements.heat_array: heat_array,
    elements.cholesky: cholesky,
    elements.cumulative: cumulative,
}
"""By the program."""
