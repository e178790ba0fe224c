"""Programs on local floats: all types follow from those of the arguments."""

from __future__ import annotations

import math

from benchmarks.workload import Workload

__all__ = ["WORKLOADS"]

Triple = tuple[float, float, float]


# -- Logistic map ------------------------------------------------------------------------------------


def logistic_map(r: float, x: float, steps: int) -> float:
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def logistic_map_adjoint(r: float, x: float, steps: int) -> tuple[float, float]:
    saved = []
    for _ in range(steps):
        saved.append(x)
        x = r * x * (1.0 - x)
    dr, dx = 0.0, 1.0
    for y in reversed(saved):
        dr += dx * y * (1.0 - y)
        dx *= r * (1.0 - 2.0 * y)
    return x, dr


def logistic_sine(r: float, x: float, steps: int) -> float:
    for _ in range(steps):
        x = r * x * (1.0 - x) + 0.05 * math.sin(x)
    return x


def logistic_sine_adjoint(r: float, x: float, steps: int) -> tuple[float, float]:
    saved = []
    for _ in range(steps):
        saved.append(x)
        x = r * x * (1.0 - x) + 0.05 * math.sin(x)
    dr, dx = 0.0, 1.0
    for y in reversed(saved):
        dr += dx * y * (1.0 - y)
        dx *= r * (1.0 - 2.0 * y) + 0.05 * math.cos(y)
    return x, dr


# -- Newton's method ---------------------------------------------------------------------------------


def newton(x: float, steps: int) -> float:
    y = 1.0
    for _ in range(steps):
        y = 0.5 * (y + x / y)
    return y


def newton_adjoint(x: float, steps: int) -> tuple[float, float]:
    y = 1.0
    saved = []
    for _ in range(steps):
        q = x / y
        saved.append((y, q))
        y = 0.5 * (y + q)
    dx, dy = 0.0, 1.0
    for z, q in reversed(saved):
        dy *= 0.5
        part = dy / z
        dx += part
        dy -= part * q
    return y, dx


def kepler(eccentricity: float, count: int) -> float:
    """Kepler's equation for some mean anomalies; each is iterated until it has converged."""
    total = 0.0
    for k in range(count):
        mean = 2.0 * math.pi * k / count
        anomaly = mean
        for _ in range(50):
            step = (anomaly - eccentricity * math.sin(anomaly) - mean) / (
                1.0 - eccentricity * math.cos(anomaly)
            )
            anomaly -= step
            if abs(step) < 1e-12:
                break
        total += 1.0 - eccentricity * math.cos(anomaly)
    return total


def kepler_adjoint(eccentricity: float, count: int) -> tuple[float, float]:
    total = 0.0
    saved = []
    for k in range(count):
        mean = 2.0 * math.pi * k / count
        anomaly = mean
        steps = []
        for _ in range(50):
            sine, cosine = math.sin(anomaly), math.cos(anomaly)
            slope = 1.0 - eccentricity * cosine
            step = (anomaly - eccentricity * sine - mean) / slope
            steps.append((sine, cosine, slope, step))
            anomaly -= step
            if abs(step) < 1e-12:
                break
        cosine = math.cos(anomaly)
        saved.append((steps, anomaly, cosine))
        total += 1.0 - eccentricity * cosine
    d_eccentricity = 0.0
    for steps, anomaly, cosine in reversed(saved):
        d_eccentricity -= cosine
        d_anomaly = eccentricity * math.sin(anomaly)
        for sine, cosine, slope, step in reversed(steps):
            d_excess = -d_anomaly / slope
            d_slope = -d_excess * step
            d_eccentricity -= d_excess * sine + d_slope * cosine
            d_anomaly += d_excess * slope + d_slope * eccentricity * sine
    return total, d_eccentricity


# -- Lorenz's equations ------------------------------------------------------------------------------


