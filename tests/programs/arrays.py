"""NumPy programs, most of which work in place."""

from __future__ import annotations

import numpy as np


def heat_elements(u, k, steps):
    """The heat equation with one scratch array, element by element."""
    n = len(u)
    scratch = np.empty(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            scratch[i] = u[i] + k * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        for i in range(1, n - 1):
            u[i] = scratch[i]
    total = 0.0
    for i in range(n):
        total += u[i] * u[i] * (i + 1)
    return total


def heat_slices(u, k, steps):
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u * np.arange(1.0, len(u) + 1.0))


def cholesky(a):
    """Factor in place, lower triangle, by the textbook; the log determinant plus a corner."""
    n = a.shape[0]
    log_determinant = 0.0
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = a[j, j] ** 0.5
        log_determinant += 2.0 * np.log(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
    return log_determinant + a[n - 1, 0]


def cholesky_lists(a):
    """The same on a list of lists."""
    n = len(a)
    for j in range(n):
        row = a[j]
        for k in range(j):
            row[j] -= row[k] ** 2
        row[j] = row[j] ** 0.5
        for i in range(j + 1, n):
            for k in range(j):
                a[i][j] -= a[i][k] * row[k]
            a[i][j] /= row[j]
    return sum([a[i][i] for i in range(n)]) + a[-1][0]


def network(parameters, x, y):
    """Two layers and a quadratic loss; parameters in a dict."""
    hidden = np.tanh(x @ parameters["w1"] + parameters["b1"])
    output = hidden @ parameters["w2"] + parameters["b2"]
    return np.mean((output - y) ** 2) + 1e-3 * np.sum(parameters["w1"] ** 2)


class Kalman:
    """A constant-velocity filter whose mean and covariance are updated in place."""

    def __init__(self, mean, covariance, process, noise):
        self.mean = mean
        self.covariance = covariance
        self.process = process
        self.noise = noise
        self.steps = 0

    def predict(self, dt):
        f = np.array([[1.0, dt], [0.0, 1.0]])
        self.mean[:] = f @ self.mean
        self.covariance[:] = f @ self.covariance @ f.T
        self.covariance[1, 1] += self.process * dt

    def update(self, measured):
        surprise = measured - self.mean[0]
        variance = self.covariance[0, 0] + self.noise
        gain = self.covariance[:, 0] / variance
        self.mean += gain * surprise
        self.covariance -= gain.reshape(2, 1) * self.covariance[0]
        self.steps += 1
        return 0.5 * (surprise * surprise / variance + np.log(variance))


def kalman_loss(kalman, measurements):
    loss = 0.0
    for z in measurements:
        kalman.predict(0.1)
        loss += kalman.update(z)
    return loss


def kalman_from_scratch(process, noise, measurements):
    kalman = Kalman(np.zeros(2), np.eye(2), process, noise)
    return kalman_loss(kalman, measurements)


def kalman_object():
    return Kalman(np.array([0.1, -0.2]), np.array([[1.0, 0.2], [0.2, 0.5]]), 0.3, 0.05)


def mix(a, b):
    """Twice the same list or array may come in."""
    for i in range(len(a)):
        a[i] = a[i] * b[i] + 0.5 * b[i]
    total = 0.0
    for i in range(len(b)):
        total += b[i] * (i + 1.0)
    return total


def twice(a):
    return mix(a, a)


def overlap(u):
    """Writes through one view show in the other."""
    head, tail = u[:-1], u[1:]
    head *= 2.0
    tail += 0.5 * head
    whole = u.reshape(2, -1)
    whole[0] *= whole[1]
    return np.sum(head * tail)


def overlapping_arguments(head, tail):
    head *= tail
    tail += head * head
    return np.sum(head) + tail[0] * tail[-1]
