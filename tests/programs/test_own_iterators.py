"""Loops over iterators that are instances of a known class: parameters, fields, elements of lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from adbc.inspect import explain
from adbc.testing import test_rule as check_rule

LOG: list[Any] = []


class Steps:
    """Goes towards 1."""

    def __init__(self, x: float, count: int) -> None:
        self.x, self.count, self.k = x, count, 0

    def __iter__(self) -> Iterator[float]:
        return self

    def __next__(self) -> float:
        if self.k >= self.count:
            raise StopIteration
        self.k += 1
        self.x = self.x * 0.9 + 0.1
        return self.x * self.k


class Telling(Steps):
    """Says what it does, also where it finds that there is no more."""

    def __next__(self) -> float:
        LOG.append(self.k)
        self.x = self.x * 1.5
        try:
            return super().__next__() * 2.0
        finally:
            self.x = math.sin(self.x)


class Last(StopIteration):
    """An end of another class."""


class Failing(Steps):
    def __next__(self) -> float:
        if self.k == 3:
            self.x *= 7.0
            raise (Last if self.count == 99 else ValueError)(self.x)
        return self._next()

    def _next(self) -> float:
        self.k += 1
        return self.x**self.k


class GoingOn(Steps):
    """Goes on behind its end."""

    def __next__(self) -> float:
        self.k += 1
        if self.k % 3 == 0:
            raise StopIteration(self.x)
        return self.x * self.k


def summed(steps: Any) -> float:
    total = 0.0
    for value in steps:
        total += value * value
    return total


def given(x: float) -> float:
    return summed(Steps(x, 6)) + summed(Steps(x * x, 4))


def telling(x: float) -> float:
    steps = Telling(x, 4)
    return summed(steps) * steps.x


def in_a_list(x: float) -> float:
    total = 0.0
    for steps in [Steps(x, 5), Steps(x * x, 3)]:
        for value in steps:
            total += value * steps.k
        total += steps.x
    return total


def of_two_classes(x: float) -> float:
    total = 0.0
    for k in range(6):
        steps: Any = [x, 2.0 * x] if k == 3 else Telling(x, k) if k % 2 else Steps(x, k)
        total += summed(steps) * k
    return total


def in_step(x: float) -> float:
    steps = {"a": Steps(x, 5), "b": Telling(x * x, 7)}
    total = sum(a * b for a, b in zip(steps["a"], steps["b"]))
    return total + steps["b"].x + steps["b"].k


def left_early(x: float) -> float:
    steps = [Telling(x, 50)]
    total = 0.0
    for value in steps[0]:
        total += value
        if total > 20.0:
            break
    for value in steps[0]:
        total += value * x
        if steps[0].k > 12:
            break
    return total


def with_another_end(x: float) -> float:
    steps = [Failing(x, 99)]
    return summed(steps[0]) + steps[0].x


def behind_the_end(x: float) -> float:
    steps = [GoingOn(x, 0)]
    return summed(steps[0]) + 10.0 * summed(steps[0]) + steps[0].k * x


def that_fails(x: float) -> float:
    steps = [Failing(x, 5)]
    try:
        return summed(steps[0])
    except ValueError as error:
        return error.args[0] * steps[0].x


PROGRAMS = [
    given, telling, in_a_list, of_two_classes, in_step, left_early, with_another_end, behind_the_end,
    that_fails,
]  # fmt: skip


@pytest.mark.parametrize("speculation", ["learn", "always", "never", "dynamic", "interpret"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes(function: Callable[..., Any], speculation: str) -> None:
    LOG.clear()
    expected = function(0.7)
    events = list(LOG)
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(4):
            LOG.clear()
            value, _ = adbc.vjp(function, 0.7)
            assert value == pytest.approx(expected, rel=1e-14) and events == LOG
            check_rule(function, 0.7)


def test_the_method_is_not_looked_for() -> None:
    gradient = adbc.grad(given)
    for _ in range(60):
        gradient(0.7)
    sites = explain(summed, Steps(0.7, 6)).sites
    assert not [site for site in sites if site.called in ("_next_", "stepped") and site.kind == "dynamic"]


def test_another_method_is_used_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.value_and_grad(in_a_list)
    for _ in range(60):
        gradient(0.7)
    before = gradient(0.7)

    def halves(self: Steps) -> float:
        if self.k >= self.count:
            raise StopIteration
        self.k += 1
        self.x = self.x / 2.0
        return self.x

    monkeypatch.setattr(Steps, "__next__", halves)
    h = 1e-6
    value, derivative = gradient(0.7)
    assert value == in_a_list(0.7) != before[0]
    assert derivative == pytest.approx((in_a_list(0.7 + h) - in_a_list(0.7 - h)) / (2.0 * h), rel=1e-6)
    monkeypatch.undo()
    assert gradient(0.7) == before
