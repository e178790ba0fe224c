"""Running `replace_and_test` in a process of its own, and comparing with the module as it is."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from adbc.cpython.refusals import CONSTRUCTS

__all__ = ["BY_RULE", "Outcome", "compare", "run"]

ROOT = pathlib.Path(__file__).parents[2]

BY_RULE = frozenset(CONSTRUCTS[construct].words for construct in ("async", "eval", "locals", "frame"))
"""The reasons for which a function may be left as it is."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one module.

    run: number of tests.  replaced: names of functions.  refused: reason -> names of functions.
    differences: tests that fail after the replacement and pass without it.
    failing_anyway: tests that fail without it as well.
    """

    run: int
    replaced: list[str]
    refused: dict[str, list[str]]
    differences: list[str]
    failing_anyway: list[str]


def run(name: str, *, plain: bool = False, interpreter: str = sys.executable, timeout: float = 900) -> Any:
    """The report of `replace_and_test` for a module."""
    options = [interpreter, "-m", "tests.programs.replace_and_test", name, *(["--plain"] if plain else [])]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory() as folder:  # some tests make files of fixed names where they run
        finished = subprocess.run(
            options,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
    lines = finished.stdout.splitlines()
    if not lines or not lines[-1].startswith("{"):
        raise RuntimeError(f"{' '.join(options)} came to no end:\n{finished.stderr[-4000:]}")
    return json.loads(lines[-1])


def compare(name: str, *, always: bool = False, interpreter: str = sys.executable) -> Outcome:
    """Run a module's tests after the replacement, and without it if a test fails (or `always`)."""
    found = run(name, interpreter=interpreter)
    failed = set(found["failed"])
    plain = run(name, plain=True, interpreter=interpreter) if failed or always else found
    if plain["run"] != found["run"]:
        failed.add(f"{plain['run']} tests became {found['run']}")
    anyway = set(plain["failed"])
    return Outcome(
        found["run"],
        found["replaced"],
        found["refused"],
        sorted(failed - anyway) if plain is not found else [],
        sorted(anyway),
    )
