"""Functions with `functools.lru_cache`: what they are given tells whether they run again."""

from __future__ import annotations

import dataclasses
import enum
import functools
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import adbc

X = 0.7


def a_method(x: Any) -> Any:
    u = [1.0]

    class Model:
        def __init__(self) -> None:
            self.v = x

        @functools.lru_cache(maxsize=None)  # noqa: B019, UP033
        def doubled(self) -> Any:
            u[0] = u[0] * 1.1 + 0.1 * x
            return self.v * 2.0

        @functools.lru_cache  # noqa: B019
        def scaled(self, k: Any = 1, *, q: Any = 2) -> Any:
            u.append(x)
            return x * k * q

    one, other = Model(), Model()
    y = one.doubled() + one.doubled() + other.doubled() + one.scaled() + one.scaled() + one.scaled(2)
    return y + one.scaled(k=3) + one.scaled(k=3) + one.scaled(2, q=x) + sum(u)


def of_objects_and_functions(x: Any) -> Any:
    runs = [0.0]

    @functools.cache
    def g(o: Any, h: Any) -> Any:
        runs[0] += x
        return x * h(2.0)

    o = object()
    return g(o, float) + g(o, float) + g(o, abs) + g(object(), abs) + runs[0]


def of_what_is_no_key(x: Any) -> Any:
    runs = [x]

    @functools.lru_cache
    def g(values: Any) -> Any:
        runs.append(x)
        return x

    for values in ([1.0], {}, {1}):
        try:
            runs.append(g(values))
        except TypeError as error:
            runs.append(x * len(str(error)))
    return sum(runs)


def of_numbers(x: Any) -> Any:
    @functools.cache
    def g(y: Any) -> Any:
        return y * x

    return g(x) + g(x) + g(2.0) + g(y=x)


def of_derived_values(x: Any) -> Any:
    """Text and integers of a class of their own are what their value says, others are themselves."""
    runs = [1.0]

    class Word(str):
        pass

    class Count(int):
        pass

    class Length(float):
        @functools.lru_cache  # noqa: B019
        def doubled(self) -> Any:
            runs[0] = runs[0] * 1.1 + x
            return x * self

    class Pair(tuple):
        @functools.lru_cache  # noqa: B019
        def first(self, k: Any = 0) -> Any:
            runs[0] = runs[0] * 1.3 + x
            return self[k]

    @functools.lru_cache
    def g(*args: Any, **named: Any) -> Any:
        runs[0] = runs[0] * 1.2 + x
        return x * len(args)

    word, length, pair = Word("w"), Length(2.0), Pair((x, 3.0))
    y = g(word) + g(word) + g(Word("w")) + g("w") + g("w", 1) + g(word, 1) + g(Count(2)) + g(Count(2)) + g(2)
    y += g(k=word) + g(k="w") + length.doubled() + length.doubled() + pair.first() + pair.first()
    return y + pair.first(1) + pair.first(1) + runs[0]


def of_a_bool(x: Any) -> Any:
    @functools.lru_cache
    def g(k: Any, m: Any = 2) -> Any:
        return x * 2.0 if type(k) is bool else x * 5.0

    @functools.lru_cache(maxsize=2)
    def h(k: Any, m: Any = 2) -> Any:
        return x * 2.0 if type(k) is bool else x * 5.0

    return g(1) + g(True) + g(1, 3) + g(True, 3) + h(True) + h(1) + h(k=1) + h(k=True)


def with_hashes_in_python(x: Any) -> Any:
    """A hash is asked for whenever the cache is."""
    asked = [1.0]

    class Key:
        def __init__(self, name: Any) -> None:
            self.name = name

        def __hash__(self) -> int:
            asked[0] = asked[0] * 1.1 + x
            return hash(self.name)

        def __eq__(self, other: Any) -> Any:
            return self.name == other.name

        @functools.lru_cache  # noqa: B019
        def scaled(self, y: Any) -> Any:
            asked[0] += x * x
            return y * x

    key = Key("a")
    y = key.scaled(2) + key.scaled(2) + key.scaled(3) + key.scaled(x)
    key.name = "b"  # is another one
    return y + key.scaled(2) + key.scaled(2) + asked[0]


