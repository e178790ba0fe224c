"""Functions of ``scipy.special`` that give their own derivatives: by an argument that counts them (Bessel
functions' derivatives, Legendre functions, spherical harmonics), or by a function beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adbc.errors import UnsupportedError
from adbc.rules.activity import Refusal
from adbc.rules.implicit import valued
from adbc.rules.numpy.base import ArrayRule
from adbc.rules.numpy.elementwise import conj, elementwise, quiet
from adbc.rules.scipy.base import internal, unknown
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def _by(name: str, parameters: str, *slopes: Any) -> list[Rule]:
    """The row of a function by each ``slope(*args, **others)``, None where it is refused."""
    function = getattr(special, name, None)
    if function is None:
        return []
    names = parameters.split()
    found = [s or unknown(f"scipy.special.{name}", f"its argument {n}") for n, s in zip(names, slopes)]  # noqa: B905  # names of options follow

    def along(slope: Any) -> Any:
        if isinstance(slope, Refusal):
            return slope
        return lambda d, out, /, *args, **others: quiet(slope(*args, **others), d)

    def against(slope: Any) -> Any:
        return lambda d, out, /, *args, **others: quiet(conj(slope(*args, **others)), d)

    return [ArrayRule(function, parameters, jvp=[along(s) for s in found], vjp=[against(s) for s in found])]


# -- derivatives of Bessel functions ---------------------------------------------------------------------


def _derivative(function: Any) -> Callable[..., Any]:
    return lambda v, z, n=1: function(v, z, int(n) + 1)


# -- Legendre functions ----------------------------------------------------------------------------------


def _next(function: Any, keeps: bool) -> Callable[..., Any]:
    """The derivatives of what ``function(*args, diff_n)`` gives; `keeps` says that its first axis is that of
    the derivatives even if there is one."""

    def slope(*args: Any, diff_n: int = 0, **options: Any) -> Any:
        if diff_n > 1:
            raise UnsupportedError(
                f"scipy.special.{function.__name__} with diff_n={diff_n}",
                "it knows no derivative beyond the second",
                "use diff_n=1 at most",
            )
        found = function(*args, diff_n=diff_n + 1, **options)
        return found[1:] if keeps or diff_n else found[1]

    return slope


def _harmonic(name: str, place: int) -> Callable[..., Any]:
    """The derivative of spherical harmonics by the angle at `place`, which they give as a gradient."""
    function = getattr(special, name)

    def slope(n: Any, m: Any, theta: Any, phi: Any, diff_n: int = 0) -> Any:
        if diff_n:
            raise UnsupportedError(
                f"scipy.special.{name} with diff_n={diff_n}",
                "it gives several arrays then",
                f"differentiate scipy.special.{name} without diff_n",
            )
        return function(n, m, theta, phi, diff_n=1)[1][..., place]

    return slope


# -- spherical Bessel functions --------------------------------------------------------------------------


def _spherical(name: str, sign: int, is_finite: bool) -> list[Rule]:
    """The rows of a spherical Bessel function, which may be finite at zero, and its derivative, which
    satisfies y'' = -2 y' / x - (sign - n (n + 1) / x**2) y."""
    home = internal("scipy.special._special_ufuncs")
    function, derivative = (getattr(home, f"_spherical_{name}{end}", None) for end in ("", "_d"))
    if function is None or derivative is None:
        return []

    def second(out: Any, n: Any, x: Any) -> Any:
        x, n = np.asarray(x), np.asarray(n)
        at_zero = np.where(n == 0, -sign / 3, np.where(n == 2, 2 / 15, 0.0))
        inside = -2 / x * out - (sign - n * (n + 1) / (x * x)) * function(n, x)
        return np.where((x == 0) & is_finite, at_zero, inside)

    return [
        elementwise(function, None, lambda out, n, x: derivative(n, x), singular=True, result=None),
        elementwise(derivative, None, second, singular=True, result=None),
    ]


# -- polynomials as objects ------------------------------------------------------------------------------


def value_of(polynomial: Any, v: Any) -> Any:
    """The value of a polynomial of SciPy's at `v`, by the recurrence of its family."""
    return polynomial._eval_func(v)


def evaluated(self: Any, v: Any) -> Any:
    """The body of ``orthopoly1d.__call__``: its derivative is that of the coefficients, while they are exact
    enough; the recurrence would be asked for its derivative by the parameters of the family."""
    if not self._eval_func or isinstance(v, np.poly1d):
        return np.poly1d.__call__(self, v)
    if self.order > 20:
        return self._eval_func(v)
    return valued(value_of(self, v), np.poly1d.__call__(self, v))


ROWS: list[Rule] = [
    *[
        row
        for name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp")
        for row in _by(name, "v z n", None, _derivative(getattr(special, name)))
    ],
    *[
        row
        for name, count in (("legendre_p", 1), ("assoc_legendre_p", 2), ("sph_legendre_p", 2))
        if hasattr(special, name)
        for end in ("", "_all")
        for row in _by(
            name + end, "n m z" if count == 2 else "n z", *[None] * count,
            _next(getattr(special, name + end), bool(end)),
        )
    ],
    *[
        row
        for name in ("sph_harm_y", "sph_harm_y_all")
        if hasattr(special, name)
        for row in _by(name, "n m theta phi", None, None, _harmonic(name, 0), _harmonic(name, 1))
    ],
    *_spherical("jn", 1, True),
    *_spherical("yn", 1, False),
    *_spherical("in", -1, True),
    *_spherical("kn", -1, False),
    ZeroRule(value_of),
    Overlay(special._orthogonal.orthopoly1d.__call__, evaluated),
]  # fmt: skip
