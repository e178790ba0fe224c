"""Distributions in ``scipy.special`` by all of their parameters: the noncentral ones, and the inverses.

Of a distribution F(a, x) it is enough to know the partial derivatives: an inverse, which solves F = p for one
of its arguments, has the derivatives 1 / F_u by p and -F_a / F_u by another argument, where u is what it
solves for.  The noncentral distributions are sums of central ones, weighted by Poisson's distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import special

from adbc.rules.numpy.elementwise import ElementwiseRule, elementwise
from adbc.rules.scipy.base import unknown
from adbc.rules.scipy.digamma import psi_difference
from adbc.rules.scipy.incomplete import (
    beta_by_a,
    beta_by_b,
    beta_density,
    f_partials,
    gamma_by_a,
    gamma_density,
    in_blocks,
    student_by_df,
    student_density,
)
from adbc.rules.table import Rule

__all__ = ["ROWS", "UFUNC_ROWS"]

Partials = Mapping[str, Callable[..., Any]]
"""The partial derivatives of a distribution by the names of its arguments; each is given all of them."""


# -- sums over Poisson's distribution --------------------------------------------------------------------


def _numbers(half: Any) -> Any:
    """The numbers of the terms that count where the mean is one of `half`."""
    top = float(np.max(np.where(np.isfinite(half), half, 0.0), initial=0.0))
    return np.arange(float(int(top + 12.0 * np.sqrt(top + 1.0) + 30.0)))


def _poisson(j: Any, half: Any) -> Any:
    return np.exp(special.xlogy(j, half) - half - special.gammaln(j + 1))


def _mixture(term: Callable[..., Any], half: Any, *args: Any) -> Any:
    """The sum of ``term(j, *args)`` with Poisson's weights for the mean `half`."""

    def of_block(half: Any, *block: Any) -> Any:
        j = _numbers(half)
        return np.sum(_poisson(j, half[..., None]) * term(j, *[x[..., None] for x in block]), axis=-1)

    return in_blocks(of_block, _numbers(half).size, half, *args)


NONCENTRAL_CHI2: Partials = {
    "x": lambda x, df, nc: 0.5 * _mixture(lambda j, a, y: gamma_density(a + j, y), nc / 2, df / 2, x / 2),
    "df": lambda x, df, nc: 0.5 * _mixture(lambda j, a, y: gamma_by_a(a + j, y), nc / 2, df / 2, x / 2),
    "nc": lambda x, df, nc: -0.5 * _mixture(
        lambda j, a, y: gamma_density(a + j + 1, y), nc / 2, df / 2, x / 2
    ),
}  # fmt: skip


def _fisher(which: str) -> Callable[..., Any]:
    """A partial derivative of the noncentral distribution of Fisher's, which is one of beta's at
    z = n f / (n f + d)."""

    def term(j: Any, n: Any, d: Any, f: Any) -> Any:
        total = n * f + d
        z, a, b = n * f / total, 0.5 * n + j, 0.5 * d
        if which == "nc":
            return -0.5 * np.exp(special.xlogy(a, z) + special.xlog1py(b, -z) - special.betaln(a, b)) / a
        slope = beta_density(a, b, z) / (total * total)
        if which == "f":
            return slope * n * d
        slope = np.where(f == 0, 0.0, slope)  # times f it is zero there
        if which == "dfn":
            return 0.5 * beta_by_a(a, b, z) + slope * f * d
        return 0.5 * beta_by_b(a, b, z) - slope * n * f

    return lambda dfn, dfd, nc, f: _mixture(term, nc / 2, dfn, dfd, f)


NONCENTRAL_F: Partials = {name: _fisher(name) for name in ("dfn", "dfd", "nc", "f")}


