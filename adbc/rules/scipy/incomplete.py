"""The incomplete gamma and beta functions by their parameters, and the distributions that are made of them.

No closed form is known for these derivatives, but an integral is: of the density times the derivative of its
logarithm.  That has one sign below a point and the other above it, and the whole integral is zero; so it is
taken from the side on which the sign does not change, and nothing cancels.  In the logarithm of t (of the
odds t / (1 - t) for beta) it decays like an exponential; the double exponential rule of Takahasi and Mori,
with a step that is known to be fine enough, gives it to some twelve digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adbc.rules.scipy.digamma import psi_difference

__all__ = [
    "beta_by_a",
    "beta_by_b",
    "beta_density",
    "f_partials",
    "gamma_by_a",
    "gamma_density",
    "in_blocks",
    "student_by_df",
    "student_density",
]

_U = np.linspace(-5.2, 5.2, 417)
_NODES = np.exp(_U - np.exp(-_U))
_WEIGHTS = (_U[1] - _U[0]) * _NODES * (1 + np.exp(-_U))


_ROOM = 2**20
"""How many numbers are computed at once, where each element needs hundreds."""


def in_blocks(f: Callable[..., Any], each: int, *arguments: Any) -> Any:
    """``f(*arguments)``, which goes element by element and computes `each` numbers for one: by blocks of
    elements that leave memory free."""
    arrays = np.broadcast_arrays(*[np.asarray(x, dtype=float) for x in arguments])
    size = max(1, _ROOM // each)
    if arrays[0].size <= size:
        return f(*arrays)
    flat = [x.ravel() for x in arrays]
    parts = [f(*[x[k : k + size] for x in flat]) for k in range(0, arrays[0].size, size)]
    return np.concatenate(parts).reshape(arrays[0].shape)


def _integral(f: Callable[..., Any], width: Any, *arguments: Any) -> Any:
    """The integral of ``f(v, *arguments)`` over v > 0, for each element; f decays within a few `width`."""

    def of_block(*block: Any) -> Any:
        columns = [x[..., None] for x in block]
        v = columns[0] * _NODES
        values = f(v, *columns[1:])
        values = np.where(np.isfinite(values), values, 0.0)  # beyond where the density is zero
        return np.sum(values * (columns[0] * _WEIGHTS), axis=-1)

    with np.errstate(all="ignore"):
        return in_blocks(of_block, _NODES.size, width, *arguments)


# -- the gamma distribution --------------------------------------------------------------------------------


def gamma_density(a: Any, x: Any) -> Any:
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def _gamma_below(v: Any, a: Any, x: Any, log_x: Any) -> Any:
    density = np.exp(a * (log_x - v) - x * np.exp(-v) - special.gammaln(a))
    return density * (log_x - v - special.psi(a))


def _gamma_above(v: Any, a: Any, x: Any, log_x: Any) -> Any:
    density = np.exp(a * (log_x + v) - x * np.exp(v) - special.gammaln(a))
    return -density * (log_x + v - special.psi(a))


def gamma_by_a(a: Any, x: Any) -> Any:
    """The derivative of ``gammainc(a, x)`` by `a`."""
    a, x = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(x, dtype=float))
    inside = (x > 0) & np.isfinite(x) & (a > 0)
    a, x = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    log_x = np.log(x)
    # nowhere does it fall faster than exp(-a v)
    width = np.maximum(1 / (np.maximum(a - x, 0) + np.sqrt(a)), 1 / a)
    below = _integral(_gamma_below, width, a, x, log_x)
    width = 1 / (np.maximum(x - a, 0) + np.sqrt(x))
    width = np.minimum(width, 1 + np.maximum(np.log(np.maximum(a, 1)) - log_x, 0))
    above = _integral(_gamma_above, width, a, x, log_x)
    return np.where(inside, np.where(log_x < special.psi(a), below, above), 0.0)


# -- the beta distribution ---------------------------------------------------------------------------------


def beta_density(a: Any, b: Any, x: Any) -> Any:
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def _beta_below(v: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    odds = x / y * np.exp(-v)
    log_rest = -np.log1p(odds)
    log_t = np.log(x) - np.log(y) - v + log_rest
    density = np.exp(a * log_t + b * log_rest - special.betaln(a, b))
    return density * (log_t + psi_difference(a, b))


def _beta_above(v: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    odds = y / x * np.exp(-v)
    log_t = -np.log1p(odds)
    log_rest = np.log(y) - np.log(x) - v + log_t
    density = np.exp(a * log_t + b * log_rest - special.betaln(a, b))
    return -density * (log_t + psi_difference(a, b))


def _width(a: Any, b: Any, x: Any, y: Any) -> Any:
    """How far below `x` the integral reaches, in the logarithm of the odds."""
    near = 1 / (np.maximum(a * y - b * x, 0) + np.sqrt((a + b) * x * y))
    far = np.minimum(near, 1 + 1 / a + np.maximum(np.log(b * x / (a * y)), 0))
    return np.maximum(far, 1 / a)  # nowhere does it fall faster than exp(-a v)


def _beta_by_a(a: Any, b: Any, x: Any, y: Any) -> Any:
    """The derivative of the beta distribution by `a`, at `x` = 1 - `y`."""
    a, b, x, y = np.broadcast_arrays(*[np.asarray(z, dtype=float) for z in (a, b, x, y)])
    inside = (x > 0) & (y > 0) & (a > 0) & (b > 0)
    a, b, x, y = (np.where(inside, z, w) for z, w in ((a, 1.0), (b, 1.0), (x, 0.5), (y, 0.5)))
    below = _integral(_beta_below, _width(a, b, x, y), a, b, x, y)
    above = _integral(_beta_above, _width(b, a, y, x), a, b, x, y)
    falls = np.log(x) < -psi_difference(a, b)
    return np.where(inside, np.where(falls, below, above), 0.0)


def beta_by_a(a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``betainc(a, b, x)`` by `a`."""
    x = np.asarray(x, dtype=float)
    return _beta_by_a(a, b, x, 1 - x)


