"""What is known of fields and elements is used, and forgotten wherever it may have changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule


class Cell:
    def __init__(self, x: Any, y: Any = 0.0) -> None:
        self.x = x
        self.y = y

    def bump(self, by: float) -> None:
        self.x = self.x * by


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x = x
        self.y = y


@pytest.fixture(autouse=True, params=["learn", "always", "never"])
def speculation(request: pytest.FixtureRequest) -> Iterator[None]:
    engine = default_engine()
    before = engine.guesses.mode
    engine.guesses.mode = request.param
    yield
    engine.guesses.mode = before


def read_twice(a: Cell) -> float:
    return a.x * a.x + math.sin(a.x)


def written_and_read(a: Cell) -> float:
    a.x = a.x * 2.0
    a.y = a.x + a.y
    a.x = math.sin(a.x) * a.y
    return a.x * a.y


def two_objects(a: Any, b: Any) -> float:
    """`b` may be `a`."""
    a.x = a.x * 2.0
    b.x = b.x * 3.0
    return a.x * b.x + a.y


def other_field(a: Any, b: Any) -> float:
    a.x = a.x * 2.0
    b.y = b.y * 3.0
    return a.x * b.x + a.y


def through_a_method(a: Cell) -> float:
    before = a.x
    a.bump(3.0)
    return before * a.x


def through_the_dictionary(a: Cell) -> float:
    before = a.x
    vars(a)["x"] = before * before
    return a.x * before


def on_one_way(a: Cell, flag: bool) -> float:
    a.x = a.x * 2.0
    if flag:
        a.x = a.x * a.y
    return a.x * a.x


def in_a_loop(a: Cell, n: int) -> float:
    for k in range(n):
        a.x = a.x * 0.5 + a.y
        if k % 2:
            a.y = a.y * a.x
    return a.x * a.y


def number_becomes_float(a: Cell) -> float:
    """The field of an int has no number in its tangent."""
    total = Cell(0)
    for _ in range(3):
        total.x = total.x + a.x * a.y
    return total.x * a.x  # type: ignore[no-any-return]


def elements(u: list[float]) -> float:
    u[0] = u[0] * u[1]
    u[1] = u[0] + u[1]
    u[0] = u[0] * u[1]
    return u[0] * u[1]


def negative_index(u: list[float]) -> float:
    last = len(u) - 1
    u[-1] = u[-1] * u[0]
    u[last] = u[last] * 2.0
    return u[-1] * u[last]


def two_lists(u: list[float], v: list[float]) -> float:
    """`v` may be `u`."""
    u[0] = u[0] * 2.0
    v[0] = v[0] * 3.0
    return u[0] * v[0]


def two_indices(u: list[float], i: int, j: int) -> float:
    u[i] = u[i] * 2.0
    u[j] = u[j] * 3.0
    return u[i] * u[j]


def appended(u: list[float]) -> float:
    u[-1] = u[-1] * 2.0
    u.append(u[-1] * u[0])
    u[-1] = u[-1] * 3.0
    return u[-1] * u[-2]


def moving_index(u: list[float]) -> float:
    for i in range(1, len(u)):
        u[i] += 0.5 * u[i - 1] * u[i]
    return u[-1] * u[0]


def caught(a: Cell, u: list[float]) -> float:
    a.x = a.x * 2.0
    try:
        a.x = a.x * a.y
        u[9] = a.x
    except IndexError:
        a.x = a.x * a.x
    return a.x * u[0]


CASES: list[tuple[Callable[..., float], Callable[[], tuple[Any, ...]]]] = [
    (read_twice, lambda: (Cell(0.7),)),
    (written_and_read, lambda: (Cell(0.7, 0.3),)),
    (written_and_read, lambda: (Slotted(0.7, 0.3),)),
    (two_objects, lambda: (Cell(0.7, 0.3), Cell(0.4, 0.2))),
    (two_objects, lambda: (Slotted(0.7, 0.3), Cell(0.4, 0.2))),
    (two_objects, lambda: (c := Cell(0.7, 0.3), c)),
    (other_field, lambda: (c := Slotted(0.7, 0.3), c)),
    (through_a_method, lambda: (Cell(0.7),)),
    (on_one_way, lambda: (Cell(0.7, 0.3), True)),
    (on_one_way, lambda: (Cell(0.7, 0.3), False)),
    (in_a_loop, lambda: (Cell(0.7, 0.3), 5)),
    (number_becomes_float, lambda: (Cell(0.7, 0.3),)),
    (elements, lambda: ([0.7, 0.3],)),
    (negative_index, lambda: ([0.7, 0.3, 1.1],)),
    (negative_index, lambda: ([0.7],)),
    (two_lists, lambda: ([0.7, 0.3], [1.1])),
    (two_lists, lambda: (u := [0.7, 0.3], u)),
    (two_indices, lambda: ([0.7, 0.3], 0, 1)),
    (two_indices, lambda: ([0.7, 0.3], 0, -2)),
    (appended, lambda: ([0.7, 0.3],)),
    (moving_index, lambda: ([0.7, 0.3, 1.1, 0.4],)),
    (caught, lambda: (Cell(0.7, 0.3), [0.4])),
]


@pytest.mark.parametrize(
    ("function", "arguments"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)]
)
def test_known_slots_do_not_change_derivatives(
    function: Callable[..., float], arguments: Callable[[], tuple[Any, ...]]
) -> None:
    for _ in range(3):  # what was learnt is used from the second time on
        check_rule(function, *arguments())


def test_a_dictionary_of_fields() -> None:
    for _ in range(3):
        value, gradient = adbc.value_and_grad(through_the_dictionary)(Cell(0.7))
        assert value == 0.7**3
        assert abs(gradient.x - 3 * 0.7**2) < 1e-14


def test_a_numpy_number_in_place_of_a_float() -> None:
    def function(u: list[float], x: Any) -> Any:
        u[0] = u[0] * 2.0
        u[0] = u[0] * x
        u[0] = u[0] * u[0]
        return u[0]

    for _ in range(3):
        value, (du, dx) = adbc.value_and_grad(function, (0, 1))([0.7], np.float64(0.3))
        assert abs(value - (1.4 * 0.3) ** 2) < 1e-15
        assert abs(du[0] - 2 * 1.4 * 0.3 * 0.3 * 2.0) < 1e-14
        assert abs(dx - 2 * 1.4 * 0.3 * 1.4) < 1e-14
