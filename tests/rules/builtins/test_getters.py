"""Getters of `operator`, where they are called and handed to what calls them."""

from __future__ import annotations

import functools
import heapq
import itertools
import operator
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import pytest

import adbc
from adbc.rules.builtins.getters import getter_function
from adbc.testing import test_rule as check_rule


class Body:
    def __init__(self, name: str, mass: Any, inner: Any = None) -> None:
        self.name, self.mass, self.inner = name, mass, inner

    def energy(self, factor: float, *, power: int = 1) -> Any:
        return factor * self.mass**power


def rows(x: float, xs: list[float]) -> list[tuple[str, float, int]]:
    return [("cab"[k % 3], v * x, k) for k, v in enumerate(xs)]


def bodies(x: float, xs: list[float]) -> list[Body]:
    return [Body("cab"[k % 3], v * x, Body("inner", v * v * x)) for k, v in enumerate(xs)]


def sorted_by_items(x: float, xs: list[float]) -> Any:
    table = rows(x, xs)
    table.sort(key=itemgetter(1))
    by_two = sorted(table, key=operator.itemgetter(0, 2), reverse=True)
    return sum(k * row[1] for k, row in enumerate(table)) + sum(
        k * row[1] ** 2 for k, row in enumerate(by_two)
    )


def by_attributes(x: float, xs: list[float]) -> Any:
    all_ = bodies(x, xs)
    largest = max(all_, key=operator.attrgetter("mass"))
    first = min(all_, key=attrgetter("name", "mass"))
    deepest = heapq.nsmallest(2, all_, key=attrgetter("inner.mass"))
    return largest.mass * first.mass + deepest[1].inner.mass


def mapped(x: float, xs: list[float]) -> Any:
    all_ = bodies(x, xs)
    total = sum(map(methodcaller("energy", 2.0, power=2), all_)) + sum(map(attrgetter("inner.mass"), all_))
    return total * functools.reduce(operator.add, map(itemgetter(1), rows(x, xs)))


def grouped(x: float, xs: list[float]) -> Any:
    total = 0.0
    for name, group in itertools.groupby(sorted(rows(x, xs), key=itemgetter(0)), itemgetter(0)):
        total += len(name) * max(map(itemgetter(1), group))
    return total


def called(x: float, xs: list[float]) -> Any:
    pick, part = itemgetter(1, -1), itemgetter(slice(1, None))
    first, last = pick(xs)
    return first * last * x + sum(part(xs)) + methodcaller("energy", x)(Body("a", x))


def looked_at(x: float, xs: list[float]) -> Any:
    """The getter itself is seen, so that it stays one."""
    pick = itemgetter(1)
    return pick(xs) * x * (type(pick) is itemgetter) + len(repr(pick))


def with_complaints(x: float, xs: list[float]) -> Any:
    said = []
    calls = ((itemgetter(7), (xs,)), (attrgetter("mass.none"), (Body("a", x),)), (itemgetter(1), (xs, xs)))
    for pick, given in calls:
        try:
            pick(*given)
        except (IndexError, AttributeError, TypeError) as error:
            said.append(str(error))
    try:
        sorted(rows(x, xs), key=attrgetter("mass"))
    except AttributeError as error:
        said.append(str(error))
    return x * sum(map(len, said))


PROGRAMS = [sorted_by_items, by_attributes, mapped, grouped, called, looked_at, with_complaints]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("warm_after", [0, 40])
def test_both_modes(function: Any, warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        check_rule(function, 0.7, [0.3, -1.1, 0.8, 0.4])


def test_functions_of_getters() -> None:
    table: Any = {"a": [1.0, 2.0], 1: "one", 1.5: "float"}
    for kind, args, named in (
        (itemgetter, ["a"], {}), (itemgetter, [1, "a"], {}), (itemgetter, [1.5], {}),
        (itemgetter, [True], {}), (attrgetter, ["real", "imag"], {}), (methodcaller, ["get", "b", 3], {}),
    ):  # fmt: skip
        function = getter_function(kind, args, named)
        subject = 2j if kind is attrgetter else table
        assert function is not None and function(subject) == kind(*args, **named)(subject)
        assert getter_function(kind, list(args), {}) is function
    assert getter_function(itemgetter, [1], {}) is not getter_function(itemgetter, [True], {})
    for kind, args in (
        (itemgetter, []), (itemgetter, [[1]]), (itemgetter, [float("nan")]), (attrgetter, ["a b"]),
        (attrgetter, ["class"]), (attrgetter, [1]), (methodcaller, ["a.b"]), (map, [1]),
    ):  # fmt: skip
        assert getter_function(kind, args, {}) is None
