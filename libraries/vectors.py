"""Values as vectors: the floats in numbers, arrays, and lists and tuples of these, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["Vector", "filled", "floats", "vector"]

Vector = np.ndarray[Any, np.dtype[np.float64]]


def floats(value: Any, like: Any = None) -> Iterator[float]:
    """The floats of `value`; where `like` is given, in the places where that has floats, zero where `value`
    has something that is no derivative there."""
    like = value if like is None else like
    if isinstance(like, list | tuple):
        for i, part in enumerate(like):
            has_parts = isinstance(value, list | tuple) and len(value) == len(like)
            yield from floats(value[i] if has_parts else None, part)
    elif isinstance(like, float | np.floating):
        yield float(value) if isinstance(value, float | np.floating | np.ndarray) else 0.0
    elif isinstance(like, np.ndarray) and like.dtype.kind == "f":
        # What is the derivative of a subclass of arrays is no array, but can be asked for one.
        given = np.asarray(value) if hasattr(value, "__array__") else np.zeros(())
        fits = given.shape == like.shape and given.dtype.kind == "f"
        yield from map(float, (given if fits else np.zeros(like.shape)).ravel())


def vector(value: Any, like: Any = None) -> Vector:
    return np.array(list(floats(value, like)), dtype=float)


def filled(like: Any, numbers: Iterator[float]) -> Any:
    """What `like` is, with the next of `numbers` in place of each of its floats, in new memory.

    The tangent of a subclass of arrays keeps that of its array as `array`, which is overwritten: other parts
    may share its memory.
    """
    if isinstance(like, list | tuple):
        parts = [filled(part, numbers) for part in like]
        return like._make(parts) if hasattr(like, "_make") else type(like)(parts)
    if isinstance(like, float | np.floating):
        return type(like)(next(numbers))
    if isinstance(like, np.ndarray) and like.dtype.kind == "f":
        flat = np.array([next(numbers) for _ in range(like.size)], dtype=like.dtype)
        return flat.reshape(like.shape)
    if isinstance(getattr(like, "array", None), np.ndarray):
        like.array[...] = filled(like.array, numbers)
    return like
