"""Families of ``scipy.special`` by their last argument: hypergeometric, Bessel, orthogonal polynomials.

The derivative of each is another of its family, with parameters moved by one.  By the parameters themselves
no formula is known, and an active one is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adbc.rules.numpy.elementwise import ElementwiseRule, elementwise
from adbc.rules.scipy.base import unknown
from adbc.rules.table import Rule

__all__ = ["ROWS", "UFUNC_ROWS"]


def _unknown(name: str) -> Callable[..., Any]:
    return unknown(f"scipy.special.{name}", "its parameters")


def _last(name: str, count: int, slope: Callable[..., Any]) -> list[ElementwiseRule]:
    """The row of a function of `count` arguments by the last of them."""
    function = getattr(special, name, None)
    if function is None:  # of another version
        return []
    parameters = [_unknown(name)] * (count - 1)
    return [elementwise(function, *parameters, slope, singular=True, result=None)]


def _row(name: str, *partials: Any) -> list[ElementwiseRule]:
    return [elementwise(getattr(special, name), *partials, singular=True, result=None)]


DEGREE = float(np.pi / 180.0)


def _inverse_boxcox_by_p(out: Any, y: Any, p: Any) -> Any:
    """The derivative of ``(1 + p y)**(1 / p)`` by `p`; in the limit ``exp(y)``, that of its series."""
    small = np.abs(p * y) < 1e-3
    safe = np.where(small, 1.0, p)
    t = p * y
    series = y * y * (-0.5 + t * (2 / 3 - t * (0.75 - 0.8 * t)))
    return out * np.where(small, series, (t / (1 + t) - np.log1p(t)) / (safe * safe))


def _over(y: Any, x: Any, limit: float) -> Any:
    """``y / x``, which has this limit at 0."""
    return np.where(x == 0, limit, y / x)


def _by_powers(z: Any, found: Any, *terms: float) -> Any:
    """`found`, and for large `z`, where exp(-z**2) does not count, the sum of ``terms[k] / z**(k + 1)``,
    which does not cancel."""
    small = np.square(np.real(z)) - np.square(np.imag(z)) > 40
    far = (np.abs(z) > 40) & ((np.imag(z) >= 0) | small)
    near_zero = 1 / np.where(far, z, 40.0)
    return np.where(far, near_zero * np.polyval(terms[::-1], near_zero), found)


_FADDEEVA = 1j / np.sqrt(np.pi)


def _faddeeva_slope(w: Any, z: Any) -> Any:
    """The derivative of Faddeeva's function, whose value at `z` is `w`."""
    terms = (0, -1, 0, -3 / 2, 0, -15 / 4, 0, -105 / 8, 0, -945 / 16)
    return _by_powers(z, -2 * z * w + 2 * _FADDEEVA, *[_FADDEEVA * c for c in terms])


def _lorentz(part: str, x: Any, gamma: Any) -> Any:
    """The derivative of a Voigt profile without a normal part."""
    square = x * x + gamma * gamma
    if part == "sigma":
        return np.zeros_like(square)
    return (-2 * x * gamma if part == "x" else x * x - gamma * gamma) / (np.pi * square * square)


def _voigt(part: str) -> Callable[..., Any]:
    """The derivative of a Voigt profile: Re w(z) / (sigma sqrt(2 pi)), z = (x + i gamma) / (sigma sqrt 2)."""

    def partial(out: Any, x: Any, sigma: Any, gamma: Any) -> Any:
        is_normal = np.asarray(sigma) != 0
        width = np.where(is_normal, sigma, 1.0)
        z = (x + 1j * gamma) / (width * np.sqrt(2))
        w = special.wofz(z)
        slope = _faddeeva_slope(w, z)
        if part == "sigma":
            terms = (0, 0, -1, 0, -3, 0, -45 / 4, 0, -105 / 2, 0, -4725 / 16)
            both = _by_powers(z, w + slope * z, *[_FADDEEVA * c for c in terms])
            found = -np.real(both) / (width * width * np.sqrt(2 * np.pi))
        else:
            found = (np.real(slope) if part == "x" else -np.imag(slope)) / (
                2 * np.sqrt(np.pi) * width * width
            )
        return np.where(is_normal, found, _lorentz(part, x, gamma))

    return partial


def _struve(function: Any, sign: int) -> Callable[..., Any]:
    """The derivative of a Struve function, without a quotient (DLMF 11.4.24, and 11.4.26 for the modified
    one).  The one of order zero has no neighbour that is smooth at zero."""

    def slope(out: Any, v: Any, x: Any) -> Any:
        between = (x / 2) ** v / (np.sqrt(np.pi) * special.gamma(v + 1.5))
        before = np.where(v == 0, between + sign * function(1, x), function(v - 1, x))
        return 0.5 * (before + sign * function(v + 1, x) + between)

    return slope


def _hankel(function: Any) -> Callable[..., Any]:
    return lambda out, v, z: 0.5 * (function(v - 1, z) - function(v + 1, z))


def _hankel_scaled(function: Any, v: Any, z: Any) -> Any:
    return 0.5 * (function(v - 1, z) - function(v + 1, z))


