"""Calls of classes as the two calls that they consist of."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule


class Point:
    count = 0

    def __init__(self, x: float, y: float = 2.0) -> None:
        self.x = x
        self.y = y * x

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y * other.y)


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


class Special:
    def __new__(cls, x: float) -> Special:
        made = super().__new__(cls)
        made.extra = x * x  # type: ignore[attr-defined]
        return made

    def __init__(self, x: float) -> None:
        self.x = x


class Abstract(abc.ABC):
    @abc.abstractmethod
    def value(self) -> float: ...

    def __init__(self, x: float) -> None:
        self.x = x


class Concrete(Abstract):
    def value(self) -> float:
        return self.x


class Returning:
    def __init__(self, x: float) -> Any:  # type: ignore[misc]
        self.x = x
        return x


class Raising:
    def __init__(self, x: float) -> None:
        self.x = x
        if x > 0.0:
            raise ValueError("positive")


@dataclasses.dataclass
class Pair:
    a: float
    b: float = 3.0


def points(x: float, y: float) -> float:
    total = Point(x)
    for i in range(3):
        total = total + Point(y * (i + 1), x) + Point(x, y=y)
    return total.x * total.y


def slotted(x: float, y: float) -> float:
    node = None
    for i in range(4):
        node = Slotted(x * i, node)
    total = 0.0
    while node is not None:
        total += node.left * y
        node = node.right
    return total


def special(x: float, y: float) -> float:
    s = Special(x)
    return s.x * s.extra * y  # type: ignore[attr-defined,no-any-return]


def abstract(x: float, y: float) -> float:
    return Concrete(x).value() * y


def pair(x: float, y: float) -> float:
    p = Pair(x, b=y)
    p.a *= p.b
    return p.a * Pair(y).b


def caught(x: float, y: float) -> float:
    try:
        return Raising(x).x
    except ValueError:
        return Raising(-x).x * y


@pytest.mark.parametrize("program", [points, slotted, special, abstract, pair, caught])
def test_constructions_are_differentiated_rightly(program: Any) -> None:
    for _ in range(3):
        check_rule(program, 0.7, 1.3)


def rules_of(function: Any) -> list[Any]:
    return [rule for rule in default_engine().rules.values() if rule.code is function.__code__]


@pytest.mark.usefixtures("at_once")
def test_the_class_is_known_without_a_guess() -> None:
    default_engine().clear()
    for _ in range(5):
        adbc.grad(points)(0.7, 1.3)
    (rule,) = [rule for rule in rules_of(points) if rule.is_built]
    text = str(rule.graphs[0])
    assert "_instance_" in text
    assert "__init__" not in text
    default_engine().clear()
    adbc.grad(special)(0.7, 1.3)
    assert "_instance_" not in str(rules_of(special)[0].graphs[0])


def test_a_result_of_init_is_an_error() -> None:
    def f(x: float) -> float:
        return Returning(x).x

    with pytest.raises(TypeError, match="should return None"):
        adbc.grad(f)(1.0)


def test_a_class_that_changes_is_seen() -> None:
    class Changing:
        def __init__(self, x: float) -> None:
            self.x = x

    def f(x: float) -> float:
        return Changing(x).x * x  # type: ignore[no-any-return]

    f.__globals__["Changing"] = Changing
    g = eval("lambda x: Changing(x).x * x", f.__globals__)
    try:
        assert adbc.grad(g)(3.0) == 6.0

        def other(self: Any, x: float) -> None:
            self.x = x * x

        Changing.__init__ = other  # type: ignore[method-assign]
        assert adbc.grad(g)(3.0) == 27.0

        def new(cls: type, x: float) -> Any:
            made = object.__new__(Changing)
            made.y = x  # type: ignore[attr-defined]
            return made

        Changing.__new__ = new  # type: ignore[method-assign,assignment]
        assert adbc.grad(g)(3.0) == 27.0
    finally:
        del f.__globals__["Changing"]
