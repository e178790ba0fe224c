"""Timing: interleaved, so that a machine that slows down slows down everything alike; medians, in seconds.

What is measured is the time of processors that this process uses, of all its threads: other programs then
only disturb by what they do to caches and clocks.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Call", "fastest", "import_time", "keep_memory", "once", "ratios"]

SHORTEST = 2e-3
"""Calls are repeated until one measurement takes this long."""

Call = Callable[[], Any]


def once(call: Call) -> float:
    """The time of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def ratios(calls: Mapping[str, Call], rounds: int, to: str) -> tuple[float, dict[str, float]]:
    """The median time of the call named `to`, and of each other the median of its ratios to that, round by
    round."""
    times = _times(calls, rounds)
    own = times.pop(to)
    quotients = {
        name: statistics.median(t / s for t, s in zip(found, own, strict=True))
        for name, found in times.items()
    }
    return statistics.median(own), quotients


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
                for _ in range(min(5, repeats[name] // 4)):  # caches are full of what belongs to others
                    call()
                start = time.process_time()
                for _ in loop:
                    call()
                times[name].append((time.process_time() - start) / repeats[name])
            gc.collect()
    finally:
        if gc_was_on:
            gc.enable()
    return times


def keep_memory() -> None:
    """Have the allocator of the C library keep memory that is freed.

    At first it gives it back to the system again and again, and each page of an array that is asked for
    next costs an interrupt: gradients of arrays of some 10000 numbers may take three times as long, or not,
    as chance has it.  It learns otherwise when a large block is freed, as in any program with large arrays.
    """
    block = bytearray(1 << 24)
    del block


def import_time(module: str, rounds: int = 5) -> float:
    """The median time that a fresh interpreter takes to import `module`, compiled as an installed one is."""
    code = f"import time; start = time.process_time(); import {module}; print(time.process_time() - start)"
    with tempfile.TemporaryDirectory() as compiled:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = compiled

        def once() -> float:
            run = subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
            )
            return float(run.stdout)

        once()  # compiles
        return statistics.median(once() for _ in range(rounds))
