"""Rows with batches of tangents, one by one: what is mostly written inline is met here by its row."""

from __future__ import annotations

import cmath
import math
import operator
from collections import OrderedDict, deque
from typing import Any

import numpy as np
import pytest

from adbc.rules import default_table
from adbc.rules.table import Primitive
from adbc.runtime.build.batched import BatchedRow
from adbc.testing import test_rule as check_rule

V = np.array([1.4, -0.7, 2.2])


def _numbers() -> list[Any]:
    return [1.5, 2.5, -0.5]


def _dict() -> dict[str, Any]:
    return {"a": 1.5, "b": 2.5}


def _ordered() -> Any:
    return OrderedDict(_dict())


def _deque() -> Any:
    return deque(_numbers(), 4)


CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (list.append, (_numbers(), 3.0)),
    (list.extend, (_numbers(), [3.0, 0.5])),
    (list.insert, (_numbers(), 1, 3.0)),
    (list.pop, (_numbers(), 0)),
    (list.clear, (_numbers(),)),
    (list.reverse, (_numbers(),)),
    (list.__iadd__, (_numbers(), [3.0])),
    (list.__imul__, (_numbers(), 2)),
    *((f, (_numbers(), 1)) for f in (list.__getitem__, operator.getitem)),
    *((f, (_numbers(), slice(0, 2))) for f in (list.__getitem__, operator.getitem)),
    *((f, (_numbers(), 1, 3.0)) for f in (list.__setitem__, operator.setitem)),
    *((f, (_numbers(), slice(0, 2), [3.0])) for f in (list.__setitem__, operator.setitem)),
    *((f, (_numbers(), 1)) for f in (list.__delitem__, operator.delitem)),
    *((f, (_numbers(), slice(0, 2))) for f in (list.__delitem__, operator.delitem)),
    (operator.iadd, (_numbers(), [3.0])),
    (operator.imul, (_numbers(), 2)),
    (operator.mul, (_numbers(), 2)),
    (operator.mul, (tuple(_numbers()), 2)),
    (operator.getitem, (tuple(_numbers()), 1)),
    *(
        (getattr(cls, name), (make(), *rest))
        for cls, make in ((dict, _dict), (OrderedDict, _ordered))
        for name, rest in [
            ("__setitem__", ("a", 3.0)), ("__setitem__", ("c", 3.0)), ("__delitem__", ("a",)),
            ("pop", ("a",)), ("clear", ()), ("get", ("a",)), ("get", ("z", 3.0)), ("__getitem__", ("b",)),
        ]
    ),
    (operator.getitem, (_dict(), "a")),
    (operator.setitem, (_dict(), "a", 3.0)),
    (operator.delitem, (_dict(), "a")),
    (deque.append, (_deque(), 3.0)),
    (deque.appendleft, (_deque(), 3.0)),
    (deque.pop, (_deque(),)),
    (deque.popleft, (_deque(),)),
    (deque.reverse, (_deque(),)),
    (deque.rotate, (_deque(), 1)),
    (deque.clear, (_deque(),)),
    (operator.setitem, (_deque(), 1, 3.0)),
    (operator.getitem, (_deque(), 1)),
    (operator.delitem, (_deque(), 1)),
    (math.frexp, (1.3,)),
    (math.modf, (1.3,)),
    (math.hypot, (1.3, 0.6, 2.1)),
    (cmath.polar, (1.3 + 0.6j,)),
    (np.concatenate, ([V, 2.0 * V],)),
    (np.stack, ([V, 2.0 * V],)),
    (np.vstack, ([V, 2.0 * V],)),
    (np.hstack, ([V, 2.0 * V],)),
    (np.dstack, ([V, 2.0 * V],)),
    (np.column_stack, ([V, 2.0 * V],)),
    (np.atleast_1d, (V,)),
    (np.atleast_2d, (V,)),
    (np.asarray, (V,)),
    (np.asanyarray, (V,)),
    (np.array_split, (V, 2)),
    (np.einsum, ("i,j->ij", V, V)),
    (np.linalg.lstsq, (np.vander(V), V)),
    (np.linalg.eig, (np.vander(V),)),
]  # fmt: skip


def _name(x: Any) -> str:
    return str(getattr(x, "__qualname__", getattr(x, "__name__", None)) or "")


@pytest.mark.parametrize("function, args", CALLS, ids=_name)
def test_each_lane_is_that_tangent_alone(
    function: Any, args: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[Any] = []
    rule = BatchedRow.frule

    def frule(self: Any, *given: Any) -> Any:
        met.append(self._row)
        return rule(self, *given)

    monkeypatch.setattr(BatchedRow, "frule", frule)
    row = default_table().find(function, tuple(map(type, args)))
    check_rule(function, *args, width=3, mode="forward")
    assert row in met or not isinstance(row, Primitive)
