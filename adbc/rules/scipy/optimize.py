"""``scipy.optimize``: roots and minima.

A root finder is differentiated as what it is: a function whose result solves an equation
(`adbc.rules.implicit`).  So is a minimiser: its result is a root of the gradient, which it is given
(``jac=``) or which is an inner derivative of the objective, for those variables that are not at a bound.
What a minimiser in Python does, comparing values, has the derivative zero nearly everywhere, which is not
that of the minimum: so what is not known as an equation is refused wherever something is active.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg, optimize

from adbc.errors import UnsupportedError
from adbc.rules.activity import carries
from adbc.rules.implicit import ENGINE, jacobian, root_of, solved, valued
from adbc.rules.scipy.base import bodies
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import fresh_shadow, fresh_tangent

__all__ = ["ROWS", "with_constants"]


def _tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


# -- roots of one variable ---------------------------------------------------------------------------------


def _results(x: Any, found: Any) -> Any:
    """What SciPy says of a root, with the root `x` that has a derivative."""
    flag = 0 if found.converged else found.flag
    return optimize.RootResults(x, found.iterations, found.function_calls, flag, getattr(found, "method", ""))


def _bracketing(solver: Any) -> Callable[..., Any]:
    def body(f: Any, a: Any, b: Any, args: Any = (), **options: Any) -> Any:
        given = _tuple(args)
        found = solved(solver, (f, a, b, given), options)
        if options.get("full_output"):
            x = root_of(found[0], f, given)
            return x, _results(x, found[1])
        return root_of(found, f, given)

    return body


def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: float = 1.48e-8, maxiter: int = 50,
    fprime2: Any = None, x1: Any = None, rtol: float = 0.0, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    given = _tuple(args)
    options = {
        "tol": tol,
        "maxiter": maxiter,
        "x1": x1,
        "rtol": rtol,
        "full_output": full_output,
        "disp": disp,
    }
    found = solved(optimize.newton, (func, x0, fprime, given), {**options, "fprime2": fprime2})
    if not full_output:
        return root_of(found, func, given)
    x = root_of(found[0], func, given)
    if np.ndim(x):
        return (x, *found[1:])
    return x, _results(x, found[1])


def _with_slope(f: Any) -> Callable[..., Any]:
    """The first of what `f` gives: the value, without derivatives."""
    return lambda x, *args: f(x, *args)[0]


def root_scalar(f: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = _tuple(args)
    found = solved(optimize.root_scalar, (f, given, *positional), options)
    residual = _with_slope(f) if isinstance(options.get("fprime"), bool) and options["fprime"] else f
    return _results(root_of(found.root, residual, given), found)


def fixed_point(func: Any, x0: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = _tuple(args)
    found = solved(optimize.fixed_point, (func, x0, given, *positional), options)
    return root_of(found, lambda x, *args: func(x, *args) - x, given)


# -- roots of several variables ----------------------------------------------------------------------------


def fsolve(func: Any, x0: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = _tuple(args)
    found = solved(optimize.fsolve, (func, x0, given, *positional), options)
    if isinstance(found, tuple):
        return (root_of(found[0], func, given), *found[1:])
    return root_of(found, func, given)


def _nonlinear(name: str) -> Overlay:
    """The row of a solver of F(x) = 0 by its name, which keeps an approximate Jacobian."""
    function = getattr(optimize, name)

    def body(F: Any, xin: Any, *positional: Any, **options: Any) -> Any:
        start = np.array(stop_gradient(xin), dtype=float)
        if options.get("full_output"):
            x, how = solved(function, (F, start, *positional), options)
            return root_of(x, F, ()), how
        return root_of(solved(function, (F, start, *positional), options), F, ())

    return Overlay(function, body)


_NONLINEAR = (
    "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "newton_krylov",
)  # fmt: skip

_SAID = ("success", "status", "message", "nfev", "njev", "nhev", "nit", "method", "optimality", "active_mask")


def _described(found: Any, **known: Any) -> Any:
    """What SciPy says of a solution, of which what is `known` has derivatives."""
    result = optimize.OptimizeResult()
    for name in _SAID:
        if name in found:
            result[name] = found[name]
    for name in known:
        result[name] = known[name]
    return result


def root(fun: Any, x0: Any, args: Any = (), method: str = "hybr", jac: Any = None, **options: Any) -> Any:
    given = _tuple(args)
    found = solved(optimize.root, (fun, x0, given, method, jac), options)
    residual = _with_slope(fun) if isinstance(jac, bool) and jac else fun
    return _described(found, x=root_of(found.x, residual, given), fun=found.fun)


# -- minima ------------------------------------------------------------------------------------------------


def with_constants(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], instead: str
) -> Any:
    """``function(*args, **kwargs)``, which is refused where something of it is active."""
    return function(*args, **kwargs)


def _refuse_active(args: Args, derivatives: Args, is_tangent: bool) -> None:
    given = zip(args[1:3], derivatives[1:3], strict=True)
    if any(carries(x, d, is_tangent=is_tangent) for x, d in given):
        name = args[0].__name__
        raise UnsupportedError(
            f"scipy.optimize.{name} of something with a derivative",
            "the derivative of a minimum needs the second derivative of the objective; that of the steps that"
            " lead there, which compares values, would be zero",
            args[3],
        )


def _constant_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    _refuse_active(args, dargs, True)
    out = with_constants(*args)
    return out, fresh_tangent(out)


def _constant_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    _refuse_active(args, fargs, False)
    out = with_constants(*args)
    return out, fresh_shadow(out, active=False), lambda bout: (None,) * len(args)


_NOT_FOUND = (
    "the search under constraints did not succeed: begin elsewhere, or pass constants: adbc.stop_gradient(p)"
)
_NAMED_LOSS = "name one of SciPy's losses, loss='huber', or pass constants: adbc.stop_gradient(p)"
_SOLVE = (
    "solve for the root of the derivative, scipy.optimize.root_scalar(slope, bracket=...), or pass constants:"
    " adbc.stop_gradient(p)"
)


def _refusing(name: str, instead: str) -> Overlay:
    function = getattr(optimize, name)
    starts = name.startswith(("fmin_", "leastsq", "basinhopping")) or name == "fmin"

    def body(*args: Any, **kwargs: Any) -> Any:
        if starts and len(args) > 1:
            args = (args[0], stop_gradient(args[1]), *args[2:])
        return with_constants(function, args, kwargs, instead)

    return Overlay(function, body)


def _limits(bounds: Any, x: Any, is_pair: bool) -> tuple[Any, Any]:
    """The lower and the upper bound of each variable, which are given as two if `is_pair`."""
    if bounds is None:
        return np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
    if isinstance(bounds, optimize.Bounds):
        low, high = bounds.lb, bounds.ub
    elif is_pair:
        low, high = bounds
    else:
        low = [-np.inf if b is None or b[0] is None else b[0] for b in bounds]
        high = [np.inf if b is None or b[1] is None else b[1] for b in bounds]
    return (
        np.broadcast_to(np.asarray(low, dtype=float), x.shape),
        np.broadcast_to(np.asarray(high, dtype=float), x.shape),
    )


def at_bounds(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Which variables of a minimum lie at the lower bound, and which at the upper one."""
    room = 1e-9 * np.maximum(1.0, np.abs(x))
    return x <= low + room, x >= high - room


