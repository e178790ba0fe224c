"""Arguments are selected by number or by name, however they are given; what is not given is an error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ArgumentError

MODES = ("learn", "never", "dynamic", "always")


def kinds(a: Any, /, b: Any = 2.0, *rest: Any, c: Any = 3.0, **others: Any) -> Any:
    total = a * b * c
    for r in rest:
        total = total * r
    for k, name in enumerate(sorted(others), 2):
        total = total + k * others[name] * others[name]
    return total


SELECTED: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], Any]] = {
    "a number": (0, (2.0,), {}, 6.0),
    "a number, given by keyword": (1, (2.0,), {"b": 5.0}, 6.0),
    "a number, beyond the named parameters": (3, (2.0, 5.0, 7.0, 11.0), {}, 2.0 * 5.0 * 7.0 * 3.0),
    "a negative number": (-1, (2.0, 5.0), {}, 6.0),
    "a negative number counts positional arguments": (-1, (2.0,), {"b": 5.0}, 15.0),
    "a NumPy integer": (np.int64(0), (2.0,), {}, 6.0),
    "a name, given by position": ("b", (2.0, 5.0), {}, 6.0),
    "a name, given by keyword": ("b", (2.0,), {"b": 5.0}, 6.0),
    "a positional-only name": ("a", (2.0,), {"b": 5.0}, 15.0),
    "a keyword-only name": ("c", (2.0,), {"c": 7.0}, 4.0),
    "a name of others": ("d", (2.0,), {"e": 1.0, "d": 5.0}, 20.0),
    "a name of others like a positional-only one": ("a", (2.0,), {"a": 5.0}, 20.0),
    "several": (("c", 0, "b"), (2.0,), {"c": 7.0, "b": 5.0}, (10.0, 35.0, 14.0)),
    "a list": (["b"], (2.0, 5.0), {}, (6.0,)),
    "none": ((), (2.0,), {}, ()),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", SELECTED.values(), ids=SELECTED)
def test_what_is_selected(case: tuple[Any, ...], mode: Any) -> None:
    argnums, args, kwargs, wanted = case
    with adbc.use(adbc.Config(speculation=mode)):
        both = adbc.value_and_grad(kinds, argnums)
        for _ in range(3):
            assert both(*args, **kwargs) == (kinds(*args, **kwargs), wanted)


MISSING: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], str]] = {
    "a number, of a default": (1, (2.0,), {}, r"without its parameter 'b': .* give it, b=2\.0"),
    "a name, of a default": ("b", (2.0,), {}, r"without its parameter 'b': .* give it, b=2\.0"),
    "a keyword-only name, of a default": ("c", (2.0,), {}, r"give it, c=3\.0"),
    "a number of none": (5, (2.0,), {}, "called with 1 positional argument$"),
    "a number of none, with keywords": (5, (2.0,), {"d": 1.0}, "argnums='d'"),
    "too negative": (-2, (2.0,), {"b": 1.0}, "called with 1 positional argument;"),
    "an unknown name": ("d", (2.0,), {}, "no parameter of this name.*parameters: a, b, c"),
    "many by position": ("rest", (2.0, 1.0, 1.0), {}, "give the numbers"),
    "many by keyword": ("others", (2.0,), {"d": 1.0}, "give the names"),
    "an integer": ("d", (2.0,), {"d": 1}, r"argument d of .* is a int \(1\).*pass a float instead: 1\.0"),
    "a constant": ("d", (2.0,), {"d": adbc.Const(1.0)}, "argument d of .* is declared adbc.Const"),
}


@pytest.mark.parametrize("case", MISSING.values(), ids=MISSING)
def test_what_is_not_given_is_an_error(case: tuple[Any, ...]) -> None:
    argnums, args, kwargs, message = case
    with pytest.raises(ArgumentError, match=message):
        adbc.grad(kinds, argnums)(*args, **kwargs)


@pytest.mark.parametrize("argnums", [True, 1.0, None, (0, True), ("x", 0.5), {"x": 1}])
def test_what_selects_nothing_is_an_error(argnums: Any) -> None:
    with pytest.raises(ArgumentError, match="argnums is an int, the name of a parameter"):
        adbc.grad(kinds, argnums)


def weighted(x: Any, y: Any) -> Any:
    return x * x * y


class Spring:
    def __init__(self, k: Any, x: Any = 1.0) -> None:
        self.k, self.x = k, x

    def energy(self, x: Any, *, factor: Any = 0.5) -> Any:
        return factor * self.k * x * x

    def __call__(self, x: Any, y: Any) -> Any:
        return self.k * x * y

    @classmethod
    def soft(cls, x: Any, y: Any) -> Any:
        return cls(x).energy(y)

    @staticmethod
    def product(x: Any, y: Any) -> Any:
        return x * x * y

    by_x = adbc.grad(energy, "x")
    by_self = adbc.grad(energy)


def twice(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return 2.0 * f(*args, **kwargs)

    return wrapper


CALLABLES: dict[str, tuple[Any, Any]] = {
    "a method": (Spring(3.0).energy, 6.0),
    "an object": (lambda: Spring(3.0), 12.0),
    "a class method": (Spring.soft, 8.0),
    "a static method": (Spring.product, 16.0),
    "a partial function": (functools.partial(weighted, y=4.0), 16.0),
    "a wrapped function": (twice(weighted), 32.0),
    "a lambda": (lambda x, y: x * y, 4.0),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_callables(name: str) -> None:
    f, wanted = CALLABLES[name]
    f = f() if name == "an object" else f
    arguments = {"x": 2.0} if name in ("a method", "a partial function") else {"y": 4.0, "x": 2.0}
    assert adbc.grad(f, "x")(**arguments) == wanted
    assert adbc.grad(f, 0)(**arguments) == wanted
    assert adbc.grad(f, ["x"])(2.0, **{k: v for k, v in arguments.items() if k != "x"}) == (wanted,)


def test_a_class_is_called_by_name() -> None:
    def made(k: Any) -> Any:
        return adbc.vjp(Spring, k, 2.0)[0].k

    assert made(3.0) == 3.0
    assert adbc.grad(lambda k: Spring(x=k, k=2.0).energy(k), "k")(k=3.0) == 6.0


def test_a_builtin_with_a_signature() -> None:
    assert adbc.grad(pow, "base")(3.0, 2.0) == 6.0
    with pytest.raises(ArgumentError, match="'mod'"):
        adbc.grad(pow, "mod")(3.0, 2.0)


def test_a_builtin_without_a_signature() -> None:
    with pytest.raises(ArgumentError, match="none that Python knows"):
        adbc.grad(max, "x")(3.0, 2.0)


def test_gradients_in_a_class_are_methods() -> None:
    spring = Spring(3.0)
    assert spring.by_x(2.0) == 6.0
    assert spring.by_x(x=2.0, factor=1.0) == 12.0
    assert spring.by_self(2.0).k == 2.0
    assert Spring.by_x(spring, 2.0) == 6.0


def test_arrays_by_keyword_are_restored_and_may_be_one() -> None:
    def moved(u: Any, v: Any) -> Any:
        u[:] = u * v
        return np.sum(u * u)

    u, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for _ in range(3):
        du, dv = adbc.grad(moved, ("u", "v"))(v=v, u=u)
        np.testing.assert_allclose(du, 2.0 * u * v * v)
        np.testing.assert_allclose(dv, 2.0 * u * u * v)
        np.testing.assert_array_equal(u, [1.0, 2.0])
    same_u, same_v = adbc.grad(moved, ("u", "v"))(u, v=u)
    assert same_u is same_v  # one object has one gradient, of both uses
    np.testing.assert_allclose(same_u, adbc.grad(moved, ("u", "v"))(u, u)[0])


def test_code_that_is_rebound_is_asked_anew() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * x * y

    def swapped(y: Any, x: Any) -> Any:
        return x * x * y

    gradient = adbc.grad(f, "x")
    assert gradient(y=2.0, x=3.0) == 12.0
    assert gradient(3.0, 2.0) == 12.0
    f.__code__ = swapped.__code__
    assert gradient(y=2.0, x=3.0) == 12.0
    assert gradient(2.0, 3.0) == 12.0
