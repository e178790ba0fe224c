"""Every program of the corpus: its gradient, and both of its derived rules."""

from __future__ import annotations

import pytest

from adbc.testing import test_rule
from tests.programs.checks import check_gradient
from tests.programs.corpus import PROGRAMS, Program

programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


@programs
def test_the_gradient_of_every_program_is_right(program: Program) -> None:
    check_gradient(
        program.function,
        *program.arguments,
        argnums=program.argnums,
        kwargs=program.keywords,
        step=program.step,
    )


@programs
def test_both_rules_of_every_program_are_right(program: Program) -> None:
    test_rule(program.function, *program.arguments, kwargs=program.keywords, step=program.step)
