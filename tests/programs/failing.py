"""Functions of a float that raise, each in another construct: `CASES`.

What they do with `x` in front of the error is differentiated; the error is an ordinary one, of the user's.
Expressions go over several lines so that the columns and last lines of positions matter.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["CASES"]

CASES: list[Callable[[float], Any]] = []
NOTHING: Any = None


def case(function: Callable[[float], Any]) -> Callable[[float], Any]:
    CASES.append(function)
    return function


class Own(Exception):
    """An exception of this module."""


class Fixed:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x

    def norm(self, zero: Any) -> Any:
        return self.x * self.x / zero

    def __add__(self, other: Any) -> Any:
        raise Own("addition")

    @property
    def inverse(self) -> Any:
        return 1.0 / (self.x - self.x)

    def __getitem__(self, index: Any) -> Any:
        return [self.x][index]

    def __call__(self, *values: Any) -> Any:
        return self.x + values[7]

    def __bool__(self) -> bool:
        raise Own("truth")


class Manager:
    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> Manager:
        if self.where == "enter":
            raise Own("enter")
        return self

    def __exit__(self, *details: Any) -> None:
        if self.where == "exit":
            raise Own("exit")


def fails(x: Any, *rest: Any) -> Any:
    y = x * 2.0
    if y != 0.0:
        raise Own(len(rest))
    return y


def halves(x: Any, count: int) -> Iterator[Any]:
    for k in range(count):
        yield x / 2.0
    yield x / (count - k - 1)


@case
def nested_call(x):
    return math.sin(x) + max(
        x * 2.0,
        abs(fails(x + 1.0, 2)),
    )


@case
def call_with_keywords(x):
    y = x * x
    return y + fails(x, wrong=y)


@case
def call_with_star(x):
    xs = [x, x * x]
    return x + fails(*xs) * 2.0


@case
def call_of_none(x):
    y = math.exp(x)
    return y + NOTHING(y)


@case
def foreign_call(x):
    y = x * 3.0
    return y * math.sqrt(-y * y) + 1.0


@case
def method(x):
    p = Point(x)
    return 2.0 * p.norm(x - x) + 1.0


@case
def callable_object(x):
    p = Point(x)
    return 1.0 + p(x, 2.0)


@case
def subscript(x):
    xs = [x, x * x]
    return xs[0] + (xs[1] * xs[2])


@case
def subscript_of_an_object(x):
    p = Point(x)
    return p[0] + (p[0] * p[3])


@case
def key(x):
    d = {"a": x}
    y = d["a"] * 2.0
    return y + d["b"]


@case
def assigned_subscript(x):
    xs = [x]
    xs[0] = x * 2.0
    xs[4] = xs[0]
    return xs[0]


@case
def assigned_attribute(x):
    p = Fixed(x)
    p.x = x * 2.0
    p.y = p.x
    return p.x


@case
def attribute_without_a_setter(x):
    p = Point(x)
    p.x = x * 2.0
    p.inverse = p.x
    return p.x


@case
def assigned_key(x):
    d = {"a": x}
    d["a"] = x * 2.0
    d[[]] = d["a"]
    return d["a"]


@case
def deleted_subscript(x):
    xs = [x]
    del xs[3]
    return xs[0]


@case
def division(x):
    y = x + 1.0
    return (y * 2.0) + (y / (x - x))


@case
def wrong_type(x):
    y = x + 1.0
    return y * 2.0 - (y + NOTHING)


@case
def updated(x):
    y = x * x
    y += x / 0.0
    return y


@case
def overloaded(x):
    p = Point(x)
    return [p, p + x * 2.0]


@case
def power(x):
    return x * (x - x) ** -1.0


@case
def comparison(x):
    y = x * x
    return y if y > 0.0 and y < "a" else x


@case
def truth(x):
    p = Point(x)
    if x > 0.0 and not p:
        return x
    return p.x


@case
def attribute(x):
    p = Point(x * x)
    return p.x + (p.missing * p.x)


@case
def attribute_of_a_module(x):
    return math.sin(x) + math.no_such_function(x)


@case
def attribute_of_none(x):
    y = x * 2.0
    return y + NOTHING.real


@case
def computed_attribute(x):
    p = Point(x * 2.0)
    return x + p.inverse * 3.0


@case
def assigned_attribute(x):
    y = x * 3.0
    NOTHING.x = y
    return y


@case
def global_name(x):
    return x * x + (no_such_name * x)  # noqa: F821


@case
def unbound_local(x):
    if x < 0.0:
        y = x
    z = x * 2.0
    return z + y * 2.0


@case
def unpacking(x):
    y = x * 2.0
    a, b = y, y * x
    (c, d) = [a]
    return a + b + c + d


@case
def raised(x):
    y = x * x
    if y > 0.0:
        raise Own("message")
    return y


@case
def asserted(x):
    y = x * 2.0
    assert y < 0.0, ("message", 1)
    return y


@case
def raised_in_a_branch(x):
    return x * 2.0 if x < 0.0 else fails(x) + 1.0


@case
def in_a_while_loop(x):
    n = 3
    while n > -2:
        n -= 1
        x = x * x / n
    return x


@case
def in_a_for_loop(x):
    total = 0.0
    for k in [2.0, 1.0, 0.0]:
        total += x + x / k
    return total


@case
def loop_over_a_number(x):
    total = x
    for k in x:
        total += k
    return total


@case
def raised_in_except(x):
    y = x * 2.0
    try:
        y = y / (x - x)
    except ZeroDivisionError as error:
        raise Own(str(error)) from error
    return y


@case
def failing_in_except(x):
    y = x * 2.0
    try:
        fails(y)
    except Own:
        y = y + NOTHING
    return y


@case
def raised_again(x):
    y = x * 2.0
    try:
        y = y * fails(x, y)
    except ZeroDivisionError:
        return y
    except Own:
        y = x
        raise
    return y


@case
def through_finally(x):
    y = [x]
    try:
        y[0] = x * fails(x)
    finally:
        y[0] = x * 2.0
    return y[0]


@case
def raised_in_finally(x):
    y = x * 2.0
    try:
        y = y * x
    finally:
        y = y / (x - x)
    return y


@case
def in_else(x):
    try:
        y = x * 2.0
    except ValueError:
        return x
    else:
        return y + y[0]


@case
def body_of_with(x):
    with Manager("") as m:
        y = x * 2.0 + len(m.where)
        z = y * fails(y)
    return z


@case
def enter_of_with(x):
    y = x * 2.0
    with Manager("enter"), contextlib.suppress(ValueError):
        y = y * x
    return y


@case
def exit_of_with(x):
    y = x * 2.0
    with Manager("exit"):
        y = y * x
    return y


@case
def body_and_exit_of_with(x):
    with Manager("exit"):
        x = x / (x - x)
    return x


@case
def generator(x):
    total = 0.0
    for y in halves(x, 3):
        total += y * x
    return total


@case
def generator_in_a_call(x):
    return x + sum(halves(x, 2))


@case
def generator_expression(x):
    return x * sum(y / (y - x) for y in [2.0 * x, x])


@case
def next_of_a_generator(x):
    found = halves(x, 1)
    y = next(found)
    return y + next(found) * x


@case
def list_comprehension(x):
    ys = [x / (k - 2.0) for k in [1.0, 2.0]]
    return ys[0] + ys[1]


@case
def condition_of_a_comprehension(x):
    ys = {k: x for k in [1, 0] if x / k > 0.0}
    return ys[1]


@case
def nested_comprehension(x):
    ys = [[x * fails(x) for _ in range(2)] for _ in range(2)]
    return ys[0][0]


@case
def inner_function(x):
    def inner(y):
        return x * y / (x - y)

    return inner(2.0 * x) + inner(x)


@case
def lambda_(x):
    f = lambda y, *, k=0.0: y / k  # noqa: E731
    return x * f(x)


@case
def several_frames(x):
    def outer(y):
        return 2.0 * subscript(y)

    return x + outer(x) * x


@case
def formatted(x):
    y = x * 2.0
    return f"{y} {NOTHING:>{3}}"


@case
def imported(x):
    import no_such_module  # noqa: F401

    return x


@case
def matched(x):
    match Point(x):
        case Point(1.0, y=z):
            return z
    return x


@case
def assignment_expression(x):
    if (y := x * 2.0) > 0.0 and (z := y / (x - x)):
        return z
    return y


@case
def wide_line(x):
    # fmt: off
    y = 2.0
    return [x * 1.0, x * 2.0, x * 3.0, x * 4.0, x * 5.0, x * 6.0, x * 7.0, x * 8.0, x * 9.0, x * 10.0, x * 11.0, x * 12.0, x * 13.0, y / (x - x), math.log(x)]  # noqa: E501
    # fmt: on
