"""Measuring one workload: everything in one process, in turns, as ratios to the plain function."""

from __future__ import annotations

import gc
import statistics
import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np

import adbc
from adbc.runtime import default_engine
from adbc.testing.values import leaves
from benchmarks import measure, others
from benchmarks.saved import saved_state
from benchmarks.settle import MOST, QUIET, settle
from benchmarks.workload import Array, Workload, duplicate, numbers
from benchmarks.workloads.tangents import TANGENTS

__all__ = ["calls_of", "run"]

BUILDS = 3


def run(workload: Workload, rounds: int, systems: Sequence[str]) -> dict[str, Any]:
    """Time one workload by every system, in seconds; what it takes to build, and memory in bytes."""
    calls = calls_of(workload)
    settle(calls["gradient"])
    settle(calls["jvp"])
    for system in systems:
        call = others.gradient_of(system, workload)
        if call is not None:
            check(system, call(), calls["gradient"]()[1])
            calls[system] = call
    plain, ratios = measure.ratios(calls, rounds, "plain")
    memory = {name: peak_memory(calls[name]) for name in ("plain", "gradient", "hand")}
    size, count = saved_state(workload.function, *workload.arguments)
    built = [build_time(calls["gradient"], plain * ratios["gradient"]) for _ in range(BUILDS)]
    return {
        "name": workload.name,
        "plain": plain,
        "ratio": ratios,
        "build": statistics.median(total for _, total, _ in built),
        "first build": statistics.median(first for first, _, _ in built),
        "builds": statistics.median(count for _, _, count in built),
        "memory": memory,
        "saved": {"bytes": size, "floats": count},
    }


def calls_of(workload: Workload) -> dict[str, measure.Call]:
    """What is timed of everything but other systems."""
    function, adjoint, arguments = workload.function, workload.adjoint, workload.arguments
    gradient = adbc.value_and_grad(function, workload.argnums)
    # Plain calls and forward mode may work in place; gradients put things back.
    own, moved = duplicate(arguments), duplicate(arguments)
    directions = tuple(ones(x) if i in numbers(workload.argnums) else None for i, x in enumerate(arguments))
    calls: dict[str, measure.Call] = {
        "plain": lambda: function(*own),
        "gradient": lambda: gradient(*arguments),
        "jvp": lambda: adbc.jvp(function, moved, directions),
        "hand": lambda: adjoint(*arguments),
    }
    tangent = TANGENTS.get(workload.function)
    if tangent is not None:
        pushed, along = duplicate(arguments), duplicate(directions)
        calls["tangent"] = lambda: tangent(pushed, along)
    return calls


def ones(x: Any) -> Any:
    """A direction to differentiate `x` in."""
    if isinstance(x, list):
        return [ones(part) for part in x]
    return np.ones(x.shape) if isinstance(x, np.ndarray) else 1.0


def check(system: str, theirs: list[Any], ours: Any) -> None:
    """Raise AssertionError if a gradient is another one than ours: then something else would be timed."""
    expected, found = flat(ours), flat([np.asarray(part) for part in theirs])
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * scale, err_msg=system)


def flat(x: Any) -> Array:
    """All numbers of a gradient."""
    return np.concatenate([np.ravel(np.asarray(value)) for _, value in leaves(x)])


def build_time(gradient: measure.Call, steady: float) -> tuple[float, float, int]:
    """What gradients take beyond `steady` when nothing is known at first: lifting, inference, building and
    emitting, for the first one and for all until no more is built; and how many rules were built.

    Everything that was derived is forgotten.
    """
    engine = default_engine()
    engine.clear()
    before = engine.builds
    first = measure.once(gradient) - steady
    total, quiet = first, 0
    for _ in range(MOST):
        builds = engine.builds
        time = measure.once(gradient)
        quiet = quiet + 1 if engine.builds == builds else 0
        if quiet == 0:
            total += time - steady
        if quiet == QUIET:
            break
    return max(0.0, first), max(0.0, total), engine.builds - before


def peak_memory(call: measure.Call) -> int:
    """How many bytes a call holds at most, beyond what there was before."""
    call()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
