"""Functions and loops that run again in the pullback: the same numbers as without checkpoints."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc

V = np.array([0.5, 1.5, -0.7, 0.2])
W = np.array([0.3, -0.2, 0.8, 1.1])


@pytest.fixture(params=["learn", "dynamic", "interpret", "never"], autouse=True)
def speculation(request: Any) -> Iterator[None]:
    with adbc.use(adbc.Config(speculation=request.param)):
        yield


def waves(x: Any) -> Any:
    return np.sin(x) * np.exp(-x)


def in_place(x: Any) -> Any:
    x[1:] *= x[:-1]
    x += 0.5
    return x.sum()


class Ball:
    def __init__(self, x: float, v: Any) -> None:
        self.x, self.v = x, v


def fall(ball: Any) -> float:
    ball.x = ball.x * ball.x + ball.v.sum()
    ball.v *= ball.x
    return ball.x * 2.0


def several(x: Any) -> Any:
    return {"a": x * 2.0, "b": [float(x.sum()), (x**2).sum()]}


def appended(values: Any) -> float:
    values.append(values[-1] * values[0])
    return sum(values)


def itself(x: Any) -> Any:
    x *= 2.0
    return x


def raised(x: Any) -> float:
    if x[0] > 0.0:
        raise ValueError("too large")
    return x[0]


def with_numbers(x: Any) -> float:
    return x.sum() * random.random() * np.random.random()  # noqa: NPY002  # the generator of the module


def users(g: Callable[[Any], Any]) -> list[tuple[Callable[..., Any], Any]]:
    """Functions that call `g(f)`, which is `f` or a checkpoint of it, and an argument."""
    h_waves, h_place, h_fall = g(waves), g(in_place), g(fall)
    h_several, h_appended, h_itself, h_raised = g(several), g(appended), g(itself), g(raised)

    def twice(x: Any) -> Any:
        return (h_waves(h_waves(x)) * x).sum()

    def overwritten(x: Any) -> Any:
        u = x.copy()
        a = h_place(u)
        b = h_place(u)
        return a * b + (u**2).sum()

    def the_argument(x: Any) -> Any:
        return h_place(x) * x.sum()

    def shared(x: Any) -> Any:
        def both(a: Any, b: Any) -> Any:
            a += b
            return (a * b).sum()

        u = x * 1.0
        return g(both)(u, u) + g(both)(u, u[::-1]) + u.sum()

    def objects(x: Any) -> Any:
        ball = Ball(x[0], x * 1.0)
        return h_fall(ball) * h_fall(ball) + ball.v.sum()

    def results(x: Any) -> Any:
        found = h_several(x)
        return found["b"][0] * found["b"][1] + (found["a"] * x).sum()

    def closures(x: Any) -> Any:
        k, rate = x * 3.0, x[1] * x[0]

        def inner(y: Any) -> Any:
            return (y * k).sum() * rate

        return g(inner)(x) + g(inner)(x * x)

    def by_keyword(x: Any) -> Any:
        def inner(y: Any, *, k: Any) -> Any:
            return (y * k).sum()

        return g(inner)(x, k=x**2)

    def structure(x: Any) -> Any:
        values = [x[0], x[1]]
        return h_appended(values) * h_appended(values) + values[3]

    def returned(x: Any) -> Any:
        u = x + 1.0
        return (h_itself(u) * u).sum()

    def caught(x: Any) -> Any:
        try:
            return h_raised(x)
        except ValueError:
            return x[1] * x[0]

    def nested(x: Any) -> Any:
        def outer(y: Any) -> Any:
            return h_waves(h_waves(y) + y)

        return (g(outer)(x) ** 2).sum()

    def through_a_global(x: Any) -> Any:
        HELD.append(x)
        try:
            return g(reads_held)(x[0]) + x.sum()
        finally:
            HELD.pop()

    def draws(x: Any) -> Any:
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002  # the generator of the module
        rng = np.random.default_rng(1)

        def own(y: Any) -> Any:
            return (y * rng.normal(size=4)).sum() * rng.normal()

        return g(with_numbers)(x) * g(with_numbers)(x) + g(own)(x) * g(own)(x)

    functions = (
        twice, overwritten, the_argument, shared, objects, results, closures, by_keyword, structure, returned,
        caught, nested, through_a_global, draws,
    )  # fmt: skip
    return [(f, V) for f in functions]


HELD: list[Any] = []


def reads_held(a: float) -> Any:
    HELD[0][1:] *= a
    return (HELD[0] ** 2).sum()


NAMES = [f.__name__ for f, _ in users(lambda f: f)]


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_changes_no_number(name: str) -> None:
    k = NAMES.index(name)
    plain, x = users(lambda f: f)[k]
    kept, _ = users(adbc.checkpoint)[k]
    wanted = adbc.value_and_grad(plain)(x.copy())
    given = x.copy()
    for _ in range(2):
        found = adbc.value_and_grad(kept)(given)
        assert found[0] == wanted[0] == plain(x.copy())
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-13)
        assert (given == x).all()
    if name not in ("draws",):
        assert adbc.jvp(kept, (x.copy(),), (W.copy(),)) == adbc.jvp(plain, (x.copy(),), (W.copy(),))


def euler(i: int, y: float) -> float:
    return y - 0.01 * y * y * (1.0 + 0.1 * i)


@pytest.mark.parametrize("snapshots, taped", [(None, None), (1, None), (2, 3), (3, 1), (40, 1), (1, 40)])
def test_loops_with_any_number_of_snapshots(snapshots: int | None, taped: int | None) -> None:
    def total(k: float, x: Any, loop: Any) -> Any:
        def step(i: int, u: Any) -> Any:
            u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * (1.0 + 0.1 * i)
            return u

        return (loop(step, x, 23) ** 2).sum() * x[0]

    def plain(step: Any, u: Any, n: int) -> Any:
        u = u.copy()
        for i in range(n):
            u = step(i, u)
        return u

    kept = functools.partial(adbc.checkpoint_loop, snapshots=snapshots, taped=taped)
    wanted = adbc.value_and_grad(total, (0, 1))(0.1, V, plain)
    found = adbc.value_and_grad(total, (0, 1))(0.1, V, kept)
    assert found[0] == wanted[0]
    np.testing.assert_allclose(found[1][0], wanted[1][0], rtol=1e-13)
    np.testing.assert_allclose(found[1][1], wanted[1][1], rtol=1e-13)


def test_loops_over_structures_with_random_numbers() -> None:
    def total(x: Any, loop: Any) -> Any:
        rng = np.random.default_rng(5)

        def step(i: int, state: Any) -> Any:
            u, s = state["u"], state["s"]
            return {"u": u + 0.1 * rng.normal() * np.sin(u), "s": s + float(u.sum()) * random.random()}

        random.seed(2)
        state = loop(step, {"u": x, "s": x[0] * 2.0}, 17)
        return state["s"] * (state["u"] ** 2).sum()

    def plain(step: Any, state: Any, n: int) -> Any:
        for i in range(n):
            state = step(i, state)
        return state

    wanted = adbc.value_and_grad(total)(V, plain)
    kept = functools.partial(adbc.checkpoint_loop, snapshots=3, taped=2)
    found = adbc.value_and_grad(total)(V, kept)
    assert found[0] == wanted[0]
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-13)


def test_loops_of_no_steps_and_in_forward_mode() -> None:
    assert adbc.grad(lambda y: adbc.checkpoint_loop(euler, y, 0) * y)(3.0) == 6.0
    forward = adbc.jvp(lambda y: adbc.checkpoint_loop(euler, y, 30), (1.0,), (1.0,))
    found = adbc.value_and_grad(lambda y: adbc.checkpoint_loop(euler, y, 30))(1.0)
    assert forward[0] == found[0] and math.isclose(forward[1], found[1], rel_tol=1e-13)
    with pytest.raises(adbc.errors.ArgumentError, match="snapshots"):
        adbc.checkpoint_loop(euler, 1.0, 3, snapshots=0)


def test_what_is_not_the_same_again_is_refused() -> None:
    before = list(TICKS)
    with pytest.raises(adbc.errors.UnsupportedError, match="run again from a checkpoint"):
        adbc.grad(adbc.checkpoint(clocked))(2.0)
    TICKS[:] = before
    numbers = iter([2.0, 3.0, 5.0])

    def counted(x: Any) -> Any:
        return x * next(numbers)

    assert (
        adbc.grad(adbc.checkpoint(counted))(2.0) == 2.0
    )  # an iterator is out of sight: without a checkpoint


TICKS = [0.0]


def clocked(x: float) -> float:
    return x * ticked()


def ticked() -> float:
    TICKS[0] += 1.0
    return TICKS[0]


def test_steps_that_reach_other_memory_with_a_derivative() -> None:
    def by_a_global(x: Any) -> Any:
        HELD.append(x)
        try:
            return adbc.checkpoint_loop(lambda i, y: y * HELD[0].sum() * 0.1, x[0] * 1.0, 3)
        finally:
            HELD.pop()

    def plain(x: Any) -> Any:
        return x[0] * (x.sum() * 0.1) ** 3

    np.testing.assert_allclose(adbc.grad(by_a_global)(V), adbc.grad(plain)(V), rtol=1e-13)

    def of_the_closure(x: Any) -> Any:
        k = x * 2.0
        return (adbc.checkpoint_loop(lambda i, y: k, x, 3) * k).sum()

    np.testing.assert_allclose(adbc.grad(of_the_closure)(V), 8.0 * V, rtol=1e-13)

    def counting(x: Any) -> Any:
        count = [0.0]

        def step(i: int, y: Any) -> Any:
            count[0] += 1.0
            return y * count[0]

        return adbc.checkpoint_loop(step, x[0] * 1.0, 3)

    with pytest.raises(adbc.errors.UnsupportedError, match="ake it part of the state"):
        adbc.grad(counting)(V)
