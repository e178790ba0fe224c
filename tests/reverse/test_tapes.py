"""The forms of tapes: which loop gets which, and that each is right however the loop is entered and left."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from adbc.inspect import fwd_ir, primal_ir, rvs_ir
from adbc.testing import test_rule as check_rule


def linear(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = 0.5 * x + r
    return x


def linear_while(r: float, x: float, n: int) -> float:
    while n > 0:
        x = 0.5 * x + r
        n -= 1
    return x


def linear_with_break(r: float, x: float, n: int) -> float:
    for k in range(n):
        x = 0.5 * x + r
        if k == 2:
            break
    else:
        x = 3.0 * x
    return x


def partly_consumed(r: float, x: float, n: int) -> float:
    """The range has given numbers away before the loop, and gives some away in it."""
    numbers = iter(range(n + 2))
    next(numbers)
    for _ in numbers:
        x = 0.5 * x + r
        next(numbers, None)
    return x


def exhausted_before(r: float, x: float, n: int) -> float:
    """The second time round there is nothing left."""
    numbers = iter(range(n))
    for _ in range(2):
        for _ in numbers:
            x = 0.5 * x + r
        x = 2.0 * x
    return x


def range_used_twice(r: float, x: float, n: int) -> float:
    numbers = range(n)
    for _ in numbers:
        for k in numbers:
            x = 0.5 * x + r if k else 0.7 * x
    return x


def one_value(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


def one_value_made_in_the_body(r: float, x: float, n: int) -> float:
    y = 1.0
    for _ in range(n):
        x = math.exp(-r)
        y = y + x
    return y


def one_value_on_two_ways(r: float, x: float, n: int) -> float:
    """Appended where the ways meet."""
    for k in range(n):
        if k % 2:
            continue
        x = x * x * r
    return x


def one_value_and_break(r: float, x: float, n: int) -> float:
    for k in range(n):
        y = x * x * r
        if k == 2:
            x = math.sin(y) * r
            break
        x = y
    return x


def one_value_each(r: float, x: float, n: int) -> float:
    for k in range(n):
        for _ in range(k):
            x = x * x * r
        x = x + math.sin(x)
    return x


def one_value_and_handler(r: float, x: float, n: int) -> float:
    """What raises in the middle of an iteration leaves the loop with the values of that iteration."""
    try:
        for k in range(n):
            x = x * x * r
            x = x / (2 - k)
    except ZeroDivisionError:
        x = x * x
    return x


def two_values(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = math.sin(r * x) * math.cos(x)
    return x


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(function: Callable[..., float], n: int) -> None:
    check_rule(function, 0.6, 0.4, n)


def text(get: Any, function: Callable[..., float]) -> str:
    return str(get((function, float, float, int)))


def test_a_loop_over_a_range_that_saves_nothing_does_nothing() -> None:
    assert "tape" not in text(fwd_ir, linear)
    assert str(primal_ir((linear, float, float, int))).count("call") == text(fwd_ir, linear).count("call") - 1


def test_other_loops_that_save_nothing_count() -> None:
    for function in (linear_while, linear_with_break):
        assert "call operator.add(%tape, 1)" in text(fwd_ir, function), function.__name__
        assert "builtins.range" in text(rvs_ir, function)


def test_values_are_linked_tuples() -> None:
    assert ", %tape)" in text(fwd_ir, two_values)
    assert "operator.is_" in text(rvs_ir, two_values)
