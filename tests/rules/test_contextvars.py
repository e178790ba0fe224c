"""Variables of a context: what is set in one has a derivative, and is as before after a reverse pass."""

from __future__ import annotations

import contextvars
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import adbc
from adbc.errors import AdbcError

SCALE: contextvars.ContextVar[Any] = contextvars.ContextVar("scale")
SHIFT: contextvars.ContextVar[Any] = contextvars.ContextVar("shift", default=2.0)
COUNTED: list[int] = []


def scaled(x: float) -> float:
    COUNTED.append(1)
    return SCALE.get() * math.sin(x) + SHIFT.get()


def without_arguments() -> Any:
    return SCALE.get() * SHIFT.get()


def set_and_left(x: float) -> float:
    SCALE.set(x * x)
    return scaled(x) * SCALE.get()


def set_and_reset(x: float) -> float:
    token = SCALE.set(x * x)
    try:
        inner = SHIFT.set(SCALE.get() * 3.0)
        y = scaled(x)
        SHIFT.reset(inner)
        return y * scaled(x) + SHIFT.get()
    finally:
        SCALE.reset(token)


def overtaken(x: float) -> float:
    first = SCALE.set(x)
    SCALE.set(x * x)
    y = scaled(x)
    SCALE.set(SCALE.get() * x)
    y += scaled(x)
    SCALE.reset(first)
    return y * SCALE.get(x * x * x)


def in_a_loop(x: float) -> float:
    SCALE.set(1.0)
    for _ in range(4):
        SCALE.set(SCALE.get() * x + SHIFT.get())
    return without_arguments()


def of_objects(x: float) -> float:
    token = SCALE.set([x, x * x])
    held = SCALE.get()
    SCALE.get().append(x * held[1])
    held[0] *= 2.0
    y = sum(SCALE.get())
    SCALE.reset(token)
    return y + held[2]


def of_tuples(x: float) -> float:
    SCALE.set((x, "name", (x * x, 1)))
    a, _, (b, n) = SCALE.get()
    return a * b * n


def made_inside(x: float) -> float:
    var: Any = contextvars.ContextVar("inside")
    before = var.get(x * x)
    var.set(x)
    return before * var.get() * var.get(5.0)


PROGRAMS = [
    set_and_left, set_and_reset, overtaken, in_a_loop, of_objects, of_tuples, made_inside,
]  # fmt: skip


def difference(f: Any, x: float) -> Any:
    h = 1e-3
    d = [(run(f, x + s) - run(f, x - s)) / (2 * s) for s in (h, h / 2)]
    return pytest.approx((4 * d[1] - d[0]) / 3, rel=1e-8)


def run(f: Any, x: float) -> Any:
    return contextvars.copy_context().run(f, x)


@pytest.mark.parametrize("warm_after", [None, 0])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_set_has_a_derivative(f: Any, warm_after: int | None) -> None:
    wanted, value = difference(f, 0.7), run(f, 0.7)
    calls = len(COUNTED)
    run(f, 0.7)
    once = len(COUNTED) - calls
    config = adbc.Config() if warm_after is None else adbc.Config(warm_after=warm_after)

    def taken() -> None:
        with adbc.use(config):
            for _ in range(3):
                assert adbc.value_and_grad(f)(0.7) == (pytest.approx(value), wanted)
                assert SCALE.get(None) is None
                assert SHIFT.get() == 2.0
            for _ in range(3):
                calls = len(COUNTED)
                assert run(lambda x: adbc.jvp(f, (x,), (1.0,)), 0.7) == (pytest.approx(value), wanted)
                assert len(COUNTED) - calls == once

    contextvars.copy_context().run(taken)


def test_what_was_set_before_is_as_before() -> None:
    def outer() -> None:
        token = SCALE.set(4.0)

        def f(x: float) -> Any:
            y = SCALE.get() * x
            SCALE.reset(token)
            return y * SCALE.get(x)

        assert adbc.grad(f)(0.7) == pytest.approx(2 * 4.0 * 0.7)
        assert SCALE.get() == 4.0

    contextvars.copy_context().run(outer)


def test_a_refusal_or_exception_leaves_what_a_plain_call_leaves() -> None:
    def failing(x: float) -> float:
        token = SCALE.set(x)
        try:
            raise ValueError("no")
        finally:
            SCALE.reset(token)

    with pytest.raises(ValueError, match="no"):
        adbc.grad(failing)(0.7)
    assert SCALE.get(None) is None


@pytest.mark.parametrize(
    "look",
    [
        lambda token: token.old_value,
        lambda token: contextvars.copy_context()[SCALE],
        lambda token: next(iter(contextvars.copy_context().values())),
    ],
    ids=["token", "copy", "values"],
)
def test_ways_past_the_variable_are_refused(look: Any) -> None:
    def f(x: float) -> Any:
        SCALE.set(x)
        token = SCALE.set(x * x)
        y = look(token)
        SCALE.reset(token)
        return y * x

    for way in (lambda: adbc.grad(f)(0.7), lambda: adbc.jvp(f, (0.7,), (1.0,))):
        with pytest.raises(AdbcError, match=r"context|Context"):
            contextvars.copy_context().run(way)


@pytest.mark.parametrize("value", [4.0, None], ids=["constant", "active"])
@pytest.mark.parametrize("is_set_inside", [False, True])
def test_tasks_of_threads_have_contexts_of_their_own(value: Any, is_set_inside: bool) -> None:
    def f(x: float) -> Any:
        given = x if value is None else value

        def task() -> Any:
            if is_set_inside:
                SCALE.set(given)
            return SCALE.get(1.0) * x

        if not is_set_inside:
            SCALE.set(given)
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(task).result()

    for way in (lambda: adbc.grad(f)(0.7), lambda: adbc.jvp(f, (0.7,), (1.0,))):
        with pytest.raises(AdbcError, match="task of a ThreadPoolExecutor"):
            contextvars.copy_context().run(way)
    assert run(lambda x: adbc.grad(plain_task)(x), 0.7) == pytest.approx(1.4)


def plain_task(x: float) -> Any:
    with ThreadPoolExecutor(1) as executor:
        y = executor.submit(lambda: x * x).result()
    SCALE.set(y)
    return SCALE.get()


def reading(x: float, y: float) -> Any:
    return SCALE.get() * x * y * y


def set_outside(x: float) -> Any:
    token = SCALE.set(x * x)
    slope = adbc.grad(reading, 1)(x, 0.5)
    SCALE.reset(token)
    return slope  # x ** 3


def test_what_an_outer_level_has_set_is_seen_inside() -> None:
    assert adbc.grad(set_outside)(0.7) == pytest.approx(3 * 0.7**2)
    assert adbc.jvp(set_outside, (0.7,), (1.0,))[1] == pytest.approx(3 * 0.7**2)


@pytest.mark.parametrize("f", [set_and_reset, of_objects], ids=lambda f: f.__name__)
def test_what_is_set_inside_is_refused(f: Any) -> None:
    for second in (
        lambda: adbc.grad(adbc.grad(f))(0.7),
        lambda: adbc.jvp(adbc.grad(f), (0.7,), (1.0,)),
        lambda: adbc.grad(lambda x: adbc.jvp(f, (x,), (1.0,))[1])(0.7),
    ):
        with pytest.raises(AdbcError, match=r"ContextVar\.set"):
            contextvars.copy_context().run(second)
        assert SCALE.get(None) is None
