"""Rules of ``scipy.special``: the functions that likelihoods are made of.

Nearly all are ufuncs with a formula for each argument.  Where no formula is known (Bessel functions
by their order, some by an order that is an index) an active argument is
refused by name: a zero would be wrong.  The formulas are written for the tails, where a likelihood
goes first: no difference of two nearly equal numbers, no quotient of two that underflow.

Conventions at kinks: what is scaled by ``exp(-abs(x))`` follows ``abs``, derivative 0 at 0;
``xlogy(0, y)`` has derivative 0 by `y` everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adbc.errors import UnsupportedError
from adbc.rules.activity import Refusal
from adbc.rules.numpy.base import ArrayRule, any_active, finish, gather, gather_tangent, give
from adbc.rules.numpy.elementwise import ElementwiseRule, conj, elementwise, quiet
from adbc.rules.scipy.base import unknown
from adbc.rules.scipy.digamma import psi_difference
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule
from adbc.tangents import fresh_shadow, zero_tangent

__all__ = ["ROWS", "UFUNC_ROWS"]

LN2 = float(np.log(2.0))
LN10 = float(np.log(10.0))
DEGREE = float(np.pi / 180.0)
ROOT_PI = float(np.sqrt(np.pi))
ROOT_2PI = float(np.sqrt(2.0 * np.pi))
ROOT_HALF = float(np.sqrt(0.5))
ROOT_2_OVER_PI = float(np.sqrt(2.0 / np.pi))


def _unknown(name: str, argument: str) -> Callable[..., Any]:
    return unknown(f"scipy.special.{name}", argument)


def _real(name: str, x: Any) -> Any:
    """The argument `x` itself; raises if it is complex."""
    if np.iscomplexobj(x):
        raise UnsupportedError(
            f"scipy.special.{name} of complex numbers",
            "its derivative is known for real arguments only",
            "write it with functions of the real and imaginary parts",
        )
    return x


# -- error functions and the normal distribution ---------------------------------------------------------


def _erfcx_slope(out: Any, x: Any) -> Any:
    """The derivative 2 x erfcx(x) - 2 / sqrt(pi), by its asymptotic series where the terms would cancel."""
    near = 2 * x * out - 2 / ROOT_PI
    if np.iscomplexobj(x):
        return near
    h = 0.5 / np.square(np.where(x > 50, x, 50.0))
    far = 2 / ROOT_PI * h * (-1 + h * (3 + h * (-15 + h * 105)))
    return np.where(x > 50, far, near)


def _normal_density(x: Any) -> Any:
    return np.exp(-0.5 * x * x) / ROOT_2PI


def _mills(x: Any) -> Any:
    """The quotient ndtr(x) / density(x) of the normal distribution, which is finite in the lower tail."""
    return special.erfcx(-ROOT_HALF * x) / ROOT_2_OVER_PI


# -- gamma and beta --------------------------------------------------------------------------------------


def _trigamma(x: Any) -> Any:
    return special.polygamma(1, _real("digamma", x))


def _rgamma_slope(out: Any, x: Any) -> Any:
    """The derivative -psi(x) / gamma(x) of 1 / gamma(x); at the poles 0, -1, -2, ... its limit (-1)**n n!."""
    if np.iscomplexobj(x):
        return -out * special.psi(x)
    pole = np.logical_and(x <= 0, np.floor(x) == x)
    n = np.where(pole, -np.asarray(x), 0)
    limit = np.where(n % 2 == 0, 1, -1) * special.gamma(n + 1)
    return np.where(pole, limit, -out * special.psi(np.where(pole, 1, x)))


def _poisson(k: Any, m: Any) -> Any:
    k = np.floor(k)
    return np.exp(special.xlogy(k, m) - m - special.gammaln(k + 1))


def _beta_by(a: Any, b: Any, out: Any) -> Any:
    """The derivative of the beta function by `a`; where it is zero, that of the factor 1 / gamma(a + b)."""
    if np.all(out != 0):
        return -out * psi_difference(a, b)
    near = special.gamma(a) * special.gamma(b) * _rgamma_slope(special.rgamma(a + b), a + b)
    return np.where(out == 0, near, -out * psi_difference(a, b))


def _at_zero(found: Any, out: Any, n: Any, rest: Any, k: Any, is_lower: bool = False) -> Any:
    """The derivative `found` of n! / (k! rest!) by `n`, or by `k` if `is_lower`; where it is zero, that of
    the factor 1 / rest! or 1 / k! that is."""
    of_rest = special.rgamma(k + 1) * _rgamma_slope(special.rgamma(rest + 1), rest + 1)
    of_k = special.rgamma(rest + 1) * _rgamma_slope(special.rgamma(k + 1), k + 1)
    near = special.gamma(n + 1) * (of_k - of_rest if is_lower else of_rest)
    return np.where((out == 0) & np.isfinite(near), near, found)


def _factorial_slope(out: Any, n: Any) -> Any:
    return np.where(n < 0, 0, special.gamma(n + 1) * special.psi(n + 1))


# -- exponentials ----------------------------------------------------------------------------------------

EXPREL_SERIES = [(k + 1) / float(special.gamma(k + 3)) for k in range(16)]


def _exprel_slope(x: Any) -> Any:
    """The derivative of (exp(x) - 1) / x."""
    small = np.abs(x) < 0.7
    near = np.polyval(EXPREL_SERIES[::-1], np.where(small, x, 0))
    wide = np.where(small, 1.0, x)
    return np.where(small, near, (np.exp(wide) - special.exprel(wide)) / wide)


def _box_by_power(log: Any, p: Any) -> Any:
    """The derivative of (exp(p log) - 1) / p by `p`; in the limit for the logarithm of zero 1 / p**2."""
    at_zero = (log == -np.inf) & (p > 0)
    log = np.where(at_zero, 0.0, log)
    return np.where(at_zero, 1 / np.square(p), np.square(log) * _exprel_slope(p * log))


def _quotient(x: Any, y: Any) -> Any:
    """The quotient x / y, which is 0 where both are 0."""
    return np.where((x == 0) & (y == 0), 0, x / np.where((x == 0) & (y == 0), 1, y))


# -- Bessel functions ------------------------------------------------------------------------------------


def _neighbours(function: Any, sign: int) -> Callable[..., Any]:
    """The derivative by x of a Bessel function f: f(v-1, x) + sign f(v+1, x), halved."""
    return lambda out, v, x: 0.5 * (function(v - 1, x) + sign * function(v + 1, x))


def _of_whole_order(slope: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative `slope` for a function that cuts its order to a whole number."""
    return lambda out, n, x: slope(out, np.trunc(n), x)


