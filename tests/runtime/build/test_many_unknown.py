"""A function with many values of unknown type is guessed at if these follow from a few."""

from __future__ import annotations

import numpy as np
import pytest

import adbc
from adbc.inspect import explain

SCALE = 0.5
TERMS = 90
SOURCE = "def long_sum(x):\n    y = SCALE * x\n    return " + " + ".join(
    f"{k}.0 * y ** {k % 3}" for k in range(TERMS)
)
exec(compile(SOURCE, __file__, "exec"))
long_sum = globals()["long_sum"]


@pytest.mark.parametrize("warm_after", [0, 3])
def test_what_follows_from_a_guess_needs_none(warm_after: int) -> None:
    with adbc.use(adbc.Config(speculation="learn", warm_after=warm_after)):
        gradient = adbc.grad(long_sum)
        expected = sum(SCALE * k * (k % 3) * (SCALE * 1.5) ** (k % 3 - 1) for k in range(TERMS))
        for _ in range(6):
            assert np.isclose(gradient(1.5), expected, rtol=1e-13)
        ways = [site.kind for section in explain(long_sum, 1.5).sections for site in section.sites]
        assert ways.count("guarded") == 1
        assert "dynamic" not in ways
