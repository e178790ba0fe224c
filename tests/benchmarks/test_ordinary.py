"""Ordinary programs have right derivatives, in each style, when code is interpreted, guessed and known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.tangents import increment, random_tangent, zero_tangent
from adbc.testing.values import assert_same, duplicate, inner
from benchmarks.ordinary import FIELDS
from benchmarks.program import Program
from tests.programs.checks import check_gradient

PROGRAMS = {f"{field}: {program.name}": program for field, programs in FIELDS.items() for program in programs}
STYLES = [(name, style) for name, program in PROGRAMS.items() for style in program.styles]


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_styles_compute_the_same(name: str) -> None:
    program = PROGRAMS[name]
    assert len(program.styles) == 2
    found = [f(*duplicate(program.arguments)) for f in program.styles.values()]
    assert all(math.isclose(y, found[0], rel_tol=1e-9) for y in found)


def check_later_calls(program: Program, function: Any, times: int) -> None:
    """What is computed is the same, up to rounding, for as often as it is asked for, in both modes."""
    gradient = adbc.value_and_grad(function, program.argnums)
    first = value, slopes = gradient(*program.arguments)
    for _ in range(times):
        assert_same(first, gradient(*program.arguments), "gradient", rtol=1e-8)

    arguments = list(program.arguments)
    positions = (program.argnums,) if isinstance(program.argnums, int) else program.argnums
    drawn, direction = random_tangent(np.random.default_rng(5), arguments), zero_tangent(arguments)
    for i in positions:
        direction[i] = increment(direction[i], drawn[i])
    parts = [slopes] if isinstance(program.argnums, int) else list(slopes)
    along, size = inner([direction[i] for i in positions], parts)
    for _ in range(times):
        found, tangent = adbc.jvp(function, duplicate(program.arguments), tuple(duplicate(direction)))
        assert_same(value, found, "value in forward mode", rtol=1e-12)
        assert abs(along - tangent) <= 1e-10 * size


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # forward mode: an infinity in a tangent alone
@pytest.mark.parametrize(("name", "style"), STYLES)
def test_the_gradient_is_right(name: str, style: str) -> None:
    program = PROGRAMS[name]
    function = program.styles[style]
    check_gradient(function, *program.arguments, argnums=program.argnums, step=1e-4, rtol=1e-5)
    check_later_calls(program, function, 5)