def _student_terms(which: str, df: Any, nc: Any, t: Any) -> Any:
    """A partial derivative of the noncentral distribution of Student's, for positive `t`."""
    j = _numbers(0.5 * np.square(nc))
    df, nc, t = (x[..., None] for x in (df, nc, t))
    half = 0.5 * nc * nc
    square = t * t + df
    z, b = t * t / square, 0.5 * df
    even = _poisson(j, half)
    odd = np.exp(special.xlogy(j, half) - half - special.gammaln(j + 1.5)) / np.sqrt(2.0)
    if which == "nc":
        before = np.where(j > 0, _poisson(np.maximum(j - 1, 0), half), 0.0)
        by_even, by_odd = nc * (before - even), odd * (1 + 2 * j - nc * nc)
        terms = by_even * special.betainc(j + 0.5, b, z) + by_odd * special.betainc(j + 1, b, z)
        density = np.exp(-0.5 * nc[..., 0] ** 2) / np.sqrt(2 * np.pi)
        return 0.5 * np.sum(terms, axis=-1) - density
    slopes = even * beta_density(j + 0.5, b, z) + nc * odd * beta_density(j + 1, b, z)
    if which == "t":
        return 0.5 * np.sum(slopes * 2 * t * df / (square * square), axis=-1)
    by_b = even * beta_by_b(j + 0.5, b, z) + nc * odd * beta_by_b(j + 1, b, z)
    return 0.5 * np.sum(0.5 * by_b - slopes * t * t / (square * square), axis=-1)


def _student(which: str) -> Callable[..., Any]:
    def partial(df: Any, nc: Any, t: Any) -> Any:
        low = np.asarray(t) < 0  # F(t; nc) = 1 - F(-t; -nc)
        sign = np.where(low, -1.0, 1.0)
        size = np.maximum(np.abs(t), 1e-100)
        count = _numbers(0.5 * np.square(nc)).size
        found = in_blocks(lambda *block: _student_terms(which, *block), count, df, sign * nc, size)
        return sign * found if which == "df" else found

    return partial


NONCENTRAL_T: Partials = {name: _student(name) for name in ("df", "nc", "t")}


# -- central distributions -------------------------------------------------------------------------------

BETA: Partials = {"a": beta_by_a, "b": beta_by_b, "x": beta_density}
GAMMA: Partials = {
    "a": lambda a, b, x: x * gamma_density(b, a * x),
    "b": lambda a, b, x: gamma_by_a(b, a * x),
    "x": lambda a, b, x: a * gamma_density(b, a * x),
}
CHI2: Partials = {
    "v": lambda v, x: 0.5 * gamma_by_a(0.5 * v, 0.5 * x),
    "x": lambda v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x),
}
BINOMIAL: Partials = {
    "k": lambda k, n, p: beta_by_b(k + 1, n - k, p) - beta_by_a(k + 1, n - k, p),
    "n": lambda k, n, p: -beta_by_b(k + 1, n - k, p),
    "p": lambda k, n, p: -beta_density(k + 1, n - k, p),
}
NEGATIVE_BINOMIAL: Partials = {
    "k": lambda k, n, p: beta_by_b(n, k + 1, p),
    "n": lambda k, n, p: beta_by_a(n, k + 1, p),
    "p": lambda k, n, p: beta_density(n, k + 1, p),
}
POISSON: Partials = {
    "k": lambda k, m: -gamma_by_a(k + 1, m),
    "m": lambda k, m: -gamma_density(k + 1, m),
}


def binomial(k: Any, n: Any, p: Any) -> Any:
    """The distribution with its counts as any numbers."""
    return special.betainc(n - k, k + 1, 1 - p)


def negative_binomial(k: Any, n: Any, p: Any) -> Any:
    return special.betainc(n, k + 1, p)


def poisson(k: Any, m: Any) -> Any:
    return special.gammaincc(k + 1, m)


STUDENT: Partials = {"df": student_by_df, "t": student_density}
FISHER: Partials = {
    "n": lambda n, d, x: f_partials(n, d, x)[0],
    "d": lambda n, d, x: f_partials(n, d, x)[1],
    "x": lambda n, d, x: f_partials(n, d, x)[2],
}


