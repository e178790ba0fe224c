"""Integrals and differential equations that SciPy solves in C."""

from __future__ import annotations

import math
import warnings
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


def test_limits_move_the_integral_by_the_integrand_there() -> None:
    def f(a: float, b: float) -> Any:
        return integrate.quad(lambda x: x - 0.3 + math.sin(9.0 * x), a, b)[0]

    expected = 0.3, 0.7 + math.sin(9.0)
    assert adbc.grad(f, (0, 1))(0.0, 1.0) == pytest.approx(expected, rel=1e-14)
    assert adbc.jvp(f, (0.0, 1.0), (1.0, 2.0))[1] == pytest.approx(expected[0] + 2.0 * expected[1], rel=1e-14)
    same = adbc.grad(f, (0, 1))(0.5, 0.5)
    assert same == pytest.approx((-0.2 - math.sin(4.5), 0.2 + math.sin(4.5)), rel=1e-14)


def test_an_end_at_which_the_integral_is_not_smooth_is_no_number() -> None:
    def f(a: float) -> Any:
        return integrate.quad(lambda x: x**-0.5, a, 1.0)[0]

    assert adbc.grad(f)(0.25) == pytest.approx(-2.0)
    for derivative in (adbc.grad(f), lambda a: adbc.jvp(f, (a,), (1.0,))):
        with pytest.raises(ZeroDivisionError):
            derivative(0.0)


