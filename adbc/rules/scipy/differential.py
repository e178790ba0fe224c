"""Differential equations that SciPy solves in C or with implicit steps: ``odeint``, and ``solve_ivp`` by
LSODA, BDF and Radau.

The value is SciPy's.  Its derivative is that of another solution, by the method of Radau of order five, over
steps that this method chooses for the same tolerances and that are then fixed.  A step is an implicit
function (`adbc.rules.implicit`): its stages are solved for as constants, and carry the derivative of the
equations that they solve.  So the derivative is exact for that discrete solution, in both modes, by whatever
the right-hand side reads.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate

from adbc.errors import UnsupportedError
from adbc.rules.implicit import at_root, directional, solved, valued
from adbc.rules.scipy.base import bodies
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

_ROOT_6 = 6.0**0.5
_C = np.array([(4.0 - _ROOT_6) / 10.0, (4.0 + _ROOT_6) / 10.0, 1.0])
_A = np.array(
    [
        [(88.0 - 7.0 * _ROOT_6) / 360.0, (296.0 - 169.0 * _ROOT_6) / 1800.0, (-2.0 + 3.0 * _ROOT_6) / 225.0],
        [(296.0 + 169.0 * _ROOT_6) / 1800.0, (88.0 + 7.0 * _ROOT_6) / 360.0, (-2.0 - 3.0 * _ROOT_6) / 225.0],
        [(16.0 - _ROOT_6) / 36.0, (16.0 + _ROOT_6) / 36.0, 1.0 / 9.0],
    ]
)
Function = Callable[..., Any]


def _by_time(func: Function, args: tuple[Any, ...], tfirst: bool) -> Function:
    def rate(t: Any, y: Any) -> Any:
        return np.asarray(func(t, y, *args) if tfirst else func(y, t, *args))

    return rate


def grid(rate: Function, y: Any, times: Any, rtol: float, atol: Any) -> list[list[float]]:
    """For each of `times` but the first the ends of the steps that lead there."""
    options = {"method": "Radau", "rtol": rtol, "atol": atol}
    found = integrate.solve_ivp(rate, (times[0], times[-1]), y, **options)
    if not found.success:
        raise UnsupportedError(
            "a differential equation whose derivative is wanted",
            f"the method of Radau does not reach its end: {found.message}",
            "allow for larger steps (rtol, atol), or shorten the interval",
        )
    sign = 1.0 if times[-1] >= times[0] else -1.0
    inner = [float(t) for t in found.t]
    result = []
    for start, stop in itertools.pairwise(times):
        between = [t for t in inner if sign * start < sign * t < sign * stop]
        result.append([*between, float(stop)])
    return result


def rates(rate: Function, t: float, h: float, z: Any) -> Any:
    """The right-hand side at the three stages `z` of a step."""
    return np.stack([rate(t + _C[0] * h, z[0]), rate(t + _C[1] * h, z[1]), rate(t + h, z[2])])


def slopes(rate: Function, t: float, h: float, z: Any) -> Any:
    """The derivative of the right-hand side by the solution, at each of three stages: with each number of
    the solution that of all stages is moved at once."""
    n = z.shape[1]
    columns = [directional(rates, (rate, t, h, z), 3, np.tile(unit, (3, 1))) for unit in np.eye(n)]
    return np.stack(columns, axis=2)


def stages(rate: Function, t: float, h: float, y: Any, parts: Any) -> tuple[Any, Any, Any]:
    """The three stages of a step of Radau's method, the slopes there, and the derivative of their equations
    by the stages; parts: the slopes in the step before, or None."""
    n = y.size
    z = np.stack([y + c * h * rate(t, y) for c in _C])
    if parts is None:
        parts = slopes(rate, t, h, z)
    matrix = _matrix(parts, h, n)
    for turn in range(60):
        change = np.linalg.solve(matrix, (z - y - h * (_A @ rates(rate, t, h, z))).ravel()).reshape(3, n)
        z = z - change
        if np.all(np.abs(change) <= 1e-12 * (np.abs(z) + np.abs(y) + 1e-12)):
            break
        if turn % 8 == 7:
            matrix = _matrix(slopes(rate, t, h, z), h, n)
    parts = slopes(rate, t, h, z)
    return z, parts, _matrix(parts, h, n)


def _matrix(parts: Any, h: float, n: int) -> Any:
    whole = np.zeros((3, n, 3, n))
    for i in range(3):
        for j in range(3):
            whole[i, :, j, :] = (i == j) * np.eye(n) - h * _A[i, j] * parts[j]
    return whole.reshape(3 * n, 3 * n)


def step(rate: Function, t: float, h: float, y: Any, parts: Any) -> tuple[Any, Any]:
    """The solution at t + h from `y`, that at t, and the slopes there."""
    z, parts, matrix = stages(rate, t, h, y, parts)
    return at_root(z, z - y - h * (_A @ rates(rate, t, h, z)), matrix)[2], parts


def trajectory(rate: Function, y: Any, times: Any, fixed: Any, rtol: float, atol: Any) -> Any:
    """The solution at `times` (those that are `fixed`, as constants), one row for each."""
    start = float(fixed[0])
    y = y - (times[0] - start) * rate(start, y)
    rows = [y + (times[0] - start) * rate(start, y)]
    t, parts = start, None
    for k, ends in enumerate(grid(rate, y, fixed, rtol, atol)):
        for end in ends:
            y, parts = step(rate, t, end - t, y, parts)
            t = end
        rows.append(y + (times[k + 1] - t) * rate(t, y))
    return np.stack(rows)


def odeint(
    func: Any, y0: Any, t: Any, args: Any = (), Dfun: Any = None, col_deriv: Any = 0, full_output: Any = 0,
    ml: Any = None, mu: Any = None, rtol: Any = None, atol: Any = None, tcrit: Any = None, h0: float = 0.0,
    hmax: float = 0.0, hmin: float = 0.0, ixpr: Any = 0, mxstep: Any = 0, mxhnil: Any = 0, mxordn: int = 12,
    mxords: int = 5, printmessg: Any = 0, tfirst: bool = False,
) -> Any:  # fmt: skip
    given = args if isinstance(args, tuple) else (args,)
    found = solved(
        integrate.odeint,
        (
            func, y0, t, given, Dfun, col_deriv, full_output, ml, mu, rtol, atol, tcrit, h0, hmax, hmin, ixpr,
            mxstep, mxhnil, mxordn, mxords, printmessg, tfirst,
        ),
        {},
    )  # fmt: skip
    rate = _by_time(func, given, tfirst)
    fixed = np.array(stop_gradient(t), dtype=float)
    start = np.atleast_1d(np.asarray(y0, dtype=float))
    near = 1e-8 if rtol is None else min(float(np.min(rtol)), 1e-8)
    y = trajectory(rate, start, np.asarray(t, dtype=float), fixed, near, 1e-8 if atol is None else atol)
    if full_output:
        return valued(found[0], y), found[1]
    return valued(found, y)


_descended = types.FunctionType(
    integrate.solve_ivp.__code__,
    integrate.solve_ivp.__globals__,
    "solve_ivp",
    integrate.solve_ivp.__defaults__,
    integrate.solve_ivp.__closure__,
)
"""``solve_ivp``, as it is written in Python."""
_IMPLICIT = ("LSODA", "BDF", "Radau")


def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None, dense_output: bool = False,
    events: Any = None, vectorized: bool = False, args: Any = None, **options: Any,
) -> Any:  # fmt: skip
    is_implicit = method in _IMPLICIT if isinstance(method, str) else method.__name__ in _IMPLICIT
    is_complex = np.iscomplexobj(np.asarray(y0))
    if not is_implicit or dense_output or events is not None or vectorized or is_complex:
        return _descended(fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options)
    found = solved(integrate.solve_ivp, (fun, t_span, y0, method, t_eval, False, None, False, args), options)
    rate = _by_time(fun, () if args is None else tuple(args), True)
    first, last = t_span
    fixed = np.array(found.t, dtype=float)
    times = fixed.copy()
    if t_eval is not None:
        times = np.asarray(t_eval, dtype=float)
    else:
        times[-1] = last
        times[0] = first
    rtol = min(float(np.min(options.get("rtol", 1e-3))), 1e-8)
    atol = np.minimum(options.get("atol", 1e-6), 1e-8)
    y = _from_start(rate, np.asarray(y0, dtype=float), first, times, fixed, rtol, atol)
    result = type(found)()
    for name in ("t_events", "y_events", "sol", "nfev", "njev", "nlu", "status", "message", "success"):
        result[name] = found[name]
    result["t"] = times
    result["y"] = valued(found.y, np.transpose(y))
    return result


def _from_start(rate: Function, y: Any, first: Any, times: Any, fixed: Any, rtol: float, atol: Any) -> Any:
    """The solution at `times`, of which the first need not be where it starts."""
    start = float(stop_gradient(first))
    if start == float(fixed[0]):
        return trajectory(rate, y, times, fixed, rtol, atol)
    wider = np.concatenate((np.reshape(np.asarray(first), (1,)), times))
    return trajectory(rate, y, wider, np.concatenate((np.array([start]), fixed)), rtol, atol)[1:]


ROWS: list[Rule] = [
    ZeroRule(grid),
    ZeroRule(stages),
    *bodies(integrate, {"odeint": odeint, "solve_ivp": solve_ivp}),
]
