"""Programs as people write them have derivatives, in both modes, the first time and the second."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
import pytest

import adbc
from tests.programs.everyday import PROGRAMS

pytest.importorskip("scipy")

STEP = 1e-5


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(logging.getLogger(), "level", logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def difference(f: Any, x: Any) -> Any:
    if isinstance(x, float):
        return (float(f(x + STEP)) - float(f(x - STEP))) / (2 * STEP)
    return np.array([(float(f(x + d)) - float(f(x - d))) / (2 * STEP) for d in STEP * np.eye(len(x))])


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_both_modes(f: Any, x: Any) -> None:
    expected = difference(f, x)
    for _ in range(2):
        np.testing.assert_allclose(adbc.grad(f)(x), expected, rtol=1e-5, atol=1e-6)
        value, tangent = adbc.jvp(f, (x,), (1.0 if isinstance(x, float) else np.ones_like(x),))
        np.testing.assert_allclose(value, f(x))
        np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-5, atol=1e-6)