def slope(x: float, y: float, z: float, sigma: float, rho: float, beta: float) -> Triple:
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(sigma: float, h: float, steps: int) -> float:
    """Heun's method."""
    x, y, z = 1.0, 0.5, -0.7
    for _ in range(steps):
        a, b, c = slope(x, y, z, sigma, 28.0, 8.0 / 3.0)
        d, e, f = slope(x + h * a, y + h * b, z + h * c, sigma, 28.0, 8.0 / 3.0)
        x, y, z = x + 0.5 * h * (a + d), y + 0.5 * h * (b + e), z + 0.5 * h * (c + f)
    return x * x + y * y + z * z


def lorenz_adjoint(sigma: float, h: float, steps: int) -> tuple[float, float]:
    rho, beta = 28.0, 8.0 / 3.0
    x, y, z = 1.0, 0.5, -0.7
    saved = []
    for _ in range(steps):
        a, b, c = slope(x, y, z, sigma, rho, beta)
        u, v, w = x + h * a, y + h * b, z + h * c
        saved.append((x, y, z, u, v, w))
        d, e, f = slope(u, v, w, sigma, rho, beta)
        x, y, z = x + 0.5 * h * (a + d), y + 0.5 * h * (b + e), z + 0.5 * h * (c + f)
    value = x * x + y * y + z * z
    d_sigma = 0.0
    dx, dy, dz = 2.0 * x, 2.0 * y, 2.0 * z
    for x, y, z, u, v, w in reversed(saved):
        da, db, dc = 0.5 * h * dx, 0.5 * h * dy, 0.5 * h * dz
        du = db * (rho - w) - da * sigma + dc * v
        dv = da * sigma - db + dc * u
        dw = -db * u - dc * beta
        d_sigma += da * (v - u)
        dx, dy, dz = dx + du, dy + dv, dz + dw
        da, db, dc = da + h * du, db + h * dv, dc + h * dw
        d_sigma += da * (y - x)
        dx += db * (rho - z) - da * sigma + dc * y
        dy += da * sigma - db + dc * x
        dz -= db * x + dc * beta
    return value, d_sigma


def velocity(state: Triple, sigma: float, rho: float, beta: float) -> Triple:
    x, y, z = state
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def moved(state: Triple, velocity: Triple, h: float) -> Triple:
    return state[0] + h * velocity[0], state[1] + h * velocity[1], state[2] + h * velocity[2]


def lorenz_rk4(sigma: float, rho: float, beta: float, h: float, steps: int) -> float:
    """The classical method of Runge and Kutta."""
    state = (1.0, 0.5, -0.7)
    for _ in range(steps):
        k1 = velocity(state, sigma, rho, beta)
        k2 = velocity(moved(state, k1, 0.5 * h), sigma, rho, beta)
        k3 = velocity(moved(state, k2, 0.5 * h), sigma, rho, beta)
        k4 = velocity(moved(state, k3, h), sigma, rho, beta)
        state = (
            state[0] + h / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0]),
            state[1] + h / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1]),
            state[2] + h / 6.0 * (k1[2] + 2.0 * k2[2] + 2.0 * k3[2] + k4[2]),
        )
    x, y, z = state
    return x * x + y * y + z * z


def lorenz_rk4_adjoint(sigma: float, rho: float, beta: float, h: float, steps: int) -> tuple[float, Triple]:
    state = (1.0, 0.5, -0.7)
    saved = []
    for _ in range(steps):
        k1 = velocity(state, sigma, rho, beta)
        second = moved(state, k1, 0.5 * h)
        k2 = velocity(second, sigma, rho, beta)
        third = moved(state, k2, 0.5 * h)
        k3 = velocity(third, sigma, rho, beta)
        fourth = moved(state, k3, h)
        k4 = velocity(fourth, sigma, rho, beta)
        saved.append((state, second, third, fourth))
        state = (
            state[0] + h / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0]),
            state[1] + h / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1]),
            state[2] + h / 6.0 * (k1[2] + 2.0 * k2[2] + 2.0 * k3[2] + k4[2]),
        )
    x, y, z = state
    value = x * x + y * y + z * z
    d_sigma = d_rho = d_beta = 0.0
    dx, dy, dz = 2.0 * x, 2.0 * y, 2.0 * z
    for stages in reversed(saved):
        weights = (h / 6.0, h / 3.0, h / 3.0, h / 6.0)
        lengths = (0.5 * h, 0.5 * h, h, 0.0)  # of the move that the velocity of a stage is used for
        ex, ey, ez = dx, dy, dz
        du = dv = dw = 0.0
        for i in (3, 2, 1, 0):
            u, v, w = stages[i]
            weight, length = weights[i], lengths[i]
            da, db, dc = weight * ex + length * du, weight * ey + length * dv, weight * ez + length * dw
            d_sigma += da * (v - u)
            d_rho += db * u
            d_beta -= dc * w
            du = db * (rho - w) - da * sigma + dc * v
            dv = da * sigma - db + dc * u
            dw = -db * u - dc * beta
            dx, dy, dz = dx + du, dy + dv, dz + dw
    return value, (d_sigma, d_rho, d_beta)


