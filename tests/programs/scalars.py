"""Loops, branches and recursion on floats."""

from __future__ import annotations

import math


def newton_sqrt(x):
    """Newton's iteration until it stands still."""
    y = x if x > 1.0 else 1.0
    while True:
        better = 0.5 * (y + x / y)
        if abs(better - y) <= 1e-15 * y:
            return better
        y = better


def logistic_map(r, x, steps):
    """A chaotic iteration with a sine in it, averaged so that its gradient stays finite."""
    total = 0.0
    for i in range(steps):
        x = r * x * (1.0 - x) + 0.05 * math.sin(x)
        if i % 3 == 0:
            total += x
    return total / steps


def horner(coefficients, x):
    result = 0.0
    for c in reversed(coefficients):
        result = result * x + c
    return result


def lorenz_slope(state, sigma, rho, beta):
    x, y, z = state
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(state, sigma, rho, beta, h=0.01, steps=20):
    """Runge-Kutta on tuples; the squared distance from the origin at the end."""
    for _ in range(steps):
        k1 = lorenz_slope(state, sigma, rho, beta)
        k2 = lorenz_slope(tuple([s + 0.5 * h * k for s, k in zip(state, k1)]), sigma, rho, beta)
        k3 = lorenz_slope(tuple([s + 0.5 * h * k for s, k in zip(state, k2)]), sigma, rho, beta)
        k4 = lorenz_slope(tuple([s + h * k for s, k in zip(state, k3)]), sigma, rho, beta)
        slopes = zip(state, k1, k2, k3, k4)
        state = tuple([s + h / 6.0 * (a + 2.0 * b + 2.0 * c + d) for s, a, b, c, d in slopes])
    return sum([s * s for s in state])


def simpson(f, a, b, fa, fm, fb, whole, tolerance, depth):
    m = 0.5 * (a + b)
    left, right = f(0.5 * (a + m)), f(0.5 * (m + b))
    first = (m - a) / 6.0 * (fa + 4.0 * left + fm)
    second = (b - m) / 6.0 * (fm + 4.0 * right + fb)
    change = first + second - whole
    if depth == 0 or abs(change) <= 15.0 * tolerance:
        return first + second + change / 15.0
    return simpson(f, a, m, fa, left, fm, first, 0.5 * tolerance, depth - 1) + simpson(
        f, m, b, fm, right, fb, second, 0.5 * tolerance, depth - 1
    )


def adaptive_simpson(a, b, frequency):
    """The integral of a function that closes over one of the arguments."""

    def f(x):
        return math.exp(-x) * math.sin(frequency * x * x)

    fa, fm, fb = f(a), f(0.5 * (a + b)), f(b)
    return simpson(f, a, b, fa, fm, fb, (b - a) / 6.0 * (fa + 4.0 * fm + fb), 1e-6, 12)
