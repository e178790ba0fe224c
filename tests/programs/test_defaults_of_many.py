"""Functions with defaults, several with one code each: ``[lambda v, k=k: v * k for k in row]``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.functions import default_of
from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative

STEPS = [0.1 * k for k in range(1, 9)]


def numbers(x: float) -> float:
    scales = [lambda v, k=k: v * k for k in (x, x * x, 2.0)]
    total = 1.0
    for step in STEPS:
        for scale in scales:
            total = scale(total) * 0.9 + step
    return total


def places(x: float) -> float:
    row = [x, x * x, 0.5]
    parts = [lambda v, k=k, n=k + 1: v * row[k] + n for k in range(3)]
    return sum(part(step) for step in STEPS for part in parts)


def some_given(x: float) -> float:
    """One of two defaults, none and both, by position and by name."""
    waves = [lambda v, a=a, b=b: a * math.sin(v * b) for a, b in ((x, 2.0), (0.5, x))]
    total = 0.0
    for step in STEPS:
        for wave in waves:
            total += wave(step) + wave(step, 0.3) * wave(step, 0.3, x) + wave(step, b=x)
    return total


def memory(x: float) -> Any:
    """Lists, arrays and None: what a list collects is read again."""

    def gatherer(weight: float) -> Callable[[float], Any]:
        row = np.array([weight, x])

        def gather(v: float, kept: Any = [], weights: Any = row, other: Any = None) -> Any:  # noqa: B006
            kept.append(v * x)
            return weights[len(kept) % 2] * kept[0] + (0.0 if other is None else other)

        return gather

    gatherers, total = [gatherer(1.0), gatherer(x)], 0.0
    for step in STEPS:
        for gather in gatherers:
            total += gather(step)
    return total


def of_several_classes(x: float) -> Any:
    powers = [lambda v, n=n: v**n for n in (2, x, np.float64(3.0), 1)]
    return sum(power(x + step) for step in STEPS for power in powers)


def handed_on(x: float) -> float:
    def bind(k: float) -> Callable[..., float]:
        def inner(v: float, scale: float = k) -> float:
            return v * scale

        return inner

    table = {"a": bind(x), "b": bind(x * x)}
    total = 0.0
    for step in STEPS:
        for name in "aba":
            total = table[name](total) + step
    return total


PROGRAMS: list[Callable[[float], Any]] = [
    numbers, places, some_given, memory, of_several_classes, handed_on,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], Any], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8):
        check_gradient(program, at)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], Any]) -> None:
    check_once_warm(program)


@pytest.mark.parametrize("program", [numbers, handed_on])
def test_second_derivatives(program: Callable[[float], Any]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("other", [3, np.float64(1.5), None, [2.0]])
def test_a_default_of_another_class_once_warm(other: Any) -> None:
    def total(x: float, last: Any) -> Any:
        def value(v: float, k: Any) -> Any:
            if k is None:
                return v
            return v * k[0] if isinstance(k, list) else v * k

        scales = [lambda v, k=k: value(v, k) for k in (x, last)]
        return sum(scale(step) for step in STEPS for scale in scales)

    gradient = adbc.value_and_grad(total)
    for i in range(60):
        gradient(0.6 + 0.005 * i, 2.0)
    check_gradient(total, 0.8, other)


def test_what_is_left_of_defaults() -> None:
    def f(a: float, b: float = 2.0) -> float:
        return a * b

    assert default_of(f, -1) == 2.0
    assert type(default_of(f, -2)) is type(default_of(lambda: 0, -1)) is not float
