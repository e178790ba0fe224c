"""Kinds of NumPy's classes: arrays, ``x.flat``, elements of structured arrays, memoryviews.

The shadow of an array has its dtype, shape and memory layout; the shadow of a view is the same view of the
shadow of the array that owns the memory (`array_memory`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.errors import InvalidTangentError
from adbc.tangents.array_instances import ArrayInstanceKind
from adbc.tangents.array_iterators import FlatIterator
from adbc.tangents.array_memory import (
    Array,
    Region,
    address_of,
    corresponds,
    extent,
    fill,
    has_number_fields,
    number_views,
    overlaps_itself,
    record_array,
    region_of,
    seen_memory,
    share,
    ultimate_owner,
)
from adbc.tangents.duals import ArrayTangent
from adbc.tangents.fields import slots_of
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import INACTIVE, Kind, Refused
from adbc.tangents.scalars import ScalarKind
from adbc.tangents.walk import DifferWalk, MakeWalk, PerturbWalk

__all__ = ["ARRAY", "MEMORYVIEW", "kind_of_numpy", "unbroadcast"]


def _generator(source: Any) -> np.random.Generator:
    return (
        np.random.default_rng(source.getrandbits(64)) if issubclass(type(source), random.Random) else source
    )


_UNKNOWN = (None, None)


class ArrayKind(Kind):
    """How arrays are differentiated: by their dtype, those of integers or text have no tangent."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return np.ndarray

    def bare(self, x: Array) -> Array:
        """The array of NumPy's own class that `x` is."""
        return x

    def is_active(self, x: Array) -> bool:
        return x.dtype.kind in "fcO" or has_number_fields(x.dtype)

    def make(self, x: Array, walk: MakeWalk) -> Any:
        owner = ultimate_owner(x)
        if walk.is_constant:  # whatever else lies in that memory is constant too
            walk.memo["memory", id(owner)] = (owner, NO_TANGENT)
            walk.register(x, NO_TANGENT)
            if x.dtype.kind == "O":
                walk.later(lambda: walk(list(x.flat)))
            return NO_TANGENT
        if not self.is_active(x) or walk.memo.get(("memory", id(owner)), _UNKNOWN)[1] is NO_TANGENT:
            return NO_TANGENT
        share(walk, x, owner)
        t = region_of(walk.memo, x, copy=False).view(x)
        walk.register(x, t)
        if x.dtype.kind == "O":
            walk.later(lambda: fill(t, [walk(c) for c in x.flat]))
        elif walk.source is not None:
            draw = _generator(walk.source).standard_normal
            for part in number_views(t):
                part[...] = (
                    draw(part.shape) + 1j * draw(part.shape) if part.dtype.kind == "c" else draw(part.shape)
                )
        return t

    def zeros(self, x: Array) -> Array:
        """The zero tangent of array `x`, which owns its memory, made without a walk."""
        return np.zeros_like(x)

    def summed(self, d: Array, shape: tuple[int, ...]) -> Array:
        """The cotangent `d` of a broadcast array as that of the array of `shape` that was broadcast."""
        return unbroadcast(d, shape)

    def alike(self, d: Any, x: Array) -> Array:
        """The cotangent `d` of `x`, which is new or None, as an array with the layout of `x`."""
        if d is None:
            return np.zeros_like(x)
        if d.base is None and d.flags.c_contiguous and x.flags.c_contiguous:
            return d  # type: ignore[no-any-return]  # an array
        like = np.empty_like(x)
        like[...] = d
        return like

    def remember(self, x: Array, t: Any, memo: dict[Any, tuple[Any, Any]]) -> None:
        memo[id(x)] = (x, t)
        if type(t) is not np.ndarray and getattr(t, "is_batch", False):
            t.remember_for(x, memo)
            return
        owner = ultimate_owner(x)
        key = ("memory", id(owner))
        if x.size == 0 or not issubclass(type(t), np.ndarray):
            return
        if key in memo:
            memo[key][1].note(x, t)
        elif corresponds(x, t):
            memo[key] = (owner, Region(owner, x, copy=False, twin=ultimate_owner(t)))
        elif issubclass(type(owner), np.ndarray) and not x.dtype.hasobject:
            memo[key] = (owner, Region(owner, x, copy=False))
            memo[key][1].note(x, t)

    def placed(self, x: Array, t: Any, memo: dict[Any, tuple[Any, Any]]) -> Any:
        if type(x) is not np.ndarray or type(t) is not np.ndarray or x.dtype.hasobject or overlaps_itself(x):
            return t
        if corresponds(x, t) and t.flags.writeable and not overlaps_itself(t):
            return t
        region = region_of(memo, x, copy=False)
        there = region.view(x)
        there[...] = t
        return there

    def perturb(self, x: Array, t: Any, walk: PerturbWalk) -> Any:
        if not self.is_active(x):
            return x
        if type(t) is not np.ndarray or t.shape != x.shape or t.dtype != x.dtype:
            raise InvalidTangentError(
                f"not a tangent of an array of shape {x.shape} and dtype {x.dtype}: {t!r}"
            )
        return self._combined(x, t, walk, walk.combine, copy=True)

    def difference(self, p: Array, q: Array, walk: DifferWalk) -> Any:
        if not self.is_active(p):
            return NO_TANGENT
        if p.shape != q.shape or p.dtype != q.dtype:
            raise InvalidTangentError("no difference between arrays of different shape or dtype")
        return self._combined(p, q, walk, walk.combine, copy=False)

    def _combined(
        self, x: Array, other: Any, walk: Any, combine: Callable[[Any, Any], Any], copy: bool
    ) -> Any:
        """A new array of what `combine` gives for each number of `x` and its counterpart in `other`."""
        share(walk, x, ultimate_owner(x), ultimate_owner(other))
        y = region_of(walk.memo, x, copy=copy).view(x)
        walk.register(x, y)
        if x.dtype.kind == "O":
            walk.later(lambda: fill(y, [walk(c, d) for c, d in zip(x.flat, other.flat, strict=True)]))
        else:
            for new, a, b in zip(*map(number_views, (y, x, other)), strict=True):
                new[...] = combine(a, b)
        return y

    def locate(self, x: Array) -> tuple[int, int, tuple[int, ...], str]:
        """The address of array `x`: who owns its memory, the offset there, the strides and the dtype."""
        if x.base is None and min(x.strides, default=0) >= 0:
            return id(x), 0, x.strides, x.dtype.str
        owner = ultimate_owner(x)
        if issubclass(type(owner), np.ndarray):
            start = extent(owner)[0]
        else:
            # Of memory whose extent is out of sight (a capsule holds it) addresses are all that there is.
            memory, is_whole = seen_memory(owner, x)
            start = extent(memory)[0] if is_whole else 0
        return id(owner), address_of(x) - start, x.strides, x.dtype.str

    def span(self, x: Array) -> tuple[int, int]:
        """The addresses of the first byte of array `x` and of the byte behind its last."""
        return extent(x)

    def overlap(self, x: Array, y: Array) -> int | None:
        """How many bytes array `y` starts behind array `x` if they have memory in common, else None."""
        return address_of(y) - address_of(x) if np.shares_memory(x, y) else None

    def project_array(self, d: Any, x: Array, fresh: bool) -> Any:
        kind = x.dtype.kind
        if kind not in "fcO":
            return None if not has_number_fields(x.dtype) else d.copy() if fresh else d
        if type(d) is not np.ndarray:
            if getattr(d, "is_batch", False):
                return d.fitted_to(x, fresh)
            d = np.asarray(d)
        original = d
        if d.shape != x.shape:
            d = unbroadcast(d, x.shape)
        if kind == "f" and d.dtype.kind == "c":
            d = d.real
        if d.dtype != x.dtype and kind != "O":
            d = d.astype(x.dtype)
        return d.copy("K") if fresh and np.may_share_memory(d, original) else d


