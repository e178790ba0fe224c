"""Loops over tuples that are vectors: unrolled, left in the middle, of unequal lengths; what they make."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_second_derivative


def slope(s: Any) -> Any:
    return (10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2])


def lorenz(x: float) -> Any:
    state = (x, 1.0, 1.05)
    for _ in range(6):
        state = tuple(a + 0.01 * b for a, b in zip(state, slope(state)))
    return state[0] * state[2]


def by_closures(x: float) -> Any:
    def pendulum(t: Any, y: Any) -> Any:
        angle, speed = y
        return (speed, -x * math.sin(angle) - 0.1 * t * speed)

    def step(f: Any, t: Any, y: Any, h: Any) -> Any:
        k1 = f(t, y)
        k2 = f(t + h / 2, tuple(yi + h / 2 * ki for yi, ki in zip(y, k1)))
        k3 = f(t + h, tuple(yi - h * a + 2 * h * b for yi, a, b in zip(y, k1, k2)))
        return tuple(yi + h / 6 * (a + 4 * b + c) for yi, a, b, c in zip(y, k1, k2, k3))

    y, t = (1, 0), 0
    for _ in range(5):
        y = step(pendulum, t, y, 0.1)
        t += 0.1
    return sum(v * v for v in y)


def with_units(x: float) -> Any:
    unit = tuple(v / math.sqrt(sum(w * w for w in (x, 2.0, x * x))) for v in (x, 2.0, x * x))
    return sum(i * v for i, v in enumerate(unit, 1)) + max(v * x for v in unit)


def of_unequal_lengths(x: float) -> Any:
    total = 0.0
    for a, b in zip((x, x * x, 3.0), (2.0, x)):
        total += a * b
    for a, b in zip((x,), (2.0, x, 1.0)):
        total += a / b
    return total * a


def conditional(x: float) -> Any:
    kept = tuple(v * x for v in (x, -x, 2 * x) if v > 0)
    total = 0.0
    for v in kept:
        if v > 1.5:
            continue
        total += v * v
    return total + len(kept)


def broken_off(x: float) -> Any:
    total = x
    for v in (x, 2 * x, 3 * x, 4 * x):
        total *= v
        if total > 1.0:
            break
    else:
        total = -total
    return total * v


def returned_from(x: float) -> Any:
    for k, v in enumerate((x, 2 * x, 3 * x)):
        if v > 1.0:
            return v**k * x
    return x


def with_handler(x: float) -> Any:
    total = 0.0
    for v in (x, 0.0, 2 * x):
        try:
            total += x / v
        except ZeroDivisionError:
            total += x * x
    return total * x


def nested(x: float) -> Any:
    rows = ((x, 1.0), (2.0, x * x))
    product = tuple(tuple(sum(a * b for a, b in zip(row, column)) for column in zip(*rows)) for row in rows)
    return sum(v for row in product for v in row)


def growing(x: float) -> Any:
    path: tuple[Any, ...] = (x,)
    for k in range(4):
        path = tuple(v * x for v in path) + (x + k,)
    return sum(path)


def of_changing_classes(x: float) -> Any:
    total: Any = 0
    for k in range(4):
        state = (x, k, 1.0) if k % 2 else (1, x * k, x)
        state = tuple(v * (2 if k < 2 else x) for v in state)
        total = total + state[0] * state[1] - state[2]
    return total


def left_in_the_middle(x: float) -> Any:
    table = {1: x, 2: [x, x * x], 3: x * x}
    total, state = 0.0, (1, 1, 3)
    for k in range(4):
        for name in state:
            v = table[name]
            total += v if isinstance(v, float) else v[0] * v[1]
        state = (1, 2, 3) if k > 1 else state
    return total


def of_lists(x: float) -> Any:
    rows = [x, 2.0]
    for number in (0, 1, 2):
        rows.append(rows[number] * x)
    pairs = tuple([v, v * x] for v in (x, 2 * x))
    pairs[0].append(x**3)
    return sum(rows) + pairs[0][2] * pairs[1][0] + len(pairs[1])


PROGRAMS = [
    lorenz, by_closures, with_units, of_unequal_lengths, conditional, broken_off, returned_from, with_handler,
    nested, growing, of_changing_classes, left_in_the_middle, of_lists,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
def test_loops_over_tuples(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(4):
        check_gradient(function, 0.7)


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.usefixtures("at_once")
def test_second_derivatives(function: Callable[[float], Any]) -> None:
    check_second_derivative(function, 0.7, rtol=1e-5, atol=1e-5)


def test_the_form_of_a_state_is_expected_and_may_change() -> None:
    def orbit(x: float, n: int) -> Any:
        state: Any = (x, 1, 0.5)
        for k in range(n):
            state = tuple(v * 0.9 + 0.1 * w for v, w in zip(state, (1, 2, 3)))
            if k == 2:
                state = tuple(state) + (x,)
        return sum(state)

    with adbc.use(adbc.Config(warm_after=0)):
        for n in (2, 5, 2, 5, 5, 1):
            check_gradient(lambda x: orbit(x, n), 0.7)  # noqa: B023  # called at once


def unrolled_by_hand(x: float) -> Any:
    s = (x, 1.0, 1.05)
    for _ in range(100):
        k = slope(s)
        s = (s[0] + 0.01 * k[0], s[1] + 0.01 * k[1], s[2] + 0.01 * k[2])
    return s[0]


def in_expressions(x: float) -> Any:
    s: Any = (x, 1.0, 1.05)
    for _ in range(100):
        s = tuple(a + 0.01 * b for a, b in zip(s, slope(s)))
    return s[0]


def test_a_vector_in_a_tuple_costs_what_its_elements_cost() -> None:
    counts = []
    for function in (unrolled_by_hand, in_expressions):
        gradient = adbc.value_and_grad(function)
        for _ in range(5):
            gradient(0.7)
        counts.append(executed(lambda: gradient(0.7)))  # noqa: B023  # called at once
    assert counts[1] <= 1.2 * counts[0]
