"""Partial derivatives that users declare run with their own globals and closures, wherever they are used."""

from __future__ import annotations

import math
from typing import Any

import pytest

from adbc.rules.declare import scalar_rule
from adbc.testing import test_rule as check_rule

SCALE = 2.0


def scaled(x: float) -> float:
    return 2.0 * math.sin(x)


def powered(x: float) -> float:
    return math.pow(x, 3.0)


def declare() -> None:
    exponent = 3.0
    scalar_rule(scaled, result=float)((lambda out, x: SCALE * math.cos(x),))
    scalar_rule(powered, result=float)((lambda out, x: exponent * x * x,))


declare()


@pytest.mark.parametrize("name", ["scaled", "powered"])
def test_in_a_function_with_other_globals(name: str) -> None:
    made: dict[str, Any] = {name: globals()[name]}
    exec(f"def f(x, n):\n    for _ in range(n):\n        x = 0.5 * {name}(x)\n    return x", made)
    check_rule(made["f"], 0.7, 3)
