"""Objects that lead to each other in long chains and in circles: no walk over them is a recursion."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

import adbc

LENGTH = 10_000


class Node:
    def __init__(self, value: float, following: Any = None) -> None:
        self.value = value
        self.following = following


@dataclasses.dataclass(frozen=True)
class Link:
    value: float
    following: Any


def chain(x: float, length: int = LENGTH) -> Any:
    head = None
    for _ in range(length):
        head = Node(x, head)
    return head


def total(head: Any) -> float:
    found = 0.0
    while head is not None:
        found += head.value * 2.0
        head = head.following
    return found


def of_objects(x: float) -> float:
    return total(chain(x))


def of_tuples(x: float) -> float:
    head: Any = None
    for _ in range(LENGTH):
        head = (x, head)
    found = 0.0
    while head is not None:
        found += head[0] * 2.0
        head = head[1]
    return found


def of_lists(x: float) -> float:
    head: Any = None
    for _ in range(LENGTH):
        head = [x, head]
    found = 0.0
    while head is not None:
        found += head[0] * 2.0
        head = head[1]
    return found


def of_records(x: float) -> float:
    head: Any = None
    for _ in range(LENGTH):
        head = Link(x, head)
    return total(head)


@pytest.mark.parametrize("f", [of_objects, of_tuples, of_lists, of_records])
@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always", "interpret"])
def test_chains_that_are_built_and_walked(f: Any, speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        value, gradient = adbc.value_and_grad(f)(1.5)
        assert math.isclose(value, 3.0 * LENGTH)
        assert math.isclose(gradient, 2.0 * LENGTH)
        assert adbc.jvp(f, (1.5,), (1.0,)) == (value, pytest.approx(2.0 * LENGTH))


def values(head: Any) -> set[float]:
    found = set()
    while hasattr(head, "value"):  # the tangent of None ends the chain of tangents
        found.add(head.value)
        head = head.following
    return found


def test_a_chain_as_argument() -> None:
    head = chain(1.5, 10 * LENGTH)
    value, gradient = adbc.value_and_grad(total)(head)
    assert math.isclose(value, 30.0 * LENGTH)
    assert values(gradient) == {2.0}
    assert values(head) == {1.5}
    tangent = adbc.zero_tangent(head)
    tangent.value = 1.0
    assert adbc.jvp(total, (head,), (tangent,))[1] == 2.0


HEAD = chain(1.5)


def with_a_global(x: float) -> float:
    HEAD.value = x
    return total(HEAD)


def test_a_chain_in_a_global_and_in_a_closure() -> None:
    assert adbc.grad(with_a_global)(3.0) == 2.0
    assert HEAD.value == 1.5  # as it was before
    head = chain(1.5)

    def with_a_closure(x: float) -> float:
        head.following.value = x * x
        return total(head)

    assert adbc.grad(with_a_closure)(3.0) == 12.0
    assert adbc.jvp(with_a_closure, (3.0,), (1.0,))[1] == 12.0


def test_a_circle() -> None:
    head = chain(1.5, 1000)
    last = head
    while last.following is not None:
        last = last.following
    last.following = head

    def around(start: Any) -> float:
        found, node = 0.0, start
        for _ in range(1500):
            found += node.value
            node = node.following
        return found

    gradient = adbc.grad(around)(head)
    assert gradient.value == 2.0
    node = gradient
    for _ in range(500):
        node = node.following
    assert node.value == 1.0
