"""The generators that stand for slices of iterators ask for as much as these, and when these do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adbc.rules.producers import PRODUCERS

BODIES = {producer.arity: producer.body for producer in PRODUCERS[itertools.islice] if not producer.given}
BOUNDS = [
    *[(stop,) for stop in (None, 0, 1, 3, 8)],
    *itertools.product((None, 0, 2, 5), (None, 0, 1, 3, 8)),
    *itertools.product((None, 0, 1, 4), (None, 0, 3, 8), (None, 1, 2, 3)),
]


def _seen(sliced: Callable[..., Iterator[Any]], count: int, bounds: tuple[Any, ...]) -> Any:
    """What a slice of so many numbers gives, how many had been asked for with each, and what is left."""
    asked = 0

    def numbers() -> Iterator[int]:
        nonlocal asked
        for i in range(count):
            asked += 1
            yield i
        asked += 1

    source = numbers()
    given = [(x, asked) for x in sliced(source, *bounds)]
    return given, asked, list(source)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 6])
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_what_is_asked_for(bounds: tuple[Any, ...], count: int) -> None:
    assert _seen(BODIES[1 + len(bounds)], count, bounds) == _seen(itertools.islice, count, bounds)


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_all_but_the_first(count: int) -> None:
    (body,) = [p.body for p in PRODUCERS[itertools.islice] if p.given]
    assert _seen(body, count, ()) == _seen(itertools.islice, count, (1, None))
