"""Rules of random numbers that are made of several standard ones: quotients and sums of gamma numbers,
directions, vectors with a covariance.

What such a number is made of cannot be told from the number.  So the method is called as it is, and what it
drew is drawn again, one standard number after the other, by a copy of the generator from before the call: the
algorithms of NumPy, which are public, say in which order.  The number is then computed from these parts by
a formula in Python, and the formula is differentiated.  Its value is compared with the number that came;
where they differ, this NumPy draws in another way, and the derivative is refused.  A part that was drawn by
rejection stays as it was drawn (see `adbc.rules.numpy.random`).  Where one way of drawing ends and another
begins, at a parameter of 1 for instance, the number jumps, and its derivative is nan.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.activity import and_lost
from adbc.rules.numpy.base import ArrayRule, is_carried, plain
from adbc.rules.numpy.completing import completed, last_rows
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Pullback, Rule, ZeroRule
from adbc.tangents.array_products import multiply
from adbc.tangents.keys import put_off
from adbc.tangents.lost import may_be_lost
from adbc.tangents.zeros import is_zero

__all__ = ["LAST_ROWS", "ROWS", "by_shape"]

OLD, NEW = np.random.RandomState, np.random.Generator
Parts = tuple[Any, ...]
"""What was drawn for one number; for many, an array of each."""


# -- gamma numbers -----------------------------------------------------------------------------------------


def by_shape(x: Any, shape: Any) -> Any:
    """The derivative of a standard gamma number `x` by its shape, for the same numbers of the generator.

    Above 1, x is b (1 + z / (3 sqrt(b)))**3 with b = shape - 1/3 and a normal number z; below 1, it is
    u**(1 / shape) of a uniform number u, or (1 - shape + shape y)**(1 / shape), where y is
    -log((1 - u) / shape).  (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000;
    Ahrens and Dieter, "Computer methods for sampling from gamma, beta, Poisson and binomial distributions",
    1974.)  At 1 the number jumps from the one to the other, and the derivative is nan.
    """
    is_large = shape > 1.0
    share = x / np.where(is_large, shape - 1 / 3, 1.0)
    large = 0.5 * (3.0 * np.cbrt(share) ** 2 - share)
    positive = np.where(x > 0.0, x, 1.0)
    below = np.where(is_large, 0.5, np.where(shape > 0.0, shape, 1.0))
    power = positive**below
    later = np.where(power > 1.0 - below, (power - 1.0 + below) / below, 0.0)
    small = x / below * (later / power - np.log(positive))
    return np.where(shape == 1.0, np.nan, np.where(is_large, large, small))


def gamma_number(x: Any, shape: Any) -> Any:
    """`x`, which was drawn from the standard gamma distribution with this shape."""
    return np.asarray(x) + 0.0 * np.asarray(shape)


def _shape_formula(d: Any, out: Any, x: Any, shape: Any) -> Any:
    with np.errstate(all="ignore"):
        slope = multiply(by_shape(np.asarray(out), np.asarray(shape)), d)
    return np.where(np.asarray(d) == 0.0, 0.0, slope)


def _beside(parameter: Any, place: float) -> Any:
    """`parameter`, by which the derivative is nan at a place where the way of drawing changes."""
    return np.asarray(parameter) + 0.0


def _beside_formula(d: Any, out: Any, parameter: Any, place: float) -> Any:
    return np.where((np.asarray(parameter) == place) & (np.asarray(d) != 0.0), np.nan, d)


def _as_it_is(d: Any, *_: Any) -> Any:
    return d


def chi_square(x: Any, freedom: Any) -> Any:
    """The number from a chi-square distribution that is made of the standard gamma number `x`."""
    return 2.0 * gamma_number(x, freedom / 2.0)


# -- what is drawn for one number, and the number that is made of it ---------------------------------------


def _student_parts(generator: Any, df: float) -> Parts:
    return generator.standard_normal(), generator.standard_gamma(df / 2.0)


def _student(normal: Any, gamma: Any, df: Any) -> Any:
    return np.sqrt(df / 2.0) * normal / np.sqrt(gamma_number(gamma, df / 2.0))


def _f_parts(generator: Any, dfnum: float, dfden: float) -> Parts:
    return generator.standard_gamma(dfnum / 2.0), generator.standard_gamma(dfden / 2.0)


def _f(above: Any, below: Any, dfnum: Any, dfden: Any) -> Any:
    return chi_square(above, dfnum) * dfden / (chi_square(below, dfden) * dfnum)


def _noncentral_parts(generator: Any, df: float, nonc: float) -> Parts:
    """A gamma number, by how much its shape is not half of `df`, a normal number, and whether it counts."""
    if nonc == 0.0:
        return generator.standard_gamma(df / 2.0), 0.0, 0.0, 0.0
    if df > 1.0:
        gamma = generator.standard_gamma((df - 1.0) / 2.0)
        return gamma, -0.5, generator.standard_normal(), 1.0
    events = generator.poisson(nonc / 2.0)
    return generator.standard_gamma((df + 2.0 * events) / 2.0), float(events), 0.0, 0.0


def _noncentral(gamma: Any, more: Any, normal: Any, counts: Any, df: Any, nonc: Any) -> Any:
    df = _beside(df, 1.0)
    nonc = _beside(nonc, 0.0)
    root = np.sqrt(np.where(counts > 0.0, nonc, 1.0))
    jump = np.where(nonc == 0.0, nonc, 0.0)
    return chi_square(gamma, df + 2.0 * more) + counts * (normal + root) ** 2 + jump


def _noncentral_f_parts(generator: Any, dfnum: float, dfden: float, nonc: float) -> Parts:
    return *_noncentral_parts(generator, dfnum, nonc), generator.standard_gamma(dfden / 2.0)


def _noncentral_f(
    gamma: Any, more: Any, normal: Any, counts: Any, below: Any, dfnum: Any, dfden: Any, nonc: Any
) -> Any:
    above = _noncentral(gamma, more, normal, counts, dfnum, nonc)
    return above * dfden / (chi_square(below, dfden) * dfnum)


def _beta_parts(generator: Any, a: float, b: float) -> Parts:
    """Whether two powers of uniform numbers are compared, as Jöhnk's method does, and two numbers: these, or
    gamma numbers."""
    if a > 1.0 or b > 1.0:
        return False, generator.standard_gamma(a), generator.standard_gamma(b)
    while True:
        first, second = generator.random(), generator.random()
        if first ** (1.0 / a) + second ** (1.0 / b) <= 1.0 and first + second > 0.0:
            return True, first, second


def _beta(is_power: Any, first: Any, second: Any, a: Any, b: Any) -> Any:
    a = _beside(a, 1.0)
    b = _beside(b, 1.0)
    uniform = [np.where(is_power & (x > 0.0), x, 0.5) for x in (first, second)]
    behind = np.log(uniform[1]) / b - np.log(uniform[0]) / a
    powers = 1.0 / (1.0 + np.exp(np.minimum(behind, 700.0)))
    one, other = (gamma_number(x, np.where(is_power, 0.5, p)) for x, p in ((first, a), (second, b)))
    return np.where(is_power, powers, one / (one + other))


COMPOSED: dict[str, tuple[Callable[..., Parts], Callable[..., Any]]] = {
    "standard_t": (_student_parts, _student),
    "f": (_f_parts, _f),
    "noncentral_chisquare": (_noncentral_parts, _noncentral),
    "noncentral_f": (_noncentral_f_parts, _noncentral_f),
    "beta": (_beta_parts, _beta),
}
"""What is drawn for a number, and the number made of it and the parameters, by the name of the method."""


# -- drawing again -----------------------------------------------------------------------------------------


def drawn_twice(
    method: Any, generator: Any, replay: Callable[..., Any], parts: Any, parameters: Any, options: Any
) -> tuple[Any, Any]:
    """What the method draws, and what `replay` finds when a copy of the generator draws it once more."""
    before = copy.deepcopy(generator)
    out = method(generator, *parameters, **options)
    return out, replay(before, out, *([] if parts is None else [parts]), *parameters)


def each(generator: Any, out: Any, parts: Callable[..., Parts], *parameters: Any) -> Any:
    """The parts of all numbers of a call, which are drawn one after the other."""
    shape = np.shape(out)
    together = [np.broadcast_to(x, shape).ravel().tolist() for x in parameters]
    rows = [parts(generator, *row) for row in zip(*together, strict=True)]
    if not rows:  # how many parts a number has is told by one that nobody sees
        one = parts(np.random.default_rng(0), *[0.5] * len(parameters))
        return tuple(np.empty(shape, type(part)) for part in one)
    return tuple(np.array(column).reshape(shape) for column in zip(*rows, strict=True))


def agreed(out: Any, value: Any, name: str) -> None:
    """Refuse a derivative if what was made of the parts is not what was drawn."""
    rounding = 1e-12 * np.max(np.abs(out), initial=0.0, where=np.isfinite(out))
    if not np.allclose(value, out, rtol=1e-7, atol=rounding, equal_nan=True):
        raise UnsupportedError(
            f"random numbers from {name}",
            "this version of NumPy draws them in another way than the one that adbc knows",
            "pass adbc.stop_gradient of the parameters, or make the numbers of standard ones",
        )


def drawn_as(out: Any, value: Any) -> Any:
    """`out`, which moves as `value` does: both are the same but for rounding."""
    return np.asarray(out)


def _made(out: Any, value: Any, name: str) -> Any:
    """What a method returns that drew `out`, a number or an array, with the derivative of `value`."""
    agreed(out, stop_gradient(value), name)
    made = drawn_as(out, value)
    return made if isinstance(out, np.ndarray) else float(made)


# -- methods that draw number by number --------------------------------------------------------------------


def _bodies(home: type) -> list[Callable[..., Any]]:
    """The methods of a class of generators that draw one number after the other."""

    def draw(name: str, generator: Any, parameters: Any, size: Any) -> Any:
        parts, number = COMPOSED[name]
        out, drawn = drawn_twice(getattr(home, name), generator, each, parts, parameters, {"size": size})
        return _made(out, number(*drawn, *parameters), name)

    def standard_t(self: Any, df: Any, size: Any = None) -> Any:
        return draw("standard_t", self, (np.asarray(df),), size)

    def f(self: Any, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        return draw("f", self, (np.asarray(dfnum), np.asarray(dfden)), size)

    def noncentral_chisquare(self: Any, df: Any, nonc: Any, size: Any = None) -> Any:
        return draw("noncentral_chisquare", self, (np.asarray(df), np.asarray(nonc)), size)

    def noncentral_f(self: Any, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        return draw("noncentral_f", self, (np.asarray(dfnum), np.asarray(dfden), np.asarray(nonc)), size)

    def beta(self: Any, a: Any, b: Any, size: Any = None) -> Any:
        return draw("beta", self, (np.asarray(a), np.asarray(b)), size)

    return [standard_t, f, noncentral_chisquare, noncentral_f, beta]


# -- vectors -----------------------------------------------------------------------------------------------


def _gammas(generator: Any, out: Any, alpha: Any) -> Any:
    return generator.standard_gamma(np.broadcast_to(alpha, np.shape(out)))


def _sticks(generator: Any, out: Any, alpha: Any) -> Any:
    """The parts of the beta numbers by which a stick is broken: for all numbers of a vector but the last."""
    rest = np.cumsum(alpha[::-1])[::-1]
    shape = (*np.shape(out)[:-1], len(alpha) - 1)
    return each(generator, np.empty(shape), _beta_parts, alpha[:-1], rest[1:])


def _dirichlet_body(home: Any) -> Callable[..., Any]:
    def dirichlet(self: Any, alpha: Any, size: Any = None) -> Any:
        alpha = np.asarray(alpha) + 0.0
        if home is NEW and np.max(stop_gradient(alpha)) < 0.1:
            out, parts = drawn_twice(home.dirichlet, self, _sticks, None, (alpha,), {"size": size})
            rest = np.cumsum(alpha[::-1])[::-1]
            is_power, first, second = parts
            share = _beta(is_power, first, second, alpha[:-1], rest[1:])
            whole = np.ones((*np.shape(share)[:-1], 1))
            left = np.concatenate([whole, np.cumprod(1.0 - share, axis=-1)], axis=-1)
            return _made(out, left * np.concatenate([share, whole], axis=-1), "dirichlet")
        out, parts = drawn_twice(home.dirichlet, self, _gammas, None, (alpha,), {"size": size})
        number = gamma_number(parts, alpha)
        return _made(out, number / np.sum(number, axis=-1, keepdims=True), "dirichlet")

    return dirichlet


def _normals(generator: Any, out: Any, mean: Any, cov: Any) -> Any:
    return generator.standard_normal(np.shape(out))


def _apart(cov: Any) -> Any:
    """`cov`, whose derivative is refused where it has equal eigenvalues: their vectors are any."""
    return np.asarray(cov) + 0.0


def _has_equal_values(cov: Any) -> bool:
    squares = np.linalg.eigvalsh(cov)
    return bool(np.any(np.diff(squares) <= 1e-10 * np.max(np.abs(squares), initial=0.0)))


def _with_equal_values() -> UnsupportedError:
    return UnsupportedError(
        "random vectors are drawn with a covariance that has a derivative and equal eigenvalues",
        "they are multiplied by eigenvectors, which are any where eigenvalues are equal",
        "pass method='cholesky' to a generator of np.random.default_rng, or draw"
        " mean + np.linalg.cholesky(cov) @ generator.standard_normal(len(mean))",
    )


def _apart_formula(d: Any, out: Any, cov: Any) -> Any:
    if _has_equal_values(cov):
        raise _with_equal_values()
    return d


class ApartRule(ArrayRule):
    """The rule of `_apart`, to which a covariance that is constant, and comes with a derivative of zeros all
    the same, counts as constant."""

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return False  # the formula alone does not know whether the covariance is constant

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return super().frule(args, [None if is_zero(d) else d for d in dargs], kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        (cov,), (f,) = args, fargs
        if not is_carried(f):
            return super().rrule(args, (None,), kwargs)
        # A list of numbers may be constant: that is seen when cotangents have gone back.
        nan = put_off(_with_equal_values) if may_be_lost(cov, f) and _has_equal_values(cov) else None
        if nan is None:
            return super().rrule(args, fargs, kwargs)
        return and_lost(super().rrule(args, (None,), kwargs), {0: (cov, f, nan)})


def _root(cov: Any, method: str, is_old: bool) -> Any:
    """The matrix by which a row of standard normal numbers is multiplied to have this covariance."""
    if method == "cholesky":
        return np.linalg.cholesky(cov).T
    cov = _apart(cov)
    if method == "eigh":
        squares, vectors = np.linalg.eigh(cov)
        return (vectors * np.sqrt(squares)).T
    left, squares, right = np.linalg.svd(cov)
    return np.sqrt(squares)[:, None] * right if is_old else (left * np.sqrt(squares)).T


def _normal_vectors_body(home: Any) -> Callable[..., Any]:
    def draw(self: Any, mean: Any, cov: Any, options: Any, method: str) -> Any:
        mean, cov = np.asarray(mean) + 0.0, np.asarray(cov) + 0.0
        drawn = home.multivariate_normal
        out, normal = drawn_twice(drawn, self, _normals, None, (mean, cov), options)
        return _made(out, mean + normal @ _root(cov, method, home is OLD), "multivariate_normal")

    def by_any_root(
        self: Any, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8, *,
        method: str = "svd",
    ) -> Any:  # fmt: skip
        options = {"size": size, "check_valid": check_valid, "tol": tol, "method": method}
        return draw(self, mean, cov, options, method)

    def by_values(
        self: Any, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8
    ) -> Any:
        return draw(self, mean, cov, {"size": size, "check_valid": check_valid, "tol": tol}, "svd")

    return by_any_root if home is NEW else by_values


# -- rows --------------------------------------------------------------------------------------------------


class MadeRule(Overlay):
    """The rule of a method that draws numbers of several parts: followed where an argument has a derivative,
    else called as it is."""

    is_drawn = True


def _rows() -> list[Rule]:
    rows: list[Rule] = [
        ZeroRule(drawn_twice),
        ZeroRule(agreed),
        ArrayRule(gamma_number, "x shape", jvp=[None, _shape_formula], vjp=[None, _shape_formula]),
        ArrayRule(_beside, "parameter place", jvp=[_beside_formula], vjp=[_beside_formula]),
        ApartRule(_apart, "cov", jvp=[_apart_formula], vjp=[_apart_formula]),
        ArrayRule(drawn_as, "out value", jvp=[None, _as_it_is], vjp=[None, _as_it_is]),
    ]
    for home in (OLD, NEW):
        bodies = [*_bodies(home), _dirichlet_body(home), _normal_vectors_body(home)]
        names = [*COMPOSED, "dirichlet", "multivariate_normal"]
        for name, body in zip(names, bodies, strict=True):
            rows.append(MadeRule(getattr(home, name), body, only_active=True, when=plain))
    return rows


ROWS: list[Rule] = completed(_rows())
LAST_ROWS = last_rows(ROWS)