def _ive_slope(out: Any, v: Any, x: Any) -> Any:
    _real("ive", x)
    if np.all(np.asarray(v) >= 0) and np.all(x != 0):  # all terms of a series, of one sign
        return out * (v / x - np.sign(x)) + special.ive(v + 1, x)
    return 0.5 * (special.ive(v - 1, x) + special.ive(v + 1, x)) - np.sign(x) * out


def _scaled_slope(function: Any) -> Callable[..., Any]:
    """The derivative of ``jve`` and ``yve``, which are not scaled where x is real."""

    def slope(out: Any, v: Any, x: Any) -> Any:
        _real(function.__name__, x)
        return 0.5 * (function(v - 1, x) - function(v + 1, x))

    return slope


# -- losses ----------------------------------------------------------------------------------------------


def _pseudo_huber_root(delta: Any, r: Any) -> Any:
    return np.sqrt(1 + np.square(r / delta))


def _pseudo_huber_by_delta(out: Any, delta: Any, r: Any) -> Any:
    """The derivative 2 delta (s - 1) - r**2 / (delta s) by delta, computed as delta (s - 1)**2 / s."""
    s = _pseudo_huber_root(delta, r)
    q = np.square(r / delta) / (1 + s)
    return delta * q * q / s


def _spence_slope(out: Any, x: Any) -> Any:
    near = x - 1  # a series, for what it says of further derivatives
    series = -1 + near * (1 / 2 - near * (1 / 3 - near * (1 / 4 - near / 5)))
    return np.where(x == 1, series, np.log(x) / np.where(x == 1, 1, 1 - x))


def _row(name: str, *partials: Any) -> ElementwiseRule:
    # Which precision SciPy computes in goes by the order of its loops: the class of the result is sampled.
    return elementwise(getattr(special, name), *partials, singular=True, result=None)


UFUNC_ROWS: list[ElementwiseRule] = [
    # error functions and the normal distribution
    _row("erf", lambda out, x: 2 / ROOT_PI * np.exp(-x * x)),
    _row("erfc", lambda out, x: -2 / ROOT_PI * np.exp(-x * x)),
    _row("erfi", lambda out, x: 2 / ROOT_PI * np.exp(x * x)),
    _row("erfcx", _erfcx_slope),
    _row("dawsn", lambda out, x: 1 - 2 * x * out),
    _row("erfinv", lambda out, x: 0.5 * ROOT_PI * np.exp(out * out)),
    _row("erfcinv", lambda out, x: -0.5 * ROOT_PI * np.exp(out * out)),
    _row("ndtr", lambda out, x: _normal_density(x)),
    _row("log_ndtr", lambda out, x: 1 / _mills(x)),
    _row("ndtri", lambda out, x: 1 / _normal_density(out)),
    _row("ndtri_exp", lambda out, x: _mills(out)),
    # gamma and beta
    _row("gamma", lambda out, x: out * special.psi(x)),
    _row("gammaln", lambda out, x: special.psi(x)),
    _row("loggamma", lambda out, x: special.psi(x)),
    _row("rgamma", _rgamma_slope),
    _row("psi", lambda out, x: _trigamma(x)),
    _row("beta", lambda out, a, b: _beta_by(a, b, out), lambda out, a, b: _beta_by(b, a, out)),
    _row(
        "betaln",
        lambda out, a, b: -psi_difference(a, b),
        lambda out, a, b: -psi_difference(b, a),
    ),
    _row(
        "binom",
        lambda out, n, k: _at_zero(-out * psi_difference(n + 1, -k), out, n, n - k, k),
        lambda out, n, k: _at_zero(
            out * (special.psi(n - k + 1) - special.psi(k + 1)), out, n, n - k, k, is_lower=True
        ),
    ),
    _row(
        "poch",
        lambda out, z, m: np.where(
            out == 0,
            special.gamma(z + m) * _rgamma_slope(special.rgamma(z), z),
            out * psi_difference(z, m),
        ),
        lambda out, z, m: out * special.psi(z + m),
    ),
    _row("pdtr", None, lambda out, k, m: -_poisson(k, m)),
    _row("pdtrc", None, lambda out, k, m: _poisson(k, m)),
    # logistic
    _row("expit", lambda out, x: out * special.expit(-x)),
    _row("logit", lambda out, x: 1 / (x * (1 - x))),
    _row("log_expit", lambda out, x: special.expit(-x)),
    # entropies
    _row("xlogy", lambda out, x, y: np.log(y), lambda out, x, y: _quotient(x, y)),
    _row("xlog1py", lambda out, x, y: np.log1p(y), lambda out, x, y: _quotient(x, 1 + y)),
    _row("entr", lambda out, x: -np.log(x) - 1),
    _row("kl_div", lambda out, x, y: np.log(x / y), lambda out, x, y: 1 - _quotient(x, y)),
    _row("rel_entr", lambda out, x, y: np.log(x / y) + 1, lambda out, x, y: -_quotient(x, y)),
    # exponentials, powers and angles
    _row("expm1", lambda out, x: np.exp(x)),
    _row("log1p", lambda out, x: 1 / (1 + x)),
    _row("exprel", lambda out, x: _exprel_slope(x)),
    _row("wrightomega", lambda out, x: out / (1 + out)),
    _row("cbrt", lambda out, x: 1 / (3 * out * out)),
    _row("exp2", lambda out, x: out * LN2),
    _row("exp10", lambda out, x: out * LN10),
    _row("cosm1", lambda out, x: -np.sin(x)),
    _row("sindg", lambda out, x: DEGREE * special.cosdg(x)),
    _row("cosdg", lambda out, x: -DEGREE * special.sindg(x)),
    _row(
        "radian",
        lambda out, d, m, s: DEGREE,
        lambda out, d, m, s: DEGREE / 60,
        lambda out, d, m, s: DEGREE / 3600,
    ),
    _row(
        "boxcox",
        lambda out, x, p: np.power(x, p - 1),
        lambda out, x, p: _box_by_power(np.log(x), p),
    ),
    _row(
        "boxcox1p",
        lambda out, x, p: np.power(1 + x, p - 1),
        lambda out, x, p: _box_by_power(np.log1p(x), p),
    ),
    # Bessel functions
    _row("j0", lambda out, x: -special.j1(x)),
    _row("j1", lambda out, x: 0.5 * (special.j0(x) - special.jv(2, x))),
    _row("jv", _unknown("jv", "its order"), _neighbours(special.jv, -1)),
    _row("jve", _unknown("jve", "its order"), _scaled_slope(special.jve)),
    _row("yve", _unknown("yve", "its order"), _scaled_slope(special.yve)),
    _row("y0", lambda out, x: -special.y1(x)),
    _row("y1", lambda out, x: special.y0(x) - out / x),
    _row("yn", None, _of_whole_order(_neighbours(special.yn, -1))),
    _row("yv", _unknown("yv", "its order"), _neighbours(special.yv, -1)),
    _row("i0", lambda out, x: special.i1(x)),
    _row("i1", lambda out, x: 0.5 * (special.i0(x) + special.iv(2, x))),
    _row("i0e", lambda out, x: special.i1e(x) - np.sign(x) * out),
    _row("i1e", lambda out, x: 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * out),
    _row("iv", _unknown("iv", "its order"), _neighbours(special.iv, 1)),
    _row("ive", _unknown("ive", "its order"), _ive_slope),
    _row("k0", lambda out, x: -special.k1(x)),
    _row("k1", lambda out, x: -special.k0(x) - out / x),
    _row("k0e", lambda out, x: out - special.k1e(x)),
    _row("k1e", lambda out, x: out - special.k0e(x) - out / x),
    _row("kn", None, _of_whole_order(lambda out, n, x: -0.5 * (special.kn(n - 1, x) + special.kn(n + 1, x)))),
    _row("kv", _unknown("kv", "its order"), lambda out, v, x: -_neighbours(special.kv, 1)(out, v, x)),
    _row("kve", _unknown("kve", "its order"), lambda out, v, x: out - _neighbours(special.kve, 1)(out, v, x)),
    # integrals
    _row("expi", lambda out, x: np.exp(x) / x),
    _row("exp1", lambda out, x: -np.exp(-x) / x),
    _row("spence", _spence_slope),
    _row("zetac", lambda out, x: _zeta_by_x(out, x)),
    # losses
    _row(
        "huber",
        lambda out, delta, r: np.maximum(np.abs(r) - delta, 0),
        lambda out, delta, r: np.clip(r, -delta, delta),
    ),
    _row("pseudo_huber", _pseudo_huber_by_delta, lambda out, delta, r: r / _pseudo_huber_root(delta, r)),
]

STEPS: list[Rule] = [elementwise(special.gammasgn, None), elementwise(special.round, None)]


# -- functions in Python ---------------------------------------------------------------------------------


def _array(function: Any, names: str, *partials: Any) -> ArrayRule:
    """The row of an elementwise function that is no ufunc, by each ``partial(out, *args, **others)``."""

    def along(partial: Any) -> Any:
        if isinstance(partial, Refusal):
            return partial
        return lambda d, out, /, *args, **others: quiet(partial(out, *args, **others), d)

    def against(partial: Any) -> Any:
        return lambda d, out, /, *args, **others: quiet(conj(partial(out, *args, **others)), d)

    return ArrayRule(function, names, jvp=[along(p) for p in partials], vjp=[against(p) for p in partials])


def _zeta_by_q(out: Any, x: Any, q: Any = None) -> Any:
    return -x * special.zeta(x + 1, _real("zeta", q))


BERNOULLI = special.bernoulli(24)


def _zeta_by_x(out: Any, x: Any, q: Any = None) -> Any:
    """The derivative of Hurwitz's zeta function by its exponent; of Riemann's below zero by the equation that
    connects its values at x and 1 - x."""
    x = np.asarray(_real("zeta", x), dtype=float)
    if q is not None or not np.any(x < -1):
        return _zeta_sum_by_x(x, q)
    s = np.where(x < -1, x, -2.5)
    factor = np.exp(s * np.log(2.0) + (s - 1) * np.log(np.pi) + special.gammaln(1 - s))
    sine, cosine = np.sin(0.5 * np.pi * s), np.cos(0.5 * np.pi * s)
    other = (np.log(2 * np.pi) - special.psi(1 - s)) * sine + 0.5 * np.pi * cosine
    below = factor * (other * special.zeta(1 - s) - sine * _zeta_sum_by_x(1 - s, None))
    return np.where(x < -1, below, _zeta_sum_by_x(np.where(x < -1, 2.0, x), None))


