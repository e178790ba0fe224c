"""What a function returns besides its value comes back as it was, and has no part in the derivative."""

from __future__ import annotations

import threading
import typing
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ArgumentError

MODES = ("learn", "never", "dynamic", "always")


def with_list(x: Any) -> Any:
    trace = [1.0]
    trace.append(x)
    grid = np.zeros(2)
    grid[1] = x
    trace.append(grid)
    return x * x, trace


@pytest.mark.parametrize("mode", MODES)
def test_what_the_pullback_undoes_is_kept(mode: Any) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(3):
            (value, (one, x, grid)), gradient = adbc.value_and_grad(with_list, has_aux=True)(3.0)
            assert (value, one, x, gradient) == (9.0, 1.0, 3.0, 6.0)
            np.testing.assert_array_equal(grid, [0.0, 3.0])
            gradient, aux = adbc.grad(with_list, has_aux=True)(x=3.0)
            assert (gradient, aux[:2]) == (6.0, [1.0, 3.0])


def test_arrays_as_arguments_and_besides() -> None:
    def loss(w: Any, data: Any) -> Any:
        predicted = w * data
        return np.sum(predicted**2), {"predicted": predicted, "w": w}

    w, data = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    gradient = adbc.value_and_grad(loss, has_aux=True)
    for _ in range(3):
        (value, aux), dw = gradient(w, data)
        assert value == 73.0
        np.testing.assert_allclose(dw, 2.0 * w * data**2)
        np.testing.assert_array_equal(aux["predicted"], w * data)
        np.testing.assert_array_equal(aux["w"], w)


def test_a_change_of_an_argument_is_seen_besides_and_undone() -> None:
    def moved(u: Any) -> Any:
        u[0] = u[0] * 2.0
        return u[0] * u[1], u

    u = [1.0, 3.0]
    (value, seen), du = adbc.value_and_grad(moved, has_aux=True)(u)
    assert (value, seen, du, u) == (6.0, [2.0, 3.0], [6.0, 2.0], [1.0, 3.0])


@pytest.mark.parametrize("mode", MODES)
def test_products(mode: Any) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(3):
            value, tangent, aux = adbc.jvp(with_list, (3.0,), (2.0,), has_aux=True)
            assert (value, tangent, aux[1]) == (9.0, 12.0, 3.0)
            value, pullback, aux = adbc.vjp(with_list, 3.0, has_aux=True)
            assert (value, pullback(2.0), aux[:2]) == (9.0, (12.0,), [1.0, 3.0])
            assert aux[2][1] == 3.0
    assert adbc.jvp(lambda x: (2, "text"), (3.0,), (1.0,), has_aux=True) == (2, adbc.NoTangent(), "text")
    assert adbc.jvp(lambda x: (2.0, "text"), (3.0,), (1.0,), has_aux=True) == (2.0, 0.0, "text")


def test_a_value_that_does_not_depend_on_the_argument() -> None:
    assert adbc.grad(lambda x: (1.0, x), has_aux=True)(3.0) == (0.0, 3.0)
    assert adbc.grad(lambda x: (1, [x]), has_aux=True)([3.0]) == ([0.0], [[3.0]])


class Two(typing.NamedTuple):
    value: float
    aux: float


@pytest.mark.parametrize("out", [1.0, [1.0, 2.0], (1.0,), (1.0, 2.0, 3.0), Two(1.0, 2.0)], ids=repr)
def test_anything_but_a_tuple_of_two_is_an_error(out: Any) -> None:
    with pytest.raises(ArgumentError, match=r"returns a tuple \(value, what else"):
        adbc.grad(lambda x: out, has_aux=True)(3.0)
    with pytest.raises(ArgumentError, match="returns a tuple"):
        adbc.vjp(lambda x: out, 3.0, has_aux=True)
    with pytest.raises(ArgumentError, match="returns a tuple"):
        adbc.jvp(lambda x: out, (3.0,), (1.0,), has_aux=True)


def test_a_value_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="real scalar"):
        adbc.grad(lambda x: ([x], 1.0), has_aux=True)(3.0)


def test_what_cannot_be_copied_is_an_error() -> None:
    lock = threading.Lock()
    with pytest.raises(ArgumentError, match="cannot be copied"):
        adbc.grad(lambda x: (x * x, [lock]), has_aux=True)(3.0)
