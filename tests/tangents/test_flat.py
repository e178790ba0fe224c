"""The flat protocol: what generated code and rules see of tangents."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from adbc import tangents as t
from adbc.errors import InvalidTangentError
from adbc.tangents import NO_FDATA, NO_RDATA, NO_TANGENT, FData, MutableTangent, RData, Tangent


class Point(NamedTuple):
    x: float
    y: Any


class Thing:
    def __init__(self) -> None:
        self.w = 2.0


def test_words_for_nothing_have_one_instance_each() -> None:
    assert t.NoFData() is NO_FDATA
    assert t.NoRData() is NO_RDATA
    assert t.NoTangent() is NO_TANGENT
    assert repr(NO_FDATA) == "NoFData()"
    assert len({NO_FDATA, NO_RDATA, NO_TANGENT}) == 3


def test_records() -> None:
    assert Tangent(a=1.0) == Tangent(a=1.0)
    assert Tangent(a=1.0) != Tangent(a=2.0)
    assert Tangent(a=1.0) != FData(a=1.0)
    assert repr(Tangent(a=1.0)) == "Tangent(a=1.0)"
    with pytest.raises(AttributeError, match="immutable"):
        Tangent(a=1.0).a = 2.0
    m = MutableTangent(a=1.0)
    m.a = 2.0  # type: ignore[attr-defined]
    assert m.a == 2.0  # type: ignore[attr-defined]
    assert m != MutableTangent(a=2.0)
    m.a = m  # type: ignore[attr-defined]
    assert repr(m) == "MutableTangent(a=<MutableTangent>)"
    assert repr(t.CoDual(1.0, NO_FDATA)) == "CoDual(1.0, NoFData())"
    assert not hasattr(t.Dual(1.0, 2.0), "__dict__")


def test_splitting_as_in_the_study() -> None:
    x = (5.0, [1.0, 2.0])
    z = t.zero_tangent(x)
    assert t.fdata(z)[0] is NO_FDATA
    assert t.fdata(z)[1] is z[1]
    assert t.rdata(z) == (0.0, NO_RDATA)
    assert t.fdata((1.0, NO_TANGENT)) is NO_FDATA
    assert t.rdata(([1.0], NO_TANGENT)) is NO_RDATA
    assert t.zero_tangent((1, ("a", None))) is NO_TANGENT
    p = t.zero_tangent(Point(1.0, [2.0]))
    assert t.fdata(p) == FData(x=NO_FDATA, y=[0.0])
    assert t.rdata(p) == RData(x=0.0, y=NO_RDATA)


@pytest.mark.parametrize(
    ("f", "r"),
    [([1.0], 2.0), ((NO_FDATA,), (1.0, 2.0)), (FData(a=[1.0]), RData(b=1.0)), (FData(a=[1.0]), 1.0)],
)
def test_parts_that_do_not_belong_together(f: Any, r: Any) -> None:
    with pytest.raises(InvalidTangentError):
        t.tangent(f, r)


def test_slot_shadow() -> None:
    inner = [1.0]
    assert t.slot_shadow(0.5) is NO_FDATA
    assert t.slot_shadow(np.float32(0.5)) is NO_FDATA
    assert t.slot_shadow(NO_TANGENT) is None
    assert t.slot_shadow(inner) is inner
    assert t.slot_shadow((0.5, NO_TANGENT, inner)) == (NO_FDATA, None, inner)
    assert t.slot_shadow((NO_TANGENT, NO_TANGENT)) is None
    assert t.slot_shadow(Tangent(a=0.5, b=NO_TANGENT)) == FData(a=NO_FDATA, b=None)
    once = t.slot_shadow((0.5, (inner, NO_TANGENT)))
    assert t.slot_shadow(once) == once


def test_slot_tangent() -> None:
    inner: list[Any] = [1.0]
    assert t.slot_tangent(3.0, NO_FDATA) == 0.0
    assert t.slot_tangent(3.0, None) == 0.0
    assert t.slot_tangent(3, None) is NO_TANGENT
    assert t.slot_tangent([5.0], inner) is inner
    assert t.slot_tangent([5.0], None) is NO_TANGENT  # a constant
    made = t.slot_tangent((3.0, [5.0], 1), (NO_FDATA, inner, None))
    assert made == (0.0, [1.0], NO_TANGENT)
    assert made[1] is inner
    assert t.slot_tangent((1, "a"), None) is NO_TANGENT
    assert t.slot_tangent(Point(1.0, [2.0]), FData(x=NO_FDATA, y=inner)) == Tangent(x=0.0, y=inner)
    assert t.slot_tangent({1.0}, None) is NO_TANGENT


def test_slot_rdata_and_increment() -> None:
    assert t.slot_rdata(0.5) == 0.5
    assert t.slot_rdata([0.5]) is None
    assert t.slot_rdata((0.5, [1.0])) == (0.5, None)
    assert t.slot_rdata(Tangent(a=0.5, b=[1.0])) == RData(a=0.5, b=None)
    assert t.slot_increment(0.5, 1.0) == 1.5
    assert t.slot_increment(0.5, None) == 0.5
    assert t.slot_increment((0.5, [1.0]), (2.0, None)) == (2.5, [1.0])
    assert t.slot_increment(Tangent(a=0.5), RData(a=1.0)) == Tangent(a=1.5)
    x = [1.0]
    assert t.slot_increment(x, None) is x
    assert type(t.slot_increment(np.float32(1), np.float32(2))) is np.float32


def test_fresh() -> None:
    assert t.fresh_shadow(1.0) is NO_FDATA
    assert t.fresh_shadow(1.0, active=False) is None
    assert t.fresh_shadow(1) is None
    assert t.fresh_shadow([1.0, 2]) == [0.0, NO_TANGENT]
    assert t.fresh_shadow([1.0], active=False) == [0.0]
    assert t.fresh_shadow((1.0, 2)) == (NO_FDATA, None)
    assert t.fresh_shadow((1.0, [2.0]), active=False) == (None, [0.0])
    assert t.fresh_shadow({1.0, 2.0}) is None
    assert t.fresh_tangent(1.0) is None
    assert t.fresh_tangent((1.0, 2.0)) is None
    assert t.fresh_tangent([1.0]) == [0.0]
    assert t.fresh_tangent((1.0, [1.0])) == (0.0, [0.0])
    assert t.fill_tangent(1.0, None) == 0.0
    assert t.fill_tangent((1.0, 2), None) == (0.0, NO_TANGENT)
    assert t.fill_tangent(1.0, 3.0) == 3.0


def test_add() -> None:
    assert t.add(None, None) is None
    assert t.add(1.0, None) == 1.0
    assert t.add(None, 1.0) == 1.0
    assert t.add((1.0, None), (2.0, (3.0,))) == (3.0, (3.0,))
    assert t.add(RData(a=1.0, b=None), RData(a=1.0, b=2.0)) == RData(a=2.0, b=2.0)


@pytest.mark.parametrize("p", [math.inf, math.nan, 2.0])
def test_multiply_has_a_strong_zero(p: float) -> None:
    assert t.multiply(p, 0.0) == 0.0
    assert t.multiply(p, 0j) == 0j
    assert t.multiply(p, np.float32(0)) == 0
    np.testing.assert_array_equal(t.multiply(p, np.array([0.0, 1.0])), [0.0, p])


def test_multiply() -> None:
    assert t.multiply(2.0, 3.0) == 6.0
    assert t.multiply(1j, 2.0) == 2j


@pytest.mark.parametrize(
    ("d", "x", "expected"),
    [
        (1.5, 1.0, 1.5),
        (1 + 2j, 1.0, 1.0),
        (np.complex64(1 + 2j), 1.0, 1.0),
        (np.float32(1.5), 1.0, 1.5),
        (np.array([1.0, 2j]), 1.0, 1.0),
        (2, 1.0, 2.0),
        (1.5, 1j, 1.5 + 0j),
        (1 + 2j, np.float32(1), np.float32(1)),
        (2.0, np.complex64(1), np.complex64(2)),
    ],
)
def test_project_to_a_number(d: Any, x: Any, expected: Any) -> None:
    found = t.project(d, x)
    assert type(found) is type(expected)
    assert found == expected


def test_project_to_nothing() -> None:
    assert t.project(1.0, 3) is None
    assert t.project(1.0, True) is None
    assert t.project(None, 1.0) is None
    assert t.project(np.ones(2), np.arange(2)) is None
    assert t.project((1j, 2.0), (1.0, 3)) == (0.0, None)
    assert t.project(RData(x=1j, y=None), Point(1.0, 3)) == RData(x=0.0, y=None)


def test_project_to_an_array() -> None:
    x = np.zeros((2, 1), np.float32)
    found = t.project(np.full((3, 2, 4), 1 + 1j), x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.full((2, 1), 12.0))
    d = np.ones((2, 1), np.float32)
    assert t.project(d, x) is d
    assert not np.shares_memory(t.project(d, x, fresh=True), d)
    z = np.ones(2, complex)
    assert not np.shares_memory(t.project(z, np.ones(2), fresh=True), z)
    np.testing.assert_array_equal(t.project(2.0, np.ones((2, 2))), np.full((2, 2), 2.0))
    t.project(2.0, np.ones(2))[0] = 1.0  # can be written to


def test_accumulate() -> None:
    assert t.accumulate(None, 1.0, 2.0) is None
    assert t.accumulate(NO_FDATA, 1.0, 2j) == 0.0
    assert t.accumulate(NO_FDATA, 1.0, None) is None
    f = np.ones(3)
    assert t.accumulate(f, np.zeros(3), np.ones((2, 3))) is None
    np.testing.assert_array_equal(f, [3.0, 3.0, 3.0])
    inner = [1.0]
    assert t.accumulate((NO_FDATA, inner), (1.0, [2.0]), (2.0, [5.0])) == (2.0, None)
    assert inner == [6.0]
    left = t.accumulate(FData(x=NO_FDATA, y=inner), Point(1.0, [2.0]), RData(x=2.0, y=None))
    assert left == RData(x=2.0, y=None)


def test_boxes() -> None:
    inner = [0.0]
    x = (1.0, [2.0], 3)
    assert t.external_fdata((NO_FDATA, inner, None), x) == (NO_FDATA, inner, NO_FDATA)
    assert t.external_fdata(None, x) == (NO_FDATA, [0.0], NO_FDATA)
    assert t.external_fdata((NO_FDATA, NO_FDATA), (1.0, 2.0)) is NO_FDATA
    assert t.internal_fdata(NO_FDATA, (1.0, 2)) == (NO_FDATA, None)
    assert t.internal_fdata(NO_FDATA, 1) is None
    assert t.internal_fdata(NO_FDATA, [1.0]) is None
    assert t.external_rdata((None, None, None), x) == (0.0, NO_RDATA, NO_RDATA)
    assert t.external_rdata(None, [1.0]) is NO_RDATA
    assert t.external_rdata(None, (1, "a")) is NO_RDATA
    assert t.internal_rdata((NO_RDATA, NO_RDATA)) is None
    assert t.internal_rdata((1.0, NO_RDATA)) == (1.0, None)
    assert t.internal_rdata(RData(x=1.0, y=NO_RDATA)) == RData(x=1.0, y=None)


def test_tangents_that_do_not_go_together() -> None:
    for a, b in [
        ([1.0], [1.0, 2.0]),
        ([1.0], (1.0,)),
        ({"a": 1.0}, {"b": 1.0}),
        (1.0, 1j),
        ([1.0], [NO_TANGENT]),
    ]:
        with pytest.raises(InvalidTangentError):
            t.increment(a, b)
    with pytest.raises(InvalidTangentError):
        t.increment(np.ones(2), np.ones(3))
    with pytest.raises(InvalidTangentError):
        t.add_to_primal(np.ones(2), np.ones(3))
    with pytest.raises(InvalidTangentError):
        t.add_to_primal([1.0], NO_TANGENT)
    with pytest.raises(InvalidTangentError):
        t.difference([1.0], (1.0,))


def test_registered_classes() -> None:
    class Opaque:
        def __init__(self, value: float) -> None:
            self.value = value

    class Halves(t.Kind):
        def tangent_type(self, cls: type) -> type:
            return float

        def make(self, x: Any, walk: Any) -> Any:
            return walk.number(float, False)

        def perturb(self, x: Any, dx: Any, walk: Any) -> Any:
            return Opaque(x.value + dx)

        def zero_rdata(self, x: Any) -> Any:
            return 0.0

    assert type(t.zero_tangent(Thing())) is MutableTangent
    t.register_tangent(Opaque, Halves())
    assert t.zero_tangent(Opaque(1.0)) == 0.0
    assert t.add_to_primal([Opaque(1.0)], [2.0])[0].value == 3.0
    t.register_tangent(Opaque, t.Inactive())
    assert t.zero_tangent(Opaque(1.0)) is NO_TANGENT
    with pytest.raises(TypeError):
        t.register_tangent(Opaque, 3)  # type: ignore[arg-type]


def test_frozen_dataclasses_are_values_only_with_the_generated_constructor() -> None:
    @dataclasses.dataclass(frozen=True)
    class Own:
        a: float

        def __init__(self, a: float) -> None:
            object.__setattr__(self, "a", 2 * a)

    assert type(t.zero_tangent(Own(1.0))) is MutableTangent
    assert t.add_to_primal(Own(1.0), MutableTangent(a=1.0)).a == 3.0


def test_fresh_shadows_of_arrays() -> None:
    a = np.asfortranarray(np.ones((2, 3), np.float32))
    f = t.fresh_shadow(a)
    assert (f.dtype, f.strides) == (a.dtype, a.strides)
    assert not f.any()
    assert t.fresh_shadow(np.arange(3)) is None
    wide = t.fresh_shadow(np.broadcast_to(np.ones(3), (2, 3)))
    assert wide.shape == (2, 3) and wide.strides == (24, 8)  # a cotangent for each element, not each place
    t.accumulate(wide, np.broadcast_to(np.ones(3), (2, 3)), 1.0)
    np.testing.assert_array_equal(wide, np.ones((2, 3)))
    x = np.broadcast_to(np.ones(3), (2, 3))
    shared = np.broadcast_to(np.zeros(3), (2, 3))
    shared.flags.writeable = True
    t.accumulate(shared, x, np.ones((2, 3)))  # that of an argument: its places are shared
    np.testing.assert_array_equal(shared[0], [2.0, 2.0, 2.0])