def _of_names(names: str, partial: Callable[..., Any], sign: float = 1.0) -> Callable[..., Any]:
    """The partial derivative of a function with these arguments, from one that takes them by name."""
    return lambda out, *args: sign * partial(**dict(zip(names.split(), args, strict=True)))


def _with_counts(given: dict[str, Any], name: str) -> dict[str, Any]:
    """The arguments, with those cut to whole numbers that the function `name` cuts."""
    cut = np.floor if name.startswith("bd") else np.trunc
    return {n: np.trunc(x) if n == "n" else cut(x) if n == "k" else x for n, x in given.items()}


def _of_counts(name: str, names: str, partial: Callable[..., Any], sign: float) -> Callable[..., Any]:
    """The partial derivative of a distribution of counts, which is constant beyond the largest one."""

    def by(out: Any, *args: Any) -> Any:
        given = _with_counts(dict(zip(names.split(), args, strict=True)), name)
        inside = given["k"] >= 0
        if not name.startswith("nb"):
            inside = _inside(given["k"], given["n"])
            given["n"] = np.where(inside, given["n"], 1.0)
        given["k"] = np.where(inside, given["k"], 0.0)
        return np.where(inside, sign * partial(**given), 0.0)

    return by


def _distribution(name: str, partials: Partials, names: str, sign: float = 1.0) -> list[ElementwiseRule]:
    """The row of a distribution with arguments `names`; by those without a partial it is refused, by its
    counts, which are cut to whole numbers, it has the derivative zero."""
    function = getattr(special, name, None)
    if function is None:
        return []
    found: list[Any] = []
    for n in names.split():
        if n == "k":
            found.append(None)
        elif n in partials and "k" in names.split():
            found.append(_of_counts(name, names, partials[n], sign))
        elif n in partials:
            found.append(_of_names(names, partials[n], sign))
        else:
            found.append(unknown(f"scipy.special.{name}", f"its argument {n}"))
    return [elementwise(function, *found, singular=True, result=None)]


def _inverse(
    name: str,
    partials: Partials,
    of: str | Callable[..., Any],
    names: str,
    solved: str,
    *,
    whole: bool = False,
) -> list[ElementwiseRule]:
    """The row of the inverse `name` with arguments `names`, ``value`` for that of the distribution `of`,
    which is solved for the argument `solved`.

    Where there is no solution, what it gives is the end of where it searched, which does not move; or some
    other number, whose derivative is nan.  If it is `whole`, its other arguments are counts: by those cut to
    whole numbers the derivative is zero, and the others are refused.
    """
    function = getattr(special, name, None)
    distribution = of if callable(of) else getattr(special, of, None)
    if function is None or distribution is None:
        return []
    order = names.split()

    def partial(which: str) -> Callable[..., Any]:
        def by(out: Any, *args: Any) -> Any:
            given = dict(zip(order, args, strict=True))
            if whole:
                given = _with_counts(given, name)
            value = given.pop("value")
            given[solved] = out
            slope = partials[solved](**given)
            found = 1 / slope if which == "value" else -partials[which](**given) / slope
            back = np.abs(distribution(*[given[n] for n in partials]) - value)
            is_end = (np.abs(out) <= 1e-100) | (np.abs(out) >= 1e100) | (out == 1e10) | (out == 1e4)
            is_solved = back <= 1e-5 * np.minimum(value, 1 - value) + np.where(value > 0.5, 1e-14, 0.0)
            without = np.where(is_end, 0.0, np.where(back < 1e-3, found, np.nan))
            return np.where(is_solved & ~(is_end & ~np.isfinite(found)), found, without)

        return by

    def of_count(which: str) -> Callable[..., Any] | None:
        return None if which == "k" else unknown(f"scipy.special.{name}", f"its argument {which}")

    found = [of_count(n) if whole and n != "value" else partial(n) for n in order]
    return [elementwise(function, *found, singular=True, result=None)]


