"""Tangents of lists that are known to be there, and those that are not: the same derivatives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

Matrix = list[list[float]]


def product(a: Matrix, x: list[float]) -> float:
    total = 0.0
    for i in range(len(a)):
        for j in range(len(x)):
            total += a[i][j] * x[j] * x[j]
    return total


def rows(a: Matrix, x: list[float]) -> float:
    total = 0.0
    for row, y in zip(a, x, strict=True):
        for z in row:
            total += z * z * y
    return total


def tails(a: Matrix, x: list[float]) -> float:
    total = 0.0
    for i, row in enumerate(a):
        for other in a[i + 1 :]:
            total += row[0] * other[1] * x[i]
        for y in x[i:]:
            total += y * y
    return total + (x + x[:1])[-1] * (2 * x[:-1] * 1)[0] * x.copy()[1]


def copies(a: Matrix, x: list[float]) -> float:
    made = [list(row) for row in a]
    made[0] = x[1:] + x[:1]
    made.append(list(x))
    made[1][0] *= x[0]
    kept = list(made)
    made[2] = [0.5, 2.0, 1.5]
    total = 0.0
    for row in made[-3:] + kept:
        for k, y in enumerate(row):
            total += (k + 1) * y * y * made[0][k]
    return total


def replaced(a: Matrix, x: list[float]) -> float:
    a[0] = [3.0, 4.0, 5.0]
    total = 0.0
    for row in a:
        for k in range(3):
            total += row[k] * row[k] * x[k]
    return total


def handed_on(a: Matrix, x: list[float]) -> float:
    replace(a)
    return a[0][1] * x[0] + a[1][1] * a[1][0] + rows(a, x[: len(a)])


def replace(a: Matrix) -> None:
    for _ in range(1):
        a[0] = [3.0, 4.0, 5.0]


def from_elsewhere(a: Matrix, x: list[float]) -> float:
    """The rows are the same lists."""
    b = [a[1], a[0], x]
    b[0][1] = x[0] * 2.0
    b[2] = b[1]
    total = 0.0
    for row in a + b:
        total += row[1] * row[0] * row[0]
    return total


PROGRAMS = [product, rows, tails, copies, replaced, handed_on, from_elsewhere]
A: Matrix = [[0.5, 1.5, -0.75], [1.25, -0.5, 2.0]]
X = [0.25, 1.75, -1.5]


def fresh(a: Matrix) -> Matrix:
    return [list(row) for row in a]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_tangents_of_lists_are_right_whether_they_are_there_or_not(function: Callable[..., float]) -> None:
    x = X[:2] if function is rows else X
    for _ in range(3):  # by the short way in as well
        check_rule(function, fresh(A), list(x))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("given", ["all", "rows", "x"])
def test_tangents_that_are_not_given(function: Callable[..., float], given: str) -> None:
    x = X[:2] if function is rows else X
    da: Any = [[1.0, -2.0, 0.5], [0.25, 3.0, 1.0]]
    dx: Any = [-1.0, 0.5, 2.0][: len(x)]
    if given == "rows":
        dx = None
    if given == "x":
        da = None
    expected = reverse(function, x, da or [[0.0] * 3, [0.0] * 3], dx or [0.0] * len(x))
    for _ in range(3):
        _, found = adbc.jvp(function, (fresh(A), list(x)), (da and fresh(da), dx and list(dx)))
        assert found == pytest.approx(expected, rel=1e-12)


def reverse(function: Callable[..., float], x: list[float], da: Matrix, dx: list[float]) -> float:
    ga, gx = adbc.grad(function, argnums=(0, 1))(fresh(A), list(x))
    of_rows = sum(g * d for rows in zip(ga, da, strict=True) for g, d in zip(*rows, strict=True))
    return float(of_rows + sum(g * d for g, d in zip(gx, dx, strict=True)))


def dual(function: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> str:
    """The dual graph that is entered when all has been learnt."""
    engine = default_engine()
    engine.clear()
    for _ in range(4):
        adbc.jvp(function, copy.deepcopy(primals), copy.deepcopy(tangents))
    (found,) = [rule for rule in engine.rules.values() if rule.code is function.__code__]
    return str(found.graphs[0])


def test_rows_are_read_without_asking() -> None:
    shown = dual(product, (A, X), (A, X))
    assert "_slot_" not in shown
    assert "_or_else_" not in shown


@pytest.mark.usefixtures("at_once")
def test_slices_are_taken_of_tangents() -> None:
    def halves(n: int, x: float) -> float:
        made = [x * k for k in range(n)]
        total = 0.0
        for y in made[1:]:
            total += y * y
        return total

    shown = dual(halves, (3, 2.0), (None, 1.0))
    assert "_getslice_frule" not in shown
    check_rule(halves, 4, 1.5)
