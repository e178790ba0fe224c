"""Trackers and state estimation."""

from __future__ import annotations

import logging
import math
import random
from collections import deque
from dataclasses import dataclass

import numpy as np

from benchmarks.program import Program

log = logging.getLogger(__name__)

# -- Kalman filter of position and velocity ------------------------------------------------------------


class KalmanFilter:
    """Linear Kalman filter with the usual names."""

    def __init__(self, dim_x, dim_z):
        self.x = np.zeros(dim_x)
        self.P = np.eye(dim_x)
        self.F = np.eye(dim_x)
        self.H = np.zeros((dim_z, dim_x))
        self.Q = np.eye(dim_x)
        self.R = np.eye(dim_z)
        self.log_likelihood = 0.0

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        self.P = (np.eye(len(self.x)) - K @ self.H) @ self.P
        _, logdet = np.linalg.slogdet(S)
        self.log_likelihood += -0.5 * (y @ np.linalg.solve(S, y) + logdet + len(y) * np.log(2 * np.pi))


def tracking(process_noise, measurement_noise, dt, measurements):
    kf = KalmanFilter(2, 1)
    kf.F[0, 1] = dt
    kf.H[0, 0] = 1.0
    kf.P *= 10.0
    kf.Q = process_noise * np.array([[dt**4 / 4, dt**3 / 2], [dt**3 / 2, dt**2]])
    kf.R *= measurement_noise
    for z in measurements:
        kf.predict()
        kf.update(np.array([z]))
        log.debug("state %s", kf.x)
    return -kf.log_likelihood


def tracking_by_hand(process_noise, measurement_noise, dt, measurements):
    q11 = process_noise * dt**4 / 4
    q12 = process_noise * dt**3 / 2
    q22 = process_noise * dt**2
    x, v = 0.0, 0.0
    p11, p12, p22 = 10.0, 0.0, 10.0
    total = 0.0
    for z in measurements:
        x += dt * v
        p11, p12, p22 = p11 + 2 * dt * p12 + dt * dt * p22 + q11, p12 + dt * p22 + q12, p22 + q22
        s = p11 + measurement_noise
        k1, k2 = p11 / s, p12 / s
        y = z - x
        x += k1 * y
        v += k2 * y
        p11, p12, p22 = (1 - k1) * p11, (1 - k1) * p12, p22 - k2 * p12
        total += 0.5 * (y * y / s + math.log(s) + math.log(2 * math.pi))
    return total


# -- particles, with noise drawn before ------------------------------------------------------------


def particle_filter(theta, noise, observations):
    """Soft weights, no resampling: noise[t][i] moves particle i at time t."""
    decay, spread, sigma = theta
    count = len(noise[0])
    particles = [0.0] * count
    weights = [1.0 / count] * count
    evidence = 0.0
    for shocks, y in zip(noise, observations):
        particles = [decay * x + spread * e for x, e in zip(particles, shocks)]
        weights = [w * math.exp(-0.5 * ((y - x) / sigma) ** 2) / sigma for w, x in zip(weights, particles)]
        total = sum(weights)
        evidence += math.log(total)
        weights = [w / total for w in weights]
    return evidence


def particle_filter_by_arrays(theta, noise, observations):
    decay, spread, sigma = theta
    noise = np.asarray(noise)
    particles = np.zeros(noise.shape[1])
    log_weights = np.full(noise.shape[1], -np.log(noise.shape[1]))
    evidence = 0.0
    for shocks, y in zip(noise, observations):
        particles = decay * particles + spread * shocks
        log_weights = log_weights - 0.5 * ((y - particles) / sigma) ** 2 - np.log(sigma)
        top = log_weights.max()
        total = top + np.log(np.exp(log_weights - top).sum())
        evidence += total
        log_weights -= total
    return evidence


# -- alpha-beta filter ------------------------------------------------------------


def alpha_beta(gains, measurements, dt):
    """One-step prediction errors."""
    alpha, beta = gains["alpha"], gains["beta"]

    def predictions():
        x, v = measurements[0], 0.0
        for z in measurements[1:]:
            x = x + dt * v
            yield x, z
            r = z - x
            x += alpha * r
            v += beta / dt * r

    return sum((predicted - z) ** 2 for predicted, z in predictions())


@dataclass
class Track:
    position: float
    velocity: float = 0.0

    def coast(self, dt):
        self.position += dt * self.velocity
        return self

    def correct(self, residual, dt, *, alpha, beta):
        self.position += alpha * residual
        self.velocity += beta * residual / dt


def alpha_beta_of_tracks(gains, measurements, dt):
    track = Track(measurements[0])
    residuals = []
    for z in measurements[1:]:
        residual = z - track.coast(dt).position
        track.correct(residual, dt, **gains)
        residuals.append(residual)
    return math.fsum(r * r for r in residuals)


# -- smoothing over a window ------------------------------------------------------------


def smoothed_roughness(bandwidth, data, size):
    """Exponentially weighted window of the last `size` values, and its squared steps."""
    window = deque(maxlen=size)
    previous = None
    rough = 0.0
    for value in data:
        window.appendleft(value)
        top = bottom = 0.0
        for age, v in enumerate(window):
            w = math.exp(-age / bandwidth)
            top += w * v
            bottom += w
        level = top / bottom
        if previous is not None:
            rough += (level - previous) ** 2
        previous = level
    return rough


def smoothed_roughness_by_matrix(bandwidth, data, size):
    n = len(data)
    age = np.subtract.outer(np.arange(n), np.arange(n))
    weights = np.where((age >= 0) & (age < size), np.exp(-np.abs(age) / bandwidth), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    levels = weights @ np.asarray(data)
    return np.sum(np.diff(levels) ** 2)


_rng = random.Random(4)
_MEASUREMENTS = [0.5 * t + 0.3 * math.sin(t) + _rng.gauss(0.0, 0.2) for t in range(40)]
_NOISE = [[_rng.gauss(0.0, 1.0) for _ in range(20)] for _ in range(15)]
_OBSERVED = [0.4 * math.sin(0.5 * t) for t in range(15)]

PROGRAMS = [
    Program(
        "tracking, likelihood of a Kalman filter",
        {"class of matrices": tracking, "floats": tracking_by_hand},
        (0.3, 0.05, 0.5, _MEASUREMENTS),
        (0, 1),
    ),
    Program(
        "particles",
        {"lists": particle_filter, "arrays": particle_filter_by_arrays},
        ([0.9, 0.3, 0.5], _NOISE, _OBSERVED),
    ),
    Program(
        "alpha-beta filter",
        {"nested generator": alpha_beta, "dataclass": alpha_beta_of_tracks},
        ({"alpha": 0.5, "beta": 0.1}, [z for z in _MEASUREMENTS for _ in range(3)], 0.1),
    ),
    Program(
        "roughness of a moving average",
        {"deque": smoothed_roughness, "weights as a matrix": smoothed_roughness_by_matrix},
        (2.5, _MEASUREMENTS, 8),
        (0, 1),
    ),
]
