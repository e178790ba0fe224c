"""Random mixtures of libraries: right in both modes, or refused, and few are refused."""

from __future__ import annotations

import warnings

import pytest

from .mixed_programs import PIECES, MixedProgram, check

COUNT, CHUNK = 100, 10


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_mixtures_of_libraries_are_right_or_refused(first: int) -> None:
    refused = 0
    for seed in range(first, first + CHUNK):
        program = MixedProgram(seed)
        with warnings.catch_warnings():
            try:
                refused += check(program) is not None
            except Exception as error:
                error.add_note(f"seed {seed}\n{program.source}")
                raise
    assert refused <= CHUNK // 2


def test_programs_are_put_together_from_many_pieces() -> None:
    text = "\n".join(MixedProgram(seed).source for seed in range(60))
    lines = [piece.partition("\n")[0].replace("{n}", "") for piece in PIECES]
    assert sum(line[:20] in text for line in lines) > 0.9 * len(PIECES)
