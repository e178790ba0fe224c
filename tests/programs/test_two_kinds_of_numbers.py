"""Numbers of Python's and of NumPy's in one variable: a state that begins as floats, and goes on as elements
of an array, is differentiated without a decision per operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules.table import ScalarRule
from adbc.testing import test_rule as check

P = np.array([1.4, 0.3])


def pendulum(p: Any) -> Any:
    omega, damping = p
    state = (1.0, 0.0)
    seen = np.zeros(12)
    for i in range(len(seen)):
        seen[i] = state[0]
        angle, speed = state
        change = (speed, -(omega**2) * math.sin(angle) - damping * speed)
        state = tuple(s + 0.1 * d for s, d in zip(state, change, strict=True))
    return seen


def largest(p: Any) -> Any:
    """A comparison and an absolute value of what is now a float and now an element."""
    best, at = 0.5, (2.0, p[1])
    for k in range(9):
        candidate = at[k % 2] * p[k % 2] - at[(k + 1) % 2]
        if abs(candidate) > best:
            best, at = candidate, (candidate, at[0])
        else:
            at = (best / 3.0, -at[1])
    return best * at[0] + at[1]


def singles(p: Any) -> Any:
    """Numbers of 32 bits stay what they are."""
    p = p.astype(np.float32)
    state = (0.5, p[0])
    for k in range(4):
        state = (state[1] * p[k % 2], state[0] + p[1])
    return state[0] * state[1]


def whole_numbers(p: Any) -> Any:
    state = (1, p[0])
    for _ in range(5):
        state = (state[1] * 0.5, state[0] + p[1])
    return state[0] * state[1]


@pytest.mark.parametrize("f", [pendulum, largest, whole_numbers])
def test_both_modes(f: Callable[[Any], Any]) -> None:
    check(f, P.copy())
    check(f, P.copy())


def test_single_precision() -> None:
    value, tangent = adbc.jvp(singles, (P.copy(),), (np.ones(2),))
    assert type(value) is np.float32 and type(tangent) is np.float32
    up, down = (singles(P.astype(float) + s * 1e-2) for s in (1.0, -1.0))
    assert tangent == pytest.approx((up - down) / 2e-2, rel=1e-2)
    assert adbc.grad(lambda p: float(singles(p)))(P.copy()).sum() == pytest.approx(tangent, rel=1e-5)


@pytest.mark.parametrize("f", [pendulum, largest])
def test_nothing_is_decided_per_operation(f: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    v, h = np.array([0.4, -0.2]), 1e-6
    expected = (f(P + h * v) - f(P - h * v)) / (2 * h)
    for _ in range(50):
        tangent = adbc.jvp(f, (P.copy(),), (v.copy(),))[1]
    np.testing.assert_allclose(tangent, expected, rtol=1e-7, atol=1e-9)
    calls: list[Any] = []
    frule = ScalarRule.frule
    monkeypatch.setattr(ScalarRule, "frule", lambda self, *args: calls.append(self) or frule(self, *args))
    tangent = adbc.jvp(f, (P.copy(),), (v.copy(),))[1]
    np.testing.assert_allclose(tangent, expected, rtol=1e-7, atol=1e-9)
    arithmetic = [row for row in calls if row.function is not math.sin]
    assert len(arithmetic) <= 12  # of more than a hundred operations
