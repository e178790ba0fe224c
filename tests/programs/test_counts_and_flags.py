"""Fields and elements without a derivative that programs set over and over: counts, flags, texts, places."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative


class Voice:
    """An oscillator that is asked step by step, as a generator is."""

    def __init__(self, frequency: float, rate: float) -> None:
        self.frequency, self.rate = frequency, rate
        self.phase = 0.0
        self.steps = 0
        self.is_running = False
        self.name: str | None = None

    def __iter__(self) -> Voice:
        return self

    def __next__(self) -> float:
        if self.is_running:
            raise ValueError(self.name)
        self.is_running = True
        self.steps += 1
        self.name = "voice"
        value = math.sin(self.phase)
        self.phase += self.frequency / self.rate
        self.is_running = False
        return value


def chord(x: float) -> float:
    voices = [Voice(x, 2.0), Voice(x * x, 3.0), Voice(1.5 * x, 4.0)]
    total = 0.0
    for k in range(12):
        for voice in voices:
            total += next(voice) * (k + voice.steps)
    return total + sum(voice.phase * voice.steps for voice in voices)


class Machine:
    """One whose state says what comes next."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.state = "idle"
        self.last: str | None = None
        self.visits = 0

    def step(self, push: float, tick: int) -> None:
        self.last = self.state
        if self.state == "idle":
            self.state = "rising" if tick % 5 > 1 else "idle"
        elif self.state == "rising":
            self.level += push * 0.5
            if self.visits % 4 == 1:
                self.state = "falling"
        else:
            self.level *= 0.7
            if tick % 3 == 0:
                self.state = "idle"
        self.visits += self.state != self.last


def machine(x: float) -> float:
    made = Machine(x)
    total = 0.0
    for k in range(25):
        made.step(x * (k % 5) * 0.3, k)
        total += made.level * (1 + made.visits)
    return total


def tallies(x: float) -> float:
    """Elements of lists that count, and a list that two names have."""
    counts = [0] * 4
    same = counts
    weights = [x, 2.0 * x, x * x, 1.0]
    for k in range(20):
        at = (k * k + 1) % 4
        counts[at] += 1
        weights[at] *= 1.0 + 0.01 * same[at]
        same[at] += 1
    return sum(c * w for c, w in zip(counts, weights, strict=True))


class Cell:
    def __init__(self, value: Any) -> None:
        self.value = value


def becomes_a_number(x: float) -> float:
    """A field that holds a count, then a number with a derivative, then a count."""
    cell, total = Cell(0), 0.0
    for k in range(9):
        cell.value += 1
        total += cell.value * x
        cell.value = cell.value * x
        total += cell.value**2
        cell.value = k
    return total


def by_its_dictionary(x: float) -> float:
    """A count that is also set as an item of what ``vars`` gives."""
    cell, total = Cell(1), 0.0
    fields = vars(cell)
    for k in range(6):
        cell.value += 1
        fields["value"] = cell.value + k
        total += cell.value * x
    return total


def two_names(x: float) -> float:
    """A count that is set by another name of the same object."""
    first = Cell(1)
    second = first if x > 0 else Cell(2)
    total = 0.0
    for _ in range(6):
        first.value += 1
        second.value += 2
        total += first.value * x * second.value
    return total


class Emptied:
    """One that has a flag at times."""

    def __init__(self) -> None:
        self.flag = True


def deleted_and_set(x: float) -> float:
    made, total = Emptied(), 0.0
    for k in range(6):
        if made.flag:
            total += x * k
        made.flag = not made.flag
        del made.flag
        made.flag = k % 3 == 0
    return total


PROGRAMS: list[Callable[[float], float]] = [
    chord, machine, tallies, becomes_a_number, by_its_dictionary, two_names, deleted_and_set,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], float], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8):
        check_gradient(program, at)


@pytest.mark.parametrize("program", [chord, machine, tallies])
def test_second_derivatives(program: Callable[[float], float]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], float]) -> None:
    check_once_warm(program)


def count_up(voice: Voice, counts: list[int]) -> float:
    total = 0.0
    for k in range(5):
        total += next(voice) * (k + 1)
        counts[k % 2] += 1
        voice.steps += counts[0]
    return total * voice.steps


def test_what_was_given_is_put_back() -> None:
    """Behind a gradient, objects and lists that were given are as they were, as behind a plain call that a
    pullback takes back."""
    counts = [3, 4]
    for _ in range(60):
        voice = Voice(0.8, 2.0)
        value, pullback = adbc.vjp(count_up, voice, counts)
        assert (voice.steps, voice.name, counts) == (5 + 4 + 4 + 5 + 5 + 6, "voice", [6, 6])
        pullback(1.0)
        assert (voice.steps, voice.name, voice.is_running, counts) == (0, None, False, [3, 4])
        assert voice.phase == 0.0
        assert value == count_up(Voice(0.8, 2.0), [3, 4])


def test_a_constant_is_counted_in() -> None:
    """An object that is no argument has no shadow: a count in it is set as it stands."""
    seen = Cell(0)

    def program(x: float) -> float:
        total = 0.0
        for _ in range(4):
            seen.value += 1
            total += x * seen.value
        return total

    for k in range(60):
        before = seen.value
        assert adbc.grad(program)(2.0) == 4 * before + 10
        assert seen.value == before, k
