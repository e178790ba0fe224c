"""Methods that are kept as values, and called from there: states of a machine, tables of handlers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.runtime.calls.driver import Calls
from adbc.testing import test_rule as check_rule

WAYS = ["learn", "always", "never", "dynamic", "interpret"]


class Lamp:
    def __init__(self, gain: Any) -> None:
        self.gain = gain
        self.seen = 0
        self.step: Any = self.dark

    def dark(self, x: Any) -> Any:
        self.seen += 1
        self.step = self.bright if x > 1.0 else self.dark
        return self.gain * x

    def bright(self, x: Any) -> Any:
        self.step = self.dark if x < 0.5 else self.flash
        return self.gain * x * x

    def flash(self, x: Any) -> Any:
        self.step = self.bright
        return math.sin(x) * self.gain


class Sensor:
    def __init__(self, weight: Any) -> None:
        self.weight = weight
        self.way: Any = None

    def linear(self, x: Any, scale: float = 1.0) -> Any:
        return self.weight * x * scale

    def square(self, x: Any, scale: float = 1.0) -> Any:
        return self.weight * x * x / scale


class Loud(Sensor):
    def linear(self, x: Any, scale: float = 1.0) -> Any:
        return 2 * super().linear(x, scale)


def machine(x: float, n: int) -> Any:
    """The method to call next is a field."""
    lamp, total = Lamp(x), 0.0
    for i in range(n):
        total += lamp.step(0.2 * ((7 * i) % 9) * x)
    return total + lamp.seen


def table(x: float, n: int) -> Any:
    """Methods of several objects and classes come from one place."""
    handlers = {}
    for i in range(3):
        sensor = (Loud if i % 2 else Sensor)(x + i)
        handlers[i] = sensor.square if i == 1 else sensor.linear
    total = 0.0
    for i in range(n):
        handle = handlers[i % 3]
        total += handle(x) if i % 2 else handle(x * i, scale=2.0)
    return total


def mixed(x: float, n: int) -> Any:
    """What is called is a method, a function in C or a class."""
    ways: list[Callable[..., Any]] = [Sensor(x).linear, math.sin, Loud(x).linear, Sensor]
    total = 0.0
    for i in range(n):
        found = ways[i % 4](x * x)
        total += found.weight if isinstance(found, Sensor) else found
    return total


def of_another(x: float, n: int) -> Any:
    """The method in a field is that of another object, and methods are compared."""
    sensors = [Sensor(x), Loud(2 * x), Sensor(x * x)]
    for i, sensor in enumerate(sensors):
        sensor.way = sensor.linear if i else sensors[1].square
    total = 0.0
    for _ in range(n):
        for sensor in sensors:
            total += sensor.way(x)
            if sensor.way == sensor.linear:
                total += 0.1 * sensor.weight
            if sensor.way != sensors[0].way:
                total -= 0.01 * x * sensor.weight
    return total


def changing(x: float, n: int) -> Any:
    """What the field has is of another kind in the middle of the loop."""
    sensor: Any = Sensor(x)
    sensor.way, total = sensor.linear, 0.0
    for i in range(n):
        if i == n // 2:
            sensor.way = lambda y: y * sensor.weight * x
        elif i == n - 2:
            sensor = Loud(x * 3)
            sensor.way = sensor.square
        total += sensor.way(x + i)
    return total


PROGRAMS = [machine, table, mixed, of_another, changing]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", WAYS)
def test_both_modes(function: Any, speculation: Any) -> None:
    slope = (function(0.7 + 1e-6, 8) - function(0.7 - 1e-6, 8)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation, warm_after=2)):
        gradient = adbc.value_and_grad(function)
        for _ in range(6):
            value, found = gradient(0.7, 8)
            assert value == pytest.approx(function(0.7, 8), rel=1e-14)
            assert found == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(lambda x: function(x, 8), (0.7,), (1.0,))[1] == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_rules(function: Any) -> None:
    check_rule(function, 0.7, 8)


@pytest.mark.parametrize("function", [machine, table, of_another], ids=lambda f: f.__name__)
def test_no_call_is_decided_when_it_runs(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    with adbc.use(adbc.Config(warm_after=2)):
        gradient = adbc.value_and_grad(function)
        for _ in range(8):
            gradient(0.7, 8)
        call = Calls.call

        def counted(self: Any, context: Any, keywords: Any, f: Any, *rest: Any) -> Any:
            called.append(f)
            return call(self, context, keywords, f, *rest)

        monkeypatch.setattr(Calls, "call", counted)
        gradient(0.7, 8)
    assert called == []


def test_a_machine_in_an_argument_is_as_it_was() -> None:
    def run(lamp: Lamp, xs: list[float]) -> Any:
        total = 0.0
        for x in xs:
            total += lamp.step(x)
        return total

    lamp, xs = Lamp(1.5), [0.2, 1.4, 0.9, 0.3, 1.7]
    for _ in range(4):
        found = adbc.grad(run, 1)(lamp, xs)
        assert lamp.step == lamp.dark and lamp.seen == 0
    expected = [1.5, 1.5, 2 * 1.5 * 0.9, math.cos(0.3) * 1.5, 2 * 1.5 * 1.7]
    assert found == pytest.approx(expected, rel=1e-12)


def test_methods_of_what_is_no_function_are_compared_by_what_they_say() -> None:
    import types

    asked = []

    class Callable_:
        def __call__(self, x: Any) -> Any:
            return x

        def __eq__(self, other: object) -> bool:
            asked.append(other)
            return True

        __hash__ = None  # type: ignore[assignment]

    owner = Sensor(1.0)
    one, other = (types.MethodType(Callable_(), owner) for _ in range(2))

    def f(x: float) -> Any:
        return x * x if one == other else x

    for _ in range(3):
        assert adbc.grad(f)(3.0) == 6.0
    assert not asked  # that is followed, and taken back
