"""``scipy.optimize``: roots, and minima where the gradient is given.

A root finder is differentiated as what it is: a function whose result solves an equation
(`adbc.rules.implicit`).  So is a minimiser that is given the gradient, ``jac=``: its result is a root of
that, for those variables that are not at a bound.  Without a gradient the equation is unknown: its derivative
would be the second one of the objective.  And what a minimiser in Python does, comparing values, has the
derivative zero nearly everywhere, which is not that of the minimum: so it is refused wherever something is
active.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from adbc.errors import UnsupportedError
from adbc.rules.activity import carries
from adbc.rules.implicit import root_of, solved, valued
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


_GIVE_JAC = "give the gradient as a function, jac=gradient, or pass constants: adbc.stop_gradient(p)"
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


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    given = _tuple(args)
    x0 = stop_gradient(x0)  # the minimum does not depend on where the search began
    positional = (fun, x0, given, method, jac, hess, hessp, bounds, constraints, tol, callback, options)
    has_gradient = callable(jac) or jac is True
    if not has_gradient or constraints:
        return with_constants(optimize.minimize, positional, {}, _GIVE_JAC)
    found = solved(optimize.minimize, positional, {})
    gradient = (lambda x, *args: fun(x, *args)[1]) if jac is True else jac
    x = _stationary(found.x, bounds, gradient, given)
    value = fun(x, *given)
    return _described(found, x=x, fun=value[0] if jac is True else value)


def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", bounds: Any = (-np.inf, np.inf), **options: Any
) -> Any:
    x0 = stop_gradient(x0)
    given, named = _tuple(options.get("args", ())), options.get("kwargs") or {}
    if not callable(jac) or options.get("loss", "linear") != "linear":
        return with_constants(optimize.least_squares, (fun, x0, jac, bounds), options, _GIVE_JAC)
    found = solved(optimize.least_squares, (fun, x0, jac, bounds), options)

    def gradient(x: Any, *args: Any) -> Any:
        residuals = np.atleast_1d(np.asarray(fun(x, *args, **named)))
        return np.reshape(np.asarray(jac(x, *args, **named)), (residuals.size, x.size)).T @ residuals

    x = _stationary(found.x, bounds, gradient, given, is_pair=True)
    residuals = np.atleast_1d(np.asarray(fun(x, *given, **named)))
    return _described(found, x=x, fun=residuals, cost=0.5 * (residuals @ residuals))


_MINIMISERS = ["minimize_scalar", "golden", "brent", "fminbound", "bracket"]
_OTHERS: Sequence[str] = [
    "fmin", "fmin_powell", "fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_l_bfgs_b", "fmin_tnc", "fmin_slsqp",
    "fmin_cobyla", "leastsq", "curve_fit", "lsq_linear", "nnls", "linprog", "milp", "differential_evolution",
    "basinhopping", "dual_annealing", "shgo", "direct", "brute", "isotonic_regression",
]  # fmt: skip
_WRITE_IT = (
    "use scipy.optimize.minimize or least_squares with jac= given as a function, or pass constants:"
    " adbc.stop_gradient(p)"
)

ROWS: list[Rule] = [
    ZeroRule(optimize.linear_sum_assignment),
    ZeroRule(at_bounds),
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
            "least_squares": least_squares,
        },
    ),
    *(_refusing(name, _SOLVE) for name in _MINIMISERS if hasattr(optimize, name)),
    *(_refusing(name, _WRITE_IT) for name in _OTHERS if hasattr(optimize, name)),
]
