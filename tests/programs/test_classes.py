"""Programs with classes, in both modes, and whatever is guessed."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from tests.programs.checks import check_gradient
from tests.programs.classes import SMALL
from tests.programs.larger_classes import LARGE

PROGRAMS = {**SMALL, **LARGE}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("speculation", ["learn", "always", "never", "dynamic", "interpret"])
def test_both_modes(name: str, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
        for _ in range(3 if speculation == "learn" else 1):
            check_gradient(PROGRAMS[name], 0.7, 1.3, argnums=(0, 1), step=1e-3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_interpreted_then_built(name: str) -> None:
    function: Any = PROGRAMS[name]
    with adbc.use(adbc.Config(warm_after=3)):
        gradients = [adbc.grad(function, (0, 1))(0.7, 1.3) for _ in range(8)]
    for found in gradients:
        assert found == pytest.approx(gradients[0], rel=1e-12)
