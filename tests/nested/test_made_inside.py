"""Derivatives that are made where they are used, in functions that are differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.runtime.calls import foreign
from adbc.testing import test_rule as check_rule

SCALE = [1.5]


def loss(w: float, rate: float) -> float:
    return math.exp(-rate * w) * math.cos(w) + rate * w * w * SCALE[0]


def in_a_loop(rate: float) -> float:
    w = 0.3
    for _ in range(4):
        w = w - rate * adbc.grad(loss)(w, rate)
    return w


def in_a_comprehension(rate: float) -> float:
    return sum(s * s for s in [adbc.grad(loss, 1)(w, rate) for w in (0.1, 0.4)])


def of_what_is_made(rate: float) -> float:
    def inner(w: float) -> float:
        return loss(w, rate) * rate

    return max(adbc.grad(inner)(w) for w in (0.2, 0.9)) + adbc.jvp(inner, (0.3,), (1.0,))[1]


@pytest.mark.parametrize("f", [in_a_loop, in_a_comprehension, of_what_is_made])
def test_both_modes(f: Callable[[float], float]) -> None:
    check_rule(f, 0.4)


def test_adbc_itself_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether something active reaches a gradient that is made is asked of the function that it is made of,
    and not of all that adbc consists of."""
    gradient = adbc.grad(in_a_loop)
    expected = gradient(0.4)
    seen: list[Any] = []
    found = foreign._in_python
    monkeypatch.setattr(foreign, "_in_python", lambda f: seen.append(f) or found(f))
    assert gradient(0.4) == expected
    assert len(seen) < 200


def test_what_the_function_finds_is_looked_at() -> None:
    """A global that was given a derivative counts, wherever the gradient is made."""

    def f(x: float) -> float:
        SCALE[0] = x
        return adbc.grad(loss)(0.3, 0.2)

    try:
        assert adbc.grad(f)(1.5) == pytest.approx(2.0 * 0.3 * 0.2)
    finally:
        SCALE[0] = 1.5


class Named:
    def __init__(self, value: Any) -> None:
        self.value = value


def test_objects_with_derivatives_as_keys_are_refused() -> None:
    def by_object(x: Any) -> Any:
        found = {Named(x * x): x}
        return sum(key.value * value for key, value in found.items())

    def by_number(x: Any) -> Any:
        objects = [Named(x * x)]
        found = {0: x}
        return sum(objects[key].value * value for key, value in found.items())

    assert adbc.grad(by_object)(1.5) == pytest.approx(6.75)
    for differentiate in (
        lambda f: adbc.jvp(adbc.grad(f), (1.5,), (1.0,)),
        lambda f: adbc.grad(adbc.grad(f))(1.5),
    ):
        with pytest.raises(UnsupportedError, match="becomes the key of a dict"):
            differentiate(by_object)
    assert adbc.jvp(adbc.grad(by_number), (1.5,), (1.0,))[1] == pytest.approx(9.0)
