"""`statistics`: the functions that compute with fractions, which have no derivative, have one here.

Values are those of the library.  ``stdev`` and ``pstdev`` of equal numbers have derivative 0; ``mode`` and
``multimode`` give elements, which keep their derivative; where one of the numbers is zero, ``harmonic_mean``
is the integer 0, which has none.
"""

from __future__ import annotations

import collections
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from adbc.rules.classes import real
from adbc.rules.elements import Elements, of_elements, of_equal_weight
from adbc.rules.lookup import derived_body
from adbc.rules.math import sequence_rule
from adbc.rules.table import Overlay, Rule, ScalarRule, ZeroRule

__all__ = ["ROWS"]

Partials = Sequence[Sequence[float]]


def _are_reals(values: Any) -> bool:
    return all(real(type(x)) for x in values)


# What the library does of fractions and decimal numbers is followed.
_followed_mean: Any = derived_body(statistics.mean)
_followed_harmonic_mean: Any = derived_body(statistics.harmonic_mean)
_followed_fmean: Any = derived_body(statistics.fmean)


# -- what is computed of one list ---------------------------------------------------------------------------


def _mean_of(values: Any) -> Any:
    return statistics.mean(values)


def _mean_partials(out: Any, values: Any) -> Partials:
    return ([1.0 / len(values)] * len(values),)


def _spread(function: Callable[..., Any], less: int, is_root: bool) -> tuple[Callable[..., Any], Any]:
    """A function of a list and of its mean, if it is given, with its partial derivatives."""

    def of_list(values: Any) -> Any:
        return function(values)

    def by_list(out: Any, values: Any, centre: Any = None) -> Partials:
        c = statistics.fmean(values) if centre is None else float(centre)
        n = len(values) - less
        divisor = n * float(out) if is_root else 0.5 * n
        return ([(x - c) / divisor if divisor else 0.0 for x in values],)

    return of_list, by_list


def _around(function: Callable[..., Any], by_list: Any) -> tuple[Callable[..., Any], Any]:
    """The function `function`, around a centre that is given."""

    def around(values: Any, centre: Any) -> Any:
        return function(values, centre)

    def partials(out: Any, values: Any, centre: Any) -> Partials:
        (by_values,) = by_list(out, values, centre)
        return by_values, [-math.fsum(by_values)]

    return around, partials


def _harmonic_of(values: Any, weights: Any) -> Any:
    return statistics.harmonic_mean(values, weights)


def _plain_harmonic_of(values: Any) -> Any:
    return statistics.harmonic_mean(values)


def _harmonic_partials(out: Any, values: Any, weights: Any = None) -> Partials:
    """The derivatives of W / sum(w / x)."""
    w = [1.0] * len(values) if weights is None else weights
    total = math.fsum(w)
    by_values = [out * out * a / (x * x * total) for x, a in zip(values, w, strict=True)]
    return by_values, [out * (1.0 - out / x) / total for x in values]


# -- bodies ------------------------------------------------------------------------------------------------


def _elements(data: Any) -> list[Any]:
    """The elements of `data`, whose length nobody asks for, as the code of `statistics` does not."""
    if type(data) is list or type(data) is tuple:
        return list(data)
    return [x for x in data]  # noqa: C416  # `list` asks for the length


def _mean(data: Any) -> Any:
    values = _elements(data)
    return _mean_of(values) if _are_reals(values) else _followed_mean(values)


def _harmonic_mean(data: Any, weights: Any = None) -> Any:
    if type(data) is list or type(data) is tuple:
        return _harmonic(list(data), weights)
    if iter(data) is data:
        data = list(data)
    count = len(data)
    if weights is None and count == 1:
        return _harmonic([data[0]], None)
    values = [x for _, x in zip(range(count), data)]  # noqa: B905  # there may be fewer
    found = _harmonic(values, weights)
    return found if weights is not None or len(values) == count else found * count / len(values)


def _harmonic(values: Any, weights: Any) -> Any:
    if not _are_reals(values):
        return _followed_harmonic_mean(values, weights)
    return _plain_harmonic_of(values) if weights is None else _harmonic_of(values, list(weights))


