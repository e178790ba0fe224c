"""Functions that were made by others are written into those that call them."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.ir.intrinsics import _foreigncall_, _new_
from adbc.passes.query import constant, target
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

XS = [0.11, 0.45, 0.32, 0.83]


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any) -> Any:
        return 2.0 * function(1.5, *args)

    return wrapper


@kept
def soft(v: float, k: float = 1.0) -> float:
    return math.log1p(math.exp(k * v))


@kept
@doubled
def power(a: float, b: float) -> float:
    return a * a * b


def decorated(x: float) -> float:
    total = 0.0
    for v in XS:
        total += soft(v * x, k=0.5) + soft(x) + power(v * x)
    return total


def partly(x: float) -> float:
    scaled = functools.partial(soft, k=x)
    other = functools.partial(scaled, 0.5)
    total = 0.0
    for v in XS:
        total += scaled(v) * scaled(v, k=0.3) + other()
    return total


def with_lambdas(x: float) -> float:
    scale = x

    def twice(v: float, *others: float, k: float = x, **named: float) -> float:
        return v * k + scale * sum(others) + sum(named.values())

    square = lambda v, k=x: v * v * k  # noqa: E731
    total = 0.0
    for v in XS:
        total += square(v) + square(v, 2.0) + twice(v) + twice(v, x, 1.0, k=v, more=x)
        scale = scale * 0.5
    return total


def reduced(x: float) -> float:
    first = functools.reduce(lambda a, b: a * x + b, XS)
    return first + functools.reduce(lambda a, b: a + b * x, map(lambda v: v * v, XS), x)  # noqa: C417


PROGRAMS = [decorated, partly, with_lambdas, reduced]


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "interpret"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes(function: Any, speculation: str, at_once: None) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(function, 0.7)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_nothing_is_called_that_is_not_known(function: Any) -> None:
    graph = default_engine().graphs.primal(function)
    unknown = [
        call for call in graph.instructions()
        if target(call) is None or (target(call) is _foreigncall_ and constant(call.operands[1]) in
                                    (functools.partial, functools.reduce))
        or (target(call) is _new_ and constant(call.operands[1]) is types.FunctionType)
        or type(call.operands[0]).__name__ != "Const"
    ]  # fmt: skip
    allowed = {"with_lambdas": 2}  # a method of dicts
    assert len(unknown) <= allowed.get(function.__name__, 0), [str(u) for u in unknown]


def test_what_is_in_the_cell_of_a_decorator_may_change() -> None:
    @kept
    def local(v: float) -> float:
        return v * v

    space = {"local": local}
    exec("def f(x):\n    return local(x) * 2.0", space)
    f = space["f"]
    local.__globals__  # noqa: B018  # it is of this module, so it is not written in there
    assert adbc.value_and_grad(f)(3.0) == (18.0, 12.0)


def test_the_function_behind_a_decorator_is_replaced() -> None:
    cell = soft.__closure__[0]
    found = cell.cell_contents
    before = adbc.value_and_grad(decorated)(0.7)
    try:
        cell.cell_contents = cubed
        value, gradient = adbc.value_and_grad(decorated)(0.7)
        assert value == decorated(0.7)
        h = 1e-6
        assert gradient == pytest.approx((decorated(0.7 + h) - decorated(0.7 - h)) / (2 * h), rel=1e-6)
    finally:
        cell.cell_contents = found
    assert adbc.value_and_grad(decorated)(0.7) == before


def cubed(v: float, k: float = 1.0) -> float:
    return v * v * v * k


def test_the_decorated_function_is_rebound(monkeypatch: pytest.MonkeyPatch) -> None:
    before = adbc.value_and_grad(decorated)(0.7)
    monkeypatch.setitem(globals(), "soft", cubed)
    value, _ = adbc.value_and_grad(decorated)(0.7)
    assert value == decorated(0.7) != before[0]


def calls_itself(x: float) -> float:
    def down(f: Any, n: int) -> Any:
        return x if n == 0 else f(f, n - 1) * 0.5 + x

    return down(down, 5)


def raising(x: float) -> float:
    def checked(v: float) -> float:
        if v > 1.0:
            raise ValueError(f"{v}")
        return v * x

    total = 0.0
    for v in (0.5, 0.7, 1.5):
        try:
            total += checked(v)
        except ValueError:
            total += x
    return total


@pytest.mark.parametrize("function", [calls_itself, raising])
def test_recursion_and_exceptions(function: Any) -> None:
    check_rule(function, 0.7)


def test_arguments_that_do_not_fit_are_refused_by_the_call() -> None:
    def wrong(x: float) -> float:
        g = lambda v: v * x  # noqa: E731
        return g(x, x)  # type: ignore[call-arg]

    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        adbc.grad(wrong)(1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        adbc.grad(lambda x: soft(x, w=x))(1.0)
