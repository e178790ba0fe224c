"""Functions of short lists and tuples of numbers, and what is read from these."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.rules.elements import WrittenRule
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_second_derivative

NAN, INF = math.nan, math.inf


def distances(x: float) -> Any:
    total, here = 0.0, (x, 1.0)
    for k in range(4):
        there = (x * k, 2.0 - x)
        total += math.dist(here, there) + math.dist([x], [k]) * math.dist((x, x * x, 1), (k, 0.5, 2))
        here = there
    return total + math.dist(here, here) + math.hypot(x, 2 * x, x * x, 0.5)


def medians(x: float) -> Any:
    total = 0.0
    for k in range(5):
        a, b = x * k - 1.0, 2.0 - x
        total += sorted([a, b, x])[1] + sorted((a, b))[0] * sorted([x, a, b, 0.3, k])[-2]
        low, middle, high = sorted([x, b, a], reverse=True)
        total += low * middle + 3.0 * high + sum(sorted([a, b, x, 1.1])[1:3])
    return total


def means(x: float) -> Any:
    total = 0.0
    for k in range(4):
        values = [x, x * k, 1.5]
        total += statistics.fmean(values) * math.prod([x, 2, k + x]) + math.fsum((x, k, x * x))
        total += math.prod(values, start=x) + sum(values, start=x) + sum((k, x, True)) + math.prod([])
        total += len(values) * values[-1] + values[0] / (2.0 + values[1 - k % 2 * 2])
    return total


class Table:
    def __init__(self, x: float) -> None:
        self.low, self.high, self.scale = x, x * x, 3

    def at(self, k: int) -> Any:
        return [self.low, self.high, self.scale][k % 3] + (self.high, 0.0)[k % 2]

    def ends(self) -> Any:
        return ([self.low, self.high] + [self.low] * 2)[::-1][k_of(self)], (self.low, self.high, 1.0)[1:]


def k_of(table: Table) -> int:
    return -2 if table.scale == 3 else 0


def of_methods(x: float) -> Any:
    table, total = Table(x), 0.0
    for k in range(-3, 5):
        end, (middle, last) = table.ends()
        total += table.at(k) * end + middle * last
    return total


def lists_that_grow(x: float) -> Any:
    seen: list[Any] = []
    for k in range(5):
        seen.append(max([x, 0.2 * k]) * sum([x, k]))
        window = seen[-3:]
        total = math.fsum(window) + math.prod(window) + sorted(window)[0] + statistics.fmean(window)
        pair = [total, x]
        pair[0] += 1.0
        seen[-1] = pair[0] * pair[1] / len(pair)
    return sum(seen) + math.dist(seen[:2], seen[2:4])


def shared(x: float) -> Any:
    one = [x, 2.0 * x]
    other, both = one, [one, one]
    before = math.fsum(one) + one[0]
    other[0] = x * x
    both[1].append(3.0 * x)
    return before * math.fsum(one) * len(one) + math.prod(both[0]) + sorted(other)[2]


def in_a_closure(x: float) -> Any:
    scale = 2.0

    def nearest(*points: Any) -> Any:
        return sorted([math.dist(point, (x, scale)) for point in points])[0]

    return nearest((1.0, 1.0), (x * x, 0.0), (0.0, x)) * max(range(3), key=lambda k: sum([k, x]))


def in_a_try(x: float) -> Any:
    total = 0.0
    for k in range(4):
        try:
            total += [x, x * x, 2.0][k] + math.fsum([x, k]) + sorted([x, 1.0])[0] + math.prod([x, x])
        except IndexError as error:
            total += len(str(error)) * x
    return total


def loops(x: float) -> Any:
    total = 0.0
    for k in range(4):
        values, weights = [x, x * k, 1.0], [k, 2.0, x]
        total += sum(v * w for v, w in zip(values, weights, strict=True)) + max(values) * min(weights)
        total += math.sqrt(sum(v * v for v in values)) + max([x, k, -x, 2.0 * x, 0.1])
        for v in values:
            total += v * x
            if v > 0.3 * k:
                break
        for v in values:
            weights.append(v)
        for w in weights:
            if len(weights) < 8:
                weights.append(w * x)
            total += w
    return total


PROGRAMS = [
    distances, medians, means, of_methods, lists_that_grow, shared, in_a_closure, in_a_try, loops,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_short_sequences(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(4):
        check_gradient(function, 0.7)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.usefixtures("at_once")
def test_when_all_is_known_at_once(function: Callable[[float], Any]) -> None:
    for _ in range(3):
        check_gradient(function, 0.7)


@pytest.mark.parametrize("function", [distances, medians, means, in_a_closure], ids=lambda f: f.__name__)
@pytest.mark.usefixtures("at_once")
def test_second_derivatives(function: Callable[[float], Any]) -> None:
    check_second_derivative(function, 0.7, rtol=1e-5)


NUMBERS = [0.1, 0.2, 0.3, -0.0, 0.0, 1e16, -1e16, 1.0, NAN, INF, -INF, 3, True, 2**70]


@pytest.mark.usefixtures("at_once")
def test_values_are_those_of_the_functions_in_every_bit() -> None:
    def f(x: Any, y: Any, z: Any) -> Any:
        a = sum([x, y, z]), sum((x, y), z), math.fsum([x, y, z]) if x == x and y == y and z == z else 0.0
        b = math.prod([x, y, z]), sorted([x, y, z]), sorted([z, x, y], reverse=True), sorted([x, y])
        return a, b, sorted([x, y, z, y, x]), math.dist((x, y), (z, x)), [x, y, z][::-1], [x, y] * 2

    for i, x in enumerate(NUMBERS):
        y, z = NUMBERS[(3 * i + 1) % len(NUMBERS)], NUMBERS[(5 * i + 2) % len(NUMBERS)]
        for given in ((x, y, z), (y, x, z), (z, y, x), (0.5, x, y)):
            try:
                expected: Any = repr(f(*given))
            except (OverflowError, ValueError) as error:
                expected = error
            tangents = tuple(0.5 if type(v) is float else adbc.NoTangent() for v in given)
            for run in (
                lambda given: adbc.vjp(f, *given)[0],
                lambda given: adbc.jvp(f, given, tangents)[0],  # noqa: B023  # called at once
            ):
                if isinstance(expected, Exception):
                    with pytest.raises(type(expected)) as raised:
                        run(given)  # noqa: B023  # called at once
                    assert str(raised.value) == str(expected)
                else:
                    assert repr(run(given)) == expected


@pytest.mark.usefixtures("at_once")
def test_derivatives_where_elements_are_equal_or_zero_or_not_numbers() -> None:
    def f(x: float, y: float, z: float) -> Any:
        return 1.0 * sorted([x, y, z])[0] + 10.0 * sorted([x, y, z])[1] + 100.0 * sorted([x, y, z])[2]

    for _ in range(3):
        gradient = adbc.grad(f, (0, 1, 2))
        assert gradient(1.0, 1.0, 1.0) == (1.0, 10.0, 100.0)
        assert gradient(2.0, 1.0, 1.0) == (100.0, 1.0, 10.0)
        assert gradient(1.0, NAN, 0.0)[1] in (1.0, 10.0, 100.0)
        assert sum(gradient(NAN, 2.0, 0.0)) == 111.0
    assert adbc.grad(lambda x, y: math.prod([x, y, 0.0]) + math.prod([x, y]), (0, 1))(0.0, 3.0) == (3.0, 0.0)
    assert adbc.grad(lambda x, y: math.dist((x, y), (x, y)), (0, 1))(1.0, 2.0) == (0.0, 0.0)
    assert adbc.grad(lambda x, y: math.dist((x, y), (1.0, 2.0)), (0, 1))(1.0, 2.0) == (0.0, 0.0)
    assert adbc.grad(lambda x, y: math.hypot(x, y, x, y), (0, 1))(0.0, 0.0) == (0.0, 0.0)
    # zero wins where an element that was not chosen has no finite derivative
    assert adbc.grad(lambda x: [math.sqrt(x), 2.0][int(x) + 1])(0.0) == 0.0
    assert adbc.grad(lambda x: sorted([math.sqrt(x), -1.0, 1.0])[0] + x)(0.0) == 1.0


@pytest.mark.usefixtures("at_once")
def test_errors_are_those_of_the_functions() -> None:
    def wrong(kind: int, x: Any) -> Any:
        if kind == 0:
            return [x, 2.0][kind + 2]
        if kind == 1:
            return (x, 2.0)[-2 - kind]
        if kind == 2:
            return math.dist((x, 1.0), (x,))
        if kind == 3:
            return sorted([x, "a"])[0]
        if kind == 4:
            return [x, 1.0][:: kind - 4]
        if kind == 5:
            a, b = sorted([x, 1.0, 2.0])
            return a
        if kind == 6:
            return statistics.fmean([]) * x
        if kind == 7:
            return math.fsum([x, "a"])
        return math.fsum([x, 1e308, 1e308])

    for kind in range(9):
        for _ in range(3):
            with pytest.raises(Exception) as plain:  # noqa: B017, PT011
                wrong(kind, 0.5)
            with pytest.raises(plain.type) as derived:
                adbc.grad(wrong, 1)(kind, 0.5)
            assert str(derived.value) == str(plain.value)


def test_the_rest_of_a_function_behind_a_wrong_guess_has_its_lists() -> None:
    class Odd:
        def __init__(self, v: Any) -> None:
            self.v = v

        def __add__(self, other: Any) -> Any:
            return self.v + other

    def f(x: float, parts: Any) -> Any:
        total = 0.0
        for part in parts:
            values = [x, 2.0 * x]
            more = part + x  # a float, until it is none
            total += more * math.fsum(values) + values[0]
        return total

    gradient = adbc.value_and_grad(f)
    for _ in range(3):
        for parts in ([1.0, 2.0], [1.0, Odd(2.0), 3.0], [Odd(1.0), Odd(0.5)]):
            value, slope = gradient(0.7, parts)
            assert value == f(0.7, parts)
            step = 1e-6
            assert slope == pytest.approx((f(0.7 + step, parts) - f(0.7 - step, parts)) / (2 * step))


def test_a_list_may_grow_where_a_guess_is_wrong_while_it_is_walked() -> None:
    class Odd(float):
        pass

    def f(x: float, parts: Any) -> Any:
        total = 0.0
        for part in parts:
            values = [x, 2.0 * x]
            for v in values:
                more = part * v
                if isinstance(part, Odd) and len(values) < 5:
                    values.append(v * x)
                total += more
        return total

    gradient = adbc.value_and_grad(f)
    for _ in range(3):
        for parts in ([1.0, 2.0], [1.0, Odd(2.0), 3.0], [Odd(1.0), Odd(0.5)]):
            for _ in range(20):
                value, slope = gradient(0.7, parts)
            assert value == f(0.7, parts)
            step = 1e-6
            assert slope == pytest.approx((f(0.7 + step, parts) - f(0.7 - step, parts)) / (2 * step))


def by_hand(x: float) -> Any:
    total = 0.0
    for k in range(60):
        a, b = x * k, x + k
        total += x + a + b + x * a * b + math.sqrt((x - a) * (x - a) + (b - k) * (b - k))
    return total


def by_functions(x: float) -> Any:
    total = 0.0
    for k in range(60):
        a, b = x * k, x + k
        total += math.fsum([x, a, b]) + math.prod([x, a, b]) + math.dist((x, b), (a, k))
    return total


def test_an_element_costs_what_it_costs() -> None:
    counts = []
    for function in (by_hand, by_functions):
        gradient = adbc.value_and_grad(function)
        for _ in range(8):
            gradient(0.7)
        counts.append(executed(lambda: gradient(0.7)))  # noqa: B023  # called at once
    assert counts[1] <= 1.5 * counts[0]


def test_partial_derivatives_that_are_text_are_made_when_they_are_asked_for() -> None:
    made: list[str] = []

    def partials() -> list[Any]:
        made.append("partials")
        return [lambda out, x: 2.0]

    row = WrittenRule(abs, partials)
    assert not made
    assert row.frule((-3.0,), (1.0,)) == (3.0, 2.0)
    assert row.rrule((-3.0,), (None,))[0] == 3.0
    assert made == ["partials"]
    with pytest.raises(AttributeError, match="no attribute 'part'"):
        _ = row.part
