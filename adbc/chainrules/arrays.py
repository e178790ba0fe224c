"""What the rules know of arrays, without importing NumPy: who has an array has imported it."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["broadcast_to", "has", "is_array", "is_differentiable_array", "loaded", "shape_of", "unbroadcast"]

Shape = tuple[int, ...]


def loaded(name: str = "numpy") -> Any:
    """The module of this name if it has been imported, else None."""
    return sys.modules.get(name)


def is_array(x: Any) -> bool:
    """Whether `x` is an array of NumPy's, of any dtype."""
    numpy = loaded()
    return numpy is not None and isinstance(x, numpy.ndarray)


def is_differentiable_array(x: Any) -> bool:
    """Whether `x` is an array, or a number, of NumPy's floating point or complex classes."""
    numpy = loaded()
    return numpy is not None and isinstance(x, numpy.ndarray | numpy.generic) and x.dtype.kind in "fc"


def has(x: Any, name: str) -> bool:
    """Whether values of the class of `x` have this attribute; a `Tangent` has whatever it is asked for."""
    return hasattr(type(x), name)


def shape_of(x: Any) -> Shape:
    """The shape of an array; ``()`` for a number."""
    return tuple(x.shape) if has(x, "shape") else ()


def unbroadcast(dx: Any, shape: Shape) -> Any:
    """`dx` summed over what an array of this shape was repeated along, when it was broadcast to its shape.

    Raises `ValueError` if nothing of this shape is broadcast to that of `dx`: a cotangent is never repeated.
    """
    given = shape_of(dx)
    if given == shape:
        return dx
    extra = len(given) - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, given[extra:], strict=True)):
        raise ValueError(f"a tangent of shape {given} for something of shape {shape}")
    axes = (*range(extra), *(i + extra for i, n in enumerate(shape) if n == 1 and given[i + extra] != 1))
    return dx.sum(axis=axes).reshape(shape)


def broadcast_to(dx: Any, shape: Shape) -> Any:
    """A new array of this shape with the numbers of `dx`, or `dx` itself if that is its shape."""
    if shape_of(dx) == shape:
        return dx
    return loaded().broadcast_to(dx, shape).copy()
