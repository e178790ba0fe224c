"""Tests that come with NumPy, as programs: none of their derivatives is wrong, and none raises by itself.

``nox -s packages`` runs many more modules, and prints what is refused, wrong and fails.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

MODULES = {
    "numpy.lib.tests.test_index_tricks": 60,
    "numpy.lib.tests.test_shape_base": 65,
    "numpy.lib.tests.test_type_check": 45,
    "numpy._core.tests.test_item_selection": 12,
}
"""Modules, and how many of their tests are right at least."""

IS_KNOWN = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
"""Whether the tests of this version of NumPy have been looked at."""


def found(name: str) -> bool:
    """Whether the tests are there: some distributions leave them out."""
    return IS_KNOWN and importlib.util.find_spec(name) is not None


@pytest.mark.parametrize("name", [name for name in MODULES if found(name)])
def test_module(name: str) -> None:
    command = [sys.executable, "-m", "tests.programs.library_tests", name, "--constants"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    assert (report["wrong"], report["failed"]) == (0, 0), finished.stdout
    assert report["right"] >= MODULES[name]
