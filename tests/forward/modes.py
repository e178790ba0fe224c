"""One check for the tests of this folder: both rules, however types are guessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule

__all__ = ["check", "every_guess"]

GUESSES = ("learn", "never", "always", "dynamic", "interpret")


def check(f: Callable[..., Any], *args: Any, guess: str) -> None:
    """Forward mode against finite differences and reverse mode against forward mode; a second time with what
    was learnt."""
    with adbc.use(adbc.Config(speculation=guess, verify=True)):
        for _ in range(3 if guess == "learn" else 1):
            check_rule(f, *args)


every_guess = pytest.mark.parametrize("guess", GUESSES)
