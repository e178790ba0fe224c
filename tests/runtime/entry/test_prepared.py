"""Gradients for which everything is built ahead: they are those of `adbc.grad`, whatever they are given."""

from __future__ import annotations

import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing.values import assert_same, duplicate

X = np.array([0.5, 1.5, -0.7, 2.0])


class Point:
    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b


def product(x: float, y: float) -> float:
    return math.sin(x) * y + x / y


def written(x: Any) -> Any:
    x[1:] *= x[:-1]
    return x.sum()


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def of_list(values: list[float]) -> float:
    values.append(values[0] * values[1])
    return sum(v * 0.5**i for i, v in enumerate(values))


def of_dict(d: dict[str, float]) -> float:
    return d["k"] * d["x"] ** 2


def of_object(p: Any) -> float:
    p.a *= p.b
    return p.a * p.b + math.exp(p.a)


def loop(x: float, n: int = 5) -> float:
    for _ in range(n):
        x = x * x - 0.3
    return x


CASES: list[tuple[Any, tuple[Any, ...], list[tuple[Any, ...]]]] = [
    (product, (1.0, 2.0), [(0.3, 0.7), (np.float64(0.3), 2.0), (X, X)]),
    (written, (X,), [(X * 2.0,), (X[:2],), (X[::2],), (X.astype(np.float32),), (np.arange(6.0),)]),
    (rosenbrock, (X,), [(X + 1.0,), (np.ones((3, 2)),), (X[1:],)]),
    (of_list, ([1.0, 2.0],), [([3.0, 4.0],), ([3.0, 4.0, 5.0],), ([np.float64(2.0), 1.0],)]),
    (of_dict, ({"k": 1.0, "x": 2.0},), [({"k": 3.0, "x": 0.5},), ({"k": 2.0, "x": X[0], "z": 1.0},)]),
    (of_object, (Point(1.0, 2.0),), [(Point(0.5, 0.25),)]),
    (loop, (0.5,), [(0.25,), (0.25, 3), (np.float64(0.1),)]),
]


@pytest.mark.parametrize("f, example, others", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_they_are_those_of_grad(f: Any, example: Any, others: Any) -> None:
    prepared = adbc.prepare(f, *example)
    for args in (example, *others, example, *others):
        mine, theirs = duplicate(list(args)), duplicate(list(args))
        try:
            expected = adbc.value_and_grad(f)(*theirs)
        except (adbc.AdbcError, TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                prepared(*mine)
            continue
        assert_same(expected[1], prepared(*mine), "gradient", rtol=1e-13)
        assert_same(expected, prepared.value_and_grad(*mine), "value and gradient", rtol=1e-13)
        assert_same(list(args), mine, "arguments")


@pytest.mark.parametrize("f, example, others", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_nothing_is_built_in_the_first_call(f: Any, example: Any, others: Any) -> None:
    with adbc.use(adbc.Config()):
        prepared = adbc.prepare(f, *example)
        before = default_engine().builds
        given = duplicate(list(example))
        prepared(*given)
        prepared.value_and_grad(*given)
        assert default_engine().builds == before


def test_the_example_is_left_as_it_is() -> None:
    values, x = [1.0, 2.0], X.copy()
    adbc.prepare(lambda values, x: sum(values) * x[0], values, x)
    assert values == [1.0, 2.0]
    np.testing.assert_array_equal(x, X)


def test_conventions_are_those_of_grad() -> None:
    assert adbc.prepare(product, 1.0, 2.0, argnums=(0, 1))(1.0, 2.0) == adbc.grad(product, (0, 1))(1.0, 2.0)
    assert adbc.prepare(product, 1.0, y=2.0, argnums="y")(1.0, y=3.0) == adbc.grad(product, 1)(1.0, 3.0)
    prepared = adbc.prepare(lambda x: (x * x, "seen"), 1.0, has_aux=True)
    assert prepared(3.0) == (6.0, "seen")
    assert prepared.value_and_grad(3.0) == ((9.0, "seen"), 6.0)
    with pytest.raises(adbc.errors.ArgumentError, match="float"):
        adbc.prepare(lambda x: x * x, 1)
    with pytest.raises(ZeroDivisionError):
        adbc.prepare(lambda x: x / 0.0, 1.0)
    with pytest.raises(adbc.errors.ArgumentError, match="cannot be copied"):
        adbc.prepare(lambda x, lock: x * x, 1.0, threading.Lock())


def test_results_are_new() -> None:
    for f in (written, rosenbrock, lambda x: written(x)):
        prepared = adbc.prepare(f, X)
        first = prepared(X)
        kept = first.copy()
        second = prepared(2.0 * X)
        assert not np.shares_memory(first, second) and not np.shares_memory(first, X)
        np.testing.assert_array_equal(first, kept)


def test_several_threads_call_one_object() -> None:
    prepared = adbc.prepare(written, X)
    expected = [adbc.grad(written)(X * k) for k in range(1, 5)]
    wrong: list[int] = []

    def run(k: int) -> None:
        wrong.extend(k for _ in range(200) if not np.array_equal(prepared(X * k), expected[k - 1]))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


RATE = 2.0


def scaled(x: float) -> float:
    return RATE * x * x


def test_what_has_changed_since_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = adbc.prepare(scaled, 1.0)
    assert prepared(3.0) == 12.0
    monkeypatch.setitem(scaled.__globals__, "RATE", 5.0)
    assert prepared(3.0) == 30.0
    with adbc.use(adbc.Config(speculation="never")):
        assert prepared(3.0) == 30.0


def test_they_are_not_made_inside_of_a_derivative() -> None:
    with pytest.raises(adbc.errors.UnsupportedError, match="prepare"):
        adbc.grad(lambda x: adbc.prepare(lambda y: y * x, 1.0)(x))(2.0)


def test_a_batched_pullback_of_before_is_refused_in_a_derivative() -> None:
    _, pullback = adbc.vjp(lambda x: x**3, 2.0, width=2)
    with pytest.raises(adbc.errors.UnsupportedError, match="derivative is taken inside"):
        adbc.grad(lambda c: pullback(np.ones(2) * c)[0].sum())(1.0)


def test_variables_of_closures_are_read_each_time() -> None:
    rate = 2.0

    def f(x: float) -> float:
        return rate * x * x

    prepared = adbc.prepare(f, 1.0)
    assert prepared(3.0) == 12.0
    rate = 5.0
    assert prepared(3.0) == 30.0


def test_derivatives_of_them() -> None:
    prepared = adbc.prepare(lambda x: x**3, 1.0)
    assert adbc.grad(prepared)(2.0) == pytest.approx(12.0)
    assert adbc.grad(lambda x: prepared(x) * x)(2.0) == pytest.approx(36.0)
    assert adbc.grad(lambda x: prepared.value_and_grad(x)[0])(2.0) == pytest.approx(12.0)
    assert adbc.jvp(prepared, (2.0,), (1.0,)) == pytest.approx((12.0, 12.0))


def test_they_can_be_pickled() -> None:
    prepared = pickle.loads(pickle.dumps(adbc.prepare(rosenbrock, X)))
    np.testing.assert_array_equal(prepared(X), adbc.grad(rosenbrock)(X))
    assert prepared.value_and_grad(X)[0] == rosenbrock(X)
    both = pickle.loads(pickle.dumps(prepared.value_and_grad))
    np.testing.assert_array_equal(both(X)[1], prepared(X))
    assert "prepared gradient of rosenbrock" in repr(adbc.prepare(rosenbrock, X))
