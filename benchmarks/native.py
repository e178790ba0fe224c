"""Gradients as machine code, as ratios to the plain function, beside those of bytecode.

``python -m benchmarks --backend native`` prints them, and the first reason why a workload is not native.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import adbc
from adbc.config import Config
from adbc.errors import NativeError
from benchmarks import measure
from benchmarks.settle import settle
from benchmarks.workload import Workload, duplicate

__all__ = ["Native", "native", "report"]


@dataclasses.dataclass(frozen=True)
class Native:
    """Of one workload: the time of the plain function, and the gradients over that; or why there is no native
    one."""

    plain: float = 0.0
    bytecode: float = 0.0
    native: float = 0.0
    why: str = ""


def native(workload: Workload, rounds: int) -> Native:
    """Time the gradient of `workload` by both backends."""
    function, arguments = workload.function, workload.arguments
    bytecode = adbc.value_and_grad(function, workload.argnums)
    machine = adbc.value_and_grad(function, workload.argnums)
    own = duplicate(arguments)
    with adbc.use(Config(backend="native")):
        try:
            found = machine(*arguments)
        except NativeError as error:
            return Native(why=str(error.why))
    settle(lambda: bytecode(*arguments))
    assert found == bytecode(*arguments), workload.name

    def by_machine() -> None:
        with adbc.use(Config(backend="native")):
            for _ in range(_CALLS):
                machine(*arguments)

    calls: dict[str, measure.Call] = {
        "plain": lambda: function(*own), "gradient": lambda: bytecode(*arguments), "native": by_machine
    }  # fmt: skip
    plain, ratios = measure.ratios(calls, rounds, "plain")
    return Native(plain, ratios["gradient"], ratios["native"] / _CALLS)


_CALLS = 10
"""How often a gradient is called in each turn: to choose a configuration takes time too."""


def report(workloads: Sequence[Workload], rounds: int) -> None:
    """Print a table."""
    width = max(len(w.name) for w in workloads) + 2
    print(f"{'':{width}}{'plain, us':>12}{'bytecode':>10}{'native':>10}")
    count = 0
    for workload in workloads:
        found = native(workload, rounds)
        if found.why:
            print(f"{workload.name:{width}}{found.why.partition(';')[0]:.100}", flush=True)
            continue
        count += 1
        numbers = f"{1e6 * found.plain:>12.1f}{found.bytecode:>10.2f}{found.native:>10.3f}"
        print(f"{workload.name:{width}}{numbers}", flush=True)
    print(f"native: {count} of {len(workloads)}")
