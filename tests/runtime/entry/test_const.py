"""`adbc.Const`: arguments that are not differentiated, by whatever name they are met."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ArgumentError, ConstWriteError, InvalidTangentError
from adbc.tangents import NO_TANGENT


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


SHARED = [3.0, 1.0]
SHARED_ARRAY = np.array([3.0, 1.0])


def both(f: Callable[..., Any], x: float, constant: Any) -> tuple[Any, Any]:
    """The derivative by `x` in both modes."""
    gradient = adbc.grad(f)(x, adbc.Const(constant))
    _, tangent = adbc.jvp(f, (x, adbc.Const(constant)), (1.0, None))
    return gradient, tangent


def weighted(x: float, table: Any) -> Any:
    return x * table[0] + x * x * table[1]


def through_views(x: float, table: Any) -> Any:
    return x * np.sum(table[::-1] * 2.0) + table.T[0]


def copied_and_changed(x: float, table: Any) -> Any:
    own = table[:] if isinstance(table, list) else table.copy()
    own[0] = x * x
    return own[0] * table[0]


def inactive_write(x: float, table: Any) -> Any:
    table[0] = table[0] + 1.0
    return x * table[0]


@pytest.mark.parametrize("make", [list, np.array, tuple])
def test_a_constant_is_read(make: Any) -> None:
    assert both(weighted, 2.0, make([3.0, 5.0])) == (23.0, 23.0)


def test_views_and_copies() -> None:
    assert both(through_views, 2.0, np.array([3.0, 5.0])) == (16.0, 16.0)
    for table in ([3.0, 5.0], np.array([3.0, 5.0])):
        assert both(copied_and_changed, 2.0, table) == (12.0, 12.0)
        assert list(table) == [3.0, 5.0]


def test_values_without_a_derivative_may_be_written_and_are_restored() -> None:
    for table in ([3.0, 5.0], np.array([3.0, 5.0])):
        assert adbc.grad(inactive_write)(2.0, adbc.Const(table)) == 4.0
        assert list(table) == [3.0, 5.0]
        assert adbc.jvp(inactive_write, (2.0, adbc.Const(table)), (1.0, None)) == (8.0, 4.0)
        assert list(table) == [4.0, 5.0]


def test_numbers_keywords_and_functions() -> None:
    def f(x: float, y: float, *, scale: float = 1.0) -> float:
        return x * y * scale

    assert adbc.grad(f)(2.0, adbc.Const(5.0), scale=adbc.Const(3.0)) == 15.0
    state = [2.0]

    def g(x: float) -> float:
        return x * state[0]

    gradient = adbc.grad(adbc.Const(g))
    assert [gradient(3.0), gradient(4.0)] == [2.0, 2.0]


def to_element(x: float, c: Any) -> Any:
    c[0] = x
    return c[0]


def by_an_alias(x: float, c: Any) -> Any:
    names = [c]
    names[0][0] = x
    return c[0]


def by_a_tuple(x: float, c: Any) -> Any:
    (d, y) = (c, x)
    d[0] = y
    return c[0]


def by_a_dict(x: float, c: Any) -> Any:
    names = {"c": c, "x": x}
    names["c"][0] = names["x"]
    return c[0]


def by_a_field(x: float, c: Any) -> Any:
    box = Box(c)
    box.value[0] = x
    return c[0]


def by_a_slot(x: float, c: Any) -> Any:
    box = Slotted(c)
    box.value[0] = x
    return c[0]


def by_a_cell(x: float, c: Any) -> Any:
    def write() -> None:
        c[0] = x

    write()
    return c[0]


def by_a_slice(x: float, c: Any) -> Any:
    c[:1] = [x]
    return c[0]


def in_place(x: float, c: Any) -> Any:
    c += [x, x]
    return c[0] + c[-1]


def by_a_generator(x: float, c: Any) -> Any:
    def all_of(values: Any) -> Any:
        yield from values

    for names in all_of([c]):
        names[0] = x
    return c[0]


def by_a_loop(x: float, c: Any) -> Any:
    for names in (c, c):
        names[0] = names[0] * x
    return c[0]


def by_keywords(x: float, c: Any) -> Any:
    def write(**names: Any) -> None:
        names["c"][0] = x

    write(c=c)
    return c[0]


def by_a_copied_list(x: float, c: Any) -> Any:
    copied = [c][:]
    copied[0][0] = x
    return c[0]


def by_a_global(x: float, c: Any) -> Any:
    (SHARED if isinstance(c, list) else SHARED_ARRAY)[0] = x
    return c[0]


WRITES = [
    to_element, by_an_alias, by_a_tuple, by_a_dict, by_a_field, by_a_slot, by_a_cell, by_a_slice, in_place,
    by_a_generator, by_a_loop, by_keywords, by_a_copied_list, by_a_global,
]  # fmt: skip


@pytest.mark.parametrize("constant", [SHARED, SHARED_ARRAY], ids=["list", "array"])
@pytest.mark.parametrize("write", WRITES, ids=lambda f: f.__name__)
def test_writing_into_a_constant_is_refused_before_it_is_done(write: Any, constant: Any) -> None:
    for call in (
        lambda: adbc.grad(write)(2.0, adbc.Const(constant)),
        lambda: adbc.jvp(write, (2.0, adbc.Const(constant)), (1.0, None)),
    ):
        with pytest.raises(ConstWriteError, match=r"test_const\.py:\d+") as caught:
            call()
        assert write.__name__ in str(caught.value) or "write" in str(caught.value)
        assert list(constant) == [3.0, 1.0]


def test_writing_an_attribute_an_item_or_a_variable_of_a_constant() -> None:
    def attribute(x: float, c: Any) -> Any:
        c.value = x
        return c.value

    def item(x: float, c: Any) -> Any:
        c["a"] = x
        return c["a"]

    def new_item(x: float, c: Any) -> Any:
        c.setdefault("b", x)
        return c["b"]

    def make() -> tuple[Any, Any]:
        kept = 1.0

        def put(x: float) -> None:
            nonlocal kept
            kept = x

        return put, lambda: kept

    put, get = make()

    def variable(x: float, c: Any) -> Any:
        c[0](x)
        return c[1]()

    cases: list[tuple[Any, Any, Any]] = [
        (attribute, Box(1.0), lambda c: c.value == 1.0),
        (attribute, Slotted(1.0), lambda c: c.value == 1.0),
        (attribute, types.SimpleNamespace(value=1.0), lambda c: c.value == 1.0),
        (item, {"a": 1.0}, lambda c: c == {"a": 1.0}),
        (new_item, {"a": 1.0}, lambda c: c == {"a": 1.0}),
        (variable, (put, get), lambda c: get() == 1.0),
    ]
    for f, constant, is_unchanged in cases:
        with pytest.raises(ConstWriteError):
            adbc.grad(f)(2.0, adbc.Const(constant))
        assert is_unchanged(constant)
        with pytest.raises(ConstWriteError):
            adbc.jvp(f, (2.0, adbc.Const(constant)), (1.0, None))
        assert is_unchanged(constant)


# -- one address, one shadow: a constant's is that it has none ---------------------------------------


def test_a_constant_inside_a_differentiated_argument() -> None:
    layer = [2.0]
    model = {"w": 3.0, "layer": layer}

    def f(model: Any, frozen: Any) -> Any:
        return model["w"] * model["layer"][0] * frozen[0]

    gradient = adbc.grad(f)(model, adbc.Const(layer))
    assert gradient == {"w": 4.0, "layer": NO_TANGENT}
    direction = {"w": 1.0, "layer": NO_TANGENT}
    assert adbc.jvp(f, (model, adbc.Const(layer)), (direction, None)) == (12.0, 4.0)
    with pytest.raises(InvalidTangentError, match="declared constant"):
        adbc.jvp(f, (model, adbc.Const(layer)), ({"w": 1.0, "layer": [1.0]}, None))


def test_an_argument_that_a_constant_holds() -> None:
    w = [2.0]
    for constant in (w, [w], Box(w), (1.0, {"w": w})):
        with pytest.raises(ArgumentError, match="Const holds"):
            adbc.grad(lambda w, c: w[0])(w, adbc.Const(constant))
    a = np.ones(3)
    for view in (a, a[1:], [a.reshape(3, 1)]):
        with pytest.raises(ArgumentError, match="Const holds"):
            adbc.grad(lambda a, c: a[0])(a, adbc.Const(view))
    _, pullback = adbc.vjp(lambda a, c: a[0], a, adbc.Const(a))
    assert pullback(1.0) == (NO_TANGENT, NO_TANGENT)


def test_argnums_of_a_constant() -> None:
    with pytest.raises(ArgumentError, match=r"argument 1 .* declared adbc.Const"):
        adbc.grad(lambda x, y: x * y, (0, 1))(2.0, adbc.Const(3.0))
    with pytest.raises(InvalidTangentError, match=r"argument 1 is declared adbc.Const"):
        adbc.jvp(lambda x, y: x * y, (2.0, adbc.Const(3.0)), (1.0, 1.0))
    value, pullback = adbc.vjp(lambda x, y: x * y, 2.0, adbc.Const(3.0))
    assert (value, pullback(1.0)) == (6.0, (3.0, NO_TANGENT))


def test_a_closure_that_holds_the_constant() -> None:
    table = [1.0]

    def f(x: float, c: Any) -> Any:
        table[0] = x
        return c[0]

    with pytest.raises(ConstWriteError):
        adbc.grad(f)(2.0, adbc.Const(table))
    assert table == [1.0]
    assert adbc.grad(f)(2.0, table) == 1.0


def test_cycles_and_objects_with_one_dictionary() -> None:
    cycle: list[Any] = [1.0]
    cycle.append(cycle)
    assert adbc.grad(lambda x, c: x * c[1][1][0])(2.0, adbc.Const(cycle)) == 1.0
    first, second = Box(1.0), Box(2.0)
    second.__dict__ = first.__dict__

    def f(x: float, c: Any, other: Any) -> Any:
        other.value = x
        return c.value

    with pytest.raises(ConstWriteError):
        adbc.grad(f)(3.0, adbc.Const(first), second)
    assert first.value == 1.0


# -- inside structures and functions -----------------------------------------------------------------


def test_a_const_inside_an_argument() -> None:
    table = [3.0]

    def f(model: Any) -> Any:
        return model["w"] * model["c"].value[0]

    model = {"w": 2.0, "c": adbc.Const(table)}
    assert adbc.grad(f)(model) == {"w": 3.0, "c": NO_TANGENT}
    assert adbc.jvp(f, (model,), ({"w": 1.0, "c": NO_TANGENT},)) == (6.0, 3.0)

    def write(model: Any) -> Any:
        model["c"].value[0] = model["w"]
        return table[0]

    with pytest.raises(ConstWriteError):
        adbc.grad(write)(model)
    with pytest.raises(ConstWriteError):
        adbc.jvp(write, (model,), ({"w": 1.0, "c": NO_TANGENT},))
    assert table == [3.0]


def test_a_part_that_is_constant_and_is_not() -> None:
    w = [2.0]
    with pytest.raises(ArgumentError, match="either a constant or not"):
        adbc.grad(lambda m: m[0][0])([w, adbc.Const(w)])


def test_a_const_made_by_the_function() -> None:
    def f(x: float) -> float:
        return x * adbc.Const(x).value + adbc.Const(value=x).value

    assert adbc.grad(f)(3.0) == 3.0
    assert adbc.jvp(f, (3.0,), (1.0,)) == (12.0, 3.0)


def test_what_has_no_tangent_may_be_constant() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    assert adbc.grad(lambda x, m: x * len(m))(3.0, adbc.Const([masked])) == 1.0
    records = np.zeros(2, [("a", "f8")])
    assert adbc.grad(lambda x, r: x * r["a"][0] + x)(3.0, adbc.Const(records)) == 1.0


def test_declared_rules_do_not_write_into_constants() -> None:
    def scale(u: Any, k: Any, log: Any) -> Any:
        u *= k
        log.append("scaled")
        return u

    def scale_rrule(f: Any, u: Any, k: Any, log: Any) -> Any:
        old = u.primal.copy()
        out = scale(u.primal, k.primal, log.primal)

        def pullback(r: Any) -> Any:
            u.primal[...] = old
            log.primal.pop()
            dk = float(np.vdot(old, u.fdata))
            u.fdata[...] *= k.primal
            return adbc.NoRData(), adbc.NoRData(), dk, adbc.NoRData()

        return adbc.CoDual(out, u.fdata), pullback

    def scale_frule(f: Any, u: Any, k: Any, log: Any) -> Any:
        u.tangent[...] = k.primal * u.tangent + k.tangent * u.primal
        return adbc.Dual(scale(u.primal, k.primal, log.primal), u.tangent)

    def product(u: Any, k: Any) -> Any:
        u[0] = k
        return u.sum()

    adbc.primitive(scale, frule=scale_frule, rrule=scale_rrule)
    adbc.rule(product, jvp=(None, lambda dk, out, u, k: dk), vjp=(None, lambda b, out, u, k: b))
    for f in (lambda k, u, log: scale(u, k, log)[0], lambda k, u, log: product(u, k)):
        u, log = np.array([1.0, 2.0]), ["made"]
        with pytest.raises(ConstWriteError, match="declared constant"):
            adbc.grad(f)(3.0, adbc.Const(u), log)
        with pytest.raises(ConstWriteError, match="declared constant"):
            adbc.jvp(f, (3.0, adbc.Const(u), log), (1.0, None, None))
        assert u.tolist() == [1.0, 2.0]
    # what is not written to may be constant, and what has no numbers may be written to
    u, log = np.array([1.0, 2.0]), ["made"]
    assert adbc.grad(lambda k, u, log: scale(u, k, log).sum())(3.0, u, adbc.Const(log)) == 3.0
    assert (u.tolist(), log) == ([1.0, 2.0], ["made"])


def test_a_constant_that_a_declared_rule_hands_out() -> None:
    def same(u: Any, k: Any) -> Any:
        return u

    def same_rrule(f: Any, u: Any, k: Any) -> Any:
        nothing = adbc.NoRData()
        return adbc.CoDual(u.primal, u.fdata), lambda r: (nothing, nothing, 0.0)

    adbc.primitive(same, rrule=same_rrule, frule=lambda f, u, k: adbc.Dual(u.primal, u.tangent))

    def write(k: float, u: Any) -> Any:
        same(u, k)[0] = k
        return u[0]

    u = [1.0]
    with pytest.raises(ConstWriteError):
        adbc.grad(write)(2.0, adbc.Const(u))
    with pytest.raises(ConstWriteError):
        adbc.jvp(write, (2.0, adbc.Const(u)), (1.0, None))
    assert u == [1.0]


def test_rules_take_an_object_without_fdata_for_a_constant() -> None:
    table = [1.0]

    def f(x: float, c: Any) -> Any:
        names = [table]
        names[0][0] = x
        return c[0]

    rule = adbc.build_rrule((f, float, list))
    nothing = adbc.NoFData()
    with pytest.raises(ConstWriteError):
        rule(adbc.CoDual(f, nothing), adbc.CoDual(2.0, nothing), adbc.CoDual(table, nothing))
    frule = adbc.build_frule((f, float, list))
    with pytest.raises(ConstWriteError):
        frule(adbc.Dual(f, adbc.NoTangent()), adbc.Dual(2.0, 1.0), adbc.Dual(table, adbc.NoTangent()))
    assert table == [1.0]
