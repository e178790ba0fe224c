"""Elliptic integrals and functions of ``scipy.special``.

Legendre's integrals have derivatives in Carlson's, which do not cancel; those of Carlson's are integrals of
the same kind, which the double exponential rule gives to some twelve digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adbc.errors import UnsupportedError
from adbc.rules.numpy.elementwise import ElementwiseRule, elementwise
from adbc.rules.scipy.several import several
from adbc.rules.table import Rule

__all__ = ["ROWS", "UFUNC_ROWS"]


def _row(name: str, *partials: Any) -> list[ElementwiseRule]:
    function = getattr(special, name, None)
    return [] if function is None else [elementwise(function, *partials, singular=True, result=None)]


# -- Legendre's integrals --------------------------------------------------------------------------------


def _root(phi: Any, m: Any) -> Any:
    return np.sqrt(1 - m * np.square(np.sin(phi)))


def _first_of_whole(m: Any) -> Any:
    """The derivative of ``ellipk``."""
    return special.elliprd(0.0, 1.0, 1 - m) / 6


def _second_of_whole(m: Any) -> Any:
    return -special.elliprd(0.0, 1 - m, 1.0) / 6


def _by_m(phi: Any, m: Any, near: Callable[..., Any], whole: Callable[..., Any]) -> Any:
    """A derivative by the parameter: both integrals grow by twice the whole one with each half turn."""
    turns = np.round(np.divide(phi, np.pi))
    rest = phi - turns * np.pi
    found = near(np.sin(rest), np.cos(rest), m)
    return np.where(turns == 0, found, found + 2 * turns * np.where(turns == 0, 0.0, whole(m)))


def first_by_m(phi: Any, m: Any) -> Any:
    """The derivative of ``ellipkinc`` by `m`: half the integral of sin**2 / root**3."""
    return _by_m(
        phi, m, lambda s, c, m: s**3 / 6 * special.elliprd(c * c, 1.0, 1 - m * s * s), _first_of_whole
    )


def second_by_m(phi: Any, m: Any) -> Any:
    return _by_m(
        phi, m, lambda s, c, m: -(s**3) / 6 * special.elliprd(c * c, 1 - m * s * s, 1.0), _second_of_whole
    )


# -- Carlson's integrals ---------------------------------------------------------------------------------

_U = np.linspace(-4.4, 4.4, 353)
_NODES = np.exp(0.5 * np.pi * np.sinh(_U))
_WEIGHTS = (_U[1] - _U[0]) * 0.5 * np.pi * np.cosh(_U) * _NODES


def _integral(factor: float, by_t: int, powers: tuple[float, ...]) -> Callable[..., Any]:
    """The partial derivative that is `factor` times the integral over t > 0 of t**by_t times each
    (t + argument)**power."""

    def partial(out: Any, *args: Any) -> Any:
        columns = [np.asarray(x)[..., None] for x in args]
        if any(np.iscomplexobj(x) for x in columns):
            raise UnsupportedError(
                "an elliptic integral of Carlson's of complex numbers",
                "its derivative is known for real arguments only",
                "pass real arguments",
            )
        if len(args) == 4 and np.any(columns[3] < 0):
            raise UnsupportedError(
                "scipy.special.elliprj where p is negative",
                "it is a principal value there, whose derivative has no rule",
                "pass p as a positive number",
            )
        total: Any = 0.0
        count: Any = 0
        for x in columns:
            total = total + np.log(np.where(x > 0, x, 1.0))
            count = count + (x > 0)
        scale = np.exp(total / np.maximum(count, 1))
        t = scale * _NODES
        found = scale * _WEIGHTS * t**by_t
        for x, power in zip(columns, powers, strict=True):
            found = found * (t + x) ** power
        result = factor * np.sum(np.where(np.isfinite(found), found, 0.0), axis=-1)
        at_zero = sum(power * (x[..., 0] == 0) for x, power in zip(columns, powers, strict=True))
        return np.where(at_zero + by_t <= -1, factor * np.inf, result)

    return partial


def _carlson(name: str, powers: tuple[float, ...], factor: float) -> list[ElementwiseRule]:
    """The row of `factor` times the integral of the product of (t + argument)**power."""
    partials = []
    for i, power in enumerate(powers):
        own = (*powers[:i], power - 1, *powers[i + 1 :])
        partials.append(_integral(factor * power, 0, own))
    return _row(name, *partials)


# -- means and functions ---------------------------------------------------------------------------------


def _mean(sign: int) -> Callable[..., Any]:
    """The derivative of the arithmetic-geometric mean, which is pi (a + b) / (4 K(m)) with
    m = ((a - b) / (a + b))**2, by `a` (`sign` 1) or `b` (-1)."""

    def partial(out: Any, a: Any, b: Any) -> Any:
        total = a + b
        k = (a - b) / total
        own, other = (a, b) if sign > 0 else (b, a)
        slope = 2 * k * sign * 2 * (b if sign > 0 else a) / (total * total)
        inside = out * (1 / total - _first_of_whole(k * k) / special.ellipk(k * k) * slope)
        return np.where(other == 0, np.where(own == 0, np.nan, 0.0), inside)

    return partial


def _jacobi_by_u(outs: Any, u: Any, m: Any) -> Any:
    sn, cn, dn, _ = outs
    return cn * dn, -sn * dn, -m * sn * cn, dn


def _jacobi_by_m(outs: Any, u: Any, m: Any) -> Any:
    """The amplitude phi solves F(phi, m) = u."""
    sn, cn, dn, phi = outs
    slope = -dn * first_by_m(phi, m)
    return cn * slope, -sn * slope, -sn * (0.5 * sn + m * cn * slope) / dn, slope


UFUNC_ROWS: list[ElementwiseRule] = [
    *_row("ellipk", lambda out, m: _first_of_whole(m)),
    *_row("ellipkm1", lambda out, p: -_first_of_whole(1 - p)),
    *_row("ellipe", lambda out, m: _second_of_whole(m)),
    *_row("ellipkinc", lambda out, phi, m: 1 / _root(phi, m), lambda out, phi, m: first_by_m(phi, m)),
    *_row("ellipeinc", lambda out, phi, m: _root(phi, m), lambda out, phi, m: second_by_m(phi, m)),
    *_row(
        "elliprf",
        lambda out, x, y, z: -special.elliprd(y, z, x) / 6,
        lambda out, x, y, z: -special.elliprd(x, z, y) / 6,
        lambda out, x, y, z: -special.elliprd(x, y, z) / 6,
    ),
    *_row(
        "elliprc",
        lambda out, x, y: -special.elliprd(y, y, x) / 6,
        lambda out, x, y: -special.elliprd(x, y, y) / 3,
    ),
    *_carlson("elliprd", (-0.5, -0.5, -1.5), 1.5),
    *_carlson("elliprj", (-0.5, -0.5, -0.5, -1.0), 1.5),
    *_row(
        "elliprg",
        _integral(0.125, 1, (-1.5, -0.5, -0.5)),
        _integral(0.125, 1, (-0.5, -1.5, -0.5)),
        _integral(0.125, 1, (-0.5, -0.5, -1.5)),
    ),
    *_row("agm", _mean(1), _mean(-1)),
]

ROWS: list[Rule] = [*UFUNC_ROWS, *several("ellipj", _jacobi_by_u, _jacobi_by_m)]
