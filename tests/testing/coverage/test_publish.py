"""The page that says what each function has is that of the tables."""

from __future__ import annotations

import bisect
import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from adbc.testing.coverage.publish import versions, what_it_has

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "functions.rst"


def test_what_functions_have() -> None:
    assert what_it_has("math.sin", math.sin) == "rule"
    assert what_it_has("bisect.bisect", bisect.bisect) == "rule"
    assert what_it_has("numpy.floor", np.floor) == "zero"
    assert what_it_has("math.isclose", math.isclose) == "zero"
    assert what_it_has("math.nextafter", math.nextafter) == "rule"  # of whole numbers it is zero
    assert what_it_has("numpy.hypot.reduce") == "rule"
    assert what_it_has("numpy.float64.sum", np.float64.sum) == "rule"  # of a whole number it is zero
    assert what_it_has("numpy.float64.round", np.float64.round) == "zero"
    assert what_it_has("numpy.random.normal") == "rule"
    assert what_it_has("numpy.random.Generator.gamma") == "rule"
    assert what_it_has("numpy.geomspace", np.geomspace) == "descent"
    assert what_it_has("numpy.ndarray.tobytes", np.ndarray.tobytes) == "refused"
    assert what_it_has("json.dumps", json.dumps) == "refused"


def test_the_page_is_not_stale(tmp_path: pathlib.Path) -> None:
    if versions() not in PAGE.read_text():
        pytest.skip(f"the page is not about {versions()}")
    made = tmp_path / "functions.rst"
    # in a process of its own: tests declare rules
    subprocess.run([sys.executable, "-m", "adbc.testing.coverage", "--publish", made], check=True)
    command = "python -m adbc.testing.coverage --publish docs/functions.rst"
    assert made.read_text() == PAGE.read_text(), f"{command} writes it anew"
