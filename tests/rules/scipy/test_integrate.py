"""Integrals and differential equations that SciPy solves in C."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

LOOSE = {"rtol": 1e-6, "atol": 1e-8}


def test_parameters_and_limits() -> None:
    def closure(p: float, a: float, b: float) -> Any:
        return integrate.quad(lambda x: math.exp(-p * x) * math.sin(x), a, b)[0]

    def by_args(p: float, q: float) -> Any:
        return integrate.quad(lambda x, p, q: np.exp(-p * x * x) + q * x, 0.0, p * q, args=(p, q))[0]

    check_rule(closure, 0.7, 0.3, 2.5, **LOOSE)
    check_rule(closure, 0.7, 2.5, 0.3, **LOOSE)
    check_rule(by_args, 0.7, 1.2, **LOOSE)
    check_rule(
        lambda p: integrate.quad(lambda x: p[0] * x + p[1] ** 2, 0, 1)[0], np.array([2.0, 3.0]), **LOOSE
    )


def test_infinite_ranges() -> None:
    def density(x: float, p: float) -> float:
        return math.exp(-p * x * x)

    inf = math.inf
    check_rule(lambda p: integrate.quad(density, -np.inf, np.inf, args=(p,))[0], 0.7, **LOOSE)
    check_rule(lambda p, a: integrate.quad(density, a, np.inf, (p,))[0], 0.7, 0.4, **LOOSE)
    check_rule(lambda p, b: integrate.quad(density, -np.inf, b, (p,))[0], 0.7, 0.4, **LOOSE)
    check_rule(lambda p, a: integrate.quad(density, np.inf, a, (p,))[0], 0.7, 0.4, **LOOSE)
    assert inf == np.inf


def test_singular_ends() -> None:
    check_gradient(lambda p: integrate.quad(lambda x: x ** (-p), 0.0, 1.0)[0], 0.5)
    check_gradient(lambda p: integrate.quad(lambda x: math.log(x) * p * p, 0.0, 1.0)[0], 0.5)
    assert adbc.grad(lambda b: integrate.quad(lambda x: math.exp(x), 1.0, b)[0])(1.0) == pytest.approx(math.e)


def test_kinks_inside() -> None:
    check_gradient(lambda p: integrate.quad(lambda x: abs(x - p), 0.0, 1.0, points=[0.3])[0], 0.3)


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="with a weight"):
        adbc.grad(lambda p: integrate.quad(lambda x: p, 0, 1, weight="cos", wvar=2.0)[0])(1.0)
    with pytest.raises(UnsupportedError, match="complex function"):
        adbc.grad(lambda p: integrate.quad(lambda x: p * 1j, 0, 1, complex_func=True)[0].imag)(1.0)


def test_several_dimensions() -> None:
    check_gradient(lambda p: integrate.dblquad(lambda y, x: p * x * y * y, 0, 1, 0, lambda x: p * x)[0], 0.7)
    check_gradient(lambda p: integrate.nquad(lambda x, y: math.exp(-p * x * y), [[0, 1], [0, p]])[0], 0.7)


def test_other_quadratures() -> None:
    check_gradient(lambda p: integrate.fixed_quad(lambda x: np.exp(p * x), 0.0, p)[0], 0.7)
    check_gradient(
        lambda p: integrate.quad_vec(lambda x: np.exp(p * x), 0.0, 1.0)[0].sum(), np.array([0.7, 0.2])
    )


def decay(y: Any, t: float, k: float, m: float) -> Any:
    return [-k * y[0] + m * y[1], k * y[0] - 2.0 * m * y[1] * y[1]]


TIMES = np.array([0.0, 0.5, 1.7, 3.0])


def test_odeint() -> None:
    def f(k: float, m: float, y0: Any) -> Any:
        found = integrate.odeint(decay, y0, TIMES, args=(k, m), rtol=1e-10, atol=1e-10)
        return np.sum(found[1:] ** 2)

    check_gradient(f, 0.7, 0.4, np.array([1.0, 0.3]), argnums=(0, 1, 2), rtol=1e-5)


def test_times_have_derivatives() -> None:
    def f(times: Any) -> Any:
        found = integrate.odeint(lambda t, y: -0.7 * y + t, 1.0, times, rtol=1e-11, atol=1e-11, tfirst=True)
        return np.sum(found**2)

    check_gradient(f, np.array([0.2, 0.9, 1.4]), rtol=1e-5)


@pytest.mark.parametrize("method", ["LSODA", "BDF", "Radau"])
def test_implicit_methods(method: str) -> None:
    def last(k: float) -> Any:
        found = integrate.solve_ivp(
            lambda t, y, m: -m * y, (0.0, k), [k], method=method, rtol=1e-9, atol=1e-10, args=(k,)
        )
        assert found.success
        return found.y[0, -1]

    slope = (1.0 - 2.0 * 0.7 * 0.7) * math.exp(-0.49)
    assert adbc.grad(last)(0.7) == pytest.approx(slope, rel=1e-6)
    assert adbc.jvp(last, (0.7,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


def test_a_stiff_problem() -> None:
    def robertson(k: float) -> Any:
        def rate(t: float, y: Any) -> Any:
            slow, fast = k * y[0], 1e4 * y[1] * y[2]
            return [-slow + fast, slow - fast - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2]

        found = integrate.solve_ivp(
            rate, (0.0, 40.0), [1.0, 0.0, 0.0], method="LSODA", rtol=1e-10, atol=1e-12
        )
        return found.y[0, -1]

    h = 1e-4
    slope = (robertson(0.04 + h) - robertson(0.04 - h)) / (2 * h)
    assert adbc.grad(robertson)(0.04) == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_explicit_methods_by_descent(method: str) -> None:
    def f(k: float) -> Any:
        found = integrate.solve_ivp(
            lambda t, y: [-k * y[0] * y[1], y[0] - k], (0.0, 2.0), [1.0, k], method=method, rtol=1e-10,
            atol=1e-10, t_eval=[1.0, 2.0],
        )  # fmt: skip
        return found.y.sum()

    check_gradient(f, 0.7)
