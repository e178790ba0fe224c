"""Calls in a ``try`` are attempted, and find their way as fast as others."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from adbc.runtime.calls.reverse import ReverseCalls
from adbc.testing import test_rule as check_rule


class Account:
    def __init__(self, amount: float, limit: float) -> None:
        self.amount = amount
        if amount > limit:
            raise OverflowError(amount)

    def take(self, part: float, k: int) -> float:
        self.amount -= part * self.amount
        if k == 3:
            raise KeyError(k)
        return self.amount * k


def halves(x: float) -> Any:
    while x > 0.1:
        x *= 0.5
        yield x * x


def of_objects(x: float) -> Any:
    total, opened = 0.0, []
    for k in range(6):
        try:
            account = Account(x + k, limit=x + 4.5)
            opened.append(account)
            total += account.take(x, k)
        except KeyError:
            total += account.amount * x
        except OverflowError as error:
            total += len(error.args) * x
    return total + opened[3].amount * opened[4].amount


def of_containers(x: float, xs: list[float]) -> Any:
    table = {"a": x}
    total = 0.0
    for name in ("a", "b", "a"):
        try:
            xs.append(table[name] * x)
            total += xs[-1] * max(table.values())
            xs[7] = total
        except (KeyError, IndexError):
            table[name] = total
    return total + xs[0] * table["b"]


def of_generators(x: float) -> Any:
    total, values = 0.0, halves(x)
    try:
        while True:
            total += next(values) * x
    except StopIteration:
        total *= x
    try:
        total += next(values)
    except StopIteration:
        total *= x
    return total


def ending(x: float) -> Any:
    yield x
    yield x * x
    return [x**3, x]


class Steps:
    def __init__(self, x: float) -> None:
        self.values = ending(x)

    def step(self) -> float:
        return next(self.values)


def of_returned_values(x: float) -> Any:
    steps, total = Steps(x), 0.0
    try:
        while True:
            total += steps.step() * x
    except StopIteration as stop:
        total += stop.value[0] * x * 3.0 + stop.args[0][1]
    try:
        steps.step()
    except StopIteration as stop:
        total += 0.0 if stop.value is None else x
    return total


class Settings:
    unset = None
    scales = (2.0, 3.0)
    default = 0.5

    def __init__(self, **given: float) -> None:
        self.given, self.asked = given, 0.0

    def __getattr__(self, name: str) -> float:
        self.asked += self.given["rate"]
        try:
            return self.given[name]
        except KeyError:
            raise AttributeError(name) from None


def of_hooks(x: float) -> Any:
    total, settings = 0.0, [Settings(rate=x, scale=x * x)]
    for s in settings * 3:
        total += s.rate * s.scale + (x if s.unset is None else 0.0)
        try:
            total += s.missing
        except AttributeError:
            total += s.asked
        total += getattr(s, "other", x) * s.scales[1] + s.default
        s.default = x * total
        if hasattr(s, "rate"):
            s.scale = total
    return total * settings[0].asked


class Doubling:
    def __init__(self, xs: list[float], x: float) -> None:
        self.xs, self.k, self.x = xs, 0, x

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> float:
        self.k += 1
        self.x *= 2.0
        if self.k == 7:
            raise OverflowError(self.x)
        if self.k > len(self.xs):
            raise StopIteration
        return self.xs[self.k - 1] * self.x


def of_iterators(x: float, xs: list[float]) -> Any:
    iterators, total = [Doubling(xs, x), Doubling(xs * 4, x)], 0.0
    for v in iterators[0]:
        total += v * x
    total += iterators[0].x
    try:
        for v in iterators[1]:
            total += v
    except OverflowError as error:
        total += error.args[0] * 3.0
    try:
        total += next(iterators[0])
    except StopIteration:
        total += iterators[0].x
    return total + iterators[1].x


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "interpret"])
def test_what_was_done_before_it_failed_is_undone(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            check_rule(of_objects, 0.7)
            check_rule(of_containers, 0.7, [0.4, 1.1])
            check_rule(of_iterators, 0.7, [0.4, 1.1])
            check_rule(of_generators, 0.7)
            check_rule(of_hooks, 0.7)
            check_rule(of_returned_values, 0.7)


@pytest.mark.parametrize("function", [of_objects, of_containers, of_generators], ids=lambda f: f.__name__)
def test_no_attempt_is_taken_apart(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What classes decide is kept for attempts as it is for other calls."""
    arguments = (0.7, [0.4, 1.1]) if function is of_containers else (0.7,)
    with adbc.use(adbc.Config(speculation="learn", warm_after=1)):
        gradient = adbc.value_and_grad(function)
        for _ in range(4):
            gradient(*arguments)
        taken_apart: list[str] = []
        slowly = ReverseCalls.call_slowly

        def counted(self: Any, context: Any, call: Any, count: int, mode: Any) -> Any:
            if not call.function.__name__.startswith("halves"):
                taken_apart.append(call.function.__name__)
            return slowly(self, context, call, count, mode)

        monkeypatch.setattr(ReverseCalls, "call_slowly", counted)
        gradient(*arguments)
    # Exceptions and generators are made, and what an object is appended to depends on its class.
    assert set(taken_apart) <= {"append", "KeyError", "OverflowError", "_getattr_", "_iter_"}
    assert len(taken_apart) < 9


class Watched:
    """Sets what the instance has without being asked for it."""

    def __set__(self, obj: Any, value: float) -> None:
        obj.__dict__["x"] = 2.0 * value


class Point:
    x = Watched()


def of_watched_fields(x: float, point: Any) -> float:
    for k in range(3):
        try:
            point.x = x * (k + 1)
            point.y = point.x * x
        except AttributeError:
            x = x * x
    return point.y * point.x


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic"])
def test_descriptors_that_only_watch_are_asked(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            value, slope = adbc.value_and_grad(of_watched_fields)(0.5, Point())
            assert (value, slope) == pytest.approx((36.0 * 0.5**3, 108.0 * 0.5**2))
            _, tangent = adbc.jvp(of_watched_fields, (0.5, Point()), (1.0, adbc.zero_tangent(Point())))
            assert tangent == pytest.approx(108.0 * 0.5**2)
