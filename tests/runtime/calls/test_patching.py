"""A module or class that the function itself patches: the new attribute counts, or the write is refused."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, UnsupportedError

X = 0.7


class Scaled:
    factor = 2.0

    def __init__(self) -> None:
        self.shift = 1.0

    def times(self, x: float) -> Any:
        return x * 2.0

    @staticmethod
    def twice(x: float) -> Any:
        return x * 2.0

    @property
    def three(self) -> float:
        return 3.0

    def __mul__(self, x: float) -> Any:
        return x * 2.0


class Derived(Scaled):
    pass


class Plain:
    a: float


def other(x: float) -> Any:
    return x * 5.0


def sevenfold(self: Any, x: float) -> Any:
    return x * 7.0


def shifted(self: Any) -> None:
    self.shift = 4.0


@contextlib.contextmanager
def patched(owner: Any, name: str, value: Any) -> Iterator[None]:
    old = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if old is None:
            delattr(owner, name)
        else:
            setattr(owner, name, old)


def assigned(x: float) -> Any:
    y, old = math.sin(x), math.sin
    math.sin = other
    try:
        return y + math.sin(x)
    finally:
        math.sin = old


def by_setattr(x: float) -> Any:
    y, old = math.sin(x), math.sin
    setattr(math, "sin", other)  # noqa: B010  # that is the point
    try:
        return y + math.sin(x)
    finally:
        setattr(math, "sin", old)  # noqa: B010


def by_dictionary(x: float) -> Any:
    y, old = math.sin(x), math.sin
    math.__dict__["sin"] = other
    try:
        return y + math.sin(x)
    finally:
        math.__dict__["sin"] = old


def by_update(x: float) -> Any:
    y, old = math.sin(x), math.sin
    vars(math).update(sin=other)
    try:
        return y + math.sin(x)
    finally:
        vars(math).update(sin=old)


def by_mock(x: float) -> Any:
    y = math.sin(x)
    with mock.patch.object(math, "sin", other):
        return y + math.sin(x)


def by_name(x: float) -> Any:
    y = math.sin(x)
    with mock.patch("math.sin", other):
        return y + math.sin(x)


def in_a_loop(x: float) -> Any:
    old, total = math.sin, 0.0
    try:
        for i in range(3):
            total += math.sin(x)
            if i == 1:
                math.sin = other
        return total
    finally:
        math.sin = old


def by_c_code(x: float) -> Any:
    y, old = math.sin(x), math.sin
    list(map(lambda name: setattr(math, name, other), ["sin"]))  # noqa: C417  # C code calls it
    try:
        return y + math.sin(x)
    finally:
        math.sin = old


def of_numpy(x: float) -> Any:
    old = np.linalg.norm
    np.linalg.norm = other
    try:
        return np.linalg.norm(x) + x
    finally:
        np.linalg.norm = old


MODULES = [assigned, by_setattr, by_dictionary, by_update, by_mock, by_name, in_a_loop, by_c_code, of_numpy]


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
@pytest.mark.parametrize("f", MODULES)
def test_a_function_of_a_module_is_not_replaced_half_way(f: Any, speculation: Any) -> None:
    sin, norm = math.sin, np.linalg.norm
    with adbc.use(adbc.Config(speculation=speculation)):
        with pytest.raises(UnsupportedError, match=r"global '\w+'.* is bound to something else"):
            adbc.grad(f)(X)
        with pytest.raises(UnsupportedError, match=r"global '\w+'.* is bound to something else"):
            adbc.jvp(f, (X,), (1.0,))
    assert math.sin is sin and np.linalg.norm is norm


def method(x: float) -> Any:
    scaled = Scaled()
    y = scaled.times(x)
    with patched(Scaled, "times", sevenfold):
        return y + scaled.times(x)


def method_by_mock(x: float) -> Any:
    scaled = Scaled()
    y = scaled.times(x)
    with mock.patch.object(Scaled, "times", sevenfold):
        return y + scaled.times(x)


def of_a_base(x: float) -> Any:
    scaled = Derived()
    y = scaled.times(x)
    with patched(Scaled, "times", sevenfold):
        return y + scaled.times(x)


def in_front_of_a_base(x: float) -> Any:
    scaled = Derived()
    y = scaled.times(x)
    with patched(Derived, "times", sevenfold):
        return y + scaled.times(x)


def static_method(x: float) -> Any:
    y = Scaled.twice(x)
    with patched(Scaled, "twice", staticmethod(other)):
        return y + Scaled.twice(x)


def special_method(x: float) -> Any:
    y = operator.mul(Scaled(), x)
    with patched(Scaled, "__mul__", sevenfold):
        return y + Scaled() * x


def property_of_a_class(x: float) -> Any:
    y = Scaled().three * x
    with patched(Scaled, "three", property(lambda self: 5.0)):
        return y + Scaled().three * x


def number_of_a_class(x: float) -> Any:
    y = Scaled().factor * x
    with patched(Scaled, "factor", 5.0):
        return y + Scaled().factor * x


def constructor(x: float) -> Any:
    y = Scaled().shift * x
    with patched(Scaled, "__init__", shifted):
        return y + Scaled().shift * x


def property_over_a_field(x: float) -> Any:
    plain = Plain()
    plain.a = x
    y = plain.a * 2
    with patched(Plain, "a", property(lambda self: 5.0 * x)):
        return y + plain.a


def bases(x: float) -> Any:
    class Fresh:
        def times(self, x: float) -> Any:
            return x * 9.0

    scaled = Derived()
    y = scaled.times(x)
    Derived.__bases__ = (Fresh,)
    try:
        return y + scaled.times(x)
    finally:
        Derived.__bases__ = (Scaled,)


def class_of_the_call(x: float) -> Any:
    class Local:
        def times(self, x: float) -> Any:
            return x

    y = Local().times(x)
    Local.times = sevenfold  # type: ignore[method-assign]  # that is the point
    return y + Local().times(x)


CLASSES: list[Callable[[float], Any]] = [
    method, method_by_mock, of_a_base, in_front_of_a_base, static_method, special_method, property_of_a_class,
    number_of_a_class, constructor, property_over_a_field, bases, class_of_the_call,
]  # fmt: skip


@pytest.mark.parametrize("warm_after", [0, 40])
@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
@pytest.mark.parametrize("f", CLASSES)
def test_what_a_patched_class_says_counts_or_is_refused(f: Any, speculation: Any, warm_after: int) -> None:
    before = [dict(vars(cls)) for cls in (Scaled, Derived, Plain)], Derived.__bases__
    wanted = pytest.approx((f(X), f(X) / X))  # all of these are linear
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(2):
            for differentiate in (adbc.value_and_grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
                with contextlib.suppress(AdbcError):
                    assert differentiate(X) == wanted
                assert ([dict(vars(cls)) for cls in (Scaled, Derived, Plain)], Derived.__bases__) == before


def test_what_is_bound_to_the_same_again_is_not_refused() -> None:
    def f(x: float) -> Any:
        math.sin = math.sin
        return math.sin(x)

    assert adbc.grad(f)(X) == math.cos(X)
