"""``python -m libraries``: functions of packages that never heard of adbc, both modes against differences.

Each call is tried in a process of its own.  With ``--log``, the same command goes on where it was
interrupted; ``--report`` and ``--publish`` also look at what is in the log.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import pathlib
import sys
import warnings
from collections.abc import Sequence

from libraries import report
from libraries.package import Place, places
from libraries.run import LIMIT, Trial, finished, run
from libraries.together import run_package
from libraries.trial import MODES, plain


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m libraries", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="calls with this in field.module.function")
    parser.add_argument("--mode", choices=MODES, help="one mode (both)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (1)")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"CPU seconds of a process ({LIMIT:g})")
    parser.add_argument(
        "--log", type=pathlib.Path, metavar="FILE", help="finished trials, to go on behind them"
    )
    parser.add_argument("--list", action="store_true", help="only list the calls")
    parser.add_argument("--plain", action="store_true", help="only look whether plain calls prove something")
    parser.add_argument(
        "--together",
        action="store_true",
        help="the calls of each package in one process, at other values, too",
    )
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write the report")
    parser.add_argument("--publish", action="store_true", help="write docs/libraries.rst")
    options = parser.parse_args(argv)
    chosen = [place for place in sorted(places()) if options.only in str(place)]
    if not chosen:
        parser.error(f"no call has {options.only!r} in its name")
    if options.list:
        print("\n".join(map(str, chosen)))
        return 0
    if options.plain:
        return plainly(chosen)
    if options.together:
        return together(chosen, options.limit)
    modes = [options.mode] if options.mode else MODES
    trials = [Trial(place, mode) for place in chosen for mode in modes]
    known = finished(options.log)
    todo = [trial for trial in trials if trial.key not in known]
    print(f"{len(todo)} trials of {len(trials)}", flush=True)
    for count, result in enumerate(run(todo, options.jobs, options.log, options.limit), 1):
        known[f"{result['call']} {result['mode']}"] = result
        print(f"{count:4} {report.line(result)}", flush=True)
    results = [known[trial.key] for trial in trials]
    print("\n" + report.text(results))
    if options.report:
        options.report.write_text(report.text(results), encoding="utf-8")
    if options.publish:
        report.publish(results)
    return int(any(result["outcome"] == "wrong" for result in results))


def together(chosen: Sequence[Place], limit: float) -> int:
    """Say what goes wrong where the calls of a package are tried in one process; how much does is returned.

    limit: seconds by the clock for each call.
    """
    count = 0
    for _, group in itertools.groupby(chosen, lambda place: place.module):
        places = [*group]
        for result in run_package(places, limit * len(places)):
            count += 1
            print(f"{report.line(result)}  ({result['when']})", flush=True)
    print(f"{count} derivatives of {len(chosen)} calls went wrong")
    return count


def plainly(chosen: Sequence[Place]) -> int:
    """Say which of the calls fail without adbc, or prove nothing; how many there are is returned."""
    faults = 0
    warnings.simplefilter("ignore")
    for place in chosen:
        try:
            looked_at = plain(importlib.import_module(place.module).package.calls[place.name])
            fault = looked_at.fault("reverse") or looked_at.fault("forward")
        except Exception as error:  # of a package: any
            fault = f"{type(error).__name__}: {error}"
        faults += fault is not None
        if fault:
            print(f"{place}: {fault}", flush=True)
    print(f"{faults} of {len(chosen)} calls prove nothing")
    return faults


if __name__ == "__main__":
    sys.exit(main())
