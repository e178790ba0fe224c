"""Modules of the standard library, and of NumPy, still pass their own tests after a round trip.

By default NumPy's part is `numpy.polynomial` and a file each of `numpy.lib` and `numpy.ma`; with
``ADBC_ROUNDTRIP=all`` in the environment it is all of the three packages (``nox -s roundtrip``).
"""

from __future__ import annotations

import importlib.util
import os

import pytest

from tests.programs.replace_and_test import PACKAGES, PROGRAMS
from tests.programs.running import BY_RULE, compare

MODULES = [
    ("statistics", 66),
    ("colorsys", 7),
    ("bisect", 4),
    ("heapq", 15),
    ("fractions", 40),
    ("textwrap", 15),
    ("copy", 10),
    ("string", 19),
    ("difflib", 53),
    ("calendar", 75),
    ("reprlib", 19),
    ("graphlib", 11),
    ("numbers", 56),
    ("random", 37),
    ("pprint", 41),
    ("contextlib", 51),
    ("functools", 77),
    ("collections", 284),
    ("json", 30),
    ("datetime", 185),
    ("decimal", 239),
    ("argparse", 137),
    ("configparser", 89),
    ("ipaddress", 147),
    ("dataclasses", 60),
]
"""Modules, and how many of their functions are replaced at least, on any interpreter."""

NUMPY = [("numpy.polynomial", 200), ("numpy.lib:test_twodim_base", 500), ("numpy.ma:test_extras", 300)]
ALL_OF_NUMPY = [("numpy.polynomial", 200), ("numpy.lib", 500), ("numpy.ma", 300)]
IS_FULL = os.environ.get("ADBC_ROUNDTRIP") == "all"

# Distributions put the tests of the standard library into a package of their own.
PRESENT = [(name, least) for name, least in MODULES if importlib.util.find_spec(PROGRAMS[name][0])]


@pytest.mark.parametrize(("name", "least"), [*PRESENT, *(ALL_OF_NUMPY if IS_FULL else NUMPY)])
def test_module(name: str, least: int) -> None:
    outcome = compare(name)
    assert not outcome.differences
    assert outcome.run > len(outcome.failing_anyway)
    assert len(outcome.replaced) >= least, len(outcome.replaced)
    # What was left out was left out by rule, and not because nobody has thought of it.
    assert set(outcome.refused) <= BY_RULE, outcome.refused


def test_all_modules_are_here() -> None:
    assert [name for name, _ in MODULES] == sorted(PROGRAMS, key=[name for name, _ in MODULES].index)
    assert [name for name, _ in ALL_OF_NUMPY] == list(PACKAGES)
