"""Random functions on arrays, in both modes, by every choice of what is asked for."""

from __future__ import annotations

import pytest

from .array_programs import Program, check

COUNT, CHUNK = 60, 5


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_random_functions_of_arrays_are_differentiated_rightly(first: int) -> None:
    for seed in range(first, first + CHUNK):
        program = Program(seed)
        try:
            check(program)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise
