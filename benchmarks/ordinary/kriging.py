"""Gaussian processes, kriging and other models of covariance, mostly by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Callable

import numpy as np

from benchmarks.program import Program

# -- marginal likelihood ------------------------------------------------------------


@dataclass
class RBF:
    variance: float
    length: float

    def __call__(self, x, y):
        d2 = (x[:, None] - y[None, :]) ** 2
        return self.variance * np.exp(-0.5 * d2 / self.length**2)


class GaussianProcess:
    def __init__(self, kernel, noise):
        self.kernel = kernel
        self.noise = noise
        self._factor = None

    def fit(self, x, y):
        self.x, self.y = np.asarray(x), np.asarray(y)
        covariance = self.kernel(self.x, self.x) + self.noise * np.eye(len(x))
        self._factor = np.linalg.cholesky(covariance)
        self.alpha = np.linalg.solve(self._factor.T, np.linalg.solve(self._factor, self.y))
        return self

    @property
    def log_marginal_likelihood(self):
        n = len(self.y)
        return -0.5 * self.y @ self.alpha - np.log(np.diag(self._factor)).sum() - 0.5 * n * np.log(2 * np.pi)


def evidence(parameters, x, y):
    kernel = RBF(parameters["variance"], parameters["length"])
    return GaussianProcess(kernel, parameters["noise"]).fit(x, y).log_marginal_likelihood


def cholesky(a):
    n = len(a)
    lower = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = sum(lower[i][k] * lower[j][k] for k in range(j))
            if i == j:
                lower[i][j] = math.sqrt(a[i][i] - s)
            else:
                lower[i][j] = (a[i][j] - s) / lower[j][j]
    return lower


def forward_substitution(lower, b):
    x = []
    for row, value in zip(lower, b):
        x.append((value - sum(l * xi for l, xi in zip(row, x))) / row[len(x)])
    return x


def evidence_by_lists(parameters, x, y):
    variance, length, noise = (parameters[k] for k in ("variance", "length", "noise"))
    k = [[variance * math.exp(-0.5 * ((a - b) / length) ** 2) for b in x] for a in x]
    for i in range(len(x)):
        k[i][i] += noise
    lower = cholesky(k)
    z = forward_substitution(lower, y)
    log_det = sum(math.log(lower[i][i]) for i in range(len(x)))
    return -0.5 * sum(v * v for v in z) - log_det - 0.5 * len(x) * math.log(2 * math.pi)


# -- ordinary kriging ------------------------------------------------------------


def spherical(h, nugget, sill, reach):
    if h == 0.0:
        return 0.0
    if h >= reach:
        return nugget + sill
    r = h / reach
    return nugget + sill * (1.5 * r - 0.5 * r**3)


def solve(matrix, right):
    """Gaussian elimination with partial pivoting; works on copies."""
    a = [row[:] + [b] for row, b in zip(matrix, right)]
    n = len(a)
    for c in range(n):
        pivot = max(range(c, n), key=lambda r: abs(a[r][c]))
        a[c], a[pivot] = a[pivot], a[c]
        for r in range(c + 1, n):
            f = a[r][c] / a[c][c]
            for k in range(c, n + 1):
                a[r][k] -= f * a[c][k]
    x = [0.0] * n
    for r in reversed(range(n)):
        x[r] = (a[r][n] - sum(a[r][k] * x[k] for k in range(r + 1, n))) / a[r][r]
    return x


def krige(variogram_parameters, wells, place):
    """Estimate at a place, plus its variance."""
    gamma = partial(
        spherical,
        nugget=variogram_parameters[0],
        sill=variogram_parameters[1],
        reach=variogram_parameters[2],
    )
    points = [(x, y) for x, y, _ in wells]
    n = len(points)
    matrix = [[gamma(math.dist(p, q)) for q in points] + [1.0] for p in points]
    matrix.append([1.0] * n + [0.0])
    right = [gamma(math.dist(p, place)) for p in points] + [1.0]
    weights = solve(matrix, right)
    estimate = sum(w * v for w, (_, _, v) in zip(weights, wells))
    return estimate + sum(w * g for w, g in zip(weights, right))


def krige_by_arrays(variogram_parameters, wells, place):
    nugget, sill, reach = variogram_parameters
    data = np.array(wells)
    xy, values = data[:, :2], data[:, 2]

    def gamma(h):
        r = np.minimum(h / reach, 1.0)
        return np.where(h > 0.0, nugget + sill * (1.5 * r - 0.5 * r**3), 0.0)

    def distance(a, b):
        return np.hypot(a[..., 0] - b[..., 0], a[..., 1] - b[..., 1])

    n = len(values)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = gamma(distance(xy[:, None], xy[None, :]))
    system[n, n] = 0.0
    right = np.append(gamma(distance(xy, np.array(place))), 1.0)
    weights = np.linalg.solve(system, right)
    return weights[:n] @ values + weights @ right


# -- a sum of kernels ------------------------------------------------------------

Kernel = Callable[[float, float], float]


def periodic(period, width) -> Kernel:
    return lambda s, t: math.exp(-2.0 * math.sin(math.pi * (s - t) / period) ** 2 / width**2)


def matern32(length) -> Kernel:
    def k(s, t):
        r = math.sqrt(3.0) * abs(s - t) / length
        return (1.0 + r) * math.exp(-r)

    return k


def add(*kernels: Kernel) -> Kernel:
    return lambda s, t: sum(k(s, t) for k in kernels)


def scaled(factor, k: Kernel) -> Kernel:
    return lambda s, t: factor * k(s, t)


def prior_energy(theta, times, values):
    """The quadratic form of the covariance: how much two series vary together."""
    k = add(scaled(theta[0], periodic(theta[1], theta[2])), scaled(theta[3], matern32(theta[4])))
    return sum(u * k(s, t) * v for s, u in zip(times, values) for t, v in zip(times, values))


class Covariance:
    def __add__(self, other):
        return Sum(self, other)

    def __rmul__(self, factor):
        return Scaled(factor, self)

    def evaluate(self, s, t):
        raise NotImplementedError


class Sum(Covariance):
    def __init__(self, *terms):
        self.terms = terms

    def evaluate(self, s, t):
        return sum(term.evaluate(s, t) for term in self.terms)


class Scaled(Covariance):
    def __init__(self, factor, inner):
        self.factor, self.inner = factor, inner

    def evaluate(self, s, t):
        return self.factor * self.inner.evaluate(s, t)


class Periodic(Covariance):
    def __init__(self, period, width):
        self.period, self.width = period, width

    def evaluate(self, s, t):
        return math.exp(-2.0 * (math.sin(math.pi * (s - t) / self.period) / self.width) ** 2)


class Matern32(Covariance):
    def __init__(self, length):
        self.length = length

    def evaluate(self, s, t):
        r = 3.0**0.5 * abs(s - t) / self.length
        return (1.0 + r) * math.exp(-r)


def prior_energy_of_classes(theta, times, values):
    k = theta[0] * Periodic(theta[1], theta[2]) + theta[3] * Matern32(theta[4])
    total = 0.0
    for i, s in enumerate(times):
        row = 0.0
        for j, t in enumerate(times):
            row += k.evaluate(s, t) * values[j]
        total += values[i] * row
    return total


_X = [0.37 * i + 0.05 * (i % 3) for i in range(10)]
_Y = [math.sin(x) + 0.05 * (-1) ** i for i, x in enumerate(_X)]
_WELLS = [((i * 7) % 5 + 0.1 * i, (i * 3) % 4 + 0.05 * i, 1.0 + 0.2 * math.sin(i)) for i in range(7)]
_TIMES = [0.31 * i + 0.01 * i * i for i in range(8)]

PROGRAMS = [
    Program(
        "evidence of a Gaussian process",
        {"classes on arrays": evidence, "lists": evidence_by_lists},
        ({"variance": 1.2, "length": 0.9, "noise": 0.05}, _X, _Y),
    ),
    Program(
        "ordinary kriging",
        {"lists and partial": krige, "arrays": krige_by_arrays},
        ([0.05, 0.9, 4.3], _WELLS, (1.7, 2.2)),
    ),
    Program(
        "sum of kernels",
        {"closures": prior_energy, "class hierarchy": prior_energy_of_classes},
        ([0.7, 1.3, 0.8, 0.5, 1.1], _TIMES, [math.cos(1.3 * t) for t in _TIMES]),
        (0, 2),
    ),
]