def test_the_integrand_is_called_at_a_limit_only_if_that_has_a_derivative(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def f(p: float, b: float) -> Any:
        def integrand(x: float) -> Any:
            print(float(x))  # what it keeps in memory would be as a plain call leaves it
            return p * x

        return integrate.quad(integrand, 0.0, b)[0]

    for tangents, is_called in (((1.0, None), False), ((1.0, 1.0), True)):
        adbc.jvp(f, (0.7, 2.0), tangents)
        seen = [float(line) for line in capsys.readouterr().out.split()]
        assert (2.0 in seen) is is_called
        assert 0.0 not in seen


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


def turning(t: float, y: Any, k: float, m: float) -> list[Any]:
    """A pendulum that is pushed from a time on: steps are refused there."""
    return [y[1], -4.0 * k * math.sin(y[0]) - m * y[1] + (3.0 if t > 1.0 else 0.0)]


@pytest.mark.parametrize("method", ["RK45", "RK23", integrate.RK45])
@pytest.mark.parametrize("times", [None, [0.0, 0.3, 1.6, 1.7, 2.5]])
def test_explicit_methods_compute_what_scipy_does(method: Any, times: Any) -> None:
    def f(k: float, m: float, y0: Any) -> Any:
        return integrate.solve_ivp(turning, (0.0, 2.5), y0, method, times, args=(k, m))

    def of_all(k: float, m: float, y0: Any) -> Any:
        return f(k, m, y0).y.ravel()

    given = 0.7, 0.4, np.array([1.0, 0.3])
    found, (slope, _, at_start) = adbc.value_and_grad(lambda *p: np.sum(of_all(*p) ** 2), (0, 1, 2))(*given)
    value, moved = adbc.jvp(of_all, given, (1.0, 0.0, np.zeros(2)))
    expected = f(*given)
    assert np.array_equal(value, expected.y.ravel())
    assert found == pytest.approx(np.sum(expected.y**2), rel=1e-14)
    assert slope == pytest.approx(2.0 * value @ moved, rel=1e-9)
    h = 1e-6
    near = [of_all(0.7 + sign * h, *given[1:]) for sign in (1.0, -1.0)]  # sizes of steps move too
    assert moved == pytest.approx((near[0] - near[1]) / (2.0 * h), rel=1e-5, abs=1e-5)
    _, along = adbc.jvp(of_all, given, (0.0, 0.0, np.array([1.0, 0.0])))
    assert at_start[0] == pytest.approx(2.0 * value @ along, rel=1e-9)


def test_what_an_explicit_method_gives_beside_the_solution() -> None:
    seen: list[Any] = []

    def pendulum(t: float, y: Any, k: float, m: float) -> list[Any]:
        return [y[1], -4.0 * k * math.sin(y[0]) - m * y[1]]

    def f(k: float, end: float) -> Any:
        found = integrate.solve_ivp(pendulum, (end, 0.0), [k, 0.3], args=[k, 0.4], rtol=1e-7)
        seen.append(
            (found.status, found.success, found.message, found.nfev, found.njev, found.nlu, found.sol)
        )
        return found.t[3] + found.y[0, -1]

    check_gradient(f, 0.7, 2.5, argnums=(0, 1), rtol=1e-5, reverse_rtol=1e-8)  # of an error: differences
    expected = integrate.solve_ivp(pendulum, (2.5, 0.0), [0.7, 0.3], args=[0.7, 0.4], rtol=1e-7)
    assert seen[0] == seen[1] == (0, True, expected.message, expected.nfev, 0, 0, None)


def test_times_of_an_explicit_method_have_derivatives() -> None:
    def f(times: Any) -> Any:
        end = 2.0 * times[1]
        return integrate.solve_ivp(lambda t, y: [-0.7 * y[0] + t], (0.0, end), [1.0], t_eval=times).y[0]

    times = np.array([0.2, 0.9, 1.4])
    rows = [adbc.grad(lambda x, i=i: f(x)[i])(times) for i in range(3)]
    columns = [adbc.jvp(f, (times,), (one,))[1] for one in np.eye(3)]
    for row, j in ((row, j) for row in range(3) for j in range(3)):
        h = 1e-6 * np.eye(3)[j]
        slope = (f(times + h)[row] - f(times - h)[row]) / 2e-6
        assert rows[row][j] == pytest.approx(slope, rel=1e-4, abs=1e-6)
        assert columns[j][row] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_explicit_methods_have_second_derivatives() -> None:
    def last(k: float) -> Any:
        return integrate.solve_ivp(lambda t, y: [-k * y[0]], (0.0, 1.0), [k], rtol=1e-9, atol=1e-9).y[0, -1]

    second = adbc.jvp(adbc.grad(last), (0.7,), (1.0,))[1]
    assert second == pytest.approx((0.7 - 2.0) * math.exp(-0.7), rel=1e-6)


@pytest.mark.parametrize("solve", ["odeint", "RK45", "LSODA"])
def test_a_right_hand_side_that_uses_one_array_again(solve: str) -> None:
    def f(k: float) -> Any:
        buffer = np.empty(2)

        def rate(t: float, y: Any) -> Any:
            buffer[0] = -k * y[0] * y[1]
            buffer[1] = y[0] - k
            return buffer

        if solve == "odeint":
            return integrate.odeint(rate, [1.0, k], TIMES, tfirst=True, rtol=1e-10, atol=1e-10)[-1, 0]
        return integrate.solve_ivp(rate, (0.0, 3.0), [1.0, k], solve, rtol=1e-9, atol=1e-9).y[0, -1]

    check_gradient(f, 0.7, rtol=1e-4)


def test_the_right_hand_side_of_an_explicit_method_is_called_as_often_as_without_a_derivative() -> None:
    calls: list[float] = []

    def f(k: float) -> Any:
        def rate(t: float, y: Any) -> Any:
            calls.append(float(t))
            return -k * y

        return integrate.solve_ivp(rate, (0.0, 1.0), [1.0]).y[0, -1]

    f(0.7)
    plain = calls.copy()
    calls.clear()
    adbc.jvp(f, (0.7,), (1.0,))
    assert calls == plain


def test_problems_that_are_wrong_raise_what_scipy_raises() -> None:
    def f(k: float, y0: Any, **named: Any) -> Any:
        return integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), y0, **named).y.sum()

    for y0, named, said in (
        ([[1.0]], {}, "1-dimensional"),
        ([math.inf], {}, "finite"),
        ([1.0], {"atol": -1.0}, "positive"),
        ([1.0], {"t_eval": [2.0]}, "not within"),
        ([1.0], {"t_eval": [0.5, 0.2]}, "not properly sorted"),
    ):
        for derivative in (
            adbc.grad(f),
            lambda *a, **n: adbc.jvp(lambda k: f(k, *a[1:], **n), (a[0],), (1.0,)),
        ):
            with pytest.raises(ValueError, match=said):
                derivative(0.7, y0, **named)


