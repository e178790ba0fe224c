"""The steps of ``solve_ivp`` by RK45 and RK23, in a form that is quick to differentiate.

SciPy writes them with an object that keeps what a step leaves for the next: to follow that takes some thirty
derivatives of methods, generators and loops over the coefficients.  Here the same numbers are computed in the
same order, as a function of what is integrated, and each sum over the stages of a step is one function with a
formula.  The sizes of the steps are computed with the rest, so the derivative is that of SciPy's result,
however coarse the tolerances are.  Whether a version of SciPy computes these numbers is tried out once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from adbc.rules.table import PureRule, Rule, ZeroRule

__all__ = ["ROWS", "explicit_solution", "plain_method"]

_SAFETY, _LEAST, _MOST = 0.9, 0.2, 10
"""What a size of a step that follows from an error is multiplied by, and by how much steps may change."""
_MANY_STAGES = 16


# -- sums over stages --------------------------------------------------------------------------------------


def combined(h: Any, weights: Any, *rates: Any) -> Any:
    """What a step of size `h` adds by `rates`, those at its stages."""
    return np.dot(np.array(rates).T, weights) * h


def _by_rate(i: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return (
        lambda d, out, h, weights, *rates: d * (h * weights[i]),
        lambda by, out, h, weights, *rates: by * (h * weights[i]),
    )


def _combined_rule() -> Rule:
    pairs = [_by_rate(i) for i in range(_MANY_STAGES)]
    return PureRule(
        combined,
        jvp=(
            lambda d, out, h, weights, *rates: np.dot(np.array(rates).T, weights) * d,
            None,
            *[jvp for jvp, _ in pairs],
        ),
        vjp=(
            lambda by, out, h, weights, *rates: np.dot(np.dot(np.array(rates).T, weights), by),
            None,
            *[vjp for _, vjp in pairs],
        ),
    )


def _powers(x: Any, count: int) -> Any:
    return np.cumprod(np.tile(x, (count, 1)), axis=0)


def _slopes(x: Any, count: int) -> Any:
    """The derivatives of `_powers`."""
    ones = np.ones((1, np.size(x)))
    if count > 1:
        ones = np.concatenate((ones, _powers(x, count - 1)))
    return np.arange(1.0, count + 1.0)[:, None] * ones


def inside(t: Any, start: Any, h: Any, weights: Any, y: Any, *rates: Any) -> Any:
    """The solution at times `t` in a step of size `h` that begins with `y` at `start`, a column for each."""
    x = (t - start) / h
    return h * np.dot(np.dot(np.array(rates).T, weights), _powers(x, weights.shape[1])) + y[:, None]


def _by_place(t: Any, start: Any, h: Any, weights: Any, rates: Any) -> Any:
    """The derivative of `inside` by the times."""
    x = (t - start) / h
    return np.dot(np.dot(np.array(rates).T, weights), _slopes(x, weights.shape[1]))


def _by_size(t: Any, start: Any, h: Any, weights: Any, rates: Any) -> Any:
    """The derivative of `inside` by the size of the step."""
    x = (t - start) / h
    value = np.dot(np.dot(np.array(rates).T, weights), _powers(x, weights.shape[1]))
    return value - _by_place(t, start, h, weights, rates) * x


def _of_rate(i: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def weight(t: Any, start: Any, h: Any, weights: Any) -> Any:
        return h * np.dot(weights[i], _powers((t - start) / h, weights.shape[1]))

    return (
        lambda d, out, t, start, h, weights, y, *rates: d[:, None] * weight(t, start, h, weights),
        lambda by, out, t, start, h, weights, y, *rates: np.dot(by, weight(t, start, h, weights)),
    )


def _inside_rule() -> Rule:
    pairs = [_of_rate(i) for i in range(_MANY_STAGES)]
    return PureRule(
        inside,
        jvp=(
            lambda d, out, t, start, h, weights, y, *rates: _by_place(t, start, h, weights, rates) * d,
            lambda d, out, t, start, h, weights, y, *rates: -_by_place(t, start, h, weights, rates) * d,
            lambda d, out, t, start, h, weights, y, *rates: _by_size(t, start, h, weights, rates) * d,
            None,
            lambda d, out, t, start, h, weights, y, *rates: np.tile(d[:, None], (1, np.size(t))),
            *[jvp for jvp, _ in pairs],
        ),
        vjp=(
            lambda by, out, t, start, h, weights, y, *rates: np.sum(
                _by_place(t, start, h, weights, rates) * by, axis=0
            ),
            lambda by, out, t, start, h, weights, y, *rates: (
                -np.sum(_by_place(t, start, h, weights, rates) * by)
            ),
            lambda by, out, t, start, h, weights, y, *rates: np.sum(
                _by_size(t, start, h, weights, rates) * by
            ),
            None,
            lambda by, out, t, start, h, weights, y, *rates: np.sum(by, axis=1),
            *[vjp for _, vjp in pairs],
        ),
    )


# -- steps -------------------------------------------------------------------------------------------------


def _size_of(x: Any) -> Any:
    return np.linalg.norm(x) / x.size**0.5


def _first_size(rate: Any, t: Any, y: Any, last: Any, f: Any, direction: float, method: Any, rtol: Any,
                atol: Any) -> Any:  # fmt: skip
    """The size of the first step, by Hairer, Norsett and Wanner (II.4)."""
    length = abs(last - t)
    scale = atol + np.abs(y) * rtol
    d0 = _size_of(y / scale)
    d1 = _size_of(f / scale)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, length)
    g = rate(t + h0 * direction, y + h0 * direction * f)
    d2 = _size_of((g - f) / scale) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1 / (method.order + 1))
    return min(100 * h0, h1, length)


def spacing(t: Any, direction: float) -> float:
    """The size of a step from `t` that is too small."""
    return float(10 * np.abs(np.nextafter(t, direction * np.inf) - t))


def _stages(rate: Any, t: Any, y: Any, f: Any, h: Any, method: Any) -> tuple[Any, Any, Any]:
    """The solution behind a step, the rate there, and the rates at all stages."""
    rates = [np.array(f)]  # a rate may be given in an array that is used again
    for s, weights in enumerate(method.rows, start=1):
        rates.append(np.array(rate(t + method.places[s] * h, y + combined(h, weights, *rates))))
    y_new = y + combined(h, method.ends, *rates)
    f_new = rate(t + h, y_new)
    rates.append(np.array(f_new))
    return y_new, f_new, rates


def error_of(move: Any, y: Any, y_new: Any, rtol: Any, atol: Any) -> Any:
    """The size of the error `move` of a step, in units of what is allowed."""
    return _size_of(move / (atol + np.maximum(np.abs(y), np.abs(y_new)) * rtol))


def _by_move(move: Any, y: Any, y_new: Any, rtol: Any, atol: Any) -> Any:
    """The derivative of `error_of` by the error."""
    scale = atol + np.maximum(np.abs(y), np.abs(y_new)) * rtol
    size = _size_of(move / scale)
    return move / (scale * scale * size * move.size) if size else 0.0 * move


def _by_solution(place: int) -> Callable[..., Any]:
    """What gives the derivative of `error_of` by the solution before the step, or behind it."""

    def slope(move: Any, y: Any, y_new: Any, rtol: Any, atol: Any) -> Any:
        one, other = (y, y_new) if place == 1 else (y_new, y)
        larger, smaller = np.abs(one), np.abs(other)
        which = np.where(larger > smaller, 1.0, np.where(larger == smaller, 0.5, 0.0))
        scale = atol + np.maximum(larger, smaller) * rtol
        return -_by_move(move, y, y_new, rtol, atol) * move / scale * rtol * which * np.sign(one)

    return slope


def _error_rule() -> Rule:
    slopes = _by_move, _by_solution(1), _by_solution(2)
    return PureRule(
        error_of,
        jvp=[lambda d, out, *args, slope=slope: np.dot(slope(*args), d) for slope in slopes],
        vjp=[lambda by, out, *args, slope=slope: slope(*args) * by for slope in slopes],
    )


def next_size(size: Any, error: Any, exponent: float, is_again: bool) -> Any:
    """The size of the step behind one of this size and error; is_again: behind one that was refused."""
    return size * _factor(error, exponent, is_again)


def _factor(error: Any, exponent: float, is_again: bool) -> Any:
    if error >= 1:
        return max(_LEAST, _SAFETY * error**exponent)
    factor = _MOST if error == 0 else min(_MOST, _SAFETY * error**exponent)
    return min(1, factor) if is_again else factor


def _by_error(size: Any, error: Any, exponent: float, is_again: bool) -> Any:
    """The derivative of `next_size` by the error."""
    if error == 0 or _factor(error, exponent, is_again) != _SAFETY * error**exponent:
        return 0.0
    return size * _SAFETY * exponent * error ** (exponent - 1.0)


_SIZE_RULE = PureRule(
    next_size,
    jvp=(
        lambda d, out, size, error, exponent, is_again: _factor(error, exponent, is_again) * d,
        lambda d, out, *args: _by_error(*args) * d,
    ),
    vjp=(
        lambda by, out, size, error, exponent, is_again: _factor(error, exponent, is_again) * by,
        lambda by, out, *args: _by_error(*args) * by,
    ),
)


def between(t_eval: Any, t: Any, t_new: Any, is_first: bool, direction: float) -> tuple[int, int]:
    """Which of the times `t_eval`, in the order of the steps, are in the step from `t` to `t_new`."""
    times = direction * np.asarray(t_eval)
    begin = 0 if is_first else int(np.searchsorted(times, direction * t, side="right"))
    return begin, int(np.searchsorted(times, direction * t_new, side="right"))


def explicit_solution(
    fun: Any, t_span: Any, y0: Any, t_eval: Any, args: Any, method: Any, rtol: Any, atol: Any
) -> Any:
    """What ``solve_ivp`` gives for a problem that has a `plain_method`."""
    first, last = map(float, t_span)
    direction = 1.0 if last > first else -1.0

    def rate(t: Any, y: Any) -> Any:
        return np.asarray(fun(t, y, *args), dtype=float)

    args = () if args is None else args
    t, y = first, np.asarray(y0).astype(float, copy=False)
    t_eval = None if t_eval is None else np.asarray(t_eval)
    f = rate(t, y)
    size = _first_size(rate, t, y, last, f, direction, method, rtol, atol)
    ts: Any = [] if t_eval is not None else [first]
    ys: Any = [] if t_eval is not None else [y0]
    message, tried, is_first, is_again = _REACHED, 0, True, False
    while direction * (t - last) < 0:
        least = spacing(t, direction)
        if size < least:
            if is_again:
                message = integrate.OdeSolver.TOO_SMALL_STEP
                break
            size = least
        t_new = t + size * direction
        if direction * (t_new - last) > 0:
            t_new = last
        h = t_new - t
        y_new, f_new, rates = _stages(rate, t, y, f, h, method)
        tried += 1
        error = error_of(combined(h, method.errors, *rates), y, y_new, rtol, atol)
        size = next_size(np.abs(h), error, method.exponent, is_again)
        if not error < 1:
            is_again = True
            continue
        if t_eval is None:
            ts.append(t_new)
            ys.append(y_new)
        else:
            begin, end = between(t_eval, t, t_new, is_first, direction)
            if begin < end:
                ts.append(t_eval[begin:end])
                ys.append(inside(t_eval[begin:end], t, h, method.inner, y, *rates))
        t, y, f, is_first, is_again = t_new, y_new, f_new, False, False
    if t_eval is None:
        ts, ys = np.array(ts), np.vstack(ys).T
    elif ts:
        ts, ys = np.hstack(ts), np.hstack(ys)
    status = 0 if message is _REACHED else -1
    return _RESULT(
        t=ts, y=ys, sol=None, t_events=None, y_events=None, nfev=2 + tried * len(method.places), njev=0,
        nlu=0, status=status, message=message, success=status >= 0,
    )  # fmt: skip


# -- which problems are solved so --------------------------------------------------------------------------


class Method(NamedTuple):
    """The coefficients of a method, for all stages: those of the rates before, but for the first; times; what
    the solution, and the error, have of each; and its interpolation."""

    rows: tuple[Any, ...]
    places: tuple[float, ...]
    ends: Any
    errors: Any
    inner: Any
    order: int
    exponent: float


def _method(solver: Any) -> Method:
    order = solver.error_estimator_order
    rows = tuple(solver.A[s, :s] for s in range(1, solver.n_stages))
    errors, inner = getattr(solver, "E", None), getattr(solver, "P", None)
    places = tuple(map(float, solver.C[: solver.n_stages]))
    return Method(rows, places, solver.B, errors, inner, order, -1 / (order + 1))


DOP853 = _method(integrate.DOP853)


def _trial(t: float, y: Any) -> Any:
    """Neither stiff nor smooth: steps are refused on the way."""
    return [y[1], -4.0 * y[0] * abs(y[0]) - 0.1 * y[1] + (3.0 if t > 1.0 else 0.0)]


_START = [1.0, 0.3]
_EXAMPLE = integrate.solve_ivp(_trial, (0.0, 0.1), _START)
_RESULT: Any = type(_EXAMPLE)
_REACHED = _EXAMPLE.message
_SOLVERS = {"RK45": integrate.RK45, "RK23": integrate.RK23}


@functools.cache
def method_of(name: str) -> Method | None:
    """The coefficients of the method `name`, if SciPy's steps by it are those of this module."""
    try:
        method = _method(_SOLVERS[name])
    except AttributeError:  # a version of SciPy that has its coefficients elsewhere
        return None
    for t_span, t_eval in (((0.0, 2.5), None), ((2.0, -0.5), np.array([1.3, 0.4, -0.5]))):
        ours = explicit_solution(_trial, t_span, _START, t_eval, (), method, 1e-3, 1e-6)
        theirs = integrate.solve_ivp(_trial, t_span, _START, name, t_eval)
        if ours.nfev != theirs.nfev or ours.y.shape != theirs.y.shape:
            return None
        if not (np.allclose(ours.y, theirs.y, 1e-13, 1e-13) and np.allclose(ours.t, theirs.t, 1e-13, 1e-13)):
            return None
    return method


