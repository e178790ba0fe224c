"""Roots and minima of ``scipy.optimize``: derivatives of what they solve, or refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

P = np.array([1.3, 0.7])
LOOSE = {"rtol": 1e-5, "atol": 1e-7, "value_rtol": 1e-9}


def cubic(x: Any, p: Any, q: Any) -> Any:
    return x**3 + p * x - q


@pytest.mark.parametrize("name", ["brentq", "brenth", "bisect", "ridder", "toms748"])
def test_brackets(name: str) -> None:
    def closure(p: Any) -> Any:
        return getattr(optimize, name)(lambda x: cubic(x, p, 2.0 * p), -3.0, 4.0)

    def by_args(p: Any, q: Any) -> Any:
        x, found = getattr(optimize, name)(cubic, -3.0, 4.0, args=(p, q), full_output=True)
        return x * found.root

    check_rule(closure, 1.3, **LOOSE)
    check_rule(by_args, 1.3, 0.7, **LOOSE)


def test_limits_do_not_matter() -> None:
    assert adbc.grad(lambda a: optimize.brentq(lambda x: x * x - 2.0, a, 3.0))(0.5) == 0.0


@pytest.mark.parametrize(
    "options",
    [
        {"bracket": (-3.0, 4.0)},
        {"bracket": (-3.0, 4.0), "method": "brentq"},
        {"x0": 1.0, "fprime": lambda x, p, q: 3 * x * x + p},
        {"x0": 1.0, "x1": 1.1},
    ],
)
def test_root_scalar(options: Any) -> None:
    def f(p: Any, q: Any) -> Any:
        found = optimize.root_scalar(cubic, args=(p, q), **options)
        assert found.converged
        return found.root

    check_rule(f, 1.3, 0.7, **LOOSE)


def test_newton() -> None:
    check_rule(lambda p, q: optimize.newton(cubic, 1.0, args=(p, q), tol=1e-12), 1.3, 0.7, **LOOSE)
    check_rule(lambda q: optimize.newton(lambda z: z**3 - q, 1.0 + 1.0j, tol=1e-12), 0.7 + 0.4j, **LOOSE)
    check_rule(lambda q: optimize.newton(lambda z: z**3 - q, np.ones(2), tol=1e-12), P, **LOOSE)
    check_rule(lambda p: optimize.fixed_point(lambda x: np.cos(p * x), 0.5, xtol=1e-12), 0.9, **LOOSE)


def test_several_variables() -> None:
    def system(x: Any, p: Any) -> Any:
        return [x[0] * np.cos(x[1]) - 2.0 * p[0], x[0] * x[1] - x[1] - 3.0 * p[1]]

    check_rule(lambda p: optimize.fsolve(system, [1.0, 1.0], args=(p,), xtol=1e-13), P, **LOOSE)
    check_rule(lambda p: optimize.fsolve(lambda x: system(x, p), np.ones(2), xtol=1e-13), P, **LOOSE)

    def described(p: Any) -> Any:
        found = optimize.root(system, [1.0, 1.0], args=(p,), tol=1e-13)
        return found.x * (1.0 if found.success else 0.0) + found.fun

    check_rule(described, P, **LOOSE)


def test_a_root_that_only_touches_zero_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="singular at its root"):
        adbc.grad(lambda p: optimize.newton(lambda x: p * x**2, 0.0))(1.0)


def test_minima_with_a_gradient() -> None:
    def value(x: Any, p: Any) -> Any:
        return np.sum((x - p) ** 2) + 0.1 * np.sum(x**4) + x[0] * x[1]

    def gradient(x: Any, p: Any) -> Any:
        return 2.0 * (x - p) + 0.4 * x**3 + x[::-1]

    def inner(p: Any) -> Any:
        found = optimize.minimize(value, [0.0, 0.0], (p,), jac=gradient, tol=1e-12, method="BFGS")
        return np.append(found.x, found.fun)

    def bounded(p: Any) -> Any:
        both = lambda x: (value(x, p), gradient(x, p))  # noqa: E731
        return optimize.minimize(both, [0.1, 0.1], jac=True, tol=1e-14, bounds=[(0.0, 0.2), (0.0, None)]).x

    check_rule(inner, P, **LOOSE)
    check_rule(bounded, P, **LOOSE)

    def by_bound(limit: Any) -> Any:
        start, limits = [0.1, 0.1], [(0.0, limit), (0.0, None)]
        return optimize.minimize(value, start, (P,), jac=gradient, tol=1e-14, bounds=limits).x

    check_rule(by_bound, 0.2, **LOOSE)


def test_a_gradient_may_be_a_number() -> None:
    """As that of an objective of one variable is, which SciPy makes an array."""

    def program(p: float) -> Any:
        found = optimize.minimize(
            lambda x: np.cos(x[0] - p), [0.1], jac=lambda x: -np.sin(x[0] - p), method="Newton-CG"
        )
        return found.x[0] * p

    check_rule(program, 0.3, **LOOSE)


def test_a_method_of_the_program_need_not_find_a_minimum() -> None:
    def method(fun: Any, x0: Any, **options: Any) -> Any:
        return optimize.OptimizeResult(success=True, nfev=3)

    def program(p: float) -> Any:
        found = optimize.minimize(lambda x: (x[0] - p) ** 2, [p], method=method)
        return p**2 * found.nfev

    check_rule(program, 0.3, **LOOSE)


def test_least_squares_with_a_jacobian() -> None:
    t = np.linspace(0.0, 1.0, 5)

    def fit(y: Any) -> Any:
        found = optimize.least_squares(
            lambda x, y: x[0] * np.exp(-x[1] * t) - y,
            [1.0, 1.0],
            jac=lambda x, y: np.stack([np.exp(-x[1] * t), -x[0] * t * np.exp(-x[1] * t)], axis=1),
            args=(y,),
            xtol=1e-14, ftol=1e-14, gtol=1e-14,
        )  # fmt: skip
        return np.append(found.x, found.cost)

    check_rule(fit, np.array([1.0, 0.7, 0.55, 0.4, 0.2]), **LOOSE)


def objective(p: Any) -> Any:
    return lambda x: np.sum(np.cosh(x - p)) + 0.1 * np.sum(x**2)


def by_hand(p: float) -> float:
    """The derivative of the minimum of `objective`, by the implicit function theorem."""
    x = optimize.brentq(lambda x: np.sinh(x - p) + 0.2 * x, -5.0, 5.0, xtol=1e-14)
    return float(np.cosh(x - p) / (np.cosh(x - p) + 0.2))


T = np.array([0.0, 0.5, 1.0, 2.0])
WITHOUT = {
    "minimize": lambda p: optimize.minimize(objective(p), [0.0], tol=1e-9).x[0],
    "scalar": lambda p: optimize.minimize_scalar(objective(p)).x,
    "bounded": lambda p: optimize.minimize_scalar(objective(p), bounds=(0, 9), method="bounded").x,
    "brent": lambda p: optimize.brent(objective(p)),
    "fmin": lambda p: optimize.fmin(objective(p), 0.0, xtol=1e-9, ftol=1e-14, disp=0)[0],
    "fmin_l_bfgs_b": lambda p: optimize.fmin_l_bfgs_b(objective(p), [0.0], approx_grad=True)[0][0],
    "shgo": lambda p: optimize.shgo(objective(p), [(-3.0, 3.0)]).x[0],
}


@pytest.mark.parametrize("name", WITHOUT)
def test_minima_without_a_gradient(name: str) -> None:
    gradient = adbc.grad(WITHOUT[name])(2.0)
    assert gradient == pytest.approx(by_hand(2.0), rel=1e-4)
    assert adbc.jvp(WITHOUT[name], (2.0,), (1.0,))[1] == pytest.approx(gradient, rel=1e-9)


def test_the_value_of_a_minimum() -> None:
    inner = lambda p: optimize.minimize_scalar(objective(p)).fun  # noqa: E731
    x = optimize.minimize_scalar(objective(2.0)).x
    assert adbc.grad(inner)(2.0) == pytest.approx(-np.sinh(x - 2.0), rel=1e-6)


def test_a_minimum_at_a_limit_goes_with_it() -> None:
    inner = lambda b: optimize.minimize_scalar(objective(2.0), bounds=(0.0, b), method="bounded").x  # noqa: E731
    assert adbc.grad(inner)(0.5) == pytest.approx(1.0)


@pytest.mark.parametrize("loss", ["linear", "huber"])
def test_least_squares_without_a_jacobian(loss: str) -> None:
    def fit(p: Any) -> Any:
        residuals = lambda x: np.array([x[0] - p, 0.5 * x[0] - 0.3 * p * p, 0.2])  # noqa: E731
        tight = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
        return optimize.least_squares(residuals, [0.0], loss=loss, f_scale=0.4, **tight).x[0]  # type: ignore[arg-type]

    differences = (fit(1.3 + 1e-4) - fit(1.3 - 1e-4)) / 2e-4
    assert adbc.grad(fit)(1.3) == pytest.approx(differences, rel=1e-4)


def test_fits_of_curves() -> None:
    def fit(y: Any) -> Any:
        model = lambda t, a, b: a * np.exp(-b * t)  # noqa: E731
        found, covariance = optimize.curve_fit(model, T, y, p0=[1.5, 1.0], xtol=1e-14, ftol=1e-14)
        return found[0] * found[1] + 10.0 * covariance[0, 1]

    y = np.array([2.0, 1.1, 0.7, 0.2])
    differences = [(fit(y + d) - fit(y - d)) / 2e-4 for d in 1e-4 * np.eye(4)]
    np.testing.assert_allclose(adbc.grad(fit)(y), differences, rtol=1e-3, atol=1e-5)


def test_nonnegative_and_monotone_fits() -> None:
    a, y = np.array([[1.0, 0.4], [0.2, 1.0], [0.5, 0.7]]), np.array([1.0, 0.6, 0.1])
    check_rule(lambda a, y: optimize.nnls(a, y), a, y)
    check_rule(lambda a, y: optimize.nnls(a, y), a, y * [1.0, -1.0, 1.0])
    check_rule(lambda a, y: optimize.nnls(a, y[:, None]), a, y)
    y = np.array([0.3, 0.1, 0.7, 0.5, 0.9])
    check_rule(lambda y: optimize.isotonic_regression(y).x, y)
    check_rule(lambda y, w: optimize.isotonic_regression(y, weights=w, increasing=False).x, y, y + 1.0)


THREE = np.array([0.3, 0.7, 0.5])
OF_CONSTRAINTS = {
    "least squares": lambda p: (
        optimize.lsq_linear(np.array([[1.0, 2.0], [0.5, p[2]], [2.0, 0.1]]), p, bounds=(0, 0.2)).x
    ),
    "linear program": lambda p: (
        optimize.linprog(
            [-1.0 - p[0], -2.0], A_ub=np.array([[1.0, 1.0 + p[2]], [0.2, 1.0]]), b_ub=p[:2] + 1
        ).x
    ),
    "roots": lambda p: optimize.broyden1(
        lambda x: np.array([x[0] + 0.3 * x[1] ** 2 - p[0], x[1] + np.sin(x[0]) - p[1]]),
        [0.1, 0.1],
        f_tol=1e-12,
    ),
}


CONSTRAINTS = [
    lambda p: {"type": "ineq", "fun": lambda x: 1.3 - 0.1 * p[1] - np.sum(x)},
    lambda p: {"type": "eq", "fun": lambda x: np.sum(x * x) - 1 - p[0]},
]


@pytest.mark.slow
def test_a_constraint_that_has_room_changes_nothing() -> None:
    def f(a: Any) -> Any:
        far = {"type": "ineq", "fun": lambda x: 100.0 - np.sum(x)}
        found = optimize.minimize(
            lambda x: (x[0] - a) ** 2 + (x[1] - a * a) ** 2, np.zeros(2), constraints=far, tol=1e-14
        )
        return found.x[0] * found.x[1]

    assert adbc.grad(f)(1.3) == pytest.approx(3 * 1.3**2, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_minimum_under_constraints(which: int) -> None:
    def f(p: Any) -> Any:
        how = {"bounds": [(0.4, None)] * 3} if which == 0 else {}
        found = optimize.minimize(
            lambda x: np.sum((x - p) ** 2), np.zeros(3), constraints=CONSTRAINTS[which](p), tol=1e-12, **how
        )
        return found.x[1] - 0.3 * found.x[2]

    h = 1e-3
    differences = [(f(THREE + h * e) - f(THREE - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(adbc.grad(f)(THREE), differences, rtol=1e-4, atol=1e-5)
    if which:
        np.testing.assert_allclose(
            adbc.jvp(f, (THREE,), (THREE,))[1], np.dot(differences, THREE), rtol=1e-4, atol=1e-5
        )


def test_a_minimum_under_constraints_that_was_not_found_is_refused() -> None:
    def f(p: Any) -> Any:
        apart = [{"type": "eq", "fun": lambda x: x[0] - p}, {"type": "eq", "fun": lambda x: x[0] + 1.0}]
        return optimize.minimize(lambda x: x[0] ** 2, [0.5], constraints=apart).x[0]

    with pytest.raises(UnsupportedError, match="did not succeed"):
        adbc.grad(f)(2.0)


@pytest.mark.parametrize("name", OF_CONSTRAINTS)
def test_minima_under_constraints(name: str) -> None:
    solve = OF_CONSTRAINTS[name]
    weights = np.array([1.0, -2.0, 0.7])

    def f(p: Any) -> Any:
        x = np.atleast_1d(solve(p))
        return np.sum(weights[: len(x)] * x)

    h = 1e-3
    differences = [(f(THREE + h * e) - f(THREE - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(adbc.grad(f)(THREE), differences, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        adbc.jvp(f, (THREE,), (THREE,))[1], np.dot(differences, THREE), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    "solve",
    [
        lambda p: optimize.brute(objective(p), [(0.0, 3.0)]),
        lambda p: optimize.fmin(objective(p), 0.0, disp=0, full_output=True)[0][0],
        lambda p: optimize.milp([p]).fun,
    ],
)
def test_minima_that_are_no_root_are_refused(solve: Any) -> None:
    for differentiate in (lambda: adbc.grad(solve)(2.0), lambda: adbc.jvp(solve, (2.0,), (1.0,))):
        with pytest.raises(UnsupportedError, match="second derivative"):
            differentiate()


def test_minima_of_constants_are_constants() -> None:
    def f(p: Any) -> Any:
        best = optimize.minimize_scalar(lambda x: (x - 2.0) ** 2).x
        other = optimize.minimize(lambda x: (x[0] - 3.0) ** 2, [0.0]).x[0]
        more = optimize.fmin(lambda x: (x[0] - 1.0) ** 2, [0.5], disp=0)[0]
        return p * best * other * more

    assert adbc.grad(f)(1.5) == pytest.approx(6.0, rel=1e-3)


def test_what_a_callback_keeps_is_refused() -> None:
    def f(p: Any) -> Any:
        seen = []

        def residual(x: Any) -> Any:
            seen.append(x * p)
            return x * x - p

        return optimize.brentq(residual, 0.0, 3.0) + seen[-1]

    with pytest.raises(UnsupportedError, match="keeps numbers in a list"):
        adbc.grad(f)(2.0)


# -- second derivatives --------------------------------------------------------------------------------------


def _target(p: Any) -> Any:
    return lambda t: np.sum((t - p - 1.0) ** 2)


def _onto_plane(p: Any) -> Any:
    """The point nearest to p + 1 whose numbers have the sum 1 + p[1]."""
    return p + 1.0 - (np.sum(p + 1.0) - 1.0 - p[1]) / 2.0


PLANES = {
    "equalities by place": lambda p: optimize.fmin_slsqp(
        _target(p), [0.0, 0.0], [lambda t: 1.0 + p[1] - np.sum(t)], disp=0
    ),
    "their own arguments": lambda p: optimize.fmin_cobyla(
        _target(p), [0.0, 0.0], lambda t, b: 1.0 + b - np.sum(t), consargs=(p[1],), args=()
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANES)
def test_constraints_of_named_minimisers(name: str) -> None:
    step = np.array([0.3, -0.8])
    found, along = adbc.jvp(PLANES[name], (P,), (step,))
    np.testing.assert_allclose(found, _onto_plane(P), atol=1e-3)
    np.testing.assert_allclose(along, step - (np.sum(step) - step[1]) / 2.0, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        lambda p: optimize.fmin_slsqp(_target(p), [0.0, 0.0], bounds=[(0.0, 0.5), (0.0, 9.0)], disp=0),
        lambda p: (
            optimize.basinhopping(
                _target(p),
                [0.0, 0.0],
                niter=0,
                minimizer_kwargs={"method": "L-BFGS-B", "bounds": [(0.0, 0.5), (0.0, 9.0)]},
            ).x
        ),
    ],
)
def test_bounds_of_named_minimisers(call: Any) -> None:
    np.testing.assert_allclose(adbc.jvp(call, (P,), (np.array([0.3, -0.8]),))[1], [0.0, -0.8], atol=1e-7)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: optimize.minimize(
            _target(p), [0.1, 0.1], method="trust-constr", bounds=[(0.0, 0.5), (0.0, 0.5)]
        ).x[0],
        lambda p: optimize.minimize(lambda t: np.sum((t - p) ** 4), [9.0, 9.0], options={"maxiter": 1}).x[0],
        lambda p: optimize.differential_evolution(
            _target(p), [(0, 3), (0, 3)], integrality=[True, True], rng=1, maxiter=2
        ).x[0],
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_stationary_point_is_refused(call: Any) -> None:
    with pytest.raises(UnsupportedError, match="minimum"):
        adbc.grad(call)(P)


# -- what is said beside the solution ------------------------------------------------------------------------


def _minimum(p: Any) -> Any:
    return optimize.minimize(lambda x: (x[0] - p[0]) ** 2 + x[1] * x[1] * p[1], np.ones(2))


def _program(p: Any) -> Any:
    return optimize.linprog(p, A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, None))


def _roots(p: Any) -> Any:
    return optimize.fsolve(lambda x: x**3 - p, np.ones(2), full_output=True)[1]


BESIDE: dict[str, Any] = {
    "attribute": lambda p: _minimum(p).jac.sum(),
    "item": lambda p: _minimum(p)["hess_inv"].sum(),
    "default": lambda p: _minimum(p).get("jac", p).sum(),
    "items": lambda p: dict(_minimum(p).items())["x"].sum(),
    "copied": lambda p: dict(_minimum(p))["x"].sum(),
    "keywords": lambda p: (lambda **found: found["x"].sum())(**_minimum(p)),
    "multipliers": lambda p: _program(p).ineqlin.marginals.sum(),
    "records": lambda p: _roots(p)["fjac"].sum(),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_moves_with_a_solution_is_refused(name: str) -> None:
    for run in (
        lambda p: adbc.grad(BESIDE[name])(p),
        lambda p: adbc.jvp(BESIDE[name], (p,), (np.ones(2),)),
    ):
        with pytest.raises(UnsupportedError, match=r"results of a solver(.|\n)*stop_gradient"):
            run(np.array([1.0, 2.0]))


def test_what_is_said_of_a_solution() -> None:
    def f(p: Any) -> Any:
        found = _minimum(p)
        found.y = p[1] * 3.0
        there = (
            ("jac" in found) + ("x" in found) + hasattr(found, "nothing") + len(found) + len(str(found)[:1])
        )
        return there * p[0] + found["x"].sum() + found.get("y") + found.nit * 0.0 + _roots(p)["fvec"].sum()

    plain = _minimum(np.array([1.0, 2.0]))
    slope = len(plain) + 5.0
    np.testing.assert_allclose(adbc.grad(f)(np.array([1.0, 2.0])), [slope, 3.0], atol=1e-6)


# -- what is no root ---------------------------------------------------------------------------------------


def _ended_early(a: float) -> Any:
    options = {"maxfev": 5}
    found = optimize.root(lambda x: np.array([x[0] ** 2 + a, x[1] - x[0]]), [1.0, 1.0], options=options)
    return found.x[0]


NO_ROOTS: dict[str, Any] = {
    "ended early": _ended_early,
    "there is none": lambda a: optimize.fsolve(lambda x: x**2 + a, 1.0)[0],
    "too few iterations": lambda a: optimize.newton(lambda x: x**3 - a, 1.0, maxiter=2, disp=False),
    "a wide bracket": lambda a: optimize.brentq(lambda x: x**3 - a, 0.0, 5.0, maxiter=2, disp=False),
    "said by root_scalar": lambda a: (
        optimize.root_scalar(lambda x: x**3 - a, bracket=(0.0, 7.0), method="bisect", maxiter=3).root
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NO_ROOTS)
def test_what_a_solver_has_not_found_is_refused(name: str) -> None:
    f = NO_ROOTS[name]
    for call in (lambda: adbc.grad(f)(2.0), lambda: adbc.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(UnsupportedError, match="no root of its equation"):
            call()


def test_a_root_that_is_nearly_there_is_one() -> None:
    def f(a: float) -> float:
        return optimize.newton(lambda x: x**3 - a, 1.25, maxiter=1, disp=False)

    assert adbc.grad(f)(2.0) == pytest.approx(2.0 ** (-2.0 / 3.0) / 3.0, rel=1e-2)
    assert adbc.grad(lambda a: optimize.brentq(lambda x: x - a, -1.0, 1.0))(0.0) == 1.0


def test_linear_least_squares_of_complex_numbers() -> None:
    rng = np.random.default_rng(5)
    a, b = (
        rng.normal(size=(4, 2)) + 1j * rng.normal(size=(4, 2)),
        rng.normal(size=4) + 1j * rng.normal(size=4),
    )
    check_rule(lambda a, b: optimize.lsq_linear(a, b).x, a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it takes the real parts
        check_rule(lambda a, b: optimize.nnls(a, b)[0], a, np.abs(a) @ [1.0, 2.0])
