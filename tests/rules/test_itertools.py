"""Every function of `itertools`, in both modes: over iterables of all kinds, lazily, effects in order."""

# ruff: noqa: B905
# What is tested is just what these would have written in another way.

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from itertools import chain, count, cycle, groupby, islice, tee, zip_longest
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check


def gen(a: Any) -> Any:
    for v in a:
        yield v * 1.5


def total(rows: Any) -> Any:
    """A number that every element of every row counts in differently."""
    out, weight = 0.0, 1.0
    for row in rows:
        for v in row:
            out = out + weight * v * v
            weight = weight + 0.5
    return out


def weighted(values: Any) -> Any:
    return total([values])


def running(a: Any, x: Any) -> Any:
    state = [x]

    def step(u: Any, v: Any) -> Any:
        state[0] = state[0] * v
        return u + state[0]

    return list(itertools.accumulate(a, step)), state[0]


def partly_consumed_groups(a: Any, x: Any) -> Any:
    out = []
    for key, group in groupby([*a, x, 2.0 * x], lambda v: v > 1.0):
        if key:
            out.append(next(group))
    return out


def groups_gone_stale(a: Any, x: Any) -> Any:
    groups = [group for _, group in groupby([*a, x], lambda v: v > 1.0)]
    return sum([len(list(g)) for g in groups]) * x


def group_then_next(a: Any, x: Any) -> Any:
    groups = groupby([*a, x, 3.0 * x], lambda v: v > 1.0)
    _, first = next(groups)
    u = next(first)
    _, second = next(groups)
    return u, list(second), list(first)


def tee_in_turns(a: Any, x: Any) -> Any:
    source = gen([*a, x])
    left, right = tee(source)
    u = next(left) * next(left)
    v = next(right)
    return u, v, list(left), list(right), next(source, x)


def tee_of_tee(a: Any, x: Any) -> Any:
    left, right = tee(a)
    next(left)
    again, more = tee(left)
    return list(again), x * next(right), list(more), list(right)


def stored_and_continued(a: Any, x: Any) -> Any:
    box = {"chain": chain(a, gen(a), (x, 2.0))}
    u = next(box["chain"]) + next(box["chain"])
    x = x * u
    return u, list(islice(box["chain"], 2)), list(box["chain"]), x


def shared_between(a: Any, x: Any) -> Any:
    it = iter(a)
    return list(zip(it, it)), list(chain([x], it))


def order_of_effects(a: Any, x: Any) -> Any:
    log = [x]

    def note(v: Any) -> Any:
        log.append(log[-1] * v)
        return v > 0.6

    kept = itertools.filterfalse(note, a)
    taken = itertools.dropwhile(note, log)
    return list(kept), list(islice(taken, 1)), log


def count_by_hand(a: Any, x: Any) -> Any:
    c = count(x, a[0])
    return [next(c), next(c) * next(c)]


def cycling(a: Any, x: Any) -> Any:
    c = cycle(gen(a))
    return [next(c) * x for _ in range(5)]


def changed_while_iterated(a: Any, x: Any) -> Any:
    b = list(a)
    it = chain(b)
    u = next(it)
    b.append(x * u)
    b[1] = x
    return list(it)


def yielded_from(a: Any, x: Any) -> Any:
    def inner() -> Any:
        yield from chain(a, [x])
        yield from itertools.repeat(x * x, 2)

    return list(inner())


