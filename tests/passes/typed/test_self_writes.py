"""An update of part of an array writes once, however the interpreter spells the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc.inspect
from adbc.testing import test_rule as check_rule

U = np.arange(1.0, 13.0).reshape(3, 4) / 7.0


def bounds(u: Any, i: int) -> Any:
    u[1:] += u[:-1]
    u[i:-1] -= 0.5
    u[:i] *= 2.0
    return np.sum(u * u)


def in_two_axes(u: Any, i: int) -> Any:
    u[1:, :-1] += u[:-1, 1:]
    u[..., i:] /= 3.0
    u[i] -= u[0]
    return np.sum(u * u)


def with_steps(u: Any, i: int) -> Any:
    u[::2] += 1.0
    u[i::, ::-1] *= u[i:, :]
    return np.sum(u * u)


def another_part(u: Any, i: int) -> Any:
    """What is written is not what was read."""
    part = u[1:]
    part += 1.0
    u[:-1] = part
    part = u[i:]
    part *= 2.0
    u[i - 1 : -1] = part
    return np.sum(u * u)


@pytest.mark.parametrize("function", [bounds, in_two_axes, with_steps, another_part])
def test_updates_in_place_are_differentiated_rightly(function: Callable[..., Any]) -> None:
    check_rule(function, U, 1)


@pytest.mark.parametrize(
    "function, count", [(bounds, 0), (in_two_axes, 0), (with_steps, 0), (another_part, 2)]
)
def test_writes(function: Callable[..., Any], count: int) -> None:
    lines = adbc.inspect.show(function, U, 1, stage="fwd").splitlines()
    # What is written to all of a view is the result of an operator (`passes.typed.separate_writes`).
    assert sum("setitem" in line and "Ellipsis" not in line for line in lines) == count
