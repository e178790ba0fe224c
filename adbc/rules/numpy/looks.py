"""What the rules of NumPy ask, where they are differentiated once more.

A rule looks at its arguments before it computes: whether an array holds objects, whether all numbers of a
product are finite.  Followed like code of the user's, each such look would be lifted, built and decided line
by line.  Here they are functions that have no derivative, and some that look and compute are written as a
look and the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.linear_rows import as_it_stands, grows
from adbc.rules.numpy import base, elements, elementwise, object_numbers, views
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents import array_memory, array_products, arrays
from adbc.tangents.array_products import cleaned, is_finite, multiply

__all__ = ["ROWS"]


def _is_real(p: Any) -> bool:
    """Whether `p` is its own conjugate."""
    return not np.iscomplexobj(p)


def _conj(p: Any) -> Any:
    return p if _is_real(p) else np.conjugate(p)


def _are_finite(column: Any, row: Any) -> bool:
    """Whether all numbers of both vectors are finite."""
    return is_finite(column) and is_finite(row)


def _crossed(column: Any, row: Any) -> Any:
    if _are_finite(column, row):
        return column[:, None] * row
    return multiply(column[:, None], row)


def _dotted(p: Any, d: Any) -> Any:
    found = np.dot(p, d)
    return found if is_finite(found) else cleaned(found, np.dot, (p, d))


def _holds_numbers(f: Any) -> bool:
    return f.dtype.kind in "fc"


def _accumulate(f: Any, x: Any, d: Any) -> None:
    if _holds_numbers(f):
        _add_numbers(f, x, d)
    else:
        _add_parts(f, x, d)


_add_numbers, _add_parts = as_it_stands(arrays._accumulate), as_it_stands(arrays._accumulate)

_QUESTIONS: tuple[Any, ...] = (
    base.any_active, elements.computes_whole, object_numbers.meets_objects, is_finite,
    array_memory.overlaps_itself, views.is_view, _is_real, _are_finite,
)  # fmt: skip
"""Functions that answer with yes or no."""
_REFUSALS: tuple[Any, ...] = (elements.refuse_opaque, elements.refuse_text_of, elements.refuse_answer)
"""Functions that raise, or do nothing."""

ROWS: list[Rule] = [
    *[ZeroRule(function, result=bool) for function in _QUESTIONS],
    *[ZeroRule(function, result=type(None)) for function in _REFUSALS],
    Overlay(elementwise.conj, _conj),
    Overlay(array_products.crossed, _crossed),
    Overlay(array_products.dotted, _dotted),
    ZeroRule(_holds_numbers, result=bool),
    Overlay(arrays._accumulate, _accumulate),
    grows(_add_numbers),
]