def _stationary(
    x: Any, bounds: Any, gradient: Callable[..., Any], args: tuple[Any, ...], is_pair: bool = False
) -> Any:
    """The minimum `x`: variables at a bound go with it, the others are a root of `gradient`."""
    low, high = _limits(bounds, x, is_pair)
    is_low, is_high = at_bounds(x, low, high)
    free = ~(is_low | is_high)
    base = np.where(is_low, low, np.where(is_high, high, x))

    def at(z: Any, *args: Any) -> Any:
        y = base.copy()
        y[free] = z
        return np.asarray(gradient(y, *args))[free]

    result = base.copy()
    result[free] = root_of(x[free], at, args)
    return valued(x, result)


def _gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the objective `fun`, an inner derivative."""

    def objective(x: Any, *args: Any) -> Any:
        return np.sum(fun(x, *args))  # it may be an array with one element

    return lambda x, *args: ENGINE.grad(objective)(x, *args)


def _constraint_values(constraint: Any, x: Any) -> tuple[Any, Any, Any]:
    """The values of a constraint at `x`, and their lower and upper limits."""
    if isinstance(constraint, dict):
        values = np.atleast_1d(constraint["fun"](x, *_tuple(constraint.get("args", ()))))
        return values, 0.0, 0.0 if constraint["type"] == "eq" else np.inf
    if isinstance(constraint, optimize.LinearConstraint):
        return np.asarray(constraint.A) @ x, constraint.lb, constraint.ub
    return np.atleast_1d(constraint.fun(x)), constraint.lb, constraint.ub


def held(values: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Which constraints hold with equality at their lower limit, and which at their upper one."""
    room = 1e-6 * np.maximum(1.0, np.abs(values))
    is_low = np.broadcast_to(values <= low + room, values.shape)
    return is_low, np.broadcast_to(values >= high - room, values.shape) & ~is_low


