"""Companions of what was read from slots, where something is written before the value is tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule


class Pair:
    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


def rows_swapped(x: float, y: float) -> Any:
    m = [[x, 0.5], [0.3 * y]]
    m[0], m[1] = m[1], m[0]
    return m[0][0] + m[1][-1] * x


def rows_swapped_and_summed(x: float, y: float) -> Any:
    m = [[x, 0.5], [0.3 * y]]
    m[0], m[1] = m[1], m[0]
    t = {0: m[0][0], 1: m[1][-1]}.get(0, 0.5)
    return t * x + sum(map(sum, m))


def fields_swapped(x: float, y: float) -> Any:
    p = Pair([x, 0.5], [0.3 * y])
    p.left, p.right = p.right, p.left
    return p.left[0] * x + p.right[-1] + p.right[0] * y


def swapped_in_a_dict(x: float, y: float) -> Any:
    d = {"a": [x, 0.5], "b": [0.3 * y]}
    d["a"], d["b"] = d["b"], d["a"]
    return d["a"][0] * x + d["b"][0] * d["b"][1]


def kept_while_it_is_replaced(x: float, y: float) -> Any:
    m = [[x * y], [y]]
    first = m[0]
    m[0] = [3.0 * y, x]
    return first[0] * y + m[0][1] * m[1][0]


def rotated(x: float, y: float) -> Any:
    m = [[x], [y], [x * y]]
    for _ in range(2):
        m[0], m[1], m[2] = m[1], m[2], m[0]
    return m[0][0] + 2.0 * m[1][0] + 3.0 * m[2][0] * m[0][0]


def replaced_in_one_branch(x: float, y: float) -> Any:
    m = [[x * y], [y]]
    first = m[0]
    if x < 1.0:
        m[0] = [7.0 * y, x]
    return first[0] * y + m[0][0]


def method_replaced(x: float, y: float) -> Any:
    p = Pair(lambda t: t * x, 1.0)
    call = p.left
    p.left = lambda t: t * y * y
    return call(y) + p.left(x)


def replaced_by_what_is_called(x: float, y: float) -> Any:
    m = [[x * y], [y]]

    def replace() -> float:
        m[0] = [7.0 * y]
        return x

    return m[0][0] * replace() + m[0][0]


CASES = [
    rows_swapped, rows_swapped_and_summed, fields_swapped, swapped_in_a_dict, kept_while_it_is_replaced,
    rotated, replaced_in_one_branch, method_replaced, replaced_by_what_is_called,
]  # fmt: skip


@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
@pytest.mark.parametrize("f", CASES)
def test_what_was_read_before_it_was_overwritten(f: Callable[..., Any], guess: str) -> None:
    with adbc.use(adbc.Config(speculation=guess, verify=True)):
        for _ in range(3):
            check_rule(f, -0.64, 0.92)
