"""``python -m benchmarks``: gradients over plain functions for every workload, beside the same by hand and by
other systems.

Ratios only mean something within one process on one machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks import (
    building,
    instructions,
    jacobians,
    machine,
    measure,
    native,
    ordinary_programs,
    others,
    products,
    publish,
    roundtrips,
    table,
    typed,
)
from benchmarks.run import run
from benchmarks.saved import million_steps
from benchmarks.workload import Workload
from benchmarks.workloads import GROUPS


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        choices=["run", "build", "ordinary", "functions"],
        default="run",
        help="run: gradients over plain functions; build: what the first derivative costs over compile();"
        " ordinary: the programs of benchmarks/ordinary/, in two styles each;"
        " functions: each that HIPS autograd has a derivative of, beside it",
    )
    parser.add_argument("--publish", action="store_true", help="write docs/measured and docs/benchmarks.rst")
    parser.add_argument(
        "--render", action="store_true", help="only draw and tabulate what is in docs/measured"
    )
    parser.add_argument("--json", metavar="FILE", help="write all numbers, in seconds and bytes")
    parser.add_argument("--rounds", type=int, default=9, help="how often each function has its turn (9)")
    parser.add_argument("--only", default="", metavar="TEXT", help="workloads whose name or group has this")
    parser.add_argument("--roundtrip", action="store_true", help="adbc's bytecode of it, undifferentiated")
    parser.add_argument(
        "--instructions",
        action="store_true",
        help="instructions that are executed, beside the published counts; fails if one is higher",
    )
    parser.add_argument("--typed", action="store_true", help="the share of typed values in derived graphs")
    parser.add_argument(
        "--jacobians", action="store_true", help="dense Jacobians in batches of tangents, against one tangent"
    )
    parser.add_argument(
        "--hvp", action="store_true", help="Hessian-vector products over gradients, for every workload"
    )
    parser.add_argument(
        "--solvers", action="store_true", help="SciPy's solvers with derivatives, and by differences"
    )
    parser.add_argument(
        "--backend",
        choices=["bytecode", "native"],
        default="bytecode",
        help="native: gradients as machine code, beside bytecode, and why others are not native",
    )
    parser.add_argument("--alone", action="store_true", help="leave out other systems")
    options = parser.parse_args(argv)
    if options.what == "build":
        building.report(only=options.only)
        return 0
    if options.what == "ordinary":
        rows = ordinary_programs.report(options.only, options.rounds)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=1)
        return 0

    if options.what == "functions":
        from benchmarks import functions  # which need SciPy

        chosen = functions.selected(options.only)
        if not chosen:
            parser.error(f"no function is called {options.only!r}")
        functions.report(chosen, options.rounds)
        return 0

    if options.solvers:
        from benchmarks import solvers  # which need SciPy

        solvers.report([s for s in solvers.SOLVERS if options.only in s.name])
        return 0
    if options.jacobians:
        jacobians.report([p for p in jacobians.PROGRAMS if options.only in p.name], options.rounds)
        return 0
    groups = {
        group: [w for w in workloads if options.only.lower() in f"{group} {w.name}".lower()]
        for group, workloads in GROUPS.items()
    }
    groups = {group: workloads for group, workloads in groups.items() if workloads}
    if not groups:
        parser.error(f"no workload is called {options.only!r}")
    if options.hvp:
        products.report([w for workloads in groups.values() for w in workloads], options.rounds)
        return 0
    if options.backend == "native":
        native.report([w for workloads in groups.values() for w in workloads], options.rounds)
        return 0
    if options.render:
        publish.render()
        return 0
    if options.publish and importlib.util.find_spec("matplotlib") is None:
        parser.error(
            "the picture needs matplotlib: use --json docs/measured/X.Y.json, and --render elsewhere"
        )
    if options.publish and options.only:
        parser.error("what is published is complete: leave out --only")
    if options.roundtrip:
        found = roundtrips.ratios([w for workloads in groups.values() for w in workloads], options.rounds)
        roundtrips.report(found)
        return 0
    if options.instructions:
        flat = [w for workloads in groups.values() for w in workloads]
        return min(1, instructions.report(flat, publish=options.publish))
    if options.typed:
        typed.report([w for workloads in groups.values() for w in workloads])
        return 0
    results = measured(groups, options.rounds, [] if options.alone else others.installed())
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    if options.publish:
        publish.publish(results)
    return 0


def measured(groups: dict[str, list[Workload]], rounds: int, systems: list[str]) -> dict[str, Any]:
    """All numbers; the table is printed as they come."""
    results: dict[str, Any] = {
        "machine": machine.describe(systems), "systems": systems, "rounds": rounds, "groups": {}
    }  # fmt: skip
    measure.keep_memory()
    print("\n".join(table.heading(results)), flush=True)
    for group, workloads in groups.items():
        print(f"\n{table.heads(group, systems)}", flush=True)
        results["groups"][group] = []
        for workload in workloads:
            result = run(workload, rounds, systems)
            results["groups"][group].append(result)
            print(table.row(result, systems), flush=True)
    results["import"] = measure.import_time("adbc")
    if sys.platform == "linux" and "typed" in groups:
        results["million steps"] = million_steps()
    print("\n" + "\n".join(table.summary(results)))
    return results


if __name__ == "__main__":
    sys.exit(main())
