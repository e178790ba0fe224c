"""Functions and methods that are decorated by way of `wrapt`, by its code in C as by that in Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.errors import AdbcError
from adbc.testing import test_rule as check_rule

wrapt = pytest.importorskip("wrapt")


def scaled(by: float) -> Any:
    def wrapper(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        return by * wrapped(*args, **kwargs)

    return wrapt.decorator(wrapper)


@scaled(2.0)
def square(x: float) -> float:
    return x * x


@scaled(3.0)
def product(x: float, y: float = 2.0) -> float:
    return x * y


class Account:
    def __init__(self, total: float) -> None:
        self.total, self.count = total, 0

    @scaled(2.0)
    def add(self, x: float) -> float:
        self.total += x
        self.count += 1
        return self.total

    @scaled(2.0)
    @classmethod
    def of_class(cls, x: float) -> float:
        return x * x

    @scaled(2.0)
    @staticmethod
    def alone(x: float) -> float:
        return x * x * x


def functions(x: float) -> float:
    return product(x, y=x) + square(x) + product(x)


def methods(x: float) -> float:
    account = Account(x)
    account.add(x * x)
    return account.add(2.0) * account.count + Account.of_class(x) + Account(1.0).alone(x)


def in_a_loop(x: float) -> float:
    total = 0.0
    for i in range(5):
        total += square(x) * i
    return total


def of_an_argument(account: Account, x: float) -> float:
    account.add(x)
    account.add(2.0 * x)
    return account.total * account.count


@pytest.mark.parametrize("f", [functions, methods, in_a_loop])
def test_decorated(f: Callable[[float], float]) -> None:
    for _ in range(4):
        check_rule(f, 1.5)
        assert adbc.value_and_grad(f)(1.5)[0] == f(1.5)


def test_an_argument_with_decorated_methods() -> None:
    account = Account(1.0)
    for _ in range(4):
        b, bx = adbc.grad(of_an_argument, (0, 1))(account, 3.0)
        assert (b.total, bx) == (2.0, 6.0)
        assert (account.total, account.count) == (1.0, 0)


def test_a_decorator_that_is_switched_off() -> None:
    def f(x: float) -> float:
        return x * x

    on = [False]
    wrapper = wrapt.FunctionWrapper(f, lambda wrapped, i, args, kwargs: 5.0 * wrapped(*args), lambda: on[0])
    for _ in range(3):
        on[0] = False
        assert adbc.grad(lambda x: wrapper(x))(3.0) == 6.0
        on[0] = True
        assert adbc.grad(lambda x: wrapper(x))(3.0) == 30.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float

    @scaled(2.0)
    def times(self, x: float) -> float:
        return self.a * x


def test_a_method_of_a_value() -> None:
    """A wrapper in C holds the object, whose derivative would be lost: right or refused."""

    def f(x: float) -> float:
        return Frozen(x).times(3.0)

    for _ in range(3):
        try:
            assert adbc.grad(f)(2.0) == 6.0
            assert adbc.jvp(f, (2.0,), (1.0,))[1] == 6.0
        except AdbcError as error:
            assert "wrapt" in str(error)
