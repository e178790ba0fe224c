"""What exceptions hold that C code raises: text is a constant, a number may be one with a derivative."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.runtime.calls.texts import raised_in_c


def of_text(x: float) -> float:
    try:
        return x / (x - x)
    except ZeroDivisionError as error:
        return x * x * len(error.args[0])


def of_a_number(x: float) -> float:
    try:
        return {}[x, 1]  # type: ignore[no-any-return]  # it raises
    except KeyError as error:
        return error.args[0][0] * x  # type: ignore[no-any-return]  # a float


@pytest.mark.parametrize("speculation", SPECULATION)
def test_text_is_a_constant(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            assert adbc.value_and_grad(of_text)(3.0) == (of_text(3.0), 6.0 * of_text(1.0))
            assert adbc.jvp(of_text, (3.0,), (1.0,)) == (of_text(3.0), 6.0 * of_text(1.0))


def test_a_number_is_not() -> None:
    with pytest.raises(adbc.errors.UnsupportedError, match="attribute 'args' of a KeyError holds a tuple"):
        adbc.grad(of_a_number)(2.0)
    with pytest.raises(adbc.errors.UnsupportedError, match="attribute 'args' of a KeyError holds a tuple"):
        adbc.jvp(of_a_number, (2.0,), (1.0,))


class Held:
    def __init__(self, value: Any) -> None:
        self.value = value


def no_attribute_of_a_number(x: Any) -> Any:
    try:
        return x.missing
    except AttributeError as error:
        return error.obj * 2.0


def no_attribute_of_a_list(x: Any) -> Any:
    try:
        return [x].missing  # type: ignore[attr-defined]  # it raises
    except AttributeError as error:
        return error.obj[0] * 2.0


def told_by_the_program(x: Any) -> Any:
    try:
        raise AttributeError("none", name="a", obj=(1, x))
    except AttributeError as error:
        return error.obj[1] * 2.0


def no_attribute_of_an_object(x: Any) -> Any:
    held = Held(x * x)
    try:
        return held.missing  # type: ignore[attr-defined]  # it raises
    except AttributeError as error:
        return error.obj.value * len(error.name)


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("f", [no_attribute_of_a_number, no_attribute_of_a_list, told_by_the_program])
def test_what_has_no_attribute_is_no_constant(
    f: Callable[[Any], Any], speculation: str, warm_after: int
) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(5):
            with pytest.raises(adbc.errors.AdbcError, match="'obj'"):
                adbc.grad(f)(1.5)
            with pytest.raises(adbc.errors.AdbcError, match="'obj'"):
                adbc.jvp(f, (1.5,), (1.0,))


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("speculation", SPECULATION)
def test_an_object_without_an_attribute_is_known_again(speculation: str, warm_after: int) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(5):
            assert adbc.grad(no_attribute_of_an_object)(1.5) == 21.0
            assert adbc.jvp(no_attribute_of_an_object, (1.5,), (1.0,)) == (15.75, 21.0)


def test_the_message_says_no_number_of_an_object_without_an_attribute() -> None:
    for owner in (Held(1.5), [1.5], "1.5"):
        context: Any = types.SimpleNamespace(texts=None)
        try:
            owner.missing  # type: ignore[union-attr, attr-defined]  # noqa: B018  # it raises
        except AttributeError as error:
            raised_in_c(context, error)
        assert (context.texts is None) is (owner != "1.5")
