"""What a ``functools.cached_property`` gives is asked for once, and then a field."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_five_calls, check_gradient, check_once_warm, check_second_derivative

ASKED = [0]


class Disc:
    def __init__(self, radius: float) -> None:
        self.radius = radius

    @functools.cached_property
    def area(self) -> float:
        ASKED[0] += 1
        return math.pi * self.radius**2

    @functools.cached_property
    def both(self) -> tuple[float, float]:
        return self.area, 2.0 * math.pi * self.radius

    @functools.cached_property
    def table(self) -> list[float]:
        return [self.radius * k for k in range(3)]


class Ring(Disc):
    @functools.cached_property
    def area(self) -> float:
        return math.pi * (self.radius**2 - 0.25)


@dataclasses.dataclass
class Layer:
    width: float
    discs: list[Disc] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def volume(self) -> float:
        return self.width * sum(d.area for d in self.discs)


def asked_often(x: float) -> float:
    disc, total = Disc(x), 0.0
    for k in range(5):
        total += disc.area * k
    return total


def in_a_list(x: float) -> float:
    discs = [Disc(x), Ring(x), Disc(2.0 * x)]
    return sum(d.area * k for k in range(3) for d in discs)


def forgotten(x: float) -> float:
    disc = Disc(x)
    total = disc.area
    disc.radius = x * x
    total += disc.area  # still that of before
    del disc.area
    return total + disc.area


def written(x: float) -> float:
    disc = Disc(x)
    disc.area = x**3  # type: ignore[misc]
    total = disc.area
    vars(disc)["area"] = x
    return total + disc.area * x


def of_others(x: float) -> float:
    a, b = Disc(x).both
    return Layer(x, [Disc(x), Ring(2.0 * x)]).volume + a * b


def of_a_list(x: float) -> float:
    disc = Disc(x)
    disc.table.append(x * x)
    disc.table[1] *= 2.0
    return sum(disc.table) + len(disc.table)


def first_in_a_branch(x: float) -> float:
    disc = Disc(x)
    if x > 0.1:
        y = disc.area
    else:
        y = 1.0
    return y * disc.area


PROGRAMS = [asked_often, in_a_list, forgotten, written, of_others, of_a_list, first_in_a_branch]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("warm_after", [0, 1, 64])
def test_cached_properties(program: Callable[[float], float], warm_after: int) -> None:
    check_five_calls(program, warm_after, rel=1e-6)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_cached_properties_warm(program: Callable[[float], float]) -> None:
    check_once_warm(program)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_second_derivatives(program: Callable[[float], float]) -> None:
    check_second_derivative(program, 1.3, rtol=1e-5)


def test_each_is_asked_once() -> None:
    gradient = adbc.grad(asked_often)
    for _ in range(70):
        ASKED[0] = 0
        gradient(1.5)
        assert ASKED[0] <= 1
    ASKED[0] = 0
    adbc.jvp(asked_often, (1.5,), (1.0,))
    assert ASKED[0] == 1


def of_an_argument(disc: Any) -> float:
    return disc.area * disc.area + sum(disc.table)


def test_an_argument_is_as_it_was() -> None:
    for _ in range(5):
        check_gradient(of_an_argument, Disc(1.5), rtol=1e-5)
    gradient = adbc.grad(of_an_argument)
    for _ in range(60):
        disc = Disc(1.5)
        found = gradient(disc)
        assert vars(disc) == {"radius": 1.5}
    asked = Disc(1.5)
    assert asked.area > 0.0
    kept = gradient(asked)  # it has been asked already: then the area is a number of its own
    assert kept.area == pytest.approx(2.0 * asked.area)
    assert found.radius == pytest.approx(2.0 * asked.area * 2.0 * math.pi * 1.5 + 3.0)


def test_another_function_stands_in_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(asked_often)
    for _ in range(70):
        gradient(1.5)
    other = functools.cached_property(lambda self: self.radius**3)
    other.__set_name__(Disc, "area")
    monkeypatch.setattr(Disc, "area", other)
    assert gradient(1.5) == pytest.approx(10.0 * 3.0 * 1.5**2)
    monkeypatch.undo()
    assert gradient(1.5) == pytest.approx(10.0 * 2.0 * math.pi * 1.5)


@dataclasses.dataclass(frozen=True)
class Frozen:
    radius: float

    @functools.cached_property
    def area(self) -> float:
        return math.pi * self.radius**2


class Slotted:
    __slots__ = ("__dict__", "radius")

    def __init__(self, radius: float) -> None:
        self.radius = radius

    @functools.cached_property
    def area(self) -> float:
        return math.pi * self.radius**2


class Loud(Disc):
    def __setattr__(self, name: str, value: Any) -> None:
        ASKED[0] += 1
        super().__setattr__(name, value)


@pytest.mark.parametrize("cls", [Frozen, Slotted, Loud])
def test_other_classes(cls: Any) -> None:
    def program(x: float) -> float:
        disc = cls(x)
        value: float = disc.area * disc.area + disc.radius
        return value

    check_five_calls(program, 0, rel=1e-6)
    check_once_warm(program)


def by_hand(x: float) -> float:
    total, disc = 0.0, Disc(x)
    area = disc.area
    for k in range(40):
        total += area * k
    return total


def by_property(x: float) -> float:
    total, disc = 0.0, Disc(x)
    for k in range(40):
        total += disc.area * k
    return total


def test_it_costs_what_a_field_costs() -> None:
    kept, asked = adbc.grad(by_hand), adbc.grad(by_property)
    for _ in range(80):
        assert kept(1.5) == pytest.approx(asked(1.5))
    assert executed(lambda: asked(1.5)) < 5 * executed(lambda: kept(1.5))
