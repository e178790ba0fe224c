"""Objects of libraries that were made before the call are constants until they are written to.

A function of C is given what stands there: where that counted as depending on the input, it was refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adbc
from tests.installed import installed

SOURCE = '''
"""Frames of data: numbers in memory that functions of C are given."""

import queue


class Block:
    def __init__(self, fill):
        self.cache = {"fill": fill, "name": "block"}


class Frame:
    def __init__(self, fill, rows=()):
        self.block = Block(fill)
        self.rows = list(rows)
        self.columns = {}

    def queued(self):
        """A number that has gone through memory of C which nobody can look into."""
        waiting = queue.SimpleQueue()
        waiting.put(self.block)
        return waiting.get().cache["fill"]

    def column(self):
        """What is kept of the frame, which is made when it is first asked for."""
        if "first" not in self.columns:
            self.columns["first"] = Frame(self.block.cache["fill"], self.rows)
        return self.columns["first"]

    def total(self):
        return sum(self.rows) + self.block.cache["fill"]
'''


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with installed(tmp_path_factory, "found_frames", SOURCE) as module:
        yield module


class Model:
    """An object of the program's that holds one of the library's."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def loss(self, x: float) -> float:
        return x * x * self.frame.column().queued()


FRAME: Any = None
FRAMES: dict[str, Any] = {}


def as_a_global(x: float) -> float:
    return x * x * FRAME.column().queued()


def in_a_dict(x: float) -> float:
    return x * x * FRAMES["a"].column().queued()


def as_an_argument(x: float, frame: Any) -> float:
    return x * x * frame.column().queued()


def in_a_closure(frame: Any) -> Callable[[float], float]:
    return lambda x: x * x * frame.column().queued()


def ways_to(frame: Any) -> dict[str, Callable[[float], Any]]:
    """By name, functions of a number that find `frame` in ways of their own."""
    return {
        "global": as_a_global,
        "dict": in_a_dict,
        "field": Model(frame).loss,
        "argument": lambda x: as_an_argument(x, frame),
        "closure": in_a_closure(frame),
    }


@pytest.mark.parametrize("way", ["global", "dict", "field", "argument", "closure"])
def test_they_are_handed_to_functions_of_c(
    frames: ModuleType, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    frame = frames.Frame(3.0, [1.0, 2.0])
    monkeypatch.setattr(f"{__name__}.FRAME", frame)
    monkeypatch.setitem(FRAMES, "a", frame)
    f = ways_to(frame)[way]
    for k in range(6):  # before and after something is kept in the frame, cold and as code
        x = 0.5 + k
        assert adbc.value_and_grad(f)(x) == (3.0 * x * x, 6.0 * x)
        assert adbc.jvp(f, (x,), (1.0,)) == (3.0 * x * x, 6.0 * x)
        assert f(x) == 3.0 * x * x


@pytest.mark.parametrize("calls", [1, 6])
def test_they_are_arguments_that_nobody_asks_for(frames: ModuleType, calls: int) -> None:
    frame = frames.Frame(3.0)
    frame.column()
    for _ in range(calls):
        assert adbc.value_and_grad(as_an_argument)(2.0, frame) == (12.0, 12.0)
        value, pullback = adbc.vjp(as_an_argument, 2.0, adbc.Const(frame))
        assert (value, pullback(1.0)[0]) == (12.0, 12.0)


def writes_a_field(x: float) -> float:
    FRAME.block.cache["fill"] = x * x
    return FRAME.total() * x


def writes_a_list(x: float) -> float:
    FRAME.rows.append(math.sin(x))
    return FRAME.total() * x


def writes_what_is_kept(x: float) -> float:
    FRAME.column().rows[0] = x * 2.0
    return FRAME.column().total() * x


def writes_by_another_name(x: float) -> float:
    """What stands in the frame was met by itself before the frame is."""
    ROWS[0] = x * x
    return FRAME.total() * x


def writes_the_dictionary(x: float) -> float:
    CACHE["fill"] = x * x
    return FRAME.total() * x


def writes_what_was_given(x: float) -> float:
    FRAME.block.cache["fill"] = x
    return FRAME.total() * x


ROWS: list[float] = []
CACHE: dict[str, Any] = {}
WRITERS = [
    writes_a_field, writes_a_list, writes_what_is_kept, writes_by_another_name, writes_the_dictionary,
    writes_what_was_given,
]  # fmt: skip


@pytest.mark.parametrize("writes", WRITERS)
def test_what_is_written_there_is_followed(
    frames: ModuleType, monkeypatch: pytest.MonkeyPatch, writes: Callable[[float], float]
) -> None:
    """The number that is written is the very object that stands there, too."""
    fill = 1.7

    def make() -> None:
        frame = frames.Frame(fill, [0.5, 2.0])
        frame.column()
        for name, value in [("FRAME", frame), ("ROWS", frame.rows), ("CACHE", frame.block.cache)]:
            monkeypatch.setattr(f"{__name__}.{name}", value)

    def plainly(x: float) -> float:
        make()
        return writes(x)

    slope = (plainly(fill + 1e-5) - plainly(fill - 1e-5)) / 2e-5
    wanted = pytest.approx(plainly(fill)), pytest.approx(slope)
    for _ in range(6):
        make()
        assert adbc.value_and_grad(writes)(fill) == wanted
        assert adbc.value_and_grad(writes)(2.0 * (0.5 * fill)) == wanted
        assert (FRAME.rows, FRAME.block.cache["fill"]) == ([0.5, 2.0], fill)  # it is as it was
        assert adbc.jvp(writes, (fill,), (1.0,)) == wanted


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("number", [1.7, 0.3])
@pytest.mark.parametrize("times", [1.0, 2.0])
def test_what_is_written_there_reaches_no_function_of_c(
    frames: ModuleType, monkeypatch: pytest.MonkeyPatch, mode: str, number: float, times: float
) -> None:
    monkeypatch.setattr(f"{__name__}.FRAME", frames.Frame(1.7))

    def f(x: float) -> float:
        FRAME.block.cache["fill"] = x if times == 1.0 else x * times
        return FRAME.queued() * x

    for _ in range(3):
        with pytest.raises(adbc.MissingRuleError, match="SimpleQueue"):
            adbc.grad(f)(number) if mode == "reverse" else adbc.jvp(f, (number,), (1.0,))


def test_what_shares_an_array_with_an_argument_is_followed(
    frames: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.array([1.0, 2.0, 3.0])
    monkeypatch.setattr(f"{__name__}.FRAME", frames.Frame(1.7, [values[:2], values[1:]]))

    def f(x: Any) -> Any:
        return (FRAME.total() * x[:2]).sum()

    for _ in range(4):
        assert adbc.grad(f)(values).tolist() == [1 + 1 + 2 + 1.7, 2 + 1 + 2 + 3 + 1.7, 2.0]
