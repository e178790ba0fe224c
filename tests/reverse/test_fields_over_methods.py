"""A field of an instance hides the method of its class, in code that was made for the method too."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule


class Shape:
    def __init__(self, u: float, kind: str) -> None:
        self.u = u
        if kind == "closure":
            self.size = lambda: 3.0 * u  # type: ignore[method-assign]  # what is tested
        elif kind == "partial":
            self.size = functools.partial(scaled, u)  # type: ignore[method-assign]
        elif kind == "object":
            self.size = Callable(u)  # type: ignore[method-assign]
        elif kind == "another":
            self.size = Shape(2.0 * u, "method").size  # type: ignore[method-assign]

    def size(self) -> float:
        return self.u * self.u


class Callable:
    def __init__(self, u: float) -> None:
        self.u = u

    def __call__(self) -> float:
        return 5.0 * self.u


def scaled(u: float) -> float:
    return 7.0 * u


def use(x: float, kind: str) -> float:
    return Shape(x, kind).size() * x


def in_a_handler(x: float, kind: str) -> float:
    shape = Shape(x, kind)
    try:
        return 1.0 / (x - x)
    except ZeroDivisionError:
        return shape.size() * x


SLOPES = {"method": 27.0, "closure": 18.0, "partial": 42.0, "object": 30.0, "another": 108.0}


@pytest.mark.parametrize("function", [use, in_a_handler])
@pytest.mark.parametrize("kind", SLOPES)
def test_each_kind(function: Any, kind: str) -> None:
    for _ in range(4):
        assert adbc.grad(function)(3.0, kind) == pytest.approx(SLOPES[kind], rel=1e-14)
        assert adbc.jvp(function, (3.0, kind), (1.0, None))[1] == pytest.approx(SLOPES[kind], rel=1e-14)
    test_rule(function, 3.0, kind)


def test_one_after_the_other() -> None:
    default_engine().clear()
    for kind in ["method", "closure", "method", "another", "object", "partial", "method"]:
        assert adbc.grad(use)(3.0, kind) == pytest.approx(SLOPES[kind], rel=1e-14), kind
