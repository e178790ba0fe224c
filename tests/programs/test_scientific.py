"""Programs that end in SciPy have derivatives, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc

pytest.importorskip("scipy")

from tests.programs.scientific import DECAY, PROGRAMS, inner_fit, inner_fit_without_slopes  # noqa: E402

STEP = 1e-4


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_both_modes(f: Any, x: Any) -> None:
    def central(step: float) -> Any:
        return np.array([(f(x + d) - f(x - d)) / (2 * step) for d in step * np.eye(len(x))])

    expected = (4.0 * central(STEP / 2) - central(STEP)) / 3.0
    value, gradient = adbc.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-10)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
    _, tangent = adbc.jvp(f, (x,), (np.ones_like(x),))
    assert tangent == pytest.approx(gradient.sum(), rel=1e-8, abs=1e-10)


def test_a_fit_without_slopes_is_that_with_slopes() -> None:
    expected = adbc.grad(inner_fit)(DECAY)
    np.testing.assert_allclose(adbc.grad(inner_fit_without_slopes)(DECAY), expected, rtol=1e-4)