def _equalities(constraints: Any, x: Any) -> Any:
    """What is zero at `x` of the constraints, one number for each that holds with equality at `x` itself;
    `x` is given twice, as a constant to find these by."""
    at, x = x
    parts = []
    for constraint in constraints:
        values, low, high = _constraint_values(constraint, x)
        known = _constraint_values(constraint, at)
        is_low, is_high = held(stop_gradient(known[0]), stop_gradient(known[1]), stop_gradient(known[2]))
        for which, limit in ((is_low, low), (is_high, high)):
            if np.any(which):
                parts.append((values - np.broadcast_to(limit, values.shape))[which])
    return np.concatenate(parts) if parts else np.zeros(0)


def _independent(rows: Any) -> bool:
    """Whether the gradients of constraints are linearly independent."""
    return bool(not len(rows) or np.linalg.matrix_rank(rows) == len(rows))


def _constrained(x: Any, fun: Any, args: tuple[Any, ...], bounds: Any, constraints: Any) -> Any:
    """The minimum `x` under constraints: with their multipliers it is a stationary point of the Lagrangian of
    those that hold with equality."""
    low, high = _limits(bounds, x, False)
    is_low, is_high = at_bounds(x, low, high)
    free = ~(is_low | is_high)
    base = np.where(is_low, low, np.where(is_high, high, x))
    count = int(np.sum(free))

    def placed(z: Any) -> Any:
        y = base.copy()
        y[free] = z
        return y

    def equalities(z: Any) -> Any:
        return _equalities(constraints, (x, placed(z)))

    def lagrangian(z: Any, *args: Any) -> Any:
        y = placed(z[:count])
        return np.sum(fun(y, *args)) - np.dot(z[count:], _equalities(constraints, (x, y)))

    slope = stop_gradient(ENGINE.grad(lambda z: np.sum(fun(placed(z), *args)))(x[free]))
    normals = jacobian(equalities, x[free])
    if not _independent(normals):
        raise UnsupportedError(
            "scipy.optimize.minimize with constraints that depend on each other where they hold",
            "the minimum does not move smoothly with what they are made of",
            "leave out those that follow from others, or pass constants: adbc.stop_gradient(p)",
        )
    multipliers = np.linalg.lstsq(normals.T, slope, rcond=None)[0]
    start = np.concatenate((x[free], multipliers))
    moved = root_of(start, lambda z, *args: ENGINE.grad(lagrangian)(z, *args), args)
    return valued(x, placed(moved[:count]))


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    given = _tuple(args)
    x0 = stop_gradient(x0)  # the minimum does not depend on where the search began
    positional = (fun, x0, given, method, jac, hess, hessp, bounds, constraints, tol, callback, options)
    found = solved(optimize.minimize, positional, {})
    if constraints:
        if not found.success:
            return with_constants(optimize.minimize, positional, {}, _NOT_FOUND)
        each = constraints if isinstance(constraints, list | tuple) else [constraints]
        value = _with_slope(fun) if jac is True else fun
        x = _constrained(found.x, value, given, bounds, each)
        return _described(found, x=x, fun=value(x, *given))
    if jac is True:
        x = _stationary(found.x, bounds, lambda x, *args: fun(x, *args)[1], given)
        return _described(found, x=x, fun=fun(x, *given)[0])
    x = _stationary(found.x, bounds, jac if callable(jac) else _gradient(fun), given)
    return _described(found, x=x, fun=fun(x, *given))


