"""How many instructions the dual function executes per instruction of the function: exact, where times are
noisy.  The bounds are what was measured on CPython 3.11 to 3.15, rounded up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from benchmarks.instructions import executed
from tests.emit.test_instruction_counts import inner, logistic, oscillator, smooth, waves


def slope(x: float, y: float, k: float) -> tuple[float, float]:
    while k > 10.0:  # with a loop it is not written into its callers
        k *= 0.5
    return k * (y - x), x / y - x * y


def by_tuples(x: float, k: float, n: int) -> float:
    y = 1.0
    for _ in range(n):
        a, b = slope(x, y, k)
        x, y = x + 0.01 * a, y + 0.01 * b
    return x * y


def elements(x: Any) -> float:
    total = 0.0
    for i in range(1, len(x)):
        x[i] = x[i] + 0.5 * x[i - 1]
        total += x[i] * x[i]
    return total


def formulas(x: Any, n: int) -> Any:
    for _ in range(n):
        x = np.sin(x * 0.5 + x * x) - x
    return np.sum(x)


PROGRAMS: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]], float]] = [
    (logistic, lambda n: (3.1, 0.4, n), 2.7),
    (waves, lambda n: (1.1, 0.4, n), 2.5),
    (inner, lambda n: ([0.5] * n, [0.25] * n), 2.6),
    (smooth, lambda n: ([0.1 * i for i in range(n)],), 2.0),
    (oscillator, lambda n: (2.0, 0.01, n), 1.5),
    (by_tuples, lambda n: (0.3, 2.0, n), 2.9),
    # Numbers of arrays are taken for floats: more instructions, of which those that compute are quick.
    (elements, lambda n: (np.linspace(0.0, 1.0, n),), 3.4),
    # Each product of a derivative and an array is looked at, by a function of twenty instructions.
    (formulas, lambda n: (np.ones(3), n), 6.8),
]


def direction(x: Any) -> Any:
    if type(x) is list:
        return [1.0] * len(x)
    return np.ones(x.shape) if isinstance(x, np.ndarray) else 1.0 if type(x) is float else None


def per_iteration(function: Callable[..., Any], arguments: Callable[[int], tuple[Any, ...]]) -> float:
    """Instructions of the dual function per one of the function, in the steady state of its loop."""

    def counts(n: int) -> tuple[int, int]:
        xs = arguments(n)
        ds = tuple(map(direction, xs))
        return executed(lambda: function(*arguments(n))), executed(lambda: adbc.jvp(function, xs, ds))

    for _ in range(4):  # what was learnt is used from then on
        counts(5)
    few, many = counts(20), counts(60)
    plain, dual = (b - a for a, b in zip(few, many, strict=True))
    return dual / plain


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("function", "arguments", "bound"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_no_more_instructions_per_iteration_than_were_measured(
    function: Callable[..., Any], arguments: Callable[[int], tuple[Any, ...]], bound: float
) -> None:
    found = per_iteration(function, arguments)
    assert found <= bound, found
