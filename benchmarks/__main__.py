"""``python -m benchmarks``: gradient over plain function for every workload, and what building and importing
cost.

Ratios only mean something within one process on one machine; the columns of other systems are there for
scale.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from collections.abc import Sequence
from typing import Any

import adbc
from benchmarks import measure, others, roundtrips
from benchmarks.workloads import WORKLOADS, Workload

BUILDS = 5


def run(workload: Workload, rounds: int, systems: Sequence[str]) -> dict[str, Any]:
    """Time one workload by every system."""
    function, arguments = workload.function, workload.arguments
    gradient = adbc.value_and_grad(function)
    saved = _copy(arguments)

    def plain() -> Any:
        return function(*saved)

    calls: dict[str, measure.Call] = {"plain": plain, "adbc": lambda: gradient(*arguments)}
    unable = []
    for system in systems:
        call = others.gradient_of(system, workload)
        if call is None:
            unable.append(system)
        else:
            calls[system] = call
    times = measure.medians(calls, rounds)
    return {
        "name": workload.name,
        "plain": times["plain"],
        "ratio": {name: time / times["plain"] for name, time in times.items() if name != "plain"},
        "unable": unable,
        "build": statistics.median(build_time(workload, i, times["adbc"]) for i in range(BUILDS)),
    }


def build_time(workload: Workload, number: int, steady: float) -> float:
    """What a first gradient takes beyond later ones: lifting, inference, building and emitting its rule."""
    gradient = adbc.value_and_grad(measure.fresh_copy(workload.function, number))
    return max(0.0, measure.once(lambda: gradient(*workload.arguments)) - steady)


def _copy(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Plain calls may work in place; gradients put things back."""
    return tuple(x.copy() if hasattr(x, "copy") else x for x in arguments)


def report(results: list[dict[str, Any]], systems: Sequence[str], import_seconds: float) -> None:
    """Print a table."""
    width = max(len(result["name"]) for result in results)
    print(f"Python {platform.python_version()}, times relative to the plain function\n")
    heads = "".join(f"{name:>10}" for name in ["adbc", *systems])
    print(f"{'':{width}}{'plain':>12}{heads}{'build':>12}")
    for result in results:
        ratios = "".join(
            f"{result['ratio'][name]:>9.1f}x" if name in result["ratio"] else f"{'-':>10}"
            for name in ["adbc", *systems]
        )
        plain, build = 1e6 * result["plain"], 1e3 * result["build"]
        print(f"{result['name']:{width}}{plain:>9.1f} us{ratios}{build:>9.1f} ms")
    print(f"\nimport adbc: {import_seconds:.3f} s")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print all numbers as JSON, in seconds")
    parser.add_argument("--rounds", type=int, default=15, help="how often each function has its turn (15)")
    parser.add_argument("--only", default="", metavar="TEXT", help="workloads whose name contains this")
    parser.add_argument("--roundtrip", action="store_true", help="adbc's bytecode of it, undifferentiated")
    parser.add_argument("--alone", action="store_true", help="leave out other systems")
    options = parser.parse_args(argv)

    workloads = [workload for workload in WORKLOADS if options.only.lower() in workload.name.lower()]
    if not workloads:
        parser.error(f"no workload is called {options.only!r}")
    if options.roundtrip:
        found = roundtrips.ratios(workloads, options.rounds)
        if options.json:
            print(json.dumps({"python": platform.python_version(), "workloads": found}, indent=2))
        else:
            roundtrips.report(found)
        return 0
    systems = [] if options.alone else others.installed()
    results = [run(workload, options.rounds, systems) for workload in workloads]
    import_seconds = measure.import_time("adbc")
    if options.json:
        print(
            json.dumps(
                {"python": platform.python_version(), "import": import_seconds, "workloads": results},
                indent=2,
            )
        )
    else:
        report(results, systems, import_seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
