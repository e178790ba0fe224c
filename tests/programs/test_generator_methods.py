"""Generators that methods make: written into their loops where the class of the object is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from benchmarks.instructions import executed

WAYS = ["learn", "always", "never", "dynamic", "interpret"]
"""What is guessed: how types of values are known, or whether they are."""


class Walk:
    def __init__(self, factor: Any) -> None:
        self.factor = factor
        self.state = factor

    def states(self, n: int) -> Iterator[Any]:
        for k in range(n):
            self.state = self.state * self.factor + k
            yield self.state

    def ends(self) -> Iterator[Any]:
        yield "first", self.state
        yield "last", self.state * self.factor

    def total(self, n: int) -> Any:
        total = 0.0
        for value in self.states(n):
            total = 0.9 * total + value
        return total


class Halved(Walk):
    def states(self, n: int) -> Iterator[Any]:
        for value in super().states(n):
            yield 0.5 * value


def made_here(x: float, n: int) -> Any:
    walk = Walk(x)
    return sum(value * x for value in walk.states(n))


def given(walk: Walk, n: int) -> Any:
    return walk.total(n) + walk.total(n)


def handed_on(x: float, n: int) -> Any:
    return given(Walk(x), n)


def listed(x: float, n: int) -> Any:
    walk = Walk(x)
    for name, value in list(walk.ends()):
        walk.state += value if name == "first" else 2.0 * value
    return walk.state * n


def inherited(x: float, n: int) -> Any:
    return Halved(x).total(n)


def left_early(x: float, n: int) -> Any:
    walk = Walk(x)
    for value in walk.states(n):
        if value > 2.0:
            break
    return walk.state + sum(walk.states(2))


def hidden(x: float, n: int) -> Any:
    """The attribute comes and goes: what is tested fails, and holds again."""
    walk: Any = Walk(x)
    total = walk.total(n)
    walk.states = lambda m: [x, x * x, m * x]
    total += 2.0 * walk.total(n)
    del walk.states
    return total + walk.total(n)


def hidden_in_a_loop(x: float, n: int) -> Any:
    """The test fails in the middle of a loop, of which the rest goes on elsewhere."""
    walk, total = Walk(x), x
    for k in range(4):
        if k == 2:
            walk.states = lambda m: (x * total for _ in range(m))  # type: ignore[method-assign]
        for value in walk.states(n):
            total += 0.1 * value * (k + 1)
        total *= x
    return total


PROGRAMS: list[Callable[[float, int], Any]] = [
    made_here, handed_on, listed, inherited, left_early, hidden, hidden_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", WAYS)
def test_both_modes(function: Any, speculation: Any) -> None:
    slope = (function(0.7 + 1e-6, 5) - function(0.7 - 1e-6, 5)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation, warm_after=2)):
        gradient = adbc.value_and_grad(function)
        for _ in range(6):
            value, found = gradient(0.7, 5)
            assert value == pytest.approx(function(0.7, 5), rel=1e-14)
            assert found == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(lambda x: function(x, 5), (0.7,), (1.0,))[1] == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_rules(function: Any) -> None:
    check_rule(function, 0.7, 5)


def test_the_object_is_put_back() -> None:
    check_rule(given, Walk(0.7), 5)


def test_a_method_may_be_replaced() -> None:
    class Steps:
        def __init__(self, x: Any) -> None:
            self.x = x

        def steps(self) -> Iterator[Any]:
            yield self.x
            yield self.x * self.x

        def total(self) -> Any:
            return sum(self.steps())

    def function(x: float) -> Any:
        steps = Steps(x)
        return sum(steps.total() for _ in range(50))

    gradient = adbc.grad(function)
    for _ in range(6):
        assert gradient(0.7) == pytest.approx(50 * 2.4)
    Steps.steps = lambda self: iter([3.0 * self.x])  # type: ignore[assignment, method-assign, return-value]
    for _ in range(3):
        assert gradient(0.7) == pytest.approx(150.0)


def per_step(function: Callable[[Any, int], Any]) -> float:
    """The instructions that a step of the loop takes, there and back, over those of the function."""
    gradient = adbc.grad(function)
    for _ in range(60):
        gradient(0.7, 40)
    few, many = (executed(lambda n=n: gradient(0.7, n)) for n in (40, 60))  # type: ignore[misc]  # n is bound now
    one, two = (executed(lambda n=n: function(0.7, n)) for n in (40, 60))  # type: ignore[misc]
    return (many - few) / (two - one)


@pytest.mark.parametrize("function", [made_here, handed_on], ids=lambda f: f.__name__)
def test_a_step_is_one_of_a_loop(function: Any) -> None:
    """A generator that is resumed as an object takes more than fifty times what the function takes."""
    assert per_step(function) < 11.0  # 4.8 on CPython 3.11, 9.6 on 3.12


@pytest.mark.usefixtures("at_once")
def test_a_hidden_method_costs_what_it_costs() -> None:
    """What fails again and again is not built again and again."""
    gradient = adbc.grad(hidden_in_a_loop)
    for _ in range(10):
        gradient(0.7, 5)
    engine = adbc.runtime.default_engine()  # type: ignore[attr-defined]  # a module that is loaded
    builds = engine.builds
    for _ in range(10):
        gradient(0.7, 5)
    assert engine.builds == builds


@pytest.mark.usefixtures("at_once")
def test_a_generator_is_asked_for_its_iterator_once() -> None:
    class Link:
        def __init__(self, value: Any, back: Any) -> None:
            self.value, self.back = value, back

        def path(self) -> Iterator[Any]:
            link: Any = self
            while link is not None:
                yield link.value
                link = link.back

    def chain(x: float, n: int) -> Any:
        link = None
        for i in range(n):
            link = Link(x * i, link)
        values = list(link.path())  # type: ignore[attr-defined]
        return sum(values) + values[0]

    default_engine().clear()
    for _ in range(6):
        assert adbc.grad(chain)(0.7, 4) == 9.0
    (rule,) = [r for r in default_engine().rules.values() if r.code is chain.__code__ and r.is_built]
    assert str(rule.graphs[0]).count("Saved[__iter__]] = call <const") <= 1
