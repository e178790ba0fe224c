"""Random programs that recurse: value, state and derivatives in both modes."""

from __future__ import annotations

import pytest

from .recursive_programs import RecursiveProgram, check

COUNT, CHUNK = 100, 10


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_what_recurses_has_the_same_derivative_in_both_modes(first: int) -> None:
    for seed in range(first, first + CHUNK):
        program = RecursiveProgram(seed)
        try:
            check(program)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise


def test_programs_recurse_in_many_ways() -> None:
    text = "\n".join(RecursiveProgram(seed).source for seed in range(60))
    ways = ("g1(", "down(", "self.go(", "weigh(", "along(", "fib(", "yield from", "search(", "finally:")
    assert all(text.count(way) > 3 for way in ways)
