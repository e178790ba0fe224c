"""Walks over lists, in each way of guessing, and again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient
from tests.programs.language.list_walks import case

PROGRAMS = [pytest.param(*entry, id=key) for key, entry in case.items()]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_walks_are_right_whatever_is_guessed(
    function: Callable[..., Any], arguments: tuple[Any, ...], speculation: str
) -> None:
    check_rule(function, *arguments)


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_walks_stay_right(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """The function is interpreted at first, then its code is written and written again."""
    with adbc.use(adbc.Config()):
        for _ in range(6):
            check_gradient(function, *arguments)
            adbc.grad(function)(*arguments)


def test_second_derivatives_go_along_tapes() -> None:
    def loop(x: float) -> float:
        total = 0.0
        for i in range(5):
            total += x * x * x * i
        return total

    second = adbc.grad(adbc.grad(loop))
    for _ in range(60):
        assert second(0.5) == pytest.approx(30.0)
        assert adbc.jvp(adbc.grad(loop), (0.5,), (1.0,))[1] == pytest.approx(30.0)
