"""The short way into `jvp`: the same as the long one, and taken only where that is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError, InvalidTangentError
from adbc.runtime import default_engine
from adbc.runtime.entry import forward as forward_entry


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call went the short way."""
    found: list[bool] = []
    default_engine().clear()
    differentiate, first = forward_entry.value_and_tangent, forward_entry.first_dual_call

    def watched(*arguments: Any) -> Any:
        found.append(True)
        return differentiate(*arguments)

    def watched_first(*arguments: Any) -> Any:
        found[-1] = False
        return first(*arguments)

    monkeypatch.setattr("adbc.api.value_and_tangent", watched)
    monkeypatch.setattr(forward_entry, "first_dual_call", watched_first)
    return found


def product(x: float, y: float, n: int) -> float:
    return x * y * n


def moved(values: list[float], steps: list[float]) -> float:
    for i in range(len(values)):
        values[i] = values[i] + 2.0 * steps[i] * values[i]
    values.append(values[0])
    return sum(values)


def rows(matrix: list[list[float]], scale: list[list[float]]) -> float:
    total = 0.0
    for row, factors in zip(matrix, scale, strict=True):
        for i in range(len(row)):
            row[i] = row[i] * factors[i]
            total += row[i] * row[i]
    return total


def shifted(x: Any, y: Any, k: Any) -> Any:
    x[1:] += x[:-1] * y[1:]
    return np.sum(x * y) + np.sum(y[k])


CALLS: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], Callable[[], tuple[Any, ...]]]] = [
    (product, lambda: (2.0, 3.0, 4), lambda: (1.0, 0.5, None)),
    (product, lambda: (2.0, 3.0, 4), lambda: (1.0, None, None)),
    (moved, lambda: ([1.0, 2.0], [0.5, 0.25]), lambda: ([1.0, 0.0], None)),
    (moved, lambda: ([1.0, 2.0], [0.5, 0.25]), lambda: (None, [1.0, 0.0])),
    (rows, lambda: ([[1.0, 2.0], [3.0]], [[0.5, 0.25], [2.0]]), lambda: ([[1.0, 0.0], [2.0]], None)),
    (rows, lambda: ([[1.0, 2.0], [3.0]], [[0.5, 0.25], [2.0]]), lambda: (None, [[1.0, 0.0], [2.0]])),
    (rows, lambda: ([[1.0, 2.0], []], [[0.5, 0.25], []]), lambda: ([[1.0, 0.0], []], None)),
    (
        shifted,
        lambda: (np.arange(3.0), np.ones(3), np.array([2, 0])),
        lambda: (np.array([1.0, 0.0, 2.0]), None, None),
    ),
    (
        shifted,
        lambda: (np.arange(3.0), np.ones(3), np.array([2, 0])),
        lambda: (None, np.array([1.0, 0.0, 2.0]), None),
    ),
    (
        shifted,
        lambda: (np.arange(6.0).reshape(2, 3)[1], np.ones((2, 3))[0], np.array([2, 0])),
        lambda: (np.array([[1.0, 0.0, 2.0]])[0], None, None),
    ),
]


@pytest.mark.parametrize(("f", "arguments", "directions"), CALLS)
def test_the_same(f: Any, arguments: Any, directions: Any, taken: list[bool]) -> None:
    """The value, its tangent, and what becomes of arguments and their tangents."""
    default_engine().clear()
    seen = []
    for _ in range(8):
        xs, ds = arguments(), directions()
        answer = adbc.jvp(f, xs, ds)
        seen.append((answer, xs, ds))
    assert taken[0] is False and taken[-1] is True
    for found in seen[1:]:
        for a, b in zip(found, seen[0], strict=True):
            np.testing.assert_equal(a, b)


def test_what_does_not_fit_is_refused_as_before(taken: list[bool]) -> None:
    for _ in range(6):
        adbc.jvp(moved, ([1.0, 2.0], [1.0, 1.0]), ([1.0, 1.0], None))
        adbc.jvp(shifted, (np.ones(3), np.ones(3), np.array([0])), (np.ones(3), None, None))
        adbc.jvp(rows, ([[1.0]], [[1.0]]), ([[1.0]], None))
    assert taken[-1] and taken[-2] and taken[-3]
    wrong: list[tuple[Any, Any, Any]] = [
        (moved, ([1.0, 2.0], [1.0, 1.0]), ([1.0], None)),
        (moved, ([1.0, 2.0], [1.0, 1.0]), ([1.0, "a"], None)),
        (moved, ([1, 2.0], [1.0, 1.0]), ([1.0, 1.0], None)),
        (rows, ([[1.0]], [[1.0]]), ([None], None)),
        (rows, ([[1.0]], [[1.0]]), ([[1.0, 1.0]], None)),
        (rows, ([[1.0]], [[1.0]]), ([1.0], None)),
        (shifted, (np.ones(3), np.ones(3), np.array([0])), (np.ones(2), None, None)),
        (shifted, (np.ones(3), np.ones(3), np.array([0])), (np.ones(3, int), None, None)),
    ]
    for f, xs, ds in wrong:
        with pytest.raises(InvalidTangentError):
            adbc.jvp(f, xs, ds)
    kept = [None]
    with pytest.raises(InvalidTangentError):
        adbc.jvp(rows, ([[1.0]], [[1.0]]), (kept, None))
    assert kept == [None]


