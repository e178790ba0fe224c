"""Modules of the standard library still pass their own regression tests after a round trip."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

from tests.programs.replace_and_test import PROGRAMS

ROOT = pathlib.Path(__file__).parents[2]


MODULES = [
    ("statistics", 45),
    ("colorsys", 6),
    ("bisect", 3),
    ("heapq", 10),
    ("fractions", 45),
    ("textwrap", 10),
    ("copy", 9),
    ("string", 15),
    ("difflib", 27),
    ("calendar", 49),
    ("reprlib", 14),
    ("graphlib", 9),
    ("numbers", 45),
    ("random", 31),
    ("pprint", 36),
    ("contextlib", 40),
    ("functools", 40),
    ("collections", 225),
    ("json", 18),
    ("datetime", 216),
    ("decimal", 207),
    ("argparse", 108),
    ("configparser", 72),
    ("ipaddress", 108),
    ("dataclasses", 36),
]
"""Modules, and how many of their functions are replaced at least."""

# Distributions put the tests of the standard library into a package of their own.
PRESENT = [(name, least) for name, least in MODULES if importlib.util.find_spec(PROGRAMS[name][0])]


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
