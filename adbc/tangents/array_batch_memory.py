"""The memory of batches: the counterpart of an array's memory, with room for each lane, and what the
operations on tangents are told of batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.tangents import array_batch_functions, array_batch_tangents, internal
from adbc.tangents.array_batch_tangents import strong_product, strong_quotient
from adbc.tangents.array_batches import BatchedArray, BatchedNumber, refused
from adbc.tangents.array_iterators import iterator_over
from adbc.tangents.array_memory import (
    Array,
    Region,
    address_of,
    extent,
    flat_bytes,
    seen_memory,
    ultimate_owner,
)
from adbc.tangents.iterators import add_iterator
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import INACTIVE, KINDS, kind_of
from adbc.tangents.walk import REGION, add_structure

__all__ = ["BatchRegion", "install", "memo_of", "remember"]


class BatchRegion(Region):
    """The memory of the object `owner`, and its counterpart for batches: as many bytes for each lane."""

    width: int

    def __init__(self, owner: Any, first: Array, width: int, batch: BatchedArray | None = None) -> None:
        self.owner = owner
        self.width = width
        self._extent = None
        if issubclass(type(owner), np.ndarray):
            start, stop = self.extent()
        else:
            start, stop = self._extent = extent(seen_memory(owner, first)[0])
        if first.dtype.hasobject:
            raise refused("to be the tangent of an array of objects")
        if batch is None:
            step = -(-max(stop - start, 1) // 16) * 16
            self.bytes = np.zeros(width * step, np.uint8)
            self.offset, self.step = 0, step
        else:
            memory = ultimate_owner(batch.data)
            self.bytes = flat_bytes(memory)
            self.offset = address_of(batch.data) - extent(memory)[0] - (address_of(first) - start)
            self.step = batch.data.strides[0]
        self.twin: Any = self.view(owner) if issubclass(type(owner), np.ndarray) else self.view(first)

    def view(self, x: Array) -> Any:
        """The batch at the place of `x`."""
        if x.size == 0:
            return BatchedArray(np.zeros((self.width, *x.shape), x.dtype))
        start, stop = self.extent()
        low, high = extent(x)
        if low < start or high > stop:
            raise refused("to lie in memory whose extent cannot be seen")
        offset = self.offset + address_of(x) - start
        return BatchedArray(
            np.ndarray((self.width, *x.shape), x.dtype, self.bytes, offset, (self.step, *x.strides))
        )


def remember(x: Array, t: Any, memo: dict[Any, Any]) -> None:
    """Let `memo` say that the memory of `x`, if `x` is all of it, has its counterpart in `t`."""
    owner = ultimate_owner(x)
    key = ("memory", id(owner))
    is_whole = owner is x or (issubclass(type(owner), np.ndarray) and extent(owner) == extent(x))
    if key not in memo and is_whole and x.size and t.strides == x.strides:
        memo[key] = (owner, BatchRegion(owner, x, len(t.data), t))


def memo_of(width: int) -> dict[Any, tuple[Any, Any]]:
    """A memo of tangents that has batches of this width in the place of arrays."""

    def region(owner: Any, first: Array, copy: bool) -> BatchRegion:
        return BatchRegion(owner, first, width)

    return {REGION: (region, NO_TANGENT)}


def install() -> None:
    """Let the operations on tangents know batches."""
    if BatchedArray in KINDS:
        return
    kind_of(np.ndarray)  # which lets them know arrays
    array_batch_functions.install()
    array_batch_tangents.install()
    BatchedArray.remember_for = _remember_for
    for cls in (BatchedNumber, BatchedArray):
        KINDS[cls] = INACTIVE
        internal.ARRAY_MULTIPLY[cls] = strong_product
        internal.ARRAY_DIVIDE[cls] = strong_quotient
        internal.ARRAY_REDUCE[cls] = _itself
    internal.ARRAY_ACCUMULATE[BatchedArray] = array_batch_tangents.accumulate
    add_iterator(BatchedArray, iterator_over)
    add_structure(BatchedArray, array_batch_tangents.visit)


def _remember_for(t: BatchedArray, x: Array, memo: dict[Any, Any]) -> None:
    remember(x, t, memo)


def _itself(d: Any) -> Any:
    return d  # which is made a number's by `as_number`
