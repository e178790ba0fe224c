"""Smaller things that rule authors ask for: zeros, fields, modes, state, pullbacks that run again, tables."""

from __future__ import annotations

import dataclasses
import gc
import math
import weakref
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.rules
from adbc import chainrules as cr
from adbc.testing import test_rule as check_rule

from .speed import CASES


@dataclasses.dataclass
class Spring:
    k: float
    n: int


def test_zero_duals_and_coduals() -> None:
    dual, codual = adbc.zero_dual(2.0), adbc.zero_codual(np.ones(2))
    assert (dual.primal, dual.tangent) == (2.0, 0.0)
    assert codual.fdata.tolist() == [0.0, 0.0]
    f = lambda x: x * x  # noqa: E731
    rule = adbc.build_frule((f, float))
    assert rule(adbc.zero_dual(f), adbc.zero_dual(3.0)).tangent == 0.0
    reverse = adbc.build_rrule((f, float))
    assert reverse(adbc.zero_codual(f), adbc.zero_codual(3.0))[1](1.0)[1] == 6.0


def test_fields_of_tangents() -> None:
    t = adbc.zero_tangent(Spring(1.0, 2))
    adbc.set_tangent_field(t, "k", 5.0)
    assert adbc.tangent_field(t, "k") == 5.0
    assert adbc.tangent_field(t, "n") is adbc.NoTangent()
    with pytest.raises(adbc.errors.InvalidTangentError, match="no derivative"):
        adbc.set_tangent_field(t, "n", 1.0)
    with pytest.raises(adbc.errors.InvalidTangentError, match="no part 'm'"):
        adbc.tangent_field(t, "m")
    with pytest.raises(adbc.errors.InvalidTangentError, match="not changed in place"):
        adbc.set_tangent_field((0.0,), 0, 1.0)


def rounded(x: float) -> float:
    return x * 1.0


@pytest.mark.parametrize("declare", [adbc.zero_derivative, cr.non_differentiable])
def test_a_zero_rule_may_be_for_one_mode(declare: Any) -> None:
    try:
        declare(rounded, mode="forward")
        assert adbc.jvp(lambda x: rounded(x) + x, (2.0,), (1.0,))[1] == 1.0
        assert adbc.grad(lambda x: rounded(x) + x)(2.0) == 2.0
        with pytest.raises(ValueError, match="no mode"):
            declare(rounded, mode="sideways")
    finally:
        assert adbc.forget(rounded) == 1
    assert adbc.jvp(lambda x: rounded(x) + x, (2.0,), (1.0,))[1] == 2.0


def test_rules_may_keep_state_for_the_classes_that_they_are_called_with() -> None:
    built: list[tuple[type, ...]] = []

    def scaled(x: Any, k: float) -> Any:
        return x * k

    def build(*classes: type) -> Any:
        built.append(classes)
        calls = [0]

        def rrule(f: Any, x: Any, k: Any) -> Any:
            calls[0] += 1
            number = calls[0]

            def pullback(b: float) -> Any:
                return adbc.NoRData(), k.primal * b * number, x.primal * b

            return adbc.CoDual(x.primal * k.primal, adbc.NoFData()), pullback

        return None, rrule

    table = adbc.Layer()
    adbc.primitive(scaled, build=build, table=table)
    interpreted = adbc.Config(speculation="interpret")
    with adbc.use(interpreted, table=table):  # what runs seldom has no place of its own
        assert adbc.grad(lambda x: scaled(x, 3.0) + scaled(x, 3.0))(2.0) == 3.0 + 6.0
        assert adbc.grad(lambda x: scaled(x, 3.0))(2.0) == 9.0  # the third call
        with pytest.raises(adbc.errors.UnsupportedError, match="no forward mode"):
            adbc.jvp(scaled, (2.0, 3.0), (1.0, 0.0))
    assert built == [(float, float)]
    with pytest.raises(TypeError, match="build makes the rules"):
        adbc.primitive(scaled, build=build, frule=lambda *duals: None, table=table)


def scaled(x: Any, k: float) -> Any:
    return x * k