def test_objects_that_are_shared_take_the_long_way(taken: list[bool]) -> None:
    x = np.arange(3.0) + 1.0
    for _ in range(4):
        adbc.jvp(shifted, (x.copy(), x.copy(), np.array([0])), (np.ones(3), np.ones(3), None))
    assert taken[-1]
    same, d = x.copy(), np.ones(3)
    _, found = adbc.jvp(shifted, (same, same, np.array([0])), (d, d, None))
    assert not taken[-1]

    def once(x: Any) -> Any:
        return shifted(x, x, np.array([0]))

    _, expected = adbc.jvp(once, (x.copy(),), (np.ones(3),))
    assert found == expected
    with pytest.raises(InvalidTangentError):
        adbc.jvp(shifted, (same, same, np.array([0])), (np.ones(3), np.ones(3), None))
    whole = np.arange(4.0)
    adbc.jvp(shifted, (whole[:3], x.copy(), np.array([0])), (np.ones(3), None, None))
    assert not taken[-1]
    row = [1.0, 2.0]
    for _ in range(4):  # where code is written at once, the second call learns from the first
        adbc.jvp(rows, ([row], [[1.0, 1.0]]), ([[1.0, 1.0]], None))
    assert taken[-1]
    d_row = [1.0, 1.0]
    adbc.jvp(rows, ([row, row], [[1.0, 1.0]] * 2), ([d_row, d_row], None))
    assert not taken[-1]
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises((InvalidTangentError, TypeError)):
        adbc.jvp(rows, (endless, [[1.0]]), ([[1.0]], None))


def test_constants_are_still_refused(taken: list[bool]) -> None:
    for _ in range(3):
        adbc.jvp(moved, ([1.0], [2.0]), (None, [1.0]))
    with pytest.raises(ConstWriteError):
        adbc.jvp(moved, (adbc.Const([1.0]), [2.0]), (None, [1.0]))


FACTOR = 2.0


def scaled(x: float) -> float:
    return helper(x) * FACTOR


def helper(x: float) -> float:
    return x * x


def test_what_changes_is_noticed(monkeypatch: pytest.MonkeyPatch, taken: list[bool]) -> None:
    for _ in range(4):
        assert adbc.jvp(scaled, (3.0,), (1.0,)) == (18.0, 12.0)
    assert taken[-1]
    monkeypatch.setattr(f"{__name__}.FACTOR", 3.0)
    assert adbc.jvp(scaled, (3.0,), (1.0,)) == (27.0, 18.0)
    monkeypatch.setattr(f"{__name__}.helper", lambda x: x)
    assert adbc.jvp(scaled, (3.0,), (1.0,)) == (9.0, 3.0)

    def other(x: float) -> float:
        return x

    monkeypatch.setattr(scaled, "__code__", other.__code__)
    assert adbc.jvp(scaled, (3.0,), (1.0,)) == (3.0, 1.0)


def test_memory_met_by_another_way() -> None:
    kept = [1.0, 2.0]

    def f(values: list[float]) -> float:
        return kept[0] * values[0]

    def g(values: list[list[float]]) -> float:
        return values[0][0] * values[1][0]

    inner = [3.0]
    for _ in range(4):
        assert adbc.jvp(f, (kept,), ([1.0, 0.0],)) == (1.0, 2.0)
        assert adbc.jvp(g, ([inner, [2.0]],), ([[1.0], [0.0]],)) == (6.0, 2.0)
        d = [1.0]
        assert adbc.jvp(g, ([inner, inner],), ([d, d],)) == (9.0, 6.0)


GLOBAL_ROW = [2.0]


def through_a_global(rows: list[list[float]]) -> float:
    rows[0][0] = rows[0][0] * 3.0
    return GLOBAL_ROW[0] * rows[0][0]


def test_an_inner_list_that_a_global_holds() -> None:
    for _ in range(4):
        GLOBAL_ROW[0] = 2.0
        assert adbc.jvp(through_a_global, ([GLOBAL_ROW],), ([[1.0]],)) == (36.0, 36.0)
