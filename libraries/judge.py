"""Whether a derivative is what differences say."""

from __future__ import annotations

import dataclasses

import numpy as np

from libraries.differences import Jacobian
from libraries.vectors import Vector

__all__ = ["FLOOR", "TOLERANCE", "Expected", "backwards", "forwards"]

TOLERANCE = 1e-5
"""How far a derivative may be from differences that have settled, relative to its size."""

FLOOR = 1e-5
"""How small a derivative still has a size of its own, relative to its argument and to the value, or to a
hundredth of the value's other numbers.  Below, rounding makes differences uncertain."""


@dataclasses.dataclass(frozen=True)
class Expected:
    """What a derivative should be.

    numbers: the derivative by differences.  margins: how far a right one may be from it.  settled: whether
    the differences are as certain as that.
    """

    numbers: Vector
    margins: Vector
    settled: bool

    @property
    def flat(self) -> bool:
        """Whether the derivative is zero everywhere, so that it says little."""
        return not np.any(np.abs(self.numbers) > self.margins)

    def says_of(self, found: Vector) -> str | None:
        """What is wrong with a derivative, or None."""
        if found.shape != self.numbers.shape:
            return f"{found.size} numbers in place of {self.numbers.size}"
        off = np.abs(found - self.numbers)
        bad = np.flatnonzero(~(off <= self.margins))  # what is not a number is bad
        if not bad.size:
            return None
        worst = bad[np.argmax(np.nan_to_num(off[bad] / self.margins[bad], nan=np.inf))]
        return (
            f"{bad.size} of {off.size} numbers differ: number {worst} is {found[worst]!r}, by differences"
            f" {self.numbers[worst]!r}"
        )


def _expected(numbers: Vector, errors: Vector, sizes: Vector) -> Expected:
    margins = TOLERANCE * sizes
    finite = bool(np.all(np.isfinite(numbers)) and np.all(np.isfinite(margins)))
    return Expected(numbers, margins, finite and bool(np.all(errors <= margins)))


def forwards(jacobian: Jacobian, direction: Vector) -> Expected:
    """The derivative in a direction, a number for each of the value's."""
    parts = np.abs(jacobian.matrix) @ np.abs(direction)
    values = np.abs(jacobian.value) + 1e-2 * np.max(np.abs(jacobian.value), initial=0.0)
    sizes = np.abs(jacobian.matrix @ direction) + 1e-3 * parts + FLOOR * values
    return _expected(jacobian.matrix @ direction, jacobian.errors @ np.abs(direction), sizes)


def backwards(jacobian: Jacobian, weights: Vector) -> Expected:
    """The gradient of a weighted sum of the value's numbers, a number for each of the arguments'."""
    numbers = weights @ jacobian.matrix
    parts = np.abs(weights) @ np.abs(jacobian.matrix)
    largest = max(
        np.max(parts * jacobian.scales, initial=0.0), float(np.abs(weights) @ np.abs(jacobian.value))
    )
    sizes = np.abs(numbers) + 1e-3 * parts + FLOOR * largest / jacobian.scales
    return _expected(numbers, np.abs(weights) @ jacobian.errors, sizes)
