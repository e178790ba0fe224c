"""Dense Jacobians in batches of tangents, against one tangent and against a batch by hand.

``python -m benchmarks --jacobians`` prints, for each program of n numbers: the time of one JVP, how many
times n of those a batch of n tangents takes, and `adbc.jacfwd`, and the batch against what an engineer would
write for all tangents.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

import adbc
from adbc.runtime import default_engine
from benchmarks import measure
from benchmarks.settle import settle
from benchmarks.workload import Array, Function

__all__ = ["PROGRAMS", "Found", "Program", "found", "report"]


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of n numbers, and perhaps its Jacobian by hand: value and columns, from the identity.

    aim: the share of n single tangents that a batch of them may take.
    """

    name: str
    function: Function
    argument: Any
    aim: float
    hand: Function | None = None


def spread(x: Array) -> Array:
    made: Array = np.sin(x) * np.exp(-x) + np.cumsum(x)
    return made


def spread_by_hand(x: Array, d: Array) -> tuple[Array, Array]:
    e, s = np.exp(-x), np.sin(x)
    return s * e + np.cumsum(x), d * (np.cos(x) * e - s * e) + np.cumsum(d, axis=1)


_WEIGHTS = np.random.default_rng(0).normal(size=(32, 32)) / 6.0


def network(x: Array) -> Array:
    h = np.tanh(_WEIGHTS @ x)
    h = np.tanh(_WEIGHTS @ h + x)
    made: Array = _WEIGHTS @ h
    return made


def rosenbrock(x: Any) -> float:
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def _points(n: int) -> Array:
    return np.linspace(0.1, 2.0, n).copy()  # in memory of its own


PROGRAMS = [
    Program("sine, exponential, sums; 20", spread, _points(20), 0.25, spread_by_hand),
    Program("sine, exponential, sums; 32", spread, _points(32), 0.25, spread_by_hand),
    Program("network, 32", network, _points(32), 0.25),
    Program("Rosenbrock, list of 32", rosenbrock, _points(32).tolist(), 0.5),
    Program("Rosenbrock, elements of an array of 32", rosenbrock, _points(32), 0.5),
]


@dataclasses.dataclass(frozen=True)
class Found:
    """Of one program: seconds of one JVP; a batch of n and the Jacobian in times n JVPs; the batch in times
    what was written by hand, if that was."""

    single: float
    batch: float
    jacobian: float
    to_hand: float | None


def found(program: Program, rounds: int) -> Found:
    """Time one program."""
    f, x = program.function, program.argument
    n = len(x)
    units = np.eye(n)
    is_array = isinstance(x, np.ndarray)
    one = units[n // 2].copy() if is_array else units[n // 2].tolist()
    batch = units if is_array else [column.copy() for column in units]
    jacobian_of = adbc.jacfwd(f, chunk_size=n)
    calls: dict[str, measure.Call] = {
        "single": lambda: adbc.jvp(f, (x,), (one,)),
        "batch": lambda: adbc.jvp(f, (x,), (batch,), width=n),
        "jacobian": lambda: jacobian_of(x),
    }
    if program.hand is not None:
        by_hand = program.hand
        calls["hand"] = lambda: by_hand(x, units)
        np.testing.assert_allclose(calls["batch"]()[1], calls["hand"]()[1], rtol=1e-12, atol=1e-14)
    settle(calls["single"])
    for call in (calls["batch"], calls["jacobian"]):
        settle(call, default_engine().batched)
    single, ratios = measure.ratios(calls, rounds, "single")
    hand = ratios.get("hand")
    to_hand = None if hand is None else ratios["batch"] / hand
    return Found(single, ratios["batch"] / n, ratios["jacobian"] / n, to_hand)


def report(programs: Sequence[Program], rounds: int) -> None:
    """Print a table."""
    width = max(len(program.name) for program in programs) + 2
    print(f"{'':{width}}{'JVP':>10}{'batch':>10}{'aim':>10}{'jacfwd':>10}{'to hand':>10}")
    for program in programs:
        r = found(program, rounds)
        hand = "" if r.to_hand is None else f"{r.to_hand:.1f}"
        print(
            f"{program.name:{width}}{1e6 * r.single:>7.1f} us{r.batch:>8.3f} n{program.aim:>8.2f} n"
            f"{r.jacobian:>8.3f} n{hand:>10}"
        )
