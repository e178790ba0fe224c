"""Derivatives of derivatives of functions whose defaults have a derivative at an outer level: what is a
constant at the inner level is none there."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc

X = 0.7


def by_value(x: float) -> float:
    def f(y: float, k: float = x) -> float:
        return k * y**3

    return adbc.grad(f)(2.0)


def by_keyword(x: float) -> float:
    def f(y: float, *, k: float = x, n: int = 3) -> float:
        return k * y**n

    return adbc.grad(f)(2.0)


def beside_a_constant(x: float) -> float:
    def f(y: float, n: int = 3, k: float = 2.0, j: float = x) -> float:
        return k * j * y**n

    return adbc.grad(f)(2.0)


def in_a_tuple(x: float) -> float:
    def f(y: float, k: tuple[float, float] = (x, x * x)) -> float:
        return k[0] * y**3 + k[1] * y

    return adbc.grad(f)(2.0)


def in_a_list(x: float) -> float:
    def f(y: float, k: list[float] = [x, 2.0]) -> float:  # noqa: B006  # a default that is memory
        return k[0] * y**3 + k[1]

    return adbc.grad(f)(2.0)


def in_an_array(x: float) -> float:
    def f(y: float, k: Any = np.array([x, 2.0])) -> float:  # noqa: B008  # a default that is memory
        return k[0] * y**3 + k[1]

    return adbc.grad(f)(2.0)


def in_an_object(x: float) -> float:
    def f(y: float, k: Any = types.SimpleNamespace(a=x)) -> float:  # noqa: B008  # a default that is memory
        return k.a * y**3

    return adbc.grad(f)(2.0)


def in_a_function(x: float) -> float:
    def g(y: float) -> float:
        return x * y

    def f(y: float, h: Callable[[float], float] = g) -> float:
        return h(y) * y**2

    return adbc.grad(f)(2.0)


class Holder:
    def __init__(self, f: Callable[[float], float]) -> None:
        self.f = f

    def __call__(self, y: float) -> float:
        return self.f(y) * y


def of_what_an_object_holds(x: float) -> float:
    def f(y: float, k: list[float] = [x, 2.0]) -> float:  # noqa: B006  # a default that is memory
        return k[0] * y**3 + k[1]

    return adbc.grad(Holder(f))(2.0)


def of_a_partial(x: float) -> float:
    def f(a: float, y: float, k: float = x) -> float:
        return a * k * y**3

    return adbc.grad(functools.partial(f, 2.0))(2.0)


def called_inside(x: float) -> float:
    def f(y: float, k: float = x) -> float:
        return k * y**3

    return adbc.grad(lambda y: f(y) * y + sum(map(f, [y, 2.0 * y])))(2.0)


def one_for_each(x: float) -> float:
    made = [lambda y, k=k: k * y**3 for k in (x, 2.0 * x, x * x)]
    return adbc.grad(lambda y: sum([f(y) for f in made]))(2.0)


def of_both(x: float) -> float:
    def outer(y: float) -> float:
        def f(z: float, k: float = y * x, m: float = x) -> float:
            return k * m * z**3

        held = [f]
        return held[0](y)

    return adbc.grad(outer)(2.0)


def forwards_of_both(x: float) -> float:
    def outer(y: float) -> float:
        def f(z: float, k: float = y * x, *, m: float = x * y) -> float:
            return k * m * z**3

        held = [f]
        return held[0](y)

    return adbc.jvp(outer, (2.0,), (1.0,))[1]


def of_a_generator(x: float) -> float:
    def f(n: int, k: float = x) -> Iterator[float]:
        for i in range(n):
            yield k * i

    def outer(y: float) -> float:
        it = f(4)
        next(it)
        return next(it) * y**3 + next(it)

    return adbc.grad(outer)(2.0)


def forwards(x: float) -> float:
    def f(y: float, k: float = x) -> float:
        return k * y**3

    return adbc.jvp(f, (2.0,), (1.0,))[1]


def the_value_alone(x: float) -> float:
    def f(y: float, k: list[float] = [x, 2.0]) -> float:  # noqa: B006  # a default that is memory
        return k[0] * y**3 + k[1]

    return adbc.value_and_grad(f)(2.0)[0]


def at_x(x: float) -> float:
    def f(y: float, k: float = x) -> float:
        return y**3 * k

    return adbc.grad(f)(x)


FUNCTIONS = [
    by_value, by_keyword, beside_a_constant, in_a_tuple, in_a_list, in_an_array, in_an_object, in_a_function,
    of_what_an_object_holds, of_a_partial, called_inside, one_for_each, of_both, forwards_of_both,
    of_a_generator, forwards, the_value_alone, at_x,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("repeated", [1, 3])
def test_an_outer_level_differentiates_by_them(f: Callable[[float], float], repeated: int) -> None:
    h = 1e-5
    expected = (f(X + h) - f(X - h)) / (2 * h)
    for _ in range(repeated):
        assert adbc.grad(f)(X) == pytest.approx(expected, rel=1e-8)
        assert adbc.jvp(f, (X,), (1.0,)) == pytest.approx((f(X), expected), rel=1e-8)


TWICE: dict[str, Callable[[Any], Any]] = {
    "reverse over reverse": lambda f: adbc.grad(adbc.grad(f))(X),
    "forward over reverse": lambda f: adbc.jvp(adbc.grad(f), (X,), (1.0,))[1],
    "forward over forward": lambda f: adbc.jvp(lambda y: adbc.jvp(f, (y,), (1.0,))[1], (X,), (1.0,))[1],
    "reverse over forward": lambda f: adbc.grad(lambda y: adbc.jvp(f, (y,), (1.0,))[1])(X),
}


@pytest.mark.parametrize("f", [in_a_tuple, one_for_each, at_x], ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", TWICE)
def test_two_outer_levels_do(f: Callable[[float], float], way: str) -> None:
    h = 1e-4
    expected = (f(X + h) - 2.0 * f(X) + f(X - h)) / (h * h)
    assert TWICE[way](f) == pytest.approx(expected, rel=1e-5)


def test_a_list_that_is_a_default_is_as_it_was_and_written_to_once() -> None:
    written: list[float] = []

    def f(x: float) -> float:
        memory = [x, 2.0]

        def g(y: float, k: list[float] = memory) -> float:
            written.append(1.0)
            k[1] = k[1] * y
            return k[0] * k[1]

        slope = adbc.grad(g)(3.0)
        return slope * x + memory[1]

    plain = f(X)
    assert (plain, len(written)) == (2.0 * X * X + 2.0, 0)
    h = 1e-6
    assert adbc.grad(f)(X) == pytest.approx(4.0 * X, rel=1e-9)
    assert adbc.jvp(f, (X,), (1.0,)) == pytest.approx((plain, 4.0 * X), rel=1e-9)
    assert adbc.grad(f)(X + h) == pytest.approx(4.0 * (X + h), rel=1e-9)


def constant_default(x: float) -> float:
    def f(y: float, k: float = 3.0) -> float:
        return y**3 * k

    return adbc.grad(f)(x)


def by_a_list(x: float) -> float:
    def f(p: list[float]) -> float:
        return p[0] ** 3 * p[1]

    g = adbc.grad(f)([x, 2.0 * x])
    return g[0] * g[1]


def given_by_keyword(x: float) -> float:
    def f(y: float, *, k: float) -> float:
        return y**3 * k

    return adbc.grad(f)(x, k=2.0 * x)


@pytest.mark.parametrize("f", [constant_default, by_a_list, given_by_keyword], ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", TWICE)
def test_gradients_of_what_is_made_inside_two_levels(f: Callable[[float], float], way: str) -> None:
    h = 1e-4
    expected = (f(X + h) - 2.0 * f(X) + f(X - h)) / (h * h)
    assert TWICE[way](f) == pytest.approx(expected, rel=1e-5)


def checkpointed(x: float) -> float:
    def f(y: float, k: float = x) -> float:
        return k * y**3

    return adbc.checkpoint(f)(2.0) + adbc.checkpoint(lambda fs, y: fs[0](y) * y)([f], 2.0)


def looped(x: float) -> float:
    def f(s: float, k: float = x) -> float:
        return k * s**2

    return adbc.checkpoint_loop(lambda i, s: f(s) + i, 1.1, 3)


@pytest.mark.parametrize("f", [checkpointed, looped], ids=lambda f: f.__name__)
def test_what_runs_again_has_them(f: Callable[[float], float]) -> None:
    h = 1e-6
    expected = (f(X + h) - f(X - h)) / (2 * h)
    assert adbc.grad(f)(X) == pytest.approx(expected, rel=1e-8)
    assert adbc.jvp(f, (X,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)
