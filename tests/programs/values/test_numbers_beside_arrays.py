"""Numbers of classes derived from float, int and complex beside arrays and numbers of NumPy's, which are of
more bits than plain ones would be."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import adbc


class Length(float):
    pass


class Count(int):
    pass


class Wave(complex):
    pass


GIVEN: dict[str, Any] = {
    "float32": np.full(2, 1.5, np.float32),
    "float16": np.full((), 1.5, np.float16),
    "int8": np.array([100, 3], np.int8),
    "complex64": np.full(2, 1.5 + 1j, np.complex64),
    "number": np.float32(1.5),
    "double": np.float64(1.5),
    "complex number": np.complex64(1.5),
    "double complex": np.complex128(1.5 + 1j),
}
OPERATORS = [operator.mul, operator.add, operator.truediv, operator.sub, operator.pow]
NUMBERS: list[Any] = [Length(1.1), Count(3), Wave(1.1 + 0.5j)]


@pytest.mark.parametrize("config", [{}, {"warm_after": 0}], ids=str)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", GIVEN)
def test_values_are_those_of_a_plain_run(name: str, number: Any, config: dict[str, Any]) -> None:
    given = GIVEN[name]
    for op in OPERATORS:

        def f(x: float, op: Any = op) -> Any:
            return op(given, number), op(number, given), x

        with adbc.use(adbc.Config(**config)):
            for value, expected in zip(adbc.vjp(f, 1.0)[0][:2], f(1.0)[:2], strict=True):
                assert type(value) is type(expected)
                assert getattr(value, "dtype", None) == getattr(expected, "dtype", None)
                np.testing.assert_allclose(value, expected, rtol=1e-15)  # powers of arrays end otherwise


@pytest.mark.parametrize("name", ["float32", "float16", "int8", "number", "double"])
def test_gradients_by_such_a_number(name: str) -> None:
    given = GIVEN[name]
    wide = np.asarray(given, float)

    def f(x: float) -> Any:
        length = Length(x)
        y = given * length + length - given / length
        return np.sum(y) + length * np.float64(x)

    x = 1.1
    slope = np.sum(wide + 1.0 + wide / x**2) + 2 * x
    for _ in range(3):
        assert adbc.grad(f)(x) == pytest.approx(slope, rel=1e-12)
        assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)
