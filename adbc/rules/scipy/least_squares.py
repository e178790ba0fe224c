"""``scipy.optimize``: least squares, and what linear equations decide once it is known which constraints
hold: linear programs, least squares in bounds, isotonic regression.

A nonlinear fit is a minimum like others (`adbc.rules.scipy.optimize`).  The others have a form that NumPy
differentiates: the equations that hold at the solution, which move with the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, optimize

from adbc.rules.implicit import ENGINE, found_by, settled, solved, valued
from adbc.rules.scipy.base import bodies
from adbc.rules.scipy.optimize import (
    WRITE_IT,
    as_tuple,
    at_bounds,
    described,
    gradient_of,
    held,
    limits_of,
    stationary,
    with_constants,
)
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

_NAMED_LOSS = "name one of SciPy's losses, loss='huber', or pass constants: adbc.stop_gradient(p)"

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
    given, named = as_tuple(options.get("args", ())), options.get("kwargs") or {}
    loss, scale = options.get("loss", "linear"), options.get("f_scale", 1.0)
    if loss not in LOSSES:
        return with_constants(optimize.least_squares, (fun, x0, jac, bounds), options, _NAMED_LOSS)
    found = found_by(optimize.least_squares, (fun, x0, jac, bounds), options)
    residuals = _residuals(fun, named)
    cost = _cost(residuals, LOSSES[loss], scale)

    def gradient(x: Any, *args: Any) -> Any:
        r = residuals(x, *args)
        return np.reshape(np.asarray(jac(x, *args, **named)), (r.size, x.size)).T @ r

    slopes = gradient if callable(jac) and loss == "linear" else gradient_of(cost)
    x = stationary(found.x, bounds, slopes, given, is_pair=True)
    return settled(found, (fun, jac), described(found, x=x, fun=residuals(x, *given), cost=cost(x, *given)))


def leastsq(func: Any, x0: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    given, x0 = as_tuple(args), stop_gradient(x0)
    if options.get("full_output") or len(positional) > 1:
        return with_constants(optimize.leastsq, (func, x0, given, *positional), options, WRITE_IT)
    found = found_by(optimize.leastsq, (func, x0, given, *positional), options)
    cost = _cost(_residuals(func, {}), LOSSES["linear"], 1.0)
    x = stationary(np.atleast_1d(found[0]), None, gradient_of(cost), given)
    return settled(found, (func, positional, options), (x, found[1]))


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
        return with_constants(optimize.curve_fit, positional, keywords, WRITE_IT)
    fit = found_by(optimize.curve_fit, positional, keywords)
    found, covariance = fit
    data = np.asarray(ydata, dtype=float).ravel()

    def residuals(p: Any) -> Any:
        r = np.asarray(f(xdata, *[p[i] for i in range(len(found))])).ravel() - data
        if sigma is None:
            return r
        if np.ndim(sigma) < 2:
            return r / np.asarray(sigma)
        return linalg.solve_triangular(linalg.cholesky(sigma, lower=True), r, lower=True)

    cost = _cost(residuals, LOSSES["linear"], 1.0)
    p = stationary(found, bounds, gradient_of(cost), (), is_pair=True)
    if not np.all(np.isfinite(covariance)):
        return settled(fit, (f, jac, options), (p, covariance))
    columns = []
    for k in range(len(found)):
        direction = np.zeros(len(found))
        direction[k] = 1.0
        columns.append(ENGINE.jvp(residuals, (p,), (direction,))[1])
    slopes = np.stack(columns, axis=1)
    spread = np.linalg.inv(slopes.T @ slopes)
    if not absolute_sigma:
        spread = spread * (2.0 * cost(p) / (data.size - p.size))
    return settled(fit, (f, jac, options), (p, valued(covariance, spread)))


def _on(support: Any, A: Any, b: Any) -> Any:
    """The solution of a least squares problem whose variables outside of `support` are zero."""
    x = np.zeros(np.shape(A)[1])
    x[support] = np.linalg.lstsq(A[:, support], b, rcond=None)[0]
    return x


def nnls(A: Any, b: Any, *positional: Any, **options: Any) -> Any:
    found = solved(optimize.nnls, (A, b, *positional), options)
    A, b = np.real(np.asarray(A)), np.real(np.ravel(b))  # as SciPy makes real numbers of complex ones
    x = valued(found[0], _on(found[0] > 0.0, A, b))
    residual = valued(found[1], np.linalg.norm(A @ x - b))
    return x, (residual if found[1] > 1e-12 * (1.0 + np.linalg.norm(b)) else found[1])


def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), *positional: Any, **options: Any) -> Any:
    if not isinstance(A, np.ndarray | list | tuple):
        return with_constants(optimize.lsq_linear, (A, b, bounds, *positional), options, "pass A as an array")
    found = solved(optimize.lsq_linear, (A, b, bounds, *positional), options)
    A, b = np.asarray(A), np.asarray(b)
    low, high = limits_of(bounds, found.x, not isinstance(bounds, optimize.Bounds))
    is_low, is_high = at_bounds(found.x, low, high)
    free = ~(is_low | is_high)
    base = np.where(is_low, low, np.where(is_high, high, 0.0))
    x = base.astype(np.result_type(found.x, base))
    x[free] = np.linalg.lstsq(A[:, free], b - A @ base, rcond=None)[0]
    x = valued(found.x, x)
    rest = A @ x - b
    return described(found, x=x, fun=rest, cost=0.5 * np.dot(rest, rest))


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
    low, high = limits_of(each, found.x, False)
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
    return described(found, x=x, fun=float(np.dot(np.asarray(c), x)), slack=slack, con=con)


def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    found = solved(optimize.isotonic_regression, (y,), {"weights": weights, "increasing": increasing})
    y = np.asarray(y)
    w = np.ones_like(y) if weights is None else np.asarray(weights)
    ends = found.blocks if increasing else len(y) - found.blocks[::-1]
    means = np.add.reduceat(w * y, ends[:-1]) / np.add.reduceat(w, ends[:-1])
    found_x = valued(found.x, np.repeat(means, np.diff(ends)))
    return optimize.OptimizeResult(x=found_x, weights=found.weights, blocks=found.blocks)


ROWS: list[Rule] = [
    ZeroRule(_one_vertex),
    *bodies(
        optimize,
        {
            "least_squares": least_squares,
            "leastsq": leastsq,
            "curve_fit": curve_fit,
            "nnls": nnls,
            "lsq_linear": lsq_linear,
            "linprog": linprog,
            "isotonic_regression": isotonic_regression,
        },
    ),
]
