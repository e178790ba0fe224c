"""`re.sub` by a function, and the templates of `string`: text that is made of numbers, and printed."""

from __future__ import annotations

import re
import string
import sys
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError


def templates(x: float) -> Any:
    said = string.Template("value $x at ${k}, $$").substitute(x=x, k=3)
    more = string.Template("value $x and $y").safe_substitute({"x": x})
    return x**3 * len(said.split()) * len(more.split())


def by_a_function(x: float) -> Any:
    found = [1.0]

    def double(match: re.Match[str]) -> str:
        found.append(x * int(match[0]))
        return str(int(match[0]) * 2)

    text = re.sub(r"\d+", double, "a1b22c3", count=2)
    made, count = re.compile("x*").subn(lambda m: "-", "abxd")
    return sum(found) * x if (text, made, count) == ("a2b44c3", "-a-b--d-", 5) else 0.0


@pytest.mark.parametrize("f, slope", [(templates, 240.0), (by_a_function, 93.0)])
def test_both_modes(f: Any, slope: float) -> None:
    for _ in range(2):
        assert adbc.grad(f)(2.0) == pytest.approx(slope)
        assert adbc.jvp(f, (2.0,), (1.0,))[1] == pytest.approx(slope)


@pytest.mark.parametrize("pattern", ["x*", "b|", r"\b", "(a)|b", "$"])
def test_as_the_library_does(pattern: str) -> None:
    def f(x: float) -> Any:
        met = [x]

        def written(found: re.Match[str]) -> Any:
            met.append(x * found.start())  # so it is followed
            return f"<{found[0]}>" if found.start() != 1 else None

        seen.append(re.compile(pattern).subn(written, "abxxd b"))
        return sum(met)

    seen: list[Any] = []
    f(1.0)
    adbc.jvp(lambda x: f(x) * x, (1.0,), (1.0,))
    assert seen[0] == seen[1]
    value, slope = adbc.value_and_grad(f)(2.0)
    assert slope == pytest.approx(value / 2.0) and seen[0] == seen[-1]


def test_a_function_that_nothing_active_reaches_runs_as_it_is() -> None:
    def f(x: float) -> Any:
        return x * len(re.sub("[a-z]", lambda found: sys._getframe().f_code.co_name, "a1"))

    assert adbc.grad(f)(2.0) == adbc.jvp(f, (2.0,), (1.0,))[1] == len("<lambda>1")


def test_a_number_is_not_read_from_it() -> None:
    def f(x: float) -> Any:
        return float(string.Template("$x").substitute(x=x)) * x

    for take in (lambda: adbc.grad(f)(2.0), lambda: adbc.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(UnsupportedError, match=r"float reads a number from a str.*stop_gradient"):
            take()
