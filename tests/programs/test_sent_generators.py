"""Generators that are sent values, closed, asked where exceptions are caught, and made by `chain`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

import adbc
from adbc.inspect import show
from tests.programs.checks import check_gradient


def averager(weight: float) -> Generator[float, float, None]:
    total, n, average = 0.0, 0, 0.0
    while True:
        total += weight * (yield average)
        n += 1
        average = total / n


def controller(proportional: float, integral: float) -> Generator[float, float, None]:
    total = last = signal = 0.0
    while True:
        error = yield signal
        total += error
        signal = proportional * error + integral * total + 0.1 * (error - last)
        last = error


def remembering(k: float) -> Generator[float, float | None, None]:
    first = yield k
    second = yield (k * first if first else 0.5)
    third = yield first * 2.0 if first else 1.0
    for value in (first, second, third):
        yield 0.1 if value is None else value * k


def few(k: float) -> Iterator[float]:
    for i in range(4):
        yield k * i
        yield math.sin(k * i)


def breaking(k: float, at: float) -> Iterator[float]:
    v = k
    while True:
        yield v
        v = v * 1.5 + k
        if v > at:
            raise ValueError("too large")


def averages(x: float) -> float:
    g = averager(x)
    next(g)
    return sum(g.send(0.1 * i) ** 2 for i in range(8))


def controlled(x: float) -> float:
    control = controller(x, 0.3)
    control.send(None)  # type: ignore[arg-type]
    y = cost = 0.0
    for _ in range(10):
        y += 0.1 * (control.send(1.0 - y) - y)
        cost += (1.0 - y) ** 2
    return cost


def remembered(x: float) -> float:
    g = remembering(x)
    s = next(g)
    s += g.send(x * x)
    s += g.send(0.3) * x
    for v in g:
        s += v * s
    return s


def two_at_once(x: float) -> float:
    p, q = averager(x), averager(0.5)
    s = next(p) + next(q)
    for i in range(6):
        s += p.send(q.send(x * i) + 0.1 * i)
    return s


def made_again(x: float) -> float:
    s = x
    for i in range(3):
        g = remembering(s + i)
        next(g)
        s += g.send(s * 0.1)
        g.close()
        s += next(g, 0.25)
    return s


def until_it_stops(x: float) -> float:
    g, s = few(x), 0.0
    while True:
        try:
            v = next(g)
        except StopIteration:
            break
        s += v * v
    return s + next(g, 0.5) * x


def until_it_breaks(x: float) -> float:
    g, s = breaking(x, 4.0), 0.0
    for _ in range(12):
        try:
            s += next(g)
        except ValueError:
            s *= 1.5
        except StopIteration:
            s += 0.1 * x
    return s


def caught_in_a_loop(x: float) -> float:
    s = 0.0
    try:
        for v in breaking(x, 3.0):
            s += v
    except ValueError as error:
        s *= len(str(error)) * 0.1
    return s


def raising_body(x: float) -> float:
    g, s = few(x), 0.0
    for _ in range(3):
        try:
            for v in g:
                s += v
                if s > 0.5:
                    raise KeyError(s)
        except KeyError:
            s -= 0.4
    return s + sum(g)


def two_handlers(x: float) -> float:
    g, s = breaking(x, 3.0), 0.0
    s += next(g)
    try:
        s += next(g) * 2.0
        s += next(g) * 3.0
    except ValueError:
        s *= 2.0
    try:
        s += next(g)
    except (StopIteration, ValueError):
        s += x
    return s


def sent_too_early(x: float) -> float:
    g, s = remembering(x), x
    try:
        s += g.send(x)
    except TypeError:
        s += next(g) * 2.0
    return s + g.send(x * s)


def asked_by_a_handler(x: float) -> float:
    g, h, s = few(x), few(x * x), next(few(2.0 * x))
    s += next(g) + next(h)
    try:
        g.close()
    except ValueError:
        s = s * 0.9 + next(g, 0.5)
    try:
        h.close()
    except ValueError:
        h.close()
    for v in g:
        s += v
    return s + next(h, x * x)


def closed_only(x: float) -> float:
    g = few(x)
    try:
        g.close()
    except ValueError:
        return next(g)
    return x * x


def chained(x: float) -> float:
    return sum(v * v for v in itertools.chain(few(x), [x, 2.0], few(2.0 * x)))


def chained_two(x: float) -> float:
    return sum(i * v for i, v in enumerate(itertools.chain(few(x), few(x * x))))


def cubes(x: float) -> float:
    return sum(a * b + c for a, b, c in itertools.product([x, x * x, 1.0], repeat=3))


WRITTEN_IN: list[Callable[[float], float]] = [
    averages, controlled, remembered, two_at_once, made_again, until_it_stops, until_it_breaks,
    caught_in_a_loop, raising_body, two_handlers, sent_too_early,
    asked_by_a_handler, chained, chained_two, cubes,
]  # fmt: skip


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("program", [*WRITTEN_IN, closed_only])
def test_gradient(program: Callable[[float], float]) -> None:
    check_gradient(program, 0.7)
    check_gradient(program, 1.3)


@pytest.mark.parametrize("program", WRITTEN_IN)
def test_no_generator_is_made(program: Callable[[float], float]) -> None:
    text = str(show(program, (0.7,), stage="normal"))
    made = [
        name
        for name in ("averager", "controller", "remembering", "few", "breaking")
        if f"call tests.programs.test_sent_generators.{name}(" in text
    ]
    assert not made and "product" not in text.partition("entry:")[2]


def delegating(k: float) -> Generator[float, float | None, None]:
    yield from remembering(k)
    yield k


def returning(k: float) -> Generator[float, float, float]:
    a = yield k
    return a * k


def sent_on(x: float) -> float:
    g = delegating(x)
    return next(g) + g.send(x * x) + (g.send(0.3) or 0.0) + sum(g)


def what_is_returned(x: float) -> float:
    g = returning(x)
    s = next(g)
    try:
        g.send(x * x)
    except StopIteration as stop:
        s += stop.value
    return s


def thrown(x: float) -> float:
    g, s = few(x), 0.0
    s += next(g)
    try:
        g.throw(KeyError("k"))  # type: ignore[attr-defined]
    except KeyError:
        s += x * x
    return s + next(g, 0.5)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("program", [sent_on, what_is_returned, thrown])
def test_generators_that_stay_objects(program: Callable[[float], float]) -> None:
    check_gradient(program, 0.7)


def sent_first(x: float) -> float:
    return averager(x).send(x)


def sent_to_the_end(x: float) -> float:
    g = remembering(x)
    for _ in few(x):
        x += g.send(None) * 0.1
    return x


def sent_to_a_chain(x: float) -> float:
    return itertools.chain([x], [2.0 * x]).send(None)  # type: ignore[attr-defined,no-any-return]


def closed_map(x: float) -> float:
    values = map(math.sin, [x, 2.0 * x])
    next(values)
    values.close()  # type: ignore[attr-defined]
    return x


def raised(f: Callable[[float], Any]) -> str:
    with pytest.raises((TypeError, StopIteration, RuntimeError, ValueError)) as caught:
        f(0.7)
    return repr(caught.value)


@pytest.mark.parametrize("program", [sent_first, sent_to_the_end])
def test_errors_are_those_of_the_program(program: Callable[[float], float]) -> None:
    told = raised(program)
    for _ in range(3):
        assert raised(adbc.grad(program)) == told
        assert raised(lambda x: adbc.jvp(program, (x,), (1.0,))) == told


@pytest.mark.parametrize("program", [sent_to_a_chain, closed_map])
def test_iterators_in_c_have_no_methods_of_generators(program: Callable[[float], float]) -> None:
    name = "send" if program is sent_to_a_chain else "close"
    for f in (program, adbc.grad(program), lambda x: adbc.jvp(program, (x,), (1.0,))):
        for _ in range(3):
            with pytest.raises(AttributeError, match=f"object has no attribute '{name}'"):
                f(0.7)
