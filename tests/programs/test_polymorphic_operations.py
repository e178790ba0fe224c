"""Values that are now of this class and now of that, where they are read, written and computed with."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative

STEPS = [0.1 * k for k in range(1, 13)]


class Tank:
    def __init__(self, level: float, feeds: Tank | None = None) -> None:
        self.level = level
        self.feeds = feeds


class Pipe:
    __slots__ = ("flow", "level")

    def __init__(self, level: float) -> None:
        self.level = level
        self.flow = 0.0


class Drain:
    """Its level is computed, and writing it does something."""

    def __init__(self) -> None:
        self.total = 0.0

    @property
    def level(self) -> float:
        return self.total * 2.0

    @level.setter
    def level(self, value: float) -> None:
        self.total += value * value


@dataclass
class Vector:
    x: float
    y: float

    def __add__(self, other: Any) -> Vector:
        if isinstance(other, Vector):
            return Vector(self.x + other.x, self.y + other.y)
        return Vector(self.x + other, self.y + other)

    def __mul__(self, k: Any) -> Vector:
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__
    __radd__ = __add__


def first_of_many(x: float) -> float:
    """The difference from the last, which is None at first."""
    last, total = None, 0.0
    for step in STEPS:
        value = math.sin(x * step)
        if last is not None:
            total += (value - last) * (value + last) / (1.0 + last * last)
        last = value
    return total


def best_so_far(x: float) -> float:
    best = None
    for step in STEPS:
        value = math.sin(7.0 * step) * x
        if best is None or value > best:
            best = value
    assert best is not None
    return best * best


def integers_among_floats(x: float) -> float:
    """The state begins as an int, and comes to be a float only sometimes."""
    a, b = 0, 1
    for k, step in enumerate(STEPS):
        if k % 3 == 1:
            a = a + b * x
        elif k % 3 == 2:
            b = b - step * a
        else:
            a, b = b, 2
    return a * b


def optional_parts(x: float) -> float:
    """Pairs of an object, which may be missing, and a number."""
    tanks = [Tank(x), Tank(x * x), Tank(1.0)]
    flows = [(tanks[0], 0.5), (None, 2.0), (tanks[1], x), (tanks[2], 0.25), (None, x)]
    lost = 0.0
    for step in STEPS:
        for target, rate in flows:
            if target is not None:
                target.level += step * rate * target.level
            else:
                lost += rate * step * tanks[0].level
    return lost + sum(tank.level for tank in tanks)


def chained(x: float) -> float:
    """Along a list of linked objects, which ends in None."""
    tank = None
    for step in STEPS:
        tank = Tank(x * step, tank)
    total, here = 0.0, tank
    while here is not None:
        total += here.level * here.level
        if here.feeds is not None:
            here.feeds.level += 0.5 * here.level
        here = here.feeds
    return total


def several_classes(x: float) -> float:
    """Fields in a dict, in a slot, and a property, under one name."""
    things: list[Any] = [Tank(x), Pipe(x * x), Drain(), Tank(2.0)]
    total = 0.0
    for k, step in enumerate(STEPS):
        thing = things[k % len(things)]
        before = thing.level
        thing.level = before * step + x
        total += thing.level * before
    return total + sum(t.level for t in things)


def numbers_and_vectors(x: float) -> float:
    terms: list[Any] = [x, Vector(x, 1.0), 2.0, Vector(x * x, x), 3]
    total: Any = 0.0
    for term in terms:
        total = total + term * x
    return total.x * total.y


@dataclass(frozen=True)
class Place:
    RADIUS: ClassVar[float] = 3.5
    name = "somewhere"
    latitude: float
    longitude: float

    def height(self, other: Place) -> float:
        return self.RADIUS * math.cos(self.latitude - other.latitude) * other.longitude * len(self.name)


def constants_of_records(x: float) -> float:
    here = Place(x, 0.5)
    return sum(here.height(Place(step, x * step)) for step in STEPS)


def namespace(x: float) -> float:
    p = types.SimpleNamespace(rate=x, level=1.0, table=[x, 2.0])
    q = types.SimpleNamespace(rate=0.5, inner=p)
    for step in STEPS:
        p.level = p.level + step * q.inner.rate * p.table[1] - q.rate * p.level
        p.table[1] = p.level
        q.last = p.level * step
    return p.level * q.last + q.inner.table[0]


PROGRAMS: list[Callable[[float], Any]] = [
    first_of_many, best_so_far, integers_among_floats, optional_parts, chained, several_classes,
    numbers_and_vectors, constants_of_records, namespace,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], Any], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8, 0.75):
        check_gradient(program, at)


@pytest.mark.parametrize(
    "program", [first_of_many, best_so_far, integers_among_floats, chained, several_classes]
)
def test_second_derivatives(program: Callable[[float], Any]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], Any]) -> None:
    check_once_warm(program)


@pytest.mark.parametrize("number", [np.float64, np.float32, complex, int, np.array])
def test_other_numbers_once_warm(number: Callable[[float], Any]) -> None:
    """The state is a float from call to call, and then it is not."""

    def combined(x: float, start: Any) -> Any:
        last, total = None, 0.0
        for step in STEPS:
            value = math.sin(x * step) + start
            if last is not None:
                total = total + (value - last * 0.5) * x
            last = value
        return abs(total)

    gradient = adbc.value_and_grad(combined)
    for i in range(60):
        gradient(0.6 + 0.005 * i, 2.0)
    rtol = 1e-4 if number is np.float32 else 1e-6
    check_gradient(combined, 0.8, number(2.0), rtol=rtol, reverse_rtol=1e-6 if rtol > 1e-5 else 1e-12)


def test_a_class_that_changes_once_warm() -> None:
    class Cell:
        def __init__(self, level: float) -> None:
            self.level = level

    def read(x: float) -> Any:
        cells = [Cell(x), None, Cell(2.0 * x)]
        return sum(cell.level * step for cell in cells if cell is not None for step in STEPS)

    gradient = adbc.value_and_grad(read)
    for i in range(60):
        gradient(0.6 + 0.005 * i)
    check_gradient(read, 0.8)
    Cell.__getattribute__ = lambda self, name: 3.0 * object.__getattribute__(self, name)  # type: ignore[method-assign]
    check_gradient(read, 0.8)
    del Cell.__getattribute__
    check_gradient(read, 0.8)
    Cell.level = property(lambda self: self.kept * 5.0, lambda self, v: self.__dict__.update(kept=v))  # type: ignore[attr-defined]
    check_gradient(read, 0.8)


def test_what_a_record_has_beside_its_fields(speculation: str) -> None:
    """The constant of the class is hidden by an attribute of the instance: that is refused, not lost."""

    def hidden(x: float) -> Any:
        here = Place(x, 0.5)
        object.__setattr__(here, "RADIUS", x * x)
        return sum(here.height(Place(step, x * step)) for step in STEPS)

    for _ in range(3):
        with pytest.raises(UnsupportedError, match="RADIUS"):
            adbc.grad(hidden)(0.8)
        with pytest.raises(UnsupportedError, match="RADIUS"):
            adbc.jvp(hidden, (0.8,), (1.0,))
    for radius in (2.5, 4, 3.5):
        Place.RADIUS = radius  # type: ignore[misc]
        check_gradient(constants_of_records, 0.8)
