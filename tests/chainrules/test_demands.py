"""The table of demands names tests that exist, and leaves out none of the demands."""

from __future__ import annotations

import ast
import functools
import os
import pathlib
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "demands.rst"
COUNTS = {"C": 19, "F": 24, "R": 30, "X": 19, "M": 8}
"""How many demands each document makes, and how many slips were found."""


def rows() -> dict[str, list[str]]:
    """The cells of each row behind its number."""
    text = PAGE.read_text(encoding="utf-8")
    found = {}
    for number, rest in re.findall(r"^   \* - ([A-Z]\d+)\n((?:     .*\n)+)", text, re.MULTILINE):
        found[number] = [
            " ".join(cell.split()) for cell in re.split(r"^     - ", rest, flags=re.MULTILINE)[1:]
        ]
    return found


ROWS = rows()


@functools.cache
def names_in(path: pathlib.Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_no_demand_is_left_out() -> None:
    assert set(ROWS) == {f"{letter}{i}" for letter, n in COUNTS.items() for i in range(1, n + 1)}


@pytest.mark.parametrize("number", ROWS)
def test_what_is_named_exists(number: str) -> None:
    demand, where, shown = ROWS[number]
    assert demand and where
    found = re.findall(r"``(tests/[\w/.]+)(?:::(\w+))?``", shown)
    assert found, shown
    for path, name in found:
        assert (ROOT / path).exists(), path
        if name:
            assert name in names_in(ROOT / path), f"{path} has no {name}"
    for path in re.findall(r"``((?:adbc|docs|examples|tests)/[\w/.]*)``", where):
        assert (ROOT / path).exists(), path


def test_what_is_named_passes(tmp_path: pathlib.Path) -> None:
    """The quick cases of each test that the table names are run, and there are some of each."""
    shown = " ".join(cells[-1] for cells in ROWS.values())
    names = sorted(set(re.findall(r"``(tests/[^`]+)``", shown)))
    report = tmp_path / "report.xml"
    options = ["-n", "0", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "-o", "junit_family=xunit1"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *names],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "ADBC_TESTS_UNTIL"},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    passed = [case for case in ElementTree.parse(report).iter("testcase") if not len(case)]
    run = {(case.get("file"), str(case.get("name")).partition("[")[0]) for case in passed}
    for name in names:
        path, _, test = name.partition("::")
        assert any(path == file and test in ("", of_file) for file, of_file in run), f"{name} has not run"
