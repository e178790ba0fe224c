"""A refusal of adbc's is never taken for an error of the user's own."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import adbc
from adbc.errors import MissingRuleError


class Holder:
    def __init__(self, u: float) -> None:
        self.u = u


def test_a_missing_attribute_is_the_users_error() -> None:
    def f(x: float) -> Any:
        holder = Holder(x)
        try:
            return holder.missing  # type: ignore[attr-defined]  # that is the point
        except AttributeError:
            return 2.0 * x * holder.u

    assert adbc.value_and_grad(f)(1.5) == (4.5, 6.0)
    assert adbc.jvp(f, (1.5,), (1.0,)) == (4.5, 6.0)


def swallows(x: float) -> Any:
    try:
        text = struct.pack("d", x)  # written in C, without a rule
        return x * len(text)
    except Exception:
        return 100.0 * x
    finally:
        x = x + 1.0


def deeper(x: float) -> Any:
    try:
        return swallows(x)
    except BaseException:
        return -x


@pytest.mark.parametrize("f", [swallows, deeper])
def test_a_refusal_passes_all_handlers(f: Any) -> None:
    with pytest.raises(MissingRuleError):
        adbc.value_and_grad(f)(1.5)
    with pytest.raises(MissingRuleError):
        adbc.jvp(f, (1.5,), (1.0,))
