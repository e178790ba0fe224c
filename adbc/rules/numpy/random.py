"""Rules of random numbers, of the old generators and the new.

A drawn number moves with the parameters of its distribution as the drawing does it: what was drawn from the
generator stays.  For a location and a scale this is d(loc) + (x - loc) / scale d(scale); where the inverse of
the distribution function is known, it says the same of others.  What comes by rejection (gamma numbers by
their shape, and all that is made of them) moves as the number that was accepted does, whose bits stay: this
is the derivative of the program with its seed.  The mean of such derivatives is not the derivative of a mean:
numbers that are accepted for one parameter and not for the next are left out of it, as are the branches that
a program takes by comparing random numbers.  Discrete draws are constant: their derivative by their
parameters is zero.  Where a number was drawn with the scale 0, its derivative by the scale is nan: nobody
knows what was drawn.  What is made of several numbers is in `adbc.rules.numpy.composed_draws`.

``shuffle``, ``permutation`` and ``choice`` move what they are given: they are asked where each element goes.
In all cases the generator is left as a plain call leaves it, also by a pullback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import ArrayRule, is_carried, plain
from adbc.rules.numpy.completing import completed, last_rows
from adbc.rules.numpy.composed_draws import by_shape
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Pullback, Rule, ZeroRule
from adbc.tangents.array_products import multiply
from adbc.tangents.zeros import is_zero

__all__ = ["LAST_ROWS", "ROWS"]

OLD, NEW = np.random.RandomState, np.random.Generator
HOMES = (OLD, NEW)


class DrawRule(ArrayRule):
    """The rule of a draw, which is told by its parameters and the numbers that came out.

    partials: for each parameter the derivative ``partial(out, *parameters)``, or None for zero.
    """

    is_drawn = True
    sample = None  # type: ignore[assignment]  # the generator would be another one afterwards

    def __init__(
        self, function: Any, names: str, partials: Sequence[Any], defaults: dict[str, float]
    ) -> None:
        given = names.split()
        order = [defaults.get(name, np.nan) for name in given]
        formulas = [None, *(None if p is None else _formula(p, order) for p in partials)]
        super().__init__(
            function, f"self {names} size", jvp=formulas, vjp=formulas, defaults=defaults, when=plain
        )
        self.result = _number_of(len(given))

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return False

    # What is constant counts as constant: by some parameters there is no derivative.

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        moving = [None if is_zero(d) else d for d in dargs]
        return super().frule(args, moving, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        return super().rrule(args, [f if is_carried(f) else None for f in fargs], kwargs)


def _number_of(count: int) -> Callable[..., type | None]:
    """What tells the class of a number that is drawn with at most so many parameters, numbers of Python's;
    with more there is a size, and perhaps an array."""

    def result(generator: type, *parameters: type) -> type | None:
        is_number = generator in HOMES and len(parameters) <= count and {*parameters} <= _NUMBERS
        return float if is_number else None

    return result


_NUMBERS = {float, int}


def _formula(partial: Callable[..., Any], defaults: Sequence[float]) -> Callable[..., Any]:
    def formula(d: Any, out: Any, generator: Any, *parameters: Any, **_: Any) -> Any:
        whole = [np.asarray(x) for x in (*parameters, *defaults[len(parameters) :])]
        with np.errstate(all="ignore"):
            return multiply(partial(np.asarray(out), *whole), d)

    return formula


def _one(out: Any, *_: Any) -> Any:
    return np.ones_like(out)


def _standard(out: Any, loc: Any, scale: Any) -> Any:
    """The number that was drawn from the standard distribution."""
    return (out - loc) / scale


def _by_power(out: Any, a: Any) -> Any:
    """The derivative of u**(1 / a) by `a`, where it is `out`."""
    return -out * np.log(np.where(out > 0, out, 1)) / a


def _triangular(out: Any, left: Any, mode: Any, right: Any, by: str) -> Any:
    """The derivative of a number from a triangular distribution: the square of its distance from its end is a
    share of the product of two lengths."""
    below = out <= mode
    half = 0.5 * np.where(below, out - left, right - out)
    near = np.where(below, mode - left, right - mode)
    whole = right - left
    inner, outer = half / near, half / whole
    if by == "mode":
        return inner
    if by == "left":
        return np.where(below, 1 - inner, 0) - outer * np.where(below, 1, -1)
    return np.where(below, 0, 1 - inner) + outer * np.where(below, 1, -1)


def _wald(out: Any, mean: Any, scale: Any, by: str) -> Any:
    """The derivative of a number from the inverse Gaussian distribution, both roots of the equation
    scale (x - mean)**2 = mean**2 x z**2 for a normal number z (Michael, Schucany and Haas, 1976)."""
    if by == "mean":
        return 2.0 * out**2 / (mean * (out + mean))
    return -out * (out - mean) / (scale * (out + mean))


def _vonmises_by_middle(out: Any, mu: Any, kappa: Any) -> Any:
    """The derivative by `mu`, which NumPy does not add where any angle is nearly as likely as any other."""
    return np.where(kappa < _SMALLEST_KAPPA, 0.0, np.ones_like(out))


def _vonmises(out: Any, mu: Any, kappa: Any) -> Any:
    """The derivative by `kappa` of an angle from von Mises' distribution, whose cosine is
    (1 + s z) / (s + z) for the cosine z of a random angle and a number s that depends on `kappa` alone (Best
    and Fisher, "Efficient simulation of the von Mises distribution", 1979)."""
    middle = np.where((kappa >= 1e-5) & (kappa <= _LARGEST_KAPPA), kappa, 1.0)
    root = np.sqrt(1.0 + 4.0 * middle**2)
    r = 1.0 + root
    rho = (r - np.sqrt(2.0 * r)) / (2.0 * middle)
    r_by_kappa = 4.0 * middle / root
    rho_by_kappa = r_by_kappa * (1.0 - 1.0 / np.sqrt(2.0 * r)) / (2.0 * middle) - rho / middle
    s = (1.0 + rho**2) / (2.0 * rho)
    s_by_kappa = 0.5 * (1.0 - 1.0 / rho**2) * rho_by_kappa
    small = np.where(kappa > 0.0, kappa, 1.0)
    s = np.where(kappa < 1e-5, 1.0 / small + kappa, s)
    s_by_kappa = np.where(kappa < 1e-5, 1.0 - 1.0 / small**2, s_by_kappa)
    cosine, sine = np.cos(out - mu), np.sin(out - mu)
    z = (cosine * s - 1.0) / (s - cosine)
    moved = (1.0 - z**2) / (s + z) ** 2 * s_by_kappa / sine
    angle = np.remainder(out - mu + np.pi, 2.0 * np.pi) - np.pi
    moved = np.where(kappa > _LARGEST_KAPPA, -0.5 * angle / kappa, moved)
    return np.where(kappa < _SMALLEST_KAPPA, 0.0, moved)


_SMALLEST_KAPPA = 1e-8
"""Below, a uniform number is the angle, whatever the parameters are."""
_LARGEST_KAPPA = 1e6
"""Above, NumPy's new generators draw from a normal distribution, to which the other tends: the derivatives
differ by a share of 1 / kappa, which is less than what the cosines lose to rounding."""


LOCATION_AND_SCALE: dict[str, float] = {"loc": 0.0, "scale": 1.0}
DRAWS: dict[str, tuple[str, Sequence[Any], dict[str, float]]] = {
    "normal": ("loc scale", (_one, _standard), LOCATION_AND_SCALE),
    "laplace": ("loc scale", (_one, _standard), LOCATION_AND_SCALE),
    "gumbel": ("loc scale", (_one, _standard), LOCATION_AND_SCALE),
    "logistic": ("loc scale", (_one, _standard), LOCATION_AND_SCALE),
    "uniform": (
        "low high",
        (
            lambda out, low, high: (high - out) / (high - low),
            lambda out, low, high: (out - low) / (high - low),
        ),
        {"low": 0.0, "high": 1.0},
    ),
    "exponential": ("scale", (lambda out, scale: out / scale,), {"scale": 1.0}),
    "rayleigh": ("scale", (lambda out, scale: out / scale,), {"scale": 1.0}),
    "lognormal": (
        "mean sigma",
        (lambda out, mean, sigma: out, lambda out, mean, sigma: out * (np.log(out) - mean) / sigma),
        {"mean": 0.0, "sigma": 1.0},
    ),
    "weibull": ("a", (_by_power,), {}),
    "power": ("a", (_by_power,), {}),
    "pareto": ("a", (lambda out, a: -(1 + out) * np.log1p(out) / a,), {}),
    "triangular": (
        "left mode right",
        (
            lambda out, left, mode, right: _triangular(out, left, mode, right, "left"),
            lambda out, left, mode, right: _triangular(out, left, mode, right, "mode"),
            lambda out, left, mode, right: _triangular(out, left, mode, right, "right"),
        ),
        {},
    ),
    "gamma": (
        "shape scale",
        (
            lambda out, shape, scale: scale * by_shape(out / scale, shape),
            lambda out, shape, scale: out / scale,
        ),
        {"scale": 1.0},
    ),
    "standard_gamma": ("shape", (by_shape,), {}),
    "chisquare": ("df", (lambda out, df: by_shape(out / 2.0, df / 2.0),), {}),
    "vonmises": ("mu kappa", (_vonmises_by_middle, _vonmises), {}),
    "wald": (
        "mean scale",
        (
            lambda out, mean, scale: _wald(out, mean, scale, "mean"),
            lambda out, mean, scale: _wald(out, mean, scale, "scale"),
        ),
        {},
    ),
}
"""Parameters, their derivatives and their defaults, by the name of the method."""

CONSTANT = [
    "binomial", "geometric", "hypergeometric", "logseries", "multinomial", "multivariate_hypergeometric",
    "negative_binomial", "poisson", "zipf", "integers", "randint", "random_integers", "tomaxint", "bytes",
    "random", "random_sample", "rand", "randn", "standard_normal", "standard_exponential", "standard_cauchy",
    "seed", "spawn",
]  # fmt: skip
"""The methods whose results have no parameters with a derivative: discrete ones, and standard ones."""
_STANDARD = frozenset(
    {
        "random", "random_sample", "rand", "randn", "standard_normal", "standard_exponential",
        "standard_cauchy",
    }
)  # fmt: skip
"""Those that give a float if they are given nothing."""


# -- what is moved -----------------------------------------------------------------------------------------


def drawn(method: Any, generator: Any, *args: Any, **options: Any) -> Any:
    """What the method of a generator gives for positions, which have no derivative."""
    return method(generator, *args, **options)


def _positions(x: Any) -> Any:
    return np.arange(x.size).reshape(x.shape)


def _is_whole(x: Any) -> bool:
    return isinstance(x, (int, np.integer))


def _permuting(method: Any) -> Callable[..., Any]:
    """A body of ``permutation`` and ``permuted``, which give an array with the elements in another order."""

    def permutation(generator: Any, x: Any, /, axis: Any = _AXIS[method.__name__], out: Any = None) -> Any:
        options = {} if _is_old(generator) else {"axis": axis}
        if _is_whole(x):
            return drawn(method, generator, x, **options)
        x = np.asarray(x)
        if out is not None:
            raise UnsupportedError(
                f"{method.__name__} of a random generator with out=",
                "adbc has no rule for that form",
                f"assign the result, out[...] = generator.{method.__name__}(x)",
            )
        return np.ravel(x)[drawn(method, generator, _positions(x), **options)]

    return permutation


_AXIS = {"permutation": 0, "permuted": None}


def _is_old(generator: Any) -> bool:
    return isinstance(generator, OLD)


def _shuffling(method: Any) -> Callable[..., Any]:
    def shuffle(generator: Any, x: Any, /, axis: int = 0) -> None:
        options = {} if _is_old(generator) else {"axis": axis}
        if isinstance(x, np.ndarray):
            places = _positions(x)
            drawn(method, generator, places, **options)
            x[...] = np.ravel(x)[places]
        else:
            order = list(range(len(x)))
            drawn(method, generator, order, **options)
            x[:] = [x[i] for i in order]

    return shuffle


def _choosing(method: Any) -> Callable[..., Any]:
    def choice(
        generator: Any, a: Any, /, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> Any:  # fmt: skip
        options = {} if _is_old(generator) else {"axis": axis, "shuffle": shuffle}
        if _is_whole(a) or np.ndim(a) == 0:
            return drawn(method, generator, a, size, replace, p, **options)
        a = np.asarray(a)
        places = drawn(method, generator, _positions(a), size, replace, p, **options)
        if size is None or np.ndim(places):
            return np.ravel(a)[places]
        return np.reshape(np.ravel(a)[np.ravel(places)], ())  # size=(): no element

    return choice


BODIES: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "permutation": _permuting, "permuted": _permuting, "shuffle": _shuffling, "choice": _choosing,
}  # fmt: skip


CONSTANT_DRAWS = [
    "rand", "randn", "random", "random_sample", "standard_normal", "randint", "seed", "default_rng", "ranf",
    "sample",
]  # fmt: skip
"""Functions of the module with names of their own."""


def _rows() -> list[Rule]:
    rows: list[Rule] = [ZeroRule(drawn), ZeroRule(_is_old), ZeroRule(_is_whole)]
    for home in HOMES:
        for name, (names, partials, defaults) in DRAWS.items():
            rows.append(DrawRule(getattr(home, name), names, partials, defaults))
        for name in CONSTANT:
            if hasattr(home, name):
                result = _number_of(0) if name in _STANDARD else None
                rows.append(ZeroRule(getattr(home, name), result=result))
        for name, body in BODIES.items():
            if hasattr(home, name):
                method = getattr(home, name)
                rows.append(Overlay(method, body(method), when=plain))
    rows.extend(ZeroRule(getattr(np.random, name)) for name in CONSTANT_DRAWS if hasattr(np.random, name))
    return rows


ROWS: list[Rule] = completed(_rows())
LAST_ROWS = last_rows(ROWS)
