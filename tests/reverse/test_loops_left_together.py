"""Edges that leave two loops at once, of which the inner one has nothing to reverse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc


def returns_from_inside(x: float, n: int) -> float:
    y = x
    for i in range(n):
        y = y * math.sin(x)
        for j in range(5):
            if i + j > 4:
                return y
    return y


def while_true(x: float, n: int) -> float:
    y = x
    i = 0
    while True:
        y = y * x
        while True:
            i += 1
            if i > n:
                return y
            if i % 3 == 0:
                break


def lists(x: float, n: int) -> float:
    a = [x, 2.0 * x]
    k = 0
    while True:
        a.append(sum([0.5 * t * x for t in a if k % 2 == 0]))
        while True:
            k += 1
            if k > n:
                return sum(a)
            if len(a) < 6:
                break


@pytest.mark.parametrize("function", [returns_from_inside, while_true, lists])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 8])
def test_reverse_is_forward(function: Callable[..., Any], n: int) -> None:
    value, tangent = adbc.jvp(lambda x: function(x, n), (0.7,), (1.0,))
    assert value == function(0.7, n)
    h = 1e-6
    difference = (function(0.7 + h, n) - function(0.7 - h, n)) / (2.0 * h)
    assert tangent == pytest.approx(difference, rel=1e-8)
    for _ in range(3):  # what the first calls learn changes the code of the next
        assert adbc.grad(lambda x: function(x, n))(0.7) == pytest.approx(tangent, rel=1e-12)
