"""Numbers that are appended to lists, written inline."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule


def collects(values: list[float], x: float) -> float:
    out = []
    for v in values:
        out.append(v * x)
        if v > 1.5:
            values.append(x)  # the loop goes on with it
        if len(values) > 6:
            break
    rows = []
    for i in range(3):
        row = []
        for j in range(2):
            row.append(out[i] * j + x)  # noqa: PERF401  # it is about append
        rows.append(row)
    out.append(1.0)
    values.append(2.0)
    return sum(out) * rows[1][1] + sum([q * q for r in rows for q in r]) + values[-1]


def after_an_exception(x: float, values: list[Any]) -> Any:
    try:
        values.append(x)
        values.append(x * x)
        raise ValueError
    except ValueError:
        values.append(x**3)
    return values[0] + 2.0 * values[1] + 3.0 * values[2]


def replaced_afterwards(x: float) -> Any:
    values: list[Any] = []
    values.append(x)
    values[0] = [x * x]
    values.append(x)
    values.reverse()
    return values[0] * values[1][0]


def appends(x: float, values: list[float]) -> float:
    values.append(x * x)
    return values[-1]


def appends_a_constant(x: float, values: list[float]) -> float:
    values.append(1.5)
    return x * values[-1]


def test_appended_numbers_are_differentiated_rightly() -> None:
    for _ in range(3):  # what was learnt changes the code
        check_rule(collects, [1.0, 2.0, 3.0], 0.7)
        check_rule(after_an_exception, 2.0, [])
        check_rule(replaced_afterwards, 1.3)
        check_rule(appends_a_constant, 2.0, [1.0])


@pytest.mark.usefixtures("at_once")
def test_it_is_written_inline() -> None:
    default_engine().clear()
    for _ in range(3):
        adbc.grad(collects, (0, 1))([1.0, 2.0, 3.0], 0.7)
    (rule,) = [r for r in default_engine().rules.values() if r.code is collects.__code__ and r.is_built]
    text = str(rule.graphs[0])
    assert text.count("append_item") == 6
    assert text.count("_append_forwards") == 1  # the list of lists


def test_constant_lists() -> None:
    with pytest.raises(ConstWriteError, match="constant list"):
        adbc.grad(appends)(2.0, adbc.Const([1.0]))
    with pytest.raises(ConstWriteError, match="constant list"):
        adbc.jvp(appends, (2.0, adbc.Const([1.0])), (1.0, None))
    held = [1.0]
    assert adbc.grad(appends_a_constant)(2.0, adbc.Const(held)) == 1.5
    assert held == [1.0]
