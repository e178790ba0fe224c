"""The garbage collector is patient in the forwards passes of derivatives, and as before behind them."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest

import adbc
from adbc.collector import Patience

FEW = 200, 10, 10


@pytest.fixture(autouse=True)
def few_objects() -> Iterator[None]:
    """The collector comes often, so that it comes in the programs of these tests."""
    before = gc.get_threshold()
    gc.set_threshold(*FEW)
    yield
    gc.set_threshold(*before)


@pytest.fixture
def waits() -> Iterator[list[int]]:
    """For how many objects the collector waited, each time that it had come."""
    found: list[int] = []

    def note(phase: str, info: object) -> None:
        if phase == "stop":
            found.append(gc.get_threshold()[0])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def records(x: float) -> float:
    """A loop that keeps what it makes."""
    made = [[x * k] for k in range(3000)]
    return made[-1][0]


def test_the_collector_waits_in_a_pass(waits: list[int]) -> None:
    for _ in range(3):
        assert adbc.grad(records)(2.0) == 2999.0
        assert gc.get_threshold() == FEW
        assert adbc.jvp(records, (2.0,), (1.0,))[1] == 2999.0
        assert gc.get_threshold() == FEW
    assert Patience.OBJECTS in waits


def test_outside_it_comes_as_ever(waits: list[int]) -> None:
    adbc.grad(records)(2.0)
    waits.clear()
    records(2.0)
    assert set(waits) == {FEW[0]}


def test_short_calls_do_not_touch_it(waits: list[int]) -> None:
    gradient = adbc.grad(lambda x: x * x)
    for _ in range(60):
        gradient(2.0)
    gc.collect()
    waits.clear()
    for _ in range(1000):
        gradient(2.0)
    assert Patience.OBJECTS not in waits


def test_an_exception_ends_it() -> None:
    def f(x: float) -> float:
        kept = [[x * k] for k in range(3000)]
        return kept[4000][0]

    for _ in range(2):
        with pytest.raises(IndexError):
            adbc.grad(f)(2.0)
        assert gc.get_threshold() == FEW


def test_what_the_program_says_in_the_meantime_stays() -> None:
    def f(x: float) -> float:
        kept = [[x * k] for k in range(3000)]
        gc.set_threshold(1234, 5, 6)
        return kept[-1][0]

    assert adbc.grad(f)(2.0) == 2999.0
    assert gc.get_threshold() == (1234, 5, 6)


@pytest.mark.parametrize("often", [0, 10 * Patience.OBJECTS])
def test_a_collector_that_comes_seldom_is_left_alone(often: int) -> None:
    patience = Patience()
    gc.set_threshold(often, 10, 10)
    patience.ask()
    assert not patience.is_asked
    assert gc.get_threshold()[0] == often


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        assert adbc.grad(records)(2.0) == 2999.0
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert gc.get_threshold() == FEW


class Node:
    def __init__(self) -> None:
        self.itself = self


def test_garbage_does_not_grow_without_bounds() -> None:
    patience, alive = Patience(), set[int]()
    patience.ask()
    assert patience.is_asked
    most = 0
    for k in range(4 * Patience.OBJECTS):
        node = Node()
        weakref.finalize(node, alive.discard, k)
        alive.add(k)
        most = max(most, len(alive))
    patience.end()
    assert most <= 2 * Patience.OBJECTS
    assert gc.get_threshold() == FEW


def test_threads_put_it_back_together() -> None:
    threads = [threading.Thread(target=adbc.grad(records), args=(2.0,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.get_threshold() == FEW
