"""Objects of known class that are compared, counted and asked for their truth: methods are called by their
functions, in the order of CPython, with its errors."""

from __future__ import annotations

import dataclasses
import functools
import heapq
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule

X, XS = 0.7, [0.11, 0.45, 0.32, 0.83]
LOG: list[Any] = []
PROGRAMS: list[Callable[[float, list[float]], Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(function)
    return function


@dataclasses.dataclass(order=True)
class Event:
    time: float
    size: float = dataclasses.field(compare=False)


@functools.total_ordering
class Level:
    def __init__(self, height: float) -> None:
        self.height = height

    def __eq__(self, other: object) -> bool:
        LOG.append("eq")
        return isinstance(other, Level) and self.height == other.height

    def __lt__(self, other: Any) -> Any:
        LOG.append("lt")
        if isinstance(other, (int, float)):
            return self.height < other
        return self.height < other.height if type(other) is Level else NotImplemented

    __hash__ = None  # type: ignore[assignment]


class Depth:
    """It is compared by the other operand alone, if that has something to say."""

    def __init__(self, depth: float) -> None:
        self.depth = depth

    def __gt__(self, other: Any) -> Any:
        LOG.append("gt")
        return -self.depth > other.height if isinstance(other, Level) else NotImplemented

    def __eq__(self, other: object) -> Any:
        LOG.append("depth eq")
        return NotImplemented

    def __ne__(self, other: object) -> Any:
        LOG.append("depth ne")
        return NotImplemented

    def __hash__(self) -> int:
        return 1


class Bag:
    def __init__(self, values: list[float], claimed: Any = None) -> None:
        self.values, self.claimed = values, claimed

    def __len__(self) -> Any:
        LOG.append("len")
        return len(self.values) if self.claimed is None else self.claimed


class Real:
    def __init__(self, given: Any) -> None:
        self.given = given

    def __float__(self) -> Any:
        LOG.append("float")
        return self.given


class Switch(Bag):
    def __bool__(self) -> Any:
        LOG.append("bool")
        return self.claimed


def told(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except (TypeError, ValueError, OverflowError) as error:
        LOG.append(str(error))
        return 0.0


@program
def queued(x: float, xs: list[float]) -> float:
    queue: list[Event] = []
    for i, v in enumerate(xs):
        heapq.heappush(queue, Event(v * x, i + x))
    total = 0.0
    while queue:
        event = heapq.heappop(queue)
        total = total * 0.5 + event.time * event.size
    return total


@program
def largest(x: float, xs: list[float]) -> float:
    best = Level(0.0)
    for v in xs:
        level = Level(v * x)
        if level > best or level == best:
            best = level
        if level < 0.1:
            best.height += x
        if not level >= best:
            best.height *= 1.1
    return best.height


@program
def by_the_other(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        if Level(-v) < Depth(x * 0.5):  # type: ignore[operator]
            total += v * x
        total += told(lambda v=v: x if Depth(v) < Depth(x) else 2.0 * x)  # type: ignore[operator]
    one = Depth(x)
    if one == one and one != Depth(x) and not one == Depth(x):
        total *= x
    return total


@program
def counted(x: float, xs: list[float]) -> float:
    bag, total = Bag([]), 0.0
    while len(bag) < 3:
        bag.values.append(x * xs[len(bag)])
        if bag:
            total += bag.values[-1] * len(bag)
        if not bag:
            total += 100.0
    return total + bool(bag) * x


@program
def switched(x: float, xs: list[float]) -> float:
    switch, total = Switch(xs, True), 0.0
    for v in xs:
        if switch:
            total += v * x
        if not switch and len(switch) == 4:
            total -= v * x * x
        switch.claimed = not switch.claimed
    return total


@program
def claimed(x: float, xs: list[float]) -> float:
    total = 0.0
    for wrong in (-1, 2.5, 2**70, True, "many"):
        bag = Bag(xs, wrong)
        total += told(lambda bag=bag: x * len(bag))
        total += told(lambda bag=bag: x if bag else 2.0 * x)
    for wrong in (1, None):
        switch = Switch(xs, wrong)
        total += told(lambda switch=switch: x if switch else 2.0 * x)
        total += told(lambda switch=switch: x if not switch else 2.0 * x)
    return total + x


@program
def as_floats(x: float, xs: list[float]) -> float:
    total = 0.0
    for given in (x * x, 3, xs, None, xs[0]):
        total += told(lambda given=given: x * float(Real(given)))
    return total


def logged(run: Callable[[], Any]) -> tuple[Any, list[Any]]:
    LOG.clear()
    out = run()
    return out, list(LOG)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", ["learn", "never", "interpret"])
def test_both_modes(function: Any, speculation: str, at_once: None) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        expected, events = logged(lambda: function(X, list(XS)))
        for _ in range(3):
            xs = list(XS)
            (found, pullback), happened = logged(lambda xs=xs: adbc.vjp(function, X, xs))
            assert found == pytest.approx(expected, rel=1e-14) and happened == events
            pullback(1.0)
            assert xs == XS
            (value, _), happened = logged(lambda: adbc.jvp(function, (X, list(XS)), (1.0, [0.5] * len(XS))))
            assert happened == events and repr(value) == repr(expected)
        check_rule(function, X, list(XS))
