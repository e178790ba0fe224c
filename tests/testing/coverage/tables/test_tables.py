"""The tables of calls: every text is one that can be compiled, of a name that there is."""

from __future__ import annotations

import importlib
import sys

import pytest

from adbc.testing.coverage.tables import CALLS, SKIPPED
from adbc.testing.coverage.values import names_in


@pytest.mark.parametrize("entry", CALLS)
def test_calls_can_be_compiled(entry: str) -> None:
    for text in CALLS[entry]:
        compile(text, entry, "eval")
        last = entry.rsplit(".", 1)[-1]
        assert last.startswith("__") or last in text or names_in(text), text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="names come and go with versions")
def test_names_that_are_left_out_say_why() -> None:
    assert all(SKIPPED.values())
    assert not SKIPPED.keys() & CALLS.keys() - {"numpy.random.bytes"}


def test_modules_of_calls_are_there() -> None:
    for module in {entry.split(".")[0] for entry in CALLS}:
        importlib.import_module(module)