class Counted:
    def __init__(self, v: Any) -> None:
        self.runs, self.v = 0, v

    @functools.lru_cache(maxsize=None)  # noqa: B019, UP033
    def doubled(self) -> Any:
        self.runs += 1
        return self.v * 2.0

    @functools.lru_cache  # noqa: B019
    def scaled(self, k: int) -> Any:
        self.runs += 1
        return self.v * k


@functools.lru_cache
def first_of(values: Any) -> Any:
    return values[0]


def with_caches_from_before(x: Any) -> Any:
    one, other = Counted(x), Counted(2.0 * x)
    y = one.doubled() + one.doubled() + other.doubled() + one.scaled(2) + one.scaled(2) + one.scaled(3)
    one.v = x * x
    y += one.doubled() + other.scaled(k=2) + other.scaled(k=2)
    Counted.doubled.cache_clear()
    y += one.doubled() + one.doubled()
    try:
        y += first_of([x, 2.0])
    except TypeError:
        y += x * x
    return y + x * (one.runs + 3 * other.runs)


PROGRAMS = [
    a_method, of_objects_and_functions, of_what_is_no_key, of_numbers, of_derived_values, of_a_bool,
    with_hashes_in_python, with_caches_from_before,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_they_run_as_often_as_in_a_plain_call(f: Callable[[Any], Any], speculation: str) -> None:
    slope = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    for _ in range(2):
        assert adbc.jvp(f, (X,), (1.0,)) == (pytest.approx(f(X)), pytest.approx(slope, rel=1e-6))
        assert adbc.value_and_grad(f)(X) == (pytest.approx(f(X)), pytest.approx(slope, rel=1e-6))


# -- caches that were made before the call -----------------------------------------------------------------


RUNS: list[Any] = []
PARAMETERS: dict[str, Any] = {}


class Lattice:
    def __init__(self, up: Any, p: Any) -> None:
        self.up = up
        self.p = p

    @functools.lru_cache(maxsize=None)  # noqa: B019, UP033
    def value(self, i: int, n: int = 0) -> Any:
        RUNS.append(self.p)
        if i == 0:
            return self.up
        return self.p * self.value(i - 1, n) + (1.0 - self.p) * self.value(max(i - 2, 0), n)


def of_a_method(x: Any) -> Any:
    lattice = Lattice(x * x, 0.3 * x)
    return lattice.value(30) + lattice.value(5) + sum(RUNS)


@functools.lru_cache
def by_name(n: int) -> Any:
    RUNS.append(PARAMETERS["a"])
    return 1.0 if n < 2 else by_name(n - 1) * PARAMETERS["a"] + 0.1 * by_name(n - 2)


def of_a_global(x: Any) -> Any:
    PARAMETERS["a"] = x
    by_name.cache_clear()
    first = by_name(40) + by_name(7) * len(RUNS)
    PARAMETERS["a"] = x * x
    by_name.cache_clear()
    return first + by_name(10) * len(RUNS) + sum(RUNS)


@functools.cache
def binomial(n: int, k: int, p: Any) -> Any:
    if n == 0 or k < 0 or k > n:
        return 1.0 if n == k else 0.0
    return p * binomial(n - 1, k - 1, p) + (1 - p) * binomial(n - 1, k, p)


def of_a_number(x: Any) -> Any:
    return binomial(7, 3, x) + binomial(6, 2, x * x) * binomial(7, 3, 0.5 * x)


def of_numpy_numbers(x: Any) -> Any:
    a = np.array([x, 1.0 - x])
    return binomial(6, 2, a[0]) + binomial(6, 3, a[1])


@dataclasses.dataclass(frozen=True)
class Terms:
    rate: Any
    dates: Any


class Side(enum.Enum):
    PUT = -1.0
    CALL = 1.0


@functools.lru_cache(None)
def price(terms: Terms, side: Side, state: tuple[Any, ...], n: int) -> Any:
    if n == 0:
        return side.value * state[0] + terms.rate
    return terms.rate * price(terms, side, state, n - 1) + 0.1 * price(terms, side, state, max(n - 2, 0))


def of_values(x: Any) -> Any:
    terms = Terms(x, (1, 2))
    return sum(price(terms, side, (x, 1), 8) for side in Side) + price(Terms(x, (1,)), Side.PUT, (x,), 3)


@dataclasses.dataclass(frozen=True)
class Lazy:
    rate: Any

    @functools.cached_property
    def double(self) -> Any:
        return 2.0 * self.rate


@functools.cache
def lazily(lazy: Lazy, y: Any, n: int) -> Any:
    if n == 0:
        return lazy.double * y
    return lazily(lazy, y, n - 1) + 0.1 * lazily(lazy, y, max(n - 2, 0))


def of_a_frozen_object(x: Any) -> Any:
    lazy = Lazy(x)
    return lazily(lazy, x, 5) + lazy.double * lazily(lazy, x, 2)


@functools.lru_cache(maxsize=None)  # noqa: UP033
def hides(n: int, x: Any, y: Any) -> Any:
    if n == 0:
        return x * y
    stopped = adbc.stop_gradient(x)
    return hides(n - 1, x, y) + 2.0 * hides(n - 1, stopped, y) + 3.0 * hides(n - 1, y, x)


@functools.lru_cache(maxsize=2)
def few(o: Any, n: int) -> Any:
    RUNS.append(o.up)
    return o.up * n


def of_a_small_cache(x: Any) -> Any:
    o = Lattice(x, x)
    y = few(o, 1) + few(o, 2) + few(o, 3) + few(o, 1) + few(o, 1) + few(n=1, o=o)
    return y + sum(RUNS) + few.cache_info().currsize * x


@functools.cache
def fails(n: int, x: Any) -> Any:
    if n == 0:
        raise ValueError
    return x * fails(n - 1, x)


@functools.cache
def survives(n: int, x: Any) -> Any:
    try:
        return fails(n, x)
    except ValueError:
        return x if n == 0 else survives(n - 1, x) + x * x


def of_failures(x: Any) -> Any:
    try:
        fails(3, x)
    except ValueError:
        return survives(3, x) + survives(2, x * 2.0)


def of_no_keys(x: Any) -> Any:
    try:
        return binomial(2, 1, [x])
    except TypeError as error:
        return x * len(str(error))


BEFORE = [
    of_a_method, of_a_global, of_a_number, of_numpy_numbers, of_values, of_a_small_cache, of_failures,
    of_no_keys, of_a_frozen_object,
]  # fmt: skip


def anew(f: Callable[[Any], Any], x: float) -> Any:
    """``f(x)``, with nothing kept from before."""
    RUNS.clear()
    for cached in (Lattice.value, lazily, by_name, binomial, price, hides, few, fails, survives):
        cached.cache_clear()  # type: ignore[attr-defined]
    return f(x)


@pytest.mark.parametrize("f", BEFORE)
def test_what_was_kept_before_the_call_is_not_asked_for(f: Callable[[Any], Any], speculation: str) -> None:
    value = anew(f, X)
    slope = (anew(f, X + 1e-6) - anew(f, X - 1e-6)) / 2e-6
    for _ in range(3):
        RUNS.clear()
        assert adbc.jvp(f, (X,), (1.0,)) == (pytest.approx(value, rel=1e-14), pytest.approx(slope, rel=1e-6))
        RUNS.clear()
        found, gradient = adbc.value_and_grad(f)(X)
        assert (found, gradient) == (pytest.approx(value, rel=1e-14), pytest.approx(slope, rel=1e-6))


def test_equal_numbers_that_depend_on_different_things() -> None:
    x, y = 0.5, 0.5

    def f(x: Any, y: Any) -> Any:
        return hides(4, x, y) + binomial(6, 2, x) * 3.0 + binomial(6, 2, y)

    def g(x: Any, y: Any, n: int = 4) -> Any:
        if n == 0:
            return x * y
        return g(x, y, n - 1) + 2.0 * g(adbc.stop_gradient(x), y, n - 1) + 3.0 * g(y, x, n - 1)

    def expected(x: Any, y: Any) -> Any:
        return g(x, y) + polynomial(x) * 3.0 + polynomial(y)

    def polynomial(p: Any) -> Any:
        return 15.0 * p * p * (1 - p) ** 4

    for _ in range(3):
        assert adbc.grad(f, (0, 1))(x, x) == pytest.approx(adbc.grad(expected, (0, 1))(x, x))
        assert adbc.grad(f, (0, 1))(x, y) == pytest.approx(adbc.grad(expected, (0, 1))(x, y))
        for v in ((1.0, 0.0), (0.3, -2.0)):
            assert adbc.jvp(f, (x, x), v)[1] == pytest.approx(adbc.jvp(expected, (x, x), v)[1])


class Held:
    def __init__(self, value: Any) -> None:
        self.value = value


def stopped_first(x: Any) -> Any:
    scale, held = [x], Held(x)

    @functools.cache
    def square(held: Held) -> Any:
        return held.value * held.value * scale[0]

    return square(adbc.stop_gradient(held)) + square(held)


def stopped_last(x: Any) -> Any:
    scale, held = [x], Held(x)

    @functools.lru_cache(maxsize=2)
    def square(held: Held, times: int = 1) -> Any:
        return held.value * held.value * scale[0] * times

    return square(held, times=1) + square(adbc.stop_gradient(held), times=1)


def active_later(x: Any) -> Any:
    scale, held = [x], Held(2.0)

    @functools.cache
    def square(held: Held) -> Any:
        return held.value * held.value * scale[0]

    before = square(held)
    held.value = x
    return before + square(held)


@pytest.mark.parametrize("warm_after", [0, 40])
def test_an_object_that_is_stopped_is_told_apart_where_the_cache_is_made(warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for f, value, slope in (
            (stopped_first, 6.75, 2.25 + 6.75),
            (stopped_last, 6.75, 2.25 + 6.75),
            (active_later, 12.0, 8.0),
        ):
            for _ in range(2):
                assert adbc.value_and_grad(f)(1.5) == (value, slope)
                assert adbc.jvp(f, (1.5,), (1.0,)) == (value, slope)


def test_an_object_that_is_stopped_is_told_apart_in_an_inner_derivative() -> None:
    def f(x: Any) -> Any:
        @functools.cache
        def square(held: Held) -> Any:
            return held.value * held.value

        held = Held(x)
        return square(adbc.stop_gradient(held)) + square(held)

    for derivative in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))[1]):
        assert adbc.jvp(derivative, (1.5,), (1.0,)) == (3.0, 2.0)
        assert adbc.value_and_grad(derivative)(1.5) == (3.0, 2.0)


