"""One object reached by two ways: through a window on it made in C, and by its dictionary of attributes."""

from __future__ import annotations

import array
import collections
import ctypes
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, ConstWriteError, MissingRuleError, UnsupportedError
from adbc.testing import test_rule as check_rule


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v


class Both:
    __slots__ = ("__dict__", "w")

    def __init__(self, v: float) -> None:
        self.v = v
        self.w = 2.0


def refused(f: Callable[..., Any], *args: Any, error: type[AdbcError] = MissingRuleError) -> None:
    with pytest.raises(error):
        adbc.grad(f)(2.0, *args)
    with pytest.raises(error):
        adbc.jvp(f, (2.0, *args), (1.0, *[None] * len(args)))


def item(x: float, made: Any, seen: Any) -> Any:
    made["a"] = x * x
    return seen["a"]


def values(x: float, made: Any, seen: Any) -> Any:
    made["a"] = x * x
    return sum(seen.values()) + seen.get("a")


def element(x: float, made: Any, seen: Any) -> Any:
    made[0] = x * x
    return seen[0]


def elements(x: float, made: Any, seen: Any) -> Any:
    made[0] = x * x
    return sum([v * 1.0 for v in seen])


def converted(x: float, made: Any, seen: Any) -> Any:
    made[0] = x * x
    return np.asarray(seen)[0]


def summed(x: float, made: Any, seen: Any) -> Any:
    made[0] = x * x
    return np.sum(seen)


def unpacked(x: float, made: Any, seen: Any) -> Any:
    made[0] = x * x
    return seen.tolist()[0]


def attribute(x: float, made: Any, seen: Any) -> Any:
    made.v = x * x
    return seen.v


def written(x: float, made: Any, seen: Any) -> Any:
    seen.v = x * x
    return made.v


@pytest.mark.parametrize("f", [item, values])
def test_a_mapping_proxy(f: Any) -> None:
    d = {"a": 1.0}
    check_rule(f, 2.0, d, types.MappingProxyType(d))
    check_rule(lambda x, seen, made: f(x, made, seen), 2.0, types.MappingProxyType(d), d)


def test_a_mapping_proxy_of_what_is_not_differentiated() -> None:
    seen = types.MappingProxyType({"a": 3.0})
    assert adbc.grad(lambda x, seen: x * seen["a"])(2.0, seen) == 3.0


SETTINGS = collections.ChainMap({"a": 3.0}, {"b": 2.0})
SEEN = types.MappingProxyType(SETTINGS)


def set_and_seen(x: Any) -> Any:
    SETTINGS["a"] = x
    return SEEN["a"] * x + SEEN["b"] + sum(SEEN[k] for k in SEEN) + SEEN.get("c", 1.0) + ("a" in SEEN)


def test_a_mapping_proxy_of_a_mapping_in_python() -> None:
    for _ in range(3):
        assert adbc.value_and_grad(set_and_seen)(1.5) == (9.75, 4.0)
        assert adbc.jvp(set_and_seen, (1.5,), (1.0,)) == (9.75, 4.0)


@pytest.mark.parametrize("f", [element, elements, converted, summed, unpacked])
def test_a_memoryview(f: Any) -> None:
    a = np.ones(3)
    if f is summed:  # which would make an array of it out of sight
        refused(f, a, memoryview(a))
        return
    check_rule(f, 2.0, a, memoryview(a))
    check_rule(lambda x, seen, made: f(x, made, seen), 2.0, memoryview(a)[1:], a)
    check_rule(f, 2.0, a[1:], memoryview(a))


@pytest.mark.parametrize("f", [element, elements, converted, summed, unpacked])
def test_a_buffer_that_an_array_shares(f: Any) -> None:
    buffer = array.array("d", [1.0, 2.0])
    if f is summed:  # which would make an array of it out of sight
        refused(f, np.frombuffer(buffer), buffer)
    else:
        check_rule(f, 2.0, np.frombuffer(buffer), buffer)


def test_ctypes() -> None:
    buffer = (ctypes.c_double * 3)(1.0, 2.0, 3.0)
    refused(element, np.ctypeslib.as_array(buffer), buffer)
    refused(elements, np.ctypeslib.as_array(buffer), buffer)


def test_buffers_of_their_own() -> None:
    buffer = array.array("d", [3.0, 5.0])
    assert adbc.grad(lambda x, b: x * b[1] + sum(b))(2.0, buffer) == 5.0
    assert adbc.grad(lambda x, b: x * b[1])(2.0, memoryview(buffer)) == 5.0
    check_rule(lambda x, b: b.__setitem__(0, x), 2.0, buffer)


def test_weak_references() -> None:
    box = Box(1.0)
    for f in (
        lambda x, made, seen: attribute(x, made, seen()),
        lambda x, made, seen: written(x, made, seen()),
    ):
        assert adbc.grad(f)(2.0, box, weakref.ref(box)) == 4.0
        assert adbc.jvp(f, (2.0, box, weakref.ref(box)), (1.0, None, None))[1] == 4.0
        box.v = 1.0
    refused(attribute, box, weakref.proxy(box))
    refused(written, box, weakref.proxy(box), error=ConstWriteError)


def test_windows_written_in_python() -> None:
    d = {"a": 1.0}
    for made, seen in ((d, collections.ChainMap(d)), (d, Box(d).v)):
        assert adbc.grad(item)(2.0, made, seen) == 4.0


# -- one dictionary, one shadow ----------------------------------------------------------------------


def product(a: Any, b: Any) -> Any:
    return a.v * b["v"]


def product_of_swapped(b: Any, a: Any) -> Any:
    return a.v * b["v"]


