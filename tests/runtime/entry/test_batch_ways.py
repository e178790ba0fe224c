"""Batches of tangents enter by the way that a call like them has taken before, and give what single tangents
give."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import InvalidTangentError
from adbc.runtime.entry import batches

T = np.linspace(0.0, 1.0, 5)
X = np.array([0.7, 1.1, -0.4])


def decay(p: Any, t: Any, y: Any) -> Any:
    return p[0] * np.exp(-p[1] * t) + p[2] - y


def written(p: Any, buffer: Any) -> Any:
    """Writes into an argument that has no tangent."""
    buffer[:] = 0.0
    for k in range(3):
        buffer[k] = p[k] * p[k - 1]
    return buffer * p[0]


def changes_its_argument(p: Any) -> Any:
    p *= p[::-1].copy()
    return p * 2.0


def of_numbers(a: float, b: float, scale: float = 2.0) -> Any:
    return [a * b * scale, a / b]


def of_a_list(x: list[float], k: int) -> Any:
    x[0] = x[1] * x[2]
    return x[0] ** k + sum(x)


def loss(p: Any, t: Any) -> Any:
    return np.sum((p[0] * np.sin(p[1] * t) - p[2]) ** 2)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = [
    (decay, (X, T, np.cos(T)), (0,)),
    (decay, (X, T.copy().reshape(5, 1)[:, 0], np.cos(T)), (0,)),
    (decay, (X, T, np.cos(T)), (0, 2)),
    (written, (X, np.ones(3)), (0,)),
    (changes_its_argument, (X,), (0,)),
    (of_numbers, (1.3, 0.4), (0, 1)),
    (of_numbers, (1.3, 0.4, 3.0), (1,)),
    (of_a_list, ([0.3, 0.5, -0.2], 3), (0,)),
    (adbc.grad(loss), (X, T), (0,)),
]


def _tangents(rng: Any, x: Any, width: int) -> Any:
    if isinstance(x, list):
        return [rng.normal(size=width) for _ in x]
    return rng.normal(size=(width, *np.shape(x)))


def _lane(t: Any, n: int) -> Any:
    if isinstance(t, list):
        return [float(part[n]) for part in t]
    return None if t is None else float(t[n]) if t.ndim == 1 else t[n].copy()


@pytest.mark.parametrize(("f", "args", "asked"), CASES)
def test_batches_are_single_tangents_and_enter_at_once(
    f: Any, args: Any, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    long_ways: list[int] = []
    long_way = batches.dual_call
    monkeypatch.setattr(batches, "dual_call", lambda *a, **k: long_ways.append(a[5]) or long_way(*a, **k))
    for width in (2, 2, 5, 1, 3):
        given = [_tangents(rng, x, width) if i in asked else None for i, x in enumerate(args)]
        before = copy.deepcopy(given)
        own = copy.deepcopy(args)
        value, tangent = adbc.jvp(f, own, given, width=width)
        np.testing.assert_equal(given, before)
        for n in range(width):
            single = copy.deepcopy(args)
            again, expected = adbc.jvp(f, single, [_lane(t, n) for t in given])
            np.testing.assert_allclose(np.array(value), np.array(again), rtol=1e-14)
            np.testing.assert_equal(own, single)
            found = [part[n] for part in tangent] if isinstance(tangent, list) else tangent[n]
            np.testing.assert_allclose(found, np.array(expected), rtol=1e-12, atol=1e-14)
    is_view = any(getattr(x, "base", None) is not None for x in args)
    assert is_view or 3 not in long_ways  # what is learnt in the first calls is known then


def test_what_does_not_fit_is_refused_on_a_known_way_too() -> None:
    args = (X, T, np.cos(T))
    for _ in range(3):
        adbc.jvp(decay, args, (np.eye(3), None, None), width=3)
    with pytest.raises(InvalidTangentError):
        adbc.jvp(decay, args, (np.eye(3)[:, :2].copy(), None, None), width=3)
    with pytest.raises(InvalidTangentError):
        adbc.jvp(decay, args, (np.eye(3), None, None), width=2)
    value, tangent = adbc.jvp(decay, args, (np.eye(3), None, None), width=3)
    assert tangent.shape == (3, 5) and value.shape == (5,)


def test_one_array_as_two_arguments() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    one, units = X.copy(), np.eye(3)
    for x, y, t in ((X.copy(), X.copy(), None), (one, one, None), (X.copy(), X.copy(), None)):
        value, tangent = adbc.jvp(product, (x, y), (units, t), width=3)
        expected = units * y * (2.0 if x is y else 1.0)
        np.testing.assert_allclose(tangent, expected)
        np.testing.assert_allclose(value, x * y)


# -- Jacobians -----------------------------------------------------------------------------------------------

CALLS: list[int] = []


def of_a_size(x: Any, n: int) -> Any:
    CALLS.append(n)
    return np.array([x[k % len(x)] * x[(k + 1) % len(x)] for k in range(n)])


@pytest.mark.parametrize("size", [2, 5])
def test_how_large_the_value_is_is_asked_once(size: int) -> None:
    jacobian = adbc.jacobian(of_a_size)
    exact = np.zeros((size, 3))
    for k in range(size):
        exact[k, k % 3] += X[(k + 1) % 3]
        exact[k, (k + 1) % 3] += X[k % 3]
    counts = []
    for _ in range(3):
        CALLS.clear()
        np.testing.assert_allclose(jacobian(X.copy(), size), exact)
        counts.append(len(CALLS))
    assert counts[0] == counts[1] + 1 == counts[2] + 1


def test_a_value_of_another_size_than_before() -> None:
    jacobian = adbc.value_and_jacobian(of_a_size)
    for size in (5, 2, 2, 4, 1, 6):
        value, found = jacobian(X.copy(), size)
        assert found.shape == (size, 3)
        h = 1e-6
        columns = [(of_a_size(X + h * e, size) - of_a_size(X - h * e, size)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(found, np.array(columns).T, atol=1e-8)
        np.testing.assert_allclose(value, of_a_size(X, size))


def test_arguments_of_jacobians_are_left_alone() -> None:
    def f(x: Any, table: Any, rows: Any, same: Any) -> Any:
        x *= 2.0
        table["k"].append(1.0)
        rows[0] += 1.0
        assert rows is same
        return x * rows[0] * len(table["k"])

    table, rows, x = {"k": [3.0]}, np.ones(2), X.copy()
    for _ in range(2):
        found = adbc.jacobian(f)(x, table, rows, rows)
        np.testing.assert_allclose(found, np.diag([8.0] * 3))
    np.testing.assert_equal((x, table, rows), (X, {"k": [3.0]}, np.ones(2)))
