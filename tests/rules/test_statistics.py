"""`statistics` and `bisect`: exact functions of lists, iterators and tuples."""

from __future__ import annotations

import bisect
import heapq
import statistics
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import adbc
from adbc.errors import MissingRuleError
from adbc.testing import test_rule as check_rule

DATA = [0.7, 0.2, 1.1, 0.5]
EXACT = [
    "mean", "harmonic_mean", "pvariance", "variance", "pstdev", "stdev", "median", "median_grouped",
    "median_low", "mode", "multimode", "fmean", "geometric_mean", "quantiles",
]  # fmt: skip


def called(text: str) -> Any:
    """A function that makes this call: what stands in the text is constant."""
    return eval(text, {"statistics": statistics, "bisect": bisect, "heapq": heapq})


@pytest.mark.parametrize("name", EXACT)
def test_functions_of_data(name: str) -> None:
    check_rule(called(f"lambda v: statistics.{name}(v)"), DATA)
    check_rule(called(f"lambda v: statistics.{name}(x * x for x in v)"), DATA)
    check_rule(called(f"lambda v: statistics.{name}((v[0], v[1], 2, 0.9))"), DATA)


@pytest.mark.parametrize("name", ["pvariance", "variance", "pstdev", "stdev"])
def test_spread_around_a_centre(name: str) -> None:
    check_rule(called(f"lambda v, c: statistics.{name}(v, c)"), DATA, 0.6)


def test_weights() -> None:
    check_rule(lambda v, w: statistics.harmonic_mean(v, w), DATA, DATA[::-1])
    check_rule(lambda v, w: statistics.harmonic_mean(v, weights=w), tuple(DATA), DATA[::-1])


def test_normal_distribution() -> None:
    check_rule(lambda v: statistics.NormalDist.from_samples(v).inv_cdf(v[1]), DATA)
    check_rule(lambda m, s, p: statistics.NormalDist(m, s).inv_cdf(p), 0.3, 1.2, 0.01)


def test_singular_cases() -> None:
    assert adbc.grad(lambda x: statistics.stdev([x, x, x]))(2.0) == 0.0
    assert adbc.grad(lambda v: statistics.pstdev(v))([2.0, 2.0]) == [0.0, 0.0]
    assert adbc.grad(lambda v: statistics.harmonic_mean(v))([0.0, 2.0, 3.0]) == [0.0, 0.0, 0.0]
    assert adbc.grad(lambda v: statistics.mode(v))([2.0, 3.0, 3.0]) == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("name", ["mean", "mode", "stdev", "harmonic_mean"])
def test_errors_are_those_of_the_library(name: str) -> None:
    f = called(f"lambda x: x * statistics.{name}([])")
    with pytest.raises(statistics.StatisticsError):
        adbc.grad(f)(1.0)


@pytest.mark.parametrize("number", [Fraction, Decimal])
@pytest.mark.parametrize(
    "name", ["mean", "harmonic_mean", "variance", "stdev", "pvariance", "pstdev", "median"]
)
def test_constants_that_are_no_floats(name: str, number: Any) -> None:
    """Fractions and decimal numbers have no derivative: what is computed of them is what it is plainly."""
    function = getattr(statistics, name)
    data = [number(1), number(5) / number(4), number(3)]

    def f(x: float) -> float:
        return x * float(function(data)) * float(function(v for v in data))

    factor = float(function(data)) ** 2
    for _ in range(3):
        assert adbc.value_and_grad(f)(2.0) == pytest.approx((2.0 * factor, factor))
        assert adbc.jvp(f, (2.0,), (1.0,)) == pytest.approx((2.0 * factor, factor))


def test_fractions_beside_a_number_with_a_derivative() -> None:
    with pytest.raises(MissingRuleError, match="as_integer_ratio"):
        adbc.grad(lambda x: float(statistics.mean([x, Fraction(1, 2)])))(2.0)


def test_bisect() -> None:
    check_rule(lambda v, x: x * bisect.bisect(v, x), sorted(DATA), 0.55)
    check_rule(lambda v, x: x * bisect.bisect_left(v, x, 1, hi=3), sorted(DATA), 0.55)
    check_rule(lambda v, x: bisect.insort(v, x), sorted(DATA), 0.55)
    check_rule(lambda v, x: bisect.insort_left(v, x, key=lambda a: -a), sorted(DATA)[::-1], 0.55)


def test_the_smallest() -> None:
    check_rule(lambda v: heapq.nsmallest(2, v), [*DATA, 0.1, 0.05])
    check_rule(lambda v: heapq.nsmallest(2, v, key=lambda a: -a), DATA)


def test_pow_by_keyword() -> None:
    check_rule(lambda x: pow(x, exp=2), 1.5)
    check_rule(lambda x, y: pow(exp=y, base=x), 1.5, 2.5)
