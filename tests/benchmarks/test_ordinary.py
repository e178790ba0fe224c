"""Ordinary programs have right derivatives, in each style, when code is interpreted, guessed and known."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest

import adbc
from adbc.errors import AdbcError
from adbc.testing.values import assert_same, duplicate
from benchmarks.ordinary import FIELDS
from benchmarks.program import Program
from tests.programs.checks import check_gradient

PROGRAMS = {f"{field}: {program.name}": program for field, programs in FIELDS.items() for program in programs}
REFUSED = {
    "alignment: schedule of jobs (bisection)",
    "economics: Elo ratings (defaultdict)",
    "finance: bonds on a bootstrapped curve (lists and bisection)",
    "finance: bonds on a bootstrapped curve (mapping class)",
    "finance: losses of loans (arrays)",
    "finance: losses of loans (nested function)",
    "interpreters: invoice (class with a template)",
}
"""What may be refused, for want of a rule (`bisect`, quantiles of `statistics`, text by `re`), or of a place
for the derivative (keys of dicts, factories of default values that have one)."""

STYLES = [(name, style) for name, program in PROGRAMS.items() for style in program.styles]


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_styles_compute_the_same(name: str) -> None:
    program = PROGRAMS[name]
    assert len(program.styles) == 2
    found = [f(*duplicate(program.arguments)) for f in program.styles.values()]
    assert all(math.isclose(y, found[0], rel_tol=1e-9) for y in found)


def same_values(program: Program, function: Any, times: int) -> None:
    """The gradient is the same, up to rounding, for as often as it is asked for."""
    gradient = adbc.value_and_grad(function, program.argnums)
    first = gradient(*program.arguments)
    for _ in range(times):
        assert_same(first, gradient(*program.arguments), "gradient", rtol=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # forward mode: an infinity in a tangent alone
@pytest.mark.parametrize(("name", "style"), STYLES)
def test_the_gradient_is_right(name: str, style: str) -> None:
    program = PROGRAMS[name]
    function = program.styles[style]
    may_be_refused = f"{name} ({style})" in REFUSED
    with contextlib.suppress(*[AdbcError] * may_be_refused):
        check_gradient(function, *program.arguments, argnums=program.argnums, step=1e-4, rtol=1e-5)
        same_values(program, function, 5)
