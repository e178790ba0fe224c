"""Functions of NumPy's on short lists and tuples of numbers, given the elements one by one.

A call of one takes most of its time to make an array of the list.  How such calls are met: `rules.elements`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.rules.classes import reals
from adbc.rules.elements import LONGEST, Elements, ElementsRule, expressions
from adbc.rules.quick import quick
from adbc.rules.table import Rule

__all__ = ["OF_ELEMENTS", "ROWS"]

_FLOATS = frozenset({float, np.float64})


def _of_floats(count: int) -> Callable[..., bool]:
    """The predicate that there are `count` real numbers, of which an array of floats is made."""
    return lambda *classes: len(classes) == count and reals(*classes) and not _FLOATS.isdisjoint(classes)


@quick
def sum_of(*elements: Any) -> Any:
    return np.sum(elements)


@quick
def mean_of(*elements: Any) -> Any:
    return np.mean(elements)


@quick
def norm_of(*elements: Any) -> Any:
    return np.linalg.norm(elements)


@quick
def dot_of(*elements: Any) -> Any:
    middle = len(elements) // 2
    return np.dot(elements[:middle], elements[middle:])


@quick
def inner_of(*elements: Any) -> Any:
    middle = len(elements) // 2
    return np.inner(elements[:middle], elements[middle:])


@quick
def vdot_of(*elements: Any) -> Any:
    middle = len(elements) // 2
    return np.vdot(elements[:middle], elements[middle:])


def _of_one(
    function: Callable[..., Any], whole: Callable[..., Any], partial: Callable[[int, str], str]
) -> list[Rule]:
    """The rows of a function of one sequence; ``partial(count, x)`` is the derivative by the element `x`."""
    rows: list[Rule] = []
    for count in range(1, LONGEST + 1):
        names = [f"x{i}" for i in range(count)]
        partials = expressions(", ".join(names), [partial(count, name) for name in names])
        rows.append(ElementsRule(function, partials, whole, when=_of_floats(count), result=np.float64))
    return rows


def _of_two(function: Callable[..., Any], whole: Callable[..., Any]) -> list[Rule]:
    """The rows of a function of two sequences: the sum of the products of their elements."""
    rows: list[Rule] = []
    for count in range(1, LONGEST + 1):
        p, q = [f"p{i}" for i in range(count)], [f"q{i}" for i in range(count)]
        partials = expressions(", ".join((*p, *q)), [*q, *p])
        rows.append(
            ElementsRule(
                function, partials, whole, sequences=2, when=_of_floats(2 * count), result=np.float64
            )
        )
    return rows


OF_ELEMENTS: dict[Any, Elements] = {
    np.sum: Elements(sum_of),
    np.mean: Elements(mean_of),
    np.linalg.norm: Elements(norm_of),
    np.dot: Elements(dot_of, sequences=2),
    np.inner: Elements(inner_of, sequences=2),
    np.vdot: Elements(vdot_of, sequences=2),
}
"""By function, what it is in terms of the elements of lists and tuples."""

ROWS: list[Rule] = [
    *_of_one(sum_of, np.sum, lambda count, x: "1.0"),
    *_of_one(mean_of, np.mean, lambda count, x: repr(1.0 / count)),
    *_of_one(norm_of, np.linalg.norm, lambda count, x: f"_leg(float(out), {x})"),
    *_of_two(dot_of, np.dot),
    *_of_two(inner_of, np.inner),
    *_of_two(vdot_of, np.vdot),
]
