"""Numbers and objects that stand in classes, read through the class or through objects that have no own."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient


class Constants:
    g: Any = 9.81
    steps = 3
    items = [1.0, 2.0]  # noqa: RUF012  # it is written to
    array = np.array([1.0, 2.0])
    table = {"a": 1.5}  # noqa: RUF012
    calls = 0
    nothing = None


class Derived(Constants):
    h = 2.0


class Meta(type):
    @property
    def twice(cls) -> float:
        return 2.0

    def __getattr__(cls, name: str) -> float:
        return 4.0


class Asked(metaclass=Meta):
    k = 2.0


class Ball:
    g = 9.81
    rest = 0.9

    def __init__(self, y: float, v: float) -> None:
        self.y = y
        self.v = v

    def step(self, dt: float) -> None:
        self.v -= self.g * dt
        self.y += self.v * dt
        if self.y < 0.0:
            self.y, self.v = -self.y, -self.rest * self.v


def numbers(a: float, b: float) -> float:
    total = 0.0
    for _ in range(Constants.steps):
        total += Constants.g * a ** (0.1 * Derived.g) + Derived.h * b
    return total


def of_an_object(a: float, b: float) -> float:
    ball = Ball(a, b)
    for _ in range(40):
        ball.step(0.02)
    return ball.y


def that_an_object_gets(a: float, b: float) -> float:
    ball = Ball(a, b)
    for k in range(6):
        ball.step(0.02)
        if k == 2:
            ball.g = a * b
    return ball.y


def counted(a: float, b: float) -> float:
    total = 0.0
    for _ in range(4):
        Constants.calls += 1
        total += Constants.calls * a
    Constants.calls = 0
    return total * b


def set_on_the_way(a: float, b: float) -> float:
    before = Constants.g
    Constants.g = 1.0
    total = Constants.g * a
    Constants.g = 2.0
    total += Constants.g * b * a
    Constants.g = before
    return total


def of_another_class_on_the_way(a: float, b: float) -> float:
    before, total = Constants.g, 0.0
    for k in range(4):
        if k == 2:
            Constants.g = np.array([a, b])
        total += float(np.sum(Constants.g * 2.0)) * b
        if k == 2:
            Constants.g = before
    return total


def hidden_and_shown(a: float, b: float) -> float:
    Derived.g = 5.0
    total = Derived.g * a
    del Derived.g
    return total + Derived.g * b


def a_list_that_grows(a: float, b: float) -> float:
    Constants.items.append(a * b)
    total = sum(Constants.items) * a
    Constants.items.pop()
    return total


def an_array_that_is_written_to(a: float, b: float) -> float:
    before = Constants.array[0]
    Constants.array[0] = a * b
    total = float(Constants.array.sum()) * Constants.table["a"]
    Constants.array[0] = before
    return total


def of_a_class_made_here(a: float, b: float) -> float:
    class Local(Constants):
        k = 2.0 * a
        c = 3.0

    def read() -> float:
        total = 0.0
        for _ in range(4):
            total += Local.k * Local.c * Local.g * b
        return total

    return read()


def through_a_metaclass(a: float, b: float) -> float:
    return Asked.k * a + Asked.twice * a * b + Asked.missing * b  # type: ignore[attr-defined]


def no_value(a: float, b: float) -> float:
    return a * b if Constants.nothing is None else 0.0


PROGRAMS: list[Callable[..., float]] = [
    numbers, of_an_object, that_an_object_gets, counted, set_on_the_way, hidden_and_shown, a_list_that_grows,
    an_array_that_is_written_to, of_a_class_made_here, through_a_metaclass, no_value,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives(program: Callable[..., float], speculation: str) -> None:
    for _ in range(4):
        check_gradient(program, 1.3, 0.7)


def test_setting_a_class_to_what_has_a_derivative_is_refused() -> None:
    for _ in range(4):
        with pytest.raises(UnsupportedError, match="attribute 'g' of class Constants is set to a value"):
            adbc.grad(of_another_class_on_the_way)(1.3, 0.7)


@pytest.mark.parametrize("program", [numbers, of_an_object])
def test_what_stands_in_a_class_is_read_at_once(program: Callable[..., float]) -> None:
    with adbc.use(adbc.Config(warm_after=0)):
        gradient = adbc.grad(program, (0, 1))
        for _ in range(6):
            gradient(1.3, 0.7)
        assert executed(lambda: gradient(1.3, 0.7)) < 1500 + 4 * executed(lambda: program(1.3, 0.7))


SETTINGS = types.SimpleNamespace(g=9.81, dt=0.1)


def by_an_object_in_a_global(a: float, b: float, n: int = 6) -> float:
    total = a
    for _ in range(n):
        total -= SETTINGS.g * SETTINGS.dt * b * total
    return total


def test_the_tangent_of_a_global_is_looked_for_once_in_a_loop() -> None:
    with adbc.use(adbc.Config(warm_after=0)):

        def along(n: int) -> object:
            return adbc.jvp(lambda a, b: by_an_object_in_a_global(a, b, n), (1.3, 0.7), (1.0, 0.5))

        for _ in range(6):
            along(6)
        check_gradient(by_an_object_in_a_global, 1.3, 0.7)
        more = executed(lambda: along(60)) - executed(lambda: along(6))
        plainly = [executed(lambda n=n: by_an_object_in_a_global(1.3, 0.7, n)) for n in (6, 60)]  # type: ignore[misc]
        assert more < 12 * (plainly[1] - plainly[0])


def test_what_is_set_between_calls_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Seven:
        def __get__(self, obj: object, owner: type) -> float:
            return 7.0

    gradient = adbc.grad(numbers)
    for _ in range(5):
        gradient(1.3, 0.7)
    for g in (2.0, np.float64(3.0), 4, Seven(), 9.81):
        with monkeypatch.context() as patch:
            patch.setattr(Constants, "g", g)
            check_gradient(numbers, 1.3, 0.7)
            assert gradient(1.3, 0.7) == adbc.jvp(numbers, (1.3, 0.7), (1.0, 0.0))[1]
