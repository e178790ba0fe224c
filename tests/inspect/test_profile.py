"""`profile`: time and memory by lines."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.errors import ArgumentError, MissingRuleError


def by_offset(f: Callable[..., Any], found: adbc.inspect.Profile) -> dict[int, adbc.inspect.Line]:
    """The lines of `f`, counted from its first."""
    first = f.__code__.co_firstlineno
    return {line.line - first: line for line in found.lines if line.filename == __file__}


def slow_and_quick(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = math.sin(y) * x
    return y + x


def test_the_loop_has_the_time() -> None:
    found = adbc.inspect.profile(slow_and_quick, 0.5, 2000)
    lines = by_offset(slow_and_quick, found)
    assert lines[3].runs == 2000
    assert lines[4].runs == 1
    assert lines[3].forwards > 10 * lines[4].forwards > 0.0
    assert lines[3].pullback > lines[4].pullback
    assert lines[3].source == "y = math.sin(y) * x"
    total = sum(line.forwards + line.pullback for line in found.lines) + found.outside
    assert total == pytest.approx(found.forwards + found.pullback, rel=1e-6)


def test_saved_bytes_are_those_of_the_records() -> None:
    """Two floats for each iteration, and their places in a list."""
    count = 5000
    found = adbc.inspect.profile(slow_and_quick, 0.5, count)
    saved = sum(line.saved for line in by_offset(slow_and_quick, found).values())
    record = 2 * (sys.getsizeof(1.0) + 8)
    assert 0.8 * record * count < saved < 1.4 * record * count
    shorter = adbc.inspect.profile(slow_and_quick, 0.5, count // 10)
    assert sum(line.saved for line in shorter.lines) < saved / 5


def half(x: float) -> float:
    return 0.5 * x


def calls_another(x: float) -> float:
    y = 0.0
    for _ in range(500):
        y = y + half(x)
    return y


def test_functions_that_are_called_have_lines_of_their_own() -> None:
    found = adbc.inspect.profile(calls_another, 2.0)
    assert by_offset(half, found)[1].runs == 500
    assert by_offset(calls_another, found)[3].runs == 500


def keep(x: Any) -> Any:
    y = x * 2.0
    y = np.sin(y)
    return np.sum(y)


def test_arrays_count_with_their_data() -> None:
    found = adbc.inspect.profile(keep, np.ones(100_000))
    lines = by_offset(keep, found)
    assert sum(line.saved for line in lines.values()) >= 800_000
    assert lines[2].forwards > 0.0


def raises_within(x: float) -> float:
    try:
        half(math.sqrt(x - 5.0))
    except ValueError:
        x = half(x)
    return x * x


def test_exceptions_leave_the_lines_they_left() -> None:
    found = adbc.inspect.profile(raises_within, 2.0)
    lines = by_offset(raises_within, found)
    assert {2, 4, 5} <= set(lines)
    assert lines[5].runs == 1


def test_what_it_leaves_behind() -> None:
    tracer, xs = sys.gettrace(), [1.0, 2.0]

    def change(xs: list[float]) -> float:
        xs[0] = xs[1] * 3.0
        return xs[0]

    adbc.inspect.profile(change, xs, repeat=2)
    assert xs == [1.0, 2.0]
    assert sys.gettrace() is tracer
    if sys.version_info >= (3, 12):
        assert sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) is None
    assert adbc.grad(change)(xs) == [0.0, 3.0]


def test_table() -> None:
    text = str(adbc.inspect.profile(slow_and_quick, 0.5, 100))
    assert __file__ in text
    assert "y = math.sin(y) * x" in text
    assert "one gradient" in text


def test_keywords_and_values_that_are_not_numbers() -> None:
    assert adbc.inspect.profile(slow_and_quick, 0.5, n=3, repeat=1).lines
    assert adbc.inspect.profile(lambda x: (x * x, x), 2.0, repeat=1).lines


def test_no_repetition_and_missing_rules_are_refused() -> None:
    with pytest.raises(ArgumentError, match="repeat"):
        adbc.inspect.profile(half, 2.0, repeat=0)
    with pytest.raises(MissingRuleError):
        adbc.inspect.profile(lambda x: struct.pack("d", x), 2.0)
