"""How much a forwards pass keeps: bytes per saved number, and the peak of a long loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.saved import million_steps, saved_state
from benchmarks.workload import Workload
from benchmarks.workloads import GROUPS


def one(x: float, r: float, n: int) -> float:
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


def three(x: float, y: float, n: int) -> float:
    z = 0.5
    for _ in range(n):
        x, y, z = x * y * 0.9, y * z * 1.01, z * x + 0.3
    return x + y + z


@pytest.mark.parametrize(("function", "saved"), [(one, 1), (three, 3)])
def test_bytes_per_saved_number(function: Callable[..., float], saved: int) -> None:
    count = 20000
    size, floats = saved_state(function, 0.4, 0.7, count)
    assert size < 100 * saved * count
    assert saved * count <= floats <= saved * count + 10


@pytest.mark.parametrize("workload", GROUPS["typed"], ids=lambda workload: str(workload.name))
def test_bytes_per_saved_number_in_whole_programs(workload: Workload) -> None:
    size, floats = saved_state(workload.function, *workload.arguments)
    assert size < 100 * floats


def test_what_a_pullback_holds_is_counted() -> None:
    def twice(x: float, rows: list[Any]) -> float:
        return x * rows[0][0]

    _, floats = saved_state(twice, 0.5, [[3.0, 4.0]])
    assert floats >= 2


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak")
def test_a_million_iterations() -> None:
    assert 20e6 < million_steps() < 200e6  # it cannot be less than the numbers that are saved
