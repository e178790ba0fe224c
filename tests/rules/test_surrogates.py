"""Iterators, caches and keys in Python, which stand for those in C, tell of the classes of those."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.rules.classes import stands_for
from adbc.rules.surrogates import OwnIterator, Surrogate
from adbc.testing import test_rule as check

XS = [1.5, 2.0]


class Indexed:
    def __init__(self, values: list[float]) -> None:
        self.values = values

    def __getitem__(self, i: int) -> float:
        return self.values[i]

    def __len__(self) -> int:
        return len(self.values)


MADE: dict[str, Callable[[Any], Any]] = {
    "accumulate": lambda xs: itertools.accumulate(xs),
    "chain": lambda xs: itertools.chain(xs, xs),
    "combinations": lambda xs: itertools.combinations(xs, 2),
    "combinations_with_replacement": lambda xs: itertools.combinations_with_replacement(xs, 2),
    "compress": lambda xs: itertools.compress(xs, [1, 0]),
    "count": lambda xs: itertools.count(xs[0]),
    "cycle": lambda xs: itertools.cycle(xs),
    "dropwhile": lambda xs: itertools.dropwhile(bool, xs),
    "enumerate": lambda xs: enumerate(itertools.chain(xs)),
    "filter": lambda xs: filter(None, xs),
    "filterfalse": lambda xs: itertools.filterfalse(None, xs),
    "generator": lambda xs: (x for x in xs),
    "group": lambda xs: next(itertools.groupby(xs))[1],
    "groupby": lambda xs: itertools.groupby(xs),
    "islice": lambda xs: itertools.islice(xs, 1),
    "iter": lambda xs: iter(xs),
    "iter of an indexed object": lambda xs: iter(Indexed(xs)),
    "iter of calls": lambda xs: iter(xs.pop, None),
    "key": lambda xs: functools.cmp_to_key(lambda a, b: xs[0])(1.0),
    "keys": lambda xs: functools.cmp_to_key(lambda a, b: xs[0]),
    "lru_cache": lambda xs: functools.lru_cache(lambda x: x * xs[0]),
    "map": lambda xs: map(operator.neg, xs),
    "map of two": lambda xs: map(operator.mul, xs, xs),
    "pairwise": lambda xs: itertools.pairwise(xs),
    "partial": lambda xs: functools.partial(operator.mul, xs[0]),
    "permutations": lambda xs: itertools.permutations(xs),
    "product": lambda xs: itertools.product(xs, xs),
    "repeat": lambda xs: itertools.repeat(xs[0]),
    "reversed": lambda xs: reversed(xs),
    "reversed of an indexed object": lambda xs: reversed(Indexed(xs)),
    "starmap": lambda xs: itertools.starmap(operator.mul, zip(xs, xs, strict=True)),
    "takewhile": lambda xs: itertools.takewhile(bool, xs),
    "tee": lambda xs: itertools.tee(xs)[0],
    "zip": lambda xs: zip(xs, xs),  # noqa: B905  # its arguments are those of what is tested
    "zip of a generator": lambda xs: zip((x for x in xs), xs, strict=False),
    "zip, strict": lambda xs: zip(xs, xs, strict=True),
    "zip_longest": lambda xs: itertools.zip_longest(xs, xs),
}
if sys.version_info >= (3, 12):
    MADE["batched"] = lambda xs: itertools.batched(xs, 2)


def asked(make: Callable[[Any], Any], cls: type) -> Callable[[Any], Any]:
    def asks(xs: Any) -> Any:
        made = make(xs)
        weight = 0.0
        weight += 1.0 if type(made) is cls else 2.0
        weight += 10.0 if made.__class__ is cls else 20.0
        weight += 100.0 if isinstance(made, cls) else 200.0
        weight += 1e3 if cls is type(made) else 2e3
        weight += 1e4 if type(made) == cls else 2e4  # noqa: E721  # this way of asking is what is tested
        weight += 1e5 if type(made).__name__ == cls.__name__ else 2e5
        weight += 1e6 if isinstance(made, (complex, cls)) else 2e6
        return sum(xs) * weight

    return asks


def derivatives_of(name: str) -> list[Any]:
    make = MADE[name]
    asks = asked(make, type(make(XS[:])))
    assert asks(XS[:]) == 3.5 * 1111111.0
    return [adbc.value_and_grad(asks)(XS[:]), adbc.jvp(asks, (XS[:],), ([1.0, 0.0],))]


RIGHT = [(3.5 * 1111111.0, [1111111.0, 1111111.0]), (3.5 * 1111111.0, 1111111.0)]


@pytest.mark.parametrize("name", MADE)
def test_they_tell_of_the_class_that_they_stand_for(name: str) -> None:
    assert derivatives_of(name) == RIGHT  # cold, by the interpreter
    with adbc.use(adbc.Config(warm_after=0)):
        assert derivatives_of(name) == RIGHT


@pytest.mark.parametrize("name", ["chain", "generator", "lru_cache", "map", "partial", "zip, strict"])
def test_so_does_code_that_guesses_in_another_way(name: str, speculation: str) -> None:
    assert derivatives_of(name) == RIGHT


def flattened(xs: Any) -> Any:
    """The numbers in what is nested, as programs tell iterators from numbers."""
    for x in xs:
        if isinstance(x, (list, map, zip, itertools.chain, tuple)):
            yield from flattened(x)
        else:
            yield x


def nested(x: Any, y: Any) -> Any:
    rows = [x, map(operator.neg, [y, x]), itertools.chain([x * y], zip([x], [y], strict=True)), [y]]
    return sum(k * v * v for k, v in enumerate(flattened(rows), 1))


def test_what_is_found_by_its_class_has_its_derivative(speculation: str) -> None:
    check(nested, 1.5, 0.5)


def described(x: Any) -> Any:
    texts = repr(map(operator.neg, [x])), repr(itertools.chain([x])), repr(itertools.tee([x])[0])
    starts = "<map object at 0x", "<itertools.chain object at 0x", "<itertools._tee object at 0x"
    return x * sum(text.startswith(start) for text, start in zip(texts, starts, strict=True))


def test_their_text_tells_of_it(speculation: str) -> None:
    assert adbc.value_and_grad(described)(2.0) == (6.0, 3.0)


def counted(x: Any) -> Any:
    ways = itertools.count(3), itertools.count(3, 5), itertools.repeat("a"), itertools.repeat("a", 2)
    held = [(way, x) for way in ways]
    next(ways[1])
    next(ways[3])
    texts = [repr(way) for way, _ in held]
    return x * (texts == ["count(3)", "count(8, 5)", "repeat('a')", "repeat('a', 1)"])


def test_the_text_of_those_that_tell_where_they_are(speculation: str) -> None:
    assert adbc.value_and_grad(counted)(2.0) == (2.0, 1.0)
    assert adbc.jvp(counted, (2.0,), (1.0,)) == (2.0, 1.0)


def surrogates(base: type = Surrogate) -> list[type]:
    return [base, *(found for cls in base.__subclasses__() for found in surrogates(cls))]


def test_every_one_stands_for_a_class_in_c() -> None:
    bases = {Surrogate, OwnIterator}
    leaves = [cls for cls in surrogates() if not cls.__subclasses__() and cls not in bases]
    assert len(leaves) > 25
    for cls in leaves:
        if cls.__name__ != "_Batched" or hasattr(itertools, "batched"):
            assert type(stands_for(cls)) is type, cls


def by_keyword(xs: Any) -> Any:
    pairs = zip(xs, xs, strict=True)
    return sum(a * b for a, b in pairs) if pairs.__class__ is zip else 0.0


def test_an_argument_by_keyword_does_not_decide_which_rule_a_call_has(speculation: str) -> None:
    check(by_keyword, XS)