def unbroadcast(d: Array, shape: tuple[int, ...]) -> Array:
    """`d` summed over what broadcasting from `shape` has added; repeated where `shape` is larger."""
    if d.ndim == 2 and d.dtype.char in "df" and 0 < d.size <= _SMALL:
        rows, columns = d.shape
        if shape == (columns,) or (shape == (1, columns) and rows > 1):
            sums: Array = np.dot(_ones(rows, d.dtype), d)
            return sums if len(shape) == 1 else sums.reshape(shape)  # which would be a view
        if shape == (rows, 1) and 1 < columns <= _FEW:
            sums = np.dot(d, _ones(columns, d.dtype))
            return sums.reshape(shape)
    if d.ndim > len(shape):
        d = d.sum(axis=tuple(range(d.ndim - len(shape))))
    lead = len(shape) - d.ndim
    axes = tuple(i for i, n in enumerate(d.shape) if n != 1 and shape[i + lead] == 1)
    if axes:
        d = d.sum(axis=axes, keepdims=True)
    if d.shape == shape:
        return d
    try:
        return np.array(np.broadcast_to(d, shape))
    except ValueError:
        raise InvalidTangentError(
            f"an array of shape {d.shape} is given as the derivative of one of shape {shape}"
        ) from None


_SMALL = 8192
"""Up to so many numbers are summed along rows or columns as products with a vector, which is quicker."""
_FEW = 128
"""Rows of up to so many numbers may be added one by one without a loss of digits that matters."""