def work(x: float) -> float:
    for _ in range(3):
        x = scaled(x, 2.0)
    return scaled(x, 3.0) + scaled(x, 5.0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("debug", [False, True])
def test_each_call_in_written_code_has_rules_of_its_own(mode: str, debug: bool) -> None:
    built: list[list[float]] = []

    def build(*classes: type) -> Any:
        seen: list[float] = []
        built.append(seen)

        def frule(f: Any, x: Any, k: Any) -> Any:
            seen.append(k.primal)
            return adbc.Dual(x.primal * k.primal, x.tangent * k.primal)

        def rrule(f: Any, x: Any, k: Any) -> Any:
            seen.append(k.primal)
            out = adbc.CoDual(x.primal * k.primal, adbc.NoFData())
            return out, lambda b: (adbc.NoRData(), k.primal * b, x.primal * b)

        return frule, rrule

    table = adbc.Layer()
    adbc.primitive(scaled, build=build, table=table)
    with adbc.use(adbc.Config(warm_after=0, debug=debug), table=table):
        for _ in range(2):
            if mode == "forward":
                assert adbc.jvp(work, (1.0,), (1.0,)) == (64.0, 64.0)
            else:
                assert adbc.grad(work)(1.0) == 64.0
    # The code is written anew when more is known of types, and what is written anew begins anew.
    assert [len(set(seen)) for seen in built] == [1] * len(built)
    assert sorted(k for seen in built for k in seen) == [2.0] * 6 + [3.0] * 2 + [5.0] * 2


def test_tables_are_scoped() -> None:
    def double(x: float) -> float:
        return x + x

    mine, other = adbc.Layer(), adbc.Layer()
    adbc.scalar_rule(double, table=mine)([lambda out, x: 100.0])
    adbc.scalar_rule(double, table=other)([lambda out, x: 200.0])
    f = lambda x: double(x) * math.sin(x)  # noqa: E731
    plain = adbc.grad(f)(0.0)
    for _ in range(2):
        with adbc.use(table=mine):
            assert adbc.grad(double)(1.0) == 100.0
            assert adbc.jvp(double, (1.0,), (1.0,))[1] == 100.0
            with adbc.use(table=other):
                assert adbc.grad(double)(1.0) == 200.0
            assert adbc.grad(double)(1.0) == 100.0
            assert adbc.grad(f)(0.0) == plain == 0.0
        assert adbc.grad(double)(1.0) == 2.0
    try:
        adbc.scalar_rule(double)([lambda out, x: 7.0])
        with adbc.use(table=mine):
            assert adbc.grad(double)(1.0) == 100.0
            assert adbc.forget(double, table=mine) == 1
            assert adbc.grad(double)(1.0) == 7.0  # that of the table below
    finally:
        assert adbc.forget(double) == 1
    with adbc.use(table=mine):
        assert adbc.grad(double)(1.0) == 2.0


def test_a_table_goes_with_its_engine() -> None:
    def double(x: float) -> float:
        return x + x

    mine = adbc.Layer()
    adbc.scalar_rule(double, table=mine)([lambda out, x: 100.0])
    with adbc.use(table=mine):
        assert adbc.grad(double)(1.0) == 100.0
    gone = weakref.ref(mine), weakref.ref(next(iter(mine.engines.values())))
    del mine
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


@pytest.mark.parametrize("speculation", ["learn", "dynamic", "interpret"])
def test_a_pullback_may_run_again(speculation: str) -> None:
    def work(x: Any, y: float) -> Any:
        x *= y
        return {"s": x.sum(), "x": x * 2.0}

    with adbc.use(adbc.Config(speculation=speculation)):
        x = np.array([1.0, 2.0])
        value, pullback = adbc.vjp(work, x, 3.0, reusable=True)
        assert value["s"] == 9.0
        for _ in range(2):
            for s, v in [(1.0, 0.0), (0.0, 1.0), (2.0, 1.0)]:
                dx, dy = pullback({"s": s, "x": np.full(2, v)})
                assert dx.tolist() == [3.0 * s + 6.0 * v] * 2
                assert dy == 3.0 * s + 6.0 * v
                assert x.tolist() == [1.0, 2.0]
        x[0] = 5.0
        with pytest.raises(ValueError, match="has been changed"):
            pullback({"s": 1.0, "x": np.zeros(2)})
        x[0] = 1.0
        assert pullback({"s": 1.0, "x": np.zeros(2)})[1] == 3.0
        value, pullback, aux = adbc.vjp(lambda x: (x * x, "aux"), 3.0, has_aux=True, reusable=True)
        assert (value, pullback(1.0), pullback(2.0), aux) == (9.0, (6.0,), (12.0,), "aux")


def test_a_pullback_runs_once_unless_it_is_asked_to() -> None:
    _, pullback = adbc.vjp(lambda x: x * x, 3.0)
    pullback(1.0)
    with pytest.raises(adbc.errors.PullbackConsumedError):
        pullback(1.0)


def test_a_cotangent_that_does_not_fit_leaves_the_pullback_as_it_was() -> None:
    _, pullback = adbc.vjp(lambda x: x * x, 3.0, reusable=True)
    with pytest.raises(adbc.errors.InvalidTangentError):
        pullback("text")
    assert pullback(1.0) == (6.0,)


def test_a_minimal_context_derives_what_has_a_rule_for_speed() -> None:
    def cube(x: float) -> float:
        return x * x * x

    with cr.scoped():
        cr.rrule(cube, for_speed=True)(lambda cube, x: (x**3, lambda d: (cr.NoTangent(), 30.0 * x * x * d)))
        assert adbc.grad(cube)(2.0) == 120.0  # a wrong rule, to tell them apart
        with adbc.use(adbc.Config(context="minimal")):
            assert adbc.grad(cube)(2.0) == 12.0
            assert adbc.grad(math.sin)(0.0) == 1.0
    with pytest.raises(ValueError, match="no context"):
        adbc.Config(context="maximal")


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_rule_for_speed_agrees_with_its_own_derivation(function: Any) -> None:
    for args in CASES[function]:
        types = tuple(map(type, args))
        check_rule(function, *args)
        assert any(row.for_speed for row in adbc.rules.default_table().rows(function))
        with adbc.use(adbc.Config(context="minimal")):
            assert not adbc.build_rrule((function, *types)).is_primitive
            check_rule(function, *args)


def test_every_rule_for_speed_is_among_them() -> None:
    rows = [row for row in adbc.rules.default_table() if row.for_speed]
    assert {row.function for row in rows} == set(CASES)
