"""Formulas as records: what builders know of a formula stands beside it, and what it reads is found out."""

from __future__ import annotations

from typing import Any

import numpy as np

import adbc
from adbc.config import Config
from adbc.rules import SOURCES
from adbc.rules.lookup import RuleTable
from adbc.rules.numpy.elementwise import elementwise
from adbc.rules.table import Rule
from adbc.runtime import make_engine, using


def gradient_with(row: Rule, f: Any, x: Any) -> Any:
    table = RuleTable(SOURCES)
    table.add([row], first=True)
    with using(make_engine(table, Config())):
        return adbc.grad(f)(x)


def total_square(v: Any) -> Any:
    return np.sum(np.square(v))


def test_a_formula_may_read_its_parameters_in_a_comprehension() -> None:
    def slope(out: Any, x: Any) -> Any:
        return sum([x * k for k in (2.0,)])

    found = gradient_with(elementwise(np.square, slope), total_square, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [2.0, 4.0, 6.0])


def test_a_formula_may_read_its_parameters_in_a_function_inside() -> None:
    def slope(out: Any, x: Any) -> Any:
        def twice() -> Any:
            return x * 2.0

        return twice()

    found = gradient_with(elementwise(np.square, slope), total_square, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [2.0, 4.0, 6.0])


def test_a_singular_slope_is_not_multiplied_by_builders() -> None:
    def slope(out: Any, x: Any) -> Any:
        return 1.0 / x

    def f(v: Any) -> Any:
        return np.sum(np.where(v > 0.0, np.log(v), 0.0))

    with np.errstate(all="ignore"):
        found = gradient_with(elementwise(np.log, slope, singular=True), f, np.array([0.0, 2.0]))
    np.testing.assert_array_equal(found, [0.0, 0.5])
