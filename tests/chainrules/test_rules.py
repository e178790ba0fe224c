"""Declaring rules and running them by hand: which one applies, what is checked, what there is none of."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.registry import Declaration, Origin, Rank, Registry, declaring
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule
from adbc.chainrules.testing import test_scalar as check_scalar

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with cr.scoped():
        yield


def area(a: Any, b: Any = 2.0, *, scale: float = 1.0) -> Any:
    return a * b * scale


def test_without_a_rule_there_is_none() -> None:
    assert cr.rrule(area, 1.0, 2.0) is None
    assert cr.frule((NO, 1.0, 1.0), area, 1.0, 2.0) is None
    assert cr.rrule([].append, 1.0) is None
    assert cr.rrule.call(area) is None


def test_rules_are_declared_and_run() -> None:
    @cr.rrule(area)
    def rule(area: Any, a: Any, b: Any) -> Any:
        return a * b, lambda dz: (NO, cr.Thunk(lambda: b * dz), ZERO)

    @cr.frule(area)
    def _(tangents: Any, area: Any, a: Any, b: Any) -> Any:
        df, da, db = tangents
        assert df is NO
        return a * b, b * da + a * db

    z, pullback = cr.rrule(area, 3.0, 4.0)
    df, da, db = pullback(1.0)
    assert (z, df, cr.unthunk(da), db) == (12.0, NO, 4.0, ZERO)
    assert cr.frule((NO, 1.0, ZERO), area, 3.0, 4.0) == (12.0, 4.0)
    assert rule(area, 1.0, 2.0)[0] == 2.0  # the decorator gives back what it decorates


def test_functions_without_arguments() -> None:
    def seven() -> float:
        return 7.0

    @cr.rrule(seven)
    def _(seven: Any) -> Any:
        return 7.0, lambda d: (NO,)

    y, pullback = cr.rrule.call(seven)
    assert (y, pullback(1.0)) == (7.0, (NO,))


def test_the_number_of_tangents_is_checked() -> None:
    cr.scalar_rule(area, 1.0, 1.0)
    with pytest.raises(TypeError, match="given 2 tangents for 2 arguments"):
        cr.frule((1.0, 1.0), area, 3.0, 4.0)
    with pytest.raises(TypeError, match="a tuple of tangents first"):
        cr.frule(1.0, area, 3.0)  # type: ignore[call-overload]  # what is tested
    with pytest.raises(TypeError, match="a function first"):
        cr.rrule(3.0)  # type: ignore[call-overload]  # what is tested


@pytest.mark.parametrize("given", [(1.0, 2.0), [NO, 1.0, 2.0], 1.0])
def test_the_number_of_cotangents_is_checked(given: Any) -> None:
    @cr.rrule(area)
    def _(area: Any, a: Any, b: Any) -> Any:
        return a * b, lambda dz: given

    with pytest.raises(TypeError, match="it gives a tuple of 3"):
        cr.rrule(area, 1.0, 2.0)[1](1.0)


@pytest.mark.parametrize("given", [None, 3.0, (1.0,), (1.0, 2.0)])
def test_what_an_rrule_gives_is_checked(given: Any) -> None:
    cr.rrule(area)(lambda area, a: given)
    with pytest.raises(TypeError, match=r"it gives \(y, pullback\)"):
        cr.rrule(area, 1.0)


def test_the_last_rule_that_accepts_the_classes_wins() -> None:
    cr.scalar_rule(area, 1.0, 1.0)
    cr.scalar_rule(area, 2.0, 2.0, when=lambda *classes: complex in classes)
    cr.scalar_rule(area, 3.0, 3.0, when=(float, complex))

    def slope(*args: Any) -> Any:
        return cr.rrule(area, *args)[1](1.0)[1]

    assert (slope(1.0, 1.0), slope(1.0 + 0j, 1.0), slope(1.0, 1j)) == (1.0, 2.0, 3.0)


def test_what_is_opted_out_has_no_rule() -> None:
    cr.scalar_rule(area, 1.0, 1.0)
    cr.opt_out(area, when=(list,))
    assert cr.rrule(area, [1.0], 2) is None
    assert cr.rrule(area, 1.0, 2) is not None
    cr.opt_out(area, mode="forward")
    assert cr.frule((NO, 1.0, 1.0), area, 1.0, 2.0) is None
    assert cr.rrule(area, 1.0, 2.0) is not None
    with pytest.raises(ValueError, match="no mode"):
        cr.opt_out(area, mode="sideways")


def test_rules_are_taken_back() -> None:
    cr.scalar_rule(area, 1.0, 1.0)
    cr.frule(area)(lambda tangents, area, a: (a, 5.0))
    assert cr.forget(area, "forward") == 1
    assert cr.frule((NO, 1.0), area, 1.0)[1] == 1.0
    assert cr.forget(area) == 1
    assert cr.forget(area) == 0
    assert cr.frule((NO, 1.0), area, 1.0) is None


def test_users_come_before_plug_ins_and_these_before_the_rest() -> None:
    registry = Registry()
    heard: list[tuple[str, bool]] = []
    for rank in (Rank.PLUGIN, Rank.USER, Rank.BUILT_IN, Rank.PLUGIN):
        with declaring(Origin(rank, str(len(list(registry))))):
            registry.add(Declaration(area, "rule", {}))
    assert [str(d.origin) for d in registry] == ["user 1", "plug-in 3", "plug-in 0", "built-in 2"]
    registry.listen(lambda d, added: heard.append((str(d.origin), added)))
    assert heard == [("built-in 2", True), ("plug-in 0", True), ("plug-in 3", True), ("user 1", True)]
    assert registry.remove(next(iter(registry)))
    assert heard[-1] == ("user 1", False)
    assert not registry.remove(Declaration(area, "rule", {}))


# -- scalar rules --------------------------------------------------------------------------------------


def test_a_scalar_rule_binds_defaults_and_keywords() -> None:
    seen = []

    def by_a(out: Any, a: Any, b: Any, scale: Any) -> Any:
        seen.append((out, a, b, scale))
        return b * scale

    cr.scalar_rule(area, by_a, lambda out, a, b, scale: a * scale)
    z, pullback = cr.rrule(area, 3.0)
    assert (z, pullback(1.0)) == (6.0, (NO, 2.0))
    z, pullback = cr.rrule(area, 3.0, scale=10.0)
    assert (z, pullback(1.0)) == (60.0, (NO, 20.0))
    assert cr.rrule.call(area, 3.0, b=5.0)[1](1.0) == (NO, 5.0)
    assert seen == [(6.0, 3.0, 2.0, 1.0), (60.0, 3.0, 2.0, 10.0), (15.0, 3.0, 5.0, 1.0)]
    check_rrule(area, 3.0, 4.0, kwargs={"scale": 0.5})
    check_frule(area, 3.0, kwargs={"scale": 0.5})


def polar(r: Any, t: Any) -> Any:
    return r * math.cos(t), r * math.sin(t)


def test_several_outputs_share_what_the_setup_computes() -> None:
    calls = []

    def setup(out: Any, r: Any, t: Any) -> Any:
        calls.append(1)
        return math.cos(t), math.sin(t)

    cr.scalar_rule(
        polar,
        (lambda cs, out, r, t: cs[0], lambda cs, out, r, t: -out[1]),
        (lambda cs, out, r, t: cs[1], lambda cs, out, r, t: out[0]),
        setup=setup,
    )
    check_frule(polar, 2.0, 0.5)
    check_rrule(polar, 2.0, 0.5)
    calls.clear()
    assert cr.derivatives_given_output((1.0, 2.0), polar, 2.0, 0.0) == ((1.0, -2.0), (0.0, 1.0))
    assert calls == [1]
    _, pullback = cr.rrule(polar, 2.0, 0.0)
    assert pullback((1.0, ZERO)) == (NO, 1.0, 0.0)  # a cotangent may be a plain tuple


def test_the_derivative_of_a_holomorphic_function_is_conjugated() -> None:
    cr.scalar_rule(cmath.sin, lambda out, z: cmath.cos(z))
    z = 0.3 + 0.7j
    assert cr.rrule(cmath.sin, z)[1](1.0)[1] == cmath.cos(z).conjugate()
    assert cr.frule((NO, 1.0), cmath.sin, z)[1] == cmath.cos(z)
    check_scalar(cmath.sin, z)
    assert type(cr.rrule(cmath.sin, 0.5)[1](1j)[1]) is float  # a real argument has a real cotangent


def test_arrays_are_taken_element_by_element_and_broadcasting_is_undone() -> None:
    cr.scalar_rule(np.multiply, lambda out, x, y: y, lambda out, x, y: x)
    cr.scalar_rule(np.add, 1.0, 1.0)
    for x, y in [
        (np.arange(3.0), np.ones((2, 3)) + 1j),
        (2.0, np.ones(3)),
        (np.array(2.0), np.ones((1, 3))),
        (np.ones((2, 1), np.float32), np.ones(3, np.float32)),
        (np.arange(3), np.ones(3)),
    ]:
        for function in (np.multiply, np.add):
            check_rrule(function, x, y)
            check_frule(function, x, y)


def test_a_zero_times_an_infinite_derivative_is_zero() -> None:
    cr.scalar_rule(math.sqrt, lambda out, x: math.inf if x == 0.0 else 0.5 / out)
    assert cr.rrule(math.sqrt, 0.0)[1](0.0)[1] == 0.0
    assert cr.frule((NO, 0.0), math.sqrt, 0.0)[1] == 0.0
    cr.scalar_rule(np.sqrt, lambda out, x: np.where(x == 0.0, np.inf, 0.5))
    found = cr.rrule(np.sqrt, np.array([0.0, 1.0]))[1](np.array([0.0, 1.0]))[1]
    assert found.tolist() == [0.0, 0.5]
    assert math.isnan(cr.rrule(math.sqrt, 0.0)[1](math.nan)[1])


def test_inactive_arguments_are_not_evaluated() -> None:
    def fail(out: Any, a: Any, b: Any) -> Any:
        raise AssertionError("evaluated")

    cr.scalar_rule(area, lambda out, a, b: b, fail)
    assert cr.frule((NO, 1.0, ZERO), area, 3.0, 4.0) == (12.0, 4.0)
    assert cr.frule((NO, ZERO, NO), area, 3.0, 4.0) == (12.0, ZERO)


def test_a_derivative_may_be_not_implemented() -> None:
    cr.scalar_rule(area, lambda out, a, b: b, lambda out, a, b: cr.not_implemented("by b"))
    _, da, db = cr.rrule(area, 3.0, 4.0)[1](1.0)
    assert da == 4.0
    with pytest.raises(adbc.errors.UnsupportedError, match="by b"):
        float(db)


@pytest.mark.parametrize(
    "partials",
    [(), ((1.0,), 2.0), ((1.0, 2.0), (1.0,)), (1.0, 2.0, 3.0, 4.0)],
    ids=["none", "mixed", "ragged", "too many"],
)
def test_what_is_no_set_of_partial_derivatives_is_refused(partials: Any) -> None:
    with pytest.raises(TypeError, match="scalar_rule"):
        cr.scalar_rule(area, *partials)


# -- no derivative -------------------------------------------------------------------------------------


def test_what_is_not_differentiable() -> None:
    @cr.non_differentiable
    def nearest(x: float) -> int:
        return int(x + 0.5)

    assert cr.frule((NO, 1.0), nearest, 2.2) == (2, NO)
    y, pullback = cr.rrule(nearest, 2.2)
    assert (y, pullback(1.0)) == (2, (NO, NO))
    assert cr.rrule(cr.ignore_derivatives, 2.2)[1](1.0) == (NO, NO)
    assert cr.ignore_derivatives(2.2) == 2.2


# -- what a rule asks of the system --------------------------------------------------------------------


class Chained(cr.RuleConfig):
    """A system that runs rules and derives nothing."""

    abilities = frozenset({"reverse"})

    def rrule_via_ad(self, f: Any, *args: Any, **kwargs: Any) -> Any:
        return cr.rrule(self, f, *args, **kwargs)


def apply(g: Any, x: Any) -> Any:
    return g(x)


def declare_apply() -> None:
    @cr.rrule(apply, config=cr.RuleConfig.requires("reverse"))
    def _(config: Any, apply: Any, g: Any, x: Any) -> Any:
        y, back = config.rrule_via_ad(g, x)
        return y, lambda dy: (NO, *back(dy))


def test_a_rule_that_needs_what_the_config_lacks_is_passed_over() -> None:
    cr.rrule(apply)(lambda apply, g, x: (g(x), lambda dy: (NO, NO, 99.0)))
    declare_apply()
    cr.scalar_rule(math.exp, lambda out, x: out)
    assert cr.rrule(apply, math.exp, 0.0)[1](1.0)[2] == 99.0
    assert cr.rrule(cr.RuleConfig(), apply, math.exp, 0.0)[1](1.0)[2] == 99.0
    assert cr.rrule(Chained(), apply, math.exp, 0.0)[1](1.0) == (NO, NO, 1.0)
    check_rrule(apply, math.exp, 0.0, config=Chained())
    with pytest.raises(adbc.errors.UnsupportedError, match="cannot in forward mode"):
        Chained().frule_via_ad((NO, 1.0), math.exp, 0.0)


def test_a_config_is_used_for_a_block() -> None:
    cr.scalar_rule(math.exp, lambda out, x: out)
    with cr.using_config(Chained()):
        y, pullback = cr.rrule.from_ad(math.exp)(math.exp, 0.0)
    assert (y, pullback(2.0)) == (1.0, (NO, 2.0))