def test_a_solution_that_ends_early() -> None:
    def f(k: float) -> Any:
        found = integrate.solve_ivp(lambda t, y: k * y * y, (0.0, 5.0), [1.0])
        assert (found.status, found.message) == (-1, integrate.OdeSolver.TOO_SMALL_STEP)
        return found.y[0, 4]

    check_gradient(f, 0.7, rtol=1e-5, reverse_rtol=1e-8)  # it grows without end


def test_stiff_and_long_problems_take_the_steps_that_are_fewer() -> None:
    def van_der_pol(m: float, method: str) -> Any:
        found = integrate.solve_ivp(
            lambda t, y: [y[1], m * (1.0 - y[0] ** 2) * y[1] - y[0]], (0.0, 12.0), [2.0, 0.0], method,
            rtol=1e-9, atol=1e-9,
        )  # fmt: skip
        return found.y[0, -1]

    for m in (0.5, 60.0):
        h = 1e-4 * m
        slope = (van_der_pol(m + h, "LSODA") - van_der_pol(m - h, "LSODA")) / (2 * h)
        assert adbc.grad(van_der_pol)(m, "LSODA") == pytest.approx(slope, rel=2e-3)
        assert adbc.jvp(van_der_pol, (m, "LSODA"), (1.0, None))[1] == pytest.approx(slope, rel=2e-3)


RATE = [1.0]


def _turning(t: float, z: Any) -> Any:
    return 1j * RATE[0] * z


def test_what_a_method_calls_by_an_attribute_of_its_object_is_found() -> None:
    """The integrator is given a method of ``complex_ode``, which has the function for an attribute."""

    def f(p: float) -> Any:
        RATE[0] = p
        integrator = integrate.complex_ode(_turning).set_integrator("dopri5")
        return integrator.set_initial_value([1.0], 0.0).integrate(1.0)[0].real

    for derivative in (adbc.grad(f), lambda p: adbc.jvp(f, (p,), (1.0,))):
        with pytest.raises(adbc.MissingRuleError, match="dopri5"):
            derivative(0.7)


def _turned(t: float, y: Any) -> Any:
    return RATE[0] * np.array([y[1], -y[0]])


def test_what_a_closure_calls_by_an_attribute_of_a_captured_object_is_found() -> None:
    """The solver that lets code in C take steps gives it a function that has captured the solver, of whose
    attributes one calls the function of the program."""

    def f(p: float) -> Any:
        RATE[0] = p
        found = integrate.solve_ivp(_turned, (0.0, 1.0), (1.0, 0.0), method="LSODA", dense_output=True)
        return found.y[0, -1]

    for derivative in (adbc.grad(f), lambda p: adbc.jvp(f, (p,), (1.0,))):
        with pytest.raises(adbc.MissingRuleError, match="lsoda"):
            derivative(0.7)


def test_of_complex_limits_and_values_the_real_parts_count() -> None:
    def f(v: Any) -> Any:
        return integrate.quad(lambda t, a: np.sin(a * t), v[0], 2.0, args=(v[1],))[0]

    v = np.array([0.3 + 0.1j, 0.7 - 0.2j])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers are cut
        check_rule(f, v)
        check_rule(lambda v: integrate.quad_vec(lambda t: np.exp(-v * t), 0.0, v[0])[0], v)
