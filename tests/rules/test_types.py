"""Namespaces, windows on dicts and weak references, in both modes."""

from __future__ import annotations

import copy
import sys
import types
import weakref
from collections import UserDict
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError
from adbc.testing import test_rule as check


class Space(types.SimpleNamespace):
    def __init__(self, y: Any, **others: Any) -> None:
        super().__init__(y=y, **others)
        self.w = y * y


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.log = [v]


class Holder:
    numbers: ClassVar = [0.0, 1.0]
    array = np.ones(2)
    constant = 2.5


def made(x: Any) -> Any:
    n = types.SimpleNamespace(x=x, y=x * x)
    n.z = n.x * n.y
    del n.y
    return n.z, n, n == types.SimpleNamespace(x=x), n != types.SimpleNamespace(x=x)


def by_its_dictionary(x: Any) -> Any:
    attributes = {"x": x}
    n = types.SimpleNamespace(**attributes)
    n.__dict__["y"] = x * x
    return vars(n)["x"] * n.y, list(vars(n).items())


def copied(x: Any) -> Any:
    n = types.SimpleNamespace(x=x, log=[x])
    shallow, deep = copy.copy(n), copy.deepcopy(n)
    shallow.log.append(x * x)
    deep.log.append(x * 3.0)
    deep.x = n.x * deep.x
    return n.log, deep.log, deep.x, shallow.x


def of_a_subclass(x: Any) -> Any:
    s = Space(x, z=2.0 * x)
    return s.y * s.z * s.w, vars(s), isinstance(s, types.SimpleNamespace)


def given(n: Any, x: Any) -> Any:
    n.x = n.x * x
    n.log.append(x)
    del n.log[0]
    return n.x, n.log


def all_ways(p: Any, d: Any, x: Any) -> Any:
    d["b"] = x * p["a"]
    read = p["a"] * p["b"], p.get("a"), p.get("c", x), sum(p.values()), list(p.items())
    merged = dict(p), {**p}, p | {"z": x}, p.copy()
    d["a"] = p["b"]
    others = len(p), "a" in p, list(p), list(reversed(p)), p == d, p != d, bool(p), list(p.keys())
    return read, merged, others, d


def aliased_proxy(x: Any) -> Any:
    d: dict[str, Any] = {}
    p = types.MappingProxyType(d)
    return all_ways(p, d.__ior__({"a": x}), x * x)


def of_a_class(x: Any) -> Any:
    Holder.numbers[0] = x
    vars(Holder)["array"][1] = x * x
    vars(Holder)["numbers"][1] = x
    seen = Holder.__dict__["numbers"][0] * Holder.array[1] * Holder.__dict__["constant"] * x
    return seen, Holder.numbers[1] * vars(Holder).get("array")[1], "array" in vars(Holder)  # type: ignore[index]


def referred(x: Any) -> Any:
    box = Box(x)
    r = weakref.ref(box)
    r().v = x * x  # type: ignore[union-attr]  # it lives
    r().log.append(box.v)  # type: ignore[union-attr]
    return r().v * box.v, box.log  # type: ignore[union-attr]


def weak_values(x: Any) -> Any:
    box = Box(x)
    d: Any = weakref.WeakValueDictionary()
    d["a"] = box
    d["a"].v = x * 3.0
    return d["a"].v * box.v, [b.v for b in d.values()], len(d)


def weak_keys(box: Any, x: Any) -> Any:
    d: Any = weakref.WeakKeyDictionary()
    d[box] = x * x
    return d[box] * box.v, [b.v * w for b, w in d.items()]


def weak_set(x: Any) -> Any:
    box = Box(x)
    s: Any = weakref.WeakSet()
    s.add(box)
    for b in s:
        b.v = b.v * x
    return [b.v for b in s], box.v, box in s


CASES: dict[str, tuple[Any, ...]] = {
    "namespace": (made, 0.8),
    "dictionary of a namespace": (by_its_dictionary, 0.8),
    "copies of a namespace": (copied, 0.8),
    "subclass of a namespace": (of_a_subclass, 0.8),
    "namespace given": (given, types.SimpleNamespace(x=1.0, log=[2.0]), 0.8),
    "proxy made": (aliased_proxy, 0.8),
    "proxy given": (lambda p, x: (p["a"] * x, p), types.MappingProxyType({"a": 1.5}), 0.8),
    "weak reference": (referred, 0.8),
    "weak values": (weak_values, 0.8),
    "weak keys": (weak_keys, Box(1.5), 0.8),
    "weak set": (weak_set, 0.8),
}


@pytest.mark.parametrize("name", CASES)
def test_namespaces_windows_and_weak_references_are_right(name: str) -> None:
    f, *args = CASES[name]
    check(f, *args)


def test_a_proxy_and_its_dict_as_arguments() -> None:
    d = {"a": 1.5}
    check(all_ways, types.MappingProxyType(d), d, 0.8)


def test_the_proxy_of_a_class() -> None:
    state = copy.deepcopy((Holder.numbers, Holder.array))
    x = 0.8
    value, gradient = adbc.value_and_grad(lambda x: of_a_class(x)[0] + of_a_class(x)[1])(x)
    assert value == pytest.approx(2.5 * x**4 + x**3)
    assert gradient == pytest.approx(10.0 * x**3 + 3 * x * x)
    assert repr((Holder.numbers, Holder.array)) == repr(state)
    assert adbc.jvp(lambda x: of_a_class(x)[0], (x,), (1.0,))[1] == pytest.approx(10.0 * x**3)
    Holder.numbers, Holder.array = state


@pytest.mark.skipif(sys.version_info < (3, 13), reason="from 3.13")
def test_a_namespace_made_of_a_mapping_and_replaced() -> None:
    def f(x: Any) -> Any:
        n = types.SimpleNamespace({"a": x, "b": 1.0}, b=x * x)
        other = copy.replace(n, a=n.b * x)  # type: ignore[attr-defined]  # from 3.13
        return n, other, other.a * n.a

    check(f, 0.8)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "proxy of a mapping": (lambda x: types.MappingProxyType(UserDict(a=x))["a"], "mappingproxy"),
    "weak proxy": (lambda x: weakref.proxy(Box(x)).v, "behind a ProxyType|weakref"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_types_cannot_hand_out_is_refused(name: str) -> None:
    f, match = REFUSED[name]
    with pytest.raises(MissingRuleError, match=match):
        adbc.grad(f)(0.8)
    with pytest.raises(MissingRuleError, match=match):
        adbc.jvp(f, (0.8,), (1.0,))
