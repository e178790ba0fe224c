"""The calls of SciPy's functions are of modules that are listed, and a sample of them can be made."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from adbc.testing.coverage.cases import Case
from adbc.testing.coverage.tables.scipy import CALLS, MODULES, SKIPPED

pytest.importorskip("scipy")


def test_calls_are_of_modules_that_are_listed() -> None:
    assert all(entry.startswith(MODULES) for entry in [*CALLS, *SKIPPED])
    assert all(CALLS.values())


@pytest.mark.parametrize("name", ["linalg", "special", "sparse", "signal", "stats"])
def test_a_sample_can_be_called(name: str) -> None:
    importlib.import_module(f"scipy.{name}")
    entries = sorted(entry for entry in CALLS if entry.rpartition(".")[0] == f"scipy.{name}")
    with np.errstate(all="ignore"):
        for entry in entries[:: len(entries) // 3]:
            case = Case(entry, CALLS[entry][0], "float")
            case.function()(*case.values())
