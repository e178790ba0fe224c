"""Results that a program remembers, and finds by comparing its argument with that of the last call."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule


class ByNumber:
    def __init__(self) -> None:
        self.x: float | None = None
        self.y = 0.0

    def __call__(self, x: float) -> float:
        if x != self.x:
            self.x = x
            self.y = x * x * x
        return self.y


class ByIdentity(ByNumber):
    def __call__(self, x: Any) -> float:
        if self.x is not x:
            self.x = x
            self.y = x * x * x
        return self.y


class ByPair:
    last: tuple[Any, float] = None, 0.0

    def __call__(self, x: float) -> float:
        key, y = self.last
        if key != (x, 1.0):
            y = x * x * x
            self.last = (x, 1.0), y
        return y


class InTry(ByNumber):
    def __call__(self, x: float) -> float:
        try:
            if self.x == x:
                return self.y
            self.x, self.y = x, x * x * x
        finally:
            self.calls = 1
        return self.y


class Nearly(ByNumber):
    def __call__(self, x: float) -> float:
        if self.x is None or not math.isclose(x, self.x):
            self.x, self.y = x, x * x * x
        return self.y


def _in_a_dict() -> Callable[[float], float]:
    kept: dict[str, float] = {}

    def f(x: float) -> float:
        if kept.get("x") != x:
            kept["x"], kept["y"] = x, x * x * x
        return kept["y"]

    return f


def _in_a_list() -> Callable[[float], float]:
    kept = [math.nan, math.nan]

    def f(x: float) -> float:
        if kept[0] == x:
            return kept[1]
        kept[:] = [0.0, 0.0]
        kept[0], kept[1] = x, x * x * x
        return kept[1]

    return f


def _in_cells() -> Callable[[float], float]:
    last, result = None, 0.0

    def f(x: float) -> float:
        nonlocal last, result
        if last is None or last != x:
            last, result = x, x * x * x
        return result

    return f


class Arrays:
    same: Callable[[Any, Any], Any] = staticmethod(np.array_equal)

    def __init__(self) -> None:
        self.x: Any = None
        self.y = 0.0

    def __call__(self, x: Any) -> Any:
        if self.x is None or not np.array_equal(x, self.x):
            self.x = x.copy()
            self.y = (x * x * x).sum()
        return self.y


class All(Arrays):
    def __call__(self, x: Any) -> Any:
        if self.x is None or not np.all(self.x == x):
            self.x, self.y = np.array(x), (x * x * x).sum()
        return self.y


class Any_(Arrays):
    def __call__(self, x: Any) -> Any:
        if self.x is None or (x != self.x).any():
            self.x, self.y = np.array(x), (x * x * x).sum()
        return self.y


class Close(Arrays):
    def __call__(self, x: Any) -> Any:
        if self.x is None or not np.allclose(x, self.x, rtol=0, atol=1e-14):
            self.x, self.y = np.array(x), (x * x * x).sum()
        return self.y


MADE: dict[str, tuple[Callable[[], Any], Any]] = {
    "number": (ByNumber, 1.7),
    "identity": (ByIdentity, 1.7),
    "pair": (ByPair, 1.7),
    "in try": (InTry, 1.7),
    "nearly": (Nearly, 1.7),
    "dict": (_in_a_dict, 1.7),
    "list": (_in_a_list, 1.7),
    "cells": (_in_cells, 1.7),
    "array_equal": (Arrays, np.array([1.7, 0.4])),
    "all": (All, np.array([1.7, 0.4])),
    "any": (Any_, np.array([1.7, 0.4])),
    "allclose": (Close, np.array([1.7, 0.4])),
}
CONFIGS = [{}, {"speculation": "never"}, {"warm_after": 0}]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("name", MADE)
def test_what_an_earlier_call_has_left_is_refused(name: str, config: dict[str, Any]) -> None:
    make, x = MADE[name]
    with adbc.use(adbc.Config(**config)):
        f = make()
        expected = 3 * x * x
        np.testing.assert_allclose(adbc.grad(f)(x), expected)
        np.testing.assert_allclose(adbc.grad(f)(x), expected)  # the first was undone
        f(x)
        for run in (lambda: adbc.grad(f)(x), lambda: adbc.jvp(f, (x,), (x * 0 + 1.0,))):
            for _ in range(2):
                with pytest.raises(adbc.errors.UnsupportedError, match="of an earlier call"):
                    run()
        np.testing.assert_allclose(adbc.grad(f)(x + 1), 3 * (x + 1) ** 2)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("name", MADE)
def test_what_the_call_has_left_itself_is_found(name: str, config: dict[str, Any]) -> None:
    make, x = MADE[name]

    def twice(f: Any, x: Any) -> Any:
        return f(x) + f(x) * f(x)

    with adbc.use(adbc.Config(**config)):
        for f in (make(), make()):
            out, gradient = adbc.value_and_grad(twice, argnums=1)(f, x)
            np.testing.assert_allclose(gradient, 3 * x * x * (1 + 2 * np.sum(x**3)))
        _, tangent = adbc.jvp(lambda x: twice(make(), x), (x,), (x * 0 + 1.0,))
        np.testing.assert_allclose(tangent, np.sum(gradient))


class Counting:
    """A model that compares much, and remembers nothing by it."""

    def __init__(self) -> None:
        self.low = 1.7
        self.seen = 0
        self.state = "idle"

    def __call__(self, x: float) -> float:
        if x == self.low:
            x = x * 2
        if self.state != "busy":
            self.state = "busy"
        if self.seen == 0:
            self.seen += 1
        return x * x


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_other_comparisons_are_free(config: dict[str, Any]) -> None:
    with adbc.use(adbc.Config(**config)):
        model = Counting()
        model(1.7)
        model(1.7)
        check_rule(model, 3.7)
        assert adbc.grad(model)(1.7) == pytest.approx(8 * 1.7)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_a_constant_that_is_remembered_is_used(config: dict[str, Any]) -> None:
    """What is compared does not depend on the input."""
    tables = ByNumber()
    with adbc.use(adbc.Config(**config)):
        tables(3.0)
        assert adbc.grad(lambda x: tables(3.0) * x)(1.7) == 27.0
        assert adbc.jvp(lambda x: tables(3.0) * x, (1.7,), (1.0,))[1] == 27.0
        assert adbc.grad(lambda x, n: tables(n) * x)(1.7, 3.0) == 27.0
        assert adbc.grad(lambda x: tables([3.0, x][0]) * x)(1.7) == 27.0


class Told(ByNumber):
    """A memo that is made with its first result."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.y = x * x * x


