"""What is computed again in the pullback instead of being saved, and that it is the value it was."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.inspect import fwd_ir
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Const
from adbc.testing import test_rule as check_rule


def logistic(r: float, x: float, steps: int) -> float:
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def leaving(r: float, x: float, steps: int) -> float:
    """The last iteration leaves in the middle: its record has another layout."""
    for k in range(steps):
        y = r * x
        if k == 3:
            x = math.sin(y * x)
            break
        x = y * (1.0 - x) * 0.3
    return x * y


def nested(r: float, x: float, steps: int) -> float:
    """What an outer iteration has is constant in the inner loop; what the inner loop has is not."""
    for k in range(steps):
        s = r * x
        for _ in range(k):
            p = s * x
            x = p * (s - x) * 0.2
        x = x * (s + x) * 0.4
    return x


def used_behind(r: float, x: float, steps: int) -> float:
    """`y` is used behind the loop that computes it, where `x` has changed since."""
    y = 0.5
    for _ in range(steps):
        y = r * x
        x = math.cos(x)
    return y * y * x


def used_on_two_ways(r: float, x: float, steps: int) -> float:
    for k in range(steps):
        y = r + x
        x = y * y * 0.1 if k % 2 else y * x
    return x


def counted(r: float, x: float, steps: int) -> float:
    """Indices are computed again too."""
    for k in range(steps):
        n = 2 * k + 1
        x = x * n * r / (n + 1)
    return x


PROGRAMS = [logistic, leaving, nested, used_behind, used_on_two_ways, counted]


# Without a step, what `leaving` returns has no value.
RUNS = [(f, steps) for f in PROGRAMS for steps in (0, 1, 2, 5) if steps or f is not leaving]


@pytest.mark.parametrize(("function", "steps"), RUNS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_what_is_computed_again_is_what_was(function: Callable[..., float], steps: int) -> None:
    check_rule(function, 1.3, 0.4, steps)


def records(graph: Graph) -> list[int]:
    """How many values the records of iterations have."""
    return [
        len(i.operands) - 2
        for i in graph.instructions()
        if i.op == "call" and isinstance(i.operands[0], Const) and i.operands[0].value is intrinsics._record_
    ]


def size(function: Callable[..., Any]) -> int:
    return max(records(fwd_ir((function, float, float, int))))


def test_one_value_per_iteration() -> None:
    assert size(logistic) == 1
    assert size(counted) == 2


def test_what_two_blocks_need_is_saved() -> None:
    """Once for each would be more work than to save it: label, x and y."""
    assert size(used_on_two_ways) == 3


def test_what_costs_more_than_an_operation_is_saved() -> None:
    def waves(r: float, x: float, steps: int) -> float:
        for _ in range(steps):
            x = math.sin(r * x) * math.cos(x)
        return x

    assert size(waves) > 1
    value, gradient = adbc.value_and_grad(waves, (0, 1))(1.1, 0.3, 4)
    assert value == waves(1.1, 0.3, 4)
    step = 1e-6
    for k in range(2):
        up, down = [1.1, 0.3], [1.1, 0.3]
        up[k] += step
        down[k] -= step
        difference = (waves(*up, 4) - waves(*down, 4)) / (2 * step)
        assert abs(difference - gradient[k]) < 1e-8
