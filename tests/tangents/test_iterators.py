"""Shadows of iterators step with their primal and bring cotangents back to where elements came from."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any, NamedTuple

import numpy as np
import pytest

from adbc import tangents as t
from adbc.errors import UnsupportedError
from adbc.tangents import NO_FDATA, NO_TANGENT, FData, RData, shadow_enumerate, shadow_iterator, shadow_zip


class Point(NamedTuple):
    x: float
    y: Any


def sink_all(primal: Any, shadow: Any) -> list[Any]:
    """Step along `primal`, sinking 10 into the first element, 20 into the second, ..."""
    tangents = []
    for i, _ in enumerate(primal):
        _, sink, tangent = shadow.step()
        tangents.append(tangent)
        if sink is not None:
            sink(10.0 * (i + 1))
    return tangents


@pytest.mark.parametrize("make", [list, deque])
def test_sequences(make: Any) -> None:
    tangents = make([1.0, 2.0, 3.0])
    x = make([5.0, 6.0, 7.0])
    assert sink_all(x, shadow_iterator(x, tangents)) == [1.0, 2.0, 3.0]
    assert list(tangents) == [11.0, 22.0, 33.0]
    sink_all(reversed(x), shadow_iterator(x, tangents, reverse=True))
    assert list(tangents) == [41.0, 42.0, 43.0]


def test_elements_of_each_kind() -> None:
    inner = [0.0]
    shadow = shadow_iterator([1, [2.0], 3.0, (4.0, [5.0])], [NO_TANGENT, inner, 0.5, (1.0, inner)])
    assert shadow.step() == (None, None, NO_TANGENT)
    found, sink, tangent = shadow.step()
    assert found is inner
    assert sink is None
    assert tangent is inner
    assert shadow.step()[0] is NO_FDATA
    found, sink, tangent = shadow.step()
    assert found == (NO_FDATA, inner)
    assert tangent == (1.0, inner)
    assert sink is not None
    sink((2.0, None))
    assert shadow.container[3] == (3.0, inner)  # type: ignore[attr-defined]


def test_growing_while_iterating() -> None:
    x, tangents = [1.0], [0.0]
    shadow = shadow_iterator(x, tangents)
    for v in x:
        _, sink, _ = shadow.step()
        assert sink is not None
        sink(v)
        if len(x) < 3:
            x.append(v + 1)
            tangents.append(0.0)
    assert tangents == x


def test_a_tuple_gathers() -> None:
    shadow = shadow_iterator((1.0, 2, 3.0), (NO_FDATA, None, NO_FDATA))
    assert shadow.rdata() is None
    assert sink_all((1.0, 2, 3.0), shadow) == [NO_FDATA, None, NO_FDATA]
    assert shadow.rdata() == (10.0, None, 30.0)
    shadow = shadow_iterator(Point(1.0, 2.0), FData(x=NO_FDATA, y=NO_FDATA))
    sink_all((1.0, 2.0), shadow)
    assert shadow.rdata() == RData(x=10.0, y=20.0)
    assert sink_all((1.0, 2.0), shadow_iterator((1.0, 2.0), (0.5, 0.25))) == [0.5, 0.25]


def test_dicts() -> None:
    d = {"a": 1.0, "b": 2, "c": 3.0}
    tangents = {"a": 0.5, "b": NO_TANGENT, "c": 0.25}
    assert sink_all(d, shadow_iterator(d, tangents)) == [None, None, None]
    assert sink_all(d.keys(), shadow_iterator(d.keys(), tangents)) == [None, None, None]
    assert sink_all(d.values(), shadow_iterator(d.values(), tangents)) == [0.5, NO_TANGENT, 0.25]
    assert tangents == {"a": 10.5, "b": NO_TANGENT, "c": 30.25}
    shadow = shadow_iterator(d.items(), tangents)
    found, sink, tangent = shadow.step(("a", 1.0))
    assert found == (None, NO_FDATA)
    assert tangent == (NO_TANGENT, 10.5)
    assert sink is not None
    sink((None, 1.0))
    assert tangents["a"] == 11.5
    assert shadow.step() == (None, None, None)
    shadow = shadow_iterator(d.values(), tangents, reverse=True)
    assert shadow.step()[2] == 30.25


def test_ordered_dicts_keep_their_own_order() -> None:
    d = OrderedDict(a=1.0, b=2.0)
    tangents = t.zero_tangent(d)
    tangents["b"] = 5.0
    d.move_to_end("a")
    assert shadow_iterator(d.values(), tangents).step()[2] == 5.0


def test_iterators_over_arrays_bring_cotangents_to_elements_and_rows() -> None:
    f = np.zeros(3)
    sink_all(np.ones(3), shadow_iterator(np.ones(3), f))
    np.testing.assert_array_equal(f, [10.0, 20.0, 30.0])
    g = np.zeros((2, 3))
    rows = shadow_iterator(np.ones((2, 3)), g)
    rows.step()
    row, sink, _ = rows.step()
    assert sink is None
    assert np.shares_memory(row, g[1])
    o = np.array([0.0, NO_TANGENT], object)
    sink_all([1.0, 2], shadow_iterator(np.array([1.0, 2], object), o))
    assert o[0] == 10.0


def test_zip_and_enumerate() -> None:
    a, b = [1.0, 2.0], [3.0, 4.0]
    first = shadow_iterator((5.0, 6.0), (NO_FDATA, NO_FDATA))
    shadow = shadow_zip([shadow_iterator(a, b), shadow_enumerate(first), shadow_iterator(range(2), None)])
    found, sink, tangent = shadow.step((1.0, (0, 5.0), 0))
    assert found == (NO_FDATA, (None, NO_FDATA), None)
    assert tangent[0] == 3.0
    assert sink is not None
    sink((10.0, (None, 20.0), None))
    assert b == [13.0, 4.0]
    assert shadow.rdata() == (None, (None, (20.0, None)), None)


def test_zeros_are_filled_from_the_value() -> None:
    shadow = shadow_zip([shadow_iterator([1.0], [3.0]), shadow_iterator([2.0], None)])
    found, _, tangent = shadow.step((1.0, 2.0))
    assert found == (NO_FDATA, None)
    assert tangent == (3.0, 0.0)


def test_iterators_made_before() -> None:
    x = [1.0, 2.0, 3.0]
    it = iter(x)
    next(it)
    tangents, shadow = t.zero_tangent((x, it))
    sink_all(it, shadow)
    assert tangents == [0.0, 10.0, 20.0]
    array = np.ones(2)
    f, shadow = t.zero_tangent((array, iter(array)))
    sink_all([1, 2], shadow)
    np.testing.assert_array_equal(f, [10.0, 20.0])
    tangents, shadow = t.zero_tangent((x, enumerate(reversed(x))))
    shadow.step()[1]((None, 1.0))
    assert tangents == [0.0, 0.0, 1.0]
    assert t.zero_tangent(iter(range(3))).step() == (None, None, None)
    assert shadow_iterator(it, shadow) is shadow


@pytest.mark.parametrize("make", [lambda: (x for x in [1.0]), lambda: iter((1.0,)), lambda: map(abs, [1.0])])
def test_iterators_that_cannot_be_seen_into(make: Any) -> None:
    shadow = t.zero_tangent(make())
    with pytest.raises(UnsupportedError, match="list"):
        shadow.step()


def test_keys_that_are_objects() -> None:
    class Node:
        pass

    node = Node()
    with pytest.raises(UnsupportedError, match="key of a dict"):
        shadow_iterator({node: 1.0}, {node: 0.0}).step(node)
