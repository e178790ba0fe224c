"""The distributions in ``scipy.special`` by their parameters, and what ``scipy.stats`` takes from it.

An inverse x = F^-1(p; a) has the derivatives 1 / f by p and -F_a / f by a, where f is the density.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adbc.rules.numpy.elementwise import ElementwiseRule, elementwise
from adbc.rules.scipy.base import internal
from adbc.rules.scipy.digamma import psi_difference
from adbc.rules.scipy.incomplete import (
    beta_by_a,
    beta_by_b,
    beta_density,
    f_partials,
    gamma_by_a,
    gamma_density,
    student_by_df,
    student_density,
)
from adbc.rules.table import Rule

__all__ = ["ROWS", "UFUNC_ROWS"]

_PRIVATE = special._ufuncs


def _row(name: str, *partials: Any) -> list[ElementwiseRule]:
    home = _PRIVATE if hasattr(_PRIVATE, name) else internal("scipy.special._special_ufuncs")
    function = getattr(home if name.startswith("_") else special, name, None)
    if function is None:  # of another version
        return []
    return [elementwise(function, *partials, singular=True, result=None)]


def _complement(partial: Callable[..., Any]) -> Callable[..., Any]:
    return lambda out, *args: -partial(out, *args)


def _inside(out: Any, found: Any, end: float = np.inf) -> Any:
    """The derivative `found` of an inverse by a parameter; zero at the ends of what it gives."""
    return np.where((out <= 0) | (out >= end), 0.0, found)


def _gamma_inverse_by_a(out: Any, a: Any, y: Any) -> Any:
    return _inside(out, -gamma_by_a(a, out) / gamma_density(a, out))


def _beta_inverse(by: Callable[..., Any]) -> Callable[..., Any]:
    return lambda out, a, b, y: _inside(out, -by(a, b, out) / beta_density(a, b, out), 1.0)


def _fisher(place: int, sign: int = 1) -> Callable[..., Any]:
    return lambda out, n, d, x: sign * f_partials(n, d, x)[place]


def _fisher_inverse(place: int) -> Callable[..., Any]:
    def partial(out: Any, n: Any, d: Any, p: Any) -> Any:
        found = f_partials(n, d, out)
        return 1 / found[2] if place == 2 else _inside(out, -found[place] / found[2])

    return partial


def _cauchy_slope(sign: int) -> Callable[..., Any]:
    return lambda out, p, loc, scale: sign * np.pi * scale / np.square(np.sin(np.pi * p))


def _cauchy_scale(out: Any, p: Any, loc: Any, scale: Any) -> Any:
    return (out - loc) / scale


def _normal_density(x: Any) -> Any:
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def _skewed(x: Any, loc: Any, scale: Any, shape: Any) -> Any:
    """The density of the skewed normal distribution."""
    z = (x - loc) / scale
    return 2 * _normal_density(z) * special.ndtr(shape * z) / scale


def _skewed_by_shape(x: Any, loc: Any, scale: Any, shape: Any) -> Any:
    """The derivative of its distribution function by the shape."""
    z, q = (x - loc) / scale, 1 + shape * shape
    return -np.exp(-0.5 * z * z * q) / (np.pi * q)


def _skewed_inverse(sign: int) -> tuple[Callable[..., Any], ...]:
    return (
        lambda out, p, loc, scale, shape: sign / _skewed(out, loc, scale, shape),
        lambda out, p, loc, scale, shape: 1.0,
        lambda out, p, loc, scale, shape: (out - loc) / scale,
        lambda out, p, loc, scale, shape: (
            -_skewed_by_shape(out, loc, scale, shape) / _skewed(out, loc, scale, shape)
        ),
    )


def _binomial(out: Any, k: Any, n: Any, p: Any) -> Any:
    """The derivative of the binomial distribution by its probability."""
    k = np.floor(k)
    inside = (k >= 0) & (k < n)
    k = np.where(inside, k, 0)
    return np.where(inside, -beta_density(k + 1, n - k, p), 0.0)


def _private(name: str, *args: Any) -> Any:
    return getattr(_PRIVATE, name)(*args)


def _moved(name: str, sign: int) -> tuple[Callable[..., Any], ...]:
    """The derivatives of a function of the distribution function with density `name`, by x, the location and
    the scale."""
    return (
        lambda out, x, loc, scale: sign * _private(name, x, loc, scale),
        lambda out, x, loc, scale: -sign * _private(name, x, loc, scale),
        lambda out, x, loc, scale: -sign * (x - loc) / scale * _private(name, x, loc, scale),
    )


def _moved_inverse(name: str, sign: int) -> tuple[Callable[..., Any], ...]:
    """The derivatives of the inverse of such a function."""
    return (
        lambda out, p, loc, scale: sign / _private(name, out, loc, scale),
        lambda out, p, loc, scale: 1.0,
        lambda out, p, loc, scale: (out - loc) / scale,
    )


_CAUCHY = [lambda out, p, loc, scale: 1.0, _cauchy_scale]

UFUNC_ROWS: list[ElementwiseRule] = [
    *_row("gammainc", lambda out, a, x: gamma_by_a(a, x), lambda out, a, x: gamma_density(a, x)),
    *_row("gammaincc", lambda out, a, x: -gamma_by_a(a, x), lambda out, a, x: -gamma_density(a, x)),
    *_row("gammaincinv", _gamma_inverse_by_a, lambda out, a, y: 1 / gamma_density(a, out)),
    *_row("gammainccinv", _gamma_inverse_by_a, lambda out, a, y: -1 / gamma_density(a, out)),
    *_row(
        "betainc",
        lambda out, a, b, x: beta_by_a(a, b, x),
        lambda out, a, b, x: beta_by_b(a, b, x),
        lambda out, a, b, x: beta_density(a, b, x),
    ),
    *_row(
        "betaincc",
        lambda out, a, b, x: -beta_by_a(a, b, x),
        lambda out, a, b, x: -beta_by_b(a, b, x),
        lambda out, a, b, x: -beta_density(a, b, x),
    ),
    *_row(
        "betaincinv",
        _beta_inverse(beta_by_a),
        _beta_inverse(beta_by_b),
        lambda out, a, b, y: 1 / beta_density(a, b, out),
    ),
    *_row(
        "betainccinv",
        _beta_inverse(beta_by_a),
        _beta_inverse(beta_by_b),
        lambda out, a, b, y: -1 / beta_density(a, b, out),
    ),
    *_row(
        "chdtr",
        lambda out, v, x: 0.5 * gamma_by_a(0.5 * v, 0.5 * x),
        lambda out, v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x),
    ),
    *_row(
        "chdtrc",
        lambda out, v, x: -0.5 * gamma_by_a(0.5 * v, 0.5 * x),
        lambda out, v, x: -0.5 * gamma_density(0.5 * v, 0.5 * x),
    ),
    *_row(
        "chdtri",
        lambda out, v, p: _gamma_inverse_by_a(0.5 * out, 0.5 * v, p),
        lambda out, v, p: -2 / gamma_density(0.5 * v, 0.5 * out),
    ),
    *_row("stdtr", lambda out, df, t: student_by_df(df, t), lambda out, df, t: student_density(df, t)),
    *_row(
        "stdtrit",
        lambda out, df, p: -student_by_df(df, out) / student_density(df, out),
        lambda out, df, p: 1 / student_density(df, out),
    ),
    *_row("fdtr", _fisher(0), _fisher(1), _fisher(2)),
    *_row("fdtrc", _fisher(0, -1), _fisher(1, -1), _fisher(2, -1)),
    *_row("fdtri", _fisher_inverse(0), _fisher_inverse(1), _fisher_inverse(2)),
    *_row(
        "owens_t",
        lambda out, h, a: -0.5 * _normal_density(h) * special.erf(a * h / np.sqrt(2.0)),
        lambda out, h, a: np.exp(-0.5 * h * h * (1 + a * a)) / (2 * np.pi * (1 + a * a)),
    ),
    *_row(
        "_beta_pdf",
        lambda out, x, a, b: out * ((a - 1) / x - (b - 1) / (1 - x)),
        lambda out, x, a, b: out * (np.log(x) + psi_difference(a, b)),
        lambda out, x, a, b: out * (np.log1p(-x) + psi_difference(b, a)),
    ),
    *_row(
        "_beta_ppf",
        lambda out, q, a, b: 1 / beta_density(a, b, out),
        lambda out, q, a, b: _beta_inverse(beta_by_a)(out, a, b, q),
        lambda out, q, a, b: _beta_inverse(beta_by_b)(out, a, b, q),
    ),
    *_row("_cauchy_ppf", _cauchy_slope(1), *_CAUCHY),
    *_row("_cauchy_isf", _cauchy_slope(-1), *_CAUCHY),
    *_row(
        "_skewnorm_cdf",
        lambda out, x, loc, scale, shape: _skewed(x, loc, scale, shape),
        lambda out, x, loc, scale, shape: -_skewed(x, loc, scale, shape),
        lambda out, x, loc, scale, shape: -_skewed(x, loc, scale, shape) * (x - loc) / scale,
        lambda out, x, loc, scale, shape: _skewed_by_shape(x, loc, scale, shape),
    ),
    *_row("_kolmogc", lambda out, x: -_private("_kolmogp", x)),
    *_row("_kolmogci", lambda out, p: -1 / _private("_kolmogp", out)),
    *_row("_smirnovc", None, lambda out, n, d: -_private("_smirnovp", n, d)),
    *_row("_smirnovci", None, lambda out, n, p: -1 / _private("_smirnovp", n, out)),
    *_row("_landau_cdf", *_moved("_landau_pdf", 1)),
    *_row("_landau_sf", *_moved("_landau_pdf", -1)),
    *_row("_landau_ppf", *_moved_inverse("_landau_pdf", 1)),
    *_row("_landau_isf", *_moved_inverse("_landau_pdf", -1)),
    *_row("_log1mexp", lambda out, x: -1 / np.expm1(-x)),
    *_row("_skewnorm_ppf", *_skewed_inverse(1)),
    *_row("_skewnorm_isf", *_skewed_inverse(-1)),
]

ROWS: list[Rule] = [*UFUNC_ROWS]
