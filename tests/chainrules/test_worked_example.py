"""The worked example: asin(0.2 + sin(x)) at 3, by rules chained by hand, by differences, by the engine."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.testing import central_fdm

EXPECTED = -1.0531613736418153


def foo(x: Any) -> Any:
    a = math.sin(x)
    b = 0.2 + a
    return math.asin(b)


@pytest.fixture(autouse=True)
def rules() -> Iterator[None]:
    with cr.scoped():
        cr.scalar_rule(math.sin, lambda out, x: math.cos(x))
        cr.scalar_rule(operator.add, (1.0, 1.0))
        cr.scalar_rule(math.asin, lambda out, x: 1 / math.sqrt(1 - x**2))
        yield


def by_rrules(x: Any) -> Any:
    a, a_pullback = cr.rrule(math.sin, x)
    b, b_pullback = cr.rrule(operator.add, 0.2, a)
    _, c_pullback = cr.rrule(math.asin, b)
    _, db = c_pullback(1)
    _, _, da = b_pullback(db)
    _, dx = a_pullback(da)
    return dx


def by_frules(x: Any) -> Any:
    none = cr.ZeroTangent()
    a, da = cr.frule((none, 1), math.sin, x)
    b, db = cr.frule((none, cr.ZeroTangent(), da), operator.add, 0.2, a)
    _, dc = cr.frule((none, db), math.asin, b)
    return dc


@pytest.mark.parametrize("x", [3, 3.0])
def test_the_rules_by_hand_give_the_number_of_the_document(x: Any) -> None:
    assert by_rrules(x) == EXPECTED
    assert by_frules(x) == EXPECTED


@pytest.mark.parametrize("x", [3, 3.0])
def test_finite_differences_agree(x: Any) -> None:
    found = central_fdm(5, 1).estimate(foo, x)
    assert abs(found.value - EXPECTED) < 1e-13
    assert abs(found.value - EXPECTED) <= found.error < 1e-11


def test_the_engine_gives_it_for_the_float() -> None:
    assert adbc.grad(foo)(3.0) == EXPECTED
    assert adbc.jvp(foo, (3.0,), (1.0,))[1] == EXPECTED


@pytest.mark.parametrize("x", [3, 3.0])
def test_the_engine_gives_it_for_the_int_with_a_number_for_its_tangent(x: Any) -> None:
    y, dy = cr.frule.from_ad(foo)((cr.NoTangent(), 1.0), foo, x)
    assert (y, dy) == (foo(x), EXPECTED)


def test_an_int_whose_tangent_is_no_number_stays_a_count() -> None:
    def power(x: float, n: int) -> float:
        y = 1.0
        for _ in range(n):
            y = y * x
        return y

    for none in (cr.NoTangent(), cr.ZeroTangent()):
        assert cr.frule.from_ad(power)((cr.NoTangent(), 1.0, none), power, 2.0, 3) == (8.0, 12.0)


def test_the_engine_refuses_the_int_and_says_to_pass_a_float() -> None:
    with pytest.raises(adbc.errors.ArgumentError, match="float"):
        adbc.grad(foo)(3)


def test_the_engine_differentiates_what_makes_a_float_of_the_int() -> None:
    assert adbc.grad(foo)(float(3)) == EXPECTED


def test_the_rules_that_the_engine_brings_give_it_too() -> None:
    for function in (math.sin, operator.add, math.asin):
        assert cr.forget(function) == 1
    import adbc.rules  # noqa: F401  # brings the collection

    assert (by_rrules(3.0), by_frules(3)) == (EXPECTED, EXPECTED)
