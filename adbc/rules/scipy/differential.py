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
from adbc.rules.implicit import directional, found_by, once, settled, valued
from adbc.rules.scipy.base import bodies
from adbc.rules.scipy.explicit_steps import DOP853, combined, explicit_solution, plain_method
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import PureRule, Rule, ZeroRule

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


class _TooMany(Exception):
    """A solution takes more steps than another might."""


def _steps(rate: Function, y: Any, times: Any, solver: str, tolerances: Any, most: float = np.inf) -> Any:
    """For each of `times` but the first the ends of the steps of a solver that lead there, and how many
    there are in all; None if it would have to evaluate the right-hand side more often."""
    count = 0

    def counted(t: float, y: Any) -> Any:
        nonlocal count
        count += 1
        if count > most:
            raise _TooMany
        return np.array(rate(t, y))  # SciPy keeps what it is given, which may be used again

    rtol, atol = tolerances
    try:
        found = integrate.solve_ivp(counted, (times[0], times[-1]), y, solver, rtol=rtol, atol=atol)
    except _TooMany:
        return None
    if not found.success:
        if solver == "DOP853":
            return None
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
        result.append((*between, float(stop)))
    return tuple(result)


_FEW = 1000
"""How often the right-hand side may be evaluated before it is asked whether the problem is stiff."""


def grid(
    rate: Function, y: Any, times: Any, rtol: float, atol: Any
) -> tuple[bool, tuple[tuple[float, ...], ...]]:
    """For each of `times` but the first the ends of the steps that lead there, and whether those are steps of
    an explicit method: it takes fewer, where the problem is not stiff, and no slopes."""
    tolerances = rtol, atol
    found = _steps(rate, y, times, "DOP853", tolerances, _FEW)
    if found is not None:
        return True, found
    implicit = _steps(rate, y, times, "Radau", tolerances)
    most = 3 * (1 + np.size(y)) * sum(map(len, implicit))
    found = _steps(rate, y, times, "DOP853", tolerances, most)
    return (False, implicit) if found is None else (True, found)


# -- explicit steps ----------------------------------------------------------------------------------------


def _explicit(rate: Function, t: float, y: Any, ends: tuple[float, ...]) -> Any:
    """The solution behind steps that end at `ends`, from `y` at `t` on."""
    method = DOP853
    for end in ends:
        h = end - t
        rates: list[Any] = [np.array(rate(t, y))]
        for s, weights in enumerate(method.rows, start=1):
            z = y + combined(h, weights, *rates)
            rates.append(np.array(rate(t + method.places[s] * h, z)))
        y = y + combined(h, method.ends, *rates)
        t = end
    return y


# -- implicit steps ----------------------------------------------------------------------------------------


def rates_at(rate: Function, places: tuple[float, ...], z: Any) -> Any:
    """The right-hand side at stages `z`, one behind the other."""
    found = []
    for k, t in enumerate(places):
        found.append(np.array(rate(t, z[k])))  # it may be an array that is used again
    return np.stack(found)


def slopes(rate: Function, places: tuple[float, ...], z: Any) -> Any:
    """The derivative of the right-hand side by the solution, at each of some stages: with each number of the
    solution that of all stages is moved at once."""
    unit = np.eye(z.shape[1])
    columns = [directional(rates_at, (rate, places, z), 2, np.tile(one, (len(places), 1))) for one in unit]
    return np.stack(columns, axis=2)


def stages(rate: Function, y: Any, t: float, ends: tuple[tuple[float, ...], ...]) -> tuple[Any, Any, Any]:
    """The stages of steps of Radau's method from `y` at `t` on: their times, the solution there, and the size
    of each step."""
    places: list[float] = []
    parts, sizes, slope = [], [], None
    for end in itertools.chain.from_iterable(ends):
        h = end - t
        at = (t + _C[0] * h, t + _C[1] * h, end)
        z = np.stack([y + c * h * rate(t, y) for c in _C])
        if slope is None:
            slope = slopes(rate, at, z)
        matrix = _matrix(slope, h)
        for turn in range(60):
            change = np.linalg.solve(matrix, (z - y - h * (_A @ rates_at(rate, at, z))).ravel())
            z = z - change.reshape(z.shape)
            if np.all(np.abs(change.reshape(z.shape)) <= 1e-12 * (np.abs(z) + np.abs(y) + 1e-12)):
                break
            if turn % 8 == 3:
                slope = slopes(rate, at, z)
                matrix = _matrix(slope, h)
        parts.append(z)
        places += at
        sizes.append(h)
        t, y = end, z[2]
    return tuple(places), np.concatenate(parts), np.array(sizes)


def _matrix(parts: Any, h: float) -> Any:
    """The derivative of the equations of the stages of a step by the stages."""
    n = parts.shape[1]
    whole = np.zeros((3, n, 3, n))
    for i in range(3):
        for j in range(3):
            whole[i, :, j, :] = (i == j) * np.eye(n) - h * _A[i, j] * parts[j]
    return whole.reshape(3 * n, 3 * n)


