"""What only decides where the program goes is not differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule


def kepler(eccentricity: float, anomaly: float) -> float:
    angle = anomaly
    step = 1.0
    while abs(step) > 1e-12:
        step = (angle - eccentricity * math.sin(angle) - anomaly) / (1.0 - eccentricity * math.cos(angle))
        angle -= step
    return angle


def decided_by_elements(u: Any, x: float) -> Any:
    total = 0.0
    for i in range(len(u)):
        distance = u[i] * u[i] - x
        if distance * distance > 0.5:
            total += u[i] * x
    return total


def decided_and_used(x: float, y: float) -> float:
    a = x * y
    if a > 0.2:
        y = a * a
    return y * x


def decided_through_phis(x: float, n: int) -> float:
    size = 0.0
    total = 0.0
    for i in range(n):
        size = size * 0.5 + abs(x) * i
        if size < 1.4:
            total += math.sin(x * i)
    return total


def raised_with_it(x: float) -> float:
    size = x * x
    try:
        if size > 0.1:
            raise ArithmeticError(size)
    except ArithmeticError as error:
        return error.args[0] * x
    return x


def kept_elsewhere(x: float, out: list[float]) -> float:
    size = x * x
    if size > 0.1:
        out.append(size)
    return out[-1]


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (kepler, (0.3, 0.8)),
    (decided_by_elements, (np.array([0.3, 1.7, 0.9, 2.0]), 0.8)),
    (decided_by_elements, ([0.3, 1.7, 0.9, 2.0], 0.8)),
    (decided_and_used, (0.7, 0.9)),
    (decided_through_phis, (0.6, 6)),
    (raised_with_it, (0.8,)),
    (kept_elsewhere, (0.8, [])),
]


@pytest.mark.parametrize(("program", "arguments"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_what_only_decides_does_not_change_derivatives(
    program: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    for _ in range(2):
        check_rule(program, *arguments)


def test_nothing_is_saved_for_it() -> None:
    default_engine().clear()
    adbc.grad(kepler)(0.3, 0.8)
    (rule,) = [r for r in default_engine().rules.values() if r.code is kepler.__code__]
    pullback = str(rule.graphs[1])
    assert "abs" not in pullback and "mul(0.0" not in pullback and ", 0.0)" not in pullback
    default_engine().clear()
    adbc.jvp(kepler, (0.3, 0.8), (1.0, 0.0))
    (rule,) = [r for r in default_engine().rules.values() if r.code is kepler.__code__]
    primal = str(default_engine().primal(kepler))
    assert str(rule.graphs[0]).count("builtins.abs, ") == primal.count("builtins.abs, ") > 0
