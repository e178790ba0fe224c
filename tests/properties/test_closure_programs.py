"""Random programs with variables that functions share are differentiated right, cold and in written code."""

from __future__ import annotations

import pytest

from .closure_programs import ClosureProgram, check, closure_program

COUNT = 120


@pytest.mark.parametrize("seed", range(COUNT))
def test_shared_variables_are_what_they_are(seed: int) -> None:
    check(ClosureProgram(seed))


def test_most_programs_have_a_value() -> None:
    made = [closure_program(seed) for seed in range(100)]
    sources = [found[1] for found in made if found is not None]
    assert len(sources) > 80
    assert sum("nonlocal" in source for source in sources) > 30
