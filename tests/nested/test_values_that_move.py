"""Shortcuts that rules take for some values (an exponent of two, a cotangent of zero or one) are none where
the value has a derivative: mixed second derivatives of powers, and pullbacks that are differentiated."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import adbc
from adbc.errors import UnsupportedError

X = 1.7


def _in_place(x: Any, y: Any) -> Any:
    a = np.array([x, 1.0])
    a **= y
    return a[0]


POWERS: dict[str, Callable[[Any, Any], Any]] = {
    "operator": lambda x, y: x**y,
    "pow": lambda x, y: pow(x, y),
    "math": lambda x, y: math.pow(x, y),
    "complex": lambda x, y: abs((x + 1.0j) ** y),
    "scalar": lambda x, y: np.float64(x) ** y,
    "power": lambda x, y: np.power(x, y),
    "float_power": lambda x, y: np.float_power(x, y),
    "array": lambda x, y: (np.array([x, 1.0]) ** y)[0],
    "arrays": lambda x, y: (np.array([x, 1.0]) ** np.array([y, y]))[0],
    "in place": _in_place,
    "reduce": lambda x, y: np.power.reduce(np.array([x, y])),
}


@pytest.mark.parametrize(("y", "warm_after"), [(0.0, 40), (2.0, 40), (3.0, 40), (-1.0, 40), (2.0, 0)])
@pytest.mark.parametrize("name", POWERS)
def test_powers_by_base_and_exponent(name: str, y: float, warm_after: int) -> None:
    f = POWERS[name]
    h = 1e-4
    wanted = (f(X + h, y + h) - f(X + h, y - h) - f(X - h, y + h) + f(X - h, y - h)) / (4 * h * h)

    def forward(v: Any) -> Any:
        return adbc.jvp(f, (X, v), (1.0, 0.0))[1]

    def reverse(v: Any) -> Any:
        return adbc.grad(f, 0)(X, v)

    with adbc.use(adbc.Config(warm_after=warm_after)):
        for first in (forward, reverse):
            assert adbc.jvp(first, (y,), (1.0,))[1] == pytest.approx(wanted, rel=1e-5, abs=1e-6)
            assert adbc.grad(first)(y) == pytest.approx(wanted, rel=1e-5, abs=1e-6)
        by_exponent = adbc.jvp(lambda v: adbc.grad(f, 1)(v, y), (X,), (1.0,))[1]
        assert by_exponent == pytest.approx(wanted, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("x", [0.0, math.nan, 5e-324, math.inf])
def test_a_power_of_zero_has_the_derivative_zero(x: float) -> None:
    for f in (lambda x: x**0.0, lambda x: math.pow(x, 0.0), lambda x: (np.array([x]) ** 0.0).sum()):
        assert adbc.grad(f)(x) == 0.0
    assert adbc.grad(lambda x: (np.array([x, x]) ** np.array([0.0, 2.0]))[0])(x) == 0.0


# -- cotangents that are zero, or one ------------------------------------------------------------------------


def _copied(x: Any) -> Any:
    return {"a": x, "b": 1.0}.copy()["a"] ** 2


def _values(x: Any) -> Any:
    values = list({"a": x, "b": 1.0}.values())
    return values[0] ** 2


def _items(x: Any) -> Any:
    items = list({"a": x}.items())
    return items[0][1] ** 2


def _unpacked(x: Any) -> Any:
    (v,) = {"a": x}.values()
    return v * v


def _updated(x: Any) -> Any:
    d = {"c": 2.0}
    d.update({"a": x, "b": 1.0})
    return d["a"] ** 2


def _extended(x: Any) -> Any:
    numbers = [x]
    numbers.extend([x, x])
    return numbers.pop() ** 2


def _sliced(x: Any) -> Any:
    return [x, 1.0, x][::2][1] ** 2


def _sorted(x: Any) -> Any:
    return sorted([x * 1.0, 2.0])[0] ** 2


def _rotated(x: Any) -> Any:
    numbers = collections.deque([x, 1.0])
    numbers.rotate(1)
    return numbers[1] ** 2


@pytest.mark.parametrize("warm_after", [0, 40])
@pytest.mark.parametrize("inner", ["forward", "reverse"])
@pytest.mark.parametrize(
    "f", [_copied, _values, _items, _unpacked, _updated, _extended, _sliced, _sorted, _rotated]
)
def test_cotangents_of_zero_are_handed_on(f: Any, inner: str, warm_after: int) -> None:
    def first(x: Any) -> Any:
        return adbc.grad(f)(x) if inner == "reverse" else adbc.jvp(f, (x,), (1.0,))[1]

    with adbc.use(adbc.Config(warm_after=warm_after)):
        assert adbc.jvp(first, (0.0,), (1.0,))[1] == 2.0
        assert adbc.grad(first)(0.0) == 2.0


def test_a_cotangent_of_one_moves() -> None:
    def f(y: Any) -> Any:
        return y * np.sum(np.sin(np.ones(3) * y))

    wanted = 6 * math.cos(1.0) - 3 * math.sin(1.0)
    assert adbc.jvp(adbc.grad(f), (1.0,), (1.0,))[1] == pytest.approx(wanted)
    assert adbc.grad(adbc.grad(f))(1.0) == pytest.approx(wanted)


# -- what is refused where there is a derivative ------------------------------------------------------------


def test_what_is_refused_is_so_where_the_first_derivative_is_zero() -> None:
    def of_an_order(x: Any) -> Any:
        return scipy.special.jv(x * x, 1.0)

    with pytest.raises(UnsupportedError):
        adbc.jvp(lambda x: adbc.jvp(of_an_order, (x,), (1.0,))[1], (0.0,), (1.0,))
    assert adbc.jvp(of_an_order, (0.0,), (1.0,))[1] == 0.0


def test_the_parameters_of_what_is_drawn_move() -> None:
    def drawn(x: Any) -> Any:
        return np.random.default_rng(1).normal(x * x, 1.0)

    def by_shape(x: Any) -> Any:
        return np.random.default_rng(1).gamma(2.0 + x * x)

    assert adbc.jvp(lambda x: adbc.jvp(drawn, (x,), (1.0,))[1], (0.0,), (1.0,))[1] == 2.0
    slope = adbc.grad(lambda shape: np.random.default_rng(1).gamma(shape))(2.0)
    second = adbc.jvp(lambda x: adbc.jvp(by_shape, (x,), (1.0,))[1], (0.0,), (1.0,))[1]
    assert second == pytest.approx(2.0 * slope)


# -- quotients that have a limit ----------------------------------------------------------------------------


@pytest.mark.parametrize("inner", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "at", "wanted"),
    [
        (np.sinc, 0.0, -(math.pi**2) / 3),
        (lambda x: np.sinc(np.array([x, 1.0]))[0], 0.0, -(math.pi**2) / 3),
        (scipy.special.spence, 1.0, 0.5),
        (lambda x: scipy.special.xlogy(x, 2.0 + x), 0.0, 1.0),
        (lambda x: scipy.special.xlog1py(x, x), 0.0, 2.0),
    ],
)
def test_limits_have_second_derivatives(f: Any, at: float, wanted: float, inner: str) -> None:
    def first(x: Any) -> Any:
        return adbc.grad(f)(x) if inner == "reverse" else adbc.jvp(f, (x,), (1.0,))[1]

    assert adbc.jvp(first, (at,), (1.0,))[1] == pytest.approx(wanted)
    assert adbc.grad(first)(at) == pytest.approx(wanted)
