"""Records that are made in loops, by operators and methods, and what sees them there."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient


@dataclasses.dataclass(frozen=True)
class Vec:
    x: float
    y: float = 0.0

    def __add__(self, other: Vec) -> Vec:
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k: float) -> Vec:
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self) -> Vec:
        return self * -1.0

    def dot(self, other: Vec) -> float:
        return self.x * other.x + self.y * other.y

    @property
    def norm(self) -> float:
        return self.dot(self) ** 0.5


@dataclasses.dataclass(frozen=True)
class Segment:
    start: Vec
    end: Vec

    def middle(self) -> Vec:
        return (self.start + self.end) * 0.5


class State(NamedTuple):
    t: float
    p: float
    v: float

    def moved(self, h: float) -> State:
        return State(self.t + h, self.p + h * self.v, self.v - h * self.p)


@dataclasses.dataclass(frozen=True)
class Node:
    value: Any
    after: Any = None


KEPT: list[Any] = []


def by_operators(a: float, b: float) -> float:
    p, v = Vec(a, b), Vec(1.0, 0.5)
    for _ in range(5):
        p = p + v * 0.1
        v = v + -p * 0.2
    return p.dot(p) + 2.0 * v.x


def by_methods(a: float, b: float) -> float:
    s = State(0.0, a, b)
    while s.t < 1.0:
        s = s.moved(0.25)
    t, p, v = s
    return t * p + v


def by_replace(a: float, b: float) -> float:
    s = State(0.0, a, b)
    for k in range(4):
        s = s._replace(p=s.p + 0.1 * s.v * k)
    return s.p * s[2]


def by_spread(a: float, b: float) -> float:
    def of(t: float, p: float, v: float) -> float:
        return t * p + v * v

    total = 0.0
    for k in range(3):
        total += of(*State(float(k), a, b))
    return total


def nested(a: float, b: float) -> float:
    s = Segment(Vec(a, b), Vec(1.0, 2.0))
    for _ in range(3):
        s = Segment(s.middle(), s.end + s.start * 0.1)
    return s.middle().norm


def kept_in_a_list(a: float, b: float) -> float:
    track = [Vec(a, b)]
    p = track[0]
    for _ in range(4):
        p = p + Vec(0.1, a)
        track.append(p)
    return sum(u.dot(v) for u, v in itertools.pairwise(track))


def of_whole_numbers_at_first(a: float, b: float) -> float:
    p = Vec(0, 0)
    for k in range(3):
        p = p + Vec(a, b * k)
    return p.x * p.y


def of_arrays(a: float, b: float) -> float:
    p = Vec(np.array([a, b]), 1.0)  # type: ignore[arg-type]
    for _ in range(3):
        p = p * 0.5 + Vec(p.x * p.y, b)
    return float(np.sum(p.x)) * p.y


def on_two_ways(a: float, b: float) -> float:
    best = Vec(a, b)
    for k in range(4):
        other = Vec(b, a * k)
        if other.norm > best.norm:
            best = other
    return best.x * best.y + best.norm


def with_an_identity(a: float, b: float) -> float:
    first = p = Vec(a, b)
    same = 0.0
    for k in range(3):
        if p is first:
            same += a
        p = first if k == 1 else Vec(p.x, b * p.y)
    return same * p.x + p.y


def compared_and_hashed(a: float, b: float) -> float:
    p = Vec(1.0, 2.0)
    seen = {p: 2.0}
    q = Vec(a, b) * 0.0 + Vec(1.0, 2.0)
    return (3.0 * a if q == p else b) * len(seen)


def linked(a: float, b: float) -> float:
    node = None
    for k in range(6):
        node = Node(a * k + b, node)
    total = 0.0
    while node is not None:
        total = node.value * b + 0.5 * total
        node = node.after
    return total


def of_another_class_at_last(a: float, b: float) -> float:
    p: Any = Vec(a, b)
    for k in range(6):
        p = p * 0.5
        if k == 4:
            p = np.float64(p.x)
    return float(p) * b


def behind_a_wrong_guess(a: float, b: float) -> float:
    p = Vec(a, b)
    found: list[Any] = [0.5, 0.25, np.array([0.5, 1.0]), 0.25]
    total = 0.0
    for factor in found:
        p = p + Vec(a, 0.1)
        total += p.x * np.sum(factor * p.y)
    return float(total)


def in_a_handler(a: float, b: float) -> float:
    p = Vec(a, b)
    for k in range(4):
        try:
            p = p * (1.0 / (2 - k)) + Vec(0.1, a)
        except ZeroDivisionError:
            p = p + Vec(b, b)
    return p.dot(p)


def handed_on(a: float, b: float) -> float:
    p = Vec(a, b)
    KEPT.clear()
    for _ in range(3):
        p = p + Vec(b, a)
        KEPT.append(p)
    return sum(q.x * q.y for q in KEPT)


PROGRAMS: list[Callable[..., float]] = [
    by_operators, by_methods, by_replace, by_spread, nested, kept_in_a_list, of_whole_numbers_at_first,
    of_arrays, on_two_ways, with_an_identity, compared_and_hashed, linked, of_another_class_at_last,
    behind_a_wrong_guess, in_a_handler, handed_on,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives(program: Callable[..., float], speculation: str) -> None:
    for _ in range(4):
        check_gradient(program, 1.3, 0.7)


def test_records_of_a_loop_are_not_made() -> None:
    with adbc.use(adbc.Config(warm_after=0)):
        gradient = adbc.grad(by_operators, (0, 1))
        for _ in range(5):
            gradient(1.3, 0.7)
        assert executed(lambda: gradient(1.3, 0.7)) < 5 * executed(lambda: by_operators(1.3, 0.7))


def test_a_method_that_is_replaced_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(by_operators)
    for _ in range(4):
        before = gradient(1.3, 0.7)
    with monkeypatch.context() as patch:
        patch.setattr(Vec, "__mul__", lambda self, k: Vec(self.x * 3.0, self.y * k))
        for _ in range(3):
            check_gradient(by_operators, 1.3, 0.7)
        assert gradient(1.3, 0.7) != before
    assert gradient(1.3, 0.7) == before


def test_the_line_of_an_error_in_a_method() -> None:
    def f(a: float) -> float:
        p = Vec(a, 1.0)
        for _ in range(2):
            p = p * 0.5
        return _divided(p)

    for _ in range(4):
        with pytest.raises(ZeroDivisionError) as failed:
            adbc.grad(f)(2.0)
        names = [entry.name for entry in failed.traceback]
        assert names[-2:] == ["f", "_divided"]


def _divided(p: Vec) -> float:
    return p.x / (p.y - 0.25)
