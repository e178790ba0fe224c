"""Second derivatives of random functions, by forward and reverse mode nested in all four ways.

All functions of a kind share one engine, so that what derivatives of derivatives go through is built once.
Interpreted, one costs about half a second of a processor, written as code some three.  A thousand, in each of
the ways to run them: ``nox -s properties -- --kind second --count 1000``.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator

import pytest

from adbc.runtime import default_engine
from tests.properties.checks import fresh_engine, outcome
from tests.properties.functions import Prelude, Program, inputs
from tests.properties.nested_checks import check_second

_ANSWERS: collections.Counter[str] = collections.Counter()


@pytest.fixture(scope="module", params=["interpret", "learn"])
def prelude(request: pytest.FixtureRequest) -> Iterator[Prelude]:
    """What the functions share, with an engine that interprets them, or that writes code."""
    observer = default_engine().observer
    before = observer.config
    with fresh_engine():
        default_engine().guesses.mode = request.param
        observer.config = dataclasses.replace(before, verify=False)  # half of the time
        yield Prelude()
        observer.config = before


def function_of(seed: int, prelude: Prelude) -> Program:
    """A random function that gives a value for its first input."""
    for attempt in range(100):
        program = Program(100 * seed + attempt, prelude)
        if outcome(program.function, inputs(program, 0))[0] == "value":
            return program
    raise AssertionError(f"no function for seed {seed}")


def _check(seed: int, prelude: Prelude) -> None:
    program = function_of(seed, prelude)
    try:
        answer = check_second(program)
    except Exception as error:
        error.add_note(f"seed {program.seed}\n{program.source}")
        raise
    assert answer in ("right", "refused")
    _ANSWERS[answer] += 1


@pytest.mark.parametrize("seed", range(36))
@pytest.mark.parametrize("prelude", ["interpret"], indirect=True)
def test_all_ways_to_nest_the_modes_agree(seed: int, prelude: Prelude) -> None:
    _check(seed, prelude)


@pytest.mark.parametrize("seed", range(36, 42))
@pytest.mark.parametrize("prelude", ["learn"], indirect=True)
def test_all_ways_agree_in_code(seed: int, prelude: Prelude) -> None:
    _check(seed, prelude)


def test_few_are_refused() -> None:
    """Of what has been checked before."""
    assert not _ANSWERS or _ANSWERS["right"] >= 4 * _ANSWERS["refused"], _ANSWERS
