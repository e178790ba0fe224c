"""What bytecode says about graphs before they are made is no less than what the graphs say."""

from __future__ import annotations

import random
import statistics
import textwrap
import types
from typing import Any

import pytest

from adbc.cpython.size import may_be_straight
from adbc.errors import LiftError
from adbc.passes.normal.inline_calls import LARGEST, MOST_IN_CODE, is_small
from adbc.runtime import default_engine


def functions(module: Any) -> list[types.FunctionType]:
    found = [f for f in vars(module).values() if isinstance(f, types.FunctionType)]
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__ == module.__name__:
            found += [f for f in vars(cls).values() if isinstance(f, types.FunctionType)]
    return found


@pytest.mark.parametrize("module", [statistics, random, textwrap], ids=lambda m: m.__name__)
def test_no_small_function_is_passed_over(module: Any) -> None:
    passed_over = small = 0
    for function in functions(module):
        try:
            graph = default_engine().graphs.primal(function)
        except LiftError:
            continue
        if is_small(graph, is_bound=True):
            small += 1
            assert may_be_straight(function.__code__, LARGEST), function
        else:
            passed_over += not may_be_straight(function.__code__, MOST_IN_CODE)
    assert small and passed_over


def looping(n: int) -> int:
    while n > 10:
        n //= 2
    return n


def trying(n: int) -> int:
    try:
        return 1 // n
    except ZeroDivisionError:
        return 0


def branching(n: int) -> int:
    return n + 1 if n > 3 else n - 1


def test_loops_and_handlers_are_seen() -> None:
    assert not may_be_straight(looping.__code__, 100)
    assert not may_be_straight(trying.__code__, 100)
    assert may_be_straight(branching.__code__, 10)
    assert not may_be_straight(branching.__code__, 2)
