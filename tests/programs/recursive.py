"""Programs that recurse as deep as plain Python lets them at its usual limit, or about so: each is given a
number, which it multiplies by `FACTOR` at every level, and the number of levels."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

Program = Callable[[float, int], Any]

FACTOR = 1.001
DEPTH = 850

PROGRAMS: dict[str, tuple[Program, int]] = {}
"""By name a program, and how many levels it can have."""


def levels(count: int) -> Callable[[Program], Program]:
    """Add a program of `count` levels to `PROGRAMS`."""

    def add(program: Program) -> Program:
        PROGRAMS[program.__name__] = program, count
        return program

    return add


@levels(DEPTH)
def a_closure_that_calls_itself(x: float, depth: int) -> float:
    def inner(n: int) -> float:
        return x if n == 0 else inner(n - 1) * FACTOR

    return inner(depth)


@levels(DEPTH)
def closures_that_call_each_other(x: float, depth: int) -> float:
    def even(n: int) -> float:
        return x if n == 0 else odd(n - 1) * FACTOR

    def odd(n: int) -> float:
        return x if n == 0 else even(n - 1) * FACTOR

    return even(depth)


def scaled(n: int, x: float) -> float:
    return x if n == 0 else scaled(n - 1, x) * FACTOR


@levels(DEPTH)
def a_function_of_the_module(x: float, depth: int) -> float:
    return scaled(depth, x)


def even_scaled(n: int, x: float) -> float:
    return x if n == 0 else odd_scaled(n - 1, x * FACTOR)


def odd_scaled(n: int, x: float) -> float:
    return x if n == 0 else even_scaled(n - 1, x * FACTOR)


@levels(DEPTH)
def functions_that_call_each_other(x: float, depth: int) -> float:
    return even_scaled(depth, x)


@levels(DEPTH)
def a_function_in_a_list_that_calls_itself(x: float, depth: int) -> float:
    found: list[Any] = []

    def inner(n: int, y: float) -> float:
        call = found[0]
        return y if n == 0 else call(n - 1, y) * FACTOR

    found.append(inner)
    return inner(depth, x)


@levels(DEPTH // 3)
def a_fixed_point_combinator(x: float, depth: int) -> float:
    fixed: Any = lambda f: (lambda g: g(g))(lambda g: f(lambda n: g(g)(n)))  # noqa: E731  # as it is written
    return fixed(lambda again: lambda n: x if n == 0 else again(n - 1) * FACTOR)(depth)


def passing_on(function: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> float:
        return function(*args, **kwargs)

    return wrapper


@passing_on
def wrapped(n: int, x: float) -> float:
    return x if n == 0 else wrapped(n - 1, x=x) * FACTOR


@levels(DEPTH // 2)
def a_function_with_a_wrapper(x: float, depth: int) -> float:
    return wrapped(depth, x)


@levels(250)
def a_cached_function(x: float, depth: int) -> float:
    @functools.lru_cache(maxsize=None)
    def inner(n: int) -> float:
        return x if n == 0 else inner(n - 1) * FACTOR

    return inner(depth)


@levels(300)
def partial_functions(x: float, depth: int) -> float:
    def inner(n: int, y: float) -> float:
        return y if n == 0 else functools.partial(inner, n - 1)(y * FACTOR)

    return inner(depth, x)


class Answering:
    def __init__(self, value: float, count: int = 0) -> None:
        self.value = value
        self.count = count

    def method(self, n: int) -> float:
        return self.value if n == 0 else self.method(n - 1) * FACTOR

    def __call__(self, n: int) -> float:
        return self.value if n == 0 else self(n - 1) * FACTOR

    def __getitem__(self, n: int) -> float:
        return self.value if n == 0 else self[n - 1] * FACTOR

    def __add__(self, other: Answering) -> Answering:
        if self.count == 0:
            return other
        return Answering(self.value, self.count - 1) + Answering(other.value * FACTOR)

    def __getattr__(self, name: str) -> Any:
        n = int(name.removeprefix("level"))
        return self.value if n == 0 else getattr(self, f"level{n - 1}") * FACTOR

    @property
    def counted(self) -> float:
        if self.count == 0:
            return self.value
        self.count -= 1
        return self.counted * FACTOR


@levels(DEPTH)
def a_method(x: float, depth: int) -> float:
    return Answering(x).method(depth)


@levels(300)
def an_object_that_is_called(x: float, depth: int) -> float:
    return Answering(x)(depth)


@levels(300)
def an_object_that_is_subscripted(x: float, depth: int) -> float:
    return Answering(x)[depth]


@levels(300)
def an_operator(x: float, depth: int) -> float:
    return (Answering(x, depth) + Answering(x)).value


@levels(200)
def an_attribute_hook(x: float, depth: int) -> Any:
    return getattr(Answering(x), f"level{depth}")


@levels(300)
def a_property(x: float, depth: int) -> float:
    return Answering(x, depth).counted


def from_below(n: int, x: float) -> Iterator[float]:
    if n == 0:
        yield x
    else:
        yield from from_below(n - 1, x * FACTOR)


@levels(100)
def generators_that_delegate(x: float, depth: int) -> float:
    return sum(from_below(depth, x))


def looped_from_below(n: int, x: float) -> Iterator[float]:
    if n == 0:
        yield x
    else:
        for value in looped_from_below(n - 1, x):
            yield value * FACTOR


@levels(150)
def generators_that_loop_over_each_other(x: float, depth: int) -> float:
    return sum(looped_from_below(depth, x))


@levels(200)
def comprehensions(x: float, depth: int) -> float:
    def inner(n: int) -> float:
        return x if n == 0 else sum([inner(m) for m in [n - 1]]) * FACTOR

    return inner(depth)


@levels(100)
def functions_handed_to_map(x: float, depth: int) -> float:
    def inner(n: int) -> float:
        return x if n == 0 else sum(map(inner, [n - 1])) * FACTOR

    return inner(depth)


@levels(400)
def a_try_statement(x: float, depth: int) -> float:
    def inner(n: int) -> float:
        try:
            return x if n == 0 else inner(n - 1) * FACTOR
        except ValueError:
            return 0.0

    return inner(depth)


@levels(200)
def a_with_statement(x: float, depth: int) -> float:
    def inner(n: int) -> float:
        with contextlib.nullcontext(FACTOR) as factor:
            return x if n == 0 else inner(n - 1) * factor

    return inner(depth)


@levels(DEPTH)
def an_exception_from_below(x: float, depth: int) -> Any:
    def inner(n: int, y: float) -> float:
        if n == 0:
            raise ValueError(y)
        return inner(n - 1, y * FACTOR)

    try:
        return inner(depth, x)
    except ValueError as error:
        return error.args[0]


@levels(400)
def closures_around_closures(x: float, depth: int) -> float:
    def around(f: Callable[[], float]) -> Callable[[], float]:
        return lambda: f() * FACTOR

    made: Callable[[], float] = lambda: x  # noqa: E731  # like the others
    for _ in range(depth):
        made = around(made)
    return made()
