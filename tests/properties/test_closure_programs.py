"""Random programs with variables that functions share are differentiated right, cold and in written code."""

from __future__ import annotations

import math

import pytest

import adbc

from .closure_programs import closure_program

COUNT = 120
X, STEP = 0.83, 1e-6
WAYS: list[dict[str, object]] = [
    {"warm_after": 0}, {"warm_after": 2}, {"warm_after": 0, "speculation": "always"},
]  # fmt: skip


@pytest.mark.parametrize("seed", range(COUNT))
def test_shared_variables_are_what_they_are(seed: int) -> None:
    made = closure_program(seed)
    if made is None:
        return
    f, source = made
    slope = (f(X + STEP) - f(X - STEP)) / (2 * STEP)
    with adbc.use(adbc.Config(**WAYS[seed % len(WAYS)])):  # type: ignore[arg-type]
        for _ in range(4):
            value, gradient = adbc.value_and_grad(f)(X)
            _, tangent = adbc.jvp(f, (X,), (1.0,))
            assert math.isclose(value, f(X), rel_tol=1e-9), source
            assert math.isclose(gradient, slope, rel_tol=1e-5, abs_tol=1e-5), source
            assert math.isclose(tangent, gradient, rel_tol=1e-9, abs_tol=1e-9), source


def test_most_programs_have_a_value() -> None:
    made = [closure_program(seed) for seed in range(100)]
    sources = [found[1] for found in made if found is not None]
    assert len(sources) > 80
    assert sum("nonlocal" in source for source in sources) > 30