def _body(name: str, of_list: Callable[..., Any], around: Callable[..., Any]) -> Callable[..., Any]:
    centre = "xbar" if name in ("variance", "stdev") else "mu"
    followed: Any = derived_body(getattr(statistics, name))

    def with_xbar(data: Any, xbar: Any = None) -> Any:
        values = _elements(data)
        if not _are_reals(values):
            return followed(values, xbar)
        return of_list(values) if xbar is None else around(values, xbar)

    def with_mu(data: Any, mu: Any = None) -> Any:
        values = _elements(data)
        if not _are_reals(values):
            return followed(values, mu)
        return of_list(values) if mu is None else around(values, mu)

    return with_xbar if centre == "xbar" else with_mu


def _places_of_modes(values: Any) -> list[int]:
    """The places at which the most frequent elements stand first."""
    if not values:
        return []
    counts = collections.Counter(values)
    most = max(counts.values())
    return [values.index(x) for x, count in counts.items() if count == most]


def _fail_of_nothing() -> None:
    statistics.mode([])


def _mode(data: Any) -> Any:
    values = _elements(iter(data))
    places = _places_of_modes(values)
    if not places:
        _fail_of_nothing()
    return values[places[0]]


def _multimode(data: Any) -> list[Any]:
    values = _elements(iter(data))
    return [values[i] for i in _places_of_modes(values)]


def _mean_and_stdev(data: Any) -> tuple[Any, Any]:
    values = list(data)
    return statistics.mean(values), statistics.stdev(values)


def _fmean(data: Any, weights: Any = None) -> Any:
    if weights is None and (type(data) is list or type(data) is tuple) and data:
        return math.fsum(data) / len(data)
    return _followed_fmean(data, weights)


def fmean_of(*elements: Any) -> float:
    return statistics.fmean(elements)


def _rows() -> list[Rule]:
    rows: list[Rule] = [
        ZeroRule(_are_reals, result=bool),
        ZeroRule(_places_of_modes),
        ZeroRule(_fail_of_nothing),
        sequence_rule(_mean_of, _mean_partials, 1),
        sequence_rule(_plain_harmonic_of, _harmonic_partials, 1),
        sequence_rule(_harmonic_of, _harmonic_partials, 2),
        Overlay(statistics.mean, _mean),
        Overlay(statistics.harmonic_mean, _harmonic_mean),
        *of_elements(Elements(fmean_of), Overlay(statistics.fmean, _fmean, result=float)),
        *of_equal_weight(fmean_of, statistics.fmean, lambda count: 1.0 / count, result=float),
        Overlay(statistics.mode, _mode),
        Overlay(statistics.multimode, _multimode),
    ]
    for name, less, is_root in (
        ("variance", 1, False), ("stdev", 1, True), ("pvariance", 0, False), ("pstdev", 0, True),
    ):  # fmt: skip
        function = getattr(statistics, name)
        of_list, by_list = _spread(function, less, is_root)
        around, partials = _around(function, by_list)
        rows += [
            sequence_rule(of_list, by_list, 1),
            sequence_rule(around, partials, 1),
            Overlay(function, _body(name, of_list, around)),
        ]
    if hasattr(statistics, "_mean_stdev"):
        rows.append(Overlay(statistics._mean_stdev, _mean_and_stdev))
    inverse = getattr(statistics, "_normal_dist_inv_cdf", None)
    if inverse is not None:
        rows.append(ScalarRule(inverse, (_by_share, lambda out, p, mu, sigma: 1.0, _by_sigma), result=float))
    return rows


def _by_share(out: Any, p: Any, mu: Any, sigma: Any) -> Any:
    z = (out - mu) / sigma
    return sigma * 2.5066282746310002 * math.exp(0.5 * z * z)


def _by_sigma(out: Any, p: Any, mu: Any, sigma: Any) -> Any:
    return (out - mu) / sigma


ROWS: list[Rule] = _rows()
