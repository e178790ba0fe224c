"""``next`` of iterators in C and in Python, loops over iterators that are objects, functions with a cache."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from tests.programs.checks import check_gradient


def steps_of_a_list(a: list[Any], x: float) -> Any:
    it = iter(a)
    s = next(it)
    a.append(s * x)
    a[1] *= x
    for _ in range(2):
        s += next(it) * x
    for v in it:
        s = s * 0.5 + v
    return s + next(it, x * x) * next(it, 2.0)


def steps_of_a_tuple(x: float, y: float) -> Any:
    it = iter((x, 2.0 * y, x * y, 3.0, y * y))
    s = 0.0
    for _ in range(3):
        s = s * x + next(it)
        s += next(it, y)
    return s


def steps_backwards(a: list[Any], x: float) -> Any:
    s = 0.0
    it = reversed(a)
    for i in range(2):
        a[i] = x * next(it)
        s += a[0] * a[1]
    for v in it:
        s = s * x + v
    for v in reversed(a):
        a.append(v * s)
        s += v
    return s


def steps_of_a_deque(a: list[Any], x: float) -> Any:
    q = deque(a, maxlen=3)
    s = 0.0
    for _ in range(3):
        for v in q:
            s = s * 0.5 + v
        for v in reversed(q):
            s = s * 0.5 - v * x
        q.append(s)
        it = iter(q)
        s += next(it) * next(it)
    return s


def steps_of_a_dict(d: dict[str, Any], x: float) -> Any:
    s = 0.0
    for _ in range(2):
        values, pairs, names = iter(d.values()), iter(d.items()), iter(d)
        while (k := next(names, None)) is not None:
            v = next(values)
            _, w = next(pairs)
            s = s * x + v * w + len(k) * x
            d[k] = s
    return s


def steps_that_end(a: list[Any], x: float) -> Any:
    it = iter(a)
    s = x
    while True:
        try:
            s = s * x + next(it)
        except StopIteration:
            return s * next(it, s)


def steps_of_several(a: list[Any], x: float) -> Any:
    both = zip(a, [x * v for v in a])
    s = 0.0
    v, w = next(both)
    a[2] = w
    for y, z in both:
        s = s * 0.5 + y * z - v * w
    numbered = enumerate(a)
    i, y = next(numbered)
    return s + sum(k * z for k, z in numbered) * y + i


class Halving:
    """An iterator in Python with a state that has a derivative."""

    def __init__(self, x: Any, count: int) -> None:
        self.x, self.left = x, count

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.x *= 0.5
        return self.x


def steps_in_python(x: float) -> Any:
    it = Halving(x, 4)
    s = 0.0
    for i in range(3):
        s += next(it) * i
        it.x += s
    try:
        s += next(it) * x
        s += next(it) * x
    except StopIteration:
        s *= it.x
    return s + next(it, x)


def endless_steps(x: float) -> Any:
    numbers, signs, same = itertools.count(x, 0.5), itertools.cycle([x, -1.0, x * x]), itertools.repeat(x)
    s = 0.0
    for i in range(5):
        s = s * 0.5 + next(numbers) * next(signs) * next(same) - i
    return s


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (steps_of_a_list, ([1.5, 0.5, 2.5, -0.5], 0.75)),
    (steps_of_a_list, ([1.5, 2, np.float64(2.5), 3], 0.75)),
    (steps_of_a_tuple, (1.5, 0.5)),
    (steps_backwards, ([1.5, 0.5, 2.5, -0.5], 0.75)),
    (steps_backwards, ([1.5, 2, 2.5, 3], 0.75)),
    (steps_of_a_deque, ([1.5, 0.5, 2.5, -0.5], 0.75)),
    (steps_of_a_dict, ({"a": 1.5, "b": -0.5, "cc": 2.5}, 0.75)),
    (steps_of_a_dict, ({"a": 1.5, "b": 2, "cc": 2.5}, 0.75)),
    (steps_that_end, ([1.5, 0.5, 2.5], 0.75)),
    (steps_of_several, ([1.5, 0.5, 2.5, -0.5], 0.75)),
    (steps_in_python, (1.5,)),
    (endless_steps, (0.75,)),
]


def _name(value: Any) -> str:
    return getattr(value, "__name__", "")


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=_name)
def test_programs(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check_gradient(f, *args, argnums=tuple(range(len(args))))


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=_name)
def test_programs_again_and_again(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    gradient = adbc.value_and_grad(f, tuple(range(len(args))))
    first = gradient(*args)
    for _ in range(45):
        again = gradient(*args)
    assert repr(again) == repr(first)


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize("make", [iter, reversed, Halving, lambda a: Halving(a[0], 1)])
def test_steps_that_raise(make: Callable[..., Any]) -> None:
    def f(a: list[Any], x: float) -> Any:
        it = make(a)
        return next(it) * next(it) * next(it) * x

    with pytest.raises(Exception) as expected:  # noqa: PT011  # whatever it is
        f([1.0, 2.0], 0.5)
    for _ in range(2):
        with pytest.raises(type(expected.value)) as found:
            adbc.grad(f, 1)([1.0, 2.0], 0.5)
        assert str(found.value) == str(expected.value)


# -- functions with a cache that is by-passed -------------------------------------------------------------

TABLE = [1.0, 2.0, 3.0]
SCALE = {"by": 2.0}


@functools.lru_cache
def entry(k: int, *, times: float = 1.0) -> Any:
    return TABLE[k] * SCALE["by"] * times


@functools.lru_cache(maxsize=None)
def weight(k: int) -> Any:
    return TABLE[k] if k < 2 else weight(k - 1) + 0.5 * weight(k - 2)


def reads_tables(x: float) -> Any:
    s = 0.0
    for k in range(3):
        s += entry(k) * x + entry(k, times=2.0) * weight(k)
    return s


def writes_tables(x: float) -> Any:
    before = TABLE[:]
    s = 0.0
    for k in range(3):
        TABLE[k] = x * (k + 1)
        SCALE["by"] = x
        s += entry.__wrapped__(k) * weight.__wrapped__(1)
    TABLE[:] = before
    SCALE["by"] = 2.0
    return s


@pytest.mark.usefixtures("speculation")
def test_functions_with_a_cache() -> None:
    check_gradient(reads_tables, 0.75)
    check_gradient(writes_tables, 0.75)


def writes_what_is_cached(x: float) -> Any:
    s = 0.0
    for k in range(3):
        TABLE[k] = x * (k + 1)
        s += entry(k) * x + weight(k)
    return s


@pytest.mark.usefixtures("speculation")
def test_a_cache_does_not_keep_what_has_a_derivative() -> None:
    before = TABLE[:]
    for x in (0.75, 1.25):
        entry.cache_clear()
        weight.cache_clear()
        _, gradient = adbc.value_and_grad(writes_what_is_cached)(x)
        assert TABLE == before
        # 2 (1 + 2 + 3) x^2, and x, 2 x and 2.5 x
        assert gradient == pytest.approx(24.0 * x + 5.5)
    assert before == TABLE
