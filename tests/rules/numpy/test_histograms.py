"""Histograms by weights, by edges, and as densities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .harness import check_each_path

A = np.array([0.3, -1.2, 2.5, 0.9, 1.7, 0.45, 2.49])
W = np.array([0.5, 1.5, 0.8, 1.1, 0.3, 0.9, 2.2])
E = np.array([-1.5, 0.1, 1.1, 2.2, 3.0])

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda a, w: np.histogram(a, weights=w)[0], (A, W)),
    (lambda a, w: np.histogram(a, 4, weights=w, density=True)[0], (A, W)),
    (lambda a, w: np.histogram(a, 4, (0.0, 2.4), weights=w)[0], (A, W)),
    (lambda a, w: np.histogram(a, 4, (0.0, 2.4), True, w)[0], (A, W)),
    (lambda a, w: np.histogram(a, [-1, 0, 1, 3], weights=w)[0], (A, W)),
    (lambda a, w, e: np.histogram(a, e, weights=w)[0], (A, W, E)),
    (lambda a, w, e: np.histogram(a, e, weights=w, density=True)[0], (A, W, E)),
    (lambda a, e: np.histogram(a, e, density=True)[0], (A, E)),
    (lambda a: np.histogram(a, 5)[1], (A,)),
    (lambda a: np.histogram(a, 5, density=True)[0], (A,)),
    (lambda a: np.histogram(a, 5, density=True)[0] + np.histogram(a, 5)[0], (A[::2],)),
    (lambda a, s: np.histogram(a, 3, range=(-s, 2.0 * s), density=True)[0], (A, 1.9)),
    (lambda a, s: np.histogram(a, 3, range=(-s, 2.0 * s))[1], (A, 1.9)),
    (lambda a: np.histogram(a[:1], 3)[1], (A,)),
    (lambda a: np.histogram(a[:6].reshape(2, 3), 3)[1], (A,)),
    (
        lambda a, w: np.histogram(a[:6].reshape(2, 3), 3, weights=w[:6].reshape(2, 3).T.reshape(2, 3))[0],
        (A, W),
    ),
    (lambda a, w: np.histogram(list(a), 3, weights=list(w))[0] * 1.0, (A, W)),
    (lambda w: np.histogram(np.arange(7), 3, weights=w)[0] * 1.0, (W,)),
    (lambda w: np.histogram(A, "sturges", weights=None)[0] * w.sum(), (W,)),
]


@pytest.mark.parametrize(("f", "args"), CALLS, ids=lambda v: None)
def test_calls(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    np.testing.assert_array_equal(adbc.vjp(f, *args)[0], f(*args))
    check_rule(f, *args)
    check_each_path(lambda *args: np.sum(np.sin(f(*args))), *args)


def test_an_element_at_an_edge_is_in_the_bin_that_numpy_says() -> None:
    a = np.array([0.0, 1.0, 2.0, 3.0, 3.5, -0.1])
    edges = np.array([0.0, 1.0, 2.0, 3.0])
    for bins in (edges, 3):
        chosen = {"range": (0.0, 3.0)} if bins is not edges else {}
        by_weight = adbc.jacobian(lambda w: np.histogram(a, bins, weights=w, **chosen)[0])(np.ones(6))  # noqa: B023
        expected = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]
        np.testing.assert_array_equal(by_weight, expected)


def test_errors_are_those_of_numpy() -> None:
    for a, bins in [(A, 0), (A, E[::-1]), (np.array([1.0, np.nan]), 3)]:
        with pytest.raises(ValueError) as plain:
            np.histogram(a, bins)
        with pytest.raises(ValueError) as found:
            adbc.grad(lambda a: np.histogram(a, bins)[1].sum())(a)  # noqa: B023
        assert str(found.value) == str(plain.value)


def test_the_edges_are_those_that_were_given() -> None:
    def f(e: Any) -> Any:
        _, edges = np.histogram(A, e)
        edges *= 2.0
        return e.sum()

    np.testing.assert_array_equal(adbc.grad(f)(E.copy()), np.full(5, 2.0))