def an_exhausted_one_stays_so(a: Any, x: Any) -> Any:
    it = itertools.takewhile(lambda v: v < 1.0, [*a, 0.1 * x])
    u = list(it)
    return u, list(it), next(it, x)


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "accumulate": lambda a, x: list(itertools.accumulate(a)),
    "accumulate function": lambda a, x: list(itertools.accumulate(a, lambda u, v: u * v + x)),
    "accumulate initial": lambda a, x: list(itertools.accumulate(gen(a), initial=x)),
    "accumulate function by keyword": lambda a, x: list(itertools.accumulate(a, func=max, initial=x)),
    "accumulate state": lambda a, x: running(a, x),
    "accumulate empty": lambda a, x: (x, list(itertools.accumulate([]))),
    "accumulate array": lambda a, x: list(itertools.accumulate(np.array(a) * x)),
    "accumulate dict values": lambda a, x: list(itertools.accumulate({"p": a[0], "q": x}.values())),
    "chain": lambda a, x: weighted(chain(a, (x, 2.0), gen(a), {1: x}.values())),
    "chain none": lambda a, x: (x, list(chain())),
    "chain array": lambda a, x: weighted(chain(np.array(a), [x])),
    "chain.from_iterable": lambda a, x: weighted(chain.from_iterable([a, (x,), gen(a)])),
    "chain.from_iterable generator": lambda a, x: weighted(chain.from_iterable([v, v * x] for v in a)),
    "combinations": lambda a, x: total(itertools.combinations([*a, x], 2)),
    "combinations generator": lambda a, x: total(itertools.combinations(gen(a), 2)),
    "combinations too many": lambda a, x: (x, list(itertools.combinations(a, 7))),
    "combinations with replacement": lambda a, x: total(itertools.combinations_with_replacement([*a, x], 2)),
    "compress": lambda a, x: list(itertools.compress([*a, x], [1, 0, True, "s"])),
    "compress short": lambda a, x: list(itertools.compress(gen(a), iter([0, 1]))),
    "compress active selectors": lambda a, x: list(itertools.compress(a, (x, 0.0, x))),
    "compress by keyword": lambda a, x: list(itertools.compress(data=a, selectors=[0, 1, 1])),
    "count": lambda a, x: [n * v for n, v in zip(count(), a)],
    "count active": lambda a, x: list(islice(count(x, a[1]), 4)),
    "count by keyword": lambda a, x: list(islice(count(start=x, step=0.5), 3)),
    "count in turns": lambda a, x: count_by_hand(a, x),
    "cycle": lambda a, x: list(islice(cycle([*a, x]), 7)),
    "cycle generator": lambda a, x: cycling(a, x),
    "cycle empty": lambda a, x: (x, list(cycle([]))),
    "dropwhile": lambda a, x: list(itertools.dropwhile(lambda v: v < x, a)),
    "filterfalse": lambda a, x: list(itertools.filterfalse(lambda v: v < 1.0, [*a, x])),
    "filterfalse None": lambda a, x: list(itertools.filterfalse(None, [0.0, x, "", 0])),
    "filterfalse bool": lambda a, x: list(itertools.filterfalse(bool, (0.0, x))),
    "groupby": lambda a, x: [(k, [v * x for v in g]) for k, g in groupby(a, lambda v: v > 1.0)],
    "groupby itself": lambda a, x: [(k, list(g)) for k, g in groupby([x, x, *a])],
    "groupby tuple key": lambda a, x: [
        list(g) for _, g in groupby([(1, x), (1, a[0]), (2, x)], lambda p: p[0])
    ],
    "groupby by keyword": lambda a, x: [list(g) for _, g in groupby(gen(a), key=lambda v: v > 1.0)],
    "groupby partly": lambda a, x: partly_consumed_groups(a, x),
    "groupby stale": lambda a, x: groups_gone_stale(a, x),
    "groupby then next": lambda a, x: group_then_next(a, x),
    "islice stop": lambda a, x: list(islice(gen(a), 2)),
    "islice start stop": lambda a, x: list(islice([*a, x], 1, 4)),
    "islice step": lambda a, x: list(islice([*a, x], 0, None, 2)),
    "islice none": lambda a, x: list(islice([*a, x], None)),
    "islice leaves the rest": lambda a, x: (lambda g: (list(islice(g, 1)), next(g) * x))(gen(a)),
    "pairwise": lambda a, x: total(itertools.pairwise([*a, x])),
    "pairwise generator": lambda a, x: total(itertools.pairwise(gen(a))),
    "permutations": lambda a, x: total(itertools.permutations([*a[:2], x])),
    "permutations two": lambda a, x: total(itertools.permutations((*a, x), 2)),
    "product": lambda a, x: total(itertools.product(a, (x, 2.0))),
    "product repeat": lambda a, x: total(itertools.product(a, repeat=2)),
    "product dict": lambda a, x: total(itertools.product({"p": x, "q": a[0]}.values(), gen(a))),
    "repeat": lambda a, x: [u * v for u, v in zip(itertools.repeat(x), a)],
    "repeat times": lambda a, x: list(itertools.repeat(x, 3)),
    "repeat times by keyword": lambda a, x: list(itertools.repeat(object=x, times=2)),
    "repeat list": lambda a, x: [v[0] * x for v in itertools.repeat(a, 2)],
    "map repeat": lambda a, x: list(map(pow, a, itertools.repeat(x))),
    "starmap": lambda a, x: list(itertools.starmap(lambda u, v: u * v, [(x, a[0]), [a[1], a[2]]])),
    "starmap pow": lambda a, x: list(map(pow, a, itertools.repeat(x))),
    "takewhile": lambda a, x: list(itertools.takewhile(lambda v: v < 2.0 * x, a)),
    "takewhile stays": lambda a, x: an_exhausted_one_stays_so(a, x),
    "tee": lambda a, x: total(zip(*tee([*a, x]))),
    "tee three": lambda a, x: total(zip(*tee(gen(a), 3))),
    "tee none": lambda a, x: (x, tee(a, 0)),
    "tee in turns": lambda a, x: tee_in_turns(a, x),
    "tee of tee": lambda a, x: tee_of_tee(a, x),
    "zip_longest": lambda a, x: list(zip_longest(a, [x])),
    "zip_longest fill": lambda a, x: total(zip_longest(a, (x,), gen(a[:2]), fillvalue=x * x)),
    "stored": lambda a, x: stored_and_continued(a, x),
    "shared": lambda a, x: shared_between(a, x),
    "order of effects": lambda a, x: order_of_effects(a, x),
    "changed meanwhile": lambda a, x: changed_while_iterated(a, x),
    "yield from": lambda a, x: yielded_from(a, x),
    "array rows": lambda a, x: sum(itertools.chain(np.array([a, a]) * x)),
    "array pairs": lambda a, x: [u * v for u, v in itertools.combinations(np.array(a), 2)],
}
if sys.version_info >= (3, 12):
    CASES |= {
        "batched": lambda a, x: total(itertools.batched([*a, x, 2.0 * x], 2)),
        "batched generator": lambda a, x: list(itertools.batched(gen(a), n=2)),
        "batched lazily": lambda a, x: (lambda g: (next(itertools.batched(g, 2)), next(g) * x))(gen(a)),
    }
