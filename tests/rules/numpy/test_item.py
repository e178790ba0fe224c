"""`ndarray.item` by one place, which builders write as they write subscripts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adbc.testing import test_rule as check_rule


def one(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x.item(i) * x.item(-1 - i)
    return total


def two(m: Any) -> Any:
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            total += m.item((i, j)) * m.item(i, j) * m.item(i * m.shape[1] + j)
    return total


def written(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        x[i] *= 2.0
        total += x.item(i) ** 2
        x[i] = total
    return total + x.item(0)


def alone(x: Any) -> Any:
    return x[:1].item() * x.item(1)


def out_of_bounds(x: Any) -> Any:
    try:
        return x.item(7)
    except IndexError:
        return x.item(0) ** 2


VECTOR = np.array([1.5, 0.5, 2.0])
MATRIX = np.array([[1.5, 0.5], [2.0, 1.0], [0.25, 3.0]])


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (one, VECTOR), (one, VECTOR[::-1]), (one, VECTOR.astype("float32")), (two, MATRIX), (two, MATRIX.T),
        (two, np.asfortranarray(MATRIX)), (written, VECTOR), (alone, VECTOR), (out_of_bounds, VECTOR),
    ],
)  # fmt: skip
def test_elements(function: Any, array: Any, speculation: str) -> None:
    check_rule(function, array.copy())
