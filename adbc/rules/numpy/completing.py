"""What all rows of NumPy's functions are given behind their declaration, and their rows for other classes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.functions import is_function
from adbc.rules.kinds import RowKind
from adbc.rules.numpy import array_likes, instances, short
from adbc.rules.numpy.base import ArrayRule
from adbc.rules.numpy.elementwise import ElementwiseRule
from adbc.rules.numpy.ufunc_methods import methods_of, row_of_method
from adbc.rules.numpy.views import ViewRule
from adbc.rules.quick import once_per_call
from adbc.rules.spelling import SPELLING
from adbc.rules.table import Overlay, Rule

__all__ = ["completed", "last_rows", "last_rows_of_methods", "marked"]


def _arrays_of(row: Rule) -> slice:
    """The arguments by position of which the function of `row` makes arrays."""
    if isinstance(row, ArrayRule):
        return slice(row.arrays)
    return slice(1) if isinstance(row, ViewRule) else slice(None)


_PLAIN = frozenset({operator.getitem, operator.delitem, operator.matmul, operator.imatmul, *SPELLING})
"""Functions of which NumPy's are no special case where text is met, or that raise where it is."""


def marked(rows: list[Rule]) -> list[Rule]:
    """The rows themselves: an array is made of text like one of numbers, and so is a number of such an
    array."""
    for row in rows:
        is_met = row.kind is RowKind.OVERLAY or row.of_text or row.converts is not None
        if not is_met and row.function not in _PLAIN:
            row.converts, row.meets_text = _arrays_of(row), True
    return rows


def completed(rows: list[Rule]) -> list[Rule]:
    """The rows themselves, `marked`: what stands for a function is called once per call of it, and a function
    may have a body for few elements."""
    for row in marked(rows):
        if (
            isinstance(row, Overlay)
            and is_function(row.body)
            and row.function is not np.cov  # whose code rounds its products otherwise
        ):
            once_per_call(row.body)
        row.elements = short.OF_ELEMENTS.get(row.function)
    return rows


def last_rows(rows: Sequence[Rule]) -> dict[Any, Callable[[Any], list[Rule]]]:
    """By function, what makes its rows for instances of subclasses of ndarray and for what stands for an
    array: most of them are never looked up."""
    return dict.fromkeys((*(row.function for row in rows), *array_likes.OPERATORS), _last_rows)


def last_rows_of_methods(rows: Sequence[ElementwiseRule]) -> dict[Any, Callable[[Any], list[Rule]]]:
    """By method of the ufuncs that `rows` are for, what makes all its rows."""

    def of_methods(row: ElementwiseRule) -> Callable[[Any], list[Rule]]:
        return lambda method: [*completed([row_of_method(row, method)]), *_last_rows(method)]

    return {method: of_methods(row) for row in rows for method in methods_of(row)}


def _last_rows(function: Any) -> list[Rule]:
    return [row for row in (instances.row_of(function), array_likes.row_of(function)) if row is not None]
