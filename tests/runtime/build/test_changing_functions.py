"""Functions that are changed between two derivatives, by whatever way code that was derived comes to them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.config import Config
from adbc.rules import default_table
from adbc.runtime import make_engine, using

X = 0.7

Place = Callable[[], tuple[Any, Callable[[float], Any], types.FunctionType]]
"""Makes an object, which is to be the global `found`; gives that, a function that uses it, and one that is
called then: of ``x``, or ``self``, and k, with t by keyword."""

found: Any = None


def method() -> Any:
    class A:
        def __init__(self, x: float) -> None:
            self.x = x

        def m(self, k: float = 2.0, *, t: float = 1.0) -> float:
            return self.x * k * t

    return A, lambda x: found(x).m(), A.m


def constructor() -> Any:
    class A:
        def __init__(self, x: float, k: float = 2.0, *, t: float = 1.0) -> None:
            self.y = x * k * t

    return A, lambda x: found(x).y, A.__init__


def getter() -> Any:
    class A:
        def __init__(self, x: float) -> None:
            self.x = x

        @property
        def p(self, k: float = 2.0, *, t: float = 1.0) -> float:
            return self.x * k * t

    return A, lambda x: found(x).p, A.__dict__["p"].fget


def special_method() -> Any:
    class A:
        def __init__(self, x: float) -> None:
            self.x = x

        def __neg__(self, k: float = 2.0, *, t: float = 1.0) -> float:
            return self.x * k * t

    return A, lambda x: -found(x), A.__neg__


def static_method() -> Any:
    class A:
        @staticmethod
        def m(x: float, k: float = 2.0, *, t: float = 1.0) -> float:
            return x * k * t

    return A, lambda x: found().m(x), A.__dict__["m"].__func__


def context_manager() -> Any:
    class A:
        def __init__(self, x: float) -> None:
            self.x = x

        def __enter__(self, k: float = 2.0, *, t: float = 1.0) -> float:
            return self.x * k * t

        def __exit__(self, *error: object) -> None:
            pass

    def f(x: float) -> float:
        with found(x) as y:
            return y

    return A, f, A.__enter__


def cell() -> Any:
    def g(x: float, k: float = 2.0, *, t: float = 1.0) -> float:
        return x * k * t

    return lambda x: g(x), lambda x: found(x), g


def default() -> Any:
    def g(x: float, k: float = 2.0, *, t: float = 1.0) -> float:
        return x * k * t

    def h(x: float, function: Callable[..., float] = g) -> float:
        return function(x)

    return h, lambda x: found(x), g


def field() -> Any:
    def g(x: float, k: float = 2.0, *, t: float = 1.0) -> float:
        return x * k * t

    return types.SimpleNamespace(g=g), lambda x: found.g(x), g


def of_defaults(function: types.FunctionType) -> None:
    function.__defaults__ = (5.0,)


def of_defaults_by_keyword(function: types.FunctionType) -> None:
    function.__kwdefaults__ = {"t": 7.0}


def of_defaults_by_keyword_in_place(function: types.FunctionType) -> None:
    function.__kwdefaults__["t"] = 9.0


def of_code(function: types.FunctionType) -> None:
    def changed(x: Any, k: float, *, t: float) -> Any:
        return 3.0 * getattr(x, "x", x) * k

    if function.__name__ == "__init__":

        def changed(x: Any, y: Any, k: float, *, t: float) -> Any:  # type: ignore[misc]
            x.y = 3.0 * y * k

    function.__code__ = changed.__code__


PLACES = [
    method, constructor, getter, special_method, static_method, context_manager, cell, default, field
]  # fmt: skip
CHANGES = [of_defaults, of_defaults_by_keyword, of_defaults_by_keyword_in_place, of_code]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("is_forward", [False, True], ids=["reverse", "forward"])
def test_a_function_that_is_changed_is_derived_anew(
    place: Place, change: Any, is_forward: bool, monkeypatch: Any
) -> None:
    made, f, called = place()
    monkeypatch.setitem(globals(), "found", made)

    def derivative() -> tuple[Any, Any]:
        return adbc.jvp(f, (X,), (1.0,)) if is_forward else adbc.value_and_grad(f)(X)

    with adbc.use(adbc.Config(warm_after=0)):
        for _ in range(3):
            assert derivative() == (f(X), pytest.approx(f(X) / X, rel=1e-14))
        before = f(X)
        change(called)
        assert f(X) != before
        for _ in range(2):
            assert derivative() == (f(X), pytest.approx(f(X) / X, rel=1e-14))


def _inner(x: float) -> float:
    return x * x


def _outer(x: float) -> float:
    return _inner(x) * x


@pytest.mark.parametrize("warm_after", [0, 40])
def test_code_that_was_replaced_is_seen_by_rules_that_are_made_later(
    warm_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with using(make_engine(default_table(), Config(warm_after=warm_after))):
        assert adbc.value_and_grad(_outer)(0.5) == (0.125, 0.75)
        monkeypatch.setattr(_inner, "__code__", (lambda x: x).__code__)
        assert adbc.jvp(_outer, (0.5,), (1.0,)) == (0.25, 1.0)  # the first rule of forward mode
