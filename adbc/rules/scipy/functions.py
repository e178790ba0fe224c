"""Families of ``scipy.special`` by their last argument: hypergeometric, elliptic, orthogonal polynomials.

The derivative of each is another of its family, with parameters moved by one.  By the parameters themselves
no formula is known, and an active one is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adbc.errors import UnsupportedError
from adbc.rules.numpy.elementwise import ElementwiseRule, elementwise
from adbc.rules.table import Rule

__all__ = ["ROWS", "UFUNC_ROWS"]


def _unknown(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **others: Any) -> Any:
        raise UnsupportedError(
            f"scipy.special.{name} has no derivative rule by its parameters",
            "adbc has no formula for it",
            "pass it as a constant: adbc.stop_gradient(x) in place of x",
        )

    return refuse


def _last(name: str, count: int, slope: Callable[..., Any]) -> list[ElementwiseRule]:
    """The row of a function of `count` arguments by the last of them."""
    function = getattr(special, name, None)
    if function is None:  # of another version
        return []
    parameters = [_unknown(name)] * (count - 1)
    return [elementwise(function, *parameters, slope, singular=True, result=None)]


def _row(name: str, *partials: Any) -> list[ElementwiseRule]:
    return [elementwise(getattr(special, name), *partials, singular=True, result=None)]


def _root(phi: Any, m: Any) -> Any:
    return np.sqrt(1 - m * np.square(np.sin(phi)))


def _first_by_m(out: Any, phi: Any, m: Any) -> Any:
    """The derivative of ``ellipkinc`` by `m`: half the integral of sin**2 / root**3, by Carlson's R_D."""
    s, c = np.sin(phi), np.cos(phi)
    if np.any(np.abs(phi) > 0.5 * np.pi):
        _unknown("ellipkinc, for angles beyond pi/2,")()
    return s**3 / 6 * special.elliprd(c * c, 1.0, 1 - m * s * s)


def _second_by_m(out: Any, phi: Any, m: Any) -> Any:
    s, c = np.sin(phi), np.cos(phi)
    if np.any(np.abs(phi) > 0.5 * np.pi):
        _unknown("ellipeinc, for angles beyond pi/2,")()
    return -(s**3) / 6 * special.elliprd(c * c, 1 - m * s * s, 1.0)


def _hankel(function: Any) -> Callable[..., Any]:
    return lambda out, v, z: 0.5 * (function(v - 1, z) - function(v + 1, z))


UFUNC_ROWS: list[ElementwiseRule] = [
    *_last("hyp2f1", 4, lambda out, a, b, c, z: a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)),
    *_last("hyp1f1", 3, lambda out, a, b, z: a / b * special.hyp1f1(a + 1, b + 1, z)),
    *_last("hyp0f1", 2, lambda out, b, z: special.hyp0f1(b + 1, z) / b),
    *_last("hyperu", 3, lambda out, a, b, z: -a * special.hyperu(a + 1, b + 1, z)),
    *_last("expn", 2, lambda out, n, x: -np.where(n == 0, out * (1 + 1 / x), special.expn(np.abs(n - 1), x))),
    *_row("ellipk", lambda out, m: special.elliprd(0.0, 1.0, 1 - m) / 6),
    *_row("ellipkm1", lambda out, p: -special.elliprd(0.0, 1.0, p) / 6),
    *_row("ellipe", lambda out, m: -special.elliprd(0.0, 1 - m, 1.0) / 6),
    *_row("ellipkinc", lambda out, phi, m: 1 / _root(phi, m), _first_by_m),
    *_row("ellipeinc", lambda out, phi, m: _root(phi, m), _second_by_m),
    *_row("wofz", lambda out, z: -2 * z * out + 2j / np.sqrt(np.pi)),
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
