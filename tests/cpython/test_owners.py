"""Which variables of the function around a function keep their values while that runs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from adbc.cpython.owners import kept_freevars


def kept(function: Any) -> set[str]:
    names = function.__code__.co_freevars
    return {names[i] for i in kept_freevars(function.__code__, function.__globals__)}


def plain(a: int, b: int) -> Callable[[], int]:
    c = a
    c += 1

    def inner() -> int:
        return a + b + c

    return inner


def sets_one(a: int, b: int) -> tuple[Callable[[], int], Callable[[], None]]:
    def inner() -> int:
        return a + b

    def sets() -> None:
        nonlocal b
        b += 1

    return inner, sets


def sets_itself(a: int) -> Callable[[], int]:
    def inner() -> int:
        nonlocal a
        a += 1
        return a

    return inner


def deletes(a: int) -> Callable[[], int]:
    def inner() -> int:
        def deleting() -> None:
            nonlocal a
            del a

        deleting()
        return a

    return inner


def deeper(a: int) -> Any:
    def middle(b: int) -> Any:
        def inner() -> int:
            return a + b

        return inner

    return middle


def generator(a: int) -> Iterator[Any]:
    def inner() -> int:
        return a

    yield inner


def of_a_generator(a: int) -> Any:
    def inner() -> Iterator[int]:
        yield a

    return inner


class Owner:
    def method(self, a: int) -> Callable[[], int]:
        return lambda: a

    @staticmethod
    def static(a: int) -> Callable[[], int]:
        return lambda: a

    @property
    def prop(self) -> Callable[[], Any]:
        return lambda: self


def decorator(f: Any) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        return f(*args)

    return wrapper


@decorator
def decorated(a: int) -> Callable[[], int]:
    return lambda: a


@functools.lru_cache
def cached(a: int) -> Callable[[], int]:
    return lambda: a


def test_what_only_the_function_around_sets() -> None:
    assert kept(plain(1, 2)) == {"a", "b", "c"}
    assert kept(deeper(1)(2)) == {"a", "b"}


def test_what_other_functions_set_or_delete() -> None:
    assert kept(sets_one(1, 2)[0]) == {"a"}
    assert kept(sets_one(1, 2)[1]) == set()
    assert kept(sets_itself(1)) == set()
    assert kept(deletes(1)) == set()


def test_generators_wait_in_the_middle() -> None:
    assert kept(next(generator(1))) == set()
    assert kept(of_a_generator(1)) == set()


def test_the_function_around_is_found_by_its_name() -> None:
    assert kept(Owner().method(1)) == kept(Owner.static(1)) == {"a"}
    assert kept(Owner().prop) == {"self"}
    assert kept(decorated(1)) == kept(cached(1)) == {"a"}


def test_what_is_not_found_is_not_known() -> None:
    inner = plain(1, 2)
    code = inner.__code__.replace(co_qualname="elsewhere.<locals>.inner")
    assert kept(types.FunctionType(code, globals(), closure=inner.__closure__)) == set()
    assert kept_freevars(inner.__code__, {"plain": deeper}) == frozenset()
    assert kept_freevars(inner.__code__, {}) == frozenset()
