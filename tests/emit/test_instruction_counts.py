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
from tests.programs.ordinary import callables, ledger, table, tallies, totals, ways


def per_iteration(
    function: Callable[..., Any], arguments: Callable[[int], tuple[Any, ...]]
) -> tuple[float, float]:
    """Instructions of forwards pass and pullback per one of the function, in the steady state of its loop."""
    for _ in range(40):  # what was learnt is used from then on, and small functions get code
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


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k: float) -> Vector:
        return Vector(self.x * k, self.y * k)

    @property
    def energy(self) -> float:
        return self.x * self.x + self.y * self.y


class Mass:
    @classmethod
    def at_rest(cls, x: float) -> Mass:
        return cls(x, 0.0)

    def __init__(self, x: float, v: float) -> None:
        self.x = x
        self.v = v

    def pull(self, force: float, h: float) -> None:
        self.v += h * force

    def move(self, h: float) -> None:
        self.x += h * self.v


class Spring:
    def __init__(self, a: Mass, b: Mass, k: float) -> None:
        self.a, self.b, self.k = a, b, k

    def act(self, h: float) -> None:
        a, b = self.a, self.b
        force = self.k * (b.x - a.x - 1.0)
        a.pull(force, h)
        b.pull(-force, h)


def vectors(k: float, h: float, n: int) -> float:
    p, v = Vector(1.0, 0.0), Vector(0.0, k)
    total = 0.0
    for _ in range(n):
        p = p + v * h
        v = v + p * (-k * h)
        total += p.energy
    return total


def pairs(k: float, h: float, n: int) -> float:
    masses = [Mass.at_rest(1.1 * i) for i in range(3)]
    springs = [Spring(masses[i], masses[i + 1], k) for i in range(2)]
    for _ in range(n):
        for spring in springs:
            spring.act(h)
        for mass in masses:
            mass.move(h)
    return masses[0].x * masses[2].x


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


def double(x: float) -> float:
    return 2.0 * x


def scaled(k: float) -> Callable[[float], float]:
    return lambda x: k * x + 0.1


class Linear:
    def __init__(self, w: float) -> None:
        self.w = w

    def value(self, x: float) -> float:
        return self.w * x


class Square(Linear):
    def value(self, x: float) -> float:
        return self.w * x * x


def layers(k: float, x: float, n: int) -> float:
    functions = [double, math.tanh, scaled(k)]
    for _ in range(n):
        for function in functions:
            x = function(x)
    return x


def shapes(k: float, x: float, n: int) -> float:
    items = [Linear(k), Square(0.5), Linear(0.1)]
    for _ in range(n):
        for item in items:
            x = x + item.value(x) * 0.01
    return x


class Drawing:
    def __init__(self, k: float) -> None:
        self.shapes, self.zoom = [Linear(k), Square(0.5), Linear(0.1)], k

    def total(self) -> float:
        """The argument stands in a field, which is read behind the method."""
        return sum(shape.value(self.zoom) for shape in self.shapes)


def drawn(k: float, x: float, n: int) -> float:
    drawings = [Drawing(k), Drawing(x)]
    for _ in range(n):
        for drawing in drawings:
            x = x + drawing.total() * 0.01
    return x


def bound(k: float, x: float, n: int) -> float:
    scales = [lambda v, k=k: v * k for k in (k, 0.5)]
    for _ in range(n):
        for scale in scales:
            x = x + scale(x) * 0.01
    return x


def starred(k: float, x: float, n: int) -> float:
    row = [k, x, 2.0 * x]
    for _ in range(n):
        first, *rest = row
        x += first * max(*rest)
    return x


PROGRAMS: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]], float, float]] = [
    (logistic, lambda n: (3.1, 0.4, n), 1.2, 2.5),
    (waves, lambda n: (1.1, 0.4, n), 1.2, 2.0),
    (inner, lambda n: ([0.5] * n, [0.25] * n), 1.8, 3.2),
    (smooth, lambda n: ([0.1 * i for i in range(n)],), 1.3, 3.9),
    (oscillator, lambda n: (2.0, 0.01, n), 0.7, 1.5),
    (vectors, lambda n: (1.1, 0.01, n), 6.3, 3.4),
    (pairs, lambda n: (2.0, 0.01, n), 6.4, 2.7),
    (layers, lambda n: (0.7, 0.4, n), 8.2, 5.0),
    (shapes, lambda n: (0.7, 0.4, n), 9.0, 6.0),
    (drawn, lambda n: (0.7, 0.4, n), 14.5, 9.5),
    (bound, lambda n: (0.7, 0.4, n), 12.7, 6.6),
    (starred, lambda n: (0.01, 0.4, n), 78.0, 48.0),
    (tallies, lambda n: (0.7, 0.4, n), 10.9, 7.5),
    (table, lambda n: (0.7, n), 2.0, 1.6),
    (callables, lambda n: (0.7, 0.4, n), 6.2, 4.7),
    (ledger, lambda n: (0.7, 0.4, n), 1.7, 1.4),
    (ways, lambda n: (0.7, 0.4, n), 7.0, 4.9),
    (totals, lambda n: ([0.1, 0.2, 0.3, 0.4], n), 27.2, 17.7),
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
