"""What is read off the code of a function: the same answers on all interpreters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adbc.cpython.names import attributes_reset, globals_written, parameters_read, rebinds_beyond_its_frame


def plain(a: Any, b: Any, c: Any) -> Any:
    return a + c


def two_at_once(a: Any, b: Any, c: Any) -> Any:
    return b * c  # one instruction loads both, from 3.13


def in_comprehension(a: Any, b: Any, c: Any) -> Any:
    return sum([b * k for k in (2.0,)])  # from 3.13, one instruction stores `k` and loads `b`


def in_nested_function(a: Any, b: Any, c: Any) -> Any:
    return lambda: c


def overwritten(a: Any, b: Any, c: Any) -> Any:
    a = b
    return a


def of_any_number(a: Any, *rest: Any) -> Any:
    return a


@pytest.mark.parametrize(
    "function, expected",
    [
        (plain, {0, 2}),
        (two_at_once, {1, 2}),
        (in_comprehension, {1}),
        (in_nested_function, {2}),
        (overwritten, {0, 1}),
        (of_any_number, None),
        (len, None),
    ],
)
def test_parameters_that_occur_in_the_code_are_read(
    function: Callable[..., Any], expected: set[int] | None
) -> None:
    assert parameters_read(function) == expected


def test_globals_that_nested_code_binds_are_written() -> None:
    source = """
def f():
    global first
    first = 1
    def g():
        global second
        del second
    return g, third
"""
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert globals_written(namespace["f"].__code__) == {"first", "second"}


def counting() -> tuple[Callable[..., Any], Callable[..., Any]]:
    count = 0

    def counts(self: Any) -> int:
        nonlocal count
        count += 1
        return 1

    def counts_its_own(self: Any) -> int:
        number = 0

        def next_number() -> int:
            return number

        number += 1
        self.log[0] = next_number()
        return count

    return counts, counts_its_own


def counts_globally(self: Any) -> int:
    global COUNT
    COUNT += 1
    return COUNT


COUNT = 0


@pytest.mark.parametrize(
    "function, expected",
    [(counting()[0], True), (counting()[1], False), (counts_globally, True), (plain, False)],
)
def test_variables_of_others_that_are_bound_are_seen(function: Callable[..., Any], expected: bool) -> None:
    assert rebinds_beyond_its_frame(function.__code__) is expected


class Resetting:
    def plainly(self) -> None:
        self.a = None
        self.b = self

    def by_another(self) -> None:
        self.a = None
        print()

    def of_another(self) -> None:
        other = self
        other.a = None


def test_attributes_that_are_set_to_constants() -> None:
    assert attributes_reset(Resetting.plainly.__code__) == {"a", "b"}
    assert attributes_reset(Resetting.by_another.__code__) is None
    assert attributes_reset(Resetting.of_another.__code__) is None
