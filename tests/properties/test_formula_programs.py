"""Random programs that only read their arrays: gradients by arguments that are values."""

from __future__ import annotations

import pytest

from .formula_programs import FormulaProgram, check

COUNT, CHUNK = 60, 10


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_random_formulas_are_differentiated_rightly(first: int) -> None:
    for seed in range(first, first + CHUNK):
        program = FormulaProgram(seed)
        try:
            check(program)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise
