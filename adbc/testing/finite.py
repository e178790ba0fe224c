"""Derivatives by central finite differences: slow, independent of all rules, and honest about their accuracy.

Differences at one step size are right to half the digits; which step is best depends on the function.  So the
step is halved again and again, each new difference is extrapolated to step zero with those before it
(Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", 1982), and the estimate that moved least is taken.
It is chosen by its own consistency: what it will be compared with has no say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.tangents import add_to_primal, difference, random_tangent, scale
from adbc.testing.values import duplicate, inner, leaves

__all__ = ["directional_derivative", "unit_direction"]

ROUNDS = 9
SHRINK = 1.6


def unit_direction(rng: Any, x: Any) -> Any:
    """A random tangent of `x` of length 1 (or zero, if `x` cannot be perturbed)."""
    t = random_tangent(rng, x)
    length = float(np.sqrt(inner(t, t)[0]))
    return scale(1.0 / length, t) if length else t


def directional_derivative(
    run: Callable[[Any], Any], x: Any, direction: Any, *, step: float = 1e-2
) -> tuple[list[tuple[str, Any]], list[float]]:
    """The derivative of `run` at `x` along `direction`, as labelled numbers, and the error of each.

    `run` gets a copy of `x` that has moved, which it may change, and may return anything; differences are
    taken of all numbers in what it returns.  `step` is the largest step.  Central differences of nine
    shrinking steps are extrapolated (Richardson); the error is estimated from how much they still change.

    >>> import math, adbc.testing
    >>> [(label, slope)], [error] = adbc.testing.directional_derivative(math.sin, 0.5, 1.0)
    >>> bool(abs(slope - math.cos(0.5)) < 1e-10)
    True
    """
    columns: list[list[np.ndarray[Any, Any]]] = []
    best: list[Any] = []
    errors: list[float] = []
    labels: list[str] = []
    for i in range(ROUNDS):
        h = step / SHRINK**i
        change = _quotient(run, x, direction, h)
        labels = [label for label, _ in change]
        column = [np.asarray(value) for _, value in change]
        row = [column]
        for j in range(1, i + 1):
            # Central differences have even powers of h only.
            weight = SHRINK ** (2 * j)
            row.append(
                [
                    (weight * new - old) / (weight - 1.0)
                    for new, old in zip(row[j - 1], columns[j - 1], strict=True)
                ]
            )
        if not best:
            best, errors = list(column), [np.inf] * len(column)
        for j in range(1, i + 1):
            for k, value in enumerate(row[j]):
                moved = max(_size(value - row[j - 1][k]), _size(value - columns[j - 1][k]))
                if moved < errors[k]:
                    best[k], errors[k] = value, moved
        columns = row
    return list(zip(labels, best, strict=True)), errors


def _size(x: np.ndarray[Any, Any]) -> float:
    return float(np.max(np.abs(x))) if x.size else 0.0


def _quotient(run: Callable[[Any], Any], x: Any, direction: Any, h: float) -> list[tuple[str, Any]]:
    above = run(duplicate(add_to_primal(x, scale(h, direction))))
    below = run(duplicate(add_to_primal(x, scale(-h, direction))))
    change = difference(above, below)
    # float16 and float32 would lose in the division what they have.
    return [(label, np.asarray(value, _wide(value)) / (2.0 * h)) for label, value in leaves(change)]


def _wide(value: Any) -> type[np.inexact[Any]]:
    return np.complex128 if np.iscomplexobj(value) else np.float64
