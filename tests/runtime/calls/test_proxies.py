"""Proxies of functions: they say that they are functions, are equal to what they stand for, and do something
else when they are called."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import adbc


class Doubled:
    """Stands for a function, and gives twice what it gives."""

    def __init__(self, function: Any) -> None:
        object.__setattr__(self, "stands_for", function)

    @property
    def __class__(self) -> Any:
        return type(self.stands_for)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "stands_for"), name)

    def __eq__(self, other: object) -> bool:
        return bool(self.stands_for == other)

    def __hash__(self) -> int:
        return hash(self.stands_for)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return 2.0 * self.stands_for(*args, **keywords)


@Doubled
def square(x: float) -> float:
    return x * x


sine, wave, total, largest, added = map(Doubled, (math.sin, np.sin, np.sum, max, sum))


def in_a_loop(x: float) -> float:
    found = 0.0
    for i in range(4):
        found += square(x) * i
    return found


def straight(x: float) -> float:
    return square(x) * 10.0 + sine(x)


def of_numpy(x: float) -> Any:
    return wave(x) * total(np.array([x, x * x]))


def of_builtins(x: float) -> float:
    return largest(x, 0.5) * added([x, x * x])


def in_a_list(x: float) -> float:
    for f in [square, sine, math.sin]:
        x = f(x)
    return x


def by_map(x: float) -> float:
    return sum(map(square, [x, 2.0 * x])) + sorted([x, 3.0 * x], key=sine)[0]


class Holder:
    method = Doubled(math.sqrt)

    def __init__(self) -> None:
        self.held = Doubled(math.exp)


HOLDER = Holder()


def from_attributes(x: float) -> float:
    return HOLDER.held(x) * HOLDER.method(x)


CASES = [in_a_loop, straight, of_numpy, of_builtins, in_a_list, by_map, from_attributes]
WAYS = [("always", 0), ("learn", 0), ("learn", 2), ("never", 0)]


@pytest.mark.parametrize(("speculation", "warm_after"), WAYS)
@pytest.mark.parametrize("f", CASES)
def test_a_proxy_is_called_and_not_what_it_stands_for(
    f: Callable[[float], Any], speculation: str, warm_after: int
) -> None:
    x, h = 1.3, 1e-6
    slope = (f(x + h) - f(x - h)) / (2.0 * h)
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(4):
            value, gradient = adbc.value_and_grad(f)(x)
            assert value == f(x)
            assert gradient == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


def test_a_mock_of_a_function() -> None:
    def f(x: float) -> float:
        spy = mock.Mock(spec=math.sin, side_effect=lambda y: 5.0 * y)
        return spy(x) * spy(2.0)

    for _ in range(2):
        assert adbc.value_and_grad(f)(3.0) == (150.0, 50.0)
        assert adbc.jvp(f, (3.0,), (1.0,)) == (150.0, 50.0)


def test_a_proxy_is_what_is_differentiated() -> None:
    for _ in range(3):
        assert adbc.grad(square)(3.0) == 12.0
        assert adbc.value_and_grad(sine)(0.0) == (0.0, 2.0)


def test_a_rule_of_the_users_is_one_of_the_proxy_alone() -> None:
    def cube(x: float) -> float:
        return x * x * x

    proxy = Doubled(cube)
    adbc.scalar_rule(proxy)(lambda out, x: 100.0)
    for _ in range(3):
        assert adbc.grad(lambda x: proxy(x))(2.0) == 100.0
        assert adbc.grad(lambda x: cube(x))(2.0) == 12.0
