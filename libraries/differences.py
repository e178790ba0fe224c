"""Derivatives by differences, each with what it is uncertain by."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from libraries.vectors import Vector, filled, vector

__all__ = ["STEPS", "Jacobian", "jacobian"]

STEPS = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
"""Steps, relative to the argument.  Two neighbours that agree say what the derivative is, and how well."""

SETTLED = 1e-9
"""Neighbours that agree as well as this are not improved on."""

Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclasses.dataclass(frozen=True)
class Jacobian:
    """The derivative of all numbers of a value by all numbers of the arguments.

    value: the numbers of the value.  scales: how large the arguments are.  matrix: the derivative, a column
    for each argument.  errors: how far the results of two steps differ.
    """

    value: Vector
    scales: Vector
    matrix: Matrix
    errors: Matrix


def jacobian(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Jacobian:
    """Central differences of the fourth order; each call is given arguments of its own."""
    at = vector(arguments)
    value = vector(function(*copy.deepcopy(arguments)))
    scales = np.where(at == 0.0, 1.0, np.abs(at))

    def moved(column: int, by: float) -> Vector:
        there = at.copy()
        there[column] += by
        return vector(function(*filled(arguments, iter(there.tolist()))))

    matrix, errors = np.zeros((value.size, at.size)), np.full((value.size, at.size), np.inf)
    for column in range(at.size):
        last: Vector | None = None
        for step in STEPS:
            h = step * scales[column]
            there = [moved(column, k * h) for k in (1.0, -1.0, 2.0, -2.0)]
            with np.errstate(invalid="ignore"):  # infinite values differ by what is not a number
                found = (8.0 * (there[0] - there[1]) - (there[2] - there[3])) / (12.0 * h)
            if last is not None:
                error = np.abs(found - last)
                if np.max(error, initial=0.0) < np.max(errors[:, column], initial=0.0):
                    matrix[:, column], errors[:, column] = found, error
                if np.max(errors[:, column], initial=0.0) <= SETTLED * np.max(np.abs(found), initial=0.0):
                    break
            last = found
    return Jacobian(value, scales, matrix, errors)
