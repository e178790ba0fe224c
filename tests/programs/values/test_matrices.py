"""Programs with `numpy.matrix`, whose product is that of matrices, and whose parts keep two axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

X = np.array([1.1, 2.3, 3.2, 4.6])

EXPRESSIONS = """
m * np.matrix(x[:2]).T
m * x[:2, None]
x.reshape(2, 2) * m
m * 2.0
2.0 * m
m.I
m.T
m.H
m.A * 2
m.A1
m.sum(axis=1)
m.sum()
m.mean(axis=0)
m.mean()
m.std(axis=0)
m.var()
m.max(0)
m.min()
m.prod(1)
m.ptp()
m ** 3
m ** -1
m + 1
m - x.reshape(2, 2)
m / 2
-m
m[0]
m[0, 1] * x
m[:, 1]
m[np.array([0, 1]), 0]
np.matrix(x)
np.asmatrix(x.reshape(2, 2)) @ np.asmatrix(x.reshape(2, 2))
np.bmat([[m, m]])
np.multiply(m, x.reshape(2, 2))
np.dot(m, x[:2])
np.linalg.det(m) * x
np.linalg.inv(m)
np.linalg.solve(m, np.matrix(x[:2]).T)
np.trace(m) * x
np.exp(m)
np.vstack([np.matrix(x), np.matrix(x)])
np.vstack([np.matrix(x), np.matrix(x) * 2]) * np.matrix(x).T
np.dot(x.reshape(2, 2), b=m)
np.where(x.reshape(2, 2) > 2, m, 0)
np.concatenate([np.matrix(x), np.matrix(x)], axis=1)
m.ravel()
m.flatten()
m.getA()
np.matrix([[x[0], x[1]], [x[2], x[3]]]) * np.matrix("1 2; 3 4")
m.tolist()[0][1] * x
m.squeeze()
m.diagonal()
np.linalg.norm(m) * x
np.linalg.eigvalsh(m + m.T)
m.copy() * 2
np.outer(np.matrix(x), x)
np.kron(m, np.eye(2))
""".strip().splitlines()
"""Expressions of an array `x`, and of a matrix `m` with the same numbers."""


def numbers(y: Any) -> Any:
    """The numbers of `y` weighted by their places."""
    y = np.asarray(y)
    return float((y * np.arange(1.0, y.size + 1).reshape(y.shape)).sum())


def program(expression: str) -> Any:
    inner = eval(f"lambda x, m: numbers({expression})", {"np": np, "numbers": numbers})
    return lambda x: inner(x, np.matrix(x.reshape(2, 2)))


@pytest.mark.parametrize(
    "expression",
    [e if i % 2 == 0 else pytest.param(e, marks=pytest.mark.slow) for i, e in enumerate(EXPRESSIONS)],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_expressions(expression: str) -> None:
    check_rule(program(expression), X.copy())


@pytest.mark.slow
@pytest.mark.parametrize("speculation", ["never", "dynamic"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_expressions_without_guesses(expression: str, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(program(expression), X.copy())


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices_as_arguments_and_results() -> None:
    check_rule(lambda m, v: m * v, np.matrix(X.reshape(2, 2)), np.matrix(X[:2]).T)
    check_rule(lambda m: m.I * m[0].T, np.matrix(X.reshape(2, 2)))
