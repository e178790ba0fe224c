"""Derivatives of derivatives of functions that hold what an outer level differentiates by: closures, callable
objects, and methods of objects, which a gradient, or a gradient of a gradient, holds in its turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

X = 0.3


class Energy:
    """A function with a parameter, called as an object and by a method."""

    def __init__(self, stiffness: float) -> None:
        self.stiffness = stiffness

    def at(self, x: float) -> float:
        return self.stiffness * self.stiffness * x * x * x

    def __call__(self, x: float) -> float:
        return self.stiffness * self.stiffness * x * x * x


HELD: dict[str, Callable[[float], Any]] = {
    "closure": lambda k: lambda x: k * k * x * x * x,
    "object": Energy,
    "method": lambda k: Energy(k).at,
}


def slope_of_gradient(f: Any) -> Any:
    return adbc.jvp(adbc.grad(f), (X,), (1.0,))[1]


def slope_of_function_with_gradient(f: Any) -> Any:
    return adbc.jvp(lambda x: adbc.grad(f)(x), (X,), (1.0,))[1]


def gradient_of_gradient(f: Any) -> Any:
    return adbc.grad(adbc.grad(f))(X)


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize(
    "second",
    [slope_of_gradient, slope_of_function_with_gradient, gradient_of_gradient],
    ids=lambda f: f.__name__,
)
def test_the_outer_level_sees_what_is_held(second: Any, held: str) -> None:
    def outer(k: float) -> Any:
        return second(HELD[held](k))  # k * k * 6 * X

    wanted = pytest.approx((0.8 * 0.8 * 6 * X, 2 * 0.8 * 6 * X))
    assert adbc.jvp(outer, (0.8,), (1.0,)) == wanted
    assert adbc.value_and_grad(outer)(0.8) == wanted


def test_in_code_that_is_written_at_once() -> None:
    with adbc.use(adbc.Config(warm_after=0)):
        test_the_outer_level_sees_what_is_held(gradient_of_gradient, "method")


def test_the_hessian_of_a_method() -> None:
    class Model:
        def __init__(self, prior: float) -> None:
            self.prior = prior

        def loss(self, w: Any) -> Any:
            return self.prior * np.dot(w, w)

    def curvature(prior: float) -> Any:
        return adbc.hessian(Model(prior).loss)(np.array([0.3, 0.7])).sum()

    assert adbc.jvp(curvature, (0.8,), (1.0,)) == pytest.approx((3.2, 4.0))
    assert adbc.value_and_grad(curvature)(0.8) == pytest.approx((3.2, 4.0))


@pytest.mark.parametrize("warm_after", [40, 0])
def test_constants_by_keyword_have_no_derivative_at_the_outer_level(warm_after: int) -> None:
    def top(x: Any) -> Any:
        return np.max(x**2, initial=-1.0) + np.sum(x**3, initial=0.5)

    x, d = np.array([1.0, 2.0, 0.5]), np.array([0.3, 0.7, -0.2])
    with adbc.use(adbc.Config(warm_after=warm_after)):
        (product,) = adbc.hvp(top, (x,), (d,))
        assert product == pytest.approx(6 * x * d + np.array([0.0, 2 * d[1], 0.0]))


def test_a_keyword_with_a_first_derivative_of_zero() -> None:
    """Its second derivative is not zero."""

    def top(x: Any) -> Any:
        return np.max(np.array([-1.0, -2.0]), initial=x * x)

    def slope(x: float) -> Any:
        return adbc.jvp(top, (x,), (1.0,))[1]

    for second in (adbc.grad(slope), lambda x: adbc.jvp(slope, (x,), (1.0,))[1]):
        assert second(0.0) == pytest.approx(2.0)