def changed(a: Any, b: Any, x: float) -> Any:
    b["v"] *= x
    a.v *= b["v"]
    b["new"] = a.v * x
    return a.new * a.v


def test_an_object_and_its_dictionary() -> None:
    box = Box(3.0)
    by_object, by_dict = adbc.grad(product, (0, 1))(box, box.__dict__)
    assert by_object.v == by_dict["v"] == 6.0
    by_dict, by_object = adbc.grad(product_of_swapped, (0, 1))(box.__dict__, box)
    assert by_object.v == by_dict["v"] == 6.0
    tangent = adbc.MutableTangent(v=1.0)
    assert adbc.jvp(product, (box, box.__dict__), (tangent, None)) == (9.0, 6.0)
    assert adbc.jvp(product_of_swapped, (box.__dict__, box), ({"v": 1.0}, None)) == (9.0, 6.0)
    assert adbc.jvp(product, (box, box.__dict__), (tangent, tangent.__dict__)) == (9.0, 6.0)
    with pytest.raises(adbc.errors.InvalidTangentError, match="share memory"):
        adbc.jvp(product, (box, box.__dict__), (tangent, {"v": 1.0}))


def test_an_object_and_its_dictionary_that_are_changed() -> None:
    box = Box(1.5)
    # v -> v x -> (v x)^2, new = (v x)^2 x, result (v x)^4 x
    for a, b in ((box, box.__dict__), (box, vars(box))):
        assert adbc.grad(changed, 2)(a, b, 2.0) == pytest.approx(5 * 1.5**4 * 2.0**4)
        assert adbc.grad(changed)(a, b, 2.0).v == pytest.approx(4 * 1.5**3 * 2.0**5)
        assert vars(box) == {"v": 1.5}


def test_both_rules_for_an_object_and_its_dictionary() -> None:
    box = Box(1.5)
    check_rule(product, box, box.__dict__)
    check_rule(product_of_swapped, box.__dict__, box)
    check_rule(changed, box, box.__dict__, 2.0)


def test_inside_containers_and_by_a_closure() -> None:
    box = Box([2.0])

    def inside(pair: Any) -> Any:
        pair[1]["v"][0] *= 3.0
        return pair[0].v[0] ** 2

    assert adbc.grad(inside)([box, box.__dict__])[0].v == [36.0]
    names = box.__dict__

    def closed(x: float) -> Any:
        names["v"] = x * x
        return box.v

    assert adbc.grad(closed)(3.0) == 6.0
    assert box.v == [2.0]


def test_slots_beside_the_dictionary() -> None:
    both = Both(3.0)
    with pytest.raises(UnsupportedError, match="__slots__"):
        adbc.grad(lambda b, a: a.v * b["v"])(both.__dict__, both)


def test_tangents_of_an_object_and_its_dictionary_are_one() -> None:
    box = Box(3.0)
    for values in ((box, box.__dict__), (box.__dict__, box)):
        t = adbc.zero_tangent(values)
        s = adbc.tangents.random_tangent(np.random.default_rng(1), values)
        adbc.tangents.increment(t, s)
        v = s[values.index(box)].v
        assert adbc.tangents.dot(t, s) == pytest.approx(v * v)
        moved = adbc.tangents.add_to_primal(values, s)
        assert {type(part) for part in moved} == {Box, dict}
        assert any(vars(part) in moved for part in moved if type(part) is Box)


# -- globals by way of their dictionary and module ---------------------------------------------------


def helper(x: float) -> float:
    return x * x


def other(x: float) -> float:
    return x * x * x


FACTOR = 2.0
HERE = sys.modules[__name__]


def by_item() -> None:
    globals()["helper"] = other


def by_update() -> None:
    globals().update(helper=other)


def by_in_place_or() -> None:
    names = globals()
    names |= {"helper": other}


def by_module() -> None:
    HERE.helper = other  # type: ignore[attr-defined]  # what is tested


def by_setattr() -> None:
    setattr(HERE, "helper", other)  # noqa: B010  # what is tested


def by_vars() -> None:
    vars(HERE)["helper"] = other


def by_deletion() -> None:
    del globals()["helper"]


def by_pop() -> None:
    globals().pop("helper")


def by_delattr() -> None:
    del HERE.helper  # type: ignore[attr-defined]  # what is tested


def by_a_builtin() -> None:
    globals()["abs"] = other


@pytest.mark.parametrize(
    "bind",
    [
        by_item, by_update, by_in_place_or, by_module, by_setattr, by_vars, by_deletion, by_pop, by_delattr,
        by_a_builtin,
    ],
)  # fmt: skip
def test_a_function_that_is_bound_anew_during_the_call(bind: Any) -> None:
    def f(x: float) -> Any:
        y = helper(x) + abs(x)
        bind()
        return y + helper(x) + abs(x)

    before = helper
    with pytest.raises(UnsupportedError, match=r"global '\w+' is bound to something else"):
        adbc.grad(f)(2.0)
    with pytest.raises(UnsupportedError, match=r"global '\w+' is bound to something else"):
        adbc.jvp(f, (2.0,), (1.0,))
    assert helper is before and "abs" not in globals()


def test_data_that_is_bound_anew_during_the_call() -> None:
    def f(x: float) -> Any:
        y = helper(x) * FACTOR
        globals()["FACTOR"] = 5.0
        return y + helper(x) * FACTOR

    assert adbc.grad(f)(2.0) == 28.0
    assert FACTOR == 2.0
    try:
        assert adbc.jvp(f, (2.0,), (1.0,)) == (28.0, 28.0)
    finally:
        globals()["FACTOR"] = 2.0
