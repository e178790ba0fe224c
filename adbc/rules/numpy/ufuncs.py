"""Rules of the ufuncs.

Conventions at kinks, the same in both modes: ``abs`` at 0 has derivative 0, and so has ``hypot`` at
(0, 0); ``maximum`` and ``minimum`` at a tie follow their first argument; ``sqrt`` at 0 is inf;
``x**0`` has derivative 0 by `x` everywhere, ``0**y`` derivative 0 by `y`; ``arctan2`` at (0, 0) has 0;
``sign``, ``floor`` and other steps have derivative 0, at their jumps too; ``mod`` and ``fmod`` have
derivative 1 by the dividend, at their jumps too.
"""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import (
    any_active,
    check_writable,
    finish,
    gather,
    gather_tangent,
    give,
    plain,
    refuse_read_only,
)
from adbc.rules.numpy.elementwise import (
    ElementwiseRule,
    elementwise,
    real_formula,
    real_formulas,
    strong,
    the_first,
    the_result,
    the_second,
)
from adbc.rules.numpy.indexing import kept_index, setitem_frule, setitem_rrule
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule
from adbc.tangents import NO_FDATA, NO_TANGENT, fresh_shadow, fresh_tangent, zero_tangent
from adbc.tangents.array_products import divide, divided, is_finite, multiply, zero_wins
from adbc.tangents.zeros import is_exactly

__all__ = ["ROWS", "UFUNC_ROWS"]

LN2 = float(np.log(2.0))
LN10 = float(np.log(10.0))
DEGREE = float(np.pi / 180.0)


def _power_by_base(out: Any, x: Any, y: Any) -> Any:
    """The derivative of ``x ** y`` by x: y * x**(y-1), which is 0 where y is 0."""
    if np.ndim(y) == 0:
        if is_exactly(y, 0):
            return np.zeros_like(out)
        if is_exactly(y, 2):
            return 2 * x
        if y != 0:
            return y * np.power(x, y - 1 if y == y else y)
    zero = np.equal(y, 0) & ~(np.abs(x) > _TINY)  # elsewhere it has a derivative by the exponent
    safe = np.where(zero, 1, y)
    return np.where(zero, 0, y * np.power(x, _inexact(safe) - 1))


_TINY = 1e-300
"""The absolute value above which a number has a reciprocal."""


def _inexact(y: Any) -> Any:
    """The exponent `y`, as floats if it holds integers, so that negative ones are allowed."""
    return y if np.asarray(y).dtype.kind in "fc" else np.asarray(y) * 1.0


def _power_by_exponent(out: Any, x: Any, y: Any) -> Any:
    """The derivative of ``x ** y`` by y: x**y * log(x), which is 0 where x is 0."""
    zero = np.equal(x, 0)
    if not np.any(zero):
        return out * np.log(x)
    return np.where(zero, 0, out * np.log(np.where(zero, 1, x)))


def _power_by_number(out: Any, x: Any, y: Any) -> Any:
    return _power_by_base(out, x, y if np.ndim(y) else _float_exponent(x, y))


def _power(function: Any) -> ElementwiseRule:
    # float_power computes in float64, whatever the dtypes of its arguments
    result = "elementwise" if function is np.power else None
    row = elementwise(function, _power_by_number, _power_by_exponent, singular=True, result=result)
    real_formulas(row, real_formula(_by_real_base, over=_over_real_base), None)
    return row


_GENERAL: Any = elementwise(np.power, _power_by_number, _power_by_exponent, singular=True).vjp[0]


def _by_real_base(d: Any, out: Any, x: Any, y: Any) -> Any:
    # No closure: where derivatives are nested, this is entered as it stands.
    if type(y) in (int, float):
        if is_exactly(y, 2):  # never singular
            term = x * (2.0 * d) if d.__class__ is float else x * d
            if d.__class__ is not float:
                term += term
            return term if is_finite(term) else zero_wins(term, x, d)
        if is_exactly(y, 3):
            term = x * x
            term *= 3.0
            term *= d
            return term if is_finite(term) else zero_wins(term, x, d)
    return _GENERAL(d, out, x, y)


