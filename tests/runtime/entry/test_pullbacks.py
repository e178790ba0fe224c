"""`adbc.vjp` on the way that calls before have shown: as on the first, whatever the value and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import InvalidTangentError, PullbackConsumedError
from adbc.runtime import default_engine
from adbc.runtime.entry.pullbacks import OpenCall, _KnownCall


def plain(x: Any) -> Any:
    """`x` with lists in the place of arrays, to be compared by ``==``."""
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, list | tuple):
        return type(x)(map(plain, x))
    return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else x


def product(x: Any, y: Any) -> Any:
    return x * y


def itself(x: Any) -> Any:
    return x


def part(x: Any) -> Any:
    return x[1:]


def both(x: Any, y: Any) -> Any:
    return x, x + y


def overwritten(x: Any) -> Any:
    x[0] = x[1] * 2.0
    return x


def appended(xs: list[float]) -> Any:
    xs.append(xs[0] * 3.0)
    return xs


def counted(x: Any, n: int) -> Any:
    total = x
    for _ in range(n):
        total = total * x
    return total


def of_pairs(pair: tuple[float, float]) -> Any:
    return {"sum": pair[0] + pair[1], "difference": pair[0] - pair[1]}


def table(p: dict[str, float]) -> Any:
    return [p["a"] * p["b"], p["a"]]


CASES: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], Any]] = [
    (product, lambda: (2.0, 5.0), 3.0),
    (product, lambda: (np.array([1.0, 2.0]), 5.0), np.array([1.0, -1.0])),
    (product, lambda: (np.array([1.0, 2.0]), np.ones((3, 2))), np.arange(6.0).reshape(3, 2)),
    (itself, lambda: (2.0,), 4.0),
    (itself, lambda: (np.array([1.0, 2.0]),), np.array([1.0, -1.0])),
    (part, lambda: (np.array([1.0, 2.0, 3.0]),), np.array([1.0, -1.0])),
    (both, lambda: (np.array([1.0, 2.0]), 3.0), (np.array([1.0, 2.0]), np.array([10.0, 20.0]))),
    (overwritten, lambda: (np.array([1.0, 2.0]),), np.array([1.0, -1.0])),
    (appended, lambda: ([1.0, 2.0],), [1.0, 10.0, 100.0]),
    (counted, lambda: (1.5, 3), 2.0),
    (of_pairs, lambda: ((1.0, 2.0),), {"sum": 1.0, "difference": 10.0}),
    (table, lambda: ({"a": 2.0, "b": 3.0},), [1.0, 10.0]),
]


@pytest.mark.parametrize(("f", "arguments", "cotangent"), CASES)
def test_the_first_call_and_all_others_agree(f: Any, arguments: Any, cotangent: Any) -> None:
    found = []
    for _ in range(4):
        given = arguments()
        value, pullback = adbc.vjp(f, *given)
        gradients = pullback(cotangent)
        assert plain(given) == plain(arguments())
        found.append((plain(value), plain(gradients)))
    assert found == [found[0]] * 4


def known(f: Any, *args: Any) -> bool:
    """Whether a call of `f` on `args` is known, once there was one."""
    engine = default_engine()
    OpenCall(engine, f, args, False).back(1.0)
    return isinstance(OpenCall(engine, f, args, False).call, _KnownCall)


def test_what_is_known_after_one_call() -> None:
    scale = 2.0
    assert known(product, 2.0, 5.0)
    assert known(counted, 2.0, 5)
    assert known(lambda x: x * scale, 2.0)
    assert not known(lambda x, y=[1.0]: x * y[0], 2.0)  # memory that is not an argument


def test_a_pullback_waits() -> None:
    pullbacks = [adbc.vjp(product, float(i), np.array([1.0, 2.0]) * i)[1] for i in range(1, 5)]
    found = [pullback(np.array([1.0, 10.0])) for pullback in reversed(pullbacks)]
    assert [float(dx) for dx, _ in found] == [84.0, 63.0, 42.0, 21.0]
    assert [dy.tolist() for _, dy in found] == [[i, 10.0 * i] for i in (4.0, 3.0, 2.0, 1.0)]


def test_it_runs_once_and_checks_cotangents() -> None:
    for _ in range(3):
        _, pullback = adbc.vjp(product, np.array([1.0, 2.0]), 5.0)
        with pytest.raises(InvalidTangentError):
            pullback(np.ones(3))
        assert plain(pullback(np.ones(2))) == ([5.0, 5.0], 3.0)
        with pytest.raises(PullbackConsumedError):
            pullback(np.ones(2))


def test_arguments_that_share_memory_take_the_long_way() -> None:
    for _ in range(3):
        adbc.vjp(product, np.ones(2), np.ones(2))[1](np.ones(2))
    x = np.array([1.0, 2.0])
    for _ in range(2):
        first, second = adbc.vjp(product, x, x)[1](np.ones(2))
        assert first is second
        assert first.tolist() == [2.0, 4.0]
    whole = np.array([1.0, 2.0, 3.0])
    _, second = adbc.vjp(product, whole[:2], whole[1:])[1](np.ones(2))
    assert second.tolist() == [1.0 + 3.0, 2.0]


def test_functions_with_the_same_code() -> None:
    def times(k: Any) -> Any:
        return lambda x: x * k

    for k in (2.0, 3.0, np.array([1.0, 4.0]), 5.0):
        value, pullback = adbc.vjp(times(k), 3.0)
        assert plain(value) == plain(3.0 * k)
        assert pullback(np.ones(2) if np.ndim(k) else 1.0) == (np.sum(k),)


def test_with_something_besides() -> None:
    for i in range(3):
        value, pullback, aux = adbc.vjp(lambda x: (x * x, {"x": x}), 1.0 + i, has_aux=True)
        assert (value, aux, pullback(1.0)) == ((1.0 + i) ** 2, {"x": 1.0 + i}, (2.0 + 2 * i,))


def test_a_rule_declared_meanwhile_is_used() -> None:
    def cube(x: float) -> float:
        return x**3

    for _ in range(3):
        assert adbc.vjp(cube, 2.0)[1](1.0) == (12.0,)
    adbc.scalar_rule(cube)([lambda y, x: -1.0])
    assert adbc.vjp(cube, 2.0)[1](1.0) == (-1.0,)


def test_a_function_that_is_replaced() -> None:
    def f(x: float) -> float:
        return x * 2.0

    def g(x: float) -> float:
        return x * 5.0

    for _ in range(3):
        assert adbc.vjp(f, 2.0)[1](1.0) == (2.0,)
    f.__code__ = g.__code__
    assert adbc.vjp(f, 2.0)[1](1.0) == (5.0,)
