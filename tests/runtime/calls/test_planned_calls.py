"""Calls that nothing is known of before they are made: how they are entered is decided once."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import functools
import math
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from tests.programs.checks import check_gradient

MODES = ["learn", "always", "never", "dynamic", "interpret"]


class Scaled:
    unit = 0.5

    def __init__(self, k: float, offset: float = 0.25) -> None:
        self.k, self.offset = k, offset

    def __call__(self, x: float) -> float:
        return self.k * x + self.offset

    def value(self, x: float, *more: float, power: int = 2, **named: float) -> float:
        return self.k * x**power + sum(more) + sum(named.values())


class Shifted(Scaled):
    unit = 2.0

    def __init__(self, k: float, *rest: float, **named: float) -> None:
        super().__init__(k, *rest)
        self.named = named

    def __call__(self, *xs: float) -> float:
        return self.k + xs[0]

    def value(self, x: float, *more: float, power: int = 3, **named: float) -> float:
        return self.k + x**power * named.get("by", 1.5)


@dataclasses.dataclass(frozen=True)
class Point:
    u: float
    v: float = 2.0


class Pair(NamedTuple):
    u: float
    v: float = 3.0


def plain(a: float, b: float = 2.0, /, c: float = 3.0, *, d: float = 4.0) -> float:
    return a * b + c * d


def spread(a: float, *rest: float, d: float = 0.5, **named: float) -> float:
    return a * d + sum(x * x for x in rest) + named.get("e", 1.0) * a


def calls_of_functions(x: float) -> float:
    total = 0.0
    for f in (plain, spread, plain, spread):
        total += f(x, x * x) + f(x, 0.5, d=x) + f(x) * f(x, x, 2.0)
    return total + spread(x, x, x, e=x, g=2.0)


def calls_of_methods(x: float) -> float:
    total = 0.0
    for obj in (Scaled(x), Shifted(2.0, x, by=x), Scaled(0.5, offset=x)):
        total += obj(x) + obj.value(x) + obj.value(x, x, 2.0, power=2) + obj.value(x, by=x * x)
    return total


def instances(x: float) -> float:
    total = 0.0
    for make in (Scaled, Shifted, Scaled):
        a, b = make(x), make(2.0, x)
        total += a.k * b.offset * make.unit
    return total


def records(x: float) -> float:
    total = 0.0
    for make in (Point, Pair, Point, Pair):
        a, b, c = make(x, x * x), make(1.0, 2.0), make(x)
        total += a.u * a.v + b.u * x + c.u * c.v
    return total


def values_in_c(x: float) -> float:
    total, day = 0.0, datetime.date(2024, 2, 28)
    for word in ("abc", "bcd", "cab"):
        if word.startswith("c") or word.upper()[0] == "A":
            total += x * day.timetuple().tm_yday
        day = day + datetime.timedelta(days=len(word))
    return total * float("1.5") + int("2") * x


def methods_of_numbers(x: float) -> float:
    total = 0.0
    for number in (x, 2.0, complex(x, 1.0), 3):
        total += number.conjugate().real + number.real * number.imag
    return total


def mapped(x: float) -> float:
    rates = {"a": x, "b": 2.0, "c": x * x}
    sums: dict[str, float] = collections.defaultdict(float)
    lists: dict[bool, list[float]] = collections.defaultdict(list)
    for name, rate in rates.items():
        sums[name[0]] += rate * x
        lists[name < "b"].append(rate)
    return sum(sums.values()) + lists[False][1] * lists[True][0]


def steps(x: float) -> Iterator[float]:
    while True:
        yield x
        x = x * 0.5 + 0.1


def kept_generators(x: float) -> float:
    kept = [steps(x), steps(2.0), steps(x * x)]
    return sum(next(g) * next(g) for g in kept) + next(kept[0])


def generators_that_end(x: float) -> float:
    log = [1.0, 2.0]

    def numbers(y: float) -> Iterator[float]:
        for i in range(3):
            yield y * (i + 1)
            y = y * 0.9
        log.append(y * 2.0)
        log[0] = log[0] * y

    kept = [numbers(x), numbers(2.0 * x)]
    total = 0.0
    for i in (0, 1):
        try:
            while True:
                total += next(kept[i]) * log[0]
        except StopIteration:  # what is tested
            pass
        total += next(kept[i], 0.5) * log[0]
    return total + log[0] * log[-1]


def space(x: float) -> float:
    p = types.SimpleNamespace(rate=x, power=2)
    q = types.SimpleNamespace(rate=2.0, power=1)
    return sum(s.rate**s.power * math.exp(-s.rate) for s in (p, q, p))


PROGRAMS: list[Callable[[float], float]] = [
    calls_of_functions, calls_of_methods, instances, records, values_in_c, methods_of_numbers, mapped,
    kept_generators, generators_that_end, space,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("mode", MODES)
def test_derivatives(f: Callable[[float], float], mode: str) -> None:
    step = 1e-4
    expected = (8 * (f(1.3 + step) - f(1.3 - step)) - f(1.3 + 2 * step) + f(1.3 - 2 * step)) / (12 * step)
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(3):
            assert adbc.value_and_grad(f)(1.3) == (f(1.3), pytest.approx(expected, rel=1e-8))
            assert adbc.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("f", PROGRAMS)
def test_they_settle(f: Callable[[float], float]) -> None:
    with adbc.use(adbc.Config(warm_after=0)):
        engine = default_engine()
        for _ in range(5):
            adbc.grad(f)(1.3)
        builds, plans = engine.builds, len(engine.plans)
        for _ in range(5):
            adbc.grad(f)(1.3)
        assert (engine.builds, len(engine.plans)) == (builds, plans)


@pytest.mark.parametrize("mode", MODES)
def test_arguments_that_do_not_fit(mode: str) -> None:
    def wrong(x: float) -> float:
        return sum(f(x, b=x) for f in (plain, spread))

    with adbc.use(adbc.Config(speculation=mode)), pytest.raises(TypeError, match="positional-only"):
        adbc.grad(wrong)(1.3)


def test_an_attribute_of_a_class_that_is_set_meanwhile() -> None:
    def f(x: float) -> float:
        class Own(Scaled):
            pass

        total = 0.0
        for cls in (Own, Shifted, Own):
            Own.unit = x * (1.0 + Own.unit)
            total += cls.unit * x
        return total

    step = 1e-4
    expected = (8 * (f(1.3 + step) - f(1.3 - step)) - f(1.3 + 2 * step) + f(1.3 - 2 * step)) / (12 * step)
    assert adbc.grad(f)(1.3) == pytest.approx(expected, rel=1e-8)
    assert adbc.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)


def test_an_init_that_returns_something() -> None:
    class Wrong(Scaled):
        def __init__(self, x: float) -> None:
            super().__init__(x)
            return x  # type: ignore[return-value]  # what is tested

    def f(x: float) -> float:
        return sum(make(x).k for make in (Scaled, Wrong))

    with pytest.raises(TypeError, match="should return None"):
        adbc.grad(f)(1.3)


def test_defaults_that_have_a_derivative() -> None:
    def f(x: float) -> float:
        def inner(y: float, *rest: float, k: float = x) -> float:
            return y * k + sum(rest)

        def other(y: float, *rest: float, k: float = 2.0) -> float:
            return y + k

        return sum(g(x, x) for g in (inner, other, inner))

    assert adbc.grad(f)(1.3) == pytest.approx(2 * (2 * 1.3 + 1) + 1)
    assert adbc.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(2 * (2 * 1.3 + 1) + 1)


def test_loops_over_items_know_their_slots() -> None:
    def f(x: float) -> float:
        rates = {"a": x, "b": 2.0}
        total = 0.0
        for name, rate in rates.items():
            total += rate * (x if name == "a" else 1.0)
        return total

    for _ in range(3):
        adbc.grad(f)(1.3)
    assert " dynamic " not in str(adbc.inspect.explain(f, 1.3))


class Account:
    def __init__(self, balance: float) -> None:
        self.balance = balance
        self.state = self.open

    def open(self, x: float) -> float:
        return self.balance * x

    def closed(self, x: float) -> float:
        return self.balance - x


class ByName(Account):
    def __init__(self, balance: float, name: str) -> None:
        super().__init__(balance)
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByName) and other.name == self.name


def of_equal_methods(x: float) -> float:
    one, two = Account(x), Account(2.0 * x)
    total = x
    if one.state == one.open:
        total *= 2.0
    if one.state == two.open:
        total *= 100.0
    if one.state != one.closed:
        total *= x
    return one.state(total)


def of_objects_as_keys(x: float) -> float:
    accounts = [Account(x), Account(x * x), ByName(3.0 * x, "a"), ByName(x, "b")]
    worth = {account: account.state(x) for account in accounts}
    worth[accounts[2]] *= 2.0
    again = worth.get(ByName(0.0, "b"), 0.0) + worth.setdefault(ByName(1.0, "c"), x)
    return sum(worth.values()) * again + worth[accounts[0]] * (accounts[1] in worth)


def of_starred(x: float) -> float:
    def weigh(a: float, *others: float, by: float = 1.0) -> float:
        return a * by + sum(others)

    rows = [[x, 2.0 * x], (x * x, x, 3.0), [1.0]]
    named = {"by": x}
    return sum(weigh(*row, **named) * max(*row, 0.5) for row in rows)


def of_sorted(x: float) -> float:
    pairs = [(x * k, [k * x], k) for k in (2.0, 1.0, 3.0, 1.0)]
    pairs.sort(key=lambda pair: -pair[0])
    pairs.append((x, [x], 0.0))
    words = sorted([3.0 * x, x, x * x], reverse=True)
    return pairs[0][0] * pairs[1][1][0] + words[0] * words[1] + 2.0 * pairs[-1][0] * pairs[3][2]


def of_next(x: float) -> float:
    numbers, total = iter([x, 2.0 * x, x * x]), 0.0
    try:
        while True:
            value = next(numbers)
            total += value * value
    except StopIteration:
        total *= x
    pairs = enumerate((x, 3.0 * x))
    next(pairs)
    i, last = next(pairs)
    return total + last * i + next(iter([]), 2.0 * x)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [of_equal_methods, of_objects_as_keys, of_starred, of_sorted, of_next])
def test_what_is_decided_at_once(function: Callable[[float], float], mode: str) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(3):
            check_gradient(function, 0.7)


def test_functions_of_one_class_that_are_handed_over_are_told_apart() -> None:
    def of(combine: Any, x: Any) -> Any:
        return combine.reduce(np.array([x, 2.0 * x])) * combine(x, 3.0)

    functions = (np.maximum, np.multiply, np.add, np.hypot)
    for _ in range(3):
        for combine in functions:
            slope = (of(combine, 1.5 + 1e-6) - of(combine, 1.5 - 1e-6)) / 2e-6
            assert adbc.grad(of, 1)(combine, 1.5) == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(functools.partial(of, combine), (1.5,), (1.0,))[1] == pytest.approx(
                slope, rel=1e-6
            )
