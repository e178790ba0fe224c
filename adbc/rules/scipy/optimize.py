"""``scipy.optimize``: roots and minima.

A root finder is differentiated as what it is: a function whose result solves an equation
(`adbc.rules.implicit`).  So is a minimiser: its result is a root of the gradient, which it is given
(``jac=``) or which is an inner derivative of the objective, for those variables that are not at a bound.
What a minimiser in Python does, comparing values, has the derivative zero nearly everywhere, which is not
that of the minimum: so what is not known as an equation is refused wherever something is active.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from adbc.errors import UnsupportedError
from adbc.rules.activity import carries
from adbc.rules.implicit import (
    ENGINE,
    at_root,
    fixed_jacobian,
    found_by,
    is_root,
    jacobian,
    moving,
    root_of,
    settle,
    settled,
    valued,
)
from adbc.rules.scipy.base import bodies
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import fresh_shadow, fresh_tangent

__all__ = [
    "ROWS", "WRITE_IT", "as_tuple", "at_bounds", "described", "gradient_of", "held", "limits_of",
    "stationary", "with_constants",
]  # fmt: skip


def as_tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


# -- roots of one variable ---------------------------------------------------------------------------------


def _results(x: Any, found: Any) -> Any:
    """What SciPy says of a root, with the root `x` that has a derivative."""
    flag = 0 if found.converged else found.flag
    return optimize.RootResults(x, found.iterations, found.function_calls, flag, getattr(found, "method", ""))


def _bracketing(solver: Any) -> Callable[..., Any]:
    def body(f: Any, a: Any, b: Any, args: Any = (), **options: Any) -> Any:
        given = as_tuple(args)
        found = found_by(solver, (f, a, b, given), options)
        if options.get("full_output"):
            x = root_of(found[0], f, given)
            return settled(found, f, (x, _results(x, found[1])))
        return settled(found, f, root_of(found, f, given))

    return body


def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: float = 1.48e-8, maxiter: int = 50,
    fprime2: Any = None, x1: Any = None, rtol: float = 0.0, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    given = as_tuple(args)
    options = {
        "tol": tol,
        "maxiter": maxiter,
        "x1": x1,
        "rtol": rtol,
        "full_output": full_output,
        "disp": disp,
    }
    found = found_by(optimize.newton, (func, x0, fprime, given), {**options, "fprime2": fprime2})
    if not full_output:
        return settled(found, (func, fprime, fprime2), root_of(found, func, given))
    x = settled(found, (func, fprime, fprime2), root_of(found[0], func, given))
    if np.ndim(x):
        return (x, *found[1:])
    return x, _results(x, found[1])


def _with_slope(f: Any) -> Callable[..., Any]:
    """The first of what `f` gives: the value, without derivatives."""
    return lambda x, *args: f(x, *args)[0]


def root_scalar(f: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = as_tuple(args)
    found = found_by(optimize.root_scalar, (f, given, *positional), options)
    residual = _with_slope(f) if isinstance(options.get("fprime"), bool) and options["fprime"] else f
    return settled(found, (f, positional, options), _results(root_of(found.root, residual, given), found))


def fixed_point(func: Any, x0: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = as_tuple(args)
    found = found_by(optimize.fixed_point, (func, x0, given, *positional), options)
    return settled(found, func, root_of(found, lambda x, *args: func(x, *args) - x, given))


# -- roots of several variables ----------------------------------------------------------------------------


def fsolve(func: Any, x0: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = as_tuple(args)
    found = found_by(optimize.fsolve, (func, x0, given, *positional), options)
    called = func, positional, options  # a Jacobian among them
    if isinstance(found, tuple):
        x, known, *rest = found
        return settled(found, called, (root_of(x, func, given), told(known, _COUNTS), *rest))
    return settled(found, called, root_of(found, func, given))


def _nonlinear(name: str) -> Overlay:
    """The row of a solver of F(x) = 0 by its name, which keeps an approximate Jacobian."""
    function = getattr(optimize, name)

    def body(F: Any, xin: Any, *positional: Any, **options: Any) -> Any:
        start = np.array(stop_gradient(xin), dtype=float)
        if options.get("full_output"):
            found = found_by(function, (F, start, *positional), options)
            return settled(found, (F, positional, options), (root_of(found[0], F, ()), found[1]))
        found = found_by(function, (F, start, *positional), options)
        return settled(found, (F, positional, options), root_of(found, F, ()))

    return Overlay(function, body)


_NONLINEAR = (
    "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "newton_krylov",
)  # fmt: skip

_SAID = ("success", "status", "message", "nfev", "njev", "nhev", "nit", "method", "optimality", "active_mask")


_COUNTS = ("nfev", "njev", "fvec")
"""What of the results of ``fsolve`` has no derivative: the residual is zero at all roots."""


class Told(optimize.OptimizeResult):  # type: ignore[misc]  # SciPy says nothing of types
    """Results of a solver by name, some of which are left out as their derivatives are not known: these are
    there, but not to be had."""

    def __missing__(self, name: Any) -> Any:
        if name in self.__dict__["left_out"]:
            _refuse_result(repr(name))
        raise KeyError(name)

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __contains__(self, name: Any) -> bool:
        return dict.__contains__(self, name) or name in self.__dict__["left_out"]

    def get(self, name: Any, default: Any = None) -> Any:
        if name not in self:
            return default
        return self[name]

    def __iter__(self) -> Any:
        return iter(self.keys())

    def __len__(self) -> int:
        return dict.__len__(self) + len(self.__dict__["left_out"])

    def keys(self) -> Any:
        return self._whole(dict.keys)

    def values(self) -> Any:
        return self._whole(dict.values)

    def items(self) -> Any:
        return self._whole(dict.items)

    def __repr__(self) -> str:
        return dict.__repr__(self)

    def _whole(self, of: Any) -> Any:
        if self.__dict__["left_out"]:
            _refuse_result("the whole")
        return of(self)


def _refuse_result(which: str) -> None:
    raise UnsupportedError(
        f"{which} of the results of a solver of scipy.optimize that a derivative goes through",
        "what is there beside the solution moves with it, and adbc has no rule for that",
        "compute it at the solution by a function of your own, or pass the solver constants:"
        " adbc.stop_gradient(p)",
    )


def left_out(found: Any, names: Any) -> frozenset[str]:
    """The names of the results `found` that are not among `names`."""
    return frozenset(found) - frozenset(names)


def told(found: Any, names: Any, known: Any = ()) -> Any:
    """The results among `found` that have one of these `names`; the rest is refused when it is asked for,
    but for what is `known` otherwise."""
    result = Told()
    result.__dict__["left_out"] = left_out(found, (*names, *known))
    for name in names:
        if name in found:
            result[name] = found[name]
    return result


def described(found: Any, **known: Any) -> Any:
    """What SciPy says of a solution, of which what is `known` has derivatives."""
    result = told(found, _SAID, tuple(known))
    for name in known:
        result[name] = known[name]
    return result


def root(fun: Any, x0: Any, args: Any = (), method: str = "hybr", jac: Any = None, **options: Any) -> Any:
    given = as_tuple(args)
    found = found_by(optimize.root, (fun, x0, given, method, jac), options)
    residual = _with_slope(fun) if isinstance(jac, bool) and jac else fun
    x = root_of(found.x, residual, given)
    return settled(found, (fun, jac, options), described(found, x=x, fun=found.fun))


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


def limits_of(bounds: Any, x: Any, is_pair: bool) -> tuple[Any, Any]:
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


def stationary(
    x: Any, bounds: Any, gradient: Callable[..., Any], args: tuple[Any, ...], is_pair: bool = False
) -> Any:
    """The minimum `x`: variables at a bound go with it, the others are a root of `gradient`."""
    low, high = limits_of(bounds, x, is_pair)
    is_low, is_high = at_bounds(x, low, high)
    free = ~(is_low | is_high)
    base = np.where(is_low, low, np.where(is_high, high, x))

    def at(z: Any, *args: Any) -> Any:
        y = base.copy()
        y[free] = z
        return np.atleast_1d(gradient(y, *args))[free]

    result = base.copy()
    result[free] = minimum_of(x[free], at, args)
    return valued(x, result)


def minimum_of(x: Any, gradient: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The constant `x`, with the derivative of the root of the gradient that it is; refused where it is none:
    where the search ended early, or at an end of the range that is not hit exactly."""
    x = moving(x, gradient, args, {})
    slope = jacobian(gradient, x, args)
    r = gradient(x, *args)
    if not is_root(x, stop_gradient(r), slope):
        raise UnsupportedError(
            "a minimum of scipy.optimize at which the derivative of the objective is not zero",
            "the search did not reach it, or stopped near a bound, so it does not move as a minimum does",
            "search longer, use a method that ends at bounds exactly (method='L-BFGS-B', 'SLSQP'), or pass"
            " constants: adbc.stop_gradient(p)",
        )
    return at_root(x, r, slope)


