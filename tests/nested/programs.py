"""Functions of a number whose second derivatives are taken in all ways."""

from __future__ import annotations

import contextlib
import functools
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def power(x: float) -> float:
    return x**3


def loop(x: float) -> float:
    y = 1.0
    for _ in range(4):
        y = y * x + math.sin(y)
    return y


def branch(x: float) -> float:
    if x > 1:
        return math.exp(x) * x
    return x * x


def until(x: float) -> float:
    while x < 100:
        x = x * x
    return x


def _cube(x: float) -> float:
    return x * x * x


def callee(x: float) -> float:
    return _cube(math.sin(x)) + _cube(x)


def lists(x: float) -> float:
    values = [x, 2 * x]
    for _ in range(3):
        values.append(values[-1] * values[-2])
    values[0] = values[0] * values[1]
    return sum(values)


class Point:
    def __init__(self, a: float) -> None:
        self.a = a

    def squared(self) -> float:
        return self.a**2


def objects(x: float) -> float:
    p = Point(x * x)
    p.a = p.a * x
    return p.squared()


def closure(x: float) -> float:
    def inner(y: float) -> float:
        return y * x

    return inner(x) * x


def counter(x: float) -> float:
    total = 0.0

    def add(y: float) -> None:
        nonlocal total
        total = total + y * x

    add(x)
    add(x * x)
    return total * x


def dictionary(x: float) -> float:
    d = {"a": x}
    d["b"] = d["a"] * x
    return sum(d.values()) * x


def generator(x: float) -> float:
    return sum(x**i for i in range(4))


def _powers(x: float) -> Iterator[float]:
    for i in range(3):
        yield x**i * x


def generator_function(x: float) -> float:
    return sum(_powers(x)) * x


def array(x: float) -> Any:
    v = np.arange(3.0) * x
    return np.sum(v * v * v)


def in_place(x: float) -> Any:
    v = np.full(3, x)
    v[1:] *= x
    v[0] = v[1] * v[2]
    return np.dot(v, v)


def formula(x: float) -> Any:
    v = np.linspace(0.1, 0.9, 4) * x
    return np.sum(np.exp(-v) * np.sin(v)) / np.mean(v)


def matrix(x: float) -> Any:
    a = np.eye(2) * x + np.array([[0.0, 1.0], [0.5, 0.0]])
    return np.linalg.solve(a, np.array([x, 1.0])) @ np.array([1.0, x])


def reduced(x: float) -> float:
    return functools.reduce(lambda p, q: p * q + x, [x, 2.0, x], 1.0)


def mapped(x: float) -> float:
    return sum(map(lambda y: y * y * x, [x, 1.0, 2.0]))  # noqa: C417  # the map is what is tested


def spread(x: float) -> float:
    def product(first: float, second: float, scale: float = 1.0) -> float:
        return first * second * scale

    values, named = [x, x * x], {"second": x, "scale": x * x}
    y = product(*values) * product(*values[:1], **named)
    values[0] = 2.0 * x
    return y * product(*values, scale=x)


def gathered(x: float) -> float:
    def inner(a: float, *rest: float, **named: float) -> float:
        named["b"] *= a
        total = 0.0
        for value in named.values():
            total += value
        return total * rest[0] * named.get("c", 1.0)

    def outer(*given: Any, **named: Any) -> Any:
        return inner(*given, **named)

    return outer(x, x * x, b=x, n=3.0) * outer(2.0, x, b=x * x, c=x)


def by_name(x: float) -> float:
    made = dict(a=x, b=x * x)  # noqa: C408  # the call is what is tested
    first, *rest = [*made.values(), x]
    return first * rest[0] * rest[1] if {"a", "b"}.issuperset(iter(made)) else x


class Overflow(Exception):
    def __init__(self, value: float) -> None:
        self.value = value


@contextlib.contextmanager
def pushed(stack: list[float], value: float) -> Iterator[float]:
    stack.append(value * stack[-1])
    try:
        yield stack[-1] ** 2
    except Overflow as error:
        stack.append(error.value)
    finally:
        last = stack.pop()
        stack[-1] += 0.3 * last * last


def managed(x: float) -> float:
    stack, total = [x], x
    with pushed(stack, x) as square:
        total += square * x
        raise Overflow(total * x)
    return total * stack[-1]


def stacked(x: float) -> float:
    stack = [x]
    with contextlib.ExitStack() as managers:
        stack[0] *= managers.enter_context(pushed(stack, x))
    return stack[0] * stack[-1]


def bound(x: float) -> float:
    point = Point(x * x)
    method = types.MethodType(Point.squared, point)
    before = method()
    point.a *= x
    return method() * before


PROGRAMS: dict[str, Callable[[float], Any]] = {
    f.__name__: f
    for f in (
        power, loop, branch, until, callee, lists, objects, closure, counter, dictionary, generator,
        generator_function, array, in_place, formula, matrix, reduced, mapped,
        spread, gathered, by_name, managed, bound,
    )
}  # fmt: skip