def _over_real_base(d: Any, out: Any, x: Any, y: Any) -> Any:
    is_square = type(y) in (int, float) and is_exactly(y, 2)
    if is_square and d.shape == x.shape and d.dtype == x.dtype and _has_finite_products(d, x):
        d *= x
        d += d
        return d
    return _by_real_base(d, out, x, y)


def _has_finite_products(d: Any, p: Any) -> bool:
    """Whether all products of the numbers of two arrays of one shape are finite, in one pass over both: asked
    before `d` is written over, which says where zero wins."""
    return _is_finite_number(_inner(d, p).real)


_inner: Any = np.vdot
_is_finite_number = math.isfinite


def _float_exponent(x: Any, y: Any) -> Any:
    """The exponent `y`, as a float where ``x ** (y - 1)`` might be an integer to a negative power."""
    if isinstance(y, (int, np.integer)) and np.asarray(x).dtype.kind not in "fc":
        return float(y)
    return y


def _abs_along(d: Any, out: Any, x: Any) -> Any:
    if np.iscomplexobj(x):
        return np.real(strong(np.conjugate(_unit(x, out)), d))
    return strong(np.sign(x), d)


def _abs_against(d: Any, out: Any, x: Any) -> Any:
    if not np.iscomplexobj(x):
        return strong(np.sign(x), d)
    d, out = np.real(d), np.real(out)  # which are complex where a complex array was given for the result
    with np.errstate(all="ignore"):
        share = np.divide(d, out)
        if is_finite(share):  # a division of complex numbers takes much longer
            term = x * share
            if is_finite(term):
                return term
        return strong(_unit(x, out), d)


def _unit(x: Any, size: Any) -> Any:
    """The unit number x / |x|, 0 at 0."""
    return x / np.where(size == 0, 1, size)


