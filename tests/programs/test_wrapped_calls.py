"""Functions that gather arguments and hand them on, functions of factories, caches, and calls in ``try``."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing.values import duplicate
from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative

STEPS = [0.1 * k for k in range(1, 11)]


# -- decorators ----------------------------------------------------------------------------------------------


def timed(f: Callable[..., Any]) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return f(*args, **kwargs)
        finally:
            wrapper.calls += 1  # type: ignore[attr-defined]
            wrapper.spent += time.perf_counter() - start  # type: ignore[attr-defined]

    wrapper.calls, wrapper.spent = 0, 0.0  # type: ignore[attr-defined]
    return wrapper


def checked(f: Callable[..., Any]) -> Any:
    def wrapper(x: Any, *args: Any, verbose: bool = False, **kwargs: Any) -> Any:
        if verbose:
            print(x)
        if x < 0.0:
            raise ValueError(x)
        return f(x, *args, **kwargs)

    return wrapper


def scaled(by: float) -> Any:
    def decorate(f: Callable[..., Any]) -> Any:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            kwargs.setdefault("k", 0.5)
            return by * f(*args, **kwargs)

        return wrapper

    return decorate


def retried(f: Callable[..., Any]) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for attempt in range(3):
            try:
                return f(*args, attempt=attempt, **kwargs)
            except ArithmeticError:
                continue
        raise RuntimeError("it never works")

    return wrapper


@timed
def product(x: float, y: float, *, k: float = 1.0) -> float:
    return x * y * k


@checked
def quotient(x: float, y: float = 2.0, *rest: float, k: float = 1.0) -> float:
    return x / y * k + sum(rest)


@scaled(1.5)
def power(x: float, k: float = 2.0) -> float:
    return float(x**k)


@retried
def fragile(x: float, attempt: int, k: float = 1.0) -> float:
    y = x * k * (attempt + 1)
    if attempt < 1:
        raise ZeroDivisionError(y)
    return y * y


def decorated(x: float) -> float:
    before = product.calls
    total = 0.0
    for step in STEPS:
        total += product(x, step, k=x) + quotient(x + step, x, step, x, k=step) + power(x + step)
        total += power(x, k=step) + fragile(x, k=step)
    count = product.calls - before
    product.calls, product.spent = before, 0.0
    return total * count


class Model:
    def __init__(self, **parameters: Any) -> None:
        self.__dict__.update(parameters)
        self.names = tuple(parameters)

    def rate(self, t: float, **over: Any) -> Any:
        gain = over.get("gain", 1.0)
        return self.base * t * gain + (over["shift"] if "shift" in over else 0.0)  # type: ignore[attr-defined]

    def all_rates(self, *times: float, **over: Any) -> Any:
        return [self.rate(t, **over) for t in times]


def keywords_handed_on(x: float) -> Any:
    model = Model(base=x, other=[x, 1.0])
    total = 0.0
    for step in STEPS:
        total += model.rate(step) + model.rate(step, gain=x) + model.rate(step, shift=x * x, gain=2.0)
        total += sum(model.all_rates(step, x, gain=step))
    return total * len(model.names)


def keywords_that_change(x: float) -> float:
    """What ``**kwargs`` gathers is changed before it is handed on, and is not what the caller has."""

    def inner(a: float, b: float = 1.0, c: float = 0.0) -> float:
        return a * b + c

    def outer(a: float, **kw: float) -> float:
        kw["b"] = kw.get("b", 2.0) * a
        c = kw.pop("d", 0.0)
        return inner(a, **kw, c=c)

    given = {"b": x, "d": x * x}
    total = sum(outer(step, **given) + outer(step) + outer(step, b=x) for step in STEPS)
    return total + given["b"] * given["d"] * len(given)


# -- functions of factories ----------------------------------------------------------------------------------


def make_rate(k: float, table: list[float]) -> Any:
    calls = 0

    def rate(x: float) -> float:
        nonlocal calls
        calls += 1
        return k * x * table[calls % 2] + calls

    def reset() -> int:
        nonlocal calls
        count, calls = calls, 0
        return count

    def any_number(*values: float, by: float = 1.0) -> float:
        return by * k * sum(values)

    return rate, reset, any_number


rate, reset, any_number = make_rate(2.5, [1.0, 0.25])


def of_a_factory(x: float) -> float:
    total = 0.0
    for step in STEPS:
        total += rate(x + step) * any_number(x, step) + any_number(x, step, x, by=x)
    return total * reset()


class Layer:
    def __init__(self, weight: float, activation: Callable[[float], float]) -> None:
        self.weight = weight
        self.activation = activation

    def forward(self, x: float) -> float:
        return self.activation(self.weight * x)


def functions_in_fields(x: float) -> float:
    layers = [Layer(x, math.tanh), Layer(2.0, lambda v: v if v > 0 else 0.1 * v), Layer(0.5, lambda v: v * x)]
    total = 0.0
    for step in STEPS:
        value = step
        for layer in layers:
            value = layer.forward(value)
        total += value
    return total


# -- caches --------------------------------------------------------------------------------------------------

VALUES = [0.5 + 0.1 * i for i in range(8)]
WEIGHTS = [1 + i % 4 for i in range(8)]


def knapsack(x: float, cache: Callable[[Any], Any]) -> Any:
    @cache
    def best(i: int, room: int, bonus: float = 0.25) -> float:
        if i == len(VALUES):
            return bonus * x
        without = best(i + 1, room)
        if WEIGHTS[i] > room:
            return float(without)
        return float(max(without, VALUES[i] * x**i + best(i + 1, room - WEIGHTS[i])))

    return best(0, 10) + best(0, 4, bonus=1.0) * best.cache_info().misses + best.cache_info().hits


CACHES: dict[str, Any] = {
    "cache": functools.cache,
    "bounded": functools.lru_cache,
    "small": functools.lru_cache(maxsize=7),
    "none": functools.lru_cache(maxsize=0),
    "typed": functools.lru_cache(maxsize=None, typed=True),
}


def cached_method(x: float) -> Any:
    class Series:
        def __init__(self, ratio: float) -> None:
            self.ratio = ratio

        @functools.cache  # noqa: B019
        def term(self, n: int) -> Any:
            return 1.0 if n == 0 else self.ratio * self.term(n - 1) + n

    series, other = Series(x), Series(x * x)
    return sum(series.term(n) * other.term(4 - n) for n in range(5)) + Series.term(series, 3)


class Table:
    """What is kept of it is found again only by the object that it is of."""

    def __init__(self, ratio: float) -> None:
        self.ratio = ratio

    @functools.lru_cache(maxsize=16)  # noqa: B019
    def entry(self, n: int, scale: float = 1.0) -> float:
        return self.ratio**n * scale


def method_with_a_cache(x: float) -> float:
    table, other = Table(x), Table(2.0)
    total = sum(table.entry(n) + other.entry(n, scale=0.5) * x for n in range(4) for _ in range(2))
    Table.entry.cache_clear()
    return total


def cached_errors(x: float) -> Any:
    """What raises is not kept."""

    @functools.cache
    def root(n: int) -> float:
        tries.append(n)
        if n < 0:
            raise ValueError("negative")
        return float((n * x) ** 0.5)

    tries: list[int] = []
    total = 0.0
    for n in (1, -1, 2, -1, 1, 2):
        try:
            total += root(n)
        except ValueError as error:
            total += len(str(error)) * x
    return total * len(tries)


# -- try -----------------------------------------------------------------------------------------------------


def memo_by_asking_forgiveness(x: float) -> float:
    memo: dict[tuple[int, int], float] = {}

    def best(i: int, room: int) -> float:
        if i == len(VALUES):
            return 0.0
        try:
            return memo[i, room]
        except KeyError:
            pass
        result = best(i + 1, room)
        if WEIGHTS[i] <= room:
            result = max(result, VALUES[i] * x**i + best(i + 1, room - WEIGHTS[i]))
        memo[i, room] = result
        return result

    return best(0, 10)


def falls_back(x: float) -> float:
    table = {"a": [x, 2.0], "b": [x * x]}
    total = 0.0
    for step in STEPS:
        for name in ("a", "b", "c"):
            try:
                value = table[name][1] * step
                value /= table[name][0]
            except KeyError:
                value = x * step
            except IndexError:
                value = table[name][0]
            else:
                value += 1.0
            finally:
                total += step * x
            total += value
    return total


def changes_in_try(x: float) -> float:
    """What a function has done before it raises stays done."""
    state = [x, 0.0]

    def step(k: int) -> float:
        state[1] += state[0] * k
        if k % 3 == 0:
            raise ValueError(k)
        state[0] *= 1.0 + 0.01 * x
        return state[0] * state[1]

    total = 0.0
    for k in range(12):
        try:
            total += step(k)
        except ValueError:
            state[1] *= 0.5
    return total + state[1]


def deep(x: float) -> float:
    def down(n: int) -> float:
        return x * down(n + 1)

    try:
        return down(0)
    except RecursionError:
        return x * x


PROGRAMS: list[Callable[[float], Any]] = [
    decorated, keywords_handed_on, keywords_that_change, of_a_factory, functions_in_fields, cached_method,
    method_with_a_cache, cached_errors, memo_by_asking_forgiveness, falls_back, changes_in_try,
    *[functools.partial(knapsack, cache=cache) for cache in CACHES.values()],
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], Any], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8):
        check_gradient(program, at)


@pytest.mark.parametrize("program", [functions_in_fields, of_a_factory, method_with_a_cache, changes_in_try])
def test_second_derivatives(program: Callable[[float], Any]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], Any]) -> None:
    check_once_warm(program)


def test_a_recursion_without_end_is_caught() -> None:
    for _ in range(3):
        assert adbc.grad(deep)(1.5) == 3.0


def test_cells_of_a_global_function_change() -> None:
    """Its cells, its defaults and its code are what they are when it is called."""
    gradient = adbc.grad(of_a_factory)
    for i in range(60):
        gradient(0.6 + 0.005 * i)
    cells = dict(zip(any_number.__code__.co_freevars, any_number.__closure__, strict=True))
    for k in (3.0, 4, 2.5):
        cells["k"].cell_contents = k
        check_gradient(of_a_factory, 0.8)
    before = any_number.__kwdefaults__, any_number.__code__
    any_number.__kwdefaults__ = {"by": 4.0}
    check_gradient(of_a_factory, 0.8)
    any_number.__kwdefaults__ = before[0]
    other = make_other(1.0)
    any_number.__code__ = other.__code__
    check_gradient(of_a_factory, 0.8)
    any_number.__code__ = before[1]
    check_gradient(of_a_factory, 0.8)


def make_other(k: float) -> Any:
    def other(*values: float, by: float = 2.0) -> float:
        return by * k * math.prod(values)

    return other


@pytest.mark.parametrize("keywords", [{"k": 2.0, "x": 1.0}, {"z": 1.0}])
def test_wrong_keywords_raise_what_they_raise(keywords: dict[str, float]) -> None:
    def called(x: float) -> Any:
        total = 0.0
        for step in STEPS:
            total += quotient(x, step, **keywords)
        return total

    with pytest.raises(TypeError) as plain:
        called(1.0)
    for _ in range(3):
        with pytest.raises(TypeError) as found:
            adbc.grad(called)(1.0)
        assert str(found.value) == str(plain.value)


def test_numbers_of_another_class_in_try() -> None:
    def summed(x: float, table: dict[str, Any]) -> Any:
        total = 0.0
        for name in ("a", "b", "c"):
            try:
                total = total + table[name] * x
            except KeyError:
                total = total * x
        return total

    gradient = adbc.value_and_grad(summed)
    for i in range(60):
        gradient(0.6 + 0.005 * i, {"a": 2.0, "b": 3.0})
    for table in ({"a": 2, "b": 3.0}, {"a": 1.5, "c": True}, {}, {"a": 2.0, "b": 3.0}):
        for _ in range(3):
            check_gradient(summed, 0.8, duplicate(table))