if sys.version_info >= (3, 13):
    CASES |= {
        "batched strict": lambda a, x: list(itertools.batched([*a, x], 2, strict=True)),
    }


@pytest.mark.parametrize("name", CASES)
def test_every_function_of_itertools_is_right(name: str) -> None:
    check(CASES[name], [0.5, 1.5, 0.7], 0.8)


# -- iterators that were made before the call ----------------------------------------------------------------

NUMBERS, LETTERS, SAME = count(), cycle("abc"), itertools.repeat("ab")
PAIRS = itertools.product("ab", range(1000))
FLOATS, LISTS, CHAINED = cycle([1.0, 2.0]), itertools.repeat([1.0]), chain([1.0, 2.0], [3.0])


class Numbered:
    """Each has a number, as the events of a simulation do."""

    numbers = count()

    def __init__(self, x: Any) -> None:
        self.number = next(self.numbers)
        self.x = x


def numbered(x: Any) -> Any:
    first, second = Numbered(x), Numbered(x * x)
    return first.x * second.x * (second.number - first.number)


def counted(x: Any) -> Any:
    for number in NUMBERS:
        x = x * (1.5 if number >= 0 else 2.0)
        if x > 5.0:
            break
    for number, _ in zip(iter(NUMBERS), range(2)):
        x = x * (1.5 if number >= 0 else 2.0)
    return x


def of_constants(x: Any) -> Any:
    return x * len(next(LETTERS)) * len(next(SAME)) * len(next(PAIRS))


@pytest.mark.parametrize("function", [numbered, counted, of_constants])
def test_what_counts_and_repeats_constants_may_be_made_before_the_call(function: Callable[..., Any]) -> None:
    check(function, 1.25)


@pytest.mark.parametrize("made", [FLOATS, LISTS, CHAINED])
def test_what_cannot_be_looked_into_is_refused_by_its_name(made: Any) -> None:
    for differentiate in (adbc.grad, lambda f: lambda x: adbc.jvp(f, (x,), (1.0,))):
        with pytest.raises(adbc.errors.UnsupportedError, match=f"{type(made).__name__} that was made"):
            differentiate(lambda x: x * next(made))(1.5)
