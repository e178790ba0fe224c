"""Which tests are left out of ``python -m pytest``, so that it takes a few minutes: the marker ``slow``.

``durations.json`` has the tests that take long in all, with the number of their cases and the seconds that
these took.  Of each of them so many cases are quick as fit into `BUDGET` seconds, spread over all of its
cases; at least one, unless a single one takes longer than `LONGEST`.  The others are slow.  So what is left
out is decided by what was measured, every folder keeps tests, and what is new is run until somebody measures
again.  Tests of the source itself (`ALWAYS`) are all quick: each case is about another part of it::

    python -m pytest -m "" -n 2 --record-durations

``-m ""`` runs all tests, ``-m slow`` those that ``python -m pytest`` leaves out.  With
``ADBC_TESTS_BUDGET=2`` fewer are left out.

Where there is only so much time, ``ADBC_TESTS_UNTIL`` says when the last test may begin, in seconds of
`time.time`: the others are skipped, and counted as such.  ``ADBC_TESTS_ORDER``, any text, then says in which
order files are run, so that it is not always the same tests that there is no time for.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

__all__ = [
    "ALWAYS",
    "BUDGET",
    "BUDGETS",
    "LONGEST",
    "PATH",
    "Recorder",
    "function_of",
    "place_of",
    "quick_cases",
    "read",
    "slow_among",
    "time_is_up",
]

Test = TypeVar("Test")

PATH = Path(__file__).parent / "durations.json"
BUDGET = float(os.environ.get("ADBC_TESTS_BUDGET") or 0.5)
"""Seconds that all quick cases of one test may take."""
LONGEST = 2.5
"""Seconds that one case may take and be quick."""

ALWAYS = ("tests/test_layout.py", "tests/test_module_state.py")
"""Files of which no case is left out."""

BUDGETS = {
    "tests/properties/test_nested_functions.py::test_all_ways_to_nest_the_modes_agree": 28.0,
    "tests/properties/test_nested_functions.py::test_all_ways_agree_in_code": 14.0,
}
"""Tests that may take longer: random functions, each of which asks something that no other test does."""

Durations = dict[str, tuple[int, float]]
"""The name of a test without the case -> number of cases, seconds of all of them."""


def read() -> Durations:
    """What ``durations.json`` says."""
    return {name: (count, seconds) for name, (count, seconds) in json.loads(PATH.read_text()).items()}


def time_is_up() -> bool:
    """Whether no further test may begin."""
    return time.time() > float(os.environ.get("ADBC_TESTS_UNTIL") or "inf")


def function_of(name: str) -> str:
    """The name of a test without the case: ``tests/a.py::test_b`` of ``tests/a.py::test_b[c]``."""
    return name.partition("[")[0]


def place_of(name: str, order: str) -> str:
    """What to sort tests by to have files in the order that the text `order` stands for; those of a file stay
    together, and as they are."""
    file = name.partition("::")[0]
    return hashlib.sha256(f"{order} {file}".encode()).hexdigest()


def quick_cases(durations: Durations, function: str) -> float:
    """How many cases of a test are quick; infinity if it has not been found to be long."""
    if function not in durations or function.startswith(ALWAYS):
        return float("inf")
    count, seconds = durations[function]
    each = seconds / count
    if function in BUDGETS:
        return max(int(BUDGETS[function] / each), 1)
    return max(int(BUDGET / each), 1) if each <= LONGEST else 0


def slow_among(tests: Sequence[tuple[str, Test]], durations: Durations) -> list[Test]:
    """Those of the tests, given with their names, that are slow."""
    groups: dict[str, list[Test]] = {}
    for name, test in tests:
        groups.setdefault(function_of(name), []).append(test)
    slow: list[Test] = []
    for function, cases in groups.items():
        quick, count = quick_cases(durations, function), len(cases)
        if quick < count:
            # The first of every so many: neighbours are often variants of one thing.
            kept = {-(-k * count // int(quick)) for k in range(int(quick))}
            slow += [case for k, case in enumerate(cases) if k not in kept]
    return slow


class Recorder:
    """Adds up how long tests take, and writes those down that `slow_among` has to know."""

    def __init__(self) -> None:
        self.seconds: collections.Counter[str] = collections.Counter()
        self.cases: dict[str, set[str]] = {}

    def add(self, name: str, seconds: float) -> None:
        """A part of the test `name`, its set-up or itself, took so long."""
        function = function_of(name)
        self.seconds[function] += seconds
        self.cases.setdefault(function, set()).add(name)

    def lines(self) -> Iterable[str]:
        """One line per test that takes longer than `BUDGET`, in the order of their names."""
        for function in sorted(self.cases):
            if self.seconds[function] > BUDGET:
                count, seconds = len(self.cases[function]), round(self.seconds[function], 1)
                yield f"  {json.dumps(function)}: [{count}, {seconds}]"

    def write(self, path: Path = PATH) -> None:
        path.write_text("{\n" + ",\n".join(self.lines()) + "\n}\n", encoding="utf-8")
