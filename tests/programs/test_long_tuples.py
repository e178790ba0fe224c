"""Loops over tuples that are too long, or too different, for a form of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from tests.programs.checks import check_gradient, check_second_derivative

ROWS = [[0.3 * i - 0.1 * j * j for j in range(4)] for i in range(40)]


def columns(x: float) -> Any:
    rows = [[x * v for v in row] for row in ROWS]
    means = [sum(c) / len(c) for c in zip(*rows)]
    total = 0.0
    for c, m in zip(zip(*rows), means):
        for v in c:
            total += (v - m) ** 2
    return total


def lengths_differ(x: float) -> Any:
    total = 0.0
    for n in (1, 40, 3, 70, 2):
        t = tuple([x * k for k in range(n)])
        for v in t:
            total += v * n
        for u, v in zip(t, t[1:]):
            total += u * v
        for k, v in enumerate(t):
            total += k * v
    return total


def left_early(x: float) -> Any:
    t = tuple([x * k for k in range(50)])
    total = 0.0
    for _ in range(5):
        for v in t:
            if v > 10.0:
                break
            total += v * v
        else:
            total += 1.0
    return total + first_above(t, 7.0)


def first_above(t: tuple[float, ...], limit: float) -> float:
    for v in t:
        if v > limit:
            return v * v
    return 0.0


def of_objects(x: float) -> Any:
    t = tuple([[x, k] for k in range(40)])
    total = 0.0
    for pair in t:
        pair[0] = pair[0] * 1.5
        total += pair[0] * pair[1]
    for pair in t:
        total += pair[0]
    return total


def twice_the_same(x: float) -> Any:
    row = [x, 2.0]
    t = (row,) * 35
    total = 0.0
    for r in t:
        r[0] += 0.1 * r[1]
        total += r[0]
    return total + row[0]


def mixed(x: float) -> Any:
    t = tuple([x * k if k % 3 else k for k in range(40)])
    total = 0.0
    for v in t:
        total += v * v
    return total


def used_afterwards(x: float) -> Any:
    t = tuple([x * k for k in range(40)])
    total = 0.0
    for v in t:
        total += v * t[3]
    return total + t[-1] * len(t) + sum(t)


PROGRAMS = [columns, lengths_differ, left_early, of_objects, twice_the_same, mixed, used_afterwards]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[float], Any]) -> None:
    for _ in range(3):
        check_gradient(f, 1.3)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_in_each_way(f: Callable[[float], Any], speculation: str) -> None:
    for _ in range(3):
        check_gradient(f, 1.3)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(f: Callable[[float], Any]) -> None:
    check_second_derivative(f, 1.3, rtol=1e-5, atol=1e-5)


def over_an_argument(t: tuple[float, ...], w: float) -> Any:
    total = 0.0
    for v in t:
        total += w * v * v
    return total


def test_a_tuple_that_is_an_argument(speculation: str) -> None:
    t = tuple([0.5 * k for k in range(45)])
    for _ in range(3):
        by_t, by_w = adbc.grad(over_an_argument, (0, 1))(t, 2.0)
        assert by_t == pytest.approx([4.0 * v for v in t])
        assert by_w == pytest.approx(sum(v * v for v in t))
        tangents = tuple([1.0] * len(t)), 0.0
        assert adbc.jvp(over_an_argument, (t, 2.0), tangents)[1] == pytest.approx(sum(by_t))
