"""Modules of the standard library still pass their own regression tests after a round trip."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


MODULES = [
    ("statistics", 40),
    ("colorsys", 7),
    ("bisect", 4),
    ("heapq", 12),
    ("fractions", 25),
    ("textwrap", 10),
    ("copy", 7),
]
"""Modules, and how many of their functions are replaced at least."""

# Distributions put the tests of the standard library into a package of their own.
PRESENT = [(name, least) for name, least in MODULES if importlib.util.find_spec(f"test.test_{name}")]


@pytest.mark.parametrize(("name", "least"), PRESENT)
def test_module(name: str, least: int) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "tests.programs.replace_and_test", name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stderr[-4000:]
    report = json.loads(finished.stdout.splitlines()[-1])
    assert report["run"] > 0
    assert len(report["replaced"]) >= least, report
    # Every function that was not replaced was refused in words.
    assert all(reason for reason in report["refused"])
