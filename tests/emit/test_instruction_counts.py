"""How many instructions forwards pass and pullback execute per instruction of the function: exact, where
times are noisy.

The bounds are what was measured on CPython 3.11 to 3.15, rounded up.  A change that exceeds one makes code
slower for everybody; one that stays far below should lower it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed


def per_iteration(
    function: Callable[..., Any], arguments: Callable[[int], tuple[Any, ...]]
) -> tuple[float, float]:
    """Instructions of forwards pass and pullback per one of the function, in the steady state of its loop."""
    for _ in range(4):  # what was learnt is used from then on
        adbc.vjp(function, *arguments(5))[1](1.0)

    def counts(n: int) -> tuple[int, int, int]:
        plain = executed(lambda: function(*arguments(n)))
        made: list[Any] = []
        forwards = executed(lambda: made.append(adbc.vjp(function, *arguments(n))))
        return plain, forwards, executed(lambda: made[0][1](1.0))

    few, many = counts(20), counts(60)
    plain, forwards, backwards = (b - a for a, b in zip(few, many, strict=True))
    return forwards / plain, backwards / plain


class Particle:
    def __init__(self, x: float, v: float) -> None:
        self.x = x
        self.v = v

    def step(self, k: float, h: float) -> None:
        self.v = self.v - h * k * self.x
        self.x = self.x + h * self.v


def logistic(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


def waves(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = math.sin(r * x) + x * 0.5
    return x


def inner(a: list[float], b: list[float]) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def smooth(u: list[float]) -> float:
    for i in range(1, len(u) - 1):
        u[i] = u[i] + 0.2 * (u[i + 1] - 2.0 * u[i] + u[i - 1])
    return sum(u)


def oscillator(k: float, h: float, n: int) -> float:
    particle = Particle(1.0, 0.0)
    for _ in range(n):
        particle.step(k, h)
    return particle.x


PROGRAMS: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]], float, float]] = [
    (logistic, lambda n: (3.1, 0.4, n), 1.2, 2.5),
    (waves, lambda n: (1.1, 0.4, n), 1.2, 2.0),
    (inner, lambda n: ([0.5] * n, [0.25] * n), 1.8, 3.2),
    (smooth, lambda n: ([0.1 * i for i in range(n)],), 1.3, 3.9),
    (oscillator, lambda n: (2.0, 0.01, n), 0.7, 1.5),
]


@pytest.mark.parametrize(
    ("function", "arguments", "forwards", "backwards"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS]
)
def test_no_more_instructions_per_iteration_than_were_measured(
    function: Callable[..., Any],
    arguments: Callable[[int], tuple[Any, ...]],
    forwards: float,
    backwards: float,
) -> None:
    found = per_iteration(function, arguments)
    assert found[0] <= forwards, found
    assert found[1] <= backwards, found
