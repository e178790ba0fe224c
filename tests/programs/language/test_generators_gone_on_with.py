"""Generators that are asked for values in several places: they go on where they stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc


def counted(a: float) -> float:
    found = (i * x for i, x in enumerate([a, 2 * a, 3 * a]))
    next(found)
    return sum(found)


def counted_from_one(a: float) -> float:
    found = (i * x * j for i, x in enumerate([a, 2 * a, 3 * a], 1) for j, _ in enumerate((1, 2)))
    next(found)
    next(found)
    third = next(found)
    return sum(found) * 10 + third


def counted_twice(a: float) -> float:
    found = (i * x + j for j, (i, x) in enumerate(enumerate([a, 2 * a, 3 * a], 2), 5))
    next(found)
    return next(found) + 10 * next(found)


def counted_and_left(a: float) -> float:
    found = (i * x for i, x in enumerate([a, 2 * a, 3 * a]))
    total = 0.0
    for v in found:
        total += v
        if v > 0:
            break
    for v in found:
        total += 10 * v
    return total


def counted_anew(a: float) -> float:
    total = 0.0
    for r in range(2):
        found = (i * x for i, x in enumerate([a, 2 * a, 3 * a]))
        next(found)
        for v in found:
            total += v * (r + 1)
    return total


def two_that_count(a: float) -> float:
    one = (i * x for i, x in enumerate([a, 2 * a, 3 * a]))
    other = (i * x for i, x in enumerate([a, 2 * a, 3 * a], 7))
    return next(one) + next(other) + next(other) + next(one) + sum(one) + sum(other)


def asked_in_its_loop(a: float) -> float:
    found = (x * x for x in [a, 2 * a, 3 * a, 4 * a, 5 * a])
    total = 0.0
    for v in found:
        total += v
        total += 3 * next(found, 0.0)
    return total


def tuple_asked_in_its_loop(a: float) -> float:
    values = (a, 2 * a, 3 * a, 4 * a)
    found = (x * x for x in values)
    total = 0.0
    for v in found:
        total += v
        total += 3 * next(found)
    return total


def zipped_asked_in_its_loop(a: float) -> float:
    found = (x * y for x, y in zip([a, 2 * a, 3 * a, 4 * a], (1.0, 2.0, 3.0, a), strict=True))
    total = 0.0
    for v in found:
        total += v
        total += 3 * next(found)
    return total


def indexed_asked_in_its_loop(a: float) -> float:
    values = [a, 2 * a, 3 * a]
    found = (x * values[k] for k, x in enumerate(values))
    total = 0.0
    for v in found:
        total += v
        total += 3 * next(found, 0.0)
    return total


def left_and_entered_again(a: float) -> float:
    found = (x * x for x in [a, 2 * a, 3 * a, 4 * a, 5 * a])
    total = 0.0
    for r in range(2):
        for v in found:
            total += v * (r + 1)
            if v > r * 20:
                break
    for v in found:
        total += v
    return total


PROGRAMS: list[Callable[[float], float]] = [
    counted, counted_from_one, counted_twice, counted_and_left, counted_anew, two_that_count,
    asked_in_its_loop, tuple_asked_in_its_loop, zipped_asked_in_its_loop, indexed_asked_in_its_loop,
    left_and_entered_again,
]  # fmt: skip


@pytest.mark.parametrize("config", [adbc.Config(), adbc.Config(warm_after=0)], ids=["learned", "at once"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Any, config: Any) -> None:
    slope = (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6
    with adbc.use(config):
        for _ in range(5):
            value, gradient = adbc.value_and_grad(f)(2.0)
            assert value == f(2.0)
            assert gradient == pytest.approx(slope, rel=1e-7)
            np.testing.assert_allclose(adbc.jvp(f, (2.0,), (1.0,)), (f(2.0), slope), rtol=1e-7)
