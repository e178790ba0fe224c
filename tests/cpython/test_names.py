"""What is read off the code of a function: the same answers on all interpreters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adbc.cpython.names import globals_written, parameters_read, writes_beyond_its_frame


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


def sets_attribute(self: Any) -> int:
    self.cached = 1
    return 1


def sets_item(self: Any) -> int:
    self.log[0] = 1
    return 1


def sets_slice(self: Any) -> int:
    self.log[1:] = [1]
    return 1


@pytest.mark.parametrize(
    "function, expected", [(sets_attribute, False), (sets_item, True), (sets_slice, True), (plain, False)]
)
def test_elements_that_change_are_seen_and_attributes_do_not_count(
    function: Callable[..., Any], expected: bool
) -> None:
    assert writes_beyond_its_frame(function.__code__) is expected