def _named_minimum(name: str, place: int, is_result: bool = False, at: int | None = None) -> Overlay:
    """The row of a minimiser by its name, of whose positional arguments that at `place` is ``args``, and that
    at `at` are the bounds."""
    function = getattr(optimize, name)
    more = ("full_output", "retall", "eqcons", "f_eqcons", "ieqcons", "f_ieqcons", "constraints", "cons")

    def body(func: Any, *positional: Any, **options: Any) -> Any:
        given = _tuple(_given(positional, options, place, "args", ()))
        bounds = None if at is None else _given(positional, options, at, "bounds", None)
        if any(options.get(n) for n in more) or len(positional) > max(place, at or 0):
            return with_constants(function, (func, *positional), options, _WRITE_IT)
        found = solved(function, (func, *positional), options)
        slopes = _given(positional, options, 2, "fprime", None) if name in _WITH_SLOPES else None
        value = func
        if name in ("fmin_l_bfgs_b", "fmin_tnc") and slopes is None and not options.get("approx_grad"):
            value = _with_slope(func)
            slopes = lambda x, *args: func(x, *args)[1]  # noqa: E731  # a body is one expression
        gradient = _gradient(value) if slopes is None else slopes
        if is_result:
            x = _stationary(found.x, bounds, gradient, given)
            return _described(found, x=x, fun=value(x, *given))
        if isinstance(found, tuple):
            x = _stationary(found[0], bounds, gradient, given)
            return (x, value(x, *given), found[2]) if name == "fmin_l_bfgs_b" else (x, *found[1:])
        return _stationary(np.atleast_1d(found), bounds, gradient, given)

    return Overlay(function, body)


_WITH_SLOPES = ("fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_l_bfgs_b", "fmin_tnc")
"""Minimisers that are given the gradient as their third argument, or by its name."""


def _given(positional: Sequence[Any], options: Any, place: int, name: str, default: Any) -> Any:
    """The argument called `name`, at `place` among all, the first of which is not in `positional`."""
    if len(positional) >= place:
        return positional[place - 1]
    return options.get(name, default)


# -- minima of one variable ----------------------------------------------------------------------------------


