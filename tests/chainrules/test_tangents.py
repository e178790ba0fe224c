"""Tangents that are no numbers: one table for sums, products, and what is refused."""

from __future__ import annotations

import collections
import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.structured import move

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()
Point = collections.namedtuple("Point", "x y")  # such classes exist


@dataclasses.dataclass
class Spring:
    k: float
    name: str


MISSING = cr.not_implemented("nobody needed it")
PAIRS: list[tuple[Any, Any, Any]] = [
    (NO, 2.0, 2.0),
    (ZERO, 2.0, 2.0),
    (NO, NO, NO),
    (ZERO, ZERO, ZERO),
    (ZERO, NO, NO),
    (MISSING, 2.0, MISSING),
    (MISSING, NO, MISSING),
    (MISSING, ZERO, MISSING),
    (cr.Thunk(lambda: 1.0), 2.0, 3.0),
    (cr.Thunk(lambda: 1.0), cr.Thunk(lambda: 2.0), 3.0),
    (NO, cr.Tangent(tuple, 1.0), cr.Tangent(tuple, 1.0)),
    (cr.Tangent(tuple, 1.0, ZERO), cr.Tangent(tuple, 2.0, 5.0), cr.Tangent(tuple, 3.0, 5.0)),
    (cr.Thunk(lambda: cr.Tangent(tuple, 1.0)), cr.Tangent(tuple, 1.0), cr.Tangent(tuple, 2.0)),
    (cr.Tangent(Spring, k=1.0), cr.Tangent(Spring, k=0.5, name=NO), cr.Tangent(Spring, k=1.5, name=NO)),
]


@pytest.mark.parametrize(("a", "b", "total"), PAIRS, ids=str)
def test_a_sum_is_what_the_table_says_on_either_side(a: Any, b: Any, total: Any) -> None:
    assert a + b == total
    assert b + a == total


def test_arrays_hand_their_operators_over() -> None:
    x = np.array([1.0, 2.0])
    for nothing in (NO, ZERO):
        assert (x + nothing) is x
        assert (nothing + x) is x
        assert (x * nothing) is nothing
        assert (x @ nothing) is nothing
    assert np.array_equal(x + cr.Thunk(lambda: x), 2 * x)
    assert np.array_equal(x - cr.Thunk(lambda: x), 0 * x)


def test_the_none_of_rules_is_that_of_the_engine() -> None:
    assert cr.NoTangent is adbc.NoTangent
    assert adbc.zero_tangent("text") is NO
    assert "text" + NO == "text"  # x + NoTangent() == x, whatever x is


def test_singletons_survive_copies_and_pickles() -> None:
    for nothing in (NO, ZERO):
        assert copy.deepcopy(nothing) is nothing
        assert pickle.loads(pickle.dumps(nothing)) is nothing


def test_products_and_differences() -> None:
    assert 2.0 * ZERO is ZERO
    assert -ZERO is ZERO
    assert ZERO / 2.0 is ZERO
    assert 5.0 - ZERO == 5.0
    assert ZERO - 5.0 == -5.0
    assert (ZERO.T, ZERO.conjugate(), ZERO[3], ZERO.sum(axis=0)) == (ZERO,) * 4
    t = cr.Tangent(dict, {"a": 1.0, "b": NO})
    assert 2.0 * t == cr.Tangent(dict, {"a": 2.0, "b": NO}) == t + t
    assert t - t == cr.Tangent(dict, {"a": 0.0, "b": NO})


def test_a_zero_does_not_compute_a_thunk() -> None:
    def fail() -> Any:
        raise AssertionError("computed")

    assert cr.Thunk(fail) * ZERO is ZERO
    assert ZERO * cr.Thunk(fail) is ZERO


def test_what_is_not_implemented_is_an_error_where_it_is_needed() -> None:
    t = 3.0 * (MISSING + 1.0) - 2.0
    assert t is MISSING
    assert MISSING * ZERO is ZERO
    for use in (float, bool, complex, np.asarray, lambda m: m < 1.0, lambda m: m[0]):
        with pytest.raises(adbc.errors.UnsupportedError, match="nobody needed it"):
            use(t)


