"""Rules that are made wrong on purpose are found to be, and are right again afterwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules import default_table
from adbc.rules.scipy import SOURCES
from adbc.testing.coverage import Case
from adbc.testing.coverage.met import HOME, HOMES, Met, inner_rows, met_in_calls
from adbc.testing.coverage.mutations import (
    Mutation,
    _by_status,
    _word,
    mutations_of,
    name_of,
    replaced,
    survey_of_inner_rows,
    survives,
)
from adbc.testing.coverage.tables import CALLS
from adbc.testing.coverage.tables.survivors import SURVIVORS


def _cases(entry: str, text: str) -> Sequence[Case]:
    return [
        Case(entry, text, kind)
        for kind in ("float", "float64", "1-d")
        if kind == "float" or "math" not in entry
    ]


@pytest.mark.parametrize(
    ("entry", "function", "text", "count"),
    [
        ("math.atan2", math.atan2, "math.atan2(x, y)", 6),
        ("numpy.hypot", np.hypot, "np.hypot(x, y)", 6),
        ("numpy.sum", np.sum, "np.sum(x)", 3),
        ("math.frexp", math.frexp, "math.frexp(x)", 2),
        ("numpy.linalg.slogdet", np.linalg.slogdet, "np.linalg.slogdet(A)", 2),
        ("numpy.linalg.lstsq", np.linalg.lstsq, "np.linalg.lstsq(C, v[:4])[0]", 2),
        ("numpy.copyto", np.copyto, "np.copyto(u, v)", 2),
    ],
)
def test_wrong_rules_are_found(entry: str, function: Any, text: str, count: int) -> None:
    mutations = list(mutations_of(entry, function))
    assert len({mutation.name for mutation in mutations}) == len(mutations) >= count
    cases = _cases(entry, text)
    for mutation in mutations[:count]:
        assert not survives(mutation, cases, 20), mutation.name
    assert survives(Mutation(entry, mutations[0].row, "nothing", {}), cases, 20)  # as it was before


def test_each_call_of_a_function_is_judged() -> None:
    texts = {case.text for case in _by_status("math.hypot", math.hypot, 20)["right"]}
    assert texts >= set(CALLS["math.hypot"])  # a row for each number of arguments
    assert len(texts) >= 9


def test_what_is_not_put_back_is_found() -> None:
    (mutation,) = [m for m in mutations_of("numpy.put", np.put) if "not restored" in m.what]
    assert not survives(mutation, [Case("numpy.put", "np.put(v, [0, 2], u[:2])", "plain")], 20)


def test_a_refusal_that_is_dropped_is_found() -> None:
    special = pytest.importorskip("scipy.special")
    entry = "scipy.special.eval_jacobi"
    mutation = next(mutations_of(entry, special.eval_jacobi))
    assert mutation.what.endswith("argument 0: dropped")  # for it has no other sign
    right = [Case(entry, f"{entry}(2, 0.4, 0.7, x)", "float")]
    refused = [Case(entry, f"{entry}(2 + 0.0 * w, 0.4, 0.7, x)", "float")]
    assert survives(mutation, right, 20)
    assert not survives(mutation, [], 20, refused)
    assert survives(Mutation(entry, mutation.row, "nothing", {}), [], 20, refused)
    assert _word(mutation, {"right": right}, 20) == "found"  # such calls are made of those that are right


@pytest.mark.parametrize(
    ("entry", "function", "text"),
    [
        ("numpy.ndarray.flat", np.ndarray.flat, "v.flat[1:3]"),
        ("numpy.float64.copy", np.generic.copy, "np.array([(u[0], v[0])], dtype='d,d')[0].copy()['f0']"),
    ],
)
def test_iterators_and_records_get_the_other_sign(entry: str, function: Any, text: str) -> None:
    signs = [m for m in mutations_of(entry, function) if "row 0" in m.what and "sign" in m.what]
    assert len(signs) == 2
    for mutation in signs:
        assert not survives(mutation, [Case(entry, text, "plain")], 20), mutation.name


@pytest.mark.parametrize("entry", ["numpy.bitwise_and.outer", "numpy.arctan2.reduce"])
def test_calls_of_constants_are_no_calls_that_find_a_mutation(entry: str) -> None:
    home, _, method = entry.rpartition(".")
    ufunc = getattr(np, home.removeprefix("numpy."))
    texts = {case.text for cases in _by_status(entry, ufunc, 20).values() for case in cases}
    assert not any(text.startswith(f"np.{ufunc.__name__}.{method}(np.array(") for text in texts)


def test_a_row_is_wrong_in_a_block() -> None:
    def sine(x: float) -> float:
        return math.sin(x)

    known = list(default_table().rows(math.sin))
    wrong = next(m for m in mutations_of("math.sin", math.sin) if "other sign" in m.what)
    with replaced(wrong):
        assert adbc.grad(sine)(0.3) == -math.cos(0.3)
    assert adbc.grad(sine)(0.3) == math.cos(0.3)
    assert default_table().rows(math.sin) == known


def test_survivors_have_reasons() -> None:
    assert all(SURVIVORS.values())


def test_rows_without_a_public_name_are_found_in_calls_and_are_made_wrong() -> None:
    stats = pytest.importorskip("scipy.stats")
    text = "scipy.stats.gamma.logsf(0.9 * v, 2.0 + u[1], 0.1 * u[0], 1.0 + v[1])"
    case = Case("scipy.stats.gamma", text, "plain")
    (row,) = [
        row
        for row in inner_rows("scipy.stats")
        if row.function is stats.rv_continuous.logsf and name_of(row) == "scipy.stats.gamma.logsf"
    ]
    words = [word for _, word in survey_of_inner_rows(Met({}, {row: [case]}), 20)]
    assert words == ["found"] * 12  # the place, the shape, the location and the scale
    unmoved = Case(case.entry, "scipy.stats.gamma.logsf(0.9 * v, 2.0)", "plain")
    words = [word for _, word in survey_of_inner_rows(Met({}, {row: [unmoved]}), 20)]
    assert words == ["found"] * 3 + ["survives"] * 9
    words = [word for _, word in survey_of_inner_rows(Met({}, {row: []}), 20)]
    assert words == ["untried"] * 12


def test_rows_that_calls_meet_are_known() -> None:
    stats = pytest.importorskip("scipy.stats")
    found = met_in_calls("scipy.stats", "stats.chi2", 20).rows
    met = {name_of(row) for row, cases in found.items() if cases}
    assert met >= {"scipy.stats.chi2.pdf", "scipy.stats.chi2.cdf"}
    assert not any(name.startswith("scipy.stats.gamma") for name in met)
    assert all(row.function is not stats.norm for row in found)


def test_each_module_of_rules_of_scipy_is_looked_through() -> None:
    looked_through = {name for names in HOMES.values() for name in names.split()}
    assert {module.removeprefix(HOME) for _, module in SOURCES} <= looked_through
