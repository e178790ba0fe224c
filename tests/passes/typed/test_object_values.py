"""Objects of ordinary classes that are made in a function, and who sees or changes them there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient


class Vec:
    factor = 0.5

    def __init__(self, x: Any, y: Any = 0.0) -> None:
        self.x = x
        self.y = y

    def __add__(self, other: Vec) -> Vec:
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k: Any) -> Vec:
        return Vec(self.x * k, self.y * k)

    def dot(self, other: Vec) -> Any:
        return self.x * other.x + self.y * other.y

    @property
    def norm(self) -> float:
        return math.sqrt(self.x**2 + self.y**2)

    def moved(self, by: float) -> Vec:
        self.x = self.x + by
        return self

    def unit(self) -> Vec:
        if self.norm == 0.0:
            return self
        return Vec(self.x / self.norm, self.y / self.norm)


class Weighted(Vec):
    def __init__(self, x: float, y: float, weight: float = 1.0) -> None:
        super().__init__(x, y)
        self.weight = float(weight)

    def dot(self, other: Vec) -> Any:
        return super().dot(other) + self.weight


class Slots:
    __slots__ = ("x",)

    def __init__(self, x: float) -> None:
        self.x = x

    def __rmul__(self, k: float) -> Slots:
        return Slots(k * self.x)


class Dual:
    def __init__(self, re: float, im: float = 0.0) -> None:
        self.re = re
        self.im = im

    def __mul__(self, other: Dual | float) -> Dual:
        if not isinstance(other, Dual):
            other = Dual(other)
        return Dual(self.re * other.re, self.re * other.im + self.im * other.re)

    def __add__(self, other: Dual | float) -> Dual:
        if not isinstance(other, Dual):
            other = Dual(other)
        return Dual(self.re + other.re, self.im + other.im)


class Node:
    def __init__(self, value: Any, after: Any = None) -> None:
        self.value = value
        self.after = after


class Tally:
    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0

    def with_(self, x: float) -> Tally:
        more = Tally()
        more.count = self.count + 1
        more.total = self.total + x
        return more


class Particle:
    def __init__(self, place: Vec, speed: Vec) -> None:
        self.place = place
        self.speed = speed

    def step(self, force: Vec, h: float) -> None:
        self.speed = self.speed + force * h
        self.place = self.place + self.speed * h


@dataclasses.dataclass
class Neuron:
    tau: float
    v: float = 0.0
    spikes: int = 0
    trace: list[float] = dataclasses.field(default_factory=list)

    def inject(self, current: float, dt: float) -> None:
        self.v += dt * (current - self.v) / self.tau
        if self.v > 1.0:
            self.v = 0.0
            self.spikes += 1
        self.trace.append(self.v)


class Closed:
    def __init__(self, x: float) -> None:
        self.x = x

    def __del__(self) -> None:
        KEPT.clear()


KEPT: list[Any] = []


def by_operators(a: float, b: float) -> float:
    p, v = Vec(a, b), Vec(1.0, 0.5)
    for _ in range(5):
        p = p + v * 0.1
        v = v + p * (-0.2 / p.norm)
    return p.dot(p) + 2.0 * v.x


def by_slots(a: float, b: float) -> float:
    p = Slots(a)
    for _ in range(5):
        p = b * p
    return p.x


def by_a_test_of_the_class(a: float, b: float) -> float:
    x, total = Dual(a, 1.0), Dual(b)
    for _ in range(4):
        total = total * x + 0.5
    return total.im


def in_objects_that_change(a: float, b: float) -> float:
    one, two = Particle(Vec(a, 0.0), Vec(0.0, b)), Particle(Vec(1.0, a), Vec(b, 0.0))
    for _ in range(4):
        apart = two.place + one.place * -1.0
        one.step(apart * (0.5 / apart.norm), 0.1)
        two.step(apart * -0.5, 0.1)
    return one.place.dot(two.place)


def with_a_list_from_a_factory(a: float, b: float) -> float:
    neuron = Neuron(a)
    for k in range(6):
        neuron.inject(1.0 + b * k, 0.5)
    return sum(neuron.trace) + neuron.v * neuron.spikes


def under_two_names(a: float, b: float) -> float:
    before = p = Vec(a, b)
    for _ in range(5):
        before = p
        p = p * 0.9 + Vec(0.1, a)
    return before.x * p.y


def changed_under_another_name(a: float, b: float) -> float:
    before = p = Vec(a, b)
    total = 0.0
    for k in range(5):
        if k == 3:
            before.moved(a)
        total += p.x * before.y
        before = p
        p = p * 0.9
    return total + p.x + before.x


def two_names_behind_a_wrong_guess(a: float, b: float) -> float:
    before = p = Vec(a, b)
    factors: list[Any] = [0.5, 0.25, np.array([0.5, 1.0]), 0.25]
    total = 0.0
    for k, factor in enumerate(factors):
        total += float(np.sum(factor * p.x)) * before.x
        if k == 3:
            p.moved(b)
            total += p.x * before.x
        if k == 1:
            p = p * a
            before = p
    return total


def written_to(a: float, b: float) -> float:
    p = Vec(a, b)
    for _ in range(3):
        p = p * a
        p.x += 1.0
    return p.dot(p)


def identities(a: float, b: float) -> float:
    p = q = Vec(a, b)
    r = Vec(a, b)
    return (a if p is q else b) * (b if p is r else 2.0 * a) + (p.x if p == r else p.y)


def in_a_list(a: float, b: float) -> float:
    p, track = Vec(a, b), []
    for _ in range(4):
        p = p * a
        track.append(p)
    track[0].x = 7.0
    return sum(v.x * v.y for v in track)


def in_a_closure(a: float, b: float) -> float:
    p = Vec(a, b)

    def grow() -> float:
        p.x = p.x * a
        return p.x

    return grow() + grow() * p.x


def with_whole_numbers_at_first(a: float, b: float) -> float:
    p = Vec(0, 0)
    for k in range(4):
        p = p + Vec(a, b) * k
    return p.dot(p)


def returned(a: float, b: float) -> float:
    def last(n: int) -> Vec:
        p = Vec(a, b)
        for _ in range(n):
            p = p * a
        return p

    return last(3).moved(b).x * last(2).y


def none_at_first(a: float, b: float) -> float:
    p = None
    for _ in range(4):
        p = Vec(a, b) if p is None else p * a
    assert p is not None
    return p.x


def of_two_classes(a: float, b: float) -> float:
    p: Vec = Vec(a, b)
    for k in range(4):
        p = Weighted(p.x, a, p.y) if k % 2 else Vec(p.y * b, p.x)
    return p.x * p.dot(p)


def of_a_derived_class(a: float, b: float) -> float:
    p, total = Weighted(a, 2.0, b), 0.0
    for _ in range(4):
        p = Weighted(p.x * a, p.y, p.weight + b)
        total += p.dot(p) + p.norm
    return total


def with_an_attribute_of_the_class(a: float, b: float) -> float:
    p, total = Vec(a, b), 0.0
    for _ in range(3):
        p = p * p.factor
        total += p.x
    return total


def without_an_attribute(a: float, b: float) -> float:
    p, total = Vec(a, b), 0.0
    for _ in range(3):
        p = p * a
        try:
            total += p.z  # type: ignore[attr-defined]
        except AttributeError:
            total += p.x
    return total


def in_a_handler(a: float, b: float) -> float:
    p = Vec(a, b)
    for k in range(4):
        try:
            p = p * (1.0 / (2 - k)) + Vec(0.1, a)
        except ZeroDivisionError:
            p = p + Vec(b, b)
    return p.dot(p)


def from_a_branch(a: float, b: float) -> float:
    p = Vec(a, b)
    for _ in range(4):
        p = p.unit() + Vec(0.1 * a, 0.0)
    return p.x + p.norm


def linked(a: float, b: float) -> float:
    node = None
    for k in range(4):
        node = Node(a * k, node)
    total = 0.0
    while node is not None:
        total += node.value * b
        node = node.after
    return total


def counted(a: float, b: float) -> float:
    tally = Tally()
    for k in range(4):
        tally = tally.with_(a * k + b)
    return tally.total * tally.count


def of_arrays(a: float, b: float) -> float:
    p = Vec(np.array([a, 1.0]), np.array([2.0, b]))
    for _ in range(3):
        p = p * a + Vec(np.ones(2), p.x)
    return float(p.dot(p).sum())


def nested(a: float, b: float) -> float:
    node = Node(Vec(a, b))
    for _ in range(3):
        node = Node(node.value * a + Vec(1.0, b))
    return node.value.x * node.value.y


def shared(a: float, b: float) -> float:
    p = Vec(a, b)
    one, two = Node(p), Node(p)
    one.value.x = a * b
    return two.value.x


def the_larger(a: float, b: float) -> float:
    p, q = Vec(a, 1.0), Vec(1.0, b)
    larger = p if p.x > q.x else q
    larger.x *= b
    return p.x + q.x


def exchanged(a: float, b: float) -> float:
    p, q = Vec(a, 1.0), Vec(2.0, b)
    for _ in range(3):
        p, q = q, p
        p.moved(a)
    return p.x * q.x


def by_name(a: float, b: float) -> float:
    p = Vec(a, b)
    setattr(p, "x", a * b)  # noqa: B010
    return p.x + vars(p)["y"]


def deleted(a: float, b: float) -> float:
    p = Vec(a, b)
    del p.y
    p.y = 3.0 * a
    return p.x * p.y


def with_a_finalizer(a: float, b: float) -> float:
    p = Closed(a)
    for _ in range(3):
        p = Closed(p.x * b)
    return p.x


PROGRAMS: list[Callable[..., float]] = [
    by_operators, by_slots, by_a_test_of_the_class, in_objects_that_change, with_a_list_from_a_factory,
    under_two_names,
    changed_under_another_name, two_names_behind_a_wrong_guess, written_to, identities, in_a_list,
    in_a_closure, with_whole_numbers_at_first, returned, none_at_first, of_two_classes, of_a_derived_class,
    with_an_attribute_of_the_class, without_an_attribute, in_a_handler, from_a_branch, linked, counted,
    of_arrays, nested, shared, the_larger, exchanged, by_name, deleted,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives(program: Callable[..., float], speculation: str) -> None:
    for _ in range(4):
        check_gradient(program, 1.3, 0.7)


VALUES = [
    by_operators, by_slots, by_a_test_of_the_class, in_objects_that_change, with_a_list_from_a_factory,
]  # fmt: skip


@pytest.mark.parametrize("program", VALUES)
def test_objects_that_nobody_sees_are_not_made(program: Callable[..., float]) -> None:
    with adbc.use(adbc.Config(warm_after=0)):
        gradient = adbc.grad(program, (0, 1))
        for _ in range(6):
            gradient(1.3, 0.7)
        # A call costs a thousand or more before and behind the function.
        assert executed(lambda: gradient(1.3, 0.7)) < 1500 + 4 * executed(lambda: program(1.3, 0.7))


def test_second_derivatives() -> None:
    for program in VALUES:
        (found,) = adbc.hvp(lambda a, p=program: p(a, 0.7), (1.3,), (1.0,))
        step = 1e-6
        slopes = [adbc.grad(program)(1.3 + h, 0.7) for h in (step, -step)]
        assert found == pytest.approx((slopes[0] - slopes[1]) / (2 * step), rel=1e-5)


def test_a_class_that_is_told_when_an_object_goes_is_refused() -> None:
    for _ in range(6):
        with pytest.raises(UnsupportedError, match="is to run when an object dies"):
            adbc.grad(with_a_finalizer)(1.3, 0.7)


def test_a_method_that_is_replaced_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(by_operators)
    for _ in range(5):
        before = gradient(1.3, 0.7)
    for name, other in (
        ("__mul__", lambda self, k: Vec(self.x * 3.0, self.y * k)),
        ("norm", property(lambda self: self.x)),
        ("__init__", lambda self, x, y=0.0: vars(self).update(x=x, y=2.0 * y)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(Vec, name, other)
            for _ in range(3):
                check_gradient(by_operators, 1.3, 0.7)
            assert gradient(1.3, 0.7) != before
        assert gradient(1.3, 0.7) == before


def test_the_line_of_an_error_in_a_method() -> None:
    def f(a: float) -> float:
        p = Vec(a, 1.0)
        for k in range(4):
            p = p * 0.5
            p = Vec(p.x / (p.y - 0.25), 1.0) if k == 1 else p
        return p.x

    for _ in range(4):
        with pytest.raises(ZeroDivisionError) as failed:
            adbc.grad(f)(2.0)
        last = failed.traceback[-1]
        assert (last.name, str(last.statement).strip()[:20]) == ("f", "p = Vec(p.x / (p.y -")
