"""NumPy: what its classes bring to the tables of this package, when the first array is met.

Memory, kinds, iterators and walks are in the modules beside this one, whose names begin with ``array``: no
others of the package import NumPy.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from adbc.tangents import array_products, internal
from adbc.tangents.array_iterators import ArrayIterator, FlatIterator, ObjectArrayIterator, iterator_over
from adbc.tangents.array_kinds import ARRAY, MEMORYVIEW, kind_of_numpy
from adbc.tangents.array_memory import Array, add_into, fill, number_views, overlaps_itself
from adbc.tangents.array_walks import visit_array, visit_flat, visit_numbers, visit_record
from adbc.tangents.internal import slot_increment
from adbc.tangents.iterators import add_iterator
from adbc.tangents.protocol import KINDS, RESOLVERS
from adbc.tangents.walk import add_structure, add_visit_of_numbers

__all__ = ["install"]


def install() -> None:
    """Fill the tables of the package for NumPy; `protocol.kind_of` calls this when the first array is met."""
    KINDS[np.ndarray] = ARRAY
    KINDS[memoryview] = MEMORYVIEW
    RESOLVERS.insert(0, kind_of_numpy)
    internal.REALS.add(np.float64)
    internal.ARRAY_FRESH[np.ndarray] = _fresh
    internal.ARRAY_MULTIPLY[np.ndarray] = array_products.multiply
    internal.ARRAY_DIVIDE[np.ndarray] = array_products.divide
    internal.ARRAY_REDUCE[np.ndarray] = _sum_of_all
    internal.ARRAY_FINITE[np.ndarray] = _is_finite
    internal.ARRAY_ACCUMULATE[np.ndarray] = _accumulate
    internal.ARRAY_OF_SEQUENCE[np.ndarray] = _of_sequence
    add_iterator(np.ndarray, iterator_over)
    add_structure(np.ndarray, visit_array)
    for cls in (np.void, np.record):
        add_structure(cls, visit_record)
    add_structure(FlatIterator, visit_flat)
    for iterator in (ArrayIterator, ObjectArrayIterator):
        add_structure(iterator, lambda walk, t, *others: t)
    add_visit_of_numbers(array, visit_numbers)


def _sum_of_all(d: Array) -> Any:
    """The sum of all elements, as ``np.sum`` gives it."""
    return np.add.reduce(d, None)


def _fresh(out: Array) -> Any:
    """Zeros like `out` if it is an array of numbers that owns memory without gaps, or one with several
    elements at one place, else None.

    What stands at one place in such an array, as in a number that was broadcast, has a place for each element
    in the shadow: what is read from there is the cotangent of an element.  Nobody can write to the array.
    """
    dtype = out.dtype
    if dtype.kind not in "fc":
        return None
    if out.base is not None and not _fills_base(out):
        return np.zeros(out.shape, out.dtype) if overlaps_itself(out) else None
    if out.flags.c_contiguous:
        return np.zeros(out.shape, dtype)
    twin = np.zeros_like(out)
    return twin if twin.strides == out.strides else None


def _fills_base(out: Array) -> bool:
    """Whether `out` is all of an array that owns its memory, in another shape."""
    base: Any = out.base
    return (
        base.__class__ is np.ndarray
        and base.base is None
        and base.size == out.size
        and base.dtype == out.dtype
        and base.flags.c_contiguous
        and out.flags.c_contiguous
    )


def _of_sequence(d: Array, x: Any) -> Any:
    """Array `d` with the shape and dtype of the array that is made of the list or tuple `x`."""
    return ARRAY.project_array(d, np.asarray(x), False)


def _accumulate(f: Array, x: Any, d: Any) -> None:
    if type(d) is not np.ndarray or d.shape != f.shape or d.dtype != f.dtype:
        d = ARRAY.project_array(d, x, False)
    if f.dtype.kind in "fc" and (f.base is None or not overlaps_itself(f)):
        f += d  # only a view can have several elements at one place
    elif f.dtype.kind == "O":
        f[...] = _elementwise_sum(f, d)
    elif f.dtype.kind == "V":
        for part, of_part in zip(number_views(f), number_views(d), strict=True):
            add_into(part, of_part)
    else:
        add_into(f, d)


def _elementwise_sum(f: Array, d: Any) -> Array:
    result: Array = np.empty(f.shape, object)
    fill(
        result, [slot_increment(a, b) for a, b in zip(f.flat, np.broadcast_to(d, f.shape).flat, strict=True)]
    )
    return result


def _is_finite(t: Array) -> bool:
    return bool(np.all(np.isfinite(t)))
