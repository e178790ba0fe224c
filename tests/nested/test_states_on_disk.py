"""Loops with checkpoints whose states are in files: the same bits, and nothing is left behind."""

from __future__ import annotations

import gc
import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.states import Files
from adbc.testing.values import assert_same

X = np.linspace(0.2, 1.1, 6)


class Body:
    def __init__(self, place: Any, speed: Any) -> None:
        self.place, self.speed = place, speed


def numbers(i: int, x: float) -> float:
    return x + 0.01 * math.sin(x * i)


def arrays(i: int, u: Any) -> Any:
    u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def containers(i: int, state: Any) -> Any:
    a, table, (b, n) = state
    table["k"] = table["k"] * 0.99 + a[0] * 0.01
    return [a[1], a[0] * table["k"]], table, (b + a[0], n + 1)


def objects(i: int, body: Body) -> Body:
    body.speed = body.speed - 0.01 * body.place
    body.place = body.place + 0.01 * body.speed
    return body


def laid_out(i: int, u: Any) -> Any:
    """Sums whose order follows from how the array lies in memory."""
    return (u.transpose(1, 0, 2) * (1.0 + 1e-3 * u.sum())).transpose(1, 0, 2)


def total(x: Any) -> Any:
    if isinstance(x, float):
        return x * x
    if isinstance(x, Body):
        return (x.place**2).sum() + (x.speed * x.place).sum()
    if isinstance(x, tuple):
        return x[0][0] * x[1]["k"] + x[2][0]
    return (x**2).sum()


LOOPS: list[tuple[Any, Any]] = [
    (numbers, 0.7),
    (arrays, X),
    (containers, ([1.0, 0.5], {"k": 0.3, "name": "a"}, (0.2, 3))),
    (objects, Body(X, X[::-1].copy())),
    (laid_out, np.arange(24.0).reshape(2, 3, 4) / 24.0),
    (arrays, X.astype(np.float32)),
]


@pytest.mark.parametrize("options", [{}, {"snapshots": 2}, {"snapshots": 1, "taped": 3}])
@pytest.mark.parametrize("step, start", LOOPS)
def test_the_same_bits(step: Any, start: Any, options: Any, tmp_path: Path) -> None:
    def value(directory: Any) -> Any:
        return lambda start: total(adbc.checkpoint_loop(step, start, 23, directory=directory, **options))

    expected = adbc.value_and_grad(value(None))(start)
    for directory in (tmp_path, str(tmp_path)):
        assert_same(expected, adbc.value_and_grad(value(directory))(start), "value and gradient", rtol=0.0)
        assert not list(tmp_path.iterdir())
    assert value(tmp_path)(start) == expected[0] and not list(tmp_path.iterdir())  # a plain call


def test_what_is_special_among_numbers(tmp_path: Path) -> None:
    def step(i: int, u: Any) -> Any:
        return u * 1.0

    start = np.array([0.0, -0.0, 5e-324, np.inf, -np.inf, np.nan, 1e308])

    def f(u: Any, directory: Any) -> Any:
        return adbc.checkpoint_loop(step, u, 9, directory=directory)

    for directory in (None, tmp_path):
        value, pullback = adbc.vjp(lambda u: f(u, directory), start)  # noqa: B023  # it is called at once
        assert value.tobytes() == start.tobytes()
        np.testing.assert_array_equal(pullback(np.ones(7))[0], np.ones(7))


def test_random_generators_are_put_back(tmp_path: Path) -> None:
    def f(x: float, directory: Any) -> float:
        rng = np.random.default_rng(3)

        def step(i: int, x: float) -> float:
            return x + 0.1 * rng.random() * math.cos(x)

        return adbc.checkpoint_loop(step, x, 20, snapshots=2, directory=directory)  # type: ignore[no-any-return]

    assert adbc.grad(f)(0.3, tmp_path) == adbc.grad(f)(0.3, None)


def test_files_are_there_meanwhile_and_gone_when_used(tmp_path: Path, capsys: Any) -> None:
    def files() -> int:
        return len([p for p in tmp_path.rglob("*") if p.is_file()])

    def step(i: int, u: Any) -> Any:
        print(files(), end=" ")
        return u * 1.01

    _, pullback = adbc.vjp(lambda u: adbc.checkpoint_loop(step, u, 16, directory=tmp_path), X)
    assert files() == 4
    capsys.readouterr()
    pullback(X)
    assert capsys.readouterr().out.split() == [*"4444", *"3333", *"2222", *"1111"]
    assert not list(tmp_path.iterdir())


def test_a_pullback_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    _, pullback = adbc.vjp(lambda u: adbc.checkpoint_loop(arrays, u, 16, directory=tmp_path), X)
    assert list(tmp_path.iterdir())
    del pullback
    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("at", [3, 20, 47])
