"""NumPy's functions on subclasses of tuple and list: arrays are made of them as of plain ones."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from adbc.testing import test_rule as check_rule

Point = collections.namedtuple("Point", "x y")


class Vector(NamedTuple):
    x: float
    y: float

    def norm(self) -> float:
        return np.linalg.norm(self)  # type: ignore[return-value]


class Pair(tuple):
    pass


class Row(list):
    pass


class Scaled(tuple):
    def __mul__(self, other):
        return Scaled(3 * c for c in self)

    __rmul__ = __mul__


def updated(x):
    a = np.array([1.0, x])
    a *= Point(x, 2.0)
    a += Vector(x, x)
    a -= Point(1.0, x**2)
    a[:] = Vector(a[1], a[0] * x)
    return a.sum()


def filled(x):
    a = np.zeros((3, 2))
    for i in range(3):
        a[i] = Point(x * i, x**i)
    return a.sum()


def grown(x):
    row = Row([x, 2.0])
    row.append(x * x)
    return (np.asarray(row) ** 2).sum() + np.dot(row, [1.0, 2.0, 3.0])


def both(x):
    p = Point(x, 2.0)
    a = np.array(p)
    return (a * a).sum() + p.x


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "array": lambda x: np.array(Point(x, 2 * x)).sum(),
    "method": lambda x: Vector(x, 2 * x).norm(),
    "result": lambda x: np.array(np.linalg.slogdet(np.array([[x + 1, 0.3], [0.2, 2.0]]))).sum(),
    "dot": lambda x: np.dot(Point(x, 2.0), Point(1.0, x)),
    "tuple": lambda x: np.sum(Pair((x, x * x))),
    "list": lambda x: np.array(Row([x, 2 * x])).sum(),
    "stack": lambda x: np.stack([Point(x, 1.0), Point(2.0, x * x)]).sum(),
    "nested": lambda x: np.array(Point([x, 2.0], [x * x, 1.0]))[1, 0],
    "concatenate": lambda x: np.concatenate(Point(np.array([x, 2 * x]), np.array([1.0, x]))).sum(),
    "ufunc": lambda x: np.maximum(Point(x, 1.0), 0.5).sum() + np.hypot(*Vector(x, x * 3)),
    "right": lambda x: (np.array([1.0, x]) * Point(x, 3 * x) - Vector(x, x**2)).sum(),
    "left": lambda x: (Point(x, 3 * x) * np.array([1.0, x])).sum(),
    "matmul": lambda x: (np.array([[2.0, x], [0.1, 3.0]]) @ Point(x, 1.0)).sum(),
    "solve": lambda x: np.linalg.solve(np.array([[2.0, x], [0.1, 3.0]]), Point(x, 1.0)).sum(),
    "where": lambda x: np.where(np.array([True, False]), Point(x, x), Vector(2 * x, 3 * x)).sum(),
    "einsum": lambda x: np.einsum("i,i", Point(x, 1.0), Vector(x, x)),
    "interp": lambda x: np.interp(x, Point(0.0, 2.0), Point(x, x * x)),
    "shapes": lambda x: np.reshape(Point(x, x * x), (2, 1)).sum() + np.atleast_2d(Vector(x, 2.0)).sum(),
    "product": lambda x: np.prod(Point(x, x + 1)) + np.diff(Point(x, 1.0))[0],
    "cumsum": lambda x: np.cumsum(Point(x, x + 1))[-1],
    "method of its own": lambda x: sum(Scaled((x, x * x)) * 2.0),
    "in place": updated,
    "rows": filled,
    "grown": grown,
    "the tuple too": both,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_given_to_numpy(name: str) -> None:
    check_rule(FUNCTIONS[name], 1.3)


def test_named_tuple_of_arrays_as_argument() -> None:
    p = Point(np.array([0.4, 1.2]), np.array([2.0, 0.7]))
    check_rule(lambda p: (np.array(p) ** 2).sum() + np.hstack(p)[1], p)
    check_rule(lambda p: np.array(p)[0], Vector(0.4, 1.2))
