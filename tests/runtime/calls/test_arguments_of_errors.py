"""What exceptions hold that C code raises: text is a constant, a number may be one with a derivative."""

from __future__ import annotations

import pytest

import adbc
from adbc.config import SPECULATION


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
