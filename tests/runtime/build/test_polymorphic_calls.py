"""Calls of what is now this and now that: derivatives are those by differences however they are decided, and
what was decided does not outlive a change."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient


def double(x: Any) -> Any:
    return 2.0 * x


def cube(x: Any) -> Any:
    return x**3


def scaled(k: Any) -> Callable[[Any], Any]:
    return lambda x: k * x + 1.0


class Linear:
    def __init__(self, w: Any) -> None:
        self.w = w

    def value(self, x: Any) -> Any:
        return self.w * x


class Sine(Linear):
    def value(self, x: Any) -> Any:
        return self.w + math.sin(x)


def composed(x: float, layers: Sequence[Callable[[Any], Any]]) -> Any:
    for _ in range(2):
        for layer in layers:
            x = layer(x)
    return x


def of_functions(x: float) -> Any:
    return composed(x, [double, math.sin, scaled(x), scaled(2.0)])


def of_objects(x: float) -> Any:
    total = x
    for item in [Linear(x), Sine(x * x), Linear(2.0)]:
        total = total + item.value(x) * total
    return total


def from_table(x: float) -> Any:
    table = {"double": double, "cube": cube, "scaled": scaled(x)}
    total = 0.0
    for name in ("double", "cube", "scaled", "cube"):
        total += table[name](x + total)
    return total


class Model:
    def __init__(self, activation: Any) -> None:
        self.activation = activation

    def output(self, x: Any) -> Any:
        total = 0.0
        for k in range(3):
            total += self.activation(x * k)
        return total


def of_fields(x: float) -> Any:
    return Model(double).output(x) * Model(math.exp).output(x) + Model(scaled(x)).output(x)


@pytest.mark.parametrize("function", [of_functions, of_objects, from_table, of_fields])
def test_however_calls_are_decided(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(4):
        check_gradient(function, 0.7)


@pytest.mark.slow
def test_second_derivatives() -> None:
    def twice(x: float) -> Any:
        for layer in (double, math.sin):
            x = layer(x) * x
        return x

    first = adbc.grad(twice)
    for _ in range(4):
        first(0.7)
    found = adbc.grad(lambda x: adbc.grad(twice)(x))(0.7)
    assert found == pytest.approx((first(0.7 + 1e-5) - first(0.7 - 1e-5)) / 2e-5, rel=1e-7)


def settled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    gradient = adbc.grad(function)
    for _ in range(5):
        gradient(*arguments)
    return gradient


def test_a_function_gets_other_code() -> None:
    def renewed(x: Any) -> Any:
        return 3.0 * x

    fresh = [double, type(double)((lambda x: 5.0 * x).__code__, globals()), renewed]
    gradient = settled(composed, 1.0, fresh)
    assert gradient(1.0, fresh) == pytest.approx(900.0)
    fresh[1].__code__ = (lambda x: x * x).__code__
    expected = (composed(1.0 + 1e-6, fresh) - composed(1.0 - 1e-6, fresh)) / 2e-6
    assert gradient(1.0, fresh) == pytest.approx(expected)


def sum_of(x: float, items: Sequence[Any]) -> Any:
    total = x
    for item in items:
        total = total * item.value(x)
    return total


def test_a_method_is_hidden_or_replaced() -> None:
    class Own(Linear):
        def value(self, x: Any) -> Any:
            return self.w * x * x

    items = [Linear(2.0), Own(3.0), Sine(1.5)]
    gradient = settled(sum_of, 0.7, items)
    items[0].value = cube  # type: ignore[method-assign]
    check_gradient(lambda x: sum_of(x, items), 0.7)
    Own.value = lambda self, x: self.w + x  # type: ignore[method-assign]
    expected = (sum_of(0.7 + 1e-6, items) - sum_of(0.7 - 1e-6, items)) / 2e-6
    assert gradient(0.7, items) == pytest.approx(expected, rel=1e-7)


def test_one_of_several_functions_with_the_same_code_gets_a_rule() -> None:
    layers = [scaled(2.0), scaled(3.0)]

    def total(x: float) -> Any:
        result = 0.0
        for layer in layers:
            result += layer(x)
        return result

    assert settled(total, 1.0)(1.0) == 5.0
    adbc.zero_derivative(layers[1])
    assert adbc.grad(total)(1.0) == 2.0


def test_an_exception_comes_out_of_what_is_called() -> None:
    def failing(x: Any) -> Any:
        if x > 3.0:
            raise ValueError("too large")
        return x + 1.0

    gradient = settled(composed, 0.1, [double, failing])
    with pytest.raises(ValueError, match="too large"):
        gradient(3.0, [double, failing])


class Paths:
    def __init__(self, costs: dict[str, float]) -> None:
        self.costs = costs
        self.memo: dict[tuple[int, int], Any] = {}

    def least(self, i: int, j: int) -> Any:
        if (i, j) in self.memo:
            return self.memo[i, j]
        if i == 0 or j == 0:
            found = i * self.costs["down"] + j * self.costs["right"]
        else:
            found = min(
                self.least(i - 1, j) + self.costs["down"],
                self.least(i, j - 1) + self.costs["right"],
            )
        self.memo[i, j] = found
        return found


def least(down: float, right: float, n: int) -> Any:
    return Paths({"down": down, "right": right}).least(n, n)


def test_a_method_is_still_expected_where_another_guess_was_wrong() -> None:
    gradient = adbc.value_and_grad(least, (0, 1))
    for _ in range(6):
        gradient(0.7, 0.4, 20)
    plain = executed(lambda: least(0.7, 0.4, 20))
    assert executed(lambda: gradient(0.7, 0.4, 20)) < 20 * plain
