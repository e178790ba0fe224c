"""What a forwards pass keeps for its pullback."""

from __future__ import annotations

import gc
import pathlib
import subprocess
import sys
import tracemalloc
import types
from collections.abc import Callable
from typing import Any

import adbc
from benchmarks.settle import settle

__all__ = ["million_steps", "saved_state"]


def saved_state(function: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    """How many bytes are held between the forwards pass and the pullback, and how many floats those hold."""
    settle(lambda: adbc.vjp(function, *arguments)[1](1.0))  # the pullback restores arguments
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        _, pullback = adbc.vjp(function, *arguments)
        size = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    count = count_floats(pullback)
    pullback(1.0)
    return size, count


def count_floats(root: Any) -> int:
    """How many different floats can be reached from a pullback, through what it has closed over."""
    seen: dict[int, Any] = {}
    waiting = [root]
    floats = 0
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, float):
            floats += 1
        elif isinstance(value, tuple | list):
            waiting += value
        elif isinstance(value, types.FunctionType):
            waiting += value.__closure__ or ()
        elif isinstance(value, types.CellType):
            waiting += gc.get_referents(value)  # nothing, if the cell is empty
        elif isinstance(value, types.MethodType):
            waiting += (value.__self__, value.__func__)
        elif type(value).__module__.startswith("adbc.runtime.entry") and hasattr(value, "__dict__"):
            waiting += vars(value).values()
    return floats


ROOT = pathlib.Path(__file__).parents[1]

MILLION = """
import adbc
from benchmarks.workloads.scalar import logistic_map
def peak():  # not of getrusage, where a process inherits that of its parent
    with open("/proc/self/status") as file:
        return int(next(line.split()[1] for line in file if line.startswith("VmHWM")))
gradient = adbc.value_and_grad(logistic_map)
gradient(3.1, 0.4, 10)
before = peak()
gradient(3.1, 0.4, 1_000_000)
print(peak() - before)
"""


def million_steps() -> int:
    """By how many bytes a process grows for the gradient of a million steps of the logistic map (Linux)."""
    run = subprocess.run(
        [sys.executable, "-c", MILLION], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return 1024 * int(run.stdout)
