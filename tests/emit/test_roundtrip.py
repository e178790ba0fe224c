"""The lifter's corpus, lifted and emitted, does what the originals do."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from tests.emit.checking import checked_roundtrip
from tests.lift.judge import run_function
from tests.lift.raising import CASES

FUNCTIONS = list(dict.fromkeys(function for function, _ in CASES))


def lines(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[tuple[str, int | None]]:
    """Function names and lines of the traceback of a call; empty if nothing is raised."""
    try:
        function(*arguments)
    except BaseException as error:  # any exception is an outcome to compare
        return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)[1:]]
    return []


def full_positions(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    try:
        function(*arguments)
    except BaseException as error:  # any exception is an outcome to compare
        found = traceback.extract_tb(error.__traceback__)[1:2]
        return [(f.lineno, f.end_lineno, f.colno, f.end_colno) for f in found]
    return []


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_corpus(function: Any, normal: bool) -> None:
    copy = checked_roundtrip(function, normal=normal)
    for candidate, arguments in CASES:
        if candidate is function:
            assert run_function(copy, arguments) == run_function(function, arguments)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_tracebacks(function: Any) -> None:
    copy = checked_roundtrip(function)
    for candidate, arguments in CASES:
        if candidate is function:
            assert lines(copy, arguments) == lines(function, arguments)
            assert full_positions(copy, arguments) == full_positions(function, arguments)
