"""Arrays into which nothing active is written have no shadow; those that may get something have one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import explain, rvs_ir
from adbc.runtime import default_engine
from adbc.testing.values import assert_same
from adbc.types.lattice import ArrayType

MODES = ("learn", "always", "dynamic")


@contextlib.contextmanager
def anew(speculation: str) -> Iterator[None]:
    with adbc.use(adbc.Config(speculation=speculation, verify=True, warm_after=0)):
        default_engine().clear()
        yield
    default_engine().clear()


def agree(f: Any, x: Any, *others: Any) -> None:
    """Both modes give what differences do."""
    step = 1e-5
    expected = np.array([(f(x + d, *others) - f(x - d, *others)) / (2 * step) for d in step * np.eye(len(x))])
    before = x.copy()
    gradient = adbc.grad(f)(x, *others)
    assert_same(before, x, "argument")
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    along = np.array([1.0, -2.0, 0.5])
    _, tangent = adbc.jvp(f, (x.copy(), *others), (along, *[None] * len(others)))
    np.testing.assert_allclose(tangent, gradient @ along, rtol=1e-12)


def sweep(x: Any, n: int) -> Any:
    """Coefficients that are made step by step and overwritten, as in a solver of tridiagonal systems."""
    u = x.copy()
    p = np.zeros((3, n))
    for _ in range(2):
        for j in range(1, n):
            p[1:, j] = 0.5 / (2.0 + p[1:, j - 1])
            u[j] = np.sum(p[1:, j]) * u[j - 1] + u[j]
    return np.sum(u**2)


def written_late(x: Any, n: int) -> Any:
    """Quiet in the first step, not in the second."""
    p = np.zeros(3)
    total = 0.0
    for i in range(n):
        total = total + np.sum(x * p)
        row = p[1:]
        if i > 0:
            row[0] = x[0]
            row += x[1:]
        else:
            row[1] = 2.0
    return total


def written_by_another_name(x: Any) -> Any:
    p = np.zeros((2, 3))
    q = p.T
    first, second = p[0], p[1]
    q[:, 0] = x
    second[:] = 3.0
    return np.sum(first * first * second)


def chosen(x: Any, flag: bool) -> Any:
    """A variable that holds one of two, one of which gets something."""
    p, q = np.ones(3), np.ones(3)
    r = p if flag else q
    r *= x
    return np.sum(p * q * q)


def kept(x: Any) -> Any:
    """An array that leaves by way of a list, and comes back."""
    p = np.zeros(3)
    held = [p]
    held[0][:] = x * x
    return np.sum(p)


def written_by_another_function(x: Any) -> Any:
    p = np.zeros(3)
    fill(p, x)
    return np.sum(p * p)


def fill(target: Any, x: Any) -> None:
    target[...] = x * 3.0


def rows_of_constants(w: Any, data: Any) -> Any:
    total = 0.0
    for i in range(len(data)):
        row = data[i]
        total = total + np.tanh(row @ w) + row[0] * w[1]
        column = data.T[0]
        total = total + np.sum(column * w[0])
    return total


def returned(x: Any) -> Any:
    p = np.zeros(3)
    p[0] = 1.0
    return p, np.sum(x)


X = np.array([0.3, 0.7, -0.4])
DATA = np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])


CASES = [
    (sweep, 3), (written_late, 3), (written_by_another_name,), (chosen, True), (chosen, False), (kept,),
    (written_by_another_function,), (rows_of_constants, DATA),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{len(str(case))}")
def test_the_gradient_is_right(case: Any) -> None:
    f, *others = case
    for mode in MODES:
        with anew(mode):
            for _ in range(2 if mode == "learn" else 1):
                agree(f, X, *others)


def guessed(x: Any, items: Any) -> Any:
    """What an element is comes to light in the middle, when the array is quiet; later it is not."""
    p = np.zeros(3)
    p[0] = 1.0
    scale = items[0]
    q = p[1:]
    total = np.sum(x * p) * scale
    p[1] = x[0] * x[1]
    q[1] = x[2]
    return total + np.sum(p * p) + np.sum(q)


def guessed_alone(x: Any, items: Any) -> Any:
    p = np.zeros(3)
    p[0] = 1.0
    scale = items[0]
    total = np.sum(x * p) * scale
    p[1] = x[0] * x[1]
    return total + np.sum(p * p)


def quiet_to_the_end(x: Any, items: Any) -> Any:
    p = np.zeros(3)
    p[0] = 1.0
    scale = items[0]
    p[1] = 2.0
    return np.sum(x * p * p) * scale


@pytest.mark.parametrize("f", [guessed, guessed_alone, quiet_to_the_end])
def test_a_wrong_guess_leaves_with_memory_that_is_quiet(f: Any) -> None:
    with anew("learn"):
        for items in ([2.0], [2.0], [2.0], [3], [np.float64(1.5)]):
            agree(f, X, items)


def test_what_is_returned_has_a_cotangent() -> None:
    (p, _), pullback = adbc.vjp(returned, X)
    assert_same(np.array([1.0, 0.0, 0.0]), p, "value")
    (dx,) = pullback((np.ones(3), 2.0))
    assert_same(np.full(3, 2.0), dx, "gradient")


def test_quiet_memory_gets_no_cotangents() -> None:
    with anew("never"):
        assert "Shadow[Array[float64, 2]]" not in str(
            rvs_ir((sweep, ArrayType("float64", 1, np.ndarray), int))
        )


def test_views_of_constants_are_taken_as_they_are() -> None:
    kinds = {s.source: s.how for s in explain(rows_of_constants, X, adbc.Const(DATA)).sites if s.source}
    assert kinds["data[i]"] == kinds["data.T"] == kinds["data.T[0]"] == "primal"