def _scaled_gamma_inverse(name: str, names: str) -> list[ElementwiseRule]:
    """The row of the inverse of the gamma distribution with shape b, divided by a scale of either sign."""
    partials: dict[str, Callable[..., Any]] = {
        "value": lambda out, value, b, scale: 1 / (scale * gamma_density(b, out * scale)),
        "b": lambda out, value, b, scale: np.where(
            out == 0, 0.0, -gamma_by_a(b, out * scale) / (scale * gamma_density(b, out * scale))
        ),
        "scale": lambda out, value, b, scale: -out / scale,
    }

    def by(which: str) -> Callable[..., Any]:
        partial = partials[which]
        return lambda out, *args: partial(out, **dict(zip(names.split(), args, strict=True)))

    return [elementwise(getattr(special, name), *map(by, names.split()), singular=True, result=None)]


# -- others ----------------------------------------------------------------------------------------------


def _normal_density(x: Any) -> Any:
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def _tukey_density(out: Any, x: Any, lmbda: Any) -> Any:
    slope = 1 / (np.power(out, lmbda - 1) + np.power(1 - out, lmbda - 1))
    return np.where((out > 0) & (out < 1), slope, 0.0)


def _tukey_by_shape(out: Any, x: Any, lmbda: Any) -> Any:
    """The derivative of Tukey's lambda distribution by its shape; at 0, in the limit, that of the series."""
    p, q = np.log(out), np.log1p(-out)
    small = np.abs(lmbda) < 1e-4
    safe = np.where(small, 1.0, lmbda)
    near = 0.5 * (p * p - q * q) + lmbda * (p**3 - q**3) / 3
    far = (np.power(out, safe) * p - np.power(1 - out, safe) * q - x) / safe
    slope = -np.where(small, near, far) * _tukey_density(out, x, lmbda)
    return np.where((out > 0) & (out < 1), slope, 0.0)


# -- what scipy.stats takes from scipy.special -------------------------------------------------------------


def _inside(k: Any, n: Any) -> Any:
    """Whether a count lies below another."""
    return (k >= 0) & (k < n)


def _binomial_by_p(sign: float) -> Callable[..., Any]:
    def partial(out: Any, k: Any, n: Any, p: Any) -> Any:
        k = np.floor(k)
        safe = np.where(_inside(k, n), k, 0.0)
        return np.where(_inside(k, n), -sign * beta_density(safe + 1, n - safe, p), 0.0)

    return partial


def _binomial_mass_by_p(out: Any, k: Any, n: Any, p: Any) -> Any:
    return out * (np.where(k == 0, 0.0, k / p) - np.where(k == n, 0.0, (n - k) / (1 - p)))


def _negative_mass_by_n(out: Any, k: Any, n: Any, p: Any) -> Any:
    return out * (psi_difference(n, k) + np.log(p))


def _negative_mass_by_p(out: Any, k: Any, n: Any, p: Any) -> Any:
    return out * (n / p - np.where(k == 0, 0.0, k / (1 - p)))


def _chi2_mass(which: str) -> Callable[..., Any]:
    """The derivative of the density of the noncentral chi-squared distribution."""

    def term(j: Any, a: Any, y: Any) -> Any:
        density = gamma_density(a + j, y)
        if which == "x":
            return 0.25 * density * ((a + j - 1) / y - 1)
        if which == "df":
            return 0.25 * density * (np.log(y) - special.psi(a + j))
        return 0.25 * (gamma_density(a + j + 1, y) - density)

    return lambda out, x, df, nc: _mixture(term, nc / 2, df / 2, x / 2)


def _cosine_density(x: Any) -> Any:
    return (1 + np.cos(x)) / (2 * np.pi)


def _inverse_gauss(which: str) -> Callable[..., Any]:
    """The derivative of the inverse of the inverse Gaussian distribution, whose second parameter is 1."""

    def partial(out: Any, p: Any, mu: Any, s: Any) -> Any:
        density = np.exp(-0.5 * s * np.square(out / mu - 1) / out) * np.sqrt(s / (2 * np.pi * out**3))
        if which == "p":
            return 1 / density
        log_tail = 2 * s / mu + special.log_ndtr(-np.sqrt(s / out) * (out / mu + 1))
        return 2 * s / (mu * mu) * np.exp(log_tail) / density

    return partial