def _sign_along(d: Any, out: Any, x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.zeros_like(d)
    size = np.abs(x)
    safe = np.where(size == 0, 1, size)
    turned = divide(np.imag(multiply(np.conjugate(out), d)), safe)
    return np.where(size == 0, 0, multiply(1j * out, turned))


def _hypot(a: Any, out: Any) -> Any:
    return a / np.where(out == 0, 1, out)


def _square_sum(y: Any, x: Any) -> Any:
    """The sum x**2 + y**2 in floating point, but 1 at the origin."""
    total = np.square(x, dtype=np.result_type(x, 0.0)) + np.square(y, dtype=np.result_type(y, 0.0))
    return np.where(total == 0, 1, total)


def _moved(x: Any, by: int) -> Any:
    """The sum ``x + by``, in which a complex number keeps the sign of its imaginary part if that is zero: it
    says on which side of the cut of a square root the number is."""
    if not np.iscomplexobj(x):
        return x + by
    moved = np.array(x)
    moved.real += by
    return moved[()]


def _log_share(x: Any, out: Any) -> Any:
    """The share exp(x - out) of a term in a sum of exponentials: 1 where both are the same infinity."""
    return np.exp(np.where(x == out, 0, x - out))


FIRST: dict[str, ElementwiseRule] = {}
"""The rows that operators and function aliases share, by the name of the ufunc."""


def _row(name: str, *partials: Any, singular: bool = False) -> ElementwiseRule:
    row = elementwise(getattr(np, name), *partials, singular=singular)
    FIRST[name] = row
    return row


def _by_hand(name: str, jvp: Any, vjp: Any) -> ElementwiseRule:
    row = ElementwiseRule(getattr(np, name), jvp=jvp, vjp=vjp)
    FIRST[name] = row
    return row


UFUNC_ROWS: list[ElementwiseRule] = [
    # arithmetic
    _row("add", 1, 1),
    _row("subtract", 1, -1),
    _row("multiply", the_second, the_first),
    _row("divide", lambda out, x, y: 1.0 / y, lambda out, x, y: -out / y, singular=True),
    _row("remainder", 1, lambda out, x, y: -np.floor_divide(x, y), singular=True),
    _row("fmod", 1, lambda out, x, y: -np.trunc(np.divide(x, y)), singular=True),
    _row("floor_divide", None, None),
    _row("positive", 1),
    _row("negative", -1),
    _row("square", lambda out, x: 2 * x),
    _row("reciprocal", lambda out, x: -out * out, singular=True),
    _row("sqrt", lambda out, x: 0.5 / out, singular=True),
    _row("cbrt", lambda out, x: 1 / (3 * out * out), singular=True),
    # exponentials and logarithms
    _row("exp", the_result),
    _row("exp2", lambda out, x: out * LN2),
    _row("expm1", lambda out, x: out + 1),
    _row("log", lambda out, x: 1.0 / x, singular=True),
    _row("log2", lambda out, x: 1 / (x * LN2), singular=True),
    _row("log10", lambda out, x: 1 / (x * LN10), singular=True),
    _row("log1p", lambda out, x: 1 / (1 + x), singular=True),
    _row(
        "logaddexp", lambda out, x, y: _log_share(x, out), lambda out, x, y: _log_share(y, out), singular=True
    ),
    _row(
        "logaddexp2",
        lambda out, x, y: np.exp2(np.where(x == out, 0, x - out)),
        lambda out, x, y: np.exp2(np.where(y == out, 0, y - out)),
        singular=True,
    ),
    # trigonometric and hyperbolic
    _row("sin", lambda out, x: np.cos(x)),
    _row("cos", lambda out, x: -np.sin(x)),
    _row("tan", lambda out, x: 1 + out * out),
    _row("arcsin", lambda out, x: 1 / np.sqrt(_moved(-(x * x), 1)), singular=True),
    _row("arccos", lambda out, x: -1 / np.sqrt(_moved(-(x * x), 1)), singular=True),
    _row("arctan", lambda out, x: 1 / (1 + x * x), singular=True),
    _row(
        "arctan2",
        lambda out, y, x: x / _square_sum(y, x),
        lambda out, y, x: y / -_square_sum(y, x),
        singular=True,
    ),
    _row("hypot", lambda out, x, y: _hypot(x, out), lambda out, x, y: _hypot(y, out)),
    _row("sinh", lambda out, x: np.cosh(x)),
    _row("cosh", lambda out, x: np.sinh(x)),
    _row("tanh", lambda out, x: 1 - out * out),
    _row("arcsinh", lambda out, x: 1 / np.sqrt(_moved(x * x, 1))),
    _row(
        "arccosh",
        lambda out, x: 1 / (np.sqrt(_moved(x, -1)) * np.sqrt(_moved(x, 1))),
        singular=True,
    ),
    _row("arctanh", lambda out, x: 1 / (1 - x * x), singular=True),
    _row("deg2rad", lambda out, x: DEGREE),
    _row("radians", lambda out, x: DEGREE),
    _row("rad2deg", lambda out, x: 1 / DEGREE),
    _row("degrees", lambda out, x: 1 / DEGREE),
    # choices
    _row("maximum", lambda out, x, y: _larger(x, y, x), lambda out, x, y: ~_larger(x, y, x)),
    _row("minimum", lambda out, x, y: _smaller(x, y, x), lambda out, x, y: ~_smaller(x, y, x)),
    _row("fmax", lambda out, x, y: _larger(x, y, y), lambda out, x, y: ~_larger(x, y, y)),
    _row("fmin", lambda out, x, y: _smaller(x, y, y), lambda out, x, y: ~_smaller(x, y, y)),
    _row("copysign", lambda out, x, y: np.sign(x) * np.copysign(1.0, y), None),
    _row("heaviside", None, lambda out, x, y: np.equal(x, 0)),
    _row("fabs", lambda out, x: np.sign(x)),
    _row("ldexp", lambda out, x, i: np.ldexp(1.0, i), None),
    _row("nextafter", 1, None),
    # complex numbers
    _by_hand("absolute", [_abs_along], [_abs_against]),
    _by_hand("conjugate", [lambda d, out, x: np.conjugate(d)], [lambda d, out, x: np.conjugate(d)]),
    _by_hand("sign", [_sign_along], [_sign_along]),
]


def _larger(x: Any, y: Any, decisive: Any) -> Any:
    """A mask of where the larger of `x` and `y` is `x`, which it is too where `decisive` is NaN."""
    taken = np.greater_equal(x, y)
    return taken if is_finite(decisive) else np.logical_or(taken, np.isnan(decisive))


def _smaller(x: Any, y: Any, decisive: Any) -> Any:
    """A mask of where the smaller of `x` and `y` is `x`, which it is too where `decisive` is NaN."""
    taken = np.less_equal(x, y)
    return taken if is_finite(decisive) else np.logical_or(taken, np.isnan(decisive))


# Of the most frequent ones, what takes fewer steps than a partial derivative and a product.


def _divide_x(d: Any, out: Any, x: Any, y: Any) -> Any:
    return divide(d, y)


def _divide_y(d: Any, out: Any, x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        term = d * out
        term /= y
        return np.negative(term if is_finite(term) else zero_wins(term, out / y, d))


def _divide_both(d: Any, out: Any, x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        by_x = divided(d, y)
        term = by_x * out
        return by_x, np.negative(term if is_finite(term) else zero_wins(term, out / y, d))


def _log_x(d: Any, out: Any, x: Any) -> Any:
    return divide(d, x)


def _sqrt_x(d: Any, out: Any, x: Any) -> Any:
    with np.errstate(all="ignore"):
        term = d / out
        term *= 0.5
        return term if is_finite(term) else zero_wins(term, 0.5 / out, d)


def _tanh_x(d: Any, out: Any, x: Any) -> Any:
    term = out * out
    term *= d
    term = d - term
    return term if is_finite(term) else zero_wins(term, 1.0 - out * out, d)


def _tanh_over(d: Any, out: Any, x: Any) -> Any:
    if not _has_finite_products(d, out):
        return _tanh_x(d, out, x)
    term = out * out
    term *= d
    d -= term
    return d


real_formulas(FIRST["divide"], real_formula(_divide_x), real_formula(_divide_y))
FIRST["divide"].together = _divide_both
real_formulas(FIRST["log"], real_formula(_log_x))
real_formulas(FIRST["sqrt"], real_formula(_sqrt_x))
real_formulas(FIRST["tanh"], real_formula(_tanh_x, over=_tanh_over))
real_formulas(FIRST["absolute"], real_formula(_abs_against))


FIRST["power"] = _power(np.power)
FIRST["float_power"] = _power(np.float_power)
UFUNC_ROWS += [FIRST["power"], FIRST["float_power"]]


# -- ufuncs with two results -----------------------------------------------------------------------------


class PairRule(Rule):
    """The rule of a ufunc with two results, of which only the one at `which` has a derivative.

    ``partials[i](outs, *args)`` is its partial derivative by argument `i`.  Keywords are refused.
    """

    def __init__(self, function: Any, which: int, *partials: Any, when: Any = plain) -> None:
        names = tuple(f"x{i}" for i in range(len(partials)))
        super().__init__(function, when=when, parameters=(*names, "out"))
        self.which = which
        self.partials = partials

    def _check(self, args: Args, kwargs: Kwargs) -> None:
        if kwargs:
            raise UnsupportedError(
                f"np.{self.function.__name__} with {', '.join(kwargs)}",
                "adbc has no rule for that form",
                "call it without, and assign",
            )

    def _targets(self, args: Args, beside: Args) -> list[tuple[Any, Any]]:
        """What is written into, each with what stands beside it; None where a result is new."""
        n = len(self.partials)
        targets, others = args[n:], beside[n:]
        if len(targets) == 1 and type(targets[0]) is tuple:
            others = (None, None) if others[0] is None else others[0]
            targets = targets[0]
        both = zip_longest(targets, [None if f is NO_FDATA or f is NO_TANGENT else f for f in others])
        return [*both, (None, None)][:2]

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        self._check(args, kwargs)
        n = len(self.partials)
        if len(args) > n:
            return self._frule_into(args, dargs)
        outs = self.function(*args)
        dout = None
        for partial, x, dx in zip(self.partials, args, dargs, strict=True):
            dx = gather_tangent(x, dx)
            if partial is not None and dx is not None:
                term = partial(outs, *map(gather, args)) * dx
                dout = term if dout is None else dout + term
        if dout is None:
            return outs, fresh_tangent(outs)
        douts = [zero_tangent(out) for out in outs]
        douts[self.which] = finish(dout, outs[self.which])
        return outs, tuple(douts)

    def _frule_into(self, args: Args, dargs: Args) -> tuple[Any, Any]:
        n = len(self.partials)
        outs, douts = self.frule(args[:n], dargs[:n])
        results, tangents = [], []
        for (target, d), out, dout in zip(self._targets(args, dargs), outs, douts, strict=True):
            if target is not None:
                given = None if dout is NO_TANGENT else dout
                setitem_frule((target, ..., out), (d, None, given), NO_KWARGS)
            results.append(out if target is None else target)
            tangents.append(dout if target is None else fresh_tangent(target) if d is None else d)
        return tuple(results), tuple(tangents)

    def _rrule_into(self, args: Args, fargs: Args) -> tuple[Any, Any, Pullback]:
        n = len(self.partials)
        outs, fouts, back = self.rrule(args[:n], fargs[:n])
        results, shadows = [], []
        undo: list[Any] = []
        for (target, f), out, fout in zip(
            self._targets(args, fargs), outs, fouts or (None, None), strict=True
        ):
            if target is None:
                undo.append(None)
            else:
                _, _, written = setitem_rrule((target, ..., out), (f, None, fout), NO_KWARGS)
                undo.append(written)
            results.append(out if target is None else target)
            shadows.append(fout if target is None else f)

        def into_pullback(bouts: Any) -> Any:
            given = [None, None] if bouts is None else [*bouts]
            for k in (1, 0):
                written = undo[k]
                if written is not None:
                    given[k] = written(None)[2]
            return (*back(tuple(given)), *(None,) * (len(args) - n))

        return tuple(results), tuple(shadows) if any_active(shadows) else None, into_pullback

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        self._check(args, kwargs)
        if len(args) > len(self.partials):
            return self._rrule_into(args, fargs)
        outs = self.function(*args)
        active = any_active(fargs)
        fouts = tuple(fresh_shadow(out, active=active) for out in outs)

        def pair_pullback(bouts: Any) -> Any:
            fout = fouts[self.which]
            by = fout if isinstance(fout, np.ndarray) else None if bouts is None else bouts[self.which]
            result: list[Any] = [None] * len(args)
            if by is not None:
                for i, partial in enumerate(self.partials):
                    if partial is not None and fargs[i] is not None:
                        result[i] = give(fargs[i], args[i], partial(outs, *map(gather, args)) * by)
            return result

        return outs, fouts if any_active(fouts) else None, pair_pullback


def divmod_row(function: Any, when: Any = plain) -> PairRule:
    return PairRule(function, 1, lambda outs, x, y: 1.0, lambda outs, x, y: -outs[0], when=when)


PAIRS: list[Rule] = [
    PairRule(np.modf, 0, lambda outs, x: 1.0),
    PairRule(np.frexp, 0, lambda outs, x: np.ldexp(1.0, -outs[1])),
    divmod_row(np.divmod),
]


# -- methods of ufuncs -----------------------------------------------------------------------------------


def _at_row(function: Any, sign: int) -> Primitive:
    """The row of ``np.add.at(u, indices, v)``: u[indices] += v, once for each occurrence of an index."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        u, indices, v = args
        du, dv = dargs[0], gather_tangent(v, dargs[2])
        check_writable(u, du, dv is not None)
        function(u, indices, v)
        if du is not None and dv is not None:
            function(du, indices, dv)
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        u, indices, v = args
        fu, _, fv = fargs
        check_writable(u, fu, fv is not None)
        refuse_read_only(u, function.__self__)
        indices = kept_index(indices, u)
        old = np.array(u[indices])
        function(u, indices, v)

        def at_pullback(bout: Any) -> Any:
            u[indices] = old
            if fu is None or fv is None:
                return None, None, None
            return None, None, give(fv, v, sign * fu[indices])

        return None, None, at_pullback

    row = Primitive(function, frule=frule, rrule=rrule, when=plain)
    row.mutates = True
    return row


METHODS: list[Rule] = [_at_row(np.add.at, 1), _at_row(np.subtract.at, -1)]
"""Rows of methods of ufuncs that cost less by formulas of their own than by `ufunc_methods`."""

ROWS: list[Rule] = [*UFUNC_ROWS, *PAIRS, *METHODS]
