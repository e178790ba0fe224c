"""Proxies of numbers, arrays, lists, objects and modules: what they say of themselves is what they stand for,
and what they do may be something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError

wrapt = pytest.importorskip("wrapt")

WAYS = [("always", 0), ("learn", 0), ("learn", 2), ("never", 0)]


class Account:
    def __init__(self, a: float) -> None:
        self.a = a

    def scale(self, x: float) -> float:
        return self.a * x


def twice(value: Any) -> Any:
    if callable(value):
        return lambda *args: 2.0 * value(*args)
    return 2.0 * value if type(value) is float else value


class Doubling(wrapt.ObjectProxy):  # type: ignore[misc]  # untyped
    """Gives twice the numbers, and calls twice what it calls, that are attributes of what it stands for."""

    def __getattr__(self, name: str) -> Any:
        return twice(getattr(self.__wrapped__, name))


NUMBER, LIST, ARRAY = map(wrapt.ObjectProxy, (1.5, [1.0, 2.0], np.array([1.0, 2.0, 3.0])))
ACCOUNT = wrapt.ObjectProxy(Account(2.0))
MODULE, TWICE = Doubling(math), Doubling(Account(2.0))


def of_which_class(x: float) -> float:
    found = 0.0
    for proxy, kind in [(NUMBER, float), (LIST, list), (ARRAY, np.ndarray), (ACCOUNT, Account)]:
        found += 2.0 * x if isinstance(proxy, kind) else x * x
    return found


def by_patterns(x: float) -> float:
    match NUMBER:
        case float():
            x = 3.0 * x
        case _:
            x = x * x
    match ACCOUNT:
        case Account(a=a):
            return float(a * x)
        case _:
            return x * x


def by_attributes(x: float) -> float:
    return float(ARRAY.shape[0] * x + LIST.count(1.0) * x * x + len(vars(ACCOUNT)) * x)


def of_a_module(x: float) -> float:
    for _ in range(3):
        x = MODULE.sin(x) + MODULE.pi
    return x


def of_an_object(x: float) -> float:
    return float(getattr(TWICE, "a", 1.0) * x + TWICE.a * x * x + Account.scale(TWICE, x))


def shaped(x: float) -> float:
    class Count:
        def __getitem__(self, i: int) -> int:
            raise TypeError("no sequence")

        def __len__(self) -> int:
            raise TypeError("no sequence")

        def __iter__(self) -> Any:
            raise TypeError("no sequence")

        def __index__(self) -> int:
            return 2

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array(3)

    return float(np.ones(Count()).sum() * x)


def written(x: float) -> float:
    a = np.zeros(2)
    a[0], a[1] = NUMBER, x
    return float((a * a).sum())


RIGHT = [of_which_class, by_patterns, by_attributes, of_a_module, of_an_object, shaped, written]


@pytest.mark.parametrize(("speculation", "warm_after"), WAYS)
@pytest.mark.parametrize("f", RIGHT)
def test_what_a_proxy_says_and_does(f: Callable[[float], Any], speculation: str, warm_after: int) -> None:
    x, h = 1.3, 1e-6
    slope = (f(x + h) - f(x - h)) / (2.0 * h)
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(4):
            value, tangent = adbc.jvp(f, (x,), (1.0,))
            assert value == f(x)
            assert tangent == pytest.approx(slope, rel=1e-6)
            try:
                value, gradient = adbc.value_and_grad(f)(x)
            except AdbcError:
                assert f is of_an_object  # an object of which it is not known what it holds
                continue
            assert value == f(x)
            assert gradient == pytest.approx(slope, rel=1e-6)


def test_an_attribute_is_set_in_what_a_proxy_stands_for() -> None:
    def f(x: float, given: float) -> float:
        held = Account(2.0)
        wrapt.ObjectProxy(held).a = given
        return held.a * x

    for _ in range(3):
        assert adbc.jvp(lambda x: f(x, 3.0), (2.0,), (1.0,)) == (6.0, 3.0)
        with pytest.raises(AdbcError, match="its class sets attributes by code of its own in C"):
            adbc.jvp(lambda x: f(x, x), (2.0,), (1.0,))
        with pytest.raises(AdbcError, match="its class sets attributes by code of its own in C"):
            adbc.grad(lambda x: f(x, x))(2.0)


class Converted:
    """Numbers in one unit, which reads them in another, and knows of everything else what its array knows."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, i: int) -> Any:
        return 1000.0 * self.numbers[i]

    def __getattr__(self, name: str) -> Any:
        if name == "numbers":
            raise AttributeError(name)
        return getattr(self.numbers, name)