def _ones(count: int, dtype: np.dtype[Any]) -> Array:
    ones = np.empty(count, dtype)
    ones.fill(1.0)
    return ones


class FlatKind(Kind):
    """How ``x.flat``, the iterator over all elements of an array, is differentiated."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return FlatIterator

    def make(self, x: Any, walk: MakeWalk) -> Any:
        array = walk(x.base)
        if type(array) is ArrayTangent:  # of an instance of a subclass
            array = array.array
        t = array if array is NO_TANGENT else FlatIterator(array, x.index)
        walk.register(x, t)
        return t

    def perturb(self, x: Any, t: Any, walk: PerturbWalk) -> Any:
        y = x.base.flat if t is NO_TANGENT else walk(x.base, t.array).flat
        for _ in range(x.index):
            next(y)
        walk.register(x, y)
        return y

    def difference(self, p: Any, q: Any, walk: DifferWalk) -> Any:
        array = walk(p.base, q.base)
        return array if array is NO_TANGENT else FlatIterator(array, p.index)


class RecordKind(Kind):
    """Elements of structured arrays: windows on the memory of the array, whose tangents are windows too."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return np.void

    def make(self, x: Any, walk: MakeWalk) -> Any:
        t: Any = walk(record_array(x)) if has_number_fields(x.dtype) else NO_TANGENT
        if t is not NO_TANGENT:
            t = t[()]
        walk.register(x, t)
        return t

    def perturb(self, x: Any, t: Any, walk: PerturbWalk) -> Any:
        if t is NO_TANGENT:
            return x
        y = walk(record_array(x), record_array(t))[()]
        walk.register(x, y)
        return y

    def difference(self, p: Any, q: Any, walk: DifferWalk) -> Any:
        if not has_number_fields(p.dtype):
            return NO_TANGENT
        t = walk(record_array(p), record_array(q))[()]
        walk.register(p, t)
        return t


class MemoryviewKind(Kind):
    """Memoryviews: the tangent is an array that shows the memory of the tangent of what is viewed."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return np.ndarray

    def shown(self, x: memoryview) -> Array | None:
        """The memory that `x` shows as an array, None if it does not hold floats or complex numbers."""
        try:
            return np.asarray(x) if x.format.lstrip("@=<>") in _FORMATS else None
        except ValueError:  # it was released
            return None

    def make(self, x: memoryview, walk: MakeWalk) -> Any:
        array = self.shown(x)
        t = NO_TANGENT if array is None else walk(array)
        walk.register(x, t)
        return t

    def perturb(self, x: memoryview, t: Any, walk: PerturbWalk) -> Any:
        if t is NO_TANGENT:
            return x
        y = memoryview(walk(self.shown(x), t))
        walk.register(x, y)
        return y

    def difference(self, p: memoryview, q: memoryview, walk: DifferWalk) -> Any:
        array = self.shown(p)
        return NO_TANGENT if array is None else walk(array, self.shown(q))


_FORMATS = ("e", "f", "d", "g", "Zf", "Zd", "Zg")


ARRAY = ArrayKind()
MEMORYVIEW = MemoryviewKind()


def kind_of_numpy(cls: type) -> Kind | None:
    """The kind of a class of NumPy's that the table of kinds has no entry for; None for other classes."""
    if issubclass(cls, np.inexact):
        return ScalarKind(cls)
    if issubclass(cls, np.void):
        return RecordKind()
    if issubclass(cls, np.generic):
        return INACTIVE
    if issubclass(cls, np.ndarray):
        return ArrayInstanceKind(slots_of(cls))
    if issubclass(cls, np.flatiter):
        return FlatKind()
    if issubclass(cls, np.nditer | np.broadcast):
        return Refused(
            f"a {cls.__name__} is used", "it walks over memory out of sight", "loop over the array itself"
        )
    return None
