"""``scipy.stats``: distributions whose densities have short derivatives, as functions of all parameters.

With z = (x - loc) / scale and the logarithm l(z, shapes) of the density for the scale 1, the logarithm of the
density of x is l - log(scale).  Its derivatives by x, the shapes, the location and the scale are

    l_z / scale,  l_shape,  -l_z / scale,  -(1 + z l_z) / scale,

and those of a distribution function F(z), whose derivative is the density f, are f / scale, F_shape,
-f / scale and -z f / scale.  Where SciPy gives a constant, because something lies outside of
the support or no parameter may be so, they are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special, stats
from scipy.special import psi

from adbc.rules.scipy.incomplete import beta_by_a, beta_by_b, gamma_by_a, student_by_df
from adbc.rules.scipy.of_distributions import MethodRule, over
from adbc.rules.table import Rule, ZeroRule

__all__ = ["LOGARITHMS", "ROWS", "where_inside"]

Function = Callable[..., Any]


def _student_by_df(z: Any, df: Any) -> Any:
    square = z * z / df
    halves = psi((df + 1) / 2) - psi(df / 2) - 1 / df
    return (halves - np.log1p(square) + (df + 1) / df * square / (1 + square)) / 2


LOGARITHMS: dict[Any, Sequence[Function]] = {
    stats.norm: [lambda z: -z],
    stats.expon: [lambda z: -1.0],
    stats.t: [lambda z, df: -(1 + 1 / df) * z / (1 + z * z / df), _student_by_df],
    stats.gamma: [lambda z, a: over(a - 1, z) - 1, lambda z, a: np.log(z) - psi(a)],
    stats.chi2: [
        lambda z, df: over(df / 2 - 1, z) - 0.5,
        lambda z, df: (np.log(z / 2) - psi(df / 2)) / 2,
    ],
    stats.beta: [
        lambda z, a, b: over(a - 1, z) - over(b - 1, 1 - z),
        lambda z, a, b: np.log(z) - psi(a) + psi(a + b),
        lambda z, a, b: np.log1p(-z) - psi(b) + psi(a + b),
    ],
}
"""The derivatives of the logarithm of the density for the scale 1: by z, and by the shapes."""


def _gamma(z: Any, a: Any) -> Any:
    return special.xlogy(a - 1, z) - z - special.gammaln(a)


def _student(z: Any, df: Any) -> Any:
    return -special.betaln(df / 2, 0.5) - np.log(df) / 2 - (df + 1) / 2 * np.log1p(z * z / df)


FUNCTIONS: dict[Any, Sequence[Function]] = {
    stats.norm: [lambda z: -z * z / 2 - np.log(2 * np.pi) / 2],
    stats.expon: [lambda z: -z],
    stats.t: [_student, lambda z, df: student_by_df(df, z)],
    stats.gamma: [_gamma, lambda z, a: gamma_by_a(a, z)],
    stats.chi2: [
        lambda z, df: _gamma(z / 2, df / 2) - np.log(2.0),
        lambda z, df: gamma_by_a(df / 2, z / 2) / 2,
    ],
    stats.beta: [
        lambda z, a, b: special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b),
        lambda z, a, b: beta_by_a(a, b, z),
        lambda z, a, b: beta_by_b(a, b, z),
    ],
}
"""The logarithm of the density for the scale 1, and the derivatives of the distribution function by the
shapes."""

_WEIGHTS: dict[str, tuple[Function, Function]] = {
    "cdf": (lambda log, out: np.exp(log), lambda slope, out: slope),
    "sf": (lambda log, out: -np.exp(log), lambda slope, out: -slope),
    # far out both powers are 0 or infinite
    "logcdf": (lambda log, out: np.exp(log - out), lambda slope, out: slope / np.exp(out)),
    "logsf": (lambda log, out: -np.exp(log - out), lambda slope, out: -slope / np.exp(out)),
}
"""The derivative of the method, whose value is `out`, by z, from the logarithm of the density; and that by a
shape, from that of the distribution function."""


def where_inside(distribution: Any, is_open: bool, z: Any, shapes: tuple[Any, ...], scale: Any) -> Any:
    """Where the method gives more than a constant; None if it does so everywhere."""
    shapes = tuple([np.asarray(s) for s in shapes])
    mask = np.asarray(distribution._argcheck(*shapes) & (np.asarray(scale) > 0))
    for bound, side in zip(distribution._get_support(*shapes), (1, -1), strict=True):
        if np.ndim(bound) or np.isfinite(bound):
            beyond = side * (np.asarray(z) - bound)
            mask = mask & (beyond > 0 if is_open else beyond >= 0)
    return None if mask.all() else mask


def _scaled(count: int, is_open: bool, formula: Function) -> Function:
    """The partial derivative ``formula(out, z, scale, *shapes)`` of a method with `count` shapes."""

    def partial(out: Any, distribution: Any, x: Any, *parameters: Any) -> Any:
        shapes, others = parameters[:count], parameters[count:]
        loc = others[0] if others else 0.0
        scale = others[1] if len(others) > 1 else 1.0
        z = (x - loc) / scale
        slope = formula(out, z, scale, *shapes)
        inside = where_inside(distribution, is_open, z, shapes, scale)
        return slope if inside is None else np.where(inside, slope, 0.0)

    return partial


def _by_logarithm(formulas: Sequence[Function], is_log: bool) -> list[Function]:
    """The derivatives of a density, or of its logarithm, by x, the shapes, the location and the scale."""

    def weighted(slope: Function) -> Function:
        if is_log:
            return lambda out, z, scale, *shapes: slope(z, scale, *shapes)
        return lambda out, z, scale, *shapes: out * slope(z, scale, *shapes)

    by_z, *by_shapes = formulas
    return [
        weighted(lambda z, scale, *shapes: by_z(z, *shapes) / scale),
        *[weighted(lambda z, scale, *shapes, f=f: f(z, *shapes)) for f in by_shapes],
        weighted(lambda z, scale, *shapes: -by_z(z, *shapes) / scale),
        weighted(lambda z, scale, *shapes: -(1 + z * by_z(z, *shapes)) / scale),
    ]


def _by_density(formulas: Sequence[Function], weights: tuple[Function, Function]) -> list[Function]:
    """The derivatives of a function of the distribution function, likewise."""
    density, *by_shapes = formulas
    by_log, by_slope = weights
    return [
        lambda out, z, scale, *shapes: by_log(density(z, *shapes), out) / scale,
        *[lambda out, z, scale, *shapes, f=f: by_slope(f(z, *shapes), out) for f in by_shapes],
        lambda out, z, scale, *shapes: -by_log(density(z, *shapes), out) / scale,
        lambda out, z, scale, *shapes: -z * by_log(density(z, *shapes), out) / scale,
    ]


def _rows() -> list[Rule]:
    rows: list[Rule] = [ZeroRule(where_inside)]
    for distribution, slopes in LOGARITHMS.items():
        count = distribution.numargs
        partials = {name: (_by_logarithm(slopes, name == "logpdf"), False) for name in ("pdf", "logpdf")}
        partials |= {
            name: (_by_density(FUNCTIONS[distribution], weights), True) for name, weights in _WEIGHTS.items()
        }
        for name, (formulas, is_open) in partials.items():
            scaled = [_scaled(count, is_open, formula) for formula in formulas]
            method = getattr(stats.rv_continuous, name)
            rows.append(MethodRule(method, distribution, scaled, {"loc": 0.0, "scale": 1.0}))
    return rows


_ASKED = ("_argcheck", "_get_support")

ROWS = _rows() if all(hasattr(stats.rv_continuous, asked) for asked in _ASKED) else []
