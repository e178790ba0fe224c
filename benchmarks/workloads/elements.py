"""Loops over the elements of NumPy arrays, one at a time."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.workload import Array, Workload

__all__ = ["WORKLOADS"]


def map_elements(x: Array) -> float:
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] * math.sin(x[i])
    return np.sum(y)


def map_elements_adjoint(x: Array) -> tuple[float, Array]:
    n = len(x)
    y = np.empty(n)
    for i in range(n):
        y[i] = x[i] * math.sin(x[i])
    dx = np.empty(n)
    for i in range(n):
        here = x[i]
        dx[i] = math.sin(here) + here * math.cos(here)
    return np.sum(y), dx


def heat_array(initial: Array, k: float, steps: int) -> float:
    u = initial.copy()
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + k * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        u = new
    total = 0.0
    for i in range(len(u)):
        total += u[i] * u[i]
    return total


def heat_array_adjoint(initial: Array, k: float, steps: int) -> tuple[float, Array]:
    n = len(initial)
    u = initial.copy()
    for _ in range(steps):
        new = u.copy()
        for i in range(1, n - 1):
            new[i] = u[i] + k * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        u = new
    total = 0.0
    for i in range(n):
        total += u[i] * u[i]
    du = np.empty(n)
    for i in range(n):
        du[i] = 2.0 * u[i]
    for _ in range(steps):
        before = du.copy()
        for i in range(1, n - 1):
            part = k * du[i]
            before[i] -= 2.0 * part
            before[i + 1] += part
            before[i - 1] += part
        du = before
    return total, du


def cholesky(a: Array) -> float:
    """The logarithm of the determinant; of `a` only the lower triangle is read."""
    n = len(a)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            if i == j:
                lower[i, j] = math.sqrt(s)
            else:
                lower[i, j] = s / lower[j, j]
    total = 0.0
    for i in range(n):
        total += 2.0 * math.log(lower[i, i])
    return total


def cholesky_adjoint(a: Array) -> tuple[float, Array]:
    n = len(a)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            lower[i, j] = math.sqrt(s) if i == j else s / lower[j, j]
    total = 0.0
    for i in range(n):
        total += 2.0 * math.log(lower[i, i])
    da = np.zeros((n, n))
    d_lower = np.zeros((n, n))
    for i in range(n):
        d_lower[i, i] = 2.0 / lower[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i, -1, -1):
            if i == j:
                ds = 0.5 * d_lower[i, i] / lower[i, i]
            else:
                ds = d_lower[i, j] / lower[j, j]
                d_lower[j, j] -= ds * lower[i, j]
            da[i, j] = ds
            for k in range(j):
                d_lower[i, k] -= ds * lower[j, k]
                d_lower[j, k] -= ds * lower[i, k]
    return total, da


def cumulative(x: Array, decay: float) -> float:
    """Exponential smoothing and a running energy, in place on copies."""
    level = x.copy()
    energy = np.zeros(len(x))
    for i in range(1, len(x)):
        level[i] += decay * level[i - 1]
        energy[i] += energy[i - 1] + level[i] * level[i]
    return energy[-1]


def cumulative_adjoint(x: Array, decay: float) -> tuple[float, tuple[Array, float]]:
    n = len(x)
    level = x.copy()
    energy = np.zeros(n)
    for i in range(1, n):
        level[i] += decay * level[i - 1]
        energy[i] += energy[i - 1] + level[i] * level[i]
    d_decay = 0.0
    d_level = np.zeros(n)
    d_energy = 1.0
    for i in range(n - 1, 0, -1):
        d_level[i] += 2.0 * d_energy * level[i]
        d_decay += d_level[i] * level[i - 1]
        d_level[i - 1] += decay * d_level[i]
    return energy[-1], (d_level, float(d_decay))


def kalman(z: Array, process: float, noise: float, h: float) -> float:
    """The negative logarithm of the likelihood of positions, up to constants: constant velocity."""
    x, v = 0.0, 0.0
    p, c, q = 10.0, 0.0, 10.0  # the covariance of x and v
    total = 0.0
    for k in range(len(z)):
        x += h * v
        p += h * (2.0 * c + h * q) + process
        c += h * q
        q += process
        residual = z[k] - x
        s = p + noise
        total += 0.5 * (math.log(s) + residual * residual / s)
        gain_x = p / s
        gain_v = c / s
        x += gain_x * residual
        v += gain_v * residual
        q -= gain_v * c
        c -= gain_v * p
        p -= gain_x * p
    return total


def kalman_adjoint(
    z: Array, process: float, noise: float, h: float
) -> tuple[float, tuple[Array, float, float]]:
    n = len(z)
    x, v = 0.0, 0.0
    p, c, q = 10.0, 0.0, 10.0
    total = 0.0
    saved = []
    for k in range(n):
        x += h * v
        p += h * (2.0 * c + h * q) + process
        c += h * q
        q += process
        residual = z[k] - x
        s = p + noise
        total += 0.5 * (math.log(s) + residual * residual / s)
        gain_x = p / s
        gain_v = c / s
        saved.append((p, c, residual, s, gain_x, gain_v))
        x += gain_x * residual
        v += gain_v * residual
        q -= gain_v * c
        c -= gain_v * p
        p -= gain_x * p
    dz = np.empty(n)
    d_process = d_noise = 0.0
    dx = dv = dp = dc = dq = 0.0
    for k in range(n - 1, -1, -1):
        p, c, residual, s, gain_x, gain_v = saved[k]
        d_gain_x = dx * residual - dp * p
        d_gain_v = dv * residual - dc * p - dq * c
        d_residual = dx * gain_x + dv * gain_v + residual / s
        dp, dc = dp - dp * gain_x - dc * gain_v, dc - dq * gain_v
        dp += d_gain_x / s
        dc += d_gain_v / s
        ds = 0.5 * (1.0 - residual * residual / s) / s - (d_gain_x * gain_x + d_gain_v * gain_v) / s
        d_noise += ds
        dp += ds
        dz[k] = d_residual
        dx -= d_residual
        d_process += dp + dq
        dq += h * dc + h * h * dp
        dc += 2.0 * h * dp
        dv += h * dx
    return total, (dz, float(d_process), float(d_noise))


def positive_matrix(n: int) -> Array:
    x = np.linspace(0.0, 1.0, n)
    return np.exp(-4.0 * np.subtract.outer(x, x) ** 2) + 0.5 * np.eye(n)


WORKLOADS = [
    Workload(
        "map, array of 300",
        map_elements,
        map_elements_adjoint,
        (np.linspace(-2.0, 2.0, 300),),
        (np.array([0.3, -1.2, 2.0]),),
    ),
    Workload(
        "heat, array of 50 x 10",
        heat_array,
        heat_array_adjoint,
        (np.linspace(0.0, 1.0, 50) ** 2, 0.2, 10),
        (np.array([0.0, 1.0, -2.0, 0.5, 3.0]), 0.2, 3),
    ),
    Workload(
        "Cholesky, 10 x 10",
        cholesky,
        cholesky_adjoint,
        (positive_matrix(10),),
        (positive_matrix(3),),
    ),
    Workload(
        "cumulative updates, array of 300",
        cumulative,
        cumulative_adjoint,
        (np.sin(np.arange(300.0)), 0.9),
        (np.array([0.3, -1.2, 2.0, 0.7]), 0.9),
        argnums=(0, 1),
    ),
    Workload(
        "Kalman filter, array of 100",
        kalman,
        kalman_adjoint,
        (np.sin(0.1 * np.arange(100.0)), 0.01, 0.25, 0.1),
        (np.array([0.3, -1.2, 2.0]), 0.1, 0.25, 0.3),
        argnums=(0, 1, 2),
    ),
]
