"""Builtin functions raise as they do plainly, where an object has no method for them."""

from __future__ import annotations

import copy
import math
import operator
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

import adbc


class Bare:
    def __init__(self, value: Any) -> None:
        self.value = value


class Last(Bare):
    def __rdivmod__(self, other: Any) -> Any:
        return self.value, other


CALLS: list[Callable[[Any], Any]] = [
    next, abs, float, int, round, complex, math.sqrt, math.floor, math.ceil, math.trunc, math.fsum, math.prod,
    len, iter, list, sum, lambda o: math.hypot(o, 1.0), lambda o: 1 in o, lambda o: divmod(o, 2),
    lambda o: operator.setitem(o, 0, 1), lambda o: operator.delitem(o, 0),
]  # fmt: skip


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_tried_raises(call: Callable[[Any], Any], speculation: str) -> None:
    def f(x: Any) -> Any:
        o = Bare(x * x)
        try:
            call(o)
        except TypeError as error:
            message.append(str(error))
            return 2.0 * o.value
        return o.value

    message: list[str] = []
    f(1.5)
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.grad(f)(1.5) == 6.0
        assert adbc.jvp(f, (1.5,), (1.0,))[1] == 6.0
    assert len(set(message)) == 1


def test_a_reflected_method_is_asked() -> None:
    assert adbc.grad(lambda x: divmod(Bare(x), Last(x * x))[0])(1.5) == 3.0


IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor"]


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize(
    "other", [None, (1.0,), "a", frozenset({1}), 1, Bare(1.0)], ids=lambda x: type(x).__name__
)
def test_operators_in_place_raise(name: str, other: Any) -> None:
    apply = getattr(operator, name)

    def f(x: Any, other: Any) -> Any:
        y = x * x
        raised = 0
        for a, b in (other, y), (y, other):
            try:
                apply(a, b)
            except TypeError:
                raised += 1
        return y * raised

    raised = f(1.0, copy.deepcopy(other))
    given = copy.deepcopy(other)
    assert adbc.grad(f)(1.5, given) == 3.0 * raised
    assert type(other) is Bare or given == other
    assert adbc.jvp(f, (1.5, given), (1.0, None))[1] == 3.0 * raised


CONTAINERS: list[Callable[[Any], Any]] = [
    lambda x: [x], lambda x: (x,), lambda x: {"a": x}, lambda x: {1, 2}, lambda x: deque([x]),
    lambda x: OrderedDict(a=x),
]  # fmt: skip
NUMBERS: list[Callable[[Any], Any]] = [
    abs, float, int, round, complex, math.sqrt, math.floor, math.ceil, math.trunc, next,
    lambda o: math.hypot(o, 1.0), lambda o: divmod(o, 2),
]  # fmt: skip


@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("call", NUMBERS)
def test_a_container_is_no_number(call: Callable[[Any], Any], make: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        o = make(x * x)
        try:
            call(o)
        except TypeError as error:
            message.append(str(error))
            return 2.0 * sum([x for y in (o.values() if isinstance(o, dict) else o)])
        return x

    message: list[str] = []
    value, slope = f(1.5), f(1.0)
    assert adbc.value_and_grad(f)(1.5) == (value, slope)
    assert adbc.jvp(f, (1.5,), (1.0,)) == (value, slope)
    assert len(set(message)) == 1
