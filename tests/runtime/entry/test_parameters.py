"""Functions that gather arguments, or have more parameters than are given, entered for the first time."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc


def gathered(*xs: Any) -> Any:
    return xs[0][0] * xs[1][1]


def mixed(x: Any, *rest: Any, k: float = 1.0, **more: Any) -> Any:
    return x[0] * rest[0][1] * k * more.get("z", 1.0)


def defaulted(x: Any, y: Any, z: float = 1.0) -> Any:
    return x[0] * y[1] * z


def named_only(x: Any, /, y: Any, *, z: float = 1.0) -> Any:
    return x[0] * y[1] * z


class Model:
    def method(self, *xs: Any) -> Any:
        return xs[0][0] * xs[1][1]

    @staticmethod
    def static(*xs: Any) -> Any:
        return xs[0][0] * xs[1][1]

    def __call__(self, *xs: Any, **more: Any) -> Any:
        return xs[0][0] * xs[1][1]


FUNCTIONS: list[Callable[..., Any]] = [
    gathered, mixed, defaulted, named_only, Model().method, Model.static, Model(),
    functools.partial(gathered), functools.partial(mixed, k=0.5, z=2.0),
]  # fmt: skip


def pushed(f: Callable[..., Any], x: Any, y: Any) -> Any:
    direction = [1.0, 0.0] if type(x) is list else np.array([1.0, 0.0])
    return adbc.jvp(f, (x, y), (direction, None))[1]


WAYS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "grad": lambda f, x, y: adbc.grad(f)(x, y)[0],
    "by the second": lambda f, x, y: adbc.grad(f, 1)(x, y)[1] * 4.0,
    "jvp": pushed,
    "vjp": lambda f, x, y: adbc.vjp(f, x, y)[1](1.0)[0][0],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_the_first_call(number: int, way: str) -> None:
    f = FUNCTIONS[number]
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    for x, y in itertools.product(([1.0, 2.0], np.array([1.0, 2.0]), table[0]), ([3.0, 4.0], table[1])):
        assert [WAYS[way](f, x, y) for _ in range(2)] == [4.0, 4.0]
