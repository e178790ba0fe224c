"""Second derivatives of random functions, by forward and reverse mode nested in all four ways."""

from __future__ import annotations

import collections

import pytest

from tests.properties.checks import fresh_engine
from tests.properties.functions import Prelude, Program
from tests.properties.nested_checks import check_second

CHUNK = 3


@pytest.mark.parametrize("first", range(50, 59, CHUNK))
def test_all_ways_to_nest_the_modes_agree(first: int) -> None:
    answers: collections.Counter[str] = collections.Counter()
    with fresh_engine():
        prelude = Prelude()
        for seed in range(first, first + CHUNK):
            program = Program(seed, prelude)
            try:
                answers[check_second(program)] += 1
            except Exception as error:
                error.add_note(f"seed {seed}\n{program.source}")
                raise
    assert answers["right"] >= 1, answers
