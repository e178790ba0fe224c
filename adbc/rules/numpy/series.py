"""The series of `numpy.polynomial`: values of series of each family at numbers and arrays, and their
conversions.

What has a value for each `x` is a product of a Vandermonde matrix and the coefficients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import polynomial
from numpy.polynomial import _polybase, polyutils

from adbc.rules.numpy.base import NUMBERS, ArrayRule, plain
from adbc.rules.numpy.completing import completed, last_rows
from adbc.rules.numpy.composed import followed
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.polynomials import narrowed
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["LAST_ROWS", "ROWS"]


def of_numbers(*classes: type) -> bool:
    """The `when` of functions that compute as well with whatever has the operators: the value of a polynomial
    at another is a polynomial, and neither a number nor an array."""
    return plain(*classes) and all(issubclass(cls, _NUMBERS_AND_ARRAYS) for cls in classes)


_NUMBERS_AND_ARRAYS = (np.ndarray, np.generic, *NUMBERS, list, tuple, type(None))


def _series(home: Any, prefix: str) -> list[Rule]:
    """The row of the function that gives values of series of one family."""
    value, der, vander = (getattr(home, f"{prefix}{name}") for name in ("val", "der", "vander"))

    def by_place(d: Any, y: Any, x: Any, c: Any, tensor: Any = True) -> Any:
        return value(x, der(c), tensor) * d

    def by_coefficients(d: Any, y: Any, x: Any, c: Any, tensor: Any = True) -> Any:
        return value(x, d, tensor)

    def to_place(by: Any, y: Any, x: Any, c: Any, tensor: Any = True) -> Any:
        return conj(value(x, der(c), tensor)) * by

    def to_coefficients(by: Any, y: Any, x: Any, c: Any, tensor: Any = True) -> Any:
        c = np.atleast_1d(c)
        values = conj(vander(np.asarray(x), len(c) - 1))
        terms = []
        for k in range(len(c)):
            term = np.asarray(by * values[..., k])
            if tensor:
                term = np.sum(term, axis=tuple(range(np.ndim(c) - 1, np.ndim(term))))
            terms.append(narrowed(term, np.shape(c)[1:]))
        return np.array(terms)

    formulas = {"jvp": [by_place, by_coefficients], "vjp": [to_place, to_coefficients]}
    return [ArrayRule(value, "x c tensor", when=of_numbers, **formulas)]  # type: ignore[arg-type]


def are_series(alist: Any, trim: Any) -> bool:
    """Whether the coefficients in `alist` are those of series just as they are."""
    if trim or type(alist) is not list:
        return False
    return all(type(a) is np.ndarray and a.ndim == 1 and a.dtype.char == "d" and len(a) for a in alist)


_lines_of_as_series = followed(polyutils.as_series)


def _as_series(alist: Any, trim: Any = True) -> Any:
    if are_series(alist, trim):
        return [np.array(alist[0])] if len(alist) == 1 else [np.array(a) for a in alist]
    return _lines_of_as_series(alist, trim)


_lines_of_mapdomain = followed(polyutils.mapdomain)


def _mapdomain(x: Any, old: Any, new: Any) -> Any:
    """The body of ``mapdomain``, which makes an array of a series that is put into another: its one element
    would be multiplied unseen."""
    if is_series(x):
        offset, scale = polyutils.mapparms(old, new)
        return offset + scale * x
    return _lines_of_mapdomain(x, old, new)


def is_series(x: Any) -> bool:
    return isinstance(x, _polybase.ABCPolyBase)


FAMILIES = [
    (polynomial.polynomial, "poly"),
    (polynomial.chebyshev, "cheb"),
    (polynomial.legendre, "leg"),
    (polynomial.hermite, "herm"),
    (polynomial.hermite_e, "herme"),
    (polynomial.laguerre, "lag"),
]

ROWS: list[Rule] = completed([
    ZeroRule(are_series, result=bool),
    Overlay(polyutils.as_series, _as_series),
    ZeroRule(is_series, result=bool),
    Overlay(polyutils.mapdomain, _mapdomain),
    *(row for home, prefix in FAMILIES for row in _series(home, prefix)),
])  # fmt: skip
LAST_ROWS = last_rows(ROWS)