def plain_method(method: Any, t_span: Any, y0: Any, t_eval: Any, args: Any, options: Any) -> Method | None:
    """The coefficients by which a problem is solved here: there is nothing to be said of what it is given,
    and nothing else than the solution is asked for.  None if SciPy's code is to be followed."""
    name = method if isinstance(method, str) else getattr(method, "__name__", "")
    if name not in _SOLVERS or (method is not name and method is not _SOLVERS[name]):
        return None
    if not options.keys() <= {"rtol", "atol"} or not (args is None or type(args) in (tuple, list)):
        return None
    rtol, atol = options.get("rtol", 1e-3), np.asarray(options.get("atol", 1e-6))
    start = np.asarray(y0)
    if start.ndim != 1 or not start.size or start.dtype.kind not in "fi" or not np.isfinite(start).all():
        return None
    if not isinstance(rtol, float) or not 1e-13 <= rtol < np.inf or not np.all(atol >= 0):
        return None
    if atol.shape not in ((), start.shape) or len(t_span) != 2 or not np.isfinite(np.asarray(t_span)).all():
        return None
    first, last = map(float, t_span)
    if first == last or (t_eval is not None and not _are_in_order(np.asarray(t_eval), first, last)):
        return None
    return method_of(name)


def _are_in_order(times: Any, first: float, last: float) -> bool:
    """Whether times are those of a solution from `first` to `last`."""
    if times.ndim != 1 or times.dtype.kind not in "fi" or not times.size:
        return False
    within = np.all((times >= min(first, last)) & (times <= max(first, last)))
    return bool(within and np.all(np.diff(times) * (1.0 if last > first else -1.0) > 0))


ROWS: list[Rule] = [
    ZeroRule(spacing),
    ZeroRule(between),
    ZeroRule(plain_method),
    _error_rule(),
    _SIZE_RULE,
    _combined_rule(),
    _inside_rule(),
]
