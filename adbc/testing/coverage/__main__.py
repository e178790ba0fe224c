"""``python -m adbc.testing.coverage MODULE...``"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
from collections.abc import Iterator

from adbc.testing.coverage.bodies import BodyMutation, survey_of_bodies
from adbc.testing.coverage.entries import entries_of
from adbc.testing.coverage.judge import LIMIT
from adbc.testing.coverage.met import met_in_calls
from adbc.testing.coverage.mutations import (
    Mutation,
    mutated_entries,
    survey_of_inner_rows,
    survey_of_mutations,
)
from adbc.testing.coverage.publish import page
from adbc.testing.coverage.report import Group, as_json, table, to_look_at
from adbc.testing.coverage.survey import survey, work

WORDS = ("found", "survives", "listed", "refused", "untried")
"""What becomes of mutations."""


def _mutate(modules: list[str], only: str, limit: int) -> int:
    """Show which mutations of rules survive, and how many there are; 1 if one survives that is not listed, or
    if there is no call for one.  How far it has come is told beside, on the other stream: of how many rows,
    behind which come the rows and the functions in Python that are met in calls."""
    counts: dict[str, dict[str, int]] = {}
    start = time.monotonic()
    for module in modules:
        words = counts.setdefault(module, dict.fromkeys(WORDS, 0))
        total = sum(len(mutations) for _, _, mutations in mutated_entries(module, only))
        last = ""
        for number, (mutation, word) in enumerate(_surveyed(module, only, limit), 1):
            words[word] += 1
            if word in ("survives", "untried"):
                print(f"{word}: {mutation.name}", flush=True)
            if mutation.entry != last or number == total:
                seconds = time.monotonic() - start
                print(f"[{number} of {total}, {seconds:.0f} s] {mutation.entry}", file=sys.stderr, flush=True)
            last = mutation.entry
    for module, words in counts.items():
        print(f"{module}: {sum(words.values())} mutations, {', '.join(f'{n} {w}' for w, n in words.items())}")
    return int(any(words["survives"] + words["untried"] for words in counts.values()))


def _surveyed(module: str, only: str, limit: int) -> Iterator[tuple[Mutation | BodyMutation, str]]:
    yield from survey_of_mutations(module, only, limit)
    met = met_in_calls(module, only, limit)
    yield from survey_of_inner_rows(met, limit)
    yield from survey_of_bodies(met, limit)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m adbc.testing.coverage", description=__doc__)
    parser.add_argument("modules", nargs="*", help="modules: numpy, math, scipy.special, ...")
    parser.add_argument("--only", default="", help="only public names that contain this text")
    parser.add_argument("--show", default="wrong,error,unclear", help="the statuses whose calls are shown")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds that one call may take")
    parser.add_argument("--primary", action="store_true", help="only the calls that a function is judged by")
    parser.add_argument("--json", metavar="FILE", help="write all verdicts, for programs")
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--publish", metavar="FILE", help="write the page of what each function has")
    parser.add_argument(
        "--mutate", action="store_true", help="make rules wrong, and look whether it is found"
    )
    options = parser.parse_args()
    if options.mutate:
        raise SystemExit(_mutate(options.modules, options.only, options.limit))
    if options.publish:
        pathlib.Path(options.publish).write_text(page())
        return
    if options.worker:
        work(options.modules[0], options.only, options.skip, options.limit, primary=options.primary)
        return
    groups = []
    for module in options.modules:
        verdicts = survey(module, options.only, options.limit, primary=options.primary)
        for name, entries in entries_of(module).items():
            chosen = [entry for entry in entries if options.only in entry]
            if chosen:
                groups.append(Group.of(name, chosen, [v for v in verdicts if v.case.entry in chosen]))
    if options.json:
        pathlib.Path(options.json).write_text(as_json(groups))
    print(table(groups))
    print(to_look_at(groups, options.show.split(",")))


if __name__ == "__main__":
    main()
