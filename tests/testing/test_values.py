"""Copies keep aliasing, and comparisons see every difference that a wrong rule can make."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from adbc.testing.values import assert_same, duplicate, inner, leaves, precision


class Point:
    def __init__(self, x: float, y: Any) -> None:
        self.x = x
        self.y = y


class Slotted:
    __slots__ = ("__hidden", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.__hidden = [value]


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: list[float]


class Pair(NamedTuple):
    left: Any
    right: Any


def counter(start: list[float]) -> Any:
    count = 0.0

    def step(x: float) -> float:
        nonlocal count
        count += x
        start.append(count)
        return count

    return step


VALUES: list[Any] = [
    1.5,
    2,
    "text",
    None,
    (1.0, (2, [3.0])),
    Pair([1.0], 2.0),
    [1.0, [2.0, 3]],
    {"a": 1.0, "b": [2.0]},
    collections.OrderedDict(z=1.0, a=[2.0]),
    collections.deque([1.0, [2.0]], maxlen=5),
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(6.0)[::-2],
    np.array([1.0 + 2j, 3.0]),
    np.array([[1.0], 2.0, "x"], dtype=object),
    np.float32(1.5),
    Point(1.0, [2.0]),
    Slotted([1.0]),
    Frozen(1.0, [2.0]),
    Point(1.0, [2.0]).__init__,
    functools.partial(math.pow, 2.0),
    counter([1.0]),
    math.sin,
    np.random.default_rng(3),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_copies_are_the_same(value: Any) -> None:
    assert_same(value, duplicate(value), "copy")


def test_copies_share_nothing_mutable() -> None:
    original = [Point(1.0, [2.0]), {"a": [3.0]}, np.arange(3.0), Slotted([4.0])]
    copy = duplicate(original)
    copy[0].y.append(9.0)
    copy[1]["a"].append(9.0)
    copy[2][:] = 9.0
    copy[3].value.append(9.0)
    assert original[0].y == [2.0]
    assert original[1] == {"a": [3.0]}
    assert original[2].tolist() == [0.0, 1.0, 2.0]
    assert original[3].value == [4.0]


def test_copies_keep_aliasing_and_cycles() -> None:
    shared = [1.0]
    cycle: list[Any] = [shared, shared]
    cycle.append(cycle)
    copy = duplicate(cycle)
    assert copy[0] is copy[1] and copy[0] is not shared
    assert copy[2] is copy


def test_copies_of_views_overlap_as_the_originals_do() -> None:
    base = np.arange(10.0)
    copy = duplicate([base[1:], base[:-1], base[::-3], base])
    copy[3][:] = np.arange(10.0) * 10
    assert copy[0].tolist() == [10.0 * i for i in range(1, 10)]
    assert copy[1].tolist() == [10.0 * i for i in range(9)]
    assert copy[2].tolist() == [90.0, 60.0, 30.0, 0.0]
    assert base.tolist() == list(range(10))


def test_copies_of_views_of_a_fortran_array() -> None:
    base = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    copy = duplicate([base, base[1:, ::2]])
    copy[0][1, 2] = 99.0
    assert copy[1][0, 1] == 99.0


def test_copies_of_closures_have_their_own_state() -> None:
    f = counter([])
    g = duplicate(f)
    assert [g(1.0), g(1.0)] == [1.0, 2.0]
    assert f(1.0) == 1.0


def test_copies_of_a_recursive_closure_call_themselves() -> None:
    def outer(scale: list[float]) -> Any:
        def countdown(n: int) -> float:
            return scale[0] if n == 0 else countdown(n - 1) + scale[0]

        return countdown

    f = outer([1.0])
    g = duplicate(f)
    cells = dict(zip(g.__code__.co_freevars, g.__closure__, strict=True))
    assert cells["countdown"].cell_contents is g
    cells["scale"].cell_contents[0] = 2.0
    assert (f(2), g(2)) == (3.0, 6.0)


base = np.zeros(4)
shared = [1.0]
DIFFERENT: list[tuple[Any, Any, str]] = [
    (1.0, 2.0, "expected 1.0"),
    (1.0, 1, "int 1"),
    (1.0, np.float64(1.0), "float64"),
    ([1.0], (1.0,), "tuple"),
    ([1.0], [1.0, 2.0], r"\[1\]"),
    ({"a": 1.0}, {"b": 1.0}, "lacks"),
    ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}, "another order"),
    (np.zeros(2), np.zeros(3), "shape"),
    (np.zeros(2), np.zeros(2, np.float32), "float32"),
    (np.arange(2), np.arange(2) + 1, "expected"),
    (Point(1.0, 2.0), Point(1.0, 3.0), r"\.y"),
    ([shared, shared], [[1.0], [1.0]], "same object"),
    ([[1.0], [1.0]], [shared, shared], "should not"),
    ([base[:2], base[1:3]], [np.zeros(2), np.zeros(2)], "share memory"),
    ([base[:2], base[1:3]], [base[:2], base[:2]], "overlap"),
    ([np.zeros(2), np.zeros(2)], [base[:2], base[1:3]], "share memory"),
]


@pytest.mark.parametrize(("expected", "actual", "message"), DIFFERENT)
def test_differences_are_seen(expected: Any, actual: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_same(expected, actual, "it")


def test_numbers_may_be_ignored_or_close() -> None:
    assert_same([1.0, np.zeros(2)], [2.0, np.ones(2)], "it", numbers=False)
    assert_same(np.array([1.0, 1e-20]), np.array([1.0, 0.0]), "it", rtol=1e-12)
    assert_same([math.nan, math.inf], [math.nan, math.inf], "it")
    with pytest.raises(AssertionError):
        assert_same(1.0, 1.0 + 1e-9, "it", rtol=1e-12)


def test_leaves_are_labelled_and_come_once() -> None:
    found = list(leaves([Point(1.0, shared), shared, 3, "a", np.arange(2)], "x"))
    assert found == [("x[0].x", 1.0), ("x[0].y[0]", 1.0)]


def test_inner_product_counts_each_number_once() -> None:
    memory = np.array([1.0, 2.0, 3.0])
    assert inner([memory[:2], memory[1:]], [np.ones(2), np.ones(2)]) == (6.0, 6.0)
    assert inner([1.0 + 2.0j], [3.0 - 1.0j]) == (1.0, 1.0)
    assert inner(np.broadcast_to(np.array(2.0), (3,)), np.ones(3)) == (2.0, 2.0)


def test_precision_is_that_of_the_coarsest_number() -> None:
    assert precision([1.0, np.float32(2.0)]) == np.finfo(np.float32).eps
    assert precision([1]) == np.finfo(np.float64).eps
