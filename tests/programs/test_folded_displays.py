"""``sum``, ``max`` and their like of lists and tuples that are written down, element by element."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_second_derivative


def sums(x: float) -> Any:
    total = 0.0
    for k in range(3):
        total += sum([x, x * x, k]) * sum((x, 2), 0.5) + sum([k, True, 3]) * x + sum([x]) + sum([], x)
    return total


def extremes(x: float) -> Any:
    total = 0.0
    for k in range(4):
        total += max([x, k * 0.3, x * k]) - min((x * x, k * 0.2)) * x + max([k, x], default=7.0)
        total += max([-x, x, -2 * x], key=abs) + min([x + k, 1.0], key=lambda v: (v - 1.5) ** 2)
    return total


def of_pairs(x: float) -> Any:
    best = max([(x, "a"), (x * x, "b"), (0.2, "c")])
    least = min([(x, 1), (2 * x, 0)], key=operator.itemgetter(1))
    return best[0] * least[0] * len(best[1])


def questions(x: float) -> Any:
    y = x if any([x > 1.0, x > 0.5]) else x * x
    z = 2 * x if all((x > 1.0, 1 / (x - x + 1))) else 3 * x
    return y * z


def reductions(x: float) -> Any:
    y = functools.reduce(operator.mul, [x, 1.1, x * x]) + functools.reduce(operator.add, (x, 2.0), x)
    return y * functools.reduce(lambda a, b: a * x + b, [1.0, 2.0, 3.0]) + functools.reduce(max, [x, 0.1])


def of_arrays(x: float) -> Any:
    v = np.array([x, 2.0 * x, 1.0])
    return float(sum([v, v * v, 1.0]).sum() + np.max(sum([[x]], []))) + sum([v[0], v[1]])


class Vector:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Any) -> Any:
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return bool(self.x < other.x)


def of_objects(x: float) -> Any:
    a, b = Vector(x, 1.0), Vector(x * x, x)
    total = sum([a, b, a])
    return total.x * total.y + min([a, b]).y


@dataclasses.dataclass(order=True)
class Ranked:
    rank: Any
    weight: Any = dataclasses.field(default=1.0, compare=False)


def of_ordered_records(x: float) -> Any:
    a, b = Ranked(x, x * x), Ranked(0.3, 2 * x)
    best, worst = max([a, b]), min([b, a, Ranked(x * x)])
    return best.weight * worst.weight + max([a, b], key=lambda r: -r.rank).weight


class Counting:
    def __init__(self, v: Any, seen: list[Any]) -> None:
        self.v, self.seen = v, seen

    def __lt__(self, other: Any) -> bool:
        self.seen[0] *= other.v
        return bool(self.v < other.v)


def of_comparisons_that_are_seen(x: float) -> Any:
    seen = [x]
    a, b = Counting(x, seen), Counting(2.0 * x, seen)
    return seen[0] * min([b, a]).v * seen[0]


PROGRAMS = [
    sums, extremes, of_pairs, questions, reductions, of_arrays, of_objects, of_ordered_records,
    of_comparisons_that_are_seen,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
def test_displays_that_are_folded(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(4):
        check_gradient(function, 0.7)


@pytest.mark.parametrize("function", [sums, reductions])
@pytest.mark.usefixtures("at_once")
def test_second_derivatives(function: Callable[[float], Any]) -> None:
    check_second_derivative(function, 0.7, rtol=1e-6)


@pytest.mark.usefixtures("at_once")
def test_the_first_of_those_that_are_equal_is_taken_and_nan_is_not_compared() -> None:
    def f(x: float, y: float) -> Any:
        return max([x, y]) + 2.0 * min([y, x])

    for _ in range(3):
        assert adbc.grad(f, (0, 1))(1.0, 1.0) == (1.0, 2.0)
    assert adbc.grad(lambda x: max([math.nan, x]) + x)(2.0) == 1.0
    assert adbc.grad(lambda x: max([x, math.nan]) + x)(2.0) == 2.0


@pytest.mark.usefixtures("at_once")
def test_errors_are_those_of_the_functions() -> None:
    def wrong(kind: int, x: Any) -> Any:
        if kind == 0:
            return sum([x, "a"])
        if kind == 1:
            return max([x, "a"])
        if kind == 2:
            return sum(["a", "b"], "")
        return max([]) * x

    for kind, error in enumerate((TypeError, TypeError, TypeError, ValueError)):
        for _ in range(3):
            with pytest.raises(error) as plain:
                wrong(kind, 0.5)
            with pytest.raises(error) as derived:
                adbc.grad(wrong, 1)(kind, 0.5)
            assert str(derived.value) == str(plain.value)


def by_hand(x: float) -> Any:
    total = 0.0
    for k in range(60):
        a, b = x * k, x + k
        total += (x * a * b) + (x if x > a and x > b else a if a > b else b)
    return total


def by_functions(x: float) -> Any:
    total = 0.0
    for k in range(60):
        a, b = x * k, x + k
        total += functools.reduce(operator.mul, [x, a, b]) + max([x, a, b])
    return total


def test_an_element_costs_what_it_costs() -> None:
    counts = []
    for function in (by_hand, by_functions):
        gradient = adbc.value_and_grad(function)
        for _ in range(8):
            gradient(0.7)
        counts.append(executed(lambda: gradient(0.7)))  # noqa: B023  # called at once
    assert counts[1] <= 1.6 * counts[0]
