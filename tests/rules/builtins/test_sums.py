"""Sums whose terms are elements of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule


def weighted(a: float, x: Any, chosen: Any) -> Any:
    total = sum(x[chosen])
    y = a * (x + total * np.full(3, 0.3)) + total * np.arange(1.0, 4.0)
    return y.sum()


@pytest.mark.parametrize("config", [{}, {"warm_after": 0}, {"speculation": "never"}], ids=str)
@pytest.mark.parametrize("chosen", [[], [0, 2]])
def test_a_sum_of_elements_that_may_be_none(chosen: list[int], config: dict[str, Any]) -> None:
    """It is 0 then, a whole number, whose cotangents are added up as those of other sums are."""
    x, indices = np.array([0.5, 0.7, 0.9]), np.array(chosen, int)
    counts = np.isin(np.arange(3), chosen)
    with adbc.use(adbc.Config(**config)):
        for _ in range(5):
            by_a, by_x = adbc.grad(weighted, (0, 1))(0.8, x.copy(), indices)
            assert by_a == pytest.approx(x.sum() + 0.9 * x[indices].sum())
            np.testing.assert_allclose(by_x, 0.8 + counts * (0.8 * 0.9 + 6.0))
        check_rule(weighted, 0.8, x, indices)
