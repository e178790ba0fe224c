"""Stacks of matrices: what SciPy does for each matrix is followed for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["VECTOR_OR_MATRIX", "for_each", "is_stack"]

VECTOR_OR_MATRIX = 0
"""The number of axes of a right side: one axis is a vector, two or more are matrices."""


def is_stack(*arrays: Any) -> bool:
    """Whether one of `arrays`, of matrices, has more than two axes."""
    return any(np.ndim(x) > 2 for x in arrays)


def for_each(one: Callable[..., Any], arrays: Sequence[Any], axes: Sequence[int]) -> Any:
    """What ``one(*parts)`` gives for the parts of stacks, stacked again; `axes` says how many axes a part of
    each array has.  As SciPy's, what gives several arrays gives a list of stacks."""
    arrays = [np.asarray(x) for x in arrays]
    counts = [n if n != VECTOR_OR_MATRIX else min(x.ndim, 2) for x, n in zip(arrays, axes, strict=True)]
    shapes = [x.shape[: x.ndim - n] for x, n in zip(arrays, counts, strict=True)]
    batch = np.broadcast_shapes(*shapes)
    number = math.prod(batch)
    wide = [
        np.broadcast_to(x, batch + x.shape[x.ndim - n :]).reshape((number, *x.shape[x.ndim - n :]))
        for x, n in zip(arrays, counts, strict=True)
    ]
    found = [one(*[x[k] for x in wide]) for k in range(number)]
    if not isinstance(found[0], tuple):
        return _stacked(found, batch)
    parts = [_stacked([each[k] for each in found], batch) for k in range(len(found[0]))]
    return parts[0] if len(parts) == 1 else parts


def _stacked(parts: list[Any], batch: tuple[int, ...]) -> Any:
    whole = np.stack(parts)
    return np.reshape(whole, batch + whole.shape[1:])
