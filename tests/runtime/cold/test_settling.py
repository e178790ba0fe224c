"""After a few calls with the same types nothing is built any more, whatever the program is made of."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import logging
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import adbc
from adbc import Config
from adbc.rules import SOURCES
from adbc.rules.lookup import RuleTable
from adbc.runtime import make_engine, using

log = logging.getLogger(__name__)


class Quantity:
    def __init__(self, value: Any, unit: str) -> None:
        self.value, self.unit = value, unit

    def __add__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        if other.unit != self.unit:
            raise ValueError("different units")
        return Quantity(self.value + other.value, self.unit)

    def __mul__(self, other: Any) -> Quantity:
        if isinstance(other, Quantity):
            return Quantity(self.value * other.value, self.unit + other.unit)
        return Quantity(self.value * other, self.unit)

    __rmul__ = __mul__


def units(a: float, b: float) -> Any:
    x, y = Quantity(a, "m"), Quantity(b, "m")
    total = Quantity(0.0, "m")
    for k in range(5):
        total = total + 0.5 * x + y * math.sin(k * a)
    return (total * (x + y)).value


class Parser:
    def __init__(self, text: str, names: dict[str, float]) -> None:
        self.tokens = text.replace("(", " ( ").replace(")", " ) ").split()
        self.names = names

    def peek(self) -> str | None:
        return self.tokens[0] if self.tokens else None

    def sum(self) -> float:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.tokens.pop(0) == "+" else value - self.product()
        return value

    def product(self) -> float:
        value = self.atom()
        while self.peek() == "*":
            self.tokens.pop(0)
            value *= self.atom()
        return value

    def atom(self) -> float:
        token = self.tokens.pop(0)
        if token == "(":
            value = self.sum()
            self.tokens.pop(0)
            return value
        try:
            return float(token)
        except ValueError:
            return self.names[token]


def parsed(a: float, b: float) -> float:
    return Parser("a * ( b + 2.5 ) - a * b + 3 * ( b - a * a )", {"a": a, "b": b}).sum()


class Ray(NamedTuple):
    height: float
    angle: float


def lens(focus: float) -> Callable[[Ray], Ray]:
    return lambda ray: ray._replace(angle=ray.angle - ray.height / focus)


def gap(length: float) -> Callable[[Ray], Ray]:
    return lambda ray: Ray(ray.height + length * ray.angle, ray.angle)


def optics(a: float, b: float) -> float:
    system = [gap(0.2), lens(a), gap(0.05), lens(b), gap(0.1)]
    spots = []
    for height, angle in itertools.product((-0.1, 0.1), (0.0, 0.2)):
        ray = functools.reduce(lambda ray, element: element(ray), system, Ray(height, angle))
        spots.append(ray.height)
    return sum(s**2 for s in spots)


@dataclasses.dataclass(frozen=True)
class Dose:
    time: float
    amount: float


class Patient:
    def __init__(self, rate: float, volume: float) -> None:
        self.rate, self.volume = rate, volume
        self.mass = 0.0
        self.history: list[float] = []

    @property
    def concentration(self) -> float:
        return self.mass / self.volume

    def step(self, length: float) -> None:
        self.mass -= length * self.rate * self.mass
        self.history.append(self.concentration)


def treatment(rate: float, volume: float) -> float:
    doses = collections.deque([Dose(0.0, 100.0), Dose(0.5, 50.0)])
    patient = Patient(rate, volume)
    time = 0.0
    while time < 1.0:
        while doses and doses[0].time <= time:
            patient.mass += doses.popleft().amount
            log.debug("a dose at %s", time)
        patient.step(0.1)
        time += 0.1
    return sum(patient.history) + max(patient.history)


PROGRAMS = [(units, 2.0, 3.0), (parsed, 1.3, 0.4), (optics, 0.1, 0.05), (treatment, 0.3, 5.0)]


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(("function", "a", "b"), PROGRAMS)
def test_nothing_is_built_behind_the_fifth_call(function: Any, a: float, b: float, mode: str) -> None:
    engine = make_engine(RuleTable(SOURCES), Config())
    with using(engine):
        slope = (function(a + 1e-6, b) - function(a - 1e-6, b)) / 2e-6
        gradient = adbc.grad(function)
        builds = []
        for _ in range(20):
            if mode == "reverse":
                found = gradient(a, b)
            else:
                found = adbc.jvp(function, (a, b), (1.0, 0.0))[1]
            assert found == pytest.approx(slope, rel=1e-6)
            builds.append(engine.builds)
        assert builds[4:] == [builds[-1]] * 16


def springs(a: float, b: float) -> float:
    """Its classes are other ones in each call."""

    class Spring:
        def __init__(self, k: float) -> None:
            self.k = k

        def force(self, x: float) -> float:
            return -self.k * x

    class Damped(Spring):
        def force(self, x: float) -> float:
            return super().force(x) * b

    x = 1.0
    for spring in (Spring(a), Damped(a), Spring(2.0)):
        x += 0.1 * spring.force(x)
    return x


def test_classes_that_are_made_in_each_call() -> None:
    """The functions of class statements are known by their code, and so is what makes the classes."""
    engine = make_engine(RuleTable(SOURCES), Config(warm_after=10))
    with using(engine):
        slope = (springs(1.0 + 1e-6, 2.0) - springs(1.0 - 1e-6, 2.0)) / 2e-6
        gradient = adbc.grad(springs)
        builds = []
        for _ in range(60):
            assert gradient(1.0, 2.0) == pytest.approx(slope, rel=1e-6)
            builds.append(engine.builds)
        assert builds[40:] == [builds[-1]] * 20


def test_code_is_for_what_is_called_again() -> None:
    """A function that was called twice is interpreted still; one of a library is for longer."""
    engine = make_engine(RuleTable(SOURCES), Config())
    with using(engine):
        gradient = adbc.grad(units)
        gradient(2.0, 3.0)
        [rule] = [rule for rule in engine.rules.values() if rule.code is units.__code__]
        assert rule.cold is not None
        for _ in range(3):
            gradient(2.0, 3.0)
        rules = [rule for rule in engine.rules.values() if rule.code is units.__code__]
        assert [rule.cold for rule in rules if rule.is_built] == [None]
