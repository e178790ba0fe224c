"""Named tuples that a function makes, in both modes."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import pytest

import adbc
from adbc.ir.intrinsics import _getattr_
from adbc.passes.query import target
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

XS = [0.11, 0.45, 0.32, 0.83]


class Point(NamedTuple):
    x: float
    y: float = 0.0

    def dot(self, other: Point) -> float:
        return self.x * other.x + self.y * other.y


class Odd(NamedTuple):
    x: float
    y: float

    def __getitem__(self, key: Any) -> Any:
        return 7.0 * (self.y if key == 0 else self.x)


State = collections.namedtuple("State", "pos vel mass")


def moved(p: Point, h: float) -> Point:
    return Point(p.x + h * p.y, p.y - h * p.x)


def in_a_loop(x: float) -> float:
    p = Point(x, 2.0 * x)
    for v in XS:
        p = Point(p.x + 0.1 * p.y, p.y - v * p[0])
    a, b = p
    return a * b


def replaced(x: float) -> float:
    s = State(x, 0.0, 2.0)
    for v in XS:
        s = s._replace(pos=s.pos + v * s.vel, vel=s.vel - v * s.pos / s.mass)
        if s.vel < -0.3:
            s = s._replace(vel=x)
    return s.pos + s.vel * s[-1]


def by_functions(x: float) -> float:
    p = Point(x, 1.0)
    for v in XS:
        p = moved(p, v)
    return p.dot(Point(x, x))


def kept(x: float) -> float:
    found = []
    p = Point(x, 0.5)
    for v in XS:
        p = p._replace(y=p.y * v)
        found.append(p)
    return sum(q.x * q.y for q in found) + (1.0 if found[-1] is p else 0.0) * p.x


def of_two_kinds(x: float) -> float:
    p: Any = Point(x, x) if x > 0.5 else State(x, 2.0 * x, 3.0)
    q: Any = None
    for v in XS:
        if q is not None:
            x = x + q.x * v
        q = Point(x * v, 1.0)
    return p[0] * p[1] * x


def with_an_own_getitem(x: float) -> float:
    p = Odd(x, 3.0 * x * x)
    return p[0] * p.y + p[1]


PROGRAMS = [in_a_loop, replaced, by_functions, kept, of_two_kinds, with_an_own_getitem]


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "interpret"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes(function: Any, speculation: str, at_once: None) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(function, 0.7)


@pytest.mark.parametrize("function", [in_a_loop, replaced])
def test_no_field_is_read(function: Any) -> None:
    assert not any(target(i) is _getattr_ for i in default_engine().graphs.primal(function).instructions())


def test_a_field_of_the_class_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = adbc.value_and_grad(in_a_loop)(0.7)
    monkeypatch.setattr(Point, "x", property(lambda self: 5.0 * self.y))
    value, gradient = adbc.value_and_grad(in_a_loop)(0.7)
    assert value == in_a_loop(0.7) != before[0]
    h = 1e-6
    assert gradient == pytest.approx((in_a_loop(0.7 + h) - in_a_loop(0.7 - h)) / (2 * h), rel=1e-6, abs=1e-9)
    monkeypatch.undo()
    assert adbc.value_and_grad(in_a_loop)(0.7) == before


@pytest.mark.parametrize("name", ["__getitem__", "__new__", "__getattribute__", "__iter__"])
def test_what_the_class_inherits_is_looked_at_again(name: str) -> None:
    guards = {guard.path for guard in default_engine().graphs.primal(in_a_loop).guards}
    assert ("Point", name) in guards
