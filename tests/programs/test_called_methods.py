"""Methods of objects of several classes, called with arguments that are found out behind the method."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import adbc
from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative

STEPS = [0.1 * k for k in range(1, 13)]


class Shape:
    unit: ClassVar[float] = 1.5

    def area(self, k: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def scaled(cls, k: Any) -> Any:
        return cls.unit * k

    @staticmethod
    def squared(k: Any) -> Any:
        return k * k


class Circle(Shape):
    unit = 2.5

    def __init__(self, r: float) -> None:
        self.r = r

    def area(self, k: Any) -> Any:
        return math.pi * self.r**2 * k


class Box(Shape):
    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b

    def area(self, k: Any) -> Any:
        self.a = self.a + 0.01 * k
        return self.a * self.b * k

    @staticmethod
    def squared(k: Any) -> Any:
        return -k * k


def shapes_of(x: Any) -> list[Any]:
    return [Circle(x), Box(x, 2.0), Circle(0.5), Box(0.3, x * x)]


def elements(x: float) -> Any:
    """The argument is an element of a list, read behind the method."""
    row, total = [x, x * x], 0.0
    for k in range(12):
        for shape in shapes_of(x):
            total += shape.area(row[k % 2])
    return total


class Drawing:
    def __init__(self, x: float) -> None:
        self.shapes, self.zoom = shapes_of(x), x

    def total(self) -> Any:
        return sum(shape.area(self.zoom) + shape.scaled(self.zoom) for shape in self.shapes)


def fields(x: float) -> Any:
    drawing, total = Drawing(x), 0.0
    for _ in STEPS:
        total = total + drawing.total()
        drawing.zoom = drawing.zoom * 0.9
    return total


def bound_otherwise(x: float) -> Any:
    """Class methods and static methods."""
    row, total = {"k": x}, 0.0
    for _ in STEPS:
        for shape in shapes_of(x):
            total += shape.scaled(row["k"]) * shape.squared(row["k"])
    return total


class Ring(Circle):
    def area(self, k: Any) -> Any:
        return super().area(k) - k


class Half(Circle):
    def area(self, k: Any) -> Any:
        return 0.5 * self.r * k


class Point(Shape):
    def area(self, k: Any) -> Any:
        return 0.0 * k


class Tile(Box):
    def area(self, k: Any) -> Any:
        return self.a * self.a * k


class Gone(Tile):
    def area(self, k: Any) -> Any:
        return -self.b * k


def many_classes(x: float) -> Any:
    """Seven of them, and functions of as many kinds."""
    shapes = [*shapes_of(x), Ring(x), Half(x), Point(), Tile(x, 1.0), Gone(0.5, x)]
    functions = [math.sin, math.exp, abs, math.sqrt, lambda v: v * x, lambda v: v + 1.0]
    row, total = [x, 2.0], 0.0
    for k in range(6):
        for shape in shapes:
            total += shape.area(row[k % 2])
        for function in functions:
            total += function(row[k % 2])
    return total


def hidden_meanwhile(x: float) -> Any:
    """The argument gives the object an attribute of the name of the method, which is read by then."""

    def hides(shape: Any) -> Any:
        shape.area = lambda k: 100.0 * k
        return row[0]

    row, total = [x], 0.0
    for _ in STEPS:
        for shape in shapes_of(x):
            total += shape.area(hides(shape)) + 0.01 * shape.area(row[0])
    return total


PROGRAMS: list[Callable[[float], Any]] = [elements, fields, bound_otherwise, hidden_meanwhile, many_classes]


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], Any], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8, 0.75):
        check_gradient(program, at)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], Any]) -> None:
    check_once_warm(program)


@pytest.mark.parametrize("program", [elements, fields])
def test_second_derivatives(program: Callable[[float], Any]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("number", "at"), [(np.float64, 0), (np.float32, 7), (int, 7), (np.array, 11)])
def test_an_argument_of_another_class_once_warm(number: Callable[[float], Any], at: int) -> None:
    """It is a float from call to call, and then one is not: the method has been read by then."""

    def total(x: float, last: Any) -> Any:
        row: list[Any] = [x * step for step in STEPS]
        row[at] = last
        result: Any = 0.0
        for k in range(len(STEPS)):
            for shape in shapes_of(x):
                result = result + shape.area(row[k]) * shape.scaled(row[k]) * shape.squared(row[k])
        return result

    gradient = adbc.value_and_grad(total)
    for i in range(60):
        gradient(0.6 + 0.005 * i, 2.0)
    rtol = 1e-4 if number is np.float32 else 1e-6
    check_gradient(total, 0.8, number(2.0), rtol=rtol, reverse_rtol=1e-6 if rtol > 1e-5 else 1e-12)
