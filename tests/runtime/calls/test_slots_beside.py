"""Slots of instances of classes derived from ``str``, ``int`` and ``set``: a record of a log, as a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.errors import AdbcError, ConstWriteError

X = 0.75


class Message(str):
    """A line of a log, with what it was made of."""

    __slots__ = ("other", "record")


class Count(int):
    __slots__ = ()


class Names(set[str]):
    __slots__ = ("record",)


KEPT: list[Any] = []


def emits(x: float) -> Any:
    message = Message("a line")
    message.record = {"value": x, "text": str(message)}
    KEPT.append(message)
    return x * x * len(KEPT.pop().record)


def reads_it_back(x: float) -> Any:
    message = Message("a line")
    record = {"value": x}
    message.record = record
    message.record["value"] = message.record["value"] * x
    message.other = [x]
    message.other.append(x * x)
    return record["value"] * message.record["value"] + sum(message.other) * len(message)


def of_a_set(x: float) -> Any:
    names = Names(["a"])
    names.record = [x]
    names.record[0] *= x
    return names.record[0] * len(names)


def of_what_may_come_to_hold_something(x: float) -> Any:
    message = Message("a line")
    record: dict[str, Any] = {"text": "a", "more": {}, "list": []}
    message.record = record
    message.record["more"]["value"] = x
    record["list"].append(x * x)
    return record["more"]["value"] * message.record["list"][0]


def in_a_loop(x: float) -> Any:
    total, before = 0.0, [x]
    for i in range(30):
        message = Message(i)
        message.record = before
        before = [message.record[0] * 0.9 + x]
        total += message.record[0]
    return total


CONSTANT = Message("constant")
CONSTANT.record = {"weight": 2.0, "list": [1.0, 3.0]}


def of_a_constant(x: float) -> Any:
    return CONSTANT.record["weight"] * x + CONSTANT.record["list"][1] * x * x


def written_into_a_constant(x: float) -> Any:
    before = CONSTANT.record["weight"]
    CONSTANT.record["weight"] = x
    result = CONSTANT.record["weight"] * x
    CONSTANT.record["weight"] = before
    return result


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize(
    "f",
    [
        emits,
        reads_it_back,
        of_a_set,
        of_what_may_come_to_hold_something,
        in_a_loop,
        of_a_constant,
        written_into_a_constant,
    ],
)
def test_what_is_in_a_slot_has_its_derivative(f: Callable[[float], Any], speculation: str) -> None:
    step = 1e-6
    slope = (f(X + step) - f(X - step)) / (2.0 * step)
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(4):
            assert adbc.value_and_grad(f)(X) == pytest.approx((f(X), slope))
            assert adbc.jvp(f, (X,), (1.0,)) == pytest.approx((f(X), slope))


def test_what_has_no_address_is_refused() -> None:
    def number(x: float) -> Any:
        message = Message("a")
        message.record = x
        return message.record * x

    def pair(x: float) -> Any:
        message = Message("a")
        message.record = (x, [x])
        return message.record[0] * x

    for f in (number, pair):
        for derivative in (lambda f=f: adbc.grad(f)(X), lambda f=f: adbc.jvp(f, (X,), (1.0,))):
            with pytest.raises(ConstWriteError, match="attribute 'record' of a Message"):
                derivative()


def test_a_message_that_is_returned() -> None:
    def f(x: float) -> Any:
        message = Message("a")
        message.record = [x]
        return message

    assert adbc.jvp(lambda x: f(x).record[0], (X,), (1.0,)) == (X, 1.0)
    with pytest.raises((AdbcError, TypeError)):
        adbc.grad(f)(X)
