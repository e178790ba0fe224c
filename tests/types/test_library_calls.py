"""Which calls of library functions are decided when they are made: those that may be of constants alone."""

from __future__ import annotations

import colorsys
import statistics
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import explain
from adbc.testing import test_rule as check_rule


def lightness(x: Any) -> Any:
    return colorsys.rgb_to_hls(r=x, g=0.3, b=0.2)[1]


def elements(a: Any) -> Any:
    return sum(colorsys.rgb_to_yiq(*a))


def trimmed(a: Any) -> Any:
    return np.sum(np.ma.masked_invalid(a).filled(0.0)) + np.average(a)


def with_a_constant(x: Any) -> Any:
    return x * colorsys.hls_to_rgb(0.5, 0.3, s=0.2)[1]


def kinds(f: Any, x: Any, name: str) -> set[str]:
    return {site.kind for site in explain(f, x).sites if name in site.called}


@pytest.mark.parametrize(("f", "x"), [(lightness, 0.6), (elements, np.array([0.1, 0.2, 0.3]))])
def test_what_is_given_a_number_with_a_derivative_is_followed_at_once(f: Any, x: Any) -> None:
    assert kinds(f, x, "colorsys") == {"derived"}
    check_rule(f, x)


def test_memory_may_turn_out_to_be_constant() -> None:
    assert kinds(trimmed, np.array([0.1, 0.2, 0.3]), "masked_invalid") == {"dynamic"}


def test_what_is_given_constants_is_called_as_it_is() -> None:
    assert "derived" not in kinds(with_a_constant, 0.4, "colorsys")
    check_rule(with_a_constant, 0.4)


def test_a_number_that_is_constant_in_one_round() -> None:
    def f(x: float) -> float:
        level, total = 0.0, 0.0
        for i in range(4):
            total += colorsys.rgb_to_hls(level, 0.3, 0.2)[1] + statistics.fmean([level, 1.0])
            level = x * (i + 1) * 0.2
        return total

    for _ in range(3):
        check_rule(f, 0.6)
        assert adbc.grad(f)(0.6) == pytest.approx(0.5 * (0.2 + 0.6) + 0.5 * (0.2 + 0.4 + 0.6))
