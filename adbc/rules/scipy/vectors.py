"""``scipy.stats``: the Dirichlet distribution by its place and its parameters.

The logarithm of the density of x is the sum of (alpha - 1) log(x) less that of the beta function of alpha.
The last of the numbers x, whose sum is 1, may be left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from adbc.rules.scipy.base import FormulaRule
from adbc.rules.scipy.of_distributions import over
from adbc.rules.table import ArrayLike, Rule

__all__ = ["ROWS"]


def _columns(alpha: Any, x: Any) -> Any:
    """The parameters, with as many axes as `x` has."""
    return np.reshape(alpha, (-1,) + (1,) * (np.ndim(x) - 1))


def _whole(x: Any, alpha: Any) -> Any:
    """All of the numbers, in columns."""
    if np.shape(x)[0] == np.shape(alpha)[0]:
        return x
    return np.concatenate([x, 1 - np.sum(x, 0, keepdims=True)])


def _by_x(x: Any, alpha: Any) -> Any:
    whole, less = _whole(x, alpha), _columns(alpha, x) - 1
    slope = over(less, whole)
    n = np.shape(x)[0]
    return slope if n == np.shape(alpha)[0] else slope[:n] - slope[n:]


def _by_alpha(x: Any, alpha: Any) -> Any:
    rest = special.psi(np.sum(alpha)) - special.psi(alpha)
    return np.log(_whole(x, alpha)) + (rest if np.ndim(x) == 1 else _columns(rest, x))


def _row(name: str, is_log: bool) -> Rule:
    def weight(out: Any) -> Any:
        return 1.0 if is_log else out

    def along_x(d: Any, out: Any, self: Any, x: Any, alpha: Any) -> Any:
        return weight(out) * np.sum(_by_x(x, alpha) * d, 0)

    def along_alpha(d: Any, out: Any, self: Any, x: Any, alpha: Any) -> Any:
        return weight(out) * np.sum(_by_alpha(x, alpha) * _columns(d, x), 0)

    def against_x(by: Any, out: Any, self: Any, x: Any, alpha: Any) -> Any:
        return weight(out) * by * _by_x(x, alpha)

    def against_alpha(by: Any, out: Any, self: Any, x: Any, alpha: Any) -> Any:
        d = weight(out) * by * _by_alpha(x, alpha)
        return d if np.ndim(d) == 1 else np.sum(d, axis=tuple(range(1, np.ndim(d))))

    row = FormulaRule(
        getattr(type(stats.dirichlet), name),
        jvp=[None, along_x, along_alpha],
        vjp=[None, against_x, against_alpha],
        name=f"scipy.stats.dirichlet.{name}",
    )
    return row.by_example(_sampled)


def _sampled(function: Any, arguments: Any, keywords: Any, also: Any = ()) -> Any | None:
    """What the density gives: a number for one vector.  No example would do, for its sum has to be 1."""
    is_one = not keywords and list(arguments[1:]) == [ArrayLike("float64", 1)] * 2
    return np.float64 if is_one else None


ROWS: list[Rule] = [_row("pdf", False), _row("logpdf", True)]