def _zeta_sum_by_x(x: Any, q: Any) -> Any:
    """The derivative of the sum of Euler and Maclaurin, term by term."""
    q = np.asarray(1.0 if q is None else q, dtype=float)
    total = np.zeros(np.broadcast_shapes(x.shape, q.shape))
    count = 20
    for k in range(count):
        total = total - np.log(q + k) * np.power(q + k, -x)
    end = q + count
    log, power = np.log(end), np.power(end, -x)
    total = total - end * power * (log / (x - 1) + 1 / np.square(x - 1)) - 0.5 * log * power
    rising, slope = x, np.ones_like(x)  # x (x + 1) ... and its derivative
    power = power / end
    factorial = 2.0
    for j in range(1, 12):
        total = total + BERNOULLI[2 * j] / factorial * power * (slope - rising * log)
        for i in (2 * j - 1, 2 * j):
            slope = slope * (x + i) + rising
            rising = rising * (x + i)
        power = power / (end * end)
        factorial = factorial * (2 * j + 1) * (2 * j + 2)
    return total


def _polygamma_by_x(out: Any, n: Any, x: Any) -> Any:
    return special.polygamma(np.asarray(n) + 1, x)


def _multigammaln_by_a(out: Any, a: Any, d: Any) -> Any:
    total: Any = 0
    if not int(d) and np.ndim(a):
        raise UnsupportedError(
            "scipy.special.multigammaln of an array in no dimensions",
            "that is one number for all of the array",
            "write 0.0, which it is",
        )
    for j in range(int(d)):
        total = total + special.psi(a - 0.5 * j)
    return total


def _lambertw_by_z(out: Any, z: Any, **_: Any) -> Any:
    return np.exp(-out) / (1 + out)


def _factorial_by_n(out: Any, n: Any, exact: Any = False, **_: Any) -> Any:
    if exact:
        raise UnsupportedError(
            "scipy.special.factorial with exact=True", "it counts, and has no derivative", "use exact=False"
        )
    return _factorial_slope(out, n)


def _comb(which: int) -> Callable[..., Any]:
    def partial(out: Any, N: Any, k: Any, exact: Any = False, repetition: Any = False, **_: Any) -> Any:
        if exact or repetition:
            raise UnsupportedError(
                "scipy.special.comb with exact=True or repetition=True",
                "it counts, and has no derivative",
                "use scipy.special.binom",
            )
        inside = np.logical_and(np.logical_and(k <= N, N >= 0), k >= 0)
        N, k = np.where(inside, N, 1.0), np.where(inside, k, 0.0)
        by = -psi_difference(N + 1, -k) if which == 0 else (
            special.psi(N - k + 1) - special.psi(k + 1)
        )  # fmt: skip
        return np.where(inside, out * by, 0)

    return partial


def _axis(axis: Any) -> Any:
    """The axis as a tuple or number, where the rule of a row has made an array of it."""
    return tuple(axis.tolist()) if isinstance(axis, np.ndarray) else axis


def _wide(y: Any, a: Any, axis: Any) -> Any:
    """The reduction `y` of `a` along `axis`, with the reduced axes kept as length 1."""
    ndim = np.ndim(a)
    axes = range(ndim) if axis is None else [i % ndim for i in (axis if type(axis) is tuple else (axis,))]
    return np.reshape(y, tuple([1 if i in axes else n for i, n in enumerate(np.shape(a))]))


def _shares(y: Any, a: Any, axis: Any, b: Any) -> Any:
    """The share exp(a - logsumexp) of each term: 1 for one that is the same infinity as the result."""
    wide = a if b is None else np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(b)))
    top = _wide(y, wide, axis)
    return np.exp(np.where(wide == top, 0, wide - np.where(wide == top, 0, top)))


def logsumexp_da(
    d: Any, y: Any, a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, **_: Any
) -> Any:
    shares = _shares(y, a, _axis(axis), b)
    return np.sum((shares if b is None else shares * b) * d, axis=_axis(axis), keepdims=keepdims)


def logsumexp_db(
    d: Any, y: Any, a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, **_: Any
) -> Any:
    return np.sum(_shares(y, a, _axis(axis), b) * d, axis=_axis(axis), keepdims=keepdims)


def logsumexp_a(by: Any, y: Any, a: Any, axis: Any = None, b: Any = None, **_: Any) -> Any:
    shares = _shares(y, a, _axis(axis), b)
    return conj(shares if b is None else shares * b) * _wide(by, shares, _axis(axis))


def logsumexp_b(by: Any, y: Any, a: Any, axis: Any = None, b: Any = None, **_: Any) -> Any:
    shares = _shares(y, a, _axis(axis), b)
    return conj(shares) * _wide(by, shares, _axis(axis))


