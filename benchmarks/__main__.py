"""``python -m benchmarks``: gradients over plain functions for every workload, beside the same by hand and by
other systems.

Ratios only mean something within one process on one machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from benchmarks import machine, others, roundtrips, table
from benchmarks.run import run
from benchmarks.workloads import GROUPS


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write all numbers, in seconds and bytes")
    parser.add_argument("--rounds", type=int, default=15, help="how often each function has its turn (15)")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="workloads whose name or group contains this"
    )
    parser.add_argument("--roundtrip", action="store_true", help="adbc's bytecode of it, undifferentiated")
    parser.add_argument("--alone", action="store_true", help="leave out other systems")
    options = parser.parse_args(argv)

    groups = {
        group: [w for w in workloads if options.only.lower() in f"{group} {w.name}".lower()]
        for group, workloads in GROUPS.items()
    }
    groups = {group: workloads for group, workloads in groups.items() if workloads}
    if not groups:
        parser.error(f"no workload is called {options.only!r}")
    if options.roundtrip:
        found = roundtrips.ratios([w for workloads in groups.values() for w in workloads], options.rounds)
        roundtrips.report(found)
        return 0
    systems = [] if options.alone else others.installed()
    results = {"machine": machine.describe(systems), "groups": {}}
    print("\n".join(table.heading(results["machine"])), flush=True)
    for group, workloads in groups.items():
        print(f"\n{table.heads(group, systems)}", flush=True)
        results["groups"][group] = []
        for workload in workloads:
            result = run(workload, options.rounds, systems)
            results["groups"][group].append(result)
            print(table.row(result, systems), flush=True)
    print("\n" + "\n".join(table.summary(results)))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
