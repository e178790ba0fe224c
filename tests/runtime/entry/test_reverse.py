"""The short way in gives what the long way gives, and is left for it where it does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ArgumentError
from adbc.runtime import default_engine
from adbc.runtime.entry import reverse as reverse_entry
from adbc.runtime.entry.reverse import Entrance


def entered(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether a short way is taken, for each call from now on that could."""
    said: list[bool] = []
    way, enter, short = Entrance.way, Entrance.enter, reverse_entry.short

    def asked(self: Entrance, engine: Any, f: Any, args: Any) -> Any:
        answer = way(self, engine, f, args)
        if answer is None:
            said.append(False)
        return answer

    def watched(self: Entrance, engine: Any, *rest: Any) -> Any:
        answer = enter(self, engine, *rest)
        said.append(answer is not None)
        return answer

    def short_watched(engine: Any, *rest: Any) -> Any:
        answer = short(engine, *rest)
        said.append(answer is not None)
        return answer

    monkeypatch.setattr(Entrance, "way", asked)
    monkeypatch.setattr(Entrance, "enter", watched)
    monkeypatch.setattr(reverse_entry, "short", short_watched)
    return said


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y * y)


def scaled(u: list[float], k: float) -> float:
    for i in range(len(u)):
        u[i] = u[i] * k
    return sum(u)


def test_arrays_take_the_short_way_from_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    said = entered(monkeypatch)
    gradient = adbc.value_and_grad(product, (0, -1))
    for k in range(4):
        x, y = np.arange(3.0) + k, np.arange(3.0) - k
        value, (dx, dy) = gradient(x, y)
        assert value == product(x, y)
        np.testing.assert_allclose(dx, y * y)
        np.testing.assert_allclose(dy, 2.0 * x * y)
    assert said == [True, True, True, True]


def test_what_does_not_fit_takes_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(product)
    x = np.array([1.0, 2.0, 3.0])
    gradient(x, x.copy())
    said = entered(monkeypatch)
    np.testing.assert_allclose(gradient(x, x), 3.0 * x * x)  # the same object
    np.testing.assert_allclose(gradient(x, x[:]), 3.0 * x * x)  # the same memory
    assert said == [False, False]
    np.testing.assert_allclose(gradient(x, y=x + 1.0), (x + 1.0) ** 2)  # as if it were by position
    assert said == [False, False, True]
    np.testing.assert_allclose(gradient(x.astype(np.float32), x), x * x, rtol=1e-6)
    np.testing.assert_allclose(gradient(x.reshape(1, 3).copy(), x), [x * x])
    assert gradient(2.0, 3.0) == 9.0
    np.testing.assert_allclose(gradient(x, 3), np.full(3, 9.0))
    with pytest.raises(ArgumentError, match="float"):
        gradient(np.arange(3), x)
    with pytest.raises(ArgumentError, match="argnums"):
        adbc.grad(product, 2)(x, x)


def test_lists_change_and_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    said = entered(monkeypatch)
    gradient = adbc.value_and_grad(scaled, (0, 1))
    for k in (2.0, 3.0, 4.0, 5.0, 6.0):
        u = [1.0, k]
        assert gradient(u, k) == (k + k * k, ([k, k], 1.0 + k))
        assert u == [1.0, k]
    assert gradient([1.0, 2], 3.0)[1][1] == 3.0
    for _ in range(3):  # where code is written at once, the int is learnt from first
        assert gradient([], 3.0) == (0, ([], 0.0))
    assert (said[0], *said[3:5]) == (False, True, True)  # code is written meanwhile
    assert (said[5], said[-1]) == (False, True)


ROW = [1.0, 2.0]


def of_rows(rows: list[list[float]], k: float) -> float:
    total = 0.0
    for row in rows:
        ROW[0] = row[1] * k
        row[1] = row[0] * ROW[0]
        total += row[1]
    rows[0], rows[-1] = rows[-1], rows[0]
    return total * rows[0][0]


