"""Containers of constants that functions in C without a rule are given, while nobody knows whether something
in them has a derivative: instances of classes derived from the builtin ones, deques, arrays of objects."""

from __future__ import annotations

import _pickle
import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError

X = 0.75


class Table(dict[str, Any]):
    """A dict with attributes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.weight = 2.0


class Row(list[Any]):
    """A list with attributes."""


class Queue(collections.deque[Any]):
    """A deque with attributes."""


def with_attribute(x: Any, value: Any) -> Any:
    x.weight = value
    return x


MADE: dict[str, Callable[[Any], Any]] = {
    "dict": lambda v: Table(a=v, b=[v]),
    "dict with an attribute": lambda v: with_attribute(Table(a=1.0), v),
    "list": lambda v: Row([1.0, v]),
    "list with an attribute": lambda v: with_attribute(Row([1.0]), [v]),
    "ordered": lambda v: collections.OrderedDict(a=v),
    "default": lambda v: collections.defaultdict(float, a=v),
    "deque": lambda v: collections.deque([v, 1.0]),
    "deque with an attribute": lambda v: with_attribute(Queue([1.0]), v),
    "nested": lambda v: [Table(a=Row([v]))],
    "objects": lambda v: np.array([[v, "a"], [1.0, None]], dtype=object),
}
CONSTANTS = {name: make(3.0) for name, make in MADE.items()}


@pytest.mark.parametrize("name", MADE)
def test_constants_are_given_as_they_are(name: str) -> None:
    def reads_global(x: float) -> Any:
        return x * len(_pickle.dumps(CONSTANTS[name]))

    def makes(x: float) -> Any:
        return x * len(_pickle.dumps(MADE[name](3.0)))

    for f in (reads_global, makes):
        for _ in range(3):
            assert adbc.grad(f)(X) == adbc.jvp(f, (X,), (1.0,))[1] == f(1.0)


@pytest.mark.parametrize("name", MADE)
def test_what_has_a_derivative_is_refused(name: str) -> None:
    def f(x: float) -> Any:
        return x * len(_pickle.dumps(MADE[name](x)))

    for derivative in (lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (1.0,))):
        with pytest.raises(MissingRuleError, match=r"pickle\.dumps"):
            derivative()


def test_what_is_written_later_has_its_derivative() -> None:
    def f(x: float) -> Any:
        table = Table(a=3.0)
        row = Row([1.0])
        count = len(_pickle.dumps(table)) + len(_pickle.dumps(row))
        table["a"] = x * x
        table.weight = x
        row[0] = x
        return table["a"] * table.weight * row[0] + 0.0 * count

    assert adbc.grad(f)(X) == pytest.approx(4.0 * X**3)
    assert adbc.jvp(f, (X,), (1.0,))[1] == pytest.approx(4.0 * X**3)


def test_what_was_written_before_is_refused() -> None:
    def f(x: float) -> Any:
        table = Table(a=3.0)
        table["a"] = x * x
        return x * len(_pickle.dumps(table))

    with pytest.raises(MissingRuleError, match=r"pickle\.dumps"):
        adbc.grad(f)(X)
