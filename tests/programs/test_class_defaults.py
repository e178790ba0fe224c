"""Attributes that are objects of the class until an instance gets its own."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative

POINTS = [0.1 * i for i in range(1, 9)]


@dataclasses.dataclass(frozen=True)
class Pose:
    x: float = 0.0
    y: float = 0.5

    def moved(self, by: float) -> Pose:
        return dataclasses.replace(self, x=self.x + by * math.cos(self.y), y=self.y + by)


Reading = collections.namedtuple("Reading", "value weight")


class Box:
    def __init__(self, content: float) -> None:
        self.content = content


@dataclasses.dataclass
class Rover:
    speed: float
    pose: Pose = Pose()  # noqa: RUF009  # it is immutable
    last: Reading = Reading(1.0, 2.0)  # noqa: RUF009
    history: list[Pose] = dataclasses.field(default_factory=list)

    def drive(self, by: float) -> None:
        self.history.append(self.pose)
        self.pose = self.pose.moved(by * self.speed)
        self.last = Reading(self.last.weight * self.pose.x, self.last.value + self.speed)


def driven(speed: float) -> float:
    rover = Rover(speed)
    for by in POINTS:
        rover.drive(by)
    way = [*rover.history, rover.pose]
    return sum(math.hypot(b.x - a.x, b.y - a.y) for a, b in zip(way, way[1:])) + rover.last.value


class Shared:
    box = Box(1.0)
    scale = [0.5, 2.0]  # noqa: RUF012
    table = {"a": 1.5, "b": 2.5}  # noqa: RUF012

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def fill(self, by: float) -> None:
        self.box.content = self.box.content * self.rate + by * self.scale[1] * self.table["a"]


class Derived(Shared):
    scale = [1.0, 3.0]  # noqa: RUF012


def filled_together(rate: float, kind: type[Shared] = Shared) -> float:
    """What is written through one instance is read through another, and in the class."""
    first, second = kind(rate), kind(rate * rate)
    before = Shared.box.content
    for i, by in enumerate(POINTS):
        (first, second)[i % 2].fill(by)
    result = first.box.content * second.box.content + Shared.box.content
    Shared.box.content = before
    return result


def filled_apart(rate: float) -> float:
    """One instance gets a box of its own on the way, and gives it back."""
    first, second = Shared(rate), Shared(rate * rate)
    before = Shared.box.content
    for i, by in enumerate(POINTS):
        if i == 2:
            first.box = Box(rate)
        if i == 6:
            second.rate += first.box.content
            del first.box
        first.fill(by)
        second.fill(by * first.box.content)
    result = first.box.content * second.box.content
    Shared.box.content = before
    return result


def list_of_the_class(rate: float) -> float:
    """A list of the class is written into, and its own is given to an instance."""
    first, second = Shared(rate), Shared(rate)
    before = list(Shared.scale)
    for by in POINTS:
        first.scale[1] = first.scale[1] * by + rate
    second.scale = [rate, rate * rate]
    result = second.scale[1] * first.scale[1] + Shared.scale[1]
    Shared.scale[:] = before
    return result


PROGRAMS: list[Callable[[float], Any]] = [
    driven, filled_together, functools.partial(filled_together, kind=Derived), filled_apart,
    list_of_the_class,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], Any], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8, 0.75):
        check_gradient(program, at)


@pytest.mark.parametrize("program", [filled_together, list_of_the_class])
def test_second_derivatives(program: Callable[[float], Any]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], Any]) -> None:
    check_once_warm(program)


def test_other_defaults_from_call_to_call(speculation: str) -> None:
    """The class gets a number, a function, a property and an object that answers in place of its default."""

    class Answering:
        def __get__(self, obj: Any, cls: Any) -> float:
            return float(obj.rate) * 7.0

    class Meter:
        part: Any = Pose(2.0, 3.0)

        def __init__(self, rate: float) -> None:
            self.rate = rate

    def read(x: float) -> Any:
        total = 0.0
        for _ in range(3):
            meter = Meter(x)
            part = meter.part
            total += (part.x if isinstance(part, Pose) else part() if callable(part) else part) * x
        return total

    for part in (
        Pose(2.0, 3.0), Pose(4.0, 3.0), 5.0, Answering(), lambda self: self.rate * 3.0,
        property(lambda self: self.rate), Pose(1.0, 1.0), 2,
    ):  # fmt: skip
        Meter.part = part
        for _ in range(3):
            check_gradient(read, 1.3)


def test_the_class_of_a_default_becomes_that_of_a_descriptor(speculation: str) -> None:
    class Part:
        gain = 2.0

    class Meter:
        part = Part()

        def __init__(self, rate: float) -> None:
            self.rate = rate

    def read(x: float) -> Any:
        return sum(Meter(x * k).part.gain * x for k in POINTS)

    for _ in range(3):
        check_gradient(read, 1.3)
    Part.__get__ = lambda self, obj, cls: Box(0.0) if obj is None else _gained(obj.rate)  # type: ignore[attr-defined]
    for _ in range(3):
        check_gradient(read, 1.3)


class _Gained:
    def __init__(self, gain: float) -> None:
        self.gain = gain


def _gained(rate: float) -> _Gained:
    return _Gained(rate * 3.0)


def test_what_a_class_of_the_call_has(speculation: str) -> None:
    def made(x: float) -> Any:
        class Meter:
            part = Pose(x, x * x)
            scale = [x, 2.0]  # noqa: RUF012

            def read(self) -> Any:
                return self.part.x * self.part.y * self.scale[0]

        return sum(Meter().read() * k for k in POINTS)

    for _ in range(3):
        check_gradient(made, 1.3)
