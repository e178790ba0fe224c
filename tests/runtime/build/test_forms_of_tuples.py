"""Tuples of arrays are guessed as a whole, and what stands beside them in a call is passed as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import explain
from adbc.ir.intrinsics import _form_is_
from adbc.runtime import default_engine
from tests.emit.checking import checked
from tests.emit.test_emit import straight

A = np.array([0.5, 1.5])
FORM = (float, ("array", np.ndarray, "d", 1), (int, None))


@pytest.fixture(autouse=True)
def learning() -> Iterator[None]:
    with adbc.use(adbc.Config(speculation="learn", verify=True, warm_after=0)):
        default_engine().clear()
        yield
        default_engine().clear()


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ((1.0, A, (2, "x")), True),
        ((1.0, A.astype("f"), (2, "x")), False),
        ((1.0, A[None], (2, "x")), False),
        ((1.0, [0.5], (2, "x")), False),
        ((1.0, A, (2.0, "x")), False),
        ((1.0, A), False),
        ([1.0, A, (2, "x")], False),
    ],
)
def test_a_form_asks_for_dtype_and_axes(value: Any, is_one: bool) -> None:
    assert _form_is_(value, FORM) is is_one
    builder, (argument,) = straight("value")
    builder.ret(builder.call(_form_is_, argument, FORM))
    assert checked(builder.graph)(value) is is_one


def step(scale: Any, hidden: Any, cell: Any, x: Any) -> Any:
    cell = cell * scale + np.tanh(hidden) * x
    return hidden * cell, cell


def network(x: Any, start: list[Any]) -> Any:
    memory = [*start]
    total = 0.0
    for _ in range(3):
        for i in range(len(memory)):
            memory[i] = step(0.5, *memory[i], x)
            total = total + np.sum(memory[i][0])
    return total


def right(x: Any, start: Any) -> None:
    expected = [
        (network(x + d, start) - network(x - d, start)) / 2e-6 for d in 1e-6 * np.eye(len(x))
    ]  # fmt: skip
    gradient = adbc.grad(network)(x, start)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    along = np.array([1.0, -0.5])
    np.testing.assert_allclose(adbc.jvp(network, (x, start), (along, None))[1], gradient @ along, rtol=1e-12)


def test_arrays_in_tuples_that_turn_out_to_be_others() -> None:
    for start in (
        [(A, A)],
        [(A, A)],
        [(A, 2 * A), (A, A)],
        [(A, 0.5)],
        [(0.25, A)],
        [(A, A[None])],
        [(A, A)],
    ):
        right(A + 0.1, start)


def test_what_is_gathered_for_a_call_is_passed_as_it_is() -> None:
    called = [s.called for s in explain(network, A, [(A, A)]).sites]
    assert "tuple" not in called and called.count("list") == 1  # a copy of what the program was given
    assert "a ufunc" in called  # the function has been written in