def _slope(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of `fun` by its first argument, a number."""
    return lambda x, *args: ENGINE.grad(fun)(x, *args)


def _minimum_of_one(x: Any, fun: Any, args: tuple[Any, ...], low: Any = -np.inf, high: Any = np.inf) -> Any:
    """The minimum `x` of a function of one variable: a root of the slope, or one of the limits."""
    if bool(at_limit(x, low)):
        return valued(x, low * 1.0)
    if bool(at_limit(x, high)):
        return valued(x, high * 1.0)
    return root_of(x, _slope(fun), args)


def at_limit(x: Any, limit: Any) -> bool:
    """Whether the minimum `x`, which is known to some 1e-5 where it lies at a limit, is there."""
    return bool(abs(x - limit) <= 2e-5 * max(1.0, abs(x)))


def minimize_scalar(
    fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), method: Any = None, tol: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    given = _tuple(args)
    found = solved(optimize.minimize_scalar, (fun, bracket, bounds, given, method, tol, options), {})
    if bounds is None:
        x = _minimum_of_one(found.x, fun, given)
    else:
        x = _minimum_of_one(found.x, fun, given, bounds[0], bounds[1])
    return _described(found, x=x, fun=fun(x, *given))


def _bracketed_minimum(name: str) -> Overlay:
    function = getattr(optimize, name)

    def body(func: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
        given = _tuple(args)
        if options.get("full_output"):
            return with_constants(function, (func, given, *positional), options, _SOLVE)
        return _minimum_of_one(solved(function, (func, given, *positional), options), func, given)

    return Overlay(function, body)


def fminbound(func: Any, x1: Any, x2: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = _tuple(args)
    if options.get("full_output"):
        return with_constants(optimize.fminbound, (func, x1, x2, given, *positional), options, _SOLVE)
    found = solved(optimize.fminbound, (func, x1, x2, given, *positional), options)
    return _minimum_of_one(found, func, given, x1, x2)


# -- least squares -------------------------------------------------------------------------------------------

LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(np.where(z <= 1.0, 1.0, z)) - 1.0),
    "cauchy": lambda z: np.log1p(z),
    "arctan": lambda z: np.arctan(z),
}
"""What is minimised of the squares of residuals, by name."""


def _residuals(fun: Any, named: Any) -> Callable[..., Any]:
    return lambda x, *args: np.atleast_1d(np.asarray(fun(x, *args, **named)))


def _cost(residuals: Any, loss: Callable[[Any], Any], scale: Any) -> Callable[..., Any]:
    return lambda x, *args: 0.5 * scale**2 * np.sum(loss((residuals(x, *args) / scale) ** 2))


def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", bounds: Any = (-np.inf, np.inf), **options: Any
) -> Any:
    x0 = stop_gradient(x0)
    given, named = _tuple(options.get("args", ())), options.get("kwargs") or {}
    loss, scale = options.get("loss", "linear"), options.get("f_scale", 1.0)
    if loss not in LOSSES:
        return with_constants(optimize.least_squares, (fun, x0, jac, bounds), options, _NAMED_LOSS)
    found = solved(optimize.least_squares, (fun, x0, jac, bounds), options)
    residuals = _residuals(fun, named)
    cost = _cost(residuals, LOSSES[loss], scale)

    def gradient(x: Any, *args: Any) -> Any:
        r = residuals(x, *args)
        return np.reshape(np.asarray(jac(x, *args, **named)), (r.size, x.size)).T @ r

    slopes = gradient if callable(jac) and loss == "linear" else _gradient(cost)
    x = _stationary(found.x, bounds, slopes, given, is_pair=True)
    return _described(found, x=x, fun=residuals(x, *given), cost=cost(x, *given))


def leastsq(func: Any, x0: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given, x0 = _tuple(args), stop_gradient(x0)
    if options.get("full_output") or len(positional) > 1:
        return with_constants(optimize.leastsq, (func, x0, given, *positional), options, _WRITE_IT)
    found = solved(optimize.leastsq, (func, x0, given, *positional), options)
    cost = _cost(_residuals(func, {}), LOSSES["linear"], 1.0)
    return _stationary(np.atleast_1d(found[0]), None, _gradient(cost), given), found[1]


def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: bool = False,
    check_finite: Any = None, bounds: Any = (-np.inf, np.inf), method: Any = None, jac: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    positional = (f, xdata, ydata, p0, sigma, absolute_sigma)
    keywords = {"bounds": bounds, "method": method, "jac": jac, **options}
    if check_finite is not None:
        keywords["check_finite"] = check_finite
    if options.get("full_output") or options.get("nan_policy"):
        return with_constants(optimize.curve_fit, positional, keywords, _WRITE_IT)
    found, covariance = solved(optimize.curve_fit, positional, keywords)
    data = np.asarray(ydata, dtype=float).ravel()

    def residuals(p: Any) -> Any:
        r = np.asarray(f(xdata, *[p[i] for i in range(len(found))])).ravel() - data
        if sigma is None:
            return r
        if np.ndim(sigma) < 2:
            return r / np.asarray(sigma)
        return linalg.solve_triangular(linalg.cholesky(sigma, lower=True), r, lower=True)

    cost = _cost(residuals, LOSSES["linear"], 1.0)
    p = _stationary(found, bounds, _gradient(cost), (), is_pair=True)
    if not np.all(np.isfinite(covariance)):
        return p, covariance
    columns = []
    for k in range(len(found)):
        direction = np.zeros(len(found))
        direction[k] = 1.0
        columns.append(ENGINE.jvp(residuals, (p,), (direction,))[1])
    slopes = np.stack(columns, axis=1)
    spread = np.linalg.inv(slopes.T @ slopes)
    if not absolute_sigma:
        spread = spread * (2.0 * cost(p) / (data.size - p.size))
    return p, valued(covariance, spread)


def _on(support: Any, A: Any, b: Any) -> Any:
    """The solution of a least squares problem whose variables outside of `support` are zero."""
    x = np.zeros(np.shape(A)[1])
    x[support] = np.linalg.lstsq(A[:, support], b, rcond=None)[0]
    return x


def nnls(A: Any, b: Any, *positional: Any, **options: Any) -> Any:
    found = solved(optimize.nnls, (A, b, *positional), options)
    A, b = np.asarray(A), np.asarray(b)
    x = valued(found[0], _on(found[0] > 0.0, A, b))
    residual = valued(found[1], np.linalg.norm(A @ x - b))
    return x, (residual if found[1] > 1e-12 * (1.0 + np.linalg.norm(b)) else found[1])


def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), *positional: Any, **options: Any) -> Any:
    if not isinstance(A, np.ndarray | list | tuple):
        return with_constants(optimize.lsq_linear, (A, b, bounds, *positional), options, "pass A as an array")
    found = solved(optimize.lsq_linear, (A, b, bounds, *positional), options)
    A, b = np.asarray(A), np.asarray(b)
    low, high = _limits(bounds, found.x, not isinstance(bounds, optimize.Bounds))
    is_low, is_high = at_bounds(found.x, low, high)
    free = ~(is_low | is_high)
    base = np.where(is_low, low, np.where(is_high, high, 0.0))
    x = base.copy()
    x[free] = np.linalg.lstsq(A[:, free], b - A @ base, rcond=None)[0]
    x = valued(found.x, x)
    rest = A @ x - b
    return _described(found, x=x, fun=rest, cost=0.5 * np.dot(rest, rest))


def _one_vertex(rows: Any, n: int) -> bool:
    """Whether as many constraints as there are unknowns hold, and determine them."""
    return bool(len(rows) == n and np.linalg.matrix_rank(rows) == n)


def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None),
    *positional: Any, **options: Any,
) -> Any:  # fmt: skip
    """A linear program: its solution is the vertex where constraints hold, and moves with them."""
    given = (c, A_ub, b_ub, A_eq, b_eq, bounds, *positional)
    found = solved(optimize.linprog, given, options)
    instead = "pass constants, adbc.stop_gradient(p), or add a small quadratic term and use minimize"
    if found.x is None or options.get("integrality") is not None:
        return with_constants(optimize.linprog, given, options, instead)
    n = len(found.x)
    each = bounds if isinstance(bounds, list) or np.ndim(bounds) == 2 else [bounds] * n
    low, high = _limits(each, found.x, False)
    is_low, is_high = at_bounds(found.x, low, high)
    eye = np.eye(n)
    rows, ends = [eye[is_low], eye[is_high & ~is_low]], [low[is_low], high[is_high & ~is_low]]
    slack, con = np.zeros(0), np.zeros(0)
    if A_eq is not None:
        rows.append(np.asarray(A_eq) * 1.0)
        ends.append(np.atleast_1d(b_eq) * 1.0)
    if A_ub is not None:
        whole, limit = np.asarray(A_ub) * 1.0, np.atleast_1d(b_ub) * 1.0
        tight, _ = held(found.slack, 0.0, np.inf)
        rows.append(whole[tight])
        ends.append(limit[tight])
    matrix, right = np.concatenate(rows), np.concatenate(ends)
    if not _one_vertex(stop_gradient(matrix), n):
        return with_constants(optimize.linprog, given, options, instead)
    x = valued(found.x, np.linalg.solve(matrix, right))
    if A_ub is not None:
        slack = valued(found.slack, limit - whole @ x)
    if A_eq is not None:
        con = valued(found.con, np.atleast_1d(b_eq) - np.asarray(A_eq) @ x)
    return _described(found, x=x, fun=float(np.dot(np.asarray(c), x)), slack=slack, con=con)


def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    found = solved(optimize.isotonic_regression, (y,), {"weights": weights, "increasing": increasing})
    y = np.asarray(y)
    w = np.ones_like(y) if weights is None else np.asarray(weights)
    ends = found.blocks if increasing else len(y) - found.blocks[::-1]
    means = np.add.reduceat(w * y, ends[:-1]) / np.add.reduceat(w, ends[:-1])
    found_x = valued(found.x, np.repeat(means, np.diff(ends)))
    return optimize.OptimizeResult(x=found_x, weights=found.weights, blocks=found.blocks)


_NAMED: dict[str, tuple[Any, ...]] = {
    "fmin": (2,), "fmin_powell": (2,), "fmin_bfgs": (3,), "fmin_cg": (3,), "fmin_ncg": (5,),
    "fmin_l_bfgs_b": (3, False, 5), "fmin_tnc": (3, False, 5), "fmin_cobyla": (3,), "fmin_slsqp": (10,),
    "differential_evolution": (2, True, 1), "dual_annealing": (2, True, 1), "shgo": (2, True, 1),
    "basinhopping": (99, True),
}  # fmt: skip
"""Minimisers by their names: the place of ``args``, whether they give a record, and the place of bounds."""
_OTHERS: Sequence[str] = ["bracket", "milp", "direct", "brute"]
_WRITE_IT = (
    "use scipy.optimize.minimize or least_squares without further results, or pass constants:"
    " adbc.stop_gradient(p)"
)

ROWS: list[Rule] = [
    ZeroRule(optimize.linear_sum_assignment),
    ZeroRule(at_bounds),
    ZeroRule(held),
    ZeroRule(_one_vertex),
    ZeroRule(_independent),
    ZeroRule(at_limit),
    Primitive(with_constants, frule=_constant_frule, rrule=_constant_rrule),
    *bodies(
        optimize,
        {
            **{
                n: _bracketing(getattr(optimize, n))
                for n in ("brentq", "brenth", "bisect", "ridder", "toms748")
            },
            "newton": newton,
            "root_scalar": root_scalar,
            "fixed_point": fixed_point,
            "fsolve": fsolve,
            "root": root,
            "minimize": minimize,
            "minimize_scalar": minimize_scalar,
            "fminbound": fminbound,
            "least_squares": least_squares,
            "leastsq": leastsq,
            "curve_fit": curve_fit,
            "nnls": nnls,
            "lsq_linear": lsq_linear,
            "linprog": linprog,
            "isotonic_regression": isotonic_regression,
        },
    ),
    *(_nonlinear(name) for name in _NONLINEAR if hasattr(optimize, name)),
    *(_bracketed_minimum(name) for name in ("golden", "brent")),
    *(_named_minimum(name, *how) for name, how in _NAMED.items() if hasattr(optimize, name)),
    *(_refusing(name, _WRITE_IT) for name in _OTHERS if hasattr(optimize, name)),
]
