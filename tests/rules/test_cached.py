"""Functions with `functools.lru_cache`: what they are given tells whether they run again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

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