class LogSumExpRule(ArrayRule):
    """The rule of ``logsumexp(a, axis, b, keepdims, return_sign)``.

    With the sign, which jumps, the result is the logarithm of the absolute value of a sum.
    """

    _NAMES = ("a", "axis", "b", "keepdims", "return_sign")

    def _signed(self, args: Args, active: Args, kwargs: Kwargs) -> dict[str, Any] | None:
        """The arguments by name, if one is active and the sign is asked for."""
        if not any_active(active):
            return None
        given = {**dict(zip(self._NAMES, args, strict=False)), **kwargs}
        if not given.pop("return_sign", False):
            return None
        if any(np.iscomplexobj(given[name]) for name in "ab" if name in given):
            raise UnsupportedError(
                "scipy.special.logsumexp of complex numbers with return_sign=True",
                "its sign is a phase that moves, and adbc has no rule for that form",
                "take np.log(np.sum(b * np.exp(a)))",
            )
        return {n: gather(x) if n in "ab" else x for n, x in given.items()}

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        given = self._signed(args, dargs, kwargs)
        if given is None:
            return super().frule(args, dargs, kwargs)
        y, sign = self.function(*args, **kwargs)
        dy: Any = 0.0
        for i, formula in ((0, logsumexp_da), (2, logsumexp_db)):
            if i < len(args) and (d := gather_tangent(args[i], dargs[i])) is not None:
                dy = dy + sign * formula(d, y, **given)
        return (y, sign), (finish(dy, y), zero_tangent(sign))

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        given = self._signed(args, fargs, kwargs)
        if given is None:
            return super().rrule(args, fargs, kwargs)
        outs = y, sign = self.function(*args, **kwargs)
        fouts = tuple(fresh_shadow(out, active=True) for out in outs)

        def signed_pullback(bouts: Any) -> list[Any]:
            by = fouts[0] if isinstance(fouts[0], np.ndarray) else None if bouts is None else bouts[0]
            result: list[Any] = [None] * len(args)
            for i, formula in ((0, logsumexp_a), (2, logsumexp_b)):
                if by is not None and i < len(args) and fargs[i] is not None:
                    term = formula(by * sign, y, **given)
                    result[i] = give(fargs[i], args[i], term)
            return result

        return outs, fouts, signed_pullback


def softmax_jvp(d: Any, y: Any, x: Any, axis: Any = None) -> Any:
    return y * (d - np.sum(y * d, axis=axis, keepdims=True))


def softmax_vjp(by: Any, y: Any, x: Any, axis: Any = None) -> Any:
    """The cotangent of `softmax`: the Jacobian is symmetric, and is conjugated for complex numbers."""
    return softmax_jvp(by, np.conj(y), x, axis)


def log_softmax_jvp(d: Any, y: Any, x: Any, axis: Any = None) -> Any:
    return d - np.sum(np.exp(y) * d, axis=axis, keepdims=True)


def log_softmax_vjp(by: Any, y: Any, x: Any, axis: Any = None) -> Any:
    return by - np.conj(np.exp(y)) * np.sum(by, axis=axis, keepdims=True)


FUNCTIONS: list[Rule] = [
    _array(special.polygamma, "n x", _unknown("polygamma", "n"), _polygamma_by_x),
    _array(special.zeta, "x q out", _zeta_by_x, _zeta_by_q),
    _array(special.multigammaln, "a d", _multigammaln_by_a),
    _array(special.lambertw, "z k tol", _lambertw_by_z),
    _array(special.factorial, "n exact extend", _factorial_by_n),
    _array(special.comb, "N k exact repetition", _comb(0), _comb(1)),
    LogSumExpRule(
        special.logsumexp,
        "a axis b keepdims return_sign",
        jvp=[logsumexp_da, None, logsumexp_db],
        vjp=[logsumexp_a, None, logsumexp_b],
    ),
    ArrayRule(special.softmax, "x axis", jvp=[softmax_jvp], vjp=[softmax_vjp]),
    ArrayRule(special.log_softmax, "x axis", jvp=[log_softmax_jvp], vjp=[log_softmax_vjp]),
]

if hasattr(special, "softplus"):  # SciPy 1.15
    FUNCTIONS.append(_array(special.softplus, "x", lambda out, x, **_: special.expit(x)))

ROWS: list[Rule] = [*UFUNC_ROWS, *STEPS, *FUNCTIONS]
