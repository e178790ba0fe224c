"""``scipy.stats``: distributions whose densities have short derivatives, as functions of all parameters.

With z = (x - loc) / scale and the logarithm l(z, shapes) of the density for the scale 1, the logarithm of the
density of x is l - log(scale).  Its derivatives by x, the shapes, the location and the scale are

    l_z / scale,  l_shape,  -l_z / scale,  -(1 + z l_z) / scale,

and those of a distribution function F(z), whose derivative is the density f, are f / scale, -f / scale and
-z f / scale.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import psi

from adbc.rules.numpy.elementwise import elementwise
from adbc.rules.quick import quick
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS", "count_of", "direct_of", "placed"]

Formula = Callable[..., Any]


def _student_by_df(z: Any, df: Any) -> Any:
    square = z * z / df
    halves = psi((df + 1) / 2) - psi(df / 2) - 1 / df
    return (halves - np.log1p(square) + (df + 1) / df * square / (1 + square)) / 2


LOGARITHMS: dict[Any, Sequence[Formula]] = {
    stats.norm: [lambda z: -z],
    stats.expon: [lambda z: -1.0],
    stats.t: [lambda z, df: -(df + 1) * z / (df + z * z), _student_by_df],
    stats.gamma: [lambda z, a: (a - 1) / z - 1, lambda z, a: np.log(z) - psi(a)],
    stats.chi2: [lambda z, df: (df / 2 - 1) / z - 0.5, lambda z, df: (np.log(z / 2) - psi(df / 2)) / 2],
    stats.beta: [
        lambda z, a, b: (a - 1) / z - (b - 1) / (1 - z),
        lambda z, a, b: np.log(z) - psi(a) + psi(a + b),
        lambda z, a, b: np.log1p(-z) - psi(b) + psi(a + b),
    ],
}
"""The derivatives of the logarithm of the density for the scale 1: by z, and by the shapes."""

DENSITIES: dict[Any, Formula] = {stats.norm: lambda z: -z * z / 2 - np.log(2 * np.pi) / 2}
"""The logarithm of the density for the scale 1, of those whose distribution functions are meant, too."""


def _by_logarithm(formulas: Sequence[Formula], is_log: bool) -> list[Formula]:
    """The derivatives of a density, or of its logarithm, by x, the shapes, the location and the scale."""

    def scaled(by_parts: Callable[..., Any]) -> Formula:
        def partial(out: Any, x: Any, *parameters: Any) -> Any:
            *shapes, loc, scale = parameters
            slope = by_parts((x - loc) / scale, scale, *shapes)
            return slope if is_log else out * slope

        return partial

    by_z, *by_shapes = formulas
    return [
        scaled(lambda z, scale, *shapes: by_z(z, *shapes) / scale),
        *[scaled(lambda z, scale, *shapes, f=f: f(z, *shapes)) for f in by_shapes],
        scaled(lambda z, scale, *shapes: -by_z(z, *shapes) / scale),
        scaled(lambda z, scale, *shapes: -(1 + z * by_z(z, *shapes)) / scale),
    ]


def _by_density(density: Formula, weighted: Callable[[Any, Any], Any]) -> list[Formula]:
    """The derivatives by x, the location and the scale of a function of the distribution function, the
    derivative of which for the scale 1 is ``weighted(density(z), out)``."""

    def scaled(factor: Callable[[Any], Any]) -> Formula:
        def partial(out: Any, x: Any, loc: Any, scale: Any) -> Any:
            z = (x - loc) / scale
            return weighted(density(z), out) * factor(z) / scale

        return partial

    return [scaled(lambda z: 1.0), scaled(lambda z: -1.0), scaled(lambda z: -z)]


_WEIGHTS: dict[str, Callable[[Any, Any], Any]] = {
    "cdf": lambda log, out: np.exp(log),
    "sf": lambda log, out: -np.exp(log),
    "logcdf": lambda log, out: np.exp(log - out),  # far out both powers are 0 or infinite
    "logsf": lambda log, out: -np.exp(log - out),
}


@quick
def _direct(*args: Any) -> Any:
    return method(*args)  # type: ignore[name-defined]  # noqa: F821  # a global of each copy of this function


def _calling(method: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls `method`, which it finds where a function has no memory of its own."""
    return types.FunctionType(_direct.__code__, {"method": method, "__name__": __name__}, method.__name__)


def _all() -> tuple[dict[Any, tuple[int, Callable[..., Any]]], list[Rule]]:
    found: dict[Any, tuple[int, Callable[..., Any]]] = {}
    rows: list[Rule] = []
    for distribution, formulas in LOGARITHMS.items():
        partials = {name: _by_logarithm(formulas, name == "logpdf") for name in ("pdf", "logpdf")}
        density = DENSITIES.get(distribution)
        if density is not None:
            partials.update({name: _by_density(density, weight) for name, weight in _WEIGHTS.items()})
        for name, of_name in partials.items():
            function = _calling(getattr(distribution, name))
            found[type(distribution), name] = distribution.numargs, function
            rows.append(elementwise(function, *of_name, singular=True, result=None))
    return found, rows


_DIRECT, ROWS = _all()


def direct_of(cls: type, name: str) -> Callable[..., Any] | None:
    """A function of x, the shapes, the location and the scale that does what this method of the distributions
    of a class does; None if it has no row."""
    found = _DIRECT.get((cls, name))
    return None if found is None else found[1]


def count_of(cls: type, name: str) -> int:
    """How many shapes that function takes."""
    return _DIRECT[cls, name][0]


def placed(count: int, args: tuple[Any, ...], kwds: dict[str, Any]) -> tuple[Any, ...]:
    """The `count` shapes, the location and the scale that a method is given; nothing, if that is not all."""
    if len(args) == count + 2 and not kwds:
        return args
    if len(args) > count + 2 or len(args) < count or not kwds.keys() <= {"loc", "scale"}:
        return ()
    rest = args[count:]
    if ("loc" in kwds and rest) or ("scale" in kwds and len(rest) > 1):
        return ()
    loc = rest[0] if rest else kwds.get("loc", 0.0)
    scale = rest[1] if len(rest) > 1 else kwds.get("scale", 1.0)
    return (*args[:count], loc, scale)


ROWS += [ZeroRule(direct_of), ZeroRule(count_of)]
