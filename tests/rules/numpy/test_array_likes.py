"""Objects that make an array of themselves, given to functions of NumPy's that are written in C."""

from __future__ import annotations

import collections
import ctypes
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError, UnsupportedError
from adbc.testing import test_rule as check_rule


class Series:
    """A column as libraries have it: it holds an array, and says so by ``__array__`` only."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values, dtype)

    def __len__(self) -> int:
        return len(self.values)


class Described:
    """An object that says where its memory is."""

    def __init__(self, values: Any) -> None:
        self.values = values

    @property
    def __array_interface__(self) -> Any:
        return self.values.__array_interface__


X = np.array([1.2, -0.4, 2.1, 0.7])
POINTS = np.array([0.0, 1.0, 2.0, 3.0])

CALLS = {
    "a formula": lambda x, s: np.add(x, s) * np.maximum(s, x),
    "a method": lambda x, s: x.dot(s),
    "a product": lambda x, s: np.dot(s, x),
    "a sum of products": lambda x, s: np.einsum("i,i", x, s),
    "a choice": lambda x, s: np.where(x > 0.5, x, s),
    "bounds": lambda x, s: np.clip(x, None, s),
    "lines": lambda x, s: np.interp(x, POINTS, s),
    "a solution": lambda x, s: np.linalg.solve(np.diag(x + 3.0), s),
    "an operator": lambda x, s: x - s,
    "an operator of a number": lambda x, s: x[0] * s,
    "what is written": lambda x, s: np.multiply(x, s, out=np.zeros(4)),
}


@pytest.mark.parametrize("name", CALLS)
def test_they_are_made_arrays_first(name: str) -> None:
    call, constant = CALLS[name], Series(np.array([0.5, 1.5, -0.3, 2.0]))
    check_rule(lambda x: call(x, constant), X)
    check_rule(lambda x: call(x, Series(np.sin(x) * x)), X)


def test_knots_of_a_constant_table() -> None:
    places, values = Series(POINTS), Series(np.array([0.5, 1.5, -0.3, 2.0]))
    assert adbc.grad(lambda t: np.interp(t, places, values))(1.25) == pytest.approx(-1.8)


def test_memory_that_is_described() -> None:
    constant = Described(X.copy())
    gradient = adbc.grad(lambda x: np.dot(x, constant))(2.0 * X)
    np.testing.assert_allclose(gradient, X)


def test_a_class_that_answers_for_itself_is_asked() -> None:
    class Answering(Series):
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
            given = [3.0 * x.values if isinstance(x, Answering) else x for x in inputs]
            return ufunc(*given, **keywords)

        def __rsub__(self, other: Any) -> Any:
            raise AssertionError("numpy.subtract asks first")

    check_rule(lambda x: np.multiply(x, Answering(x)), X)


def test_one_of_higher_priority_computes_itself() -> None:
    class First(Series):
        __array_priority__ = 10.0

        def __rsub__(self, other: Any) -> Any:
            return 2.0 * self.values - other

    check_rule(lambda x: x - First(x * x), X)
    check_rule(lambda x: operator.sub(x, First(X)), X)


@pytest.mark.parametrize("join", [np.concatenate, np.stack, np.hstack, np.vstack])
def test_in_a_list_they_are_refused(join: Any) -> None:
    with pytest.raises(UnsupportedError, match="a Series in a list becomes a part of an array"):
        adbc.grad(lambda x: join([x, Series(x)]).sum())(X)
    with pytest.raises(UnsupportedError, match="a Series in a list becomes a part of an array"):
        adbc.jvp(lambda x: join([x, Series(x)]).sum(), (X,), (X,))


class Factor:
    """An object of which NumPy knows nothing."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __radd__(self, other: Any) -> Any:
        return other + self.value

    def __rmul__(self, other: Any) -> Any:
        return other * self.value

    def __rpow__(self, other: Any) -> Any:
        return other**self.value

    def __sub__(self, other: Any) -> Any:
        return self.value - other


WITH_OBJECTS: list[Callable[[Any], Any]] = [
    lambda x: (np.array([1.0, 2.0]) * x * Factor(3.0))[1],
    lambda x: (np.array([[1.0, 2.0]]) * Factor(x))[0, 1] * x,
    lambda x: (np.array([1.0, 2.0]) * x + Factor(x)).sum(),
    lambda x: (np.array([1.0, 2.0]) * Factor(2.0)).sum() * x,
    lambda x: np.multiply(np.array([1.0, 2.0]) * x, Factor(x)).sum(),
    lambda x: (np.array([1.0, 2.0]) ** Factor(x)).sum(),
    lambda x: (Factor(x) - np.array([1.0, 2.0]) * x * x).sum(),
    lambda x: np.subtract(Factor(x), np.array([1.0, 2.0]) * x * x).sum(),
    lambda x: np.array(x) * Factor(x),
]

