"""One check for the tests of this folder: both rules, however types are guessed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule

__all__ = ["check", "every_guess"]

GUESSES = ("learn", "never", "always", "dynamic", "interpret")


def check(f: Callable[..., Any], *args: Any, guess: str, is_settled: bool = False) -> None:
    """Forward mode against finite differences and reverse mode against forward mode; a second time with what
    was learnt.

    is_settled: whether to learn before the first time, because what is known of types decides about the last
    bit of a sum, and repetitions are compared to the last bit.
    """
    with adbc.use(adbc.Config(speculation=guess, verify=True)):
        for _ in range(4 if is_settled else 0):
            adbc.jvp(f, copy.deepcopy(args), copy.deepcopy(args))
        for _ in range(3 if guess == "learn" else 1):
            check_rule(f, *args)


every_guess = pytest.mark.parametrize("guess", GUESSES)
