"""Iterators that are asked by ``next``: in generators, where the end is caught, and in methods of others.

The programs are as those of `consumed`: a float and a list of floats are taken, floats are returned.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tests.programs.consumed import program, seen

__all__: list[str] = []


# -- generators that ask --------------------------------------------------------------------------------


def differences(values: Iterable[float]) -> Iterator[float]:
    it = iter(values)
    before = next(it)
    for value in it:
        yield seen("d", value - before)
        before = value


def pairs(it: Iterator[float]) -> Iterator[tuple[float, float]]:
    before = next(it)
    for value in it:
        yield before, value
        before = value


def smoothed(it: Iterator[float], weight: float = 0.25) -> Iterator[float]:
    y = next(it)
    yield y
    for value in it:
        y = weight * value + (1.0 - weight) * y
        yield y


@program
def differences_of_a_list(x: float, xs: list[float]) -> float:
    return sum(d * d for d in differences([x * v for v in xs]))


@program
def differences_of_a_generator(x: float, xs: list[float]) -> float:
    return sum(d * x for d in differences(seen("v", x * v) for v in xs))


@program
def a_pipe_of_generators(x: float, xs: list[float]) -> float:
    return sum((b - a) ** 2 for a, b in pairs(smoothed(x * v for v in xs)))


@program
def a_pipe_made_here(x: float, xs: list[float]) -> float:
    def source() -> Iterator[float]:
        for v in xs:
            yield x * v

    def scaled(it: Iterator[float], by: float = 0.5, *, plus: float = x) -> Iterator[float]:
        yield next(it)
        for v in it:
            yield by * v + plus

    return sum(scaled(source())) + sum(scaled(source(), plus=2.0)) + sum(scaled(source(), 0.1))


@program
def a_pipe_that_is_empty(x: float, xs: list[float]) -> float:
    try:
        return sum(differences(seen("v", v) for v in xs if v > 5.0)) + x
    except RuntimeError as error:
        return seen(str(error), x * x) * isinstance(error.__cause__, StopIteration)


@program
def an_iterator_in_c(x: float, xs: list[float]) -> float:
    it = zip(xs, xs, strict=True)
    return sum(a[0] * b[1] * x for a, b in pairs(it))  # type: ignore[arg-type, index]


# -- ends that are caught -------------------------------------------------------------------------------


@program
def in_chunks(x: float, xs: list[float]) -> float:
    def chunks(values: Iterable[float]) -> Iterator[float]:
        it = iter(values)
        while True:
            try:
                a = next(it)
                b = next(it)
            except StopIteration:
                return
            yield seen("chunk", a * b)

    return sum(chunks(x * v for v in xs)) + sum(chunks([x] * 3))


@program
def until_it_stops(x: float, xs: list[float]) -> float:
    it, total, count = iter(xs), 0.0, 0
    while True:
        try:
            total += next(it) * x
        except StopIteration:
            count += 1
            break
    return total * count


@program
def with_another_value(x: float, xs: list[float]) -> float:
    total = 0.0
    first, second = iter(xs), (x * v for v in xs[:2])
    for _ in range(7):
        try:
            a = next(first)
        except StopIteration:
            a = x
        try:
            b = next(second)
        except (StopIteration, KeyError):
            b = a * x
        else:
            total += seen("else", b)
        total += a * b
    return total


@program
def with_what_the_end_says(x: float, xs: list[float]) -> float:
    def giving() -> Any:
        yield x
        return x * x

    it, total = iter(giving()), 0.0
    while True:
        try:
            total += next(it)
        except StopIteration as stop:
            return seen("end", total + stop.value)


@program
def with_a_look_at_the_exception(x: float, xs: list[float]) -> float:
    it, total = iter(xs), 0.0
    while True:
        try:
            total += next(it) * x
        except StopIteration:
            total *= 2.0 if sys.exc_info()[0] is StopIteration else 3.0
            break
    return total


@program
def with_other_clauses(x: float, xs: list[float]) -> float:
    def failing() -> Iterator[float]:
        for k, v in enumerate(xs):
            if k == 3:
                raise ValueError("three")
            yield v * x

    total, it = 0.0, iter(failing())
    for _ in range(6):
        try:
            try:
                total += seen("next", next(it))
            except StopIteration:
                total += seen("stop", x)
            finally:
                total += seen("finally", 0.5 * x)
        except ValueError as error:
            total *= seen(str(error), x)
    return total


@program
def between_two_lists(x: float, xs: list[float]) -> float:
    """Merges two sorted lists, as one writes it down."""
    left, right = iter(sorted(xs)), iter([x * v for v in sorted(xs)])
    merged: list[float] = []
    a, b = next(left), next(right)
    while True:
        if a < b:
            merged.append(a)
            try:
                a = next(left)
            except StopIteration:
                merged.append(b)
                merged.extend(right)
                break
        else:
            merged.append(b)
            try:
                b = next(right)
            except StopIteration:
                merged.append(a)
                merged.extend(left)
                break
    return sum(k * v for k, v in enumerate(merged))


class Unending:
    """An iterator that has ends, and goes on behind them."""

    def __init__(self, x: float) -> None:
        self.x = x
        self.k = 0

    def __iter__(self) -> Unending:
        return self

    def __next__(self) -> float:
        self.k += 1
        if self.k % 3 == 0:
            raise StopIteration
        return self.x * self.k


@program
def that_goes_on_behind_its_end(x: float, xs: list[float]) -> float:
    it, total = iter(Unending(x)), 0.0
    for _ in range(7):
        try:
            total += next(it)
        except StopIteration:
            total *= 1.5
    return total


# -- objects --------------------------------------------------------------------------------------------


class Walk:
    def __init__(self, x: float, n: int) -> None:
        self.x = x
        self.n = n

    def __iter__(self) -> Iterator[float]:
        y = self.x
        for _ in range(self.n):
            yield seen("walk", y)
            y *= 0.5


@program
def objects_given_to_builtins(x: float, xs: list[float]) -> float:
    walk = Walk(x, len(xs))
    total = sum(walk) + max(walk) * min(Walk(x, 2)) + sum(v * v for v in walk)
    first, second = Walk(x, 2)
    walk.x = 2.0 * x
    return total + first * second + sorted(walk)[0] + len(tuple(walk))


# -- several steps in one statement ---------------------------------------------------------------------


@program
def several_steps_in_a_try(x: float, xs: list[float]) -> float:
    """What the first steps have given is wanted where a later one finds nothing."""
    it = iter([x, 2.0 * x, 3.0 * x])
    try:
        a = next(it)
        b = next(it)
        c = next(it)
        d = next(it)
    except StopIteration:
        return a * b * c
    return d


@program
def chunks_of_what_is_left(x: float, xs: list[float]) -> float:
    def taken(n: int, it: Iterator[float]) -> list[float]:
        out: list[float] = []
        for _ in range(n):
            try:
                out.append(next(it))
            except StopIteration:
                return out
        return out

    it, total = iter(x * v for v in xs), 0.0
    while chunk := taken(2, it):
        total += chunk[0] * chunk[-1] * len(chunk)
    return total


# -- iterators of classes -------------------------------------------------------------------------------


class Powers:
    """Begins anew where an iterator of it is asked for."""

    def __init__(self, x: float, n: int) -> None:
        self.x, self.n = x, n
        self.k = 0
        self.y = 1.0

    def __iter__(self) -> Powers:
        seen("iter", self.k)
        self.k, self.y = 0, 1.0
        return self

    def __next__(self) -> float:
        if self.k == self.n:
            raise StopIteration
        self.k += 1
        self.y *= self.x
        if self.k % 2:
            return seen("odd", self.y)
        return self.y


class Failing(Powers):
    def __next__(self) -> float:
        if self.k == 2:
            raise ValueError("two")
        return super().__next__()


class Ending(Unending):
    def __next__(self) -> float:
        if self.k > 4:
            raise StopIteration()
        self.k += 1
        return self.x * self.k


@program
def iterators_of_a_class(x: float, xs: list[float]) -> float:
    powers = Powers(x, len(xs))
    total = sum(v * v for v in powers)
    for v in powers:
        total += v
        if v < 0.3:
            break
    return total + powers.y * max(powers) + sum(Ending(x)) * len(list(Powers(x, 3)))


@program
def iterators_that_go_on(x: float, xs: list[float]) -> float:
    it, total = Unending(x), 0.0
    for _ in range(3):
        for v in it:
            total += v * x
    return total + it.k


@program
def iterators_in_step(x: float, xs: list[float]) -> float:
    it = Ending(x)
    pairs = [a * b for a, b in zip(it, it, strict=False)]
    return sum(pairs) + it.k * x + sum(a * v for a, v in zip(Powers(x, 3), xs, strict=False))


@program
def iterators_that_fail(x: float, xs: list[float]) -> float:
    it, total = Failing(x, 4), 0.0
    try:
        for v in it:
            total += v
    except ValueError as error:
        total *= seen(str(error), it.y)
    return total


# -- iterators whose methods call what ends them ----------------------------------------------------------


class Ahead:
    """Gives what another iterator gives, and can look at what is to come."""

    def __init__(self, source: Iterator[float]) -> None:
        self.source = source
        self.waiting: list[float] = []

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> float:
        if self.waiting:
            return self.waiting.pop(0)
        return self.source.__next__()

    def to_come(self, n: int) -> float:
        while len(self.waiting) <= n:
            try:
                self.waiting.append(self.source.__next__())
            except StopIteration:
                return 0.0
        return self.waiting[n]


class Calling:
    """Gives what a function gives, until that raises `StopIteration`."""

    def __init__(self, take: Any) -> None:
        self.take = take

    def __iter__(self) -> Calling:
        return self

    def __next__(self) -> float:
        return seen("c", self.take() * 2.0)


class Asking:
    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> Asking:
        return self

    def __next__(self) -> float:
        return self.source.send(None) + 1.0


def scaled(xs: Iterable[float], x: float) -> Iterator[float]:
    for value in xs:
        yield seen("s", x * value)


def with_the_next(xs: Iterator[float]) -> Iterator[float]:
    ahead = Ahead(xs)
    for value in ahead:
        yield value + 0.5 * ahead.to_come(0) * ahead.to_come(1)


def until_three(x: float) -> Any:
    taken = [0]

    def take() -> float:
        taken[0] += 1
        if taken[0] > 3:
            raise StopIteration
        return x * taken[0]

    return take


@program
def what_is_ahead(x: float, xs: list[float]) -> float:
    return sum(list(with_the_next(scaled(xs, x))))


@program
def what_is_ahead_of_constants(x: float, xs: list[float]) -> float:
    return x * sum(with_the_next(scaled([1.0, 2.0, 3.0], 0.5))) + xs[0]


@program
def a_loop_over_what_looks_ahead(x: float, xs: list[float]) -> float:
    ahead, total = Ahead(scaled(xs, x)), 0.0
    for value in ahead:
        total += value * ahead.to_come(0)
    return total


@program
def a_function_that_stops(x: float, xs: list[float]) -> float:
    return sum(Calling(until_three(x))) * xs[0]


@program
def a_method_that_was_taken(x: float, xs: list[float]) -> float:
    total = sum([v * x for v in Calling(scaled(xs, x).__next__)])
    return total + x * sum(Calling(scaled([1.0, 2.0], 1.0).__next__))


@program
def a_generator_that_is_sent_to(x: float, xs: list[float]) -> float:
    return sum(value * x for value in Asking(scaled(xs, x)))


@program
def in_a_generator_in_turn(x: float, xs: list[float]) -> float:
    def squares() -> Iterator[float]:
        for value in Calling(until_three(x)):
            yield value * value

    return sum(squares()) + max(squares()) * xs[1]
