"""Variables of closures that are read in loops, and those who set them meanwhile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_second_derivative

Function = Callable[[float], Any]


def kept(x: float) -> Any:
    """Nobody sets what is read."""
    means = [x, x * x, 2.0]
    scale = x / 3

    def deviation(i: int) -> Any:
        total = 0.0
        for a in (1.0, 2.5, 4.0, x):
            total += scale * (a - means[i]) * (a - means[0])
        return total

    return sum(deviation(i) for i in range(3))


def set_by_itself(x: float) -> Any:
    """The function that reads the variable in a loop sets it there."""
    state = x

    def step(n: int) -> Any:
        nonlocal state
        total = 0.0
        for k in range(n):
            total += state * k
            state = state * 0.5 + x
        return total

    return step(3) + step(2) + state


def set_by_a_function_it_calls(x: float) -> Any:
    rate = x

    def slow_down() -> float:
        nonlocal rate
        rate = rate * 0.7
        return rate

    def travelled(n: int) -> Any:
        way = 0.0
        for _ in range(n):
            way += rate
            way += slow_down() * rate
        return way

    return travelled(4) + rate


def set_by_a_property(x: float) -> Any:
    seen = x

    class Sensor:
        @property
        def value(self) -> float:
            nonlocal seen
            seen = seen + 0.25
            return seen

    def read(sensor: Sensor) -> Any:
        total = 0.0
        for _ in range(4):
            total += seen * sensor.value
        return total

    return read(Sensor())


def set_by_an_operator(x: float) -> Any:
    count = x

    class Number:
        def __init__(self, v: float) -> None:
            self.v = v

        def __add__(self, other: Any) -> Any:
            nonlocal count
            count = count * 1.25
            return Number(self.v + (other.v if isinstance(other, Number) else other))

    def summed(numbers: list[Any]) -> Any:
        total = Number(0.0)
        for n in numbers:
            total = total + n
            total.v += count
        return total.v

    return summed([Number(x), 2.0, Number(3.0)])


def set_by_a_comparison(x: float) -> Any:
    count = x

    class Key:
        def __eq__(self, other: object) -> bool:
            nonlocal count
            count = count * 1.25
            return False

        __hash__ = None  # type: ignore[assignment]

    def look(keys: list[Any]) -> Any:
        total = 0.0
        for k in range(3):
            total += count
            if k in keys:
                total += 1.0
            total += count * k
        return total

    return look([Key(), 7])


def set_while_a_generator_waits(x: float) -> Any:
    """The function around sets what a generator reads, each time that this waits."""
    gain = x

    def amplified(signal: list[float]) -> Iterator[float]:
        for s in signal:
            yield s * gain
            yield gain

    total = 0.0
    for y in amplified([1.0, 2.0, 3.0]):
        total += y * y
        gain = gain + 0.5 * x
    return total


def around_is_a_generator(x: float) -> Any:
    """A closure drives the generator around it, which sets what the closure reads."""

    def around() -> Iterator[Any]:
        level = x

        def reads(steps: int) -> Any:
            total = 0.0
            for _ in range(steps):
                total += level
                next(itself)
            return total

        yield reads
        while True:
            level = level * 1.5
            yield None

    itself = around()
    reads = next(itself)
    return reads(3)


def empty_and_not_read(x: float) -> Any:
    """The variable has no value, and the loop that would read it is not entered."""

    def total(n: int) -> Any:
        y = x
        for _ in range(n):
            y += later * y
        return y

    first = total(0)
    later = x * 2
    return first + total(2)


def deleted(x: float) -> Any:
    table = [x, 2 * x]

    def read(n: int) -> Any:
        y = 0.0
        try:
            for k in range(n):
                y += table[k % 2]
        except NameError:
            y = 10 * x
        return y

    before = read(3)
    del table
    return before + read(2) + read(0)


def another_list_each_time(x: float) -> Any:
    row = [x]

    def use() -> Any:
        total = 0.0
        for k in range(3):
            total += row[-1] * k
        return total

    found = 0.0
    for k in range(4):
        row = [*row, x + k]
        found += use()
    return found


def of_changing_type(x: float) -> Any:
    weight: Any = 2

    def weighed() -> Any:
        total = 0.0
        for k in range(3):
            total += weight * k
        return total

    found = weighed()
    weight = x
    found += weighed()
    weight = complex(x, 1.0)
    return found + weighed().real


def in_nested_loops(x: float) -> Any:
    grid = [[x, 1.0], [2.0, x * x]]
    factor = math.sin(x)

    def energy() -> Any:
        total = 0.0
        for i in range(2):
            for j in range(2):
                total += factor * grid[i][j]
                grid[i][j] += total
        return total

    return energy() + energy()


def written_through(x: float) -> Any:
    """The list in the variable is changed by those who are called."""
    path = [x]

    def extend(k: int) -> None:
        path.append(path[-1] * (1 + 0.1 * k))

    def length() -> Any:
        total = 0.0
        for k in range(4):
            extend(k)
            total += path[-1] * path[0]
        return total

    return length() + len(path) * x


def read_between(x: float) -> Any:
    low, high = -2.0, x + 5.0

    def f(t: float) -> float:
        return t * t - x

    def bisect() -> Any:
        nonlocal low, high
        while high - low > 1e-2:
            middle = 0.5 * (low + high)
            if f(middle) > 0:
                high = middle
            else:
                low = middle
        return low * x + high

    return bisect()


class Counter:
    """A method whose closures share variables with it."""

    def __init__(self, x: float) -> None:
        self.x = x

    def total(self) -> Any:
        base = self.x

        def inner(n: int) -> Any:
            s = 0.0
            for k in range(n):
                s += base * self.x * k
            return s

        return inner(3) + inner(2)


def in_a_method(x: float) -> Any:
    return Counter(x).total()


PROGRAMS = [
    kept, set_by_itself, set_by_a_function_it_calls, set_by_a_property, set_by_an_operator,
    set_by_a_comparison, set_while_a_generator_waits, around_is_a_generator, empty_and_not_read, deleted,
    another_list_each_time, of_changing_type, in_nested_loops, written_through, in_a_method,
]  # fmt: skip


DEFINING = (set_by_a_property, set_by_an_operator, set_by_a_comparison)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Function) -> None:
    for _ in range(3):
        check_gradient(f, 1.3)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_in_each_way(f: Function, speculation: str) -> None:
    for _ in range(3):
        check_gradient(f, 1.3)


@pytest.mark.parametrize(
    "f", [f for f in PROGRAMS if f not in DEFINING], ids=lambda f: f.__name__
)  # classes are not defined within two derivatives
def test_second_derivatives(f: Function) -> None:
    check_second_derivative(f, 1.3, rtol=1e-5, atol=1e-6)


def test_the_value_of_a_search_that_ends_by_numbers() -> None:
    value, slope = adbc.value_and_grad(read_between)(1.3)
    assert value == read_between(1.3)
    assert slope == pytest.approx(adbc.jvp(read_between, (1.3,), (1.0,))[1])


def test_the_error_of_an_empty_variable_comes_where_it_is_read(at_once: None) -> None:
    done: list[int] = []

    def f(x: float, n: int) -> Any:
        def total() -> Any:
            y = x
            for k in range(n):
                done.append(k)
                y += later * y
            return y

        if n < 3:
            later = x
        return total()

    gradient = adbc.grad(f)
    for _ in range(3):
        assert gradient(2.0, 0) == 1.0
        assert gradient(2.0, 2) == pytest.approx((f(2.0001, 2) - f(1.9999, 2)) / 2e-4)
        with pytest.raises(NameError, match="cannot access free variable 'later'"):
            gradient(2.0, 3)


def many(x: float) -> Any:
    means = [x, 2.0]
    data = [0.1 * k for k in range(200)]

    def deviation(i: int) -> Any:
        total = 0.0
        for a in data:
            total += (a - means[i]) * (a - means[0])
        return total

    return deviation(1)


def test_what_a_loop_reads_costs_little(at_once: None) -> None:
    gradient = adbc.grad(many)
    for _ in range(6):
        gradient(1.3)
    assert executed(lambda: gradient(1.3)) < 9 * executed(lambda: many(1.3))
