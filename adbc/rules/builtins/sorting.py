"""Sorting by comparisons written in Python, one after the other.

What `list.sort` compares follows from how many values there are and what the comparisons said so far.  So
places are sorted, which answer as far as that is known, to learn what is compared next; that comparison is
made by code that can be followed.  It is a sort for each comparison, and nothing for long lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adbc.ir.intrinsics import _load_special_
from adbc.rules.classes import overrides
from adbc.rules.table import Rule, ZeroRule

__all__ = ["MOST", "ROWS", "sort_by_questions", "sorted_by_questions"]

MOST = 100
"""The most values that are sorted like that."""

Question = tuple[tuple[int, ...], int, int]
"""The order in which values stand so far, and the places of two of which it is asked whether one is less."""


class _Unknown(Exception):
    """A comparison whose answer is not known."""


class _Place:
    """A place in a list, which compares like the value there did."""

    __slots__ = ("answers", "at")

    def __init__(self, at: int, answers: Iterator[bool]) -> None:
        self.at = at
        self.answers = answers

    def __lt__(self, other: _Place) -> bool:
        for answer in self.answers:
            return answer
        raise _Unknown(self.at, other.at)


def next_question(size: int, answers: Any, reverse: Any) -> Question:
    """What comes next when `size` values are sorted and these are the `answers` to what was asked; the places
    are -1 if nothing does."""
    known = iter(answers)
    places = [_Place(at, known) for at in range(size)]
    asked = -1, -1
    try:
        places.sort(reverse=reverse)
    except _Unknown as unknown:
        asked = unknown.args
    return tuple([place.at for place in places]), *asked


def are_alike(values: Any) -> bool:
    """Whether `values` are of one class with a ``__lt__`` in Python: the interpreter asks for that itself."""
    classes = set(map(type, values))
    return len(classes) == 1 and overrides(classes.pop(), "__lt__")


def are_tuples(values: Any) -> bool:
    """Whether `values` are tuples, none of them empty, whose elements the interpreter compares itself."""
    return set(map(type, values)) == {tuple} and all(values)


def way_of_asking(values: Any) -> tuple[bool, bool]:
    """Whether `values` are tuples, and whether they, or their first elements, are alike."""
    in_tuples = are_tuples(values)
    return in_tuples, are_alike([x[0] for x in values]) if in_tuples else are_alike(values)


def is_less(x: Any, y: Any, is_alike: bool) -> bool:
    """``x < y``, asked as `list.sort` asks it."""
    if is_alike:
        answer = _load_special_(x, "__lt__")(y)
        if answer is not NotImplemented:
            return bool(answer)
    return bool(x < y)


def is_less_tuple(x: Any, y: Any, is_alike: bool) -> bool:
    """``x < y`` of tuples, asked as `list.sort` asks it."""
    i, size = 0, min(len(x), len(y))
    while i < size and (x[i] is y[i] or x[i] == y[i]):
        i += 1
    if i == size:
        return len(x) < len(y)
    return is_less(x[i], y[i], is_alike and i == 0)


def sorted_by_questions(keys: Any, reverse: Any) -> Any:
    """The indices of `keys` in sorted order."""
    in_tuples, is_alike = way_of_asking(keys)
    asked = is_less_tuple if in_tuples else is_less
    answers: list[bool] = []
    order, i, j = next_question(len(keys), answers, reverse)
    while i >= 0:
        answers.append(asked(keys[i], keys[j], is_alike))
        order, i, j = next_question(len(keys), answers, reverse)
    return order


def sort_by_questions(a: Any, keys: Any, reverse: Any) -> None:
    """Sort the list `a` by `keys`: it is empty meanwhile, and half sorted if a comparison raises."""
    values = a[:]
    in_tuples, is_alike = way_of_asking(keys)
    asked = is_less_tuple if in_tuples else is_less
    answers: list[bool] = []
    order, i, j = next_question(len(keys), answers, reverse)
    a.clear()
    try:
        while i >= 0:
            answers.append(asked(keys[i], keys[j], is_alike))
            order, i, j = next_question(len(keys), answers, reverse)
    finally:
        was_changed = len(a) > 0
        a[:] = [values[k] for k in order]
    if was_changed:
        raise ValueError("list modified during sort")


ROWS: list[Rule] = [
    ZeroRule(next_question, result=tuple),
    ZeroRule(way_of_asking, result=tuple),
]