UFUNC_ROWS: list[ElementwiseRule] = [
    *_last("hyp2f1", 4, lambda out, a, b, c, z: a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)),
    *_last("hyp1f1", 3, lambda out, a, b, z: a / b * special.hyp1f1(a + 1, b + 1, z)),
    *_last("hyp0f1", 2, lambda out, b, z: special.hyp0f1(b + 1, z) / b),
    *_last("hyperu", 3, lambda out, a, b, z: -a * special.hyperu(a + 1, b + 1, z)),
    *_last("expn", 2, lambda out, n, x: -np.where(n == 0, out * (1 + 1 / x), special.expn(np.abs(n - 1), x))),
    *_row("wofz", _faddeeva_slope),
    *_last("hankel1e", 2, lambda out, v, z: _hankel_scaled(special.hankel1e, v, z) - 1j * out),
    *_last("hankel2e", 2, lambda out, v, z: _hankel_scaled(special.hankel2e, v, z) + 1j * out),
    *_last("struve", 2, _struve(special.struve, -1)),
    *_last("modstruve", 2, _struve(special.modstruve, 1)),
    *_row("itstruve0", lambda out, x: special.struve(0, x)),
    *_row("itmodstruve0", lambda out, x: special.modstruve(0, x)),
    *_row("it2struve0", lambda out, x: -_over(special.struve(0, x), x, 2 / np.pi)),
    *_row("ber", lambda out, x: special.berp(x)),
    *_row("bei", lambda out, x: special.beip(x)),
    *_row("ker", lambda out, x: special.kerp(x)),
    *_row("kei", lambda out, x: special.keip(x)),
    *_row("tandg", lambda out, x: DEGREE * (1 + out * out)),
    *_row("cotdg", lambda out, x: -DEGREE * (1 + out * out)),
    *_row("powm1", lambda out, x, y: y * np.power(x, y - 1), lambda out, x, y: np.power(x, y) * np.log(x)),
    *_row("inv_boxcox", lambda out, y, p: np.power(out, 1 - p), _inverse_boxcox_by_p),
    *_row(
        "inv_boxcox1p",
        lambda out, y, p: np.power(1 + out, 1 - p),
        lambda out, y, p: _inverse_boxcox_by_p(1 + out, y, p),
    ),
    *_row("voigt_profile", _voigt("x"), _voigt("sigma"), _voigt("gamma")),
    *_last(
        "eval_sh_legendre", 2, lambda out, n, x: (n + 1) * _below(special.eval_jacobi, n, 2 * x - 1, 1, 1)
    ),
    *_last("eval_sh_chebyt", 2, lambda out, n, x: 2 * n * _below(special.eval_chebyu, n, 2 * x - 1)),
    *_last("eval_sh_chebyu", 2, lambda out, n, x: 4 * _below(special.eval_gegenbauer, n, 2 * x - 1, 2)),
    *_last("eval_chebyc", 2, lambda out, n, x: n * _below(special.eval_chebyu, n, x / 2)),
    *_last("eval_chebys", 2, lambda out, n, x: _below(special.eval_gegenbauer, n, x / 2, 2)),
    *_last(
        "eval_sh_jacobi", 4, lambda out, n, p, q, x: n * _below(special.eval_sh_jacobi, n, x, p + 2, q + 1)
    ),
    *_last("wright_bessel", 3, lambda out, a, b, x: special.wright_bessel(a, a + b, x)),
    *_last("log_wright_bessel", 3, lambda out, a, b, x: np.exp(special.log_wright_bessel(a, a + b, x) - out)),
    *_last("lpmv", 3, lambda out, m, v, x: (v * x * out - (v + m) * special.lpmv(m, v - 1, x)) / (x * x - 1)),
    *_row("berp", lambda out, x: -special.bei(x) - _over(out, x, 0.0)),
    *_row("beip", lambda out, x: special.ber(x) - _over(out, x, 0.5)),
    *_row("kerp", lambda out, x: -special.kei(x) - out / x),
    *_row("keip", lambda out, x: special.ker(x) - out / x),
    *_row(
        "besselpoly",
        lambda out, a, p, v: special.besselpoly(a, p + 1, v - 1) - special.besselpoly(a, p + 1, v + 1),
        _unknown("besselpoly"),
        _unknown("besselpoly"),
    ),
    *_last("hankel1", 2, _hankel(special.hankel1)),
    *_last("hankel2", 2, _hankel(special.hankel2)),
    *_last("eval_legendre", 2, lambda out, n, x: 0.5 * (n + 1) * _below(special.eval_jacobi, n, x, 1, 1)),
    *_last("eval_chebyt", 2, lambda out, n, x: n * _below(special.eval_chebyu, n, x)),
    *_last("eval_chebyu", 2, lambda out, n, x: 2 * _below(special.eval_gegenbauer, n, x, 2)),
    *_last("eval_hermite", 2, lambda out, n, x: 2 * n * _below(special.eval_hermite, n, x)),
    *_last("eval_hermitenorm", 2, lambda out, n, x: n * _below(special.eval_hermitenorm, n, x)),
    *_last("eval_laguerre", 2, lambda out, n, x: -_below(special.eval_genlaguerre, n, x, 1)),
    *_last("eval_genlaguerre", 3, lambda out, n, a, x: -_below(special.eval_genlaguerre, n, x, a + 1)),
    *_last("eval_gegenbauer", 3, lambda out, n, a, x: 2 * a * _below(special.eval_gegenbauer, n, x, a + 1)),
    *_last(
        "eval_jacobi",
        4,
        lambda out, n, a, b, x: 0.5 * (n + a + b + 1) * _below(special.eval_jacobi, n, x, a + 1, b + 1),
    ),
]


def _below(polynomial: Any, n: Any, x: Any, *parameters: Any) -> Any:
    """The polynomial of the degree below `n`; 0 below 0."""
    n = np.asarray(n)
    return np.where(n == 0, 0.0, polynomial(np.where(n == 0, 0, n - 1), *parameters, x))


ROWS: list[Rule] = [*UFUNC_ROWS]