_NOT_KNOWN = unknown("a distribution of scipy.stats", "its parameters")


def _of_stats(name: str, *partials: Any) -> list[ElementwiseRule]:
    function = getattr(special._ufuncs, name, None)
    return [] if function is None else [elementwise(function, *partials, singular=True, result=None)]


def _for_stats() -> list[ElementwiseRule]:
    count: Any = None  # cut to whole numbers
    chi2 = [_of_names("x df nc", NONCENTRAL_CHI2[n], -1.0) for n in ("x", "df", "nc")]
    fisher = [_of_names("f dfn dfd nc", NONCENTRAL_F[n], -1.0) for n in ("f", "dfn", "dfd", "nc")]
    student = [_of_names("t df nc", NONCENTRAL_T[n], -1.0) for n in ("t", "df", "nc")]
    negative = {n: _of_names("k n p", NEGATIVE_BINOMIAL[n]) for n in ("n", "p")}
    upper = {n: _of_names("k n p", NEGATIVE_BINOMIAL[n], -1.0) for n in ("n", "p")}
    return [
        *_of_stats("_binom_pmf", count, count, _binomial_mass_by_p),
        *_of_stats("_binom_cdf", count, count, _binomial_by_p(1.0)),
        *_of_stats("_binom_sf", count, count, _binomial_by_p(-1.0)),
        *_of_stats("_binom_ppf", count, count, count),
        *_of_stats("_binom_isf", count, count, count),
        *_of_stats("_nbinom_pmf", count, _negative_mass_by_n, _negative_mass_by_p),
        *_of_stats("_nbinom_cdf", count, negative["n"], negative["p"]),
        *_of_stats("_nbinom_sf", count, upper["n"], upper["p"]),
        *_of_stats("_nbinom_ppf", count, count, count),
        *_of_stats("_nbinom_isf", count, count, count),
        *_of_stats("_ncx2_pdf", *[_chi2_mass(n) for n in ("x", "df", "nc")]),
        *_of_stats("_ncx2_sf", *chi2),
        *_of_stats("_ncf_sf", *fisher),
        *_of_stats("_nct_sf", *student),
        *_of_stats("_cosine_cdf", lambda out, x: _cosine_density(x)),
        *_of_stats("_cosine_invcdf", lambda out, p: 1 / _cosine_density(out)),
        *_of_stats("_invgauss_ppf", _inverse_gauss("p"), _inverse_gauss("mu"), _NOT_KNOWN),
        *_of_stats(
            "_invgauss_isf",
            lambda *args: -_inverse_gauss("p")(*args),
            _inverse_gauss("mu"),
            _NOT_KNOWN,
        ),
    ]


def _others() -> list[ElementwiseRule]:
    private = special._ufuncs
    rows = [
        elementwise(
            special.nrdtrimn,
            lambda out, p, std, x: -std / _normal_density((x - out) / std),
            lambda out, p, std, x: (out - x) / std,
            lambda out, p, std, x: 1.0,
            singular=True,
            result=None,
        ),
        elementwise(
            special.nrdtrisd,
            lambda out, mn, p, x: -1 / special.ndtri(p),
            lambda out, mn, p, x: -out / (special.ndtri(p) * _normal_density(special.ndtri(p))),
            lambda out, mn, p, x: 1 / special.ndtri(p),
            singular=True,
            result=None,
        ),
        elementwise(special.tklmbda, _tukey_density, _tukey_by_shape, singular=True, result=None),
    ]
    if hasattr(private, "_kolmogp") and hasattr(private, "_smirnovp"):
        rows += [
            elementwise(special.kolmogorov, lambda out, x: private._kolmogp(x), singular=True, result=None),
            elementwise(
                special.kolmogi, lambda out, p: 1 / private._kolmogp(out), singular=True, result=None
            ),
            elementwise(
                special.smirnov, None, lambda out, n, d: private._smirnovp(n, d), singular=True, result=None
            ),
            elementwise(
                special.smirnovi,
                None,
                lambda out, n, p: 1 / private._smirnovp(n, out),
                singular=True,
                result=None,
            ),
        ]
    return rows


