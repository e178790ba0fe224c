"""`dataclasses.replace`: of frozen and other dataclasses, with defaults, and of classes that do more."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_second_derivative


@dataclass(frozen=True)
class Pose:
    x: float
    y: float
    heading: float = 0.0


@dataclass
class Track:
    x: float
    v: float = 1.0
    seen: list[float] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class Named:
    SCALE: ClassVar[float] = 2.0
    a: float
    b: float = 3.0


@dataclass(frozen=True)
class Checked:
    low: float
    high: float
    width: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", self.high - self.low)


@dataclass
class Swapped:
    """Its own ``__init__`` has the fields in another order."""

    a: float
    b: float

    def __init__(self, b: float, a: float) -> None:
        self.b, self.a = 2.0 * b, a


@dataclass
class Scaled:
    a: float
    by: InitVar[float] = 1.0

    def __post_init__(self, by: float) -> None:
        self.a = self.a * by


@dataclass
class Longer(Track):
    w: float = 0.5


class Plain(Track):
    """Not a dataclass itself."""


def frozen(x: float) -> Any:
    pose = Pose(x, 0.0)
    for _ in range(5):
        pose = replace(pose, x=pose.x + 0.1 * pose.y, y=pose.y - 0.1 * pose.x)
    return pose.x + pose.heading * x


def mutable(x: float) -> Any:
    track = first = Track(x)
    for k in range(4):
        track = dataclasses.replace(track, x=track.x + 0.1 * track.v * k)
        track.v = track.v * x
        track.seen.append(track.x)  # the list is that of the first
    return track.x + sum(first.seen) + first.v


def keyword_only(x: float) -> Any:
    n = Named(a=x)
    for _ in range(3):
        n = replace(n, b=n.a * n.b)
    return n.b * n.SCALE


def with_more_to_do(x: float) -> Any:
    c = Checked(x, 3.0 * x)
    c = replace(c, low=c.low * c.width)
    return c.width * c.low


def in_another_order(x: float) -> Any:
    s = Swapped(x, 2.0)
    s = replace(s, a=3.0 * x)
    return s.a * s.b


def of_a_subclass(x: float) -> Any:
    t: Any = Longer(x)
    t = replace(t, w=t.x * t.w)
    p: Any = replace(Plain(x, v=2.0), x=t.w)
    return t.w + p.x * p.v + isinstance(p, Plain)


def of_different_classes(x: float) -> Any:
    total = 0.0
    for thing in (Pose(x, 1.0), Track(x), Named(a=x)):
        other: Any = replace(thing, **{"a" if isinstance(thing, Named) else "x": 2.0 * x})
        total += other.a if isinstance(other, Named) else other.x
    return total


def nothing_is_replaced(x: float) -> Any:
    t = Track(x)
    copy = replace(t)
    copy.x = copy.x * t.x
    return copy.x + t.x


PROGRAMS = [
    frozen, mutable, keyword_only, with_more_to_do, in_another_order, of_a_subclass, of_different_classes,
    nothing_is_replaced,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[float], Any]) -> None:
    for _ in range(3):
        check_gradient(f, 1.3)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_in_each_way(f: Callable[[float], Any], speculation: str) -> None:
    for _ in range(3):
        check_gradient(f, 1.3)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(f: Callable[[float], Any]) -> None:
    check_second_derivative(f, 1.3, rtol=1e-5, atol=1e-6)


def unknown_field(x: float) -> Any:
    return replace(Pose(x, 1.0), z=x)  # type: ignore[call-arg]


def no_parameter(x: float) -> Any:
    return replace(Checked(x, 2.0), width=x)


def says_too_little(x: float) -> Any:
    return replace(Scaled(x, 2.0), a=x)


def no_dataclass(x: float) -> Any:
    return replace(x, a=1.0)  # type: ignore[type-var]


@pytest.mark.parametrize("f", [unknown_field, no_parameter, no_dataclass], ids=lambda f: f.__name__)
def test_errors_are_those_of_the_plain_call(f: Callable[[float], Any], speculation: str) -> None:
    with pytest.raises((TypeError, ValueError)) as plain:
        f(1.3)
    for _ in range(2):
        with pytest.raises(type(plain.value)) as found:
            adbc.grad(f)(1.3)
        assert str(found.value) == str(plain.value)


def test_a_replaced_record_costs_little(at_once: None) -> None:
    for f in (frozen, mutable):
        gradient = adbc.grad(f)
        for _ in range(6):
            gradient(1.3)
        assert executed(lambda: gradient(1.3)) < 12 * executed(lambda: f(1.3))  # noqa: B023  # called here


class Pair(NamedTuple):
    first: Any
    second: Any = 2.0


def of_a_guess(x: float, v: Any) -> Any:
    """What the fields are of is guessed, and the rest behind a wrong guess is given the replaced record."""
    t = x
    heap: list[Any] = []
    for k, e in enumerate(v):
        heapq.heappush(heap, (e * 1.5, k))
    while heap:
        e, k = heapq.heappop(heap)
        t = t + 0.1 * e * k
    p = Pair(t)
    q = p._replace(second=t * v[0])
    t = 0.3 * p.second * q.first + 0.1 * q.second
    return t + 0.01 * v.sum()


def test_a_replaced_record_behind_a_wrong_guess(at_once: None) -> None:
    for k in range(4):
        check_gradient(of_a_guess, 0.5 + k, np.array([0.3, 0.7, 0.2]), argnums=(0, 1))
