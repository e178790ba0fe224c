"""Timing: interleaved, so that a machine that slows down slows down everything alike; medians, in seconds."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["fastest", "fresh_copy", "import_time", "medians", "once"]

SHORTEST = 2e-3
"""Calls are repeated until one measurement takes this long."""

Call = Callable[[], Any]


def once(call: Call) -> float:
    """The time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def medians(calls: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """The median time of each call, over rounds in which each has its turn."""
    return {name: statistics.median(found) for name, found in _times(calls, rounds).items()}


def fastest(calls: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """The shortest time of each call: what it costs when nothing else wants the processor."""
    return {name: min(found) for name, found in _times(calls, rounds).items()}


def _times(calls: Mapping[str, Call], rounds: int) -> dict[str, list[float]]:
    repeats = {}
    for name, call in calls.items():
        call()  # builds what is built once
        repeats[name] = max(1, round(SHORTEST / max(once(call), 1e-9)))
    times: dict[str, list[float]] = {name: [] for name in calls}
    gc_was_on = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                loop = range(repeats[name])
                start = time.perf_counter()
                for _ in loop:
                    call()
                times[name].append((time.perf_counter() - start) / repeats[name])
            gc.collect()
    finally:
        if gc_was_on:
            gc.enable()
    return times


def fresh_copy(function: Callable[..., Any], number: int) -> Callable[..., Any]:
    """A function with the same code, which no cache keyed by code has seen."""
    assert isinstance(function, types.FunctionType)
    code = function.__code__.replace(co_firstlineno=function.__code__.co_firstlineno + 10_000 * (number + 1))
    return types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__)


def import_time(module: str, rounds: int = 5) -> float:
    """The median time that a fresh interpreter takes to import `module`."""
    code = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
        for _ in range(rounds)
    ]
    return statistics.median(times)
