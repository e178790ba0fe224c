"""Rules of random numbers, of the old generators and the new.

A drawn number moves with the parameters of its distribution as the drawing does it: what was drawn from the
generator stays.  For a location and a scale this is d(loc) + (x - loc) / scale d(scale); where the inverse of
the distribution function is known, it says the same of others.  What comes by rejection (the shape of a gamma
distribution and all that is made of it) has no such path, and is refused by that parameter.  Discrete draws
are constant: their derivative by their parameters is zero.  Where a number was drawn with the scale 0, its
derivative by the scale is nan: nobody knows what was drawn.

``shuffle``, ``permutation`` and ``choice`` move what they are given: they are asked where each element goes.
In all cases the generator is left as a plain call leaves it, also by a pullback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.activity import Refusal
from adbc.rules.numpy.base import ArrayRule, is_carried, plain
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Pullback, Rule, ZeroRule
from adbc.tangents.array_products import multiply
from adbc.tangents.zeros import is_zero

__all__ = ["ROWS"]

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
    if isinstance(partial, Refusal):
        return partial

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


def _refused(name: str, parameter: str) -> Refusal:
    remedy = f"pass adbc.stop_gradient({parameter}), or compute with the density instead of the draw"
    why = "such numbers are drawn by rejection, and do not move smoothly with it"
    if parameter == "cov":
        why = "which of its roots the numbers are multiplied by is left open"
        remedy = "draw mean + np.linalg.cholesky(cov) @ generator.standard_normal(len(mean))"

    return Refusal(
        f"a number is drawn by {name} with a parameter {parameter!r} that has a derivative", why, remedy
    )


def _fixed(name: str, parameters: str) -> list[Refusal]:
    return [_refused(name, parameter) for parameter in parameters.split()]


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
        (_refused("gamma", "shape"), lambda out, shape, scale: out / scale),
        {"scale": 1.0},
    ),
    "vonmises": ("mu kappa", (_one, _refused("vonmises", "kappa")), {}),
    "standard_gamma": ("shape", _fixed("standard_gamma", "shape"), {}),
    "standard_t": ("df", _fixed("standard_t", "df"), {}),
    "chisquare": ("df", _fixed("chisquare", "df"), {}),
    "noncentral_chisquare": ("df nonc", _fixed("noncentral_chisquare", "df nonc"), {}),
    "f": ("dfnum dfden", _fixed("f", "dfnum dfden"), {}),
    "noncentral_f": ("dfnum dfden nonc", _fixed("noncentral_f", "dfnum dfden nonc"), {}),
    "beta": ("a b", _fixed("beta", "a b"), {}),
    "wald": ("mean scale", _fixed("wald", "mean scale"), {}),
    "dirichlet": ("alpha", _fixed("dirichlet", "alpha"), {}),
    "multivariate_normal": ("mean cov", (_one, _refused("multivariate_normal", "cov")), {}),
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
    return rows


ROWS: list[Rule] = _rows()
