"""Loops of libraries that are run for long: the interpreter leaves them for code."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from tests.installed import installed

SOURCE = """
    import math

    def sums(x, n):
        total, y = 0.0, x
        for i in range(n):
            if i % 3 == 0:
                y = math.sin(y) + 0.1 * x
            total += y
        return total

    def nested(x, n):
        total = 0.0
        for k in range(n):
            t = x
            while t > 0.1:
                t *= 0.8
                total += t * k
        return total

    def closure(x, n):
        k = x * x
        def step(t):
            s = 0.0
            for i in range(n):
                t = 0.9 * t + k * math.cos(t)
                s += k * t
            return s
        return step(x)

    def rebinds(x, n):
        k = x
        def run():
            nonlocal k
            for i in range(n):
                k = 0.9 * k + math.sin(k)
            return k
        return run() * k

    def lists(x, n):
        found = [x]
        for i in range(n):
            found.append(found[-1] * 0.9 + x)
            if len(found) > 5:
                found.pop(0)
        return sum(found)

    def keeps(x, n, state):
        for i in range(n):
            state[i % len(state)] = state[i % len(state)] * 0.5 + x
        return state[0] * state[1]

    class Model:
        def __init__(self, x):
            self.x, self.n = x, 0

        def run(self, n):
            while self.n < n:
                self.x = 0.9 * self.x + math.sin(self.x)
                self.n += 1
            return self.x

    def objects(x, n):
        return Model(x).run(n) * x

    def caught(x, n):
        total = 0.0
        for i in range(n):
            try:
                if i % 4 == 1:
                    raise ValueError(i)
                total += x * i
            except ValueError as error:
                total -= 0.5 * x * error.args[0]
            finally:
                total *= 0.99
        return total

    def in_a_handler(x, n):
        try:
            raise KeyError("k")
        except KeyError:
            total = 0.0
            for i in range(n):
                total += x * i
            return total

    def raises(x, n, seen):
        for i in range(n):
            seen.append(x * i)
            if i == n - 1:
                raise ArithmeticError("at the end")

    def abandoned(x, n):
        seen = []
        try:
            raises(x, n, seen)
        except ArithmeticError:
            pass
        return sum(seen)

    def terms(x, n):
        for i in range(n):
            y = x
            for k in range(i % 5):
                y = y * 0.9 + x
            yield y

    def generator(x, n):
        return sum(terms(x, n))

    def never(x, n):
        while True:
            n -= 1
            if n < 0:
                return x * x
"""

NAMES = [
    "sums", "nested", "closure", "rebinds", "lists", "objects", "caught", "in_a_handler", "abandoned",
    "generator", "never",
]  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with installed(tmp_path_factory, "marching", SOURCE) as module:
        yield module


@pytest.fixture(autouse=True)
def engine() -> Iterator[Any]:
    with adbc.use(adbc.Config(warm_after=3)):
        default_engine().clear()
        yield default_engine()
        default_engine().clear()


def left() -> int:
    """How many loops have been left."""
    rules = default_engine().rules.values()
    return sum(rule.is_rest and rule.is_built and rule.cold is None for rule in rules)


@pytest.mark.parametrize("name", NAMES)
def test_both_modes(library: Any, name: str) -> None:
    f, x, n = getattr(library, name), 0.7, 60
    plain = f(x, n)
    slope = (f(x + 1e-6, n) - f(x - 1e-6, n)) / 2e-6
    for count in range(3):
        value, gradient = adbc.value_and_grad(f)(x, n)
        assert value == plain
        assert gradient == pytest.approx(slope, rel=1e-6)
        if count == 0:
            assert left() == (name != "in_a_handler")
    default_engine().clear()
    for count in range(3):
        value, tangent = adbc.jvp(f, (x, n), (1.0, adbc.NoTangent()))
        assert value == plain
        assert tangent == pytest.approx(gradient, rel=1e-12)
        if count == 0:
            assert left() == (name != "in_a_handler")


@pytest.mark.parametrize("make", [list, np.array])
def test_arguments_are_as_before(library: Any, make: Any) -> None:
    def f(x: float, state: Any) -> Any:
        return library.keeps(x, 60, state)

    start = [1.0, 2.0, 3.0]
    slope = (f(0.7 + 1e-6, make(start)) - f(0.7 - 1e-6, make(start))) / 2e-6
    state = make(start)
    gradient, of_state = adbc.grad(f, (0, 1))(0.7, state)
    assert left() == 1
    assert [*state] == start
    assert gradient == pytest.approx(slope, rel=1e-6)
    assert [*of_state] == pytest.approx([*adbc.grad(f, 1)(0.7, make(start))], rel=1e-12)


def test_an_exception_leaves_the_rest(library: Any) -> None:
    for _ in range(3):
        seen: list[float] = []
        with pytest.raises(ArithmeticError, match="at the end") as caught:
            adbc.grad(library.raises)(0.7, 60, seen)
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names.count("raises") == 1  # the rest is no function of its own
        assert len(seen) == 60


def test_nothing_is_left_that_is_run_shortly(library: Any) -> None:
    adbc.grad(library.sums)(0.7, 2)
    assert left() == 0
