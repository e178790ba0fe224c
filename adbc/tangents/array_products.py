"""Products of arrays and derivatives, in which zero wins over what is infinite or not a number.

`internal.multiply` says why.  To look for zeros would cost as much as the product, so one pass over the
product asks whether there is anything to look for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "are_finite", "cleaned", "crossed", "divide", "divided", "dotted", "is_finite", "multiply", "rows_times",
    "scaled", "strongly", "times_columns", "zero_wins",
]  # fmt: skip


def is_finite(x: Any) -> bool:
    """Whether all numbers of `x` are finite, in one pass; False too if their squares are too large."""
    if x.__class__ is np.ndarray:
        if x.size > _ALONE:
            return are_finite(x)
    elif getattr(x, "is_batch", False):
        return are_finite(x.data)
    return math.isfinite(np.vdot(x, x).real)


_ALONE = 10_000
"""Up to this many numbers BLAS multiplies vectors in the thread that asks.  Above it wakes others, and where
these do not get a processor at once, waiting for them takes a thousand times as long as the product."""


def are_finite(x: Any) -> bool:
    """What `is_finite` says of array `x`, for which no other thread is asked."""
    if x.size <= _ALONE:
        return math.isfinite(np.vdot(x, x).real)
    with np.errstate(all="ignore"):  # infinity less infinity is an answer here
        total = np.add.reduce(x, axis=None)
    return math.isfinite(total.real) and math.isfinite(total.imag)


def multiply(p: Any, d: Any) -> Any:
    """``p * d``, but zero where one of them is zero."""
    with np.errstate(all="ignore"):
        product = p * d
        return product if is_finite(product) else zero_wins(product, p, d)


def zero_wins(product: Any, p: Any, d: Any) -> Any:
    """What `multiply` gives, if some numbers of the product are not finite."""
    return np.where((d == 0) | (p == 0), np.zeros((), np.result_type(product)), product)[()]


def rows_times(rows: Any, vector: Any) -> Any:
    """``rows @ vector``, of a matrix and a vector, in whose products zero wins."""
    found = np.dot(rows, vector)
    return found if is_finite(found) else np.sum(multiply(rows, vector), axis=-1)


def times_columns(vector: Any, columns: Any) -> Any:
    """``vector @ columns``, of a vector and a matrix, in whose products zero wins."""
    found = np.dot(vector, columns)
    return found if is_finite(found) else np.sum(multiply(vector[:, None], columns), axis=0)


def crossed(column: Any, row: Any) -> Any:
    """The outer product of two vectors, in which zero wins: they are looked at, being smaller than it is."""
    if column.size + row.size > _ALONE:
        is_known = is_finite(column) and is_finite(row)
    else:
        is_known = math.isfinite((np.vdot(column, column) + np.vdot(row, row)).real)  # `is_finite` of both
    if is_known:
        return column[:, None] * row
    return multiply(column[:, None], row)


def scaled(number: Any, vector: Any) -> Any:
    """A number times a vector, in which zero wins: it does not where the number is finite and not zero."""
    return number * vector if number and number - number == 0 else multiply(number, vector)


def dotted(p: Any, d: Any) -> Any:
    """``np.dot(p, d)``, of arrays, where zero wins in the products that are summed."""
    found = np.dot(p, d)
    if found.__class__ is np.ndarray and found.size > _ALONE:
        return found if are_finite(found) else cleaned(found, np.dot, (p, d))
    if math.isfinite(np.vdot(found, found).real):
        return found
    return cleaned(found, np.dot, (p, d))


def strongly(product: Callable[..., Any], p: Any, d: Any, *others: Any) -> Any:
    """``product(p, d, *others)``, linear in the arrays `p` and `d`; zero wins in the products it sums."""
    found = product(p, d, *others)
    return found if is_finite(found) else cleaned(found, product, (p, d), *others)


def cleaned(found: Any, product: Callable[..., Any], factors: tuple[Any, ...], *others: Any) -> Any:
    """What ``product(*factors, *others)``, linear in each of the factors, is if zero wins in its terms; it is
    `found`, with numbers that are not finite.

    Where no term has a factor that is not finite and none that is zero, the sum of the others is right.
    """
    clean = product(*(np.where(np.isfinite(x), x, 0) for x in factors), *others)
    present = [np.not_equal(x, 0).astype(float) for x in factors]
    open_terms = np.zeros(np.shape(clean))
    for i, x in enumerate(factors):
        bad = (~np.isfinite(x)).astype(float)
        open_terms = open_terms + product(*present[:i], bad, *present[i + 1 :], *others)
    return np.where(open_terms > 0, found, clean)


def divide(d: Any, y: Any) -> Any:
    """``d / y``, but zero where `d` is zero or `y` infinite."""
    if y.__class__ is float and 1e-100 < abs(y) < math.inf:
        return d / y  # zero where `d` is, and too small a divisor to warn of
    with np.errstate(all="ignore"):
        return divided(d, y)


def divided(d: Any, y: Any) -> Any:
    """What `divide` gives; NumPy may warn."""
    quotient = np.divide(d, y)
    return quotient if is_finite(quotient) else zero_wins(quotient, np.divide(1, y), d)