UFUNC_ROWS: list[ElementwiseRule] = [
    *_distribution("chndtr", NONCENTRAL_CHI2, "x df nc"),
    *_inverse("chndtrix", NONCENTRAL_CHI2, "chndtr", "value df nc", "x"),
    *_inverse("chndtridf", NONCENTRAL_CHI2, "chndtr", "x value nc", "df"),
    *_inverse("chndtrinc", NONCENTRAL_CHI2, "chndtr", "x df value", "nc"),
    *_distribution("ncfdtr", NONCENTRAL_F, "dfn dfd nc f"),
    *_inverse("ncfdtri", NONCENTRAL_F, "ncfdtr", "dfn dfd nc value", "f"),
    *_inverse("ncfdtridfd", NONCENTRAL_F, "ncfdtr", "dfn value nc f", "dfd"),
    *_inverse("ncfdtridfn", NONCENTRAL_F, "ncfdtr", "value dfd nc f", "dfn"),
    *_inverse("ncfdtrinc", NONCENTRAL_F, "ncfdtr", "dfn dfd value f", "nc"),
    *_distribution("nctdtr", NONCENTRAL_T, "df nc t"),
    *_inverse("nctdtrit", NONCENTRAL_T, "nctdtr", "df nc value", "t"),
    *_inverse("nctdtridf", NONCENTRAL_T, "nctdtr", "value nc t", "df"),
    *_inverse("nctdtrinc", NONCENTRAL_T, "nctdtr", "df value t", "nc"),
    *_inverse("btdtria", BETA, "betainc", "value b x", "a"),
    *_inverse("btdtrib", BETA, "betainc", "a value x", "b"),
    *_distribution("gdtr", GAMMA, "a b x"),
    *_distribution("gdtrc", GAMMA, "a b x", -1.0),
    *_scaled_gamma_inverse("gdtria", "value b scale"),
    *_inverse("gdtrib", GAMMA, "gdtr", "a value x", "b"),
    *_scaled_gamma_inverse("gdtrix", "scale b value"),
    *_inverse("chdtriv", CHI2, "chdtr", "value x", "v"),
    *_distribution("bdtr", {"p": BINOMIAL["p"]}, "k n p"),
    *_distribution("bdtrc", {"p": BINOMIAL["p"]}, "k n p", -1.0),
    *_inverse("bdtri", BINOMIAL, "bdtr", "k n value", "p", whole=True),
    *_inverse("bdtrik", BINOMIAL, binomial, "value n p", "k"),
    *_inverse("bdtrin", BINOMIAL, binomial, "k value p", "n"),
    *_distribution("nbdtr", {"p": NEGATIVE_BINOMIAL["p"]}, "k n p"),
    *_distribution("nbdtrc", {"p": NEGATIVE_BINOMIAL["p"]}, "k n p", -1.0),
    *_inverse("nbdtri", NEGATIVE_BINOMIAL, "nbdtr", "k n value", "p", whole=True),
    *_inverse("nbdtrik", NEGATIVE_BINOMIAL, negative_binomial, "value n p", "k"),
    *_inverse("nbdtrin", NEGATIVE_BINOMIAL, negative_binomial, "k value p", "n"),
    *_inverse("pdtri", POISSON, "pdtr", "k value", "m", whole=True),
    *_inverse("pdtrik", POISSON, poisson, "value m", "k"),
    *_inverse("stdtridf", STUDENT, "stdtr", "value t", "df"),
    *_inverse("fdtridfd", FISHER, "fdtr", "n value x", "d"),
    *_others(),
    *_for_stats(),
]

ROWS: list[Rule] = [*UFUNC_ROWS]
