"""Tasks of a thread pool, which are run where they are submitted; locks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError


def cube(v: Any) -> Any:
    return v**3


def mapped(x: float, y: float) -> Any:
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(cube, [x, y])) * x


def submitted(x: float, y: float) -> Any:
    pool = ThreadPoolExecutor()
    tasks = [pool.submit(cube, v) for v in (x, y)]
    wait(tasks)
    total = 0.0
    for task in as_completed(tasks):
        total += task.result() * y
    pool.shutdown()
    return total


def raising(x: float, y: float) -> Any:
    def fail(v: float) -> Any:
        raise ValueError(v * x)

    with ThreadPoolExecutor(2) as pool:
        task = pool.submit(fail, y)
        try:
            return task.result()
        except ValueError as error:
            return error.args[0] * x


def locked(x: float, y: float) -> Any:
    lock, total = threading.Lock(), [x]
    try:
        with lock:
            total.append(x * y)
            raise KeyError(total[1])
    except KeyError as error:
        return error.args[0] * total[0] if not lock.locked() else 0.0


def with_an_initializer(x: float, y: float) -> Any:
    with ThreadPoolExecutor(2, initializer=print) as pool:
        return pool.submit(cube, x).result() * y


def after_shutdown(x: float, y: float) -> Any:
    pool = ThreadPoolExecutor()
    pool.shutdown()
    return pool.submit(cube, x).result() * y


@pytest.mark.parametrize("f", [mapped, submitted, raising, locked], ids=lambda f: f.__name__)
def test_both_modes(f: Any) -> None:
    h = 1e-6
    x, y = 0.7, 1.3
    wanted = (f(x + h, y) - f(x - h, y)) / (2 * h), (f(x, y + h) - f(x, y - h)) / (2 * h)
    for _ in range(2):
        assert adbc.grad(f, argnums=(0, 1))(x, y) == pytest.approx(wanted, rel=1e-7)
        assert adbc.jvp(f, (x, y), (1.0, 0.0))[1] == pytest.approx(wanted[0], rel=1e-7)


def test_an_initializer_is_refused() -> None:
    for take in (
        lambda: adbc.grad(with_an_initializer)(0.7, 1.3),
        lambda: adbc.jvp(with_an_initializer, (0.7, 1.3), (1.0, 0.0)),
    ):
        with pytest.raises(
            UnsupportedError, match=r"with an initializer, in .*with_an_initializer.*in a loop"
        ):
            take()


def test_a_pool_that_was_shut_down() -> None:
    with pytest.raises(RuntimeError, match="after shutdown"):
        adbc.grad(after_shutdown)(0.7, 1.3)
