"""Methods of objects of several classes, with arguments that are computed between read and call."""

from __future__ import annotations

import math
from typing import Any

import pytest

import adbc

N = 12


class Shape:
    def __init__(self, k: Any) -> None:
        self.k = k

    def area(self, v: Any) -> Any:
        return v * self.k


class Ring(Shape):
    def area(self, v: Any) -> Any:
        return v + self.k * self.k


class Wave(Shape):
    def area(self, v: Any) -> Any:
        return math.sin(v * self.k)


class Named:
    """Its method is a field."""

    def __init__(self, k: Any) -> None:
        self.area = lambda v: v - k


def arguments_between(x: float) -> float:
    shapes = [Shape(x), Ring(x), Wave(x), Named(x)]
    total = 0.0
    for i in range(N):
        total += shapes[i % 4].area(0.1 * i + x * total)
    return total


def call_between(x: float) -> float:
    shapes = [Shape(x), Ring(2.0 * x), Wave(x)]
    total = 0.5
    for i in range(N):
        total = shapes[i % 3].area(shapes[(i + 1) % 3].area(total) if total < 3.0 else math.log(total))
    return total


def called_in_a_loop(x: float) -> float:
    total = 0.0
    for shape in [Shape(x), Ring(x), Wave(x), Ring(3.0 * x)] * 2:
        area = shape.area
        for i in range(3):
            total += 0.05 * area(0.2 * i) * math.sin(area(total))
    return total


def replaced_between(x: float) -> float:
    """Arguments give the object another method: the one that was read is called."""
    total = 0.0

    def replacing(shape: Any, v: float) -> float:
        shape.area = lambda v: 100.0 * v
        return v

    for i in range(N):
        shape = [Shape, Ring, Wave][i % 3](x)
        total += shape.area(replacing(shape, 0.1 * i))
        total += shape.area(0.01)
    return total


def hidden_by_a_field(x: float) -> float:
    total = 0.0
    for i in range(N):
        shape: Any = [Shape, Ring, Wave][i % 3](x)
        if i > 6:
            shape.area = lambda v: v * x * x
        total += shape.area(0.3 + total * 0.01)
    return total


def caught(x: float) -> float:
    things: list[Any] = [Shape(x), Ring(x), None, Wave(x), 3]
    total = 0.0
    for i in range(2 * N):
        try:
            total += things[i % 5].area(1.0 / (i % 4) + total)
        except AttributeError:
            total += x
        except ZeroDivisionError:
            total *= 0.5
    return total


PROGRAMS = [
    arguments_between, call_between, called_in_a_loop, replaced_between, hidden_by_a_field, caught,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: str(f.__name__))
def test_are_read_before_their_arguments(program: Any) -> None:
    x, h = 0.7, 1e-6
    expected = (program(x + h) - program(x - h)) / (2 * h)
    for config in ({}, {"warm_after": 0}):
        with adbc.use(adbc.Config(**config)):
            for _ in range(5):
                value, gradient = adbc.value_and_grad(program)(x)
                assert value == program(x)
                assert gradient == pytest.approx(expected, rel=1e-6)
                assert adbc.jvp(program, (x,), (1.0,))[1] == pytest.approx(gradient, rel=1e-12)
