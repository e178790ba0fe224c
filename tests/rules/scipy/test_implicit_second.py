"""Second derivatives through what solvers find: the root, or minimum, moves, and so does the slope there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, linalg, optimize, sparse
from scipy.sparse import linalg as sparse_linalg

import adbc
from adbc.errors import UnsupportedError

P = np.array([1.3, 0.7])
V = np.array([0.4, -0.3])
T = np.linspace(0.0, 1.0, 7)
Y = np.exp(-1.2 * T) + 0.1 * np.cos(9.0 * T)
A = np.array([[0.9, 0.2], [0.1, 0.7]])


def four_ways(f: Callable[..., Any]) -> list[tuple[Any, bool]]:
    """The second derivative of `f` in direction `V`, by either mode over either, and whether only its
    product with `V` is given."""
    first = adbc.grad(f)

    def along(p: Any) -> Any:
        return adbc.jvp(f, (p,), (V,))[1]

    return [
        (adbc.jvp(first, (P,), (V,))[1], False),
        (adbc.jvp(along, (P,), (V,))[1], True),
        (adbc.grad(along)(P), False),
        (adbc.grad(lambda p: np.sum(first(p) * V))(P), False),
    ]


def check(f: Callable[..., Any], rtol: float = 1e-5, h: float = 1e-5) -> None:
    first = adbc.grad(f)
    expected = (first(P + h * V) - first(P - h * V)) / (2 * h)
    for found, is_product in four_ways(f):
        np.testing.assert_allclose(found, expected @ V if is_product else expected, rtol=rtol, atol=1e-6)


class Model:
    def __init__(self, p: Any) -> None:
        self.p = p

    def residual(self, x: Any) -> Any:
        return x**3 + self.p[0] * x - self.p[1]

    def solve(self) -> Any:
        return optimize.brentq(self.residual, -10.0, 10.0)


SHARED = Model(P)


def by_global(p: Any) -> Any:
    SHARED.p = p
    return optimize.brentq(SHARED.residual, -10.0, 10.0)


def system(x: Any, p: Any) -> Any:
    return np.array([x[0] ** 3 + x[0] + x[1] * p[0] - 1.0, x[1] ** 3 * p[1] + x[1] - x[0] - 2.0])


def wells(x: Any, p: Any) -> Any:
    return np.sum((x - p) ** 2 + np.cosh(x * p[::-1]))


def plane(p: Any) -> dict[str, Any]:
    return {"type": "eq", "fun": lambda x: x[0] * p[1] + x[1] - 1.0}


def line(p: Any) -> Any:
    return T * p[0] + p[1] * np.sin(3.0 * T)


def misfit(p: Any) -> Callable[..., Any]:
    return lambda x: np.exp(-x[0] * T * p[0]) + x[1] * p[1] - Y


START = np.array([1.0, 0.1])
RIGHT = np.array([1.3, 0.7])
B = np.array([[1.0], [0.5]])
ROOTS: dict[str, Callable[..., Any]] = {
    "brentq": lambda p: optimize.brentq(lambda x: x**3 + p[0] * x - p[1], -10.0, 10.0),
    "arguments": lambda p: optimize.brentq(lambda x, q: x**3 + q[0] * x - q[1], -9.0, 9.0, (p,)) ** 2,
    "an object": lambda p: Model(p).solve(),
    "a global": by_global,
    "root": lambda p: np.sum(np.sin(optimize.root(system, np.array([0.5, 1.0]), args=(p,)).x)),
}
MORE: dict[str, Callable[..., Any]] = {
    "newton": lambda p: np.sum(optimize.newton(lambda x: x**3 + p * x - 1.0, np.array([0.5, 0.5])) * p),
    "fsolve": lambda p: np.sum(optimize.fsolve(lambda x: system(x, p), np.array([0.5, 1.0])) ** 2),
    "fixed_point": lambda p: np.sum(optimize.fixed_point(lambda x: np.cos(x * p), np.array([0.5, 0.5])) * p),
    "root_scalar": lambda p: optimize.root_scalar(lambda x: x**3 + p[0] * x - p[1], bracket=[-2, 2]).root,
    "minimize": lambda p: np.sum(optimize.minimize(wells, np.zeros(2), args=(p,), tol=1e-12).x ** 2),
    "minimum": lambda p: optimize.minimize(wells, np.zeros(2), args=(p,), tol=1e-12).fun,
    "bounds": lambda p: np.sum(
        optimize.minimize(wells, np.zeros(2), args=(p,), bounds=[(0.0, 0.3), (0.0, 5.0)], tol=1e-14).x ** 2
        * p
    ),
    "least squares": lambda p: np.sum(optimize.least_squares(misfit(p), START, xtol=1e-14).x ** 2),
    "curve_fit": lambda p: np.sum(
        optimize.curve_fit(lambda t, a, b: a * t + b * np.sin(3.0 * t) ** 2, T, line(p) ** 2, p0=START)[0]
        ** 2
    ),
    "nnls": lambda p: np.sum(
        optimize.nnls(np.array([[1.0, 0.2], [0.3, 1.0], [0.5, 0.5]]) * p, Y[:3])[0] ** 2
    ),
    "riccati": lambda p: np.sum(linalg.solve_discrete_are(A * p, B * p[0], np.eye(2) * p[1], p[:1, None])),
    "iterations": lambda p: np.sum(
        sparse_linalg.gmres(sparse.csr_array(np.eye(2) + A * p), RIGHT * p, rtol=1e-13)[0] ** 2
    ),
    "factors": lambda p: np.sum(
        sparse_linalg.splu(sparse.csc_array(np.eye(2) + A * p)).solve(RIGHT * p) ** 2
    ),
}


@pytest.mark.parametrize("name", ROOTS)
def test_roots_move_at_second_order(name: str) -> None:
    check(ROOTS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_solutions_move_at_second_order(name: str) -> None:
    check(MORE[name], 1e-3, 1e-3)  # solvers end some 1e-8 from a minimum


@pytest.mark.slow
def test_under_constraints() -> None:
    def f(p: Any) -> Any:
        found = optimize.minimize(
            wells, np.ones(2), args=(p,), constraints=plane(p), method="SLSQP", tol=1e-14
        )
        return np.sum(found.x**2)

    first, h = adbc.grad(f), 1e-4
    expected = (first(P + h * V) - first(P - h * V)) / (2 * h)
    np.testing.assert_allclose(adbc.jvp(first, (P,), (V,))[1], expected, rtol=1e-4)


def bisected(p: Any) -> Any:
    low, high = 0.0, 3.0
    while high - low > 1e-15 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle**3 + middle < p else (low, middle)
        if middle in (low, high) and 0.5 * (low + high) in (low, high):
            break
    return low


def test_third_derivatives_of_what_is_declared_to_solve_an_equation() -> None:
    with adbc.use(table=adbc.Layer()):
        adbc.implicit(bisected, lambda x, p: x**3 + x - p)
        x = bisected(2.0)
        s = 3.0 * x * x + 1.0
        second = -6.0 * x / s**3
        third = -6.0 / s**4 + 108.0 * x * x / s**5
        first = adbc.grad(bisected)
        assert adbc.grad(first)(2.0) == pytest.approx(second, rel=1e-9)
        assert adbc.jvp(first, (2.0,), (1.0,))[1] == pytest.approx(second, rel=1e-9)
        assert adbc.jvp(adbc.grad(first), (2.0,), (1.0,))[1] == pytest.approx(third, rel=1e-9)


def test_integrals() -> None:
    def f(p: Any) -> Any:
        return integrate.quad(lambda t: np.exp(p[0] * t) * np.sin(p[1] * t), 0.0, 1.0)[0]

    first, h = adbc.grad(f), 1e-5
    expected = (first(P + h * V) - first(P - h * V)) / (2 * h)
    np.testing.assert_allclose(adbc.jvp(first, (P,), (V,))[1], expected, rtol=1e-6)
    with pytest.raises(UnsupportedError, match="quad by its limits"):
        adbc.jvp(adbc.grad(lambda p: integrate.quad(lambda t: p[0] * t, 0.0, p[1])[0]), (P,), (V,))


def test_counts_of_calls_and_steps_in_time_are_refused() -> None:
    calls = []

    def counted(p: Any) -> Any:
        def residual(x: Any) -> Any:
            calls.append(1)
            return x**3 + p[0] * x - p[1]

        return optimize.brentq(residual, -10.0, 10.0)

    def stiff(p: Any) -> Any:
        return integrate.odeint(lambda y, t: -p * y, RIGHT, np.array([0.0, 0.5]))[-1][0]

    for f, what in ((counted, "writes into memory"), (stiff, "a second derivative is taken through odeint")):
        first = adbc.grad(f)
        for second in (
            lambda g=first: adbc.grad(lambda p: g(p)[0])(P),
            lambda g=first: adbc.jvp(g, (P,), (V,)),
        ):
            with pytest.raises(UnsupportedError, match=what):
                second()
