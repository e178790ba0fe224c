"""Rows for `collections.deque` and the bodies of `itertools`."""

from __future__ import annotations

import itertools
import operator
from collections import deque

import pytest

from adbc.ir import intrinsics as i
from adbc.rules import default_table
from adbc.rules.collections import empty_deque
from adbc.rules.table import Overlay
from adbc.testing import test_rule as check
from tests.rules.rows import find

DEQUES = [
    (deque.append, deque([1.0]), 2.0),
    (deque.append, deque([1.0, 2.0], 2), 3.0),
    (deque.append, deque([[1.0], 2.0], 2), 3.0),
    (deque.append, deque(maxlen=0), 3.0),
    (deque.appendleft, deque([1.0]), [2.0]),
    (deque.appendleft, deque([1.0, 2.0], 2), 3.0),
    (deque.pop, deque([1.0, [2.0]])),
    (deque.popleft, deque([1.0, 2.0])),
    (deque.popleft, deque([1.0, 2.0], 2)),
    (deque.rotate, deque([1.0, 2.0, 3.0])),
    (deque.rotate, deque([1.0, 2.0, 3.0]), 2),
    (deque.reverse, deque([1.0, [2.0]])),
    (deque.clear, deque([1.0, [2.0]])),
    (empty_deque, 3),
    (operator.getitem, deque([1.0, 2.0]), -1),
    (operator.setitem, deque([1.0, 2.0]), 1, [5.0]),
]


@pytest.mark.parametrize("case", DEQUES, ids=lambda case: f"{case[0].__name__}{case[1:]}")
def test_deque(case: tuple) -> None:
    check(*case)


def test_iteration_over_a_deque() -> None:
    a, fa = deque([1.0, 2.0]), deque([0.0, 0.0])
    for make, expected in ((i._iter_, [1.0, 2.0]), (reversed, [2.0, 1.0])):
        it, fit, _ = find(make, (a,)).rrule((a,), (fa,))
        for x in expected:
            value, _, pullback = find(i._next_, (it,)).rrule((it,), (fit,))
            assert value == x
            pullback(x)
    assert fa == deque([2.0, 4.0])


def gen(*values):
    yield from values


BODIES = [
    (itertools.chain, lambda f: f([1.0], gen(2.0), ())),
    (itertools.chain, lambda f: f()),
    (itertools.chain.from_iterable, lambda f: f(gen([1], [2]))),
    (itertools.accumulate, lambda f: f([1.0, 2.0, 3.0])),
    (itertools.accumulate, lambda f: f([])),
    (itertools.accumulate, lambda f: f([], initial=5.0)),
    (itertools.accumulate, lambda f: f(gen(1, 2), operator.mul, initial=5)),
    (itertools.islice, lambda f: f(gen(1, 2, 3, 4), 2)),
    (itertools.islice, lambda f: f(gen(*range(10)), 2, None, 3)),
    (itertools.islice, lambda f: f(gen(*range(10)), 1, 8, 3)),
    (itertools.islice, lambda f: f([], -1)),
    (itertools.repeat, lambda f: f(1.0, 3)),
    (itertools.repeat, lambda f: f(1.0, times=2)),
    (itertools.repeat, lambda f: f(1.0, -2)),
    (itertools.count, lambda f: itertools.islice(f(1.5, 2), 3)),
    (itertools.count, lambda f: itertools.islice(f(step=2), 3)),
    (itertools.cycle, lambda f: itertools.islice(f(gen(1, 2)), 5)),
    (itertools.cycle, lambda f: f([])),
    (itertools.starmap, lambda f: f(pow, [(2, 3), (4, 1)])),
    (itertools.takewhile, lambda f: f(bool, gen(1, 2, 0, 3))),
    (itertools.dropwhile, lambda f: f(bool, gen(1, 2, 0, 3))),
    (itertools.pairwise, lambda f: f(gen(1, 2, 3))),
    (itertools.pairwise, lambda f: f([1])),
    (itertools.zip_longest, lambda f: f([1], gen(2, 3), fillvalue=9)),
    (itertools.zip_longest, lambda f: f()),
    (itertools.product, lambda f: f([1, 2], gen(3, 4))),
    (itertools.product, lambda f: f([1, 2], repeat=2)),
    (itertools.product, lambda f: f()),
    (itertools.permutations, lambda f: f([1, 2, 3])),
    (itertools.permutations, lambda f: f([1, 2, 3], 2)),
    (itertools.combinations, lambda f: f(gen(1, 2, 3), 2)),
    (itertools.combinations_with_replacement, lambda f: f([1, 2], 2)),
    (itertools.combinations, lambda f: f([1], 3)),
]


def outcome(call, function):
    try:
        return list(call(function))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(("function", "call"), BODIES)
def test_a_body_does_what_the_iterator_does(function, call) -> None:
    body = next(row.body for row in default_table().rows(function) if isinstance(row, Overlay))
    assert outcome(call, body) == outcome(call, function)


def test_islice_takes_no_more_than_it_must() -> None:
    body = next(row.body for row in default_table().rows(itertools.islice))
    for bounds in ((2,), (1, 4, 2), (0,), (3, 3)):
        left, right = gen(*range(10)), gen(*range(10))
        assert list(body(left, *bounds)) == list(itertools.islice(right, *bounds))
        assert list(left) == list(right)