STEPS = """
import adbc
from tests.rules.test_cached import Side, Terms, binomial, price

for _ in range(2):
    assert abs(adbc.grad(lambda x: binomial(60, 30, x))(0.5)) < 1e-12
    adbc.jvp(lambda x: price(Terms(x, (1, 2)), Side.CALL, (x, 1), 80), (0.5,), (1.0,))
"""


def test_recursions_take_as_many_steps_as_there_are_states() -> None:
    """In a process of its own: where a rule has been declared, numbers are not told apart."""
    subprocess.run([sys.executable, "-c", STEPS], check=True, timeout=300)


def test_second_derivatives() -> None:
    def f(x: Any) -> Any:
        return binomial(6, 2, x)

    exact = 15.0 * (2 * (1 - X) ** 4 - 16 * X * (1 - X) ** 3 + 12 * X**2 * (1 - X) ** 2)
    assert adbc.grad(adbc.grad(f))(X) == pytest.approx(exact)
    assert adbc.jvp(adbc.grad(f), (X,), (1.0,))[1] == pytest.approx(exact)

    def twice(x: Any) -> Any:
        return adbc.grad(lambda y: Lattice(y, y).value(3))(x) + Lattice(x, x).value(3)

    slope = (twice(X + 1e-6) - twice(X - 1e-6)) / 2e-6
    assert adbc.grad(twice)(X) == pytest.approx(slope, rel=1e-6)


class Quiet:
    def __init__(self, up: Any) -> None:
        self.up = up

    @functools.cache  # noqa: B019
    def value(self, i: int) -> Any:
        return self.up if i < 2 else 0.3 * self.value(i - 1) + self.up * self.value(i - 2)


def test_threads_have_caches_of_their_own() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = [*pool.map(lambda x: adbc.grad(lambda x: Quiet(x).value(12))(x), [0.1] * 20)]
    assert found == [found[0]] * 20
