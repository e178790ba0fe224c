"""Methods of arrays become calls of functions, wherever they are read and called."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adbc.inspect import fwd_ir
from adbc.testing import test_rule as check_rule
from adbc.types import ArrayType


def reductions(x: Any) -> Any:
    return (x * x).sum() + x.mean(axis=0).dot(np.ones(x.shape[1])) + x.max()


def kept(x: Any) -> Any:
    """The method is read before its array is changed, and called twice."""
    total = x.sum
    x[0] *= 2.0
    return total() * total(axis=0)[0]


def products(x: Any) -> Any:
    return (x.T @ x).trace() + (x @ x.T).sum() + x.reshape(-1).dot(x.ravel())


def conditional(x: Any, flag: bool) -> Any:
    method = x.sum if flag else x.mean
    return method() * method()


def guarded(x: Any, weights: list[float]) -> Any:
    """A guess stands between the read and the call."""
    return x.sum(axis=int(weights[0] * 0.0)) @ np.full(x.shape[1], weights[1])


def changing(x: Any) -> Any:
    x.sort(axis=0)
    x.fill(x[0, 0] * 2.0)
    return (x.T * x.T).sum()


ARGUMENTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (reductions, ()),
    (kept, ()),
    (products, ()),
    (conditional, (True,)),
    (conditional, (False,)),
    (guarded, ([0.5, 2.0],)),
    (changing, ()),
]


@pytest.mark.parametrize(
    ("function", "more"), ARGUMENTS, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(ARGUMENTS)]
)
def test_methods_are_differentiated_as_functions(function: Callable[..., Any], more: tuple[Any, ...]) -> None:
    for _ in range(3):
        x = np.array([[0.3, 1.2, 0.7], [0.9, 0.1, 0.4]])
        check_rule(function, x, *more)


def test_nothing_is_looked_up() -> None:
    found = str(fwd_ir((products, ArrayType("float64", 2, np.ndarray))))
    assert "_getattr_" not in re.sub(r"_getattr_\(%\d+, 'shape'\)", "", found)
