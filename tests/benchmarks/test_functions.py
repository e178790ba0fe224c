"""What is timed beside HIPS autograd is the same function, and all that it has a derivative of is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("autograd")

import autograd.core

from benchmarks import functions
from benchmarks.function_rows import DIFFERENT, ROWS, UNMEASURED, Row
from benchmarks.functions import Found

ALL = {row.name: row for rows in ROWS.values() for row in rows}
assert len(ALL) == sum(map(len, ROWS.values()))
SLOW = {"integrate.odeint", "stats.t.logcdf"}
"""Some ten times as slow as all the others together."""


class Watched(dict[Any, Any]):
    """A table of derivatives that remembers which it was asked for."""

    def __init__(self, table: dict[Any, Any]) -> None:
        super().__init__(table)
        self.asked: set[Any] = set()

    def __getitem__(self, function: Any) -> Any:
        self.asked.add(function)
        return super().__getitem__(function)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    functions.theirs(ALL["np.add"])  # imports all that registers derivatives
    table = Watched(autograd.core.primitive_vjps)
    monkeypatch.setattr(autograd.core, "primitive_vjps", table)
    yield table


@pytest.mark.filterwarnings("ignore")
def test_each_function_with_a_derivative_is_measured_or_listed(watched: Watched) -> None:
    for row in ALL.values():
        autograd.grad(functions.theirs(row))(*row.arguments)
    missing = {f for f in watched if f not in watched.asked}
    assert {f.__name__ for f in missing} <= UNMEASURED.keys()
    assert UNMEASURED.keys() <= {f.__name__ for f in watched}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in ALL if name not in SLOW])
def test_the_gradients_are_the_same(name: str) -> None:
    assert functions.differences(ALL[name]) == (["gradient"] if name in DIFFERENT else [])


def test_a_disagreement_is_found_and_shown() -> None:
    row = Row("np.other", lambda x: np.sum(x) if type(x) is np.ndarray else 2 * np.sum(x), (np.ones(3),))
    assert functions.differences(row) == ["gradient"]
    line = functions._line(Found("np.other", 1e-6, 3e-6, 2e-6, ["gradient"]), 20)
    assert line.endswith("behind  another gradient: nobody knows why")
    assert "3.00" in line
    assert "1.50" in line


def test_the_last_line_counts_those_that_are_ahead() -> None:
    rows = [Found("a", 1e-6, 2e-6, 4e-6), Found("b", 1e-6, 2e-6, 1e-6, ["value"])]
    assert functions._summary(rows) == [
        "adbc / autograd, geometric mean 1.00; 1 of 2 with another value or gradient",
        "ahead on 1 of 2, 50%; to be 95%",
    ]


def test_rows_are_selected_by_group_or_name() -> None:
    assert [row.name for rows in functions.selected("special.erfc").values() for row in rows] == [
        "special.erfc",
        "special.erfcinv",
    ]
    assert functions.selected("scipy.special") == {"scipy.special": ROWS["scipy.special"]}
    assert not functions.selected("no such function")


@pytest.mark.parametrize("k", functions.CHAINS)
def test_a_chain_holds_an_array_for_each_function_and_three_more(k: int) -> None:
    assert functions.arrays_of_a_chain(k) <= k + 3
