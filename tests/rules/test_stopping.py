"""`stop_gradient` of numbers and tuples of numbers gives constants, whatever becomes of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from adbc.errors import MissingRuleError, UnsupportedError
from adbc.runtime import default_engine

BOTH = struct.Struct("dd")


def number(x: float) -> float:
    return x * struct.pack("d", adbc.stop_gradient(x * 2.0))[7]


def unpacked(x: float) -> float:
    y, z = adbc.stop_gradient((x, x * 2.0))
    return x * struct.pack("dd", y, z)[7]


def spread(x: float) -> float:
    return x * BOTH.pack(*adbc.stop_gradient((x, x * 2.0)))[7]


def nested(x: float) -> float:
    (y, z), n = adbc.stop_gradient(((x, x * 2.0), 3))
    return x * struct.pack("dd", y, z)[7] * n + y * x


@pytest.fixture(params=["learn", "never", "dynamic", "always"])
def guess(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    engine = default_engine()
    engine.clear()
    monkeypatch.setattr(engine.guesses, "mode", request.param)
    yield request.param
    engine.clear()


@pytest.mark.parametrize(
    ("f", "slope"), [(number, 64.0), (unpacked, 63.0), (spread, 63.0), (nested, 3 * 63.0 + 1.5)]
)
def test_c_functions_may_be_called_with_what_is_stopped(
    guess: str, f: Callable[[float], float], slope: float
) -> None:
    for _ in range(3):
        assert adbc.value_and_grad(f)(1.5) == (f(1.5), slope)
        assert adbc.jvp(f, (1.5,), (1.0,)) == (f(1.5), slope)


def test_memory_is_not_copied(guess: str) -> None:
    def f(x: float) -> Any:
        values = [x, x]
        return struct.pack("dd", *values)[7] * adbc.stop_gradient(values)[0]

    with pytest.raises(MissingRuleError):
        adbc.grad(f)(1.5)


def test_lists_are_stopped_whole(guess: str) -> None:
    def f(x: float) -> float:
        values = [x, x * x]
        return values[1] * adbc.stop_gradient((values, x))[0][0] + values[0]

    assert adbc.value_and_grad(f)(2.0) == (10.0, 9.0)
    assert adbc.jvp(f, (2.0,), (1.0,)) == (10.0, 9.0)


def test_what_a_function_has_captured_is_not_stopped(guess: str) -> None:
    def f(x: float) -> Any:
        values = [x]

        def scaled(y: float) -> float:
            return y * values[0]

        return adbc.stop_gradient(scaled)(2.0) * x

    with pytest.raises(
        UnsupportedError, match=r"scaled, which has captured 'values'.*stop_gradient\(scaled\("
    ):
        adbc.grad(f)(1.5)
    with pytest.raises(UnsupportedError, match="scaled, which has captured 'values'"):
        adbc.jvp(f, (1.5,), (1.0,))


def test_functions_without_variables_and_objects_are_stopped(guess: str) -> None:
    class Scaled:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, y: float) -> float:
            return y * self.by

    def f(x: float) -> Any:
        def twice(y: float) -> float:
            return 2.0 * y

        return adbc.stop_gradient(twice)(x) * adbc.stop_gradient(Scaled(x))(x)

    assert adbc.value_and_grad(f)(1.5) == (6.75, 9.0)
    assert adbc.jvp(f, (1.5,), (1.0,)) == (6.75, 9.0)