def ends_of(y: Any, found: Any, z: Any, sizes: Any, parts: Any) -> Any:
    """The solution behind each step: the last of the stages `z`, which solve their equations for what is
    `found` of the right-hand side there, and has the slopes `parts`."""
    return z[2::3].copy()


def _moved(d: Any, place: int, z: Any, sizes: Any, parts: Any) -> Any:
    """How the ends of steps move with their beginning (place 0) or the right-hand side (place 1)."""
    n = z.shape[1]
    dy = d if place == 0 else np.zeros(n)
    result = []
    for k, h in enumerate(sizes):
        moved = np.tile(dy, (3, 1))
        if place == 1:
            moved = moved + h * (_A @ d[3 * k : 3 * k + 3])
        dy = np.linalg.solve(_matrix(parts[3 * k : 3 * k + 3], h), moved.ravel())[2 * n :]
        result.append(dy)
    return np.stack(result)


def _moved_back(by: Any, place: int, z: Any, sizes: Any, parts: Any) -> Any:
    """The adjoint of `_moved`."""
    n = z.shape[1]
    back, result = np.zeros(n), np.zeros(z.shape)
    for k in range(len(sizes) - 1, -1, -1):
        last = np.concatenate((np.zeros(2 * n), back + by[k]))
        found = np.linalg.solve(_matrix(parts[3 * k : 3 * k + 3], sizes[k]).T, last).reshape(3, n)
        result[3 * k : 3 * k + 3] = sizes[k] * (_A.T @ found)
        back = np.sum(found, axis=0)
    return back if place == 0 else result


def rates_then(rate: Function, times: Any, y: Any) -> Any:
    """The right-hand side at some times, as a constant."""
    return rates_at(rate, tuple(map(float, times)), y)


def trajectory(rate: Function, y: Any, times: Any, fixed: Any, rtol: float, atol: Any) -> Any:
    """The solution at `times` (those that are `fixed`, as constants), one row for each."""
    start = float(fixed[0])
    y = y - (times[0] - start) * rates_then(rate, fixed[:1], y[None])[0]
    rows = [y]
    is_explicit, ends = grid(rate, y, fixed, rtol, atol)
    if is_explicit:
        t = start
        for some in ends:
            y = _explicit(rate, t, y, some)
            t = some[-1]
            rows.append(y)
    else:
        places, z, sizes = stages(rate, y, start, ends)
        steps = ends_of(y, rates_at(rate, places, z), z, sizes, slopes(rate, places, z))
        at = -1
        for some in ends:
            at += len(some)
            rows.append(steps[at])
    found = np.stack(rows)
    return found + np.reshape(times - fixed, (-1, 1)) * rates_then(rate, fixed, found)


def odeint(
    func: Any, y0: Any, t: Any, args: Any = (), Dfun: Any = None, col_deriv: Any = 0, full_output: Any = 0,
    ml: Any = None, mu: Any = None, rtol: Any = None, atol: Any = None, tcrit: Any = None, h0: float = 0.0,
    hmax: float = 0.0, hmin: float = 0.0, ixpr: Any = 0, mxstep: Any = 0, mxhnil: Any = 0, mxordn: int = 12,
    mxords: int = 5, printmessg: Any = 0, tfirst: bool = False,
) -> Any:  # fmt: skip
    given = args if isinstance(args, tuple) else (args,)
    found = found_by(
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
    y = once(y, integrate.odeint)
    if full_output:
        return settled(found, (func, Dfun), (valued(found[0], y), found[1]))
    return settled(found, (func, Dfun), valued(found, y))


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
    is_asked_more = dense_output or events is not None or vectorized or is_complex
    if not is_implicit and not is_asked_more:
        known = plain_method(method, t_span, y0, t_eval, args, options)
        if known is not None:
            rtol, atol = options.get("rtol", 1e-3), options.get("atol", 1e-6)
            return explicit_solution(fun, t_span, y0, t_eval, args, known, rtol, atol)
    if not is_implicit or is_asked_more:
        return _descended(fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options)
    found = found_by(
        integrate.solve_ivp, (fun, t_span, y0, method, t_eval, False, None, False, args), options
    )
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
    y = once(y, integrate.solve_ivp)
    result = type(found)()
    for name in ("t_events", "y_events", "sol", "nfev", "njev", "nlu", "status", "message", "success"):
        result[name] = found[name]
    result["t"] = times
    result["y"] = valued(found.y, np.transpose(y))
    return settled(found, (fun, options), result)


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
    ZeroRule(slopes),
    ZeroRule(rates_then),
    PureRule(
        ends_of,
        jvp=(
            lambda d, out, y, r, *given: _moved(d, 0, *given),
            lambda d, out, y, r, *given: _moved(d, 1, *given),
        ),
        vjp=(
            lambda by, out, y, r, *given: _moved_back(by, 0, *given),
            lambda by, out, y, r, *given: _moved_back(by, 1, *given),
        ),
    ),
    *bodies(integrate, {"odeint": odeint, "solve_ivp": solve_ivp}),
]
