"""Functions that are chosen by the class of an argument."""

from __future__ import annotations

import functools
import numbers
import types
from typing import Any

import pytest

import adbc
from adbc.runtime.calls.reverse import ReverseCalls
from adbc.testing import test_rule as check_rule


class Shape: ...


class Square(Shape): ...


@functools.singledispatch
def area(shape: Any, x: float) -> float:
    return x * 0.5 + 1.0


@area.register
def _(shape: Shape, x: float) -> float:
    return x * x


@area.register(numbers.Real)
def _(shape: Any, x: float) -> float:
    return x * 3.0 + shape


class Visitor:
    def __init__(self, weight: float) -> None:
        self.weight = weight

    @functools.singledispatchmethod
    def visit(self, node: Any, x: float) -> float:
        """For anything."""
        return x

    @visit.register
    def _(self, node: str, x: float, k: float = 2.0) -> float:
        return x * self.weight * k

    @visit.register
    @classmethod
    def _(cls, node: tuple, x: float) -> float:
        return x * len(node)


def by_functions(x: float) -> Any:
    scaled = functools.singledispatch(lambda s, q: q * x)

    @scaled.register(int)
    def cubed(s: int, q: float) -> float:
        return q**3 * x

    total = area("a", x) + area(Square(), x) + area(2, x) + area(x, x) + area.dispatch(Shape)(Shape(), x)
    total += scaled(1, x) + scaled("s", x) * 2.0 + scaled(True, q=x)
    try:
        area()
    except TypeError:
        total += x
    return total


def by_methods(x: float) -> Any:
    visitor = Visitor(x)
    total = visitor.visit("s", x) + visitor.visit("s", x, k=3.0) + visitor.visit((1, 2, 3), x)
    method = visitor.visit
    total += method(4, x) + Visitor.visit.__get__(visitor, Visitor)("s", x)
    total += (
        len(method.__name__ + method.__doc__ + method.__module__) * x * isinstance(method, types.FunctionType)
    )
    try:
        visitor.visit()
    except (TypeError, IndexError):
        total += x
    return total


def registered_inside(x: float) -> Any:
    """What is registered holds a number with a derivative; to register clears the cache of what is chosen."""

    class Local: ...

    def of_local(shape: Any, y: float) -> float:
        return x * y

    total = area(Square(), x)
    area.register(Local, of_local)
    return total + area(Local(), x) + area(Square(), x)


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "interpret"])
@pytest.mark.parametrize("function", [by_functions, by_methods, registered_inside], ids=lambda f: f.__name__)
def test_both_modes(function: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            check_rule(function, 1.3)


def in_a_loop(x: float) -> Any:
    visitor, total = Visitor(x), 0.0
    for node in ("s", 1, "t", (2, 3)):
        total += visitor.visit(node, x) + area(node, x)
    return total


def test_nothing_of_the_choice_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither caches nor registries are, and no function is made of a method that is only called."""
    gradient = adbc.value_and_grad(in_a_loop)
    for _ in range(4):
        gradient(1.3)
    made: list[str] = []
    run = ReverseCalls.run

    def counted(self: Any, context: Any, call: Any, mode: Any) -> Any:
        made.append(getattr(call.function, "__name__", ""))
        return run(self, context, call, mode)

    monkeypatch.setattr(ReverseCalls, "run", counted)
    gradient(1.3)
    assert not {"dispatch_cache", "update_wrapper", "_find_impl", "get", "setattr", "getitem"} & set(made)
    assert len(made) <= 60


def test_a_recursion_over_nested_data_enters_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tree: Any = "x"
    for k in range(6):
        tree = ("sum", tree, (k, "x"))

    @functools.singledispatch
    def value(node: Any, x: float) -> Any:
        return node * x

    @value.register
    def _(node: str, x: float) -> Any:
        return x

    @value.register
    def _(node: tuple, x: float) -> Any:
        total = 0.0
        for part in node[1:]:
            total += value(part, x)
        return total

    gradient = adbc.value_and_grad(value, 1)
    for _ in range(12):
        assert gradient(tree, 1.3) == (value(tree, 1.3), 7.0)
    slow = []
    call_slowly = ReverseCalls.call_slowly

    def counted(self: Any, context: Any, call: Any, count: int, mode: Any) -> Any:
        slow.append(call.function)
        return call_slowly(self, context, call, count, mode)

    monkeypatch.setattr(ReverseCalls, "call_slowly", counted)
    gradient(tree, 1.3)
    assert not slow