class InSlots:
    __slots__ = ("x", "y")

    def __init__(self, x: float) -> None:
        self.x, self.y = x, x * x * x

    def __call__(self, x: float) -> float:
        if x != self.x:
            self.x, self.y = x, x * x * x
        return self.y


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("make", [Told, InSlots])
def test_what_an_object_of_this_call_remembers_is_of_this_call(make: Any, config: dict[str, Any]) -> None:
    def f(x: float) -> float:
        memo = make(x)
        return memo(x) * 2.0 + memo(x + 1.0) + memo(x + 1.0)

    with adbc.use(adbc.Config(**config)):
        for x in (1.7, 1.7, 0.3):
            check_rule(f, x)
            assert adbc.grad(f)(x) == pytest.approx(6 * x * x + 6 * (x + 1.0) ** 2)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_what_an_object_of_an_earlier_call_remembers_is_refused(config: dict[str, Any]) -> None:
    memo = InSlots(1.7)
    with adbc.use(adbc.Config(**config)):
        with pytest.raises(UnsupportedError, match="remembers of an earlier call"):
            adbc.grad(memo)(1.7)
        with pytest.raises(UnsupportedError, match="remembers of an earlier call"):
            adbc.jvp(memo, (1.7,), (1.0,))


def best_of_a_list(x: float) -> float:
    best, total = [x, x * x], 0.0
    for k in range(3):
        if best[0] == x or best[-2] == 3.0 * x:
            total += best[1]
        best[0] = best[0] * (1 + k)
        best[-2] += 0.0
    return total


def best_of_a_dict(x: float) -> float:
    best, total = {"at": x, "of": x * x}, 0.0
    for k in range(3):
        if best["at"] == x:
            total += best["of"]
        best["at"] = best["at"] * (1 + k)
    return total


class Part:
    def __init__(self, value: float) -> None:
        self.value = value


def parts_of_lists(x: float) -> float:
    """Objects of this call are where this call has put them, whoever has made the list."""
    parts, total = [Part(x), Part(2.0 * x)], 0.0
    for chosen in (list(parts), parts[:], sorted(parts, key=lambda p: p.value), copy.copy(parts)):
        total += x * (chosen[0] is parts[0])
        chosen[0] = Part(x * x)
        total += chosen[0].value + parts[0].value
    return total


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("f", [best_of_a_list, best_of_a_dict, parts_of_lists])
def test_what_is_new_holds_what_this_call_has_put_there(f: Any, config: dict[str, Any]) -> None:
    with adbc.use(adbc.Config(**config)):
        for x in (1.7, 1.7, 0.3):
            f(x)
            check_rule(f, x)


class Copying:
    """It compares with a copy of what it remembers."""

    def __init__(self) -> None:
        self.kept: list[Any] = [None, None]

    def __call__(self, x: float) -> float:
        kept = [self.kept[0], self.kept[1]]
        if kept[0] == x:
            return kept[1]
        self.kept[0], self.kept[1] = x, x**3
        return self.kept[1]


class Handing(Copying):
    """What it remembers is handed over by a method, which is too long to be written in."""

    def last(self, k: int) -> Any:
        found = None
        for i, kept in enumerate(self.kept):
            if i == k:
                found = kept
        return found

    def __call__(self, x: float) -> float:
        kept = [self.last(0), self.last(1)]
        if kept[0] == x:
            return kept[1]
        self.kept[0], self.kept[1] = x, x**3
        return self.kept[1]


class CopyingObjects:
    """It finds the object that it was given before."""

    def __init__(self) -> None:
        self.kept: list[Any] = [None, None]

    def __call__(self, part: Part) -> float:
        if self.kept[0] is part:
            return self.kept[1]
        self.kept[0], self.kept[1] = part, part.value**3
        return self.kept[1]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("make", [Copying, Handing, CopyingObjects])
def test_copies_of_what_an_earlier_call_has_left_are_refused(make: Any, config: dict[str, Any]) -> None:
    with adbc.use(adbc.Config(**config)):
        memo, x = make(), Part(1.7) if make is CopyingObjects else 1.7
        memo(x)
        for _ in range(2):
            with pytest.raises(UnsupportedError, match="remembers of an earlier call"):
                adbc.grad(memo)(x)
