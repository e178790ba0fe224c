"""Generators whose elements go into arrays and to the end of collections that are there.

The programs are as those of `consumed`: a float and a list of floats are taken, floats are returned.
"""

from __future__ import annotations

import itertools
import operator
from array import array
from collections import deque
from collections.abc import Iterator

import numpy as np

from tests.programs.consumed import program, seen

__all__: list[str] = []


def endless(x: float) -> Iterator[float]:
    for k in itertools.count(1):
        yield seen("k", x / k)


@program
def numbers_in_an_array(x: float, xs: list[float]) -> float:
    values = array("d", (seen("v", v * x) for v in xs))
    return sum(v * v for v in values) + values[0]


@program
def an_array_from_an_iterator(x: float, xs: list[float]) -> float:
    values = np.fromiter((seen("v", v * x) for v in xs), float)
    return float((values * values).sum())


@program
def as_many_as_are_asked_for(x: float, xs: list[float]) -> float:
    few = np.fromiter(endless(x), dtype=float, count=len(xs))
    none = np.fromiter(endless(x), np.float64, 0)
    return float(few @ np.array(xs)) + float(none.sum())


@program
def added_in_place(x: float, xs: list[float]) -> float:
    found = [x]
    for k in range(2):
        found += (seen(k, v * x) for v in xs[k:])
    same = found
    same += (v * v for v in xs if v * x > 0.1)
    return sum(v * v for v in found)


@program
def added_in_place_and_read_meanwhile(x: float, xs: list[float]) -> float:
    found = [x]
    found += (seen("v", v * x + found[-1]) for v in xs)
    return sum(v * v for v in found)


@program
def added_to_one_of_two(x: float, xs: list[float]) -> float:
    found = [x] if x > 0.0 else sorted(xs)
    found += (v * x for v in xs)
    return found[-1] * found[0]


@program
def at_the_end_of_a_deque(x: float, xs: list[float]) -> float:
    last: deque[float] = deque(maxlen=3)
    last.extend(seen("v", v * x) for v in xs)
    last += (v * v for v in xs[:2])
    return sum(operator.mul(v, v) for v in last)


@program
def at_the_end_of_an_array(x: float, xs: list[float]) -> float:
    values = array("d", [x])
    values.extend(seen("v", v * x) for v in xs)
    return sum(v * v for v in values)