def test_exceptions_leave_nothing(at: int, tmp_path: Path) -> None:
    calls = [0]

    def note() -> None:
        calls[0] += 1
        if calls[0] == at:
            raise RuntimeError("stop")

    def step(i: int, u: Any) -> Any:
        note()
        return u * 1.01

    with pytest.raises((RuntimeError, adbc.errors.UnsupportedError)) as caught:
        adbc.grad(lambda u: adbc.checkpoint_loop(step, u, 36, directory=tmp_path).sum())(X)
    del caught
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_states_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    def step(i: int, state: Any) -> Any:
        return [state[0] * 1.01, state[1]]

    def f(x: float, directory: Any) -> Any:
        return adbc.checkpoint_loop(step, [x, lambda: None], 9, directory=directory)[0]

    assert adbc.grad(f)(1.0, None) == pytest.approx(1.01**9)
    with pytest.raises(adbc.errors.UnsupportedError, match="cannot be written to a file"):
        adbc.grad(f)(1.0, tmp_path)
    assert not list(tmp_path.iterdir())


class Forgetful:
    """What is written of it is less than what it holds."""

    def __init__(self, x: float) -> None:
        self.x = x

    def __deepcopy__(self, memo: Any) -> Any:
        return Forgetful(self.x)

    def __getstate__(self) -> Any:
        return {"x": round(self.x, 3)}


def test_states_that_come_back_otherwise_are_refused(tmp_path: Path) -> None:
    def step(i: int, state: Any) -> Any:
        state.x = state.x * 1.01
        return state

    def f(x: float, directory: Any) -> Any:
        return adbc.checkpoint_loop(step, Forgetful(x), 9, directory=directory).x

    assert adbc.grad(f)(1.2345678, None) == pytest.approx(1.01**9)
    with pytest.raises(adbc.errors.UnsupportedError, match="is another one when it is read"):
        adbc.grad(f)(1.2345678, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_written_over_is_refused(tmp_path: Path) -> None:
    _, pullback = adbc.vjp(lambda u: adbc.checkpoint_loop(arrays, u, 16, directory=tmp_path), X)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            data = bytearray(path.read_bytes())
            data[data.index(X[-1].tobytes()[-3:])] ^= 1
            path.write_bytes(bytes(data))
    with pytest.raises(adbc.errors.UnsupportedError, match="is another one"):
        pullback(X)
    assert not list(tmp_path.iterdir())


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for directory in (tmp_path / "missing", 3):
        with pytest.raises(adbc.errors.ArgumentError, match="directory="):
            adbc.grad(lambda x, d=directory: adbc.checkpoint_loop(numbers, x, 9, directory=d))(1.0)


def test_pullbacks_that_run_again(tmp_path: Path) -> None:
    def f(u: Any) -> Any:
        return adbc.checkpoint_loop(arrays, u, 16, directory=tmp_path)

    def in_memory(u: Any) -> Any:
        return adbc.checkpoint_loop(arrays, u, 16)

    value, pullback = adbc.vjp(f, X, reusable=True)
    once = adbc.vjp(in_memory, X)[1](X)[0]
    for _ in range(3):
        np.testing.assert_array_equal(pullback(X)[0], once)
    for _ in range(3):
        x = np.linspace(0.1, 1.0, 12)
        np.testing.assert_allclose(adbc.jacrev(f)(x), adbc.jacrev(in_memory)(x), rtol=1e-13)
    del value, pullback
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_derivatives_of_gradients_run_the_loop_as_it_is(tmp_path: Path) -> None:
    def f(x: float, directory: Any) -> Any:
        return adbc.checkpoint_loop(numbers, x, 9, directory=directory)

    second = [adbc.grad(adbc.grad(f))(0.7, d) for d in (None, tmp_path)]
    assert second[0] == second[1]
    first = [adbc.jvp(f, (0.7, d), (1.0, None)) for d in (None, tmp_path)]
    assert first[0] == first[1]
    assert not list(tmp_path.iterdir())


def test_memory(tmp_path: Path) -> None:
    def peak(directory: Any) -> float:
        u = np.linspace(0.0, 1.0, 50_000)
        tracemalloc.start()
        adbc.grad(lambda u: adbc.checkpoint_loop(arrays, u, 100, taped=2, directory=directory).sum())(u)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found / u.nbytes

    peak(None)
    assert peak(None) > 50.0 > 25.0 > peak(tmp_path)


def test_files_say_that_they_are_out_of_sight(tmp_path: Path) -> None:
    files = Files(tmp_path, lambda found: b"")
    files.keep([1.0])
    assert Files.is_out_of_sight and files.keep(2.0).read() == 2.0
    files.close()
    files.close()
    assert not list(tmp_path.iterdir())
