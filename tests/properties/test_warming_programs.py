"""Random programs with loops that are left for code in the middle: each call in both modes, pullbacks that
are run late and in any order, and several threads at once."""

from __future__ import annotations

import pytest

from adbc.runtime import default_engine

from .checks import fresh_engine
from .warming_checks import check_threads, check_warming
from .warming_programs import WarmingProgram

COUNT = 120


@pytest.mark.parametrize("seed", range(COUNT))
def test_loops_that_are_left_for_code_are_right(seed: int) -> None:
    with fresh_engine():
        default_engine().guesses.mode = "learn"
        default_engine().tiers.warm_after = (3, 1, 8, 0)[seed % 4]
        program = WarmingProgram(seed)
        try:
            check_warming(program, 8)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise


@pytest.mark.parametrize("seed", range(1000, 1020))
def test_threads_get_the_same_gradients(seed: int) -> None:
    with fresh_engine():
        default_engine().guesses.mode = "learn"
        default_engine().tiers.warm_after = 2
        program = WarmingProgram(seed)
        try:
            check_threads(program, 3, 4)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise


def test_loops_are_left_in_many_ways() -> None:
    text = "\n".join(WarmingProgram(seed).source for seed in range(150))
    ways = ("break", "raise Stop", "return s * 2", "finally:", "next(g", "by(s)", "while ", "o.pull(", "zip(")
    assert all(text.count(way) > 5 for way in ways)
