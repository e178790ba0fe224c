"""Jacobians, Hessians and products with them."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.tangents import NO_TANGENT

V = np.array([0.5, 1.5, -0.7])


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_hessian(x: Any) -> Any:
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200.0 * x[i] ** 2 - 400.0 * x[i + 1] + 2.0
        h[i, i + 1] -= 400.0 * x[i]
        h[i + 1, i] -= 400.0 * x[i]
        h[i + 1, i + 1] += 200.0
    return h


@pytest.mark.parametrize("outer", [adbc.jacfwd, adbc.jacrev])
@pytest.mark.parametrize("inner", [adbc.jacfwd, adbc.jacrev, adbc.grad])
def test_hessians_in_all_ways(outer: Any, inner: Any) -> None:
    np.testing.assert_allclose(outer(inner(rosenbrock))(V), rosenbrock_hessian(V), rtol=1e-12)


def test_hessian_and_products() -> None:
    wanted = rosenbrock_hessian(V)
    found = adbc.hessian(rosenbrock)(V)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(found, found.T, rtol=1e-14)
    v = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(adbc.hvp(rosenbrock, (V,), (v,))[0], wanted @ v, rtol=1e-12)
    np.testing.assert_allclose(adbc.vhp(rosenbrock, (V,), (v,))[0], v @ wanted, rtol=1e-12)


def test_products_leave_out_what_has_no_derivative() -> None:
    def f(x: float, n: int, y: float) -> float:
        return x**n * y

    assert adbc.hvp(f, (2.0, 3, 5.0), (1.0, None, None)) == (60.0, adbc.NoTangent(), 12.0)
    assert adbc.vhp(f, (2.0, 3, 5.0), (1.0, None, None)) == (60.0, adbc.NoTangent(), 12.0)


@pytest.mark.parametrize("way", [adbc.jacfwd, adbc.jacrev, adbc.jacobian])
def test_shapes(way: Any) -> None:
    def outer(x: Any, y: Any) -> Any:
        return np.outer(x, np.sin(y))

    x, y = np.array([1.0, 2.0]), V
    by_x, by_y = way(outer, (0, 1))(x, y)
    assert by_x.shape == (2, 3, 2) and by_y.shape == (2, 3, 3)
    np.testing.assert_allclose(by_x, np.einsum("ik,j->ijk", np.eye(2), np.sin(y)))
    np.testing.assert_allclose(by_y, np.einsum("i,jk->ijk", x, np.diag(np.cos(y))))
    np.testing.assert_allclose(way(outer, "y")(x, y=y), by_y)


@pytest.mark.parametrize("way", [adbc.jacfwd, adbc.jacrev, adbc.jacobian])
def test_structures(way: Any) -> None:
    def f(d: Any) -> Any:
        return {"a": d["x"] * d["y"], "b": [d["x"] ** 2]}

    found = way(f)({"x": 2.0, "y": V})
    np.testing.assert_allclose(found["a"]["x"], V)
    np.testing.assert_allclose(found["a"]["y"], 2.0 * np.eye(3))
    assert found["b"][0]["x"] == 4.0
    np.testing.assert_allclose(found["b"][0]["y"], np.zeros(3))


@pytest.mark.parametrize("way", [adbc.jacfwd, adbc.jacrev, adbc.jacobian])
def test_arguments_stay_as_they_were(way: Any) -> None:
    def f(x: Any) -> Any:
        x *= x
        return x * 2.0

    x = V.copy()
    np.testing.assert_allclose(way(f)(x), np.diag(4.0 * V))
    np.testing.assert_array_equal(x, V)


def test_value_and_jacobian() -> None:
    value, found = adbc.value_and_jacobian(lambda x: np.cumsum(x) ** 2)(V)
    np.testing.assert_allclose(value, np.cumsum(V) ** 2)
    np.testing.assert_allclose(found, np.tril(np.ones((3, 3))) * 2 * np.cumsum(V)[:, None])


def test_a_jacobian_inside_a_gradient() -> None:
    def f(x: Any) -> Any:
        return np.sum(adbc.jacfwd(lambda y: y**3)(x))

    np.testing.assert_allclose(adbc.grad(f)(V), 6.0 * V, rtol=1e-12)


@pytest.mark.parametrize("way", [adbc.jacfwd, adbc.jacrev, adbc.jacobian, adbc.hessian])
def test_what_has_no_numbers_is_refused(way: Any) -> None:
    with pytest.raises(adbc.errors.ArgumentError):
        way(lambda n: n * 1.0)(3)
    with pytest.raises(adbc.errors.ArgumentError):
        way(lambda x: "text")(3.0)
    with pytest.raises(adbc.errors.ArgumentError):
        way(lambda z: (z * z).real)(1j)


class Pair(NamedTuple):
    x: float
    y: Any


class Slots:
    __slots__ = ("x", "y", "z")

    def __init__(self, x: float, y: Any) -> None:
        self.x = x
        self.y = y


def squares(v: Any) -> Any:
    if isinstance(v, Slots):
        return v.x * v.x + squares(v.y)
    if isinstance(v, float):
        return v * v
    return sum(map(squares, v))


def elements(*parts: Any) -> Any:
    made = np.empty(len(parts), object)
    for i, part in enumerate(parts):
        made[i] = part
    return made


STRUCTURES: dict[str, tuple[Any, Callable[[Any], list[float]]]] = {
    "named tuple": (Pair(1.5, (2.5, 3.0)), lambda j: [j[0], *j[1]]),
    "slots": (Slots(1.5, [2.5, 3.0]), lambda j: [j.x, *j.y]),
    "deque": (deque([1.5, 2.5, 3.0]), list),
    "objects": (elements(1.5, [2.5, 3.0]), lambda j: [j[0], *j[1]]),
    "masked": (np.ma.array([1.5, 2.5, 3.0], mask=False), list),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_all_containers(name: str) -> None:
    x, numbers = STRUCTURES[name]
    for jacobian in (adbc.jacfwd, adbc.jacrev, adbc.jacobian):
        assert numbers(jacobian(squares)(x)) == [3.0, 5.0, 6.0]
    outer = adbc.jacfwd(lambda y: [squares(y), 2.0 * squares(y)])(x)
    assert [numbers(row) for row in outer] == [[3.0, 5.0, 6.0], [6.0, 10.0, 12.0]]
    if name != "masked":
        (product,) = adbc.hvp(squares, (x,), (adbc.grad(squares)(x),))
        assert product != NO_TANGENT


@pytest.mark.parametrize("x", [3, "text"])
@pytest.mark.parametrize("product", [adbc.hvp, adbc.vhp])
def test_products_with_the_hessian_by_what_has_no_derivative(product: Any, x: Any) -> None:
    assert product(lambda x, y: y * y, (x, 2.0), (None, 1.0)) == (NO_TANGENT, 2.0)
    assert product(lambda x: 1.0, (x,), (None,)) == (NO_TANGENT,)


@pytest.mark.parametrize("x", [np.zeros(0), []], ids=repr)
def test_products_with_the_hessian_by_what_is_empty(x: Any) -> None:
    assert adbc.hvp(lambda x, y: y * y, (x, 2.0), (None, 1.0)) == (NO_TANGENT, 2.0)
    assert adbc.hvp(lambda x: 1.0, (x,), (None,)) == (NO_TANGENT,)


# -- functions that keep something -----------------------------------------------------------------------


class _Simulator:
    """A step of which changes the state that the next one starts from."""

    def __init__(self) -> None:
        self.state = np.array([1.0, 2.0])
        self.calls = 0

    def step(self, u: Any) -> Any:
        self.calls += 1
        self.state = self.state * np.sin(u[0]) + u[1:] * self.state
        return self.state

    def in_place(self, u: Any) -> Any:
        self.calls += 1
        self.state *= np.sin(u[0])
        self.state += u[1:] * self.state
        return self.state.copy()

    __call__ = step


_CONTROL = np.array([0.3, 0.4, 0.5])
_STATEFUL: dict[str, Callable[[_Simulator], Any]] = {
    "method": lambda s: s.step,
    "in place": lambda s: s.in_place,
    "object": lambda s: s,
    "closure": lambda s: lambda u: s.step(u),
    "partial": lambda s: functools.partial(_Simulator.step, s),
}


@pytest.mark.parametrize("name", _STATEFUL)
def test_a_function_that_keeps_a_state_has_the_jacobian_of_its_next_call(name: str) -> None:
    def by(jacobian: Any) -> tuple[Any, _Simulator]:
        simulator = _Simulator()
        return jacobian(_STATEFUL[name](simulator))(_CONTROL), simulator

    expected, simulator = by(adbc.jacrev)
    assert simulator.calls == 0
    shifted = [[_CONTROL + h * e for e in np.eye(3)] for h in (1e-6, -1e-6)]
    steps = [[_STATEFUL[name](_Simulator())(u) for u in controls] for controls in shifted]
    np.testing.assert_allclose(expected, (np.array(steps[0]) - steps[1]).T / 2e-6, rtol=1e-6)
    np.testing.assert_allclose(by(adbc.jacfwd)[0], expected)
    np.testing.assert_allclose(by(adbc.jacobian)[0], expected)
    value, found = by(adbc.value_and_jacobian)[0]
    np.testing.assert_allclose(value, _STATEFUL[name](_Simulator())(_CONTROL))
    np.testing.assert_allclose(found, expected)
    with pytest.raises(adbc.errors.UnsupportedError, match="another value each time"):
        by(lambda f: adbc.jacfwd(f, chunk_size=2))


def test_jacobians_are_not_put_together_of_several_draws() -> None:
    generator = np.random.default_rng(0)

    def noisy(x: Any) -> Any:
        return x * generator.normal(size=3)

    def globally(x: Any) -> Any:
        return np.sum(x * x) * np.random.normal()  # noqa: NPY002

    def seeded(x: Any) -> Any:
        return x * np.random.default_rng(0).normal(size=3)

    found = adbc.jacfwd(noisy)(_CONTROL)  # in one run
    assert np.count_nonzero(found) == np.count_nonzero(adbc.jacrev(noisy)(_CONTROL)) == 3
    for run in (
        lambda: adbc.jacfwd(noisy, chunk_size=1)(_CONTROL),
        lambda: adbc.jacfwd(globally)(_CONTROL),
        lambda: adbc.hessian(globally)(_CONTROL),
        lambda: adbc.jacobian(noisy)(_CONTROL),
    ):
        with pytest.raises(adbc.errors.UnsupportedError, match="draws random numbers"):
            run()
    draws = np.random.default_rng(0).normal(size=3)
    for jacobian in (adbc.jacfwd, adbc.jacrev, adbc.jacobian):
        np.testing.assert_allclose(jacobian(seeded)(_CONTROL), np.diag(draws))


def test_products_with_hessians_build_nothing_for_a_function_that_is_made_anew() -> None:
    data = np.array([1.0, 2.0, 3.0])

    def product(k: float) -> Any:
        return adbc.hvp(lambda x: np.sum(np.exp(k * x * data)), (_CONTROL,), (np.ones(3),))

    with adbc.use(adbc.Config(warm_after=0)):
        for i in range(6):
            product(0.1 + i)
        builds = default_engine().builds
        for i in range(4):
            k = 1.0 + i
            np.testing.assert_allclose(product(k)[0], (k * data) ** 2 * np.exp(k * _CONTROL * data))
        assert default_engine().builds == builds
