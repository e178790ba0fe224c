"""How much a forwards pass keeps: bytes per saved number, and the peak of a long loop."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import pytest

import adbc

ROOT = pathlib.Path(__file__).parents[2]


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
    adbc.vjp(function, 0.4, 0.7, 10)  # builds the rule
    tracemalloc.start()
    _, pullback = adbc.vjp(function, 0.4, 0.7, count)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 100 * saved * count
    assert pullback(1.0)


PEAK = """
import resource
import adbc
from tests.reverse.test_memory import one
gradient = adbc.value_and_grad(one, (0, 1))
gradient(0.4, 3.1, 10)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
gradient(0.4, 3.1, 1_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_a_million_iterations() -> None:
    run = [sys.executable, "-c", PEAK]
    finished = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(finished.stdout) < 200_000
