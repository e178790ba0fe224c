"""``scipy.stats``: the Poisson distribution by its mean.

With the mean mu the logarithm of the probability of k is k log(mu) - mu - log(k!).  That of at most k falls
with the mean as fast as the probability of k says.  By k and the location, SciPy's formula of the probability
is differentiated as if k were any number; what is meant of at most k has steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from adbc.rules.scipy.densities import where_inside
from adbc.rules.scipy.of_distributions import MethodRule, over
from adbc.rules.table import Rule

__all__ = ["ROWS"]


def _inside(formula: Callable[..., Any], is_sum: bool) -> Callable[..., Any]:
    """The partial derivative ``formula(out, k, mu)``, where SciPy gives more than a constant."""

    def partial(out: Any, distribution: Any, k: Any, mu: Any, loc: Any = 0) -> Any:
        k = k - loc
        slope = formula(out, np.floor(k) if is_sum else k, mu)
        inside = where_inside(distribution, False, k, (mu,), 1.0)
        if not is_sum:
            whole = np.floor(k) == k
            inside = whole if inside is None else inside & whole
        return slope if inside is None else np.where(inside, slope, 0.0)

    return partial


def _by_k(k: Any, mu: Any) -> Any:
    return np.log(mu) - special.psi(k + 1)


def _by_mean(k: Any, mu: Any) -> Any:
    return over(k, mu) - 1


def _probability(k: Any, mu: Any) -> Any:
    return np.exp(special.xlogy(k, mu) - special.gammaln(k + 1) - mu)


def _row(name: str, is_sum: bool, *formulas: Callable[..., Any] | None) -> Rule:
    partials = [None if f is None else _inside(f, is_sum) for f in formulas]
    return MethodRule(getattr(stats.rv_discrete, name), stats.poisson, partials, {"loc": 0}, first="k")


ROWS: list[Rule] = [
    _row(
        "logpmf", False,
        lambda out, k, mu: _by_k(k, mu), lambda out, k, mu: _by_mean(k, mu), lambda out, k, mu: -_by_k(k, mu),
    ),
    _row(
        "pmf", False,
        lambda out, k, mu: out * _by_k(k, mu), lambda out, k, mu: out * _by_mean(k, mu),
        lambda out, k, mu: -out * _by_k(k, mu),
    ),
    _row("cdf", True, None, lambda out, k, mu: -_probability(k, mu), None),
    _row("sf", True, None, lambda out, k, mu: _probability(k, mu), None),
    _row("logcdf", True, None, lambda out, k, mu: -_probability(k, mu) / np.exp(out), None),
    _row("logsf", True, None, lambda out, k, mu: _probability(k, mu) / np.exp(out), None),
]  # fmt: skip
