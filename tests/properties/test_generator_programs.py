"""Random programs with generators: value, exception and derivatives in both modes."""

from __future__ import annotations

import pytest

from .generator_programs import GeneratorProgram, check

COUNT, CHUNK = 160, 2


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_generators_give_what_they_give_plainly(first: int) -> None:
    for seed in range(first, first + CHUNK):
        program = GeneratorProgram(seed)
        try:
            check(program)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise


def test_many_programs_have_a_value() -> None:
    values = 0
    for seed in range(100):
        try:
            values += isinstance(GeneratorProgram(seed).function(0.7), float)
        except (ValueError, StopIteration, TypeError, AttributeError):
            continue
    assert values > 25


def test_programs_ask_in_many_ways() -> None:
    text = "\n".join(GeneratorProgram(seed).source for seed in range(200))
    ways = (".send(", ".close()", "next(g)", "next(h, ", "for v in g", "try:", "finally:", "yield from")
    assert all(text.count(way) > 3 for way in ways)
