"""Functions as values, in closures and dicts, and every way to pass arguments."""

from __future__ import annotations

import math

import numpy as np


def make_counter(rate):
    total = 0.0
    calls = 0

    def add(x):
        nonlocal total, calls
        calls += 1
        total = total * rate + x * x
        return total

    return add


def nonlocal_state(x, rate):
    add = make_counter(rate)
    add(x)
    add(math.sin(x))
    return add(2.0 * x) * add(1.0)


def make_quadratic(weights):
    """A function with active state: differentiating it is differentiating by its argument only."""

    def quadratic(x):
        return weights[0] + weights[1] * x + weights[2] * x * x

    return quadratic


def square(x):
    return x * x


def reciprocal(x, shift=1.0):
    return 1.0 / (shift + x)


TABLE = {"square": square, "reciprocal": reciprocal, "sine": math.sin, "cube": lambda x: x**3}


def dispatch(names, x):
    for name in names:
        x = TABLE[name](x) + 0.1 * x
    return x


def weighted(*values, scale=1.0, **weights):
    total = scale * sum(values)
    for name in weights:
        total += weights[name] * values[0] ** len(name)
    return total


def call_forms(x, y):
    pair = (x, y)
    options = {"scale": 2.0, "ab": 3.0}
    return (
        weighted(x)
        + weighted(x, y, scale=y)
        + weighted(*pair, **options)
        + weighted(y, *pair, abc=x)
        + reciprocal(shift=x, x=y)
        + reciprocal(y)
    )


def with_keywords(x, *, power=2, offset):
    return x**power + offset * x


def polynomial(x, a, b):
    """Works on floats and on arrays alike."""
    return (a * x + b) * x + 1.0


def polymorphic(x, u):
    return polynomial(x, 2.0, x) + np.sum(polynomial(u, x, 0.5)) + polynomial(x, x, u[0])
