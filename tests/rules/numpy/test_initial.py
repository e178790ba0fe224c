"""What reductions begin with, where it has a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .harness import check_each_path

M = np.array([[0.3, 2.1, -0.4], [1.2, 0.7, 3.3], [-0.6, 1.9, 0.2], [2.4, -1.1, 0.8]])

CALLS: list[Callable[..., Any]] = [
    lambda a, c: np.max(a, initial=c),
    lambda a, c: np.max(a, axis=0, initial=c),
    lambda a, c: np.max(a, 1, None, True, c) * 2.0,
    lambda a, c: np.max(a, axis=-1, initial=c, where=a > 0.5),
    lambda a, c: a.max(axis=1, initial=c),
    lambda a, c: a.min(initial=c),
    lambda a, c: np.min(a, axis=(0, 1), initial=c, keepdims=True),
    lambda a, c: np.amin(a, axis=1, initial=c),
    lambda a, c: np.sum(a, initial=c),
    lambda a, c: np.sum(a, axis=0, initial=c, where=a > 0.0),
    lambda a, c: a.sum(axis=1, initial=c, keepdims=True),
    lambda a, c: np.prod(a, axis=0, initial=c),
    lambda a, c: a.prod(initial=c),
    lambda a, c: np.prod(a[:0], axis=0, initial=c),
    lambda a, c: np.max(a[:0], axis=0, initial=c),
    lambda a, c: np.maximum.reduce(a, initial=c),
    lambda a, c: np.minimum.reduce(a, axis=1, initial=c),
    lambda a, c: np.add.reduce(a, initial=c),
    lambda a, c: np.multiply.reduce(a, axis=None, initial=c),
    lambda a, c: np.max([a[0, 0], a[1, 1]], initial=c),
    lambda a, c: np.nanmax(a, initial=c, axis=0) * 1.0,
    lambda a, c: np.nanmin(a, where=a > 0.0, initial=c),
]


@pytest.mark.parametrize("c", [-7.0, 0.85, 7.0])
@pytest.mark.parametrize("f", CALLS, ids=lambda v: None)
def test_calls(f: Callable[..., Any], c: float) -> None:
    check_rule(f, M, c)
    check_rule(lambda c: f(M, c), c)
    check_rule(lambda a: f(a, c), M)
    check_each_path(lambda a, c: np.sum(np.sin(f(a, c))), M, c)


def test_complex_numbers() -> None:
    z = M + 1j * M[::-1]
    check_rule(lambda z, c: np.sum(z, axis=0, initial=c), z, 0.3 - 0.7j)
    check_rule(lambda z, c: np.prod(z, axis=0, initial=c), z, 0.3 - 0.7j)


def test_a_tie_follows_the_array() -> None:
    a = np.array([1.0, 3.0, 2.0])
    by_array, by_number = adbc.grad(lambda a, c: np.max(a, initial=c), argnums=(0, 1))(a, 3.0)
    np.testing.assert_array_equal(by_array, [0.0, 1.0, 0.0])
    assert by_number == 0.0