def beta_by_b(a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``betainc(a, b, x)`` by `b`."""
    x = np.asarray(x, dtype=float)
    return -_beta_by_a(b, a, 1 - x, x)


# -- Student's and Fisher's distributions ------------------------------------------------------------------


def student_density(df: Any, t: Any) -> Any:
    """The density of Student's distribution, by `betaln` rather than a difference of two large `gammaln`."""
    return np.exp(-special.betaln(0.5 * df, 0.5) - 0.5 * np.log(df) - 0.5 * (df + 1) * np.log1p(t * t / df))


def student_by_df(df: Any, t: Any) -> Any:
    """The derivative of ``stdtr(df, t)`` by `df`: half of the beta distribution at df / (df + t**2)."""
    square = np.square(np.asarray(t, dtype=float))
    x, y = df / (df + square), square / (df + square)
    by_a = _beta_by_a(0.5 * df, 0.5, x, y)
    # x**(a-1) y**(-1/2) / B(a, 1/2) times the derivative t**2 / (df + t**2)**2 of x, without 0 / 0 at t = 0
    root = np.sqrt(y) / (df + square)
    by_x = np.exp((0.5 * df - 1) * np.log(x) - special.betaln(0.5 * df, 0.5)) * root
    return np.where(np.asarray(t) < 0, 0.5, -0.5) * (0.5 * by_a + by_x)


def f_partials(n: Any, d: Any, x: Any) -> tuple[Any, Any, Any]:
    """The derivatives of Fisher's distribution ``fdtr(n, d, x)`` by its three arguments."""
    total = n * x + d
    z, rest = n * x / total, d / total
    a, b = 0.5 * n, 0.5 * d
    density = np.exp(special.xlogy(a - 1, z) + special.xlogy(b - 1, rest) - special.betaln(a, b))
    slope = density * d / (total * total)
    times = np.where(np.asarray(x) == 0, 0.0, density * x / (total * total))  # in the limit
    by_n = 0.5 * _beta_by_a(a, b, z, rest) + times * d
    by_d = -0.5 * _beta_by_a(b, a, rest, z) - times * n
    return by_n, by_d, slope * n
