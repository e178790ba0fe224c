"""Numbers that a function reads from globals are constants of the call."""

from __future__ import annotations

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

RATE = 3.0
ORDER = 2.5


def recurrence(x: float, n: int) -> float:
    s = 0.0
    for i in range(n):
        s = s * RATE + x * RATE * i
    return s


def norm(x: np.ndarray) -> float:  # type: ignore[type-arg]
    return float(np.linalg.norm(x, ord=ORDER))


def test_a_number_that_is_rebound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        check_rule(recurrence, 0.3, 5)
        check_rule(norm, np.array([1.0, 2.0, -0.5]))
    before = adbc.grad(recurrence)(0.3, 3)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    assert (before, adbc.grad(recurrence)(0.3, 3)) == (15.0, 8.0)
    monkeypatch.setitem(globals(), "RATE", 2)
    assert adbc.grad(recurrence)(0.3, 3) == 8.0


def test_nothing_is_computed_for_them() -> None:
    default_engine().clear()
    for _ in range(3):
        adbc.grad(recurrence)(0.3, 5)
    (rule,) = [r for r in default_engine().rules.values() if r.code is recurrence.__code__]
    assert "_or_else_" not in str(rule.graphs[1]) and str(rule.graphs[1]).count("operator.mul") == 3
