"""Who goes through an iterable asks what the interpreter asks, as often, and raises its errors."""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc

QUESTIONS: list[Any] = []
"""The special methods that ran, in their order."""


class Indexed:
    """A sequence by ``__getitem__`` alone, which knows its length."""

    def __init__(self, unit: float) -> None:
        self.unit = unit

    def __getitem__(self, index: int) -> float:
        QUESTIONS.append(index)
        if index >= 3:
            raise IndexError
        return self.unit * (index + 1)

    def __len__(self) -> int:
        QUESTIONS.append("len")
        return 3


class Steps:
    """An iterator that guesses its length."""

    def __init__(self, unit: float) -> None:
        self.unit = unit
        self.place = 0

    def __iter__(self) -> Iterator[float]:
        QUESTIONS.append("iter")
        return self

    def __next__(self) -> float:
        QUESTIONS.append("next")
        self.place += 1
        if self.place > 3:
            raise StopIteration
        return self.unit * self.place

    def __length_hint__(self) -> int:
        QUESTIONS.append("hint")
        return 2


class Stored:
    """A container with everything, whose iterators guess their length."""

    def __init__(self, unit: float) -> None:
        self.unit = unit

    def __iter__(self) -> Iterator[float]:
        QUESTIONS.append("iter")
        return Steps(self.unit)

    def __len__(self) -> int:
        QUESTIONS.append("len")
        return 3

    def __reversed__(self) -> Iterator[float]:
        QUESTIONS.append("reversed")
        return Steps(self.unit)


def starred(values: Any) -> Any:
    first, *rest = values
    return first, rest


def starred_first(values: Any) -> Any:
    *rest, last = values
    return rest, last


def starred_between(values: Any) -> Any:
    first, *rest, last = values
    return first, rest, last


def starred_too_few(values: Any) -> Any:
    a, b, c, d, *rest = values
    return a, b, c, d, rest


def starred_too_few_behind(values: Any) -> Any:
    a, *rest, b, c, d = values
    return a, b, c, d, rest


def into_a_slice(values: Any) -> Any:
    out = [1.0, 2.0, 3.0]
    out[0:1] = values
    return out


def extended_backwards(values: Any) -> Any:
    out = [1.0]
    out.extend(reversed(values))
    return out


CONSUMERS: dict[str, Callable[[Any], Any]] = {
    "starred": starred,
    "starred first": starred_first,
    "starred between": starred_between,
    "starred, too few": starred_too_few,
    "starred, too few behind": starred_too_few_behind,
    "into a slice": into_a_slice,
    "extended backwards": extended_backwards,
    "list of an iterator": lambda v: list(iter(v)),
    "tuple of an iterator": lambda v: tuple(iter(v)),
    "list, backwards": lambda v: list(reversed(v)) if hasattr(v, "__len__") else None,
    "display": lambda v: [*v, *iter(v)],
    "arguments": lambda v: max(*v),
    "sorted": lambda v: sorted(v, reverse=True),
    "sum": lambda v: sum(v),
    "fsum": lambda v: math.fsum(v),
    "reduce": lambda v: functools.reduce(operator.mul, v),
    "reduce from": lambda v: functools.reduce(operator.mul, v, 2.0),
    "tee": lambda v: [list(t) for t in itertools.tee(v)],
    "deque": lambda v: collections.deque(v, 2),
    "nlargest": lambda v: heapq.nlargest(2, v),
    "product": lambda v: list(itertools.product(v, v)),
    "accumulate": lambda v: list(itertools.accumulate(v)),
    "zip_longest": lambda v: list(itertools.zip_longest(v, [1.0])),
    "pairwise": lambda v: list(itertools.pairwise(v)),
    "takewhile": lambda v: list(itertools.takewhile(bool, v)),
    "dropwhile": lambda v: list(itertools.dropwhile(lambda x: x < 1.0, v)),
    "filter": lambda v: sum(filter(None, v)),
    "filterfalse": lambda v: list(itertools.filterfalse(lambda x: x > 1.0, v)),
    "map": lambda v: max(map(abs, v)),
    "starmap": lambda v: list(itertools.starmap(max, zip(v, [1.0, 2.0], strict=False))),
    "chain": lambda v: tuple(itertools.chain(v, v)),
    "chain of iterables": lambda v: list(itertools.chain.from_iterable([v, v])),
    "combinations": lambda v: list(itertools.combinations(v, 2)),
    "permutations": lambda v: list(itertools.permutations(v, 2)),
    "compress": lambda v: list(itertools.compress(v, [1, 0, 1, 1])),
    "pairs": lambda v: dict(v),
    "a mapping": lambda v: {**v},
    "keywords": lambda v: dict(a=1.0, **v),
}

PLAIN: dict[str, Callable[[Any], Any]] = {
    "a star of a short list": lambda x: starred_too_few([x, x]),
    "a star of a short tuple": lambda x: starred_too_few_behind((x, x)),
    "a star of a number": lambda x: starred(x),
    "an element of a tuple is set": lambda x: operator.setitem((x, x), 0, x),
    "an element of a tuple is deleted": lambda x: operator.delitem((x, x), 0),
    "a letter is set": lambda x: operator.setitem("ab", 0, x),
    "an iterator over a number": lambda x: iter(x),
    "a sum of text": lambda x: sum(["a"], "b" if x > 0.0 else ""),
    "a pair of one": lambda x: dict([(x,)]),  # type: ignore[list-item]
    "a pair of three": lambda x: {}.update([("a", x), ("b", x, x)]),  # type: ignore[list-item,var-annotated]
    "a pair that is a number": lambda x: dict([("a", x), x]),  # type: ignore[list-item]
}


def outcome(run: Callable[[], Any]) -> Any:
    """What was asked, and the error, if there was one."""
    QUESTIONS.clear()
    try:
        run()
    except (TypeError, ValueError, LookupError) as error:
        return list(QUESTIONS), type(error), str(error)
    return list(QUESTIONS)


def in_both_modes(function: Callable[[float], float], speculation: str) -> list[Any]:
    """The outcome of `function` in reverse and in forward mode."""
    with adbc.use(adbc.Config(speculation=speculation)):
        return [
            outcome(lambda: adbc.vjp(function, 0.7)),
            outcome(lambda: adbc.jvp(function, (0.7,), (1.0,))),
        ]


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("name", CONSUMERS)
def test_an_iterable_is_asked_what_python_asks(name: str, speculation: str) -> None:
    consume = CONSUMERS[name]
    for cls in (Indexed, Steps, Stored):

        def function(x: float, cls: Any = cls) -> float:
            consume(cls(x))
            return x

        expected = outcome(lambda: function(0.7))
        assert in_both_modes(function, speculation) == [expected, expected], cls


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
@pytest.mark.parametrize("name", PLAIN)
def test_what_cannot_be_raises_the_error_of_python(name: str, speculation: str) -> None:
    attempt = PLAIN[name]

    def function(x: float) -> float:
        attempt(x)
        return x

    expected = outcome(lambda: function(0.7))
    assert len(expected) == 3
    assert in_both_modes(function, speculation) == [expected, expected]
