"""Objects that stay inside a function become the values of their fields: nobody can tell, but by the time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.ir.intrinsics import _instance_, _new_
from adbc.passes.query import target
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule


class Particle:
    def __init__(self, x: float, v: float = 0.0) -> None:
        self.x = x
        self.v = v

    def step(self, k: float, h: float) -> None:
        self.v = self.v - h * k * self.x
        self.x += h * self.v

    def energy(self, k: float) -> float:
        if k < 0.0:
            return 0.5 * self.v * self.v
        return 0.5 * (self.v * self.v + k * self.x * self.x)


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: float) -> None:
        self.x = x

    def twice(self) -> float:
        return 2.0 * self.x


@dataclasses.dataclass
class Point:
    x: float
    y: float = 1.0

    def norm(self) -> float:
        return math.hypot(self.x, self.y)


class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b


class Counted:
    gone: list[float] = []  # noqa: RUF012

    def __init__(self, x: float) -> None:
        self.x = x

    def __del__(self) -> None:
        Counted.gone.append(0.0)


class Lazy:
    def __init__(self, x: float) -> None:
        if x > 1.0:
            self.x = x


def oscillates(k: float, x: float, n: int) -> float:
    particle = Particle(x)
    for _ in range(n):
        particle.step(k, 0.1)
    return particle.energy(k) + particle.x


def in_each_iteration(k: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        p = Particle(k * i, v=k)
        if i % 2:
            p.step(k, 0.1)
        total += p.energy(k) + p.energy(-1.0)
    return total


def slotted(x: float) -> float:
    s = Slotted(x)
    s.x *= s.twice()
    return s.twice() * x


def dataclass(x: float) -> float:
    p = Point(x)
    p.y *= x
    q = Point(y=p.x, x=p.y)
    return p.norm() * q.x


def nested(x: float, u: list[float]) -> float:
    inner = Particle(x, u[0])
    outer = Pair(inner, u)
    outer.a.step(x, 0.1)
    outer.b[0] *= outer.a.x
    return outer.b[0] * inner.v


def of_arrays(x: float, a: Any) -> Any:
    p = Pair(a, a * x)
    p.b += p.a
    p.a[0] = x
    return np.sum(p.b) * p.a[0] * p.a[1]


STAYING: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (oscillates, (2.0, 1.5, 4)),
    (in_each_iteration, (1.5, 4)),
    (slotted, (1.5,)),
    (dataclass, (1.5,)),
    (nested, (1.5, [2.0])),
    (of_arrays, (1.5, np.array([1.0, 2.0, 3.0]))),
]


def kept(p: Particle) -> Particle:
    return p


def returned(x: float) -> float:
    p = Particle(x)
    return kept(p).x * p.x


def handed_out(x: float, out: list[Any]) -> float:
    p = Particle(x)
    out.append(p)
    p.step(x, 0.1)
    return out[-1].x * x


def compared(x: float) -> float:
    p, q = Particle(x), Particle(x)
    return p.x * (2.0 if p == q else 3.0)


def chosen(x: float) -> float:
    p, q = Particle(x), Particle(2.0 * x)
    r = p if x > 1.0 else q
    r.x *= x
    return p.x * q.x


def hides_a_method(x: float) -> float:
    p = Particle(x, x)
    before = p.energy(x)
    p.step = p.energy = lambda *a: 2.0 * a[0]  # type: ignore[assignment,method-assign]
    return p.energy(x) * p.x + before


def removes(x: float) -> float:
    p = Particle(x)
    del p.v
    return p.x * x


def in_try(x: float) -> float:
    try:
        p = Particle(x)
        p.step(x, math.sqrt(x - 1.0))
        return p.x
    except ValueError:
        return x * x


def by_variables(x: float) -> float:
    p = Particle(x)
    return float(sum(vars(p).values())) * x


LEAVING: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (handed_out, (1.5, [])),
    (compared, (1.5,)),
    (chosen, (1.5,)),
    (hides_a_method, (1.5,)),
    (removes, (1.5,)),
    (in_try, (1.5,)),
    (in_try, (0.5,)),
    (by_variables, (1.5,)),
]


def made_in(function: Any) -> list[Any]:
    """The classes of the objects that the graph of a function makes."""
    graph = default_engine().primal(function)
    return [
        call.operands[1].value  # type: ignore[attr-defined]  # a constant
        for call in graph.instructions()
        if target(call) is _instance_
        or (target(call) is _new_ and getattr(call.operands[1], "value", None) in CLASSES)
    ]


CLASSES = (Particle, Slotted, Point, Pair, Counted, Lazy)


@pytest.mark.parametrize(("function", "arguments"), STAYING, ids=lambda x: getattr(x, "__name__", None))
def test_what_stays_is_not_made(function: Any, arguments: tuple[Any, ...]) -> None:
    assert made_in(function) == []
    check_rule(function, *arguments)


@pytest.mark.parametrize(("function", "arguments"), LEAVING, ids=lambda x: getattr(x, "__name__", None))
def test_what_leaves_is_made(function: Any, arguments: tuple[Any, ...]) -> None:
    assert made_in(function)
    check_rule(function, *arguments)


def test_through_a_small_function() -> None:
    assert made_in(returned) == []
    check_rule(returned, 1.5)


def test_a_field_that_was_never_set() -> None:
    def reads(x: float) -> float:
        return Lazy(x).x * x

    assert made_in(reads)
    assert adbc.value_and_grad(reads)(2.0) == (4.0, 4.0)
    with pytest.raises(AttributeError, match="'Lazy' object has no attribute 'x'"):
        adbc.value_and_grad(reads)(0.5)


def test_a_class_with_a_finaliser_is_left_alone() -> None:
    def makes(x: float, keep: list[Any]) -> float:
        counted = Counted(x)
        keep.append(counted)
        return counted.x * x

    assert made_in(makes) == [Counted]
    assert adbc.jvp(makes, (3.0, []), (1.0, None)) == (9.0, 6.0)
    # where it dies while its derivative is taken, it cannot be said when
    with pytest.raises(adbc.errors.UnsupportedError, match="when an object dies"):
        adbc.value_and_grad(lambda x: Counted(x).x * x)(3.0)


def test_a_class_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.value_and_grad(slotted)
    assert gradient(2.0) == (32.0, 48.0)
    monkeypatch.setattr(Slotted, "twice", lambda self: 3.0 * self.x)
    assert gradient(2.0) == (72.0, 108.0)
    monkeypatch.undo()
    assert gradient(2.0) == (32.0, 48.0)
    gradient = adbc.value_and_grad(dataclass)
    before = gradient(2.0)
    monkeypatch.setattr(Point, "y", property(lambda self: 7.0, lambda self, value: None))
    assert gradient(2.0)[0] == dataclass(2.0)
    monkeypatch.undo()
    monkeypatch.setattr(Point, "__init__", Pair.__init__)
    with pytest.raises(TypeError, match="missing"):
        gradient(2.0)
    monkeypatch.undo()
    assert gradient(2.0) == before


def test_wrong_arguments_are_the_error_of_the_class() -> None:
    def makes(x: float) -> float:
        return Slotted(x, x).x  # type: ignore[call-arg]

    with pytest.raises(TypeError, match=r"__init__\(\) takes 2 positional arguments but 3 were given"):
        adbc.grad(makes)(2.0)


def test_the_forwards_pass_is_that_of_floats() -> None:
    assert adbc.value_and_grad(oscillates)(2.0, 1.5, 3)
    text = str(adbc.inspect.fwd_ir(adbc.Signature.of(oscillates, 2.0, 1.5, 3)))
    assert "Particle" not in text and "_shadow" not in text