def test_tangents_of_structures() -> None:
    t = cr.Tangent(Point, x=1.0)
    assert (t.x, t.y, t[0], t[1], list(t), len(t)) == (1.0, ZERO, 1.0, ZERO, [1.0, ZERO], 2)
    assert cr.Tangent(Point, 1.0, 2.0) == cr.Tangent(Point, x=1.0, y=2.0)
    assert repr(cr.Tangent(Spring, k=1.0)) == "Tangent(Spring, k=1.0)"
    assert pickle.loads(pickle.dumps(cr.Tangent(Spring, k=1.0))) == cr.Tangent(Spring, k=1.0)
    with pytest.raises(TypeError, match="no field"):
        cr.Tangent(Spring, mass=1.0)
    with pytest.raises(TypeError, match="no sum"):
        cr.Tangent(Spring, k=1.0) + cr.Tangent(Point, x=1.0)
    with pytest.raises(TypeError, match="no sum"):
        cr.Tangent(Spring, k=1.0) + 1.0
    with pytest.raises(AttributeError):
        t.x = 2.0


def test_values_move_along_tangents() -> None:
    moved = move(Spring(1.0, "a"), cr.Tangent(Spring, k=0.5))
    assert moved == Spring(1.5, "a")
    assert move([1.0, (2.0, 3)], cr.Tangent(list, 1.0, cr.Tangent(tuple, 1.0, NO))) == [2.0, (3.0, 3)]
    assert move({"a": 1.0}, cr.Tangent(dict, {"a": 1.0})) == {"a": 2.0}
    k = 2.0
    assert move(lambda x: k * x, cr.Tangent(type(lambda: 0), k=1.0))(5.0) == 15.0


# -- thunks --------------------------------------------------------------------------------------------


def test_a_thunk_is_computed_once_and_lets_go() -> None:
    calls = []
    t = cr.Thunk(lambda: calls.append(1) or 2.0)  # type: ignore[func-returns-value]
    assert not t.is_computed
    assert (cr.unthunk(t), float(t), t * 2.0, t + 1.0, calls) == (2.0, 2.0, 4.0, 3.0, [1])
    assert t.is_computed
    assert t._compute is None


def test_a_thunk_whose_computation_fails_may_be_asked_again() -> None:
    answers = iter([ZeroDivisionError(), 3.0])

    def compute() -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    t = cr.Thunk(compute)
    with pytest.raises(ZeroDivisionError):
        cr.unthunk(t)
    assert cr.unthunk(t) == 3.0


# -- accumulation --------------------------------------------------------------------------------------


def test_only_an_owned_buffer_is_changed() -> None:
    a, b = np.ones(3), np.ones(3)
    assert cr.accumulate(a, b) is not a
    assert a.tolist() == [1.0] * 3
    assert cr.accumulate(a, b, owned=True) is a
    assert a.tolist() == [2.0] * 3
    wide = cr.accumulate(np.ones(3, np.float32), np.full(3, 1e-9), owned=True)
    assert wide.dtype == np.float64  # nothing is rounded in place
    a.flags.writeable = False
    assert cr.accumulate(a, b, owned=True) is not a


def test_an_in_place_thunk_is_not_computed_if_it_can_be_added() -> None:
    def add_into(buffer: Any) -> Any:
        buffer[1] += 4.0
        return buffer

    computed = []
    t = cr.InplaceableThunk(add_into, lambda: computed.append(1) or np.array([0.0, 4.0]))  # type: ignore[func-returns-value]
    a = np.ones(2)
    assert cr.accumulate(a, t, owned=True).tolist() == [1.0, 5.0]
    assert not computed
    assert cr.accumulate(a, t).tolist() == [1.0, 9.0]
    assert computed == [1]
