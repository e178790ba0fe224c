"""Sorting by comparisons in Python that change something: all are followed, in the interpreter's order."""

from __future__ import annotations

import bisect
import heapq
import random
from typing import Any

import pytest

import adbc
from adbc.rules.builtins.sorting import sorted_by_questions


class Weighed:
    """What is less is noted, and changes both weights."""

    def __init__(self, weight, notes):
        self.weight = weight
        self.notes = notes

    def __lt__(self, other):
        self.notes.append(self.weight * 0.1)
        other.weight = other.weight * 1.0625
        return self.weight < other.weight


class Shy:
    """Leaves it to the other one, which is asked by another method."""

    def __init__(self, weight, notes):
        self.weight = weight
        self.notes = notes

    def __lt__(self, other):
        self.notes.append(self.weight)
        return NotImplemented

    def __gt__(self, other):
        self.notes.append(self.weight * 2.0)
        return self.weight > other.weight


class Stops:
    def __init__(self, weight, notes):
        self.weight = weight
        self.notes = notes

    def __lt__(self, other):
        self.notes.append(self.weight)
        if len(self.notes) == 9:
            raise KeyError(len(self.notes))
        return self.weight < other.weight


def right(f: Any, x: float = 1.3) -> None:
    value, step = f(x), 1e-6
    slope = (f(x + step) - f(x - step)) / (2.0 * step)
    assert adbc.jvp(f, (x,), (1.0,)) == pytest.approx((value, slope), rel=1e-6)
    for _ in range(2):
        assert adbc.value_and_grad(f)(x) == pytest.approx((value, slope), rel=1e-6)


def things(cls: Any, x: Any, notes: Any, count: int = 8) -> Any:
    draw = random.Random(3)
    return [cls(x * draw.uniform(0.5, 2.0), notes) for _ in range(count)]


def seen(values: Any, notes: Any) -> Any:
    total = 0.0
    for k, v in enumerate(values):
        total = total + (k + 1) * v.weight
    for k, note in enumerate(notes):
        total = total + note * (k % 5)
    return total + len(notes)


SORTS = {
    "sorted": lambda values, notes: sorted(values),
    "backwards": lambda values, notes: sorted(values, reverse=True),
    "by a key": lambda values, notes: sorted(values, key=lambda v: v),
    "in tuples": lambda values, notes: [v for v, _ in sorted([(v, 1) for v in values])],
    "second in tuples": lambda values, notes: [v for _, v in sorted([(values[0].weight, v) for v in values])],
    "of two": lambda values, notes: sorted(values[:2]),
    "of one": lambda values, notes: sorted(values[:1]),
    "min": lambda values, notes: [min(values)],
    "max": lambda values, notes: [max(values), max(values, key=lambda v: v)],
    "heap": lambda values, notes: heapq.nsmallest(3, values),
    "bisect": lambda values, notes: values[bisect.bisect_left(values, values[2]) :],
    "bisect, from the right": lambda values, notes: values[bisect.bisect_right(values, values[1]) :],
    "insort": lambda values, notes: bisect.insort(values, values[3]) or values,
    "bisect, with a key": lambda values, notes: values[
        bisect.bisect_left(values, values[2], 0, -1, key=lambda v: v) :
    ],
}
CASES = [(sort, cls) for sort in SORTS for cls in (Weighed, Shy)]


@pytest.mark.parametrize(("sort", "cls"), CASES)
def test_comparisons_are_followed(sort, cls):
    def f(x):
        notes: list[Any] = []
        values = things(cls, x, notes)
        return seen(SORTS[sort](values, notes), notes) + seen(values, ())

    right(f)


@pytest.mark.parametrize("options", [{}, {"reverse": True}, {"key": lambda v: v}])
@pytest.mark.parametrize("cls", [Weighed, Shy])
def test_a_list_is_sorted_in_place(cls, options):
    def f(x):
        notes: list[Any] = []
        values = things(cls, x, notes)
        values.sort(**options)
        return seen(values, notes)

    right(f)


