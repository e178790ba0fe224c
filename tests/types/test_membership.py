"""Which values have which types: the question that debug mode asks of results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adbc.types import typeof
from adbc.types.lattice import (
    ANY,
    FLOAT,
    INT,
    NEVER,
    REAL,
    ArrayType,
    ClosureType,
    ConstType,
    Exact,
    IteratorType,
    ListType,
    RealType,
    TupleType,
)
from adbc.types.membership import is_member

MATRIX = ArrayType("float64", 2, np.ndarray)
SUM = RealType(frozenset({int, np.float64}))


def made() -> Any:
    return lambda: None


@pytest.mark.parametrize(
    "value, type_, expected",
    [
        (1.0, FLOAT, True),
        (True, INT, False),
        (True, REAL, True),
        (1.0, SUM, False),
        (np.float64(1.0), FLOAT, False),
        (np.float64(1.0), SUM, True),
        (np.ones((2, 2)), MATRIX, True),
        (np.ones(2), MATRIX, False),
        (np.ones((2, 2), np.float32), MATRIX, False),
        (np.ones(2), ArrayType("float64", None, np.ndarray), True),
        (2.0, MATRIX, False),
        ((1.0, 2), TupleType((FLOAT, INT)), True),
        ((1.0, 2.0), TupleType((FLOAT, INT)), False),
        ((1.0,), TupleType((FLOAT, INT)), False),
        ([1.0], TupleType((FLOAT,)), False),
        ([1.0], ListType(list, FLOAT), True),
        ([1.0, 2], ListType(list, FLOAT), False),
        ([1], Exact(list), True),
        (math, ConstType(math), True),
        (1.5, ConstType(1.5), True),
        (1, ConstType(1.0), False),
        (made(), ClosureType(made().__code__, globals()), True),
        (made, ClosureType(made().__code__, globals()), False),
        (iter([1.0]), IteratorType(FLOAT), True),
        (None, ANY, True),
        (None, NEVER, False),
    ],
)
def test_members(value: Any, type_: Any, expected: bool) -> None:
    assert is_member(value, type_) is expected


@pytest.mark.parametrize("value", [1.0, 2, None, (1.0, [2]), np.ones(3), "a", math.sin, made(), slice(1, 2)])
def test_values_have_their_own_types(value: Any) -> None:
    assert is_member(value, typeof(value))
