"""Finite differences whose step and error are estimated: what the testers trust."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from adbc.chainrules.arrays import shape_of
from adbc.records import record

__all__ = ["CentralDifferences", "Estimate", "central_fdm"]

_EPS = sys.float_info.epsilon


@record(frozen=True)
class Estimate:
    """A derivative, the step it was computed with, and a bound of its error, which is an estimate too."""

    value: Any
    error: float
    step: float


class CentralDifferences:
    """Central differences on `points` points for the derivative of order `order` (`central_fdm`)."""

    def __init__(self, points: int, order: int, max_step: float = 0.1) -> None:
        if points % 2 == 0:
            points += 1  # the point in the middle of an even number is no point of the grid
        if not 0 < order < points:
            raise ValueError(f"{points} points do not give a derivative of order {order}")
        self.points, self.order, self.max_step = points, order, max_step
        half = points // 2
        self.grid = tuple(range(-half, half + 1))
        self.coefficients = tuple(map(float, _coefficients(self.grid, order)))
        size = sum(abs(c) for c in self.coefficients)
        self._of_rounding = size
        reach = sum(abs(c * g**points) for c, g in zip(self.coefficients, self.grid, strict=True))
        self._of_truncation = reach / math.factorial(points)

    def __call__(self, f: Callable[[float], Any], x: float = 0.0) -> Any:
        """The derivative of `f` at `x`.  The result may be a number, or whatever is added and scaled."""
        return self.estimate(f, x).value

    def estimate(self, f: Callable[[float], Any], x: float = 0.0) -> Estimate:
        """The derivative of `f` at `x`, with a bound of its error and the step.

        Rounding grows as the step shrinks and what the formula leaves out as it grows: the step is that at
        which their sum is least, by what coarser differences say of the derivative of order `points`.
        """
        x = float(x)
        magnitude, variation = self._sizes(f, x)
        rounding = self._of_rounding * _EPS * max(magnitude, _EPS)
        truncation = self._of_truncation * variation
        p, q = self.points, self.order
        if truncation > 0.0:
            step = (q / (p - q) * rounding / truncation) ** (1.0 / p)
        else:
            step = self.max_step * max(abs(x), 1.0)
        step = min(step, self.max_step * max(abs(x), 1.0))
        exact = (x + step) - x  # a step that x + step is exactly away
        step = exact if exact > 0.0 else step
        value = self._apply(f, x, step)
        error = rounding * step**-q + truncation * step ** (p - q)
        return Estimate(value, error, step)

    def _apply(self, f: Callable[[float], Any], x: float, step: float) -> Any:
        total: Any = None
        for c, g in zip(self.coefficients, self.grid, strict=True):
            if c != 0.0:
                term = f(x + g * step) * (c / step**self.order)
                total = term if total is None else total + term
        return total

    def _sizes(self, f: Callable[[float], Any], x: float) -> tuple[float, float]:
        """The sizes of `f` around `x`, and of its derivative of order `points`."""
        magnitude, variation = _size(f(x)), 0.0
        # A coarse formula at two steps: the larger step may meet another branch, the smaller one noise.
        coarse = CentralDifferences.__new__(CentralDifferences)
        half = self.points // 2 + 1
        coarse.order, coarse.grid = self.points, tuple(range(-half, half + 1))
        coarse.coefficients = tuple(map(float, _coefficients(coarse.grid, self.points)))
        step = _EPS ** (1.0 / (self.points + 2)) * max(abs(x), 1.0)
        step = min(step, self.max_step * max(abs(x), 1.0) * self.points / half / 2)
        variation = _size(coarse._apply(f, x, step))
        return magnitude, variation


def _coefficients(grid: tuple[int, ...], order: int) -> list[Fraction]:
    """The coefficients of the formula for the derivative of this order on `grid`, exact for polynomials of
    as many coefficients as there are points."""
    n = len(grid)
    rows = [[Fraction(g) ** k for g in grid] for k in range(n)]
    right = [Fraction(math.factorial(order) if k == order else 0) for k in range(n)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot], right[i], right[pivot] = rows[pivot], rows[i], right[pivot], right[i]
        for k in range(n):
            if k != i and rows[k][i] != 0:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
                right[k] -= factor * right[i]
    return [right[i] / rows[i][i] for i in range(n)]


def _size(value: Any) -> float:
    if shape_of(value) != ():
        return float(abs(value).max()) if value.size else 0.0
    return float(abs(value))


def central_fdm(points: int, order: int, *, max_step: float = 0.1) -> CentralDifferences:
    """Central finite differences: ``central_fdm(5, 1)(f, x)`` is the first derivative of `f` at `x`, from
    five points.

    ``.estimate(f, x)`` gives the step and an estimate of the error beside it.  max_step: how far from `x`, in
    units of ``max(abs(x), 1)``, the function may be asked; for functions that are not defined everywhere.

    >>> import math
    >>> from adbc.chainrules.testing import central_fdm
    >>> round(central_fdm(5, 1)(math.sin, 0.0), 12)
    1.0
    """
    return CentralDifferences(points, order, max_step)
