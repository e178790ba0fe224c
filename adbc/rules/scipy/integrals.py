"""Integrals that SciPy takes in C: ``quad``, and what calls it.

The value is that of QUADPACK.  The derivative is that of a sum over the intervals into which QUADPACK has
divided the range, each by a Gauss rule of twenty points: of the integrand at fixed places, for its
parameters; by the limits it is the integrand there.  That sum is compared with the value.  Where QUADPACK has
extrapolated, at a singular end, it does not agree, and the double exponential rule is taken, whose places lie
close to the ends; where that does not agree either, the derivative is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import integrate

from adbc.errors import UnsupportedError
from adbc.rules.activity import carries
from adbc.rules.implicit import first_order, found_by, settled, valued
from adbc.rules.scipy.base import bodies, fixed
from adbc.rules.solver_memory import leaving_memory
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import fresh_shadow

__all__ = ["ROWS"]

_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(20)
_S = np.linspace(-4.2, 4.2, 169)
_EDGE = np.exp(-0.5 * np.pi * np.sinh(np.abs(_S))) / (2 * np.cosh(0.5 * np.pi * np.sinh(_S)))
"""How far the places of the double exponential rule are from the nearer end of [0, 1]."""
_EDGE_W = (_S[1] - _S[0]) * np.pi * np.cosh(_S) / (4 * np.square(np.cosh(0.5 * np.pi * np.sinh(_S))))


def _refuse(what: str, instead: str) -> None:
    raise UnsupportedError(f"scipy.integrate.quad {what}", "adbc has no rule for that form", instead)


def _place(a: Any, b: Any, u: float, from_end: bool) -> tuple[Any, Any]:
    """The place at `u` of the range, a number in (0, 1), counted from its end if `from_end`, and how much of
    the range is there in one of `u`.  An infinite range is that of 1 / t - 1, as QUADPACK takes it."""
    if b == np.inf:
        return (0.0 if a == -np.inf else a) + (1.0 - u) / u, 1.0 / (u * u)
    if a == -np.inf:
        return b - (1.0 - u) / u, 1.0 / (u * u)
    return (b - (b - a) * u if from_end else a + (b - a) * u), b - a


def places(
    func: Callable[..., Any], a: float, b: float, args: Any, found: Any
) -> tuple[tuple[float, float], ...]:
    """Places between the limits and their weights, by which the integral is a sum."""
    value, error, info = found[:3]
    is_finite = abs(a) < np.inf and abs(b) < np.inf
    count = info["last"]
    start, stop = info["alist"][:count], info["blist"][:count]
    if is_finite:
        start, stop = ((start - a) / (b - a), (stop - a) / (b - a)) if b != a else (np.zeros(1), np.ones(1))
    order = np.argsort(start)
    gauss = [
        (float(p), float(w), False)
        for low, high in zip(start[order], stop[order], strict=True)
        for p, w in zip(low + (high - low) * 0.5 * (1 + _GAUSS_X), 0.5 * (high - low) * _GAUSS_W, strict=True)
    ]
    ends = [
        (float(e), float(w), bool(s > 0) and is_finite)
        if s <= 0 or is_finite
        else (1.0 - float(e), float(w), False)
        for s, e, w in zip(_S, _EDGE, _EDGE_W, strict=True)
        if e > 0
    ]
    room = max(10 * error, 1e-9 * abs(value))
    if b == a:
        return ()
    for units in (gauss, _inside(ends, a, b)):
        candidate = _spread(units, a, b)
        with np.errstate(all="ignore"), leaving_memory(func, *args):
            total = sum(w * float(func(x, *args)) for x, w in candidate)
        if abs(total - value) <= min(room, 1e-6 * abs(value) + 1e-10):
            return candidate
    raise UnsupportedError(
        "scipy.integrate.quad of a function that is singular, or oscillates, inside of the range",
        "no sum over fixed places is as accurate as the integral",
        "split the range where it is singular: quad(f, a, c) and quad(f, c, b)",
    )


def _inside(ends: Any, a: float, b: float) -> Any:
    """Those places that are not rounded to an end."""
    return [(u, w, e) for u, w, e in ends if 0.0 < u < 1.0 and _place(a, b, u, e)[0] not in (a, b)]


def _spread(units: Any, a: float, b: float) -> tuple[tuple[float, float], ...]:
    """The places in the range, and their weights there, from those in (0, 1)."""
    found: list[tuple[float, float]] = []
    for u, w, from_end in units:
        x, width = _place(a, b, u, from_end)
        found.append((float(x), w * width))
        if a == -np.inf and b == np.inf:
            found.append((-float(x), w * width))
    return tuple(found)


def between(value: Any, a: Any, b: Any, func: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The integral `value` of `func` from `a` to `b`, which moves with its limits."""
    return value


def _at_limit(func: Callable[..., Any], limit: Any, args: tuple[Any, ...]) -> Any:
    """How much an integral gets where a limit of it is moved: nothing if that is infinite."""
    if abs(limit) == np.inf:
        return 0.0
    with leaving_memory(func, *args):
        return _real(_number(func(float(limit), *args)))


def _check_limits(args: Args, is_active: Sequence[bool]) -> None:
    """Nothing; where this is differentiated itself, limits that have a derivative, in one of both, are
    refused: the places at which the integrand is taken stay where they are."""
    for limit, carried in zip(args[1:3], is_active, strict=True):
        fixed(limit, "a second derivative of scipy.integrate.quad by its limits", _SCALED)
        if carried:
            first_order(integrate.quad)


_SCALED = "integrate over a fixed range, quad(lambda u: f(a + (b - a) * u) * (b - a), 0, 1)"


