"""The forms of tapes: which loop gets which, and that each is right however the loop is entered and left."""

from __future__ import annotations

import gc
import math
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import fwd_ir, primal_ir, rvs_ir, show
from adbc.ir.interpret import interpret
from adbc.testing import test_rule as check_rule


def linear(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = 0.5 * x + r
    return x


def linear_while(r: float, x: float, n: int) -> float:
    while n > 0:
        x = 0.5 * x + r
        n -= 1
    return x


def linear_with_break(r: float, x: float, n: int) -> float:
    for k in range(n):
        x = 0.5 * x + r
        if k == 2:
            break
    else:
        x = 3.0 * x
    return x


def partly_consumed(r: float, x: float, n: int) -> float:
    """The range has given numbers away before the loop, and gives some away in it."""
    numbers = iter(range(n + 2))
    next(numbers)
    for _ in numbers:
        x = 0.5 * x + r
        next(numbers, None)
    return x


def exhausted_before(r: float, x: float, n: int) -> float:
    """The second time round there is nothing left."""
    numbers = iter(range(n))
    for _ in range(2):
        for _ in numbers:
            x = 0.5 * x + r
        x = 2.0 * x
    return x


def range_used_twice(r: float, x: float, n: int) -> float:
    numbers = range(n)
    for _ in numbers:
        for k in numbers:
            x = 0.5 * x + r if k else 0.7 * x
    return x


def one_value(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


def one_value_made_in_the_body(r: float, x: float, n: int) -> float:
    y = 1.0
    for _ in range(n):
        x = math.exp(-r)
        y = y + x
    return y


def one_value_on_two_ways(r: float, x: float, n: int) -> float:
    """Appended where the ways meet."""
    for k in range(n):
        if k % 2:
            continue
        x = x * x * r
    return x


def one_value_and_break(r: float, x: float, n: int) -> float:
    for k in range(n):
        y = x * x * r
        if k == 2:
            x = math.sin(y) * r
            break
        x = y
    return x


def one_value_each(r: float, x: float, n: int) -> float:
    for k in range(n):
        for _ in range(k):
            x = x * x * r
        x = x + math.sin(x)
    return x


def one_value_and_handler(r: float, x: float, n: int) -> float:
    """What raises in the middle of an iteration leaves the loop with the values of that iteration."""
    try:
        for k in range(n):
            x = x * x * r
            x = x / (2 - k)
    except ZeroDivisionError:
        x = x * x
    return x


def two_values(r: float, x: float, n: int) -> float:
    for _ in range(n):
        x = math.sin(r * x) * math.cos(x)
    return x


def many_values(r: float, x: float, n: int) -> float:
    for _ in range(n):
        y = math.sin(r * x)
        z = math.cos(x * y)
        w = math.exp(-z * y)
        v = math.sin(w * z)
        x = y * z * w * v * r
    return x


def three_deep(r: float, x: float, n: int) -> float:
    """The loops outside save nothing of their own, or a label."""
    for i in range(n):
        if i == 1:
            x = 1.5 * x
        for j in range(i + 1):
            for _ in range(j):
                x = math.sin(r * x)
    return x


def three_deep_and_more(r: float, x: float, n: int) -> float:
    for i in range(n):
        y = math.sin(x)
        for _ in range(i):
            z = math.cos(y * r)
            for _ in range(2):
                y = y * z
            x = x * z
        x = x + y * y
    return x


def inner_loops_one_after_the_other(r: float, x: float, n: int) -> float:
    for i in range(n):
        for _ in range(i):
            x = x * x * r
        for _ in range(2 * i):
            x = math.sin(x)
    return x


def inner_break_and_else(r: float, x: float, n: int) -> float:
    for i in range(n):
        for j in range(i):
            y = math.sin(x * r)
            if j == 2:
                x = y * x
                break
            if j == 1:
                continue
            x = x * y + r
        else:
            x = x * x
    return x


def inner_while(r: float, x: float, n: int) -> float:
    for i in range(n):
        k = 0
        while k < i and x * x < 3.0:
            x = x * x + r * k
            k += 1
        x = math.sin(x)
    return x


def counts_inside(r: float, x: float, n: int) -> float:
    """The inner loops save nothing but how often they ran."""
    for i in range(n):
        k = i
        while k > 0:
            x = 0.5 * x + r
            k -= 1
        for k in range(n):
            if k == i:
                break
            x = 0.5 * x + r
        x = x * x
    return x


def outer_break(r: float, x: float, n: int) -> float:
    for i in range(n):
        for _ in range(i):
            x = math.sin(x * r)
        if i == 3:
            break
        x = x * x
    return x


def leaves_two_loops(r: float, x: float, n: int) -> float:
    for i in range(n):
        y = math.sin(x)
        for j in range(3):
            y = y * math.cos(x * r)
            if i + j == 4:
                return y * y
            x = x * y
    return x * r


def handler_in_the_loop(r: float, x: float, n: int) -> float:
    """The inner loop is left half way, and the outer one goes on."""
    for i in range(n):
        try:
            for j in range(4):
                x = x * x * r
                x = x / (i - j)
        except ZeroDivisionError:
            x = math.sin(x) * r
    return x


def handler_outside(r: float, x: float, n: int) -> float:
    try:
        for i in range(n):
            for _ in range(3):
                x = math.sin(x * r) / (2 - i)
                x = x * x
    except ZeroDivisionError:
        x = x * r
    return x


def generator_inside(r: float, x: float, n: int) -> float:
    """Suspended in the inner loop, resumed in the outer one."""

    def values(x: float) -> Iterator[float]:
        for i in range(n):
            for _ in range(i):
                x = math.sin(x * r)
                yield x * x
            x = x * x

    total = 0.0
    for v in values(x):
        for _ in range(2):
            v = v * v + r
        total = total + v
    return total


def powers(x: float, r: float) -> float:
    for _ in range(2):
        x = x * x * r
    return x


def record_of_a_call(r: float, x: float, n: int) -> float:
    """What is known of it is not enough to say that it is not None."""
    for i in range(n):
        for _ in range(i):
            x = powers(x, r)
        x = math.sin(x)
    return x


def first_in_the_head(r: float, x: float, n: int) -> float:
    """The test of the loop is active, so that leaving it has a record too."""
    k = 0
    while (x := math.sin(x * r)) > -2.0 and k < n:
        x = x * x
        k += 1
    return x


def head_with_a_value(r: float, x: float, n: int) -> float:
    k = 0
    while (x := math.sin(x * r)) * 0.0 + k < n:
        x = x * x
        k += 1
    return x


PROGRAMS = [
    f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__ and f is not powers
]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_every_form_of_tape_gives_the_derivative(function: Callable[..., float], n: int) -> None:
    check_rule(function, 0.6, 0.4, n)


def text(get: Any, function: Callable[..., float]) -> str:
    return str(get((function, float, float, int)))


def test_a_loop_over_a_range_that_saves_nothing_does_nothing() -> None:
    assert "tape" not in text(fwd_ir, linear)
    assert str(primal_ir((linear, float, float, int))).count("call") == text(fwd_ir, linear).count("call") - 1


def test_other_loops_that_save_nothing_count() -> None:
    for function in (linear_while, linear_with_break):
        assert "call operator.add(%tape, 1)" in text(fwd_ir, function), function.__name__
        assert "builtins.range" in text(rvs_ir, function)


def short(r: float, x: float) -> float:
    for _ in range(3):
        x = r * x * x
    return x


def test_an_outermost_loop_has_a_list() -> None:
    for function in (one_value, two_values, one_value_on_two_ways, head_with_a_value):
        forwards, back = text(fwd_ir, function), text(rvs_ir, function)
        assert forwards.count("call _new_(builtins.list)") == 1, function.__name__
        assert "call _record_(%tape, " in forwards
        assert "builtins.reversed" in back
        assert "operator.is_" not in back


def test_the_loops_inside_use_the_same_list() -> None:
    for function in (
        one_value_each,
        three_deep,
        three_deep_and_more,
        inner_break_and_else,
        handler_in_the_loop,
    ):
        forwards, back = text(fwd_ir, function), text(rvs_ir, function)
        assert forwards.count("_new_(builtins.list)") == 1, function.__name__
        assert "call _record_(%tape, None)" in forwards
        assert back.count("builtins.reversed") == 1


def test_a_mark_that_no_value_is() -> None:
    assert "BEGINNING" in show(record_of_a_call, 0.6, 0.4, 3, stage="fwd-bytecode")
    assert "BEGINNING" not in show(three_deep, 0.6, 0.4, 3, stage="fwd-bytecode")


def test_many_values_are_one_tuple() -> None:
    assert text(fwd_ir, many_values).count("call _record_(%tape, %") == 1
    assert "_recall_" not in text(rvs_ir, many_values)
    assert text(rvs_ir, two_values).count("_recall_") == 2


def test_loops_that_the_pullback_enters_in_the_middle_have_linked_tuples() -> None:
    for function in (one_value_and_break, outer_break, leaves_two_loops, handler_outside):
        assert "_record_" not in text(fwd_ir, function), function.__name__
        assert "%tape)" in text(fwd_ir, function)
        assert "operator.is_" in text(rvs_ir, function)


def test_short_loops_have_linked_tuples() -> None:
    assert "_record_" not in str(fwd_ir((short, float, float)))
    check_rule(short, 0.6, 0.4)


def test_the_list_is_run_through_in_place() -> None:
    """No call per value: each is a step of the iterator that stays on the stack."""
    for function in (two_values, three_deep, three_deep_and_more, inner_break_and_else):
        code = show(function, 0.6, 0.4, 3, stage="rvs-bytecode")
        assert "built-in function next" not in code, function.__name__
        assert code.count("FOR_ITER") == text(rvs_ir, function).count("_next_") + text(
            rvs_ir, function
        ).count("_recall_")


@pytest.mark.parametrize("function", [two_values, three_deep_and_more, inner_break_and_else, one_value_each])
def test_each_run_has_its_own(function: Callable[..., float]) -> None:
    _, first = adbc.vjp(function, 0.6, 0.4, 5)
    _, second = adbc.vjp(function, 0.7, 0.3, 4)
    assert first(1.0)[:2] == adbc.grad(function, (0, 1))(0.6, 0.4, 5)
    assert second(1.0)[:2] == adbc.grad(function, (0, 1))(0.7, 0.3, 4)


@pytest.mark.parametrize("function", [two_values, three_deep_and_more, inner_break_and_else, one_value_each])
def test_the_pullback_leaves_the_tape_as_it_is(function: Callable[..., float]) -> None:
    forwards, back = (get((function, float, float, int)) for get in (fwd_ir, rvs_ir))
    value, saved = interpret(forwards, None, 0.6, 0.4, 5)
    assert value == function(0.6, 0.4, 5)
    expected = adbc.grad(function, (0, 1))(0.6, 0.4, 5)
    assert interpret(back, saved, 1.0) == interpret(back, saved, 1.0) == expected


def over_a_list(values: list[object], x: float) -> float:
    for value in values:
        for other in values:
            x = math.sin(x * value) + other * x  # type: ignore[operator]
    return x


def test_a_loop_that_is_left_by_a_wrong_guess() -> None:
    """The first element that is no float leaves both loops half way through an iteration."""
    for _ in range(4):
        check_rule(over_a_list, [0.5, 0.25, 0.75, 0.5], 0.3)
    for k in range(4):
        values: list[object] = [0.5, 0.25, 0.75, 0.5]
        values[k] = np.float64(0.125) if k % 2 else 2
        check_rule(over_a_list, values, 0.3)


def raising(r: float, x: float, n: int, log: list[float]) -> float:
    for i in range(n):
        for j in range(i):
            x = math.sin(x * r) * x
            log.append(x)
            if j == 2:
                raise ValueError("half way")
        x = x * x
    return x


def caller(r: float, x: float, n: int) -> float:
    log: list[float] = []
    try:
        x = raising(r, x, n, log)
    except ValueError:
        x = sum(log) * r
    for v in log:
        x = x * v + v
    return x


@pytest.mark.parametrize("n", [0, 2, 3, 4, 7])
def test_an_exception_out_of_a_callee(n: int) -> None:
    """What the callee did before it raised is undone as far as it went."""
    check_rule(caller, 0.6, 0.4, n)


def test_memory() -> None:
    """A value takes a place in the list, and nothing else beside itself."""

    def held(n: int) -> int:
        gc.collect()
        tracemalloc.start()
        _, pullback = adbc.vjp(one_value, 3.1, 0.4, n)
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert pullback(1.0)[0] != 0.0
        return size

    held(10)
    assert held(20_000) - held(10_000) < 40 * 10_000
