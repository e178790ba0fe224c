"""Rules that users declare."""

from __future__ import annotations

import math

import pytest

from adbc.errors import UnsupportedError
from adbc.rules import default_table
from adbc.rules.declare import overlay, primitive, rule, scalar_rule, zero_derivative
from adbc.rules.table import RuleTable
from adbc.tangents import NO_FDATA, NO_RDATA, CoDual, Dual
from adbc.testing import test_rule as check_rule


def product(x, y):
    return x * math.sin(y)


def double(a):
    for k in range(len(a)):
        a[k] *= 2.0
    return sum(a)


def new_product():
    """A function that nobody has declared a rule for."""

    def product(x, y):
        return x * math.sin(y)

    return product


def row_of(function, table, *classes):
    return table.find(function, classes)


def test_scalar_rule_with_one_function() -> None:
    f = new_product()
    scalar_rule(f)(lambda out, x, y: (math.sin(y), x * math.cos(y)))
    check_rule(f, 0.7, 1.2, is_primitive=True)
    check_rule(lambda y: f(0.7, y), 1.2, is_primitive=False)


def test_scalar_rule_with_a_function_for_each_argument() -> None:
    f = new_product()
    scalar_rule(f)((lambda out, x, y: math.sin(y), lambda out, x, y: x * math.cos(y)))
    assert row_of(f, default_table(), float, float).kind == "scalar"
    check_rule(f, 0.7, 1.2, is_primitive=True)


def test_a_scalar_rule_must_give_all_partials() -> None:
    table = RuleTable()
    scalar_rule(product, table=table)(lambda out, x, y: math.sin(y))
    with pytest.raises(TypeError, match="1 partial derivatives for 2 arguments"):
        row_of(product, table, float, float).frule((0.7, 1.2), (1.0, None))


def test_rule_of_derivatives() -> None:
    f = new_product()
    rule(
        f,
        jvp=(lambda d, out, x, y: d * math.sin(y), lambda d, out, x, y: d * x * math.cos(y)),
        vjp=(lambda b, out, x, y: b * math.sin(y), lambda b, out, x, y: b * x * math.cos(y)),
    )
    check_rule(f, 0.7, 1.2, is_primitive=True)


def test_zero_derivative_and_overlay() -> None:
    table = RuleTable()
    assert zero_derivative(product, table=table) is product
    assert row_of(product, table, float, float).rrule((1.0, 2.0), (NO_FDATA, NO_FDATA))[1] is None

    @overlay(product, table=table)
    def body(x, y):
        return math.sin(y) * x

    assert row_of(product, table, float, float).body is body


def double_rrule(f, a):
    old = list(a.primal)
    out = double(a.primal)

    def pullback(rdata):
        a.primal[:] = old
        for k in range(len(old)):
            a.fdata[k] = 2.0 * (a.fdata[k] + rdata)
        return NO_RDATA, NO_RDATA

    return CoDual(out, NO_FDATA), pullback


def double_frule(f, a):
    out = double(a.primal)
    for k in range(len(a.tangent)):
        a.tangent[k] *= 2.0
    return Dual(out, sum(a.tangent))


def test_primitive_in_the_public_form() -> None:
    primitive(double, frule=double_frule, rrule=double_rrule)
    check_rule(double, [1.0, 2.0], is_primitive=True)


def test_a_mode_that_is_not_declared_is_refused() -> None:
    table = RuleTable()
    primitive(double, rrule=double_rrule, table=table)
    with pytest.raises(UnsupportedError, match="double has no forward mode"):
        row_of(double, table, list).frule(([1.0],), ([1.0],))


def test_a_declaration_makes_derived_rules_stale_and_wins() -> None:
    table = RuleTable()
    zero_derivative(product, table=table)
    before = table.epoch
    scalar_rule(product, table=table)(lambda out, x, y: (1.0, 2.0))
    assert table.epoch == before + 1
    assert row_of(product, table, float, float).frule((1.0, 2.0), (1.0, None))[1] == 1.0