def test_a_comparison_that_raises_leaves_the_list_half_sorted():
    def f(x):
        notes: list[Any] = []
        values = things(Stops, x, notes)
        try:
            values.sort()
        except KeyError as error:
            notes.append(x * error.args[0])
        return seen(values, notes)

    right(f)


def test_the_list_is_empty_while_it_is_sorted():
    def f(x):
        values: list[Any] = []

        class Looks:
            def __init__(self, weight):
                self.weight = weight

            def __lt__(self, other):
                self.weight = self.weight * (1.5 + len(values))
                return self.weight < other.weight

        values.extend(Looks(x * (1.0 + 0.3 * (k * 3 % 5))) for k in range(5))
        values.sort()
        return seen(values, ())

    right(f)


def test_a_list_that_is_changed_while_it_is_sorted():
    def f(x):
        values: list[Any] = []

        class Adds:
            def __init__(self, weight):
                self.weight = weight

            def __lt__(self, other):
                values.append(self)
                return self.weight < other.weight

        values.extend(Adds(x * (1.0 + 0.3 * (k * 3 % 5))) for k in range(5))
        try:
            values.sort()
        except ValueError as error:
            return seen(values, ()) + x * (str(error) == "list modified during sort")
        return x

    right(f)


def test_arguments_are_as_before():
    def f(values, notes):
        values.sort()
        return seen(values, notes)

    notes: list[Any] = []
    values = things(Weighed, 1.3, notes)
    before, weights = list(values), [v.weight for v in values]
    adbc.grad(f, (0, 1))(values, notes)
    assert all(v is w for v, w in zip(values, before, strict=True))
    assert [v.weight for v in values] == weights
    assert not notes


FORMS = {
    "alone": lambda value, rank: value,
    "in a tuple": lambda value, rank: (value, rank),
    "second in a tuple": lambda value, rank: (rank % 3, value),
    "in tuples of other lengths": lambda value, rank: (value, 1)[: 1 + rank % 2],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [*range(12), 40, 63, 64, 65, 90, 100])
def test_the_same_is_asked_in_the_same_order(size, reverse, form):
    asked: list[tuple[str, int, int]] = []

    class Asked:
        def __init__(self, at, rank):
            self.at, self.rank = at, rank

        def __lt__(self, other):
            asked.append(("lt", self.at, other.at))
            return NotImplemented if self.at % 3 == 1 else self.rank < other.rank

        def __gt__(self, other):
            asked.append(("gt", self.at, other.at))
            return self.rank > other.rank

        def __eq__(self, other):
            asked.append(("eq", self.at, other.at))
            return self.rank == other.rank

    for seed in range(4 if size < 20 else 1):
        draw = random.Random(seed)
        ranks = [draw.randrange(size // 2 + 1) for _ in range(size)]
        if seed == 1:
            ranks.sort()
        if seed == 2:
            ranks.sort(reverse=True)
        values = [FORMS[form](Asked(*v), v[1]) for v in enumerate(ranks)]
        asked.clear()
        wanted = sorted(range(size), key=values.__getitem__, reverse=reverse)
        questions = list(asked)
        asked.clear()
        assert list(sorted_by_questions(values, reverse)) == wanted
        assert asked == questions


@pytest.mark.parametrize("most", [4, 10**9])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_list_that_is_changed_by_its_key(mode, most):
    """Keys are made of the elements that the list had, and then it is found to have more."""

    def f(x):
        values = [x, 2.0 * x, -x]

        def key(v):
            if len(values) < most:
                values.append(v)
            return -v

        try:
            values.sort(key=key)
        except ValueError as error:
            return values[0] * x + len(values) * (str(error) == "list modified during sort")
        return x

    def derivative(x):
        return adbc.grad(f)(x) if mode == "reverse" else adbc.jvp(f, (x,), (1.0,))[1]

    assert f(1.3) == pytest.approx(2.0 * 1.3**2 + 3)
    assert derivative(1.3) == pytest.approx(4.0 * 1.3)
