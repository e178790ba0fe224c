"""Numbers that are appended to lists, written inline."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule


def collects(values: list[float], x: float) -> float:
    out = []
    for v in values:
        out.append(v * x)
        if v > 1.5:
            values.append(x)  # the loop goes on with it
        if len(values) > 6:
            break
    rows = []
    for i in range(3):
        row = []
        for j in range(2):
            row.append(out[i] * j + x)  # noqa: PERF401  # it is about append
        rows.append(row)
    out.append(1.0)
    values.append(2.0)
    return sum(out) * rows[1][1] + sum([q * q for r in rows for q in r]) + values[-1]


def after_an_exception(x: float, values: list[Any]) -> Any:
    try:
        values.append(x)
        values.append(x * x)
        raise ValueError
    except ValueError:
        values.append(x**3)
    return values[0] + 2.0 * values[1] + 3.0 * values[2]


def replaced_afterwards(x: float) -> Any:
    values: list[Any] = []
    values.append(x)
    values[0] = [x * x]
    values.append(x)
    values.reverse()
    return values[0] * values[1][0]


def appends(x: float, values: list[float]) -> float:
    values.append(x * x)
    return values[-1]


def appends_a_constant(x: float, values: list[float]) -> float:
    values.append(1.5)
    return x * values[-1]


def pairs(x: float, n: int) -> Any:
    """Tuples of numbers and of what has no derivative, which are sorted."""
    bids: list[Any] = []
    for i in range(n):
        bids.append((x * ((i * 5) % 7), i, ("lot", x * x)))  # noqa: PERF401  # one by one
    bids.sort(reverse=True)
    ranked = sorted(bids, key=lambda bid: bid[1])
    first, second = bids[0], ranked[1]
    return first[0] * first[2][1] + second[0] * bids[-1][1]


def pairs_of_anything(x: float, n: int) -> Any:
    pairs: list[Any] = []
    for i in range(n):
        pairs.append((x, None if i % 2 else [x * i], i))
        pairs.append((x * i if i % 3 else i, 2.0 * x))
    pairs[1] = x, x
    return sum(p[0] for p in pairs) + pairs[0][1][0] * pairs[3][1] + pairs.pop()[0]


class Item:
    def __init__(self, weight: Any) -> None:
        self.weight = weight


def pairs_with_objects(x: float, n: int) -> Any:
    """Objects in tuples are shared with whoever has them, and have their derivatives by their addresses."""
    items = [Item(x * i) for i in range(n)]
    ranked: list[Any] = []
    for i, item in enumerate(items):
        ranked.append((item.weight * x, item, ("rank", i)))  # one by one
    first = max(ranked, key=lambda pair: pair[0])
    first[1].weight += first[0]
    ranked.sort(key=lambda pair: -pair[0])
    return sum(w * item.weight * k for w, item, (_, k) in ranked) + items[-1].weight


def pairs_with_constants(x: float, items: list[Any]) -> Any:
    pairs: list[Any] = []
    for item in items:
        pairs.append((2.0, item))
        pairs.append((x, item))
    return sum(a * item.weight for a, item in pairs)


def appends_pairs(x: float, pairs: list[Any]) -> Any:
    pairs.append((x * x, 3))
    pairs.append((1, True))
    return pairs[-2][0] * len(pairs)


def test_appended_tuples_are_differentiated_rightly() -> None:
    for _ in range(3):
        check_rule(pairs, 0.7, 6)
        check_rule(pairs_of_anything, 0.7, 5)
        check_rule(appends_pairs, 1.3, [(2.0, 1)])
        check_rule(pairs_with_objects, 0.7, 5)
    items = [Item(2.0), Item(3.0)]
    for _ in range(4):
        assert adbc.grad(pairs_with_constants)(1.5, items) == 5.0
        assert adbc.grad(pairs_with_constants)(1.5, adbc.Const(items)) == 5.0
    assert adbc.grad(appends_pairs)(3.0, [(2.0, 1)]) == 18.0
    with pytest.raises(ConstWriteError, match="constant list"):
        adbc.grad(appends_pairs)(2.0, adbc.Const([(2.0, 1)]))


@pytest.mark.usefixtures("at_once")
def test_tuples_are_written_inline() -> None:
    default_engine().clear()
    for _ in range(3):
        adbc.grad(pairs)(0.7, 6)
    (rule,) = [r for r in default_engine().rules.values() if r.code is pairs.__code__ and r.is_built]
    text = str(rule.graphs[0])
    assert text.count("append_flat") == 1 and "_append_forwards" not in text


def test_appended_numbers_are_differentiated_rightly() -> None:
    for _ in range(3):  # what was learnt changes the code
        check_rule(collects, [1.0, 2.0, 3.0], 0.7)
        check_rule(after_an_exception, 2.0, [])
        check_rule(replaced_afterwards, 1.3)
        check_rule(appends_a_constant, 2.0, [1.0])


@pytest.mark.usefixtures("at_once")
def test_it_is_written_inline() -> None:
    default_engine().clear()
    for _ in range(3):
        adbc.grad(collects, (0, 1))([1.0, 2.0, 3.0], 0.7)
    (rule,) = [r for r in default_engine().rules.values() if r.code is collects.__code__ and r.is_built]
    text = str(rule.graphs[0])
    assert text.count("append_item") == 6
    assert text.count("_append_forwards") == 1  # the list of lists


def test_constant_lists() -> None:
    with pytest.raises(ConstWriteError, match="constant list"):
        adbc.grad(appends)(2.0, adbc.Const([1.0]))
    with pytest.raises(ConstWriteError, match="constant list"):
        adbc.jvp(appends, (2.0, adbc.Const([1.0])), (1.0, None))
    held = [1.0]
    assert adbc.grad(appends_a_constant)(2.0, adbc.Const(held)) == 1.5
    assert held == [1.0]
