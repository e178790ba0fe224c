"""Shadows of iterators over arrays (`iterators.ShadowIterator`)."""

from __future__ import annotations

from typing import Any

from adbc.tangents.array_memory import Array
from adbc.tangents.internal import slot_increment, slot_rdata, slot_shadow
from adbc.tangents.iterators import MISSING, NOTHING_BACK, IndexIterator, ShadowIterator, Step
from adbc.tangents.nothing import NO_FDATA, NO_TANGENT

__all__ = ["ArrayIterator", "FlatIterator", "ObjectArrayIterator", "iterator_over"]


class ArrayIterator(ShadowIterator):
    """The shadow of an iterator over the first axis of an array of numbers: its elements or subarrays."""

    __slots__ = ("container", "index", "stride")

    def __init__(self, container: Array, start: int, stride: int) -> None:
        self.container, self.index, self.stride = container, start, stride

    def step(self, value: Any = MISSING) -> Step:
        container, index = self.container, self.index
        self.index = index + self.stride
        t = container[index]
        if container.ndim > 1 or container.dtype.kind == "V":
            return t, None, t

        def sink(r: Any) -> Any:
            if r is not None:
                container[index] += r
            return NOTHING_BACK

        return NO_FDATA, sink, t


class ObjectArrayIterator(IndexIterator):
    """The shadow of an iterator over the first axis of an array of objects: its elements or subarrays."""

    __slots__ = ()

    def step(self, value: Any = MISSING) -> Step:
        if self.container.ndim == 1:
            return super().step(value)
        t = self.container[self.index]
        self.index += self.stride
        return t, None, t


class FlatIterator(ShadowIterator):
    """The shadow of ``x.flat``: the shadow of `x`, and the place where the iterator is."""

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: int) -> None:
        self.array, self.index = array, index

    def step(self, value: Any = MISSING) -> Step:
        array, index = self.array, self.index
        self.index = index + 1
        t = array.flat[index]
        if array.dtype.kind == "O" and t is NO_TANGENT:
            return None, None, t

        def sink(r: Any) -> Any:
            if r is not None:
                array.flat[index] = slot_increment(array.flat[index], r)
            return NOTHING_BACK

        return slot_shadow(t), None if slot_rdata(t) is None else sink, t


def iterator_over(shadow: Array, reverse: bool) -> ShadowIterator:
    """The shadow of an iterator over an array with this `shadow`, from the end of the array if `reverse`."""
    cls = ObjectArrayIterator if shadow.dtype.kind == "O" else ArrayIterator
    return cls(shadow, len(shadow) - 1 if reverse else 0, -1 if reverse else 1)
