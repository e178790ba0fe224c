"""What ``python -m pytest`` leaves out is what was measured to take long, and every folder keeps tests."""

from __future__ import annotations

import ast
import collections
import fnmatch
import time
from pathlib import Path

import pytest

from tests import selection
from tests.selection import Recorder, place_of, quick_cases, slow_among

ROOT = Path(__file__).parent.parent
DURATIONS = {"a.py::test_b": (10, 20.0), "a.py::test_c": (2, 9.0), "a.py::test_d": (3, 4.0)}


def functions() -> dict[Path, set[str]]:
    """The tests of each file, without their cases; a file of graphs is one."""
    found = {path: {str(path.relative_to(ROOT))} for path in ROOT.glob("tests/**/*.ir")}
    for path in ROOT.glob("tests/**/test_*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        found[path] = {
            f"{path.relative_to(ROOT).as_posix()}::{node.name}"
            for node in body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        }
    return found


def test_of_long_tests_as_many_cases_are_quick_as_fit() -> None:
    assert quick_cases(DURATIONS, "a.py::test_b") == 1
    assert quick_cases(DURATIONS, "a.py::test_c") == 0
    assert quick_cases(DURATIONS, "a.py::test_new") == float("inf")
    assert quick_cases(selection.read(), "tests/test_layout.py::test_imports_point_one_way") == float("inf")
    names = [
        f"a.py::test_{x}[{k}]"
        for x, count in (("b", 10), ("c", 2), ("d", 3), ("new", 50))
        for k in range(count)
    ]
    slow = slow_among([(name, name) for name in names], DURATIONS)
    left = collections.Counter(selection.function_of(name) for name in set(names) - set(slow))
    assert left == {"a.py::test_b": 1, "a.py::test_d": 1, "a.py::test_new": 50}


def test_tests_with_a_budget_of_their_own() -> None:
    name, budget = next(iter(selection.BUDGETS.items()))
    assert quick_cases({name: (10, 10 * budget / 4.5)}, name) == 4
    assert quick_cases({name: (10, 20 * budget)}, name) == 1


@pytest.mark.parametrize("quick", [1, 2, 3, 7])
def test_quick_cases_are_spread_over_all(quick: int) -> None:
    names = [f"t[{k}]" for k in range(7)]
    slow = slow_among(
        [(name, k) for k, name in enumerate(names)], {"t": (7, 7 * selection.BUDGET / (quick + 0.1))}
    )
    kept = sorted(set(range(7)) - set(slow))
    assert len(kept) == quick and kept[0] == 0
    assert max(b - a for a, b in zip(kept, [*kept[1:], 7], strict=True)) <= -(-7 // quick)


def test_what_takes_long_in_all_is_written_down(tmp_path: Path) -> None:
    recorder = Recorder()
    for k in range(4):
        recorder.add(f"a.py::test_b[{k}]", 0.25)  # set-up
        recorder.add(f"a.py::test_b[{k}]", 1.0)
    recorder.add("a.py::test_quick", selection.BUDGET)
    recorder.write(tmp_path / "durations.json")
    assert (tmp_path / "durations.json").read_text() == '{\n  "a.py::test_b": [4, 5.0]\n}\n'


def test_what_was_measured_is_still_there() -> None:
    known = set().union(*functions().values())
    assert set(selection.read()) <= known


def test_every_folder_keeps_tests() -> None:
    durations = selection.read()
    quick: collections.Counter[Path] = collections.Counter()
    for path, names in functions().items():
        quick[path.parent] += sum(quick_cases(durations, name) > 0 for name in names)
    assert quick and not [folder for folder, count in quick.items() if not count]


def test_no_folder_of_tests_is_left_out(pytestconfig: pytest.Config) -> None:
    """Some names of folders are passed over by pytest itself."""
    folders = {part for path in functions() for part in path.relative_to(ROOT).parts[:-1]}
    assert "build" in folders
    patterns = pytestconfig.getini("norecursedirs")
    assert not [f for f in folders for pattern in patterns if fnmatch.fnmatch(f, pattern)]


def test_nothing_begins_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADBC_TESTS_UNTIL", raising=False)
    assert not selection.time_is_up()
    monkeypatch.setenv("ADBC_TESTS_UNTIL", "")
    assert not selection.time_is_up()
    monkeypatch.setenv("ADBC_TESTS_UNTIL", str(time.time() + 100))
    assert not selection.time_is_up()
    monkeypatch.setenv("ADBC_TESTS_UNTIL", str(time.time() - 1))
    assert selection.time_is_up()


def test_each_order_keeps_the_tests_of_a_file_together_and_is_another() -> None:
    names = [f"tests/{file}.py::test_{case}" for file in "abcdefgh" for case in range(3)]
    orders = ("first", "second", "third")
    found = [sorted(names, key=lambda name: place_of(name, order)) for order in orders]
    for order in found:
        assert sorted(order) == names
        assert [name[-1] for name in order] == list("012") * 8
    assert len(set(map(tuple, found))) == 3