# -- Black and Scholes -------------------------------------------------------------------------------


def normal_cdf(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def call_price(spot: float, strike: float, rate: float, volatility: float, expiry: float) -> float:
    spread = volatility * math.sqrt(expiry)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * expiry) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * math.exp(-rate * expiry) * normal_cdf(d2)


def black_scholes(spot: float, rate: float, volatility: float, count: int) -> float:
    """What a book of call options is worth."""
    total = 0.0
    for i in range(count):
        total += call_price(spot, 80.0 + i, rate, volatility, 0.25 + 0.05 * i)
    return total


def black_scholes_adjoint(spot: float, rate: float, volatility: float, count: int) -> tuple[float, Triple]:
    """By the chain rule: the closed forms of delta, rho and vega know more than the program says."""
    total = 0.0
    saved = []
    for i in range(count):
        strike, expiry = 80.0 + i, 0.25 + 0.05 * i
        root = math.sqrt(expiry)
        spread = volatility * root
        d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * expiry) / spread
        d2 = d1 - spread
        first, second = normal_cdf(d1), normal_cdf(d2)
        discounted = strike * math.exp(-rate * expiry)
        saved.append((expiry, root, spread, d1, d2, first, second, discounted))
        total += spot * first - discounted * second
    d_spot = d_rate = d_volatility = 0.0
    density = 1.0 / math.sqrt(2.0 * math.pi)
    for expiry, root, spread, d1, d2, first, second, discounted in reversed(saved):
        d_d2 = -discounted * density * math.exp(-0.5 * d2 * d2)
        d_d1 = spot * density * math.exp(-0.5 * d1 * d1) + d_d2
        d_sum = d_d1 / spread
        d_spread = -d_d2 - d_sum * d1
        d_spot += first + d_sum / spot
        d_rate += expiry * (discounted * second + d_sum)
        d_volatility += d_sum * volatility * expiry + d_spread * root
    return total, (d_spot, d_rate, d_volatility)


WORKLOADS = [
    Workload(
        "logistic map, 1000 iterations",
        logistic_map,
        logistic_map_adjoint,
        (3.5, 0.4, 1000),
        (3.5, 0.4, 7),
    ),
    Workload(
        "logistic map with a sine, 1000",
        logistic_sine,
        logistic_sine_adjoint,
        (3.1, 0.4, 1000),
        (3.1, 0.4, 7),
    ),
    Workload("Newton's square root, 500", newton, newton_adjoint, (2.0, 500), (2.0, 3)),
    Workload("Newton, Kepler's equation, 20", kepler, kepler_adjoint, (0.6, 20), (0.6, 3)),
    Workload("Lorenz, Heun, 100 steps", lorenz, lorenz_adjoint, (10.0, 0.01, 100), (10.0, 0.01, 3)),
    Workload(
        "Lorenz, Runge-Kutta, tuples, 30 steps",
        lorenz_rk4,
        lorenz_rk4_adjoint,
        (10.0, 28.0, 8.0 / 3.0, 0.01, 30),
        (10.0, 28.0, 8.0 / 3.0, 0.01, 3),
        argnums=(0, 1, 2),
    ),
    Workload(
        "Black-Scholes, 40 options",
        black_scholes,
        black_scholes_adjoint,
        (100.0, 0.03, 0.25, 40),
        (100.0, 0.03, 0.25, 3),
        argnums=(0, 1, 2),
    ),
]