OF_FLAT: list[Callable[[Any], Any]] = [
    lambda x: np.sum((np.array([[1.0, 2.0]]) * x).flat),
    lambda x: np.max((np.array([[1.0, 2.0]]) * x).flat) + np.prod((np.array([[1.0, 2.0]]) * x).flat),
    lambda x: np.add.accumulate((np.array([[1.0, 2.0]]) * x).flat)[1] * x,
]


@pytest.mark.parametrize("speculation", ["dynamic", "learn", "always"])
@pytest.mark.parametrize("f", WITH_OBJECTS)
def test_objects_are_elements_beside_those_of_an_array(f: Callable[[Any], Any], speculation: str) -> None:
    value, slope = f(1.5), (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            assert adbc.jvp(f, (1.5,), (1.0,)) == (value, pytest.approx(slope, rel=1e-7))
            assert adbc.value_and_grad(f)(1.5) == (value, pytest.approx(slope, rel=1e-7))


@pytest.mark.parametrize("f", OF_FLAT)
def test_iterators_over_arrays_are_reduced(f: Callable[[Any], Any]) -> None:
    check_rule(f, 1.5)


def test_an_operator_that_the_object_does_not_have_raises_as_in_numpy() -> None:
    def f(x: Any) -> Any:
        try:
            return np.array([1.0]) / Factor(x)
        except TypeError as error:
            assert "unsupported operand" in str(error)
            return x * 2.0

    assert adbc.grad(f)(1.5) == 2.0


def _numbers_of_c() -> Any:
    return (ctypes.c_double * 3)(1.0, 2.0, 3.0)


def _written_as_array(x: Any) -> Any:
    array = np.ctypeslib.as_array(_numbers_of_c())
    array[0] = x * x
    return array.sum() * x


@pytest.mark.parametrize(
    "f", [lambda x: (np.ctypeslib.as_array(_numbers_of_c()) * x * x).sum(), _written_as_array]
)
def test_numbers_of_ctypes_are_arrays(f: Callable[[Any], Any]) -> None:
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    assert adbc.grad(f)(1.5) == pytest.approx(slope, rel=1e-7)
    assert adbc.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(slope, rel=1e-7)


def _read_again(x: Any) -> Any:
    numbers = _numbers_of_c()
    np.ctypeslib.as_array(numbers)[0] = x
    return numbers[0]


def _of_active_memory(x: Any) -> Any:
    return np.ctypeslib.as_array(np.ctypeslib.as_ctypes(np.ones(3) * x)).sum()


@pytest.mark.parametrize("f", [_read_again, _of_active_memory])
def test_memory_with_a_derivative_is_not_seen_through_ctypes(f: Callable[[Any], Any]) -> None:
    for run in (lambda: adbc.grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
        with pytest.raises(MissingRuleError, match="c_double_Array_3"):
            run()


class SaysItself:
    """An object that says by an attribute of its own where its memory is."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__

    def __rmul__(self, other: Any) -> Any:
        return other * 2.0


@pytest.mark.parametrize("f", [np.asarray, np.array, np.sum, np.exp, lambda o: np.ones(3) * o])
def test_objects_that_are_arrays_by_an_attribute_of_their_own_are_refused(f: Callable[[Any], Any]) -> None:
    def of_one(x: Any) -> Any:
        return np.sum(f(SaysItself(np.ones(3) * x)))

    for run in (lambda: adbc.grad(of_one)(1.5), lambda: adbc.jvp(of_one, (1.5,), (1.0,))):
        with pytest.raises(UnsupportedError, match="attribute __array_interface__ of its own"):
            run()


class Listed(collections.UserList[Any]):
    """A sequence in Python, which NumPy lists."""


class Squares:
    """Three numbers that are computed where they are asked for."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __len__(self) -> int:
        return 3

    def __getitem__(self, i: int) -> Any:
        if i > 2:
            raise IndexError
        return self.x * self.x * i


def _into_part(x: Any) -> Any:
    u = np.ones(4)
    u[1:] = Squares(x)
    u[[0, 2]] = Listed([x, 2.0])
    return u @ u


@pytest.mark.parametrize("speculation", ["dynamic", "learn", "always"])
@pytest.mark.parametrize("f", [
    lambda x: np.array(Squares(x)) @ np.array([1.0, 2.0, 3.0]),
    lambda x: np.asarray(Squares(x), float).sum() + np.array(Listed([x, 1.0]), dtype=complex).real.sum(),
    lambda x: np.sum(Listed([x, x * x])) + np.mean(Squares(x)),
    lambda x: np.dot(Squares(x), Listed([1.0, x, 2.0])),
    lambda x: (np.ones(3) * Squares(x) + np.exp(Listed([x, 2.0, x]))).sum(),
    lambda x: np.concatenate([np.array(Listed([x])), np.ones(2)]).prod(),
    _into_part,
])  # fmt: skip
def test_sequences_in_python_are_listed(f: Callable[[Any], Any], speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            check_rule(f, 1.3)
