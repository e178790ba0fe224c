"""Functions whose parameters have defaults are entered as quickly as others, and do what they do."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ArgumentError
from adbc.testing import test_rule as check
from benchmarks.instructions import executed


def plain(x: float) -> float:
    return x * x * 3.0


def scaled(x: float, factor: float = 3.0, verbose: bool = False) -> float:
    if verbose:
        print(x)
    return x * x * factor


def by_name(x: float, method: str = "square", start: Any = None, n: int = 2) -> float:
    y = 1.0 if start is None else start
    for _ in range(n):
        y = y * x
    return y if method == "square" else -y


def of_an_array(x: Any, weight: float = 0.5, axis: Any = None) -> Any:
    return (x * x).sum(axis=axis) * weight


def with_memory(x: float, seen: Any = [0.5]) -> Any:  # noqa: B006  # what such a program has
    return x * seen[0]


def keeping(x: float, *rest: float, power: int = 2, **others: Any) -> Any:
    return x**power + sum(rest)


def test_derivatives() -> None:
    for _ in range(6):
        assert adbc.value_and_grad(scaled)(1.5) == (6.75, 9.0)
        assert adbc.value_and_grad(scaled)(1.5, 2.0) == (4.5, 6.0)
        assert adbc.value_and_grad(scaled)(1.5, verbose=False) == (6.75, 9.0)
        assert adbc.value_and_grad(scaled, "factor")(1.5, factor=2.0) == (4.5, 2.25)
        assert adbc.value_and_grad(scaled, (0, 1))(1.5, 2.0) == (4.5, (6.0, 2.25))
        assert adbc.jvp(scaled, (1.5,), (1.0,)) == (6.75, 9.0)
        assert adbc.jvp(scaled, (1.5, 2.0), (0.0, 1.0)) == (4.5, 2.25)
        assert adbc.grad(by_name)(1.5) == 3.0
        assert adbc.grad(by_name)(1.5, n=3) == 3 * 1.5**2
        assert adbc.grad(by_name)(1.5, n=1, method="other") == -1.0
        assert adbc.grad(by_name)(1.5, "square", 2.0) == 6.0
        assert adbc.jvp(by_name, (1.5,), (1.0,)) == (2.25, 3.0)
        assert adbc.grad(of_an_array)(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
        assert adbc.jvp(of_an_array, (np.ones(2),), (np.ones(2),)) == (1.0, 2.0)
        assert adbc.grad(with_memory)(1.5) == 0.5
        assert adbc.grad(keeping)(1.5) == 3.0
        assert adbc.grad(keeping)(1.5, 2.0, power=3) == 3 * 1.5**2
    check(scaled, 1.5)
    check(by_name, 1.5)
    check(of_an_array, np.array([1.0, 2.0]))


def test_defaults_that_change_are_seen() -> None:
    def f(x: float, k: Any = 2.0) -> Any:
        return x * k

    gradient = adbc.grad(f)
    for k in (2.0, 5.0, 3, True, 4.0):
        f.__defaults__ = (k,)
        for _ in range(4):
            assert gradient(1.5) == float(k)
            assert adbc.jvp(f, (1.5,), (1.0,))[1] == float(k)
    f.__defaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        gradient(1.5)


def test_which_arguments_are_meant_does_not_depend_on_defaults() -> None:
    for _ in range(4):
        assert adbc.grad(scaled, argnums=-1)(1.5) == 9.0
        assert adbc.grad(scaled, argnums=-1)(1.5, 2.0) == 2.25
        for wanted in (1, (0, 1), "factor"):
            with pytest.raises(ArgumentError):
                adbc.grad(scaled, argnums=wanted)(1.5)
        with pytest.raises(ArgumentError):
            adbc.jvp(scaled, (1.5,), (1.0, 1.0))
        with pytest.raises(TypeError):
            adbc.grad(scaled)(1.5, other=2.0)


def test_defaults_cost_little() -> None:
    costs = []
    for f in (plain, scaled):
        gradient = adbc.grad(f)
        for _ in range(8):
            gradient(1.5)
            adbc.jvp(f, (1.5,), (1.0,))
        costs.append((executed(lambda: gradient(1.5)), executed(lambda: adbc.jvp(f, (1.5,), (1.0,)))))  # noqa: B023  # called at once
    for without, with_defaults in zip(*costs, strict=True):
        assert with_defaults < without + 1000, costs  # the long way takes nearly 3,000 more


def test_gradients_that_are_made_anew_cost_little() -> None:
    gradient = adbc.grad(scaled)
    for _ in range(8):
        gradient(1.5)
    once, anew = executed(lambda: gradient(1.5)), executed(lambda: adbc.grad(scaled)(1.5))
    assert anew < once + 1000, (once, anew)


def test_functions_of_one_code_are_told_apart() -> None:
    made: list[Any] = []
    for k in (2.0, 3.0):
        namespace = {"K": k}
        exec("def f(x):\n    return x * K", namespace)
        made.append(namespace["f"])
    code = made[0].__code__
    made[1].__code__ = code
    with_rule = types.FunctionType(code, made[0].__globals__)
    adbc.zero_derivative(with_rule)
    for _ in range(4):
        for f, slope in zip((*made, with_rule), (2.0, 3.0, 0.0), strict=True):
            for _ in range(3):
                assert adbc.grad(f)(1.5) == slope
                assert adbc.grad(f, (0,))(1.5) == (slope,)