def _between_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    value, a, b, func, given = args
    _check_limits(args, [carries(x, d, is_tangent=True) for x, d in zip(args[1:3], dargs[1:3], strict=True)])
    moved = 0.0 if dargs[0] is None else dargs[0]
    for limit, d, sign in ((a, dargs[1], -1.0), (b, dargs[2], 1.0)):
        if carries(limit, d, is_tangent=True):
            moved = moved + sign * _at_limit(func, limit, given) * d
    return value, moved


def _between_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    value, a, b, func, given = args
    _check_limits(args, [carries(x, f, is_tangent=False) for x, f in zip(args[1:3], fargs[1:3], strict=True)])
    slopes = [
        sign * _at_limit(func, limit, given) if carries(limit, f, is_tangent=False) else None
        for limit, f, sign in ((a, fargs[1], -1.0), (b, fargs[2], 1.0))
    ]

    def between_pullback(by: Any) -> Any:
        if by is None:
            return (None,) * 5
        return (by, *[None if slope is None else by * slope for slope in slopes], None, None)

    fout = fresh_shadow(value, active=any(f is not None for f in fargs[:3]))
    return value, fout, between_pullback


def quad(
    func: Any, a: Any, b: Any, args: Any = (), full_output: Any = 0, epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8, limit: int = 50, points: Any = None, weight: Any = None, wvar: Any = None,
    wopts: Any = None, maxp1: int = 50, limlst: int = 50, complex_func: bool = False,
) -> Any:  # fmt: skip
    if weight is not None:
        _refuse("with a weight", "multiply the integrand by the weight")
    if complex_func:
        _refuse("of a complex function", "integrate real and imaginary parts, func(x).real and func(x).imag")
    given = args if isinstance(args, tuple) else (args,)
    a, b = _real(a), _real(b)
    low, high = float(stop_gradient(a)), float(stop_gradient(b))
    if high == -np.inf or low == np.inf:  # turned around
        result = quad(func, b, a, given, full_output, epsabs, epsrel, limit, points)
        return (-result[0], *result[1:])
    found = found_by(integrate.quad, (func, low, high, given, 1, epsabs, epsrel, limit, points), {})
    total = 0.0
    for x, w in places(func, low, high, given, found):
        total = total + w * func(x, *given)
    value = between(valued(found[0], _real(_number(total))), a, b, func, given)
    error = stop_gradient(found[1])
    return settled(found, func, (value, error, *found[2:]) if full_output else (value, error))


def _number(x: Any) -> Any:
    """The one number in `x`."""
    return x if isinstance(x, float) else np.reshape(np.asarray(x), ())[()]


def _real(x: Any) -> Any:
    """The part of a number that SciPy takes."""
    return x.real if isinstance(x, complex) else x


def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False) -> Any:
    if full_output:
        _refuse("through nquad with full_output", "leave full_output out")
    more = () if args is None else args if isinstance(args, tuple) else (args,)
    errors = []

    def inner(depth: int, known: tuple[Any, ...]) -> Any:
        """The integral over the first `depth` variables, for `known` values of the others."""
        limits, options = ranges[depth - 1], {} if opts is None else opts
        if callable(limits):
            limits = limits(*known, *more)
        if isinstance(options, list | tuple):
            options = options[depth - 1]
        if callable(options):
            options = options(*known, *more)

        def integrand(x: Any) -> Any:
            return func(x, *known, *more) if depth == 1 else inner(depth - 1, (x, *known))

        value, error = integrate.quad(integrand, limits[0], limits[1], **options)
        if depth == len(ranges):
            errors.append(error)
        return value

    value = inner(len(ranges), ())
    return value, errors[0]


def vector_places(func: Any, args: tuple[Any, ...], value: Any, error: Any, intervals: Any) -> Any:
    """Places and weights by which the integral of a function with arrays as values is a sum."""
    found = [
        (float(x), float(w))
        for low, high in intervals
        for x, w in zip(low + (high - low) * 0.5 * (1 + _GAUSS_X), 0.5 * (high - low) * _GAUSS_W, strict=True)
    ]
    with leaving_memory(func, *args):
        total = sum(w * np.asarray(func(x, *args)) for x, w in found)
    if not np.linalg.norm(np.ravel(total - value)) <= max(10 * error, 1e-8 * np.linalg.norm(np.ravel(value))):
        _refuse("_vec of a function that is singular, or oscillates", "split the range where it is singular")
    return found


def quad_vec(f: Any, a: Any, b: Any, *positional: Any, args: Any = (), **options: Any) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    a, b = _real(a), _real(b)
    low, high = float(stop_gradient(a)), float(stop_gradient(b))
    if not np.isfinite(low) or not np.isfinite(high) or options.get("full_output") or len(positional) > 7:
        _refuse("_vec over an infinite range, or with full_output", "integrate over a long finite range")
    if low == high:
        _refuse("_vec over an empty range", "leave it out")
    named = {**options, "full_output": True}
    if given:
        named["args"] = given
    found = found_by(integrate.quad_vec, (f, low, high, *positional), named)
    total = 0.0
    for x, w in vector_places(f, given, found[0], found[1], found[2].intervals):
        part = (x - low) / (high - low)
        total = total + (b - a) * (w / (high - low)) * f(a + (b - a) * part, *given)
    return settled(found, f, (valued(found[0], total), stop_gradient(found[1])))


ROWS: list[Rule] = [
    ZeroRule(places),
    Primitive(between, frule=_between_frule, rrule=_between_rrule),
    ZeroRule(vector_places),
    *bodies(integrate, {"quad": quad, "nquad": nquad, "quad_vec": quad_vec}),
]
