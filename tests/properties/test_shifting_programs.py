"""Random programs whose types and forms change in loops, between branches and from one call to the next."""

from __future__ import annotations

import warnings

import pytest

from adbc.runtime import default_engine

from .checks import fresh_engine
from .shifting_checks import check_shifting
from .shifting_programs import ShiftingProgram

COUNT, APART = 150, 50
WAYS = [("learn", 2), ("learn", 0), ("learn", 3), ("never", 0), ("learn", 1), ("dynamic", 0), ("always", 0)]
"""How types are guessed, and how often code is interpreted, of one program after the other."""


@pytest.mark.parametrize("seed", range(COUNT))
def test_what_changes_its_types_is_right_or_refused(seed: int) -> None:
    mode, warmth = WAYS[seed % len(WAYS)]
    with fresh_engine(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        default_engine().guesses.mode, default_engine().tiers.warm_after = mode, warmth
        check_shifting(ShiftingProgram(seed), warmth + 5, warmth + 2)


@pytest.mark.parametrize("seed", range(COUNT, COUNT + APART))
def test_what_comes_from_another_module_is_right_or_refused(seed: int) -> None:
    mode, warmth = WAYS[seed % len(WAYS)]
    with fresh_engine(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        default_engine().guesses.mode, default_engine().tiers.warm_after = mode, warmth
        check_shifting(ShiftingProgram(seed, is_apart=True), warmth + 5, warmth + 2)


def test_programs_change_many_things() -> None:
    text = "\n".join(ShiftingProgram(seed).source for seed in range(150))
    ways = ("*rest", "zip(", "kept(", "global ", "except ", "finally:", "with ", "counter(", "deep(", "**d")
    assert all(text.count(way) > 5 for way in ways)