def test_numpy_asks_an_object_for_its_array_before_it_lists_elements() -> None:
    def f(x: Any) -> Any:
        own = Converted(x * x)
        return np.dot(own, np.array([1.0, 2.0])) + np.sum(np.asarray(own)) + own[0]

    x = np.array([2.0, 3.0])
    for _ in range(4):
        value, gradient = adbc.value_and_grad(f)(x)
        assert value == f(x) == 22.0 + 13.0 + 4000.0
        assert gradient == pytest.approx([8.0 + 4000.0, 18.0])
        assert adbc.jvp(f, (x,), (np.array([0.0, 1.0]),)) == (value, 18.0)


class Contrary(Converted):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return 1000.0 * self.numbers


def test_memory_that_is_shown_beside_another_array_is_refused() -> None:
    constant = Contrary(np.array([1.0, 2.0]))

    def f(x: Any) -> Any:
        return np.dot(Contrary(x), np.array([1.0, 2.0]))

    x = np.array([2.0, 3.0])
    assert f(x) == 8.0  # and not 8000
    for _ in range(3):
        with pytest.raises(AdbcError, match="shows an array by __array_interface__"):
            adbc.grad(f)(x)
        with pytest.raises(AdbcError, match="shows an array by __array_interface__"):
            adbc.jvp(f, (x,), (x,))
        with pytest.raises(AdbcError, match="shows an array by __array_interface__"):
            adbc.grad(lambda x: np.dot(constant, x))(x)


class Number:
    """Becomes a number in one way, and is subtracted in another."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __float__(self) -> float:
        return float(3.0 * self.x)

    def __sub__(self, other: Any) -> float:
        return 100.0

    __rsub__ = __sub__


def test_distances_are_those_of_numbers() -> None:
    def f(x: float) -> float:
        return math.dist([Number(x), 1.0], (x, Number(2.0))) + math.hypot(Number(x), 4.0 * x)

    for _ in range(3):
        value, gradient = adbc.value_and_grad(f)(2.0)
        assert value == pytest.approx(math.hypot(4.0, 5.0) + 10.0)
        assert gradient == pytest.approx(2.0 * 4.0 / math.hypot(4.0, 5.0) + 5.0)
        assert adbc.jvp(f, (2.0,), (1.0,)) == pytest.approx((value, gradient))


class Lookup:
    """A special method that is looked up in what a proxy stands for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, proxy: Any, owner: Any = None) -> Any:
        return getattr(proxy.find(), self.name)


class Late:
    """Finds what it stands for when it is asked, and has no dictionary that anybody sees."""

    __slots__ = ("finder", "found")
    __call__, __class__, __dict__ = Lookup("__call__"), Lookup("__class__"), Lookup("__dict__")  # type: ignore[assignment]

    def __init__(self, finder: Any) -> None:
        object.__setattr__(self, "finder", finder)

    def find(self) -> Any:
        return object.__getattribute__(self, "finder")()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.find(), name)


class LateWithDictionary(Late):
    __dict__ = Lookup("__dict__")  # type: ignore[assignment]


CURRENT = Late(lambda: Account)
METHOD = Late(lambda: Account(2.0).scale)


def test_what_a_late_proxy_stands_for_is_called() -> None:
    def f(x: float) -> float:
        for _ in range(2):
            x = METHOD(CURRENT(x).scale(x))
        return x

    for _ in range(4):
        assert adbc.value_and_grad(f)(1.5) == (8.0 * 1.5**4, 32.0 * 1.5**3)
        assert adbc.jvp(f, (1.5,), (1.0,)) == (8.0 * 1.5**4, 32.0 * 1.5**3)


@pytest.mark.parametrize("cls", [Late, LateWithDictionary])
def test_a_proxy_that_is_made_in_the_function(cls: Any) -> None:
    def f(x: float) -> Any:
        return cls(lambda: Account(x)).scale(3.0)

    for _ in range(3):
        assert adbc.value_and_grad(f)(2.0) == (6.0, 3.0)
        assert adbc.jvp(f, (2.0,), (1.0,)) == (6.0, 3.0)
