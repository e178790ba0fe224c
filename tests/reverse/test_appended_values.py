"""What is appended to a list: numbers of both kinds, arrays, constants among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.inspect import explain
from adbc.runtime import default_engine
from adbc.testing.values import assert_same

X = np.array([0.5, -1.5, 2.0])
HELD: list[Any] = []


def numbers(x: Any) -> Any:
    values = []
    for i in range(3):
        values.append(np.sin(x[i]))
        values.append(2.0 * float(x[i]))
        values.append(i)
        values.append(1.5)
    return values[0] * values[1] + values[4] * values[2 + 4] + values[8] * values[11] + values[9]


def arrays(x: Any) -> Any:
    """An array that is written after it was appended, a view, and a constant that gets something later."""
    history = []
    y = x * 1.0
    for _ in range(2):
        y = y * y
        history.append(y)
        history.append(y[1:])
    zeros = np.zeros(3)
    history.append(zeros)
    history[0][0] = x[2]
    history[-1][:] = x
    return np.sum(history[0] * x) + np.sum(history[3] ** 2) + np.sum(zeros * history[2])


def returned(x: Any) -> Any:
    values = []
    for i in range(3):
        y = x[i] * x[i]
        values.append(y)
    values.append(x)
    return values


def into_a_constant(x: Any) -> Any:
    HELD.append(x[0] * 2.0)
    return HELD.pop()


def array_into_a_constant(x: Any) -> Any:
    HELD.append(x * 2.0)
    return np.sum(HELD.pop())


@pytest.mark.parametrize("f", [numbers, arrays])
def test_the_gradient_is_right(f: Any) -> None:
    step = 1e-6
    expected = [(f(X + d) - f(X - d)) / (2 * step) for d in step * np.eye(3)]
    along = np.array([1.0, 2.0, -1.0])
    for mode in ("learn", "always", "dynamic"):
        with adbc.use(adbc.Config(speculation=mode, verify=True, warm_after=0)):
            default_engine().clear()
            for _ in range(3):
                gradient = adbc.grad(f)(X)
                np.testing.assert_allclose(gradient, expected, rtol=1e-7)
            np.testing.assert_allclose(adbc.jvp(f, (X,), (along,))[1], gradient @ along, rtol=1e-12)


def test_a_list_that_is_returned_has_cotangents_of_its_classes() -> None:
    for _ in range(3):
        value, pullback = adbc.vjp(returned, X)
        cotangent = adbc.zero_tangent(value)
        cotangent[1] = type(cotangent[1])(3.0)
        cotangent[3][:] = 1.0
        (gradient,) = pullback(cotangent)
        assert_same(np.array([1.0, 1.0 + 6.0 * X[1], 1.0]), gradient, "gradient")


@pytest.mark.parametrize("f", [into_a_constant, array_into_a_constant])
def test_constants_are_refused(f: Any) -> None:
    def declared(x: Any, held: Any) -> Any:
        held.append(x * x)
        return np.sum(held[-1])

    with pytest.raises(ConstWriteError, match="constant list"):
        adbc.value_and_grad(declared)(X, adbc.Const([]))
    np.testing.assert_allclose(adbc.grad(f)(X), [2.0, *[0.0, 0.0]] if f is into_a_constant else [2.0] * 3)


def test_it_is_written_inline() -> None:
    for f in (numbers, arrays):
        kinds = {s.how for s in explain(f, X).sites if s.called == "list.append"}
        assert kinds == {"slot_append"} or (f is numbers and kinds == {"slot_append", "row"})
