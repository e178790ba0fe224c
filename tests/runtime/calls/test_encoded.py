"""JSON of objects that a function in Python is asked about: lines of a log, states that are saved."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import SPECULATION

X = 0.75
OUT = io.StringIO()
ASKED: list[str] = []


class State:
    def __init__(self, value: Any) -> None:
        self.value = value


class Encoder(json.JSONEncoder):
    def default(self, o: Any) -> Any:
        if isinstance(o, State):
            return {"state": o.value, "day": datetime.date(2020, 1, 2)}
        if isinstance(o, np.ndarray):
            return o.tolist()
        return str(o)


def asked(o: Any) -> Any:
    ASKED.append(type(o).__name__)
    return sorted(o) if isinstance(o, set) else [o.value]


def by_text(x: float) -> Any:
    OUT.write(
        json.dumps({"x": x, "day": datetime.date(2020, 1, 2), "more": [x * x, {"a": None}]}, default=str)
    )
    return x * x


def by_a_function(x: float) -> Any:
    state = State(x * x)
    OUT.write(json.dumps([state, {"b": {3, 1}, "c": (x, state)}], default=asked))
    return state.value * x


def by_a_closure(x: float) -> Any:
    met = []

    def note(o: Any) -> Any:
        met.append(o.value)
        return "noted"

    OUT.write(json.dumps({"a": State(x), "b": State(x * x)}, default=note, sort_keys=True))
    return met[0] * met[1]


def by_a_class(x: float) -> Any:
    v = np.array([x, 1.0]) * x
    OUT.write(json.dumps({"s": State(x), "v": v, "n": np.float64(2.0)}, cls=Encoder))
    return v.sum()


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("f", [by_text, by_a_function, by_a_closure, by_a_class])
def test_the_text_and_the_derivative_are_right(f: Callable[[float], Any], speculation: str) -> None:
    def run(call: Callable[[], Any]) -> tuple[Any, str, list[str]]:
        OUT.seek(0)
        OUT.truncate()
        ASKED.clear()
        return call(), OUT.getvalue(), [*ASKED]

    value, text, names = run(lambda: f(X))
    step = 1e-6
    slope = (f(X + step) - f(X - step)) / (2.0 * step)
    assert text
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            assert run(lambda: adbc.jvp(f, (X,), (1.0,))) == (pytest.approx((value, slope)), text, names)
            found, written, _ = run(lambda: adbc.value_and_grad(f)(X))
            assert found == pytest.approx((value, slope))
            assert written == text


def test_a_number_is_not_read_again() -> None:
    def f(x: float) -> Any:
        return json.loads(json.dumps({"a": State(x)}, default=lambda o: o.value))["a"] * x

    for derivative in (lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (1.0,))):
        with pytest.raises(adbc.AdbcError):
            derivative()


def test_what_cannot_be_encoded_raises_as_it_does() -> None:
    def f(x: float) -> Any:
        json.dumps({"a": x, "b": object()})
        return x

    for derivative in (lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (1.0,))):
        with pytest.raises(TypeError, match="not JSON serializable"):
            derivative()