def gradient_of(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the objective `fun`, an inner derivative."""

    def objective(x: Any, *args: Any) -> Any:
        return np.sum(fun(x, *args))  # it may be an array with one element

    def gradient(x: Any, *args: Any) -> Any:
        if x.size > FEW:
            return ENGINE.grad(objective)(x, *args)
        along = []
        for k in range(x.size):
            direction = np.zeros(x.shape)
            direction.flat[k] = 1.0
            along.append(ENGINE.jvp(objective, (x, *args), (direction,) + (None,) * len(args))[1])
        return np.stack(along).reshape(x.shape)

    return gradient


FEW = 8
"""With no more unknowns than this a gradient is taken by directions: what is differentiated again then is
derived in half of the time."""


def _constraint_values(constraint: Any, x: Any) -> tuple[Any, Any, Any]:
    """The values of a constraint at `x`, and their lower and upper limits."""
    if isinstance(constraint, dict):
        values = np.atleast_1d(constraint["fun"](x, *as_tuple(constraint.get("args", ()))))
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
    low, high = limits_of(bounds, x, False)
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
    normals = fixed_jacobian(equalities, x[free])
    if not _independent(normals):
        raise UnsupportedError(
            "scipy.optimize.minimize with constraints that depend on each other where they hold",
            "the minimum does not move smoothly with what they are made of",
            "leave out those that follow from others, or pass constants: adbc.stop_gradient(p)",
        )
    multipliers = np.linalg.lstsq(normals.T, slope, rcond=None)[0]
    start = np.concatenate((x[free], multipliers))
    moved = minimum_of(start, lambda z, *args: ENGINE.grad(lagrangian)(z, *args), args)
    return valued(x, placed(moved[:count]))


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    given = as_tuple(args)
    x0 = stop_gradient(x0)  # the minimum does not depend on where the search began
    positional = (fun, x0, given, method, jac, hess, hessp, bounds, constraints, tol, callback, options)
    found = found_by(optimize.minimize, positional, {})
    if callable(method) and "x" not in found:  # a method of the program's may give what it likes
        return settled(found, (fun, jac, callback, constraints), described(found))
    if constraints:
        if not found.success:
            settle(found, (fun, jac, callback, constraints))
            return with_constants(optimize.minimize, positional, {}, _NOT_FOUND)
        each = constraints if isinstance(constraints, list | tuple) else [constraints]
        value = _with_slope(fun) if jac is True else fun
        x = _constrained(found.x, value, given, bounds, each)
        return settled(found, (fun, jac, callback, constraints), described(found, x=x, fun=value(x, *given)))
    if jac is True:
        x = stationary(found.x, bounds, lambda x, *args: fun(x, *args)[1], given)
        return settled(found, (fun, jac, callback, constraints), described(found, x=x, fun=fun(x, *given)[0]))
    x = stationary(found.x, bounds, jac if callable(jac) else gradient_of(fun), given)
    return settled(found, (fun, jac, callback, constraints), described(found, x=x, fun=fun(x, *given)))


_REFUSED = ("full_output", "retall", "integrality", "constraints")
"""Options with which a minimiser is refused: more results, and what makes the minimum another one."""
_WITH_SLOPES = ("fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_l_bfgs_b", "fmin_tnc", "fmin_slsqp")
"""Minimisers that may be given the gradient, as ``fprime``."""


def _named_minimum(name: str, is_result: bool = False) -> Overlay:
    """The row of a minimiser by its name, which gives a record if it is one of those."""
    function = getattr(optimize, name)
    parameters = tuple(inspect.signature(function).parameters)

    def body(func: Any, *positional: Any, **options: Any) -> Any:
        named = {**dict(zip(parameters[1:], positional, strict=False)), **options}
        inner = named.get("minimizer_kwargs") or {}
        given = as_tuple(named.get("args", inner.get("args", ())))
        bounds = named.get("bounds", inner.get("bounds"))
        if any(named.get(n) for n in _REFUSED) or any(inner.get(n) for n in ("constraints", "jac")):
            return with_constants(function, (func, *positional), options, WRITE_IT)
        found = found_by(function, (func, *positional), options)
        called = func, positional, options
        slopes = named.get("fprime") if name in _WITH_SLOPES else None
        value = func
        if name in ("fmin_l_bfgs_b", "fmin_tnc") and slopes is None and not named.get("approx_grad"):
            value = _with_slope(func)
            slopes = lambda x, *args: func(x, *args)[1]  # noqa: E731  # a body is one expression
        gradient = gradient_of(value) if slopes is None else slopes
        if bounds is not None and not isinstance(bounds, optimize.Bounds) and not len(bounds):
            bounds = None
        if is_result:
            x = stationary(found.x, bounds, gradient, given)
            return settled(found, called, described(found, x=x, fun=value(x, *given)))
        if isinstance(found, tuple):
            x = stationary(found[0], bounds, gradient, given)
            rest = (value(x, *given), found[2]) if name == "fmin_l_bfgs_b" else found[1:]
            return settled(found, called, (x, *rest))
        x = np.atleast_1d(found)
        constraints = _constraints_of(named, given)
        if constraints:
            return settled(found, called, _constrained(x, value, given, bounds, constraints))
        return settled(found, called, stationary(x, bounds, gradient, given))

    return Overlay(function, body)


def _constraints_of(named: Any, args: tuple[Any, ...]) -> list[Any]:
    """The constraints of ``fmin_slsqp`` and ``fmin_cobyla``, as `minimize` takes them."""
    consargs = named.get("consargs")
    more = args if consargs is None else as_tuple(consargs)
    found = []
    for name, kind in _CONSTRAINTS:
        functions = named.get(name)
        if functions is not None:
            each = [functions] if callable(functions) else functions
            found += [{"type": kind, "fun": f, "args": more} for f in each]
    return found


_CONSTRAINTS = (
    ("eqcons", "eq"),
    ("f_eqcons", "eq"),
    ("ieqcons", "ineq"),
    ("f_ieqcons", "ineq"),
    ("cons", "ineq"),
)
"""The names under which constraints are given, and what they are."""


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
    return minimum_of(x, _slope(fun), args)


def at_limit(x: Any, limit: Any) -> bool:
    """Whether the minimum `x`, which is known to some 1e-5 where it lies at a limit, is there."""
    return bool(abs(x - limit) <= 2e-5 * max(1.0, abs(x)))


def minimize_scalar(
    fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), method: Any = None, tol: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    given = as_tuple(args)
    found = found_by(optimize.minimize_scalar, (fun, bracket, bounds, given, method, tol, options), {})
    if bounds is None:
        x = _minimum_of_one(found.x, fun, given)
    else:
        x = _minimum_of_one(found.x, fun, given, bounds[0], bounds[1])
    return settled(found, fun, described(found, x=x, fun=fun(x, *given)))


def _bracketed_minimum(name: str) -> Overlay:
    function = getattr(optimize, name)

    def body(func: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
        given = as_tuple(args)
        if options.get("full_output"):
            return with_constants(function, (func, given, *positional), options, _SOLVE)
        found = found_by(function, (func, given, *positional), options)
        return settled(found, func, _minimum_of_one(found, func, given))

    return Overlay(function, body)


def fminbound(func: Any, x1: Any, x2: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given = as_tuple(args)
    if options.get("full_output"):
        return with_constants(optimize.fminbound, (func, x1, x2, given, *positional), options, _SOLVE)
    found = found_by(optimize.fminbound, (func, x1, x2, given, *positional), options)
    return settled(found, func, _minimum_of_one(found, func, given, x1, x2))


_NAMED = {
    **dict.fromkeys(
        (
            "fmin", "fmin_powell", "fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_l_bfgs_b", "fmin_tnc",
            "fmin_cobyla", "fmin_slsqp",
        ),
        False,
    ),
    **dict.fromkeys(("differential_evolution", "dual_annealing", "shgo", "basinhopping"), True),
}  # fmt: skip
"""Minimisers by their names, and whether they give a record."""
_OTHERS: Sequence[str] = ["bracket", "milp", "direct", "brute"]
WRITE_IT = (
    "use scipy.optimize.minimize or least_squares without further results, or pass constants:"
    " adbc.stop_gradient(p)"
)

ROWS: list[Rule] = [
    ZeroRule(optimize.linear_sum_assignment),
    ZeroRule(at_bounds),
    ZeroRule(held),
    ZeroRule(_independent),
    ZeroRule(at_limit),
    ZeroRule(left_out),
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
        },
    ),
    *(_nonlinear(name) for name in _NONLINEAR if hasattr(optimize, name)),
    *(_bracketed_minimum(name) for name in ("golden", "brent")),
    *(_named_minimum(name, is_result) for name, is_result in _NAMED.items() if hasattr(optimize, name)),
    *(_refusing(name, WRITE_IT) for name in _OTHERS if hasattr(optimize, name)),
]
