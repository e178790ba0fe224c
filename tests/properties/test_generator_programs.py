"""Random programs with generators: value, exception and derivatives in both modes."""

from __future__ import annotations

import collections

import pytest

from .generator_programs import GeneratorProgram, check

COUNT, CHUNK = 160, 20


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_generators_give_what_they_give_plainly(first: int) -> None:
    answers: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + CHUNK):
        program = GeneratorProgram(seed)
        try:
            answers[check(program) or "right"] += 1
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise
    assert answers["right"] >= CHUNK // 4, answers


def test_programs_ask_in_many_ways() -> None:
    text = "\n".join(GeneratorProgram(seed).source for seed in range(60))
    ways = (
        ".send(",
        ".close()",
        "next(g)",
        "next(h, ",
        "for v in g",
        "try:",
        "finally:",
        "yield from",
        "raise",
    )
    assert all(text.count(way) > 3 for way in ways)
