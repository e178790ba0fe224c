"""Attributes of functions: a cache, a counter, the last value.  They are memory that belongs to the function
object, by whatever name it is met."""

from __future__ import annotations

import copy
import functools
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc


def g(y: Any) -> Any:
    return y


def with_default(y: Any, k: float = 2.0) -> Any:
    return y * k


def last_times(y: Any) -> Any:
    return g.last * y


def memo(n: int, x: Any) -> Any:
    if not hasattr(memo, "cache"):
        memo.cache = {}
    if n in memo.cache:
        return memo.cache[n]
    memo.cache[n] = x if n < 2 else memo(n - 1, x) * memo(n - 2, x)
    return memo.cache[n]


def counting(function: Callable[[Any], Any]) -> Any:
    @functools.wraps(function)
    def wrapper(y: Any) -> Any:
        wrapper.calls += 1
        wrapper.seen.append(y)
        return function(y) * wrapper.calls

    wrapper.calls, wrapper.seen = 0, []
    return wrapper


@counting
def counted(y: Any) -> Any:
    return y * y


def scaled_by(c: list[float]) -> Any:
    def scaled(y: Any) -> Any:
        return y * y * scaled.k * vars(scaled)["w"][0] * c[0]

    scaled.k, scaled.w = 3.0, [2.0]
    return scaled


scaled = scaled_by([1.0])


class Owner:
    def method(self, y: Any) -> Any:
        return y * Owner.method.k


FUNCTIONS: list[Any] = [g, with_default, memo, Owner.method, statistics.mean]


def cache(x: Any) -> Any:
    g.cache = {}
    g.cache["a"] = x * x
    return g.cache["a"] * 3


def count(x: Any) -> Any:
    g.count = 0
    for _ in range(3):
        g.count = g.count + 1
    return x * g.count


def last(x: Any) -> Any:
    g.last = x
    return g.last * last_times(2.0)


def added(x: Any) -> Any:
    g.total = 0.0
    for i in range(4):
        g.total += x * i
    return g.total


def remembered(x: Any) -> Any:
    y = memo(5, x)
    del memo.cache
    return y * memo(2, x)


def of_library(x: Any) -> Any:
    statistics.mean.last = x
    return statistics.mean([1.0, x]) * statistics.mean.last


def of_one_with_a_default(x: Any) -> Any:
    with_default.last = x
    return with_default.last * with_default(3.0)


def of_wrapper(x: Any) -> Any:
    return counted(x) + counted(x) + sum(counted.seen)


def array(x: Any) -> Any:
    g.array = np.ones(3) * x
    g.array[1] *= 2.0
    y = g.array.sum()
    g.array = None
    return y * x


def by_other_ways(x: Any) -> Any:
    alias = [g][0]
    setattr(alias, "last", x)  # noqa: B010  # this is what is tested
    y = getattr(g, "last", 0.0) * vars(g)["last"] * g.__dict__["last"] * getattr(g, "none", 2.0)
    delattr(g, "last")
    return y * (3 if hasattr(g, "last") else 1)


def of_method(x: Any) -> Any:
    Owner.method.k = x
    return Owner().method(2.0)


def of_local(x: Any) -> Any:
    def local(y: Any) -> Any:
        return y * local.k

    local.k = x
    return local(x)


def for_callbacks(x: Any) -> Any:
    g.last = x
    return sum(map(last_times, [1.0, 2.0])) * sorted([3.0, 1.0], key=last_times)[0]


def in_inner_derivative(x: Any) -> Any:
    g.last = x
    return adbc.grad(lambda y: y * y * g.last)(3.0)


def set_in_inner_derivative(x: Any) -> Any:
    def inner(y: Any) -> Any:
        g.last = y
        return g.last * y

    return adbc.grad(inner)(x) * x


def of_local_in_inner_derivative(x: Any) -> Any:
    def local(y: Any) -> Any:
        return y * y * local.k * vars(local)["k"]

    local.k = x
    return adbc.grad(local)(2.0) * local.k + adbc.jvp(local, (x,), (1.0,))[1]


def of_local_with_a_default_in_inner_derivative(x: Any) -> Any:
    def local(y: Any, *, s: Any = x) -> Any:
        return y * local.k * s * (y + local.w[0])

    local.k = 3.0
    local.w = [x]
    return adbc.grad(local)(2.0)


def counted_in_inner_derivative(x: Any) -> Any:
    def local(y: Any) -> Any:
        local.n += 1
        local.total = local.total + y * x
        return local.total * y * local.n

    local.n, local.total = 0, x
    return adbc.grad(local)(2.0) + adbc.value_and_grad(local)(3.0)[1] + local.n + local.total


def wrapped_in_inner_derivative(x: Any) -> Any:
    @counting
    def local(y: Any) -> Any:
        return y * y * x

    return adbc.grad(local)(2.0) + local(3.0) + local.calls


def replaced_in_inner_derivative(x: Any) -> Any:
    scaled.k, scaled.w = x, [x]
    y = adbc.grad(scaled)(2.0)
    del scaled.k
    scaled.k = 2.0
    return y + adbc.grad(scaled)(x)


def filled_by_its_dictionary_in_inner_derivative(x: Any) -> Any:
    owner = Owner()
    own = vars(owner)

    def local(y: Any) -> Any:
        own["k"] = y * x
        return owner.k * y  # type: ignore[attr-defined]  # set by the other name

    return adbc.grad(local)(2.0) * x


def copied(x: Any) -> Any:
    g.last = x
    return copy.copy(g).last * x


def missing(x: Any) -> Any:
    try:
        del g.none
    except AttributeError:
        x = x * 2
    try:
        return g.none
    except AttributeError:
        return x * x


def of_a_closure_set_by_its_global_name(x: Any) -> Any:
    scaled.k, scaled.w = x, [x * 2.0]
    return scaled(2.0) * vars(scaled)["k"] + scaled.__dict__["w"][0]


def of_a_closure_as_it_was(x: Any) -> Any:
    return scaled(x) * scaled.k + vars(scaled)["w"][0] * x


PROGRAMS = [
    cache, count, last, added, remembered, of_library, of_one_with_a_default, of_wrapper, array,
    by_other_ways, of_method, of_local, for_callbacks, copied, missing,
    of_a_closure_set_by_its_global_name, of_a_closure_as_it_was,
]  # fmt: skip


def reset() -> None:
    counted.calls, counted.seen = 0, []
    for function in FUNCTIONS:
        vars(function).clear()
    scaled.k, scaled.w = 3.0, [2.0]


def state() -> list[Any]:
    return [
        scaled.k,
        list(scaled.w),
        counted.calls,
        list(counted.seen),
        *(list(vars(function)) for function in FUNCTIONS),
    ]


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    reset()
    yield
    reset()


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_attributes_of_functions(f: Callable[[Any], Any], speculation: str) -> None:
    def value(x: float) -> float:
        reset()
        return float(f(x))

    expected, slope = value(1.5), (value(1.5 + 1e-6) - value(1.5 - 1e-6)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            reset()
            assert adbc.jvp(f, (1.5,), (1.0,)) == (expected, pytest.approx(slope, rel=1e-8))
            reset()
            before = state()
            assert adbc.value_and_grad(f)(1.5) == (expected, pytest.approx(slope, rel=1e-8))
            assert state() == before


INNER = [
    in_inner_derivative, set_in_inner_derivative, of_local_in_inner_derivative,
    of_local_with_a_default_in_inner_derivative, counted_in_inner_derivative, wrapped_in_inner_derivative,
    replaced_in_inner_derivative, filled_by_its_dictionary_in_inner_derivative,
]  # fmt: skip


@pytest.mark.parametrize("warm_after", [0, 40])
@pytest.mark.parametrize("f", INNER)
def test_inner_derivatives(f: Callable[[Any], Any], warm_after: int) -> None:
    def value(x: float) -> float:
        reset()
        return float(f(x))

    expected, slope = value(1.5), (value(1.5 + 1e-6) - value(1.5 - 1e-6)) / 2e-6
    with adbc.use(adbc.Config(warm_after=warm_after)):
        reset()
        before = state()
        assert adbc.value_and_grad(f)(1.5) == (expected, pytest.approx(slope, rel=1e-8))
        assert state() == before
        assert adbc.jvp(f, (1.5,), (1.0,)) == (expected, pytest.approx(slope, rel=1e-8))


@pytest.mark.parametrize("make", [lambda: g, lambda: with_default])
def test_a_function_is_one_however_it_is_met(make: Any) -> None:
    def f(functions: Any, x: Any) -> Any:
        functions[0].last = x
        return make().last * functions[0].last

    for _ in range(3):
        assert adbc.grad(f, argnums=1)([make()], 1.5) == 3.0
        assert not vars(make())
        assert adbc.grad(lambda x: f([make()], x))(1.5) == 3.0
        assert not vars(make())