def test_lists_of_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row has one shadow, which rows that are not what they seem take the long way to."""
    gradient = adbc.value_and_grad(of_rows, (0, 1))
    for _ in range(4):  # until nothing is learnt any more
        gradient([[0.5, 3.0], [0.25, 2.0]], 2.0)
    said = entered(monkeypatch)

    def check(*rows: list[float], short: bool) -> None:
        given = list(rows)
        before = [list(row) for row in rows]
        value, gradients = gradient(given, 2.0)
        assert said[-1] is short
        assert all(a is b for a, b in zip(given, rows, strict=True))
        assert given == before
        out, pullback = adbc.vjp(of_rows, given, 2.0)
        assert (value, gradients) == (out, pullback(1.0))
        assert given == before

    row = [0.5, 3.0]
    check(row, [0.25, 2.0], short=True)
    check(row, [0.25, 2.0], [0.5, 0.75], short=True)
    check(row, ROW, short=True)
    check(row, [0.25, 2.0], row, short=False)
    check(row, [0.25, 2], short=False)
    assert ROW == [1.0, 2.0]


def test_the_same_row_in_two_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(a: list[list[float]], b: list[list[float]]) -> float:
        a[0][0] = a[0][0] * b[0][0]
        return a[0][0] * b[0][0]

    gradient = adbc.grad(both, (0, 1))
    said = entered(monkeypatch)
    for _ in range(5):
        assert gradient([[2.0]], [[3.0]]) == ([[9.0]], [[12.0]])
    row = [2.0]
    assert gradient([row], [row]) == ([[32.0]], [[32.0]])
    assert (said[0], *said[3:]) == (False, True, True, False)  # code is written meanwhile


SHARED = np.array([1.0, 2.0])


def through_a_global(x: Any) -> Any:
    SHARED[:] = 2.0 * x
    return np.sum(x * SHARED)


def test_memory_that_is_a_global_too(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(through_a_global)
    other = np.array([3.0, 4.0])
    for _ in range(3):
        np.testing.assert_allclose(gradient(other), 4.0 * other)
    said = entered(monkeypatch)
    # SHARED is x: after the write both are 2 x, and the sum is of (2 x) ** 2.
    np.testing.assert_allclose(gradient(SHARED), 8.0 * SHARED)
    assert said == [True]
    np.testing.assert_array_equal(SHARED, [1.0, 2.0])


def helper(x: float) -> float:
    return x * x


def calls_a_helper(x: float) -> float:
    return helper(x) * 3.0


def test_a_global_that_is_rebound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(calls_a_helper)
    assert [gradient(2.0), gradient(2.0)] == [12.0, 12.0]
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    assert [gradient(2.0), gradient(2.0)] == [3.0, 3.0]


def test_code_that_is_replaced_is_seen() -> None:
    def f(x: float) -> float:
        return x * x

    def g(x: float) -> float:
        return 5.0 * x

    gradient = adbc.grad(f)
    assert [gradient(3.0), gradient(3.0)] == [6.0, 6.0]
    f.__code__ = g.__code__
    assert [gradient(3.0), gradient(3.0)] == [5.0, 5.0]


def test_a_rule_that_is_added_is_used() -> None:
    def f(x: float) -> float:
        return x * x

    gradient = adbc.grad(f)
    assert [gradient(3.0), gradient(3.0)] == [6.0, 6.0]
    adbc.scalar_rule(f)(lambda y, x: 100.0)
    assert [gradient(3.0), gradient(3.0)] == [100.0, 100.0]


def test_other_configurations_have_ways_of_their_own() -> None:
    gradient = adbc.grad(calls_a_helper)
    assert [gradient(2.0), gradient(2.0)] == [12.0, 12.0]
    engine = default_engine()
    with adbc.use(adbc.Config(debug=True)):
        assert default_engine() is not engine
        assert [gradient(2.0), gradient(2.0)] == [12.0, 12.0]
    assert gradient(2.0) == 12.0


def test_an_error_leaves_arguments_and_ways_as_they_were() -> None:
    def f(u: list[float]) -> float:
        if u[0] > 2.0:
            raise ValueError("large")
        return u[0] * u[1]

    gradient = adbc.grad(f)
    for _ in range(3):
        assert gradient([1.0, 2.0]) == [2.0, 1.0]
        with pytest.raises(ValueError, match="large") as caught:
            gradient([3.0, 2.0])
        assert caught.traceback[-1].name == "f"


def test_builtins_are_hidden_and_seen_again() -> None:
    namespace: dict[str, Any] = {}
    exec("def power(x, n):\n    y = x\n    for _ in range(n):\n        y = y * x\n    return y", namespace)
    gradient = adbc.grad(namespace["power"])
    assert [gradient(2.0, 3), gradient(2.0, 3)] == [32.0, 32.0]
    namespace["range"] = lambda n: iter([n])
    assert gradient(2.0, 3) == 4.0
    del namespace["range"]
    assert gradient(2.0, 3) == 32.0


def test_shared_names_of_builtins_are_those_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    namespace: dict[str, Any] = {}
    exec("def scaled(x):\n    return x * x * stated()", namespace)
    monkeypatch.setattr("builtins.stated", lambda: 3.0, raising=False)
    gradient = adbc.grad(namespace["scaled"])
    assert [gradient(2.0), gradient(2.0)] == [12.0, 12.0]
    monkeypatch.setattr("builtins.stated", lambda: 5.0)
    assert gradient(2.0) == 20.0
    namespace["stated"] = lambda: 7.0
    assert gradient(2.0) == 28.0


def test_latest_way_is_left_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments of one kind after another, by the same gradient and in forward mode."""
    x = np.array([1.0, 2.0, 3.0])
    kinds: list[Any] = [x, x.astype(np.float32), x[:, None].copy(), 2.0, np.float64(2.0), x[::-1], [x, x][0]]
    gradient = adbc.grad(product)
    for _ in range(3):
        for y in kinds:
            expected = y * y + np.zeros_like(y)
            np.testing.assert_allclose(gradient(y.copy() if hasattr(y, "copy") else y, y), expected)
            _, tangent = adbc.jvp(product, (y, 2.0), (np.ones_like(y) if type(y) is not float else 1.0, 0.0))
            assert tangent == pytest.approx(np.sum(4.0 * np.ones_like(y)))
            _, tangent = adbc.jvp(product, (2.0, y), (None, y))
            assert tangent == pytest.approx(np.sum(4.0 * y * y))
