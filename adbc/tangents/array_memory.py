"""The memory of arrays: whose it is, where an array lies in it, and its counterpart for tangents.

What counts as the owner of memory is the end of the chain of bases; where that end is a foreign buffer
(bytes, a mapped file), the buffer's whole extent has a counterpart.  So two views that overlap have tangents
that overlap in the same way, whatever their dtypes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.walk import REGION

__all__ = [
    "Array", "Region", "add_into", "address_of", "corresponds", "extent", "fill", "flat_bytes",
    "has_number_fields", "number_views", "overlaps_itself", "places_of", "record_array", "region_of",
    "seen_memory", "share", "ultimate_owner",
]  # fmt: skip

Array = np.ndarray[Any, Any]


def address_of(x: Array) -> int:
    return int(x.__array_interface__["data"][0])


def extent(x: Array) -> tuple[int, int]:
    """The addresses of the first byte of array `x` and of the byte behind its last."""
    low = high = address_of(x)
    if x.size == 0:
        return low, low
    for n, s in zip(x.shape, x.strides, strict=True):
        if s < 0:
            low += (n - 1) * s
        else:
            high += (n - 1) * s
    return low, high + x.itemsize


def ultimate_owner(x: Any) -> Any:
    """The object whose memory `x` lies in: an array that owns it, or a foreign buffer."""
    owner: Any = x
    while True:
        base = owner.base if issubclass(type(owner), np.ndarray) else getattr(owner, "base", None)
        if issubclass(type(owner), memoryview):
            base = owner.obj
        if base is None or base is owner:  # a record that is part of no array says that it is its own
            return owner
        owner = base


def seen_memory(owner: Any, first: Array) -> tuple[Array, bool]:
    """The bytes of a foreign buffer, and True; where its extent is out of sight, what can be seen of it, the
    outermost array that `first` is a view of, and False."""
    try:
        return np.frombuffer(owner, np.uint8), True
    except (TypeError, ValueError, BufferError):
        while isinstance(first.base, np.ndarray):
            first = first.base
        return first, False


class Region:
    """The memory of the object `owner`, and its counterpart for tangents, which has the same size."""

    def __init__(self, owner: Any, first: Array, copy: bool, twin: Array | None = None) -> None:
        self.owner = owner
        self.elsewhere: list[Array] = []
        """Arrays in the memory whose tangents were given, and lie in other memory."""
        self._extent: tuple[int, int] | None = None
        if issubclass(type(owner), np.ndarray):
            self.twin = self._like(owner, copy) if twin is None else twin
            return
        flat, is_whole = seen_memory(owner, first)
        self._extent = extent(flat)
        if not is_whole:
            self.twin = self._bytes(flat, copy)
            return
        if twin is None:
            twin = flat.copy() if copy else np.zeros(flat.shape, np.uint8)
        self.twin = twin

    def extent(self) -> tuple[int, int]:
        """The addresses of the first byte of the memory and of the byte behind its last, found out when they
        are needed: most arrays have no views."""
        if self._extent is None:
            self._extent = extent(self.owner)
        return self._extent

    def forget_extent(self) -> None:
        """Let the extent be found out again: the memory of the owner, an array, may have moved."""
        self._extent = None

    def _like(self, owner: Array, copy: bool) -> Array:
        if owner.__class__ is np.ndarray and owner.flags.c_contiguous:
            return owner.copy() if copy else np.zeros(owner.shape, owner.dtype)
        twin: Array = np.zeros_like(owner, order="K", subok=False)
        if twin.strides == owner.strides or owner.size == 0:
            if copy:
                twin[...] = owner
            return twin
        return self._bytes(owner, copy)

    def _bytes(self, owner: Array, copy: bool) -> Array:
        if owner.dtype.hasobject:
            raise UnsupportedError(
                "an array of objects with gaps in its memory",
                "it has no counterpart for derivatives",
                "copy it first: x.copy()",
            )
        low, high = self.extent()
        twin = np.zeros(high - low, np.uint8)
        if copy:
            view: Array = np.ndarray(owner.shape, owner.dtype, twin, address_of(owner) - low, owner.strides)
            view[...] = owner
        return twin

    def note(self, x: Array, t: Array) -> None:
        """Array `x` has the tangent `t`, which was given and may lie elsewhere."""
        if ultimate_owner(t) is not ultimate_owner(self.twin):
            self.elsewhere.append(x)

    def view(self, x: Array) -> Array:
        """The array in the counterpart at the place of `x` in the original, of the same shape and dtype."""
        if self.elsewhere and any(_may_share(x, y) for y in self.elsewhere):
            raise UnsupportedError(
                "an array that shares memory with one whose tangent was given",
                "the tangent does not lie in memory as that array does, and no tangent can be a part of both",
                "pass a copy of the array: x.copy(), or give a tangent that is a view in the same way",
            )
        if x is self.owner and x.shape == self.twin.shape and x.dtype == self.twin.dtype:
            return self.twin
        if x.size == 0:
            return np.zeros(x.shape, x.dtype)
        low, high = extent(x)
        start, stop = self.extent()
        if low < start or high > stop:
            raise UnsupportedError(
                "two arrays share a foreign buffer whose extent cannot be seen",
                "their derivatives would not share theirs",
                "copy the arrays first",
            )
        if x.dtype.hasobject:
            return _object_view(self.twin, self.owner, x)
        return np.ndarray(x.shape, x.dtype, self._flat(), address_of(x) - start, x.strides)

    def _flat(self) -> Array:
        """The bytes of the counterpart, in the order of memory."""
        return flat_bytes(self.twin)


def _may_share(x: Array, y: Array) -> bool:
    try:
        return np.shares_memory(x, y, max_work=10_000)  # type: ignore[arg-type]  # any number will do
    except np.exceptions.TooHardError:
        return True


def corresponds(x: Array, t: Array) -> bool:
    """Whether array `t` lies in the memory of its owner as `x` in that of its own, of the same size."""
    if x.base is None and t.base is None:
        return x.strides == t.strides and x.shape == t.shape
    owner, twin = ultimate_owner(x), ultimate_owner(t)
    if not issubclass(type(owner), np.ndarray) or not issubclass(type(twin), np.ndarray):
        return False
    (low, high), (start, stop) = extent(owner), extent(twin)
    return stop - start == high - low and address_of(x) - low == address_of(t) - start


def _object_view(twin: Array, owner: Array, x: Array) -> Array:
    """The view of `twin` that `x` is of `owner`, arrays of objects: such views cannot be made from bytes."""
    flat = twin.transpose(np.argsort([-s for s in twin.strides], kind="stable")).reshape(-1)
    start = (address_of(x) - extent(owner)[0]) // x.itemsize
    stop_at_start: Array = flat[start:]
    return np.lib.stride_tricks.as_strided(stop_at_start, x.shape, x.strides)


_PLAIN = (Region, None)


def region_of(memo: dict[Any, Any], x: Array, copy: bool) -> Region:
    owner = ultimate_owner(x)
    key = ("memory", id(owner))
    found = memo.get(key)
    if found is None:
        make = memo.get(REGION, _PLAIN)[0]
        found = memo[key] = (owner, make(owner, x, copy))
    region: Region = found[1]
    return region


def share(walk: Any, x: Array, owner: Any, *others: Any) -> None:
    """Let the counterpart of the memory of `x` be the tangent of its `owner`, if that is an `array.array`."""
    if (
        issubclass(type(owner), np.ndarray)
        or type(owner).__module__ != "array"
        or ("memory", id(owner)) in walk.memo
    ):
        return
    if any(type(other) is not type(owner) for other in others):
        raise InvalidTangentError(
            "an array that shows the memory of an array.array has a tangent that does not"
        )
    twin = walk(owner, *others)
    if twin is not NO_TANGENT and type(twin) is type(owner):
        walk.memo["memory", id(owner)] = (
            owner, Region(owner, x, copy=False, twin=np.frombuffer(twin, np.uint8))
        )  # fmt: skip


def overlaps_itself(x: Array) -> bool:
    """Whether two elements of `x` may be at the same place."""
    if x.flags.forc:
        return False
    inner = x.itemsize
    for n, s in zip(x.shape[::-1], x.strides[::-1], strict=True):
        if s < inner:
            break
        inner = n * s
    else:
        return False  # rows of rows, as slices of an array are
    reach = x.itemsize
    if x.ndim == 1:
        return x.shape[0] > 1 and abs(x.strides[0]) < reach
    if x.ndim == 2 and x.strides[1] >= reach and x.strides[0] >= reach + x.strides[1] * (x.shape[1] - 1):
        return False
    for s, n in sorted((abs(s), n) for n, s in zip(x.shape, x.strides, strict=True) if n > 1):
        if s < reach:
            return True
        reach += s * (n - 1)
    return False


def places_of(x: Array) -> Array:
    """The address of each element of array `x`, as an array of the same shape."""
    places: Array = np.full((), address_of(x), np.int64)
    for axis, (n, s) in enumerate(zip(x.shape, x.strides, strict=True)):
        steps = np.arange(n, dtype=np.int64) * s
        places = places + steps.reshape((n,) + (1,) * (x.ndim - axis - 1))
    return np.broadcast_to(places, x.shape)


def add_into(f: Array, d: Any) -> None:
    """``f += d``, where elements of `f` at the same place in memory receive the sum of their terms."""
    repeated = tuple(i for i, (n, s) in enumerate(zip(f.shape, f.strides, strict=True)) if s == 0 and n > 1)
    if repeated and f.size:  # along such an axis the places are one
        d = np.sum(np.broadcast_to(d, f.shape), axis=repeated, keepdims=True)
        f = f[tuple(slice(0, 1) if i in repeated else slice(None) for i in range(f.ndim))]
    if overlaps_itself(f):
        d = np.broadcast_to(d, f.shape)
        places, index = np.unique(places_of(f), return_inverse=True)
        total = np.zeros(places.shape, f.dtype)
        np.add.at(total, index.reshape(-1), d.reshape(-1))
        old = np.zeros(places.shape, f.dtype)
        old[index.reshape(-1)] = f.reshape(-1)
        f[...] = (old + total)[index].reshape(f.shape)
    else:
        f += d


def record_array(x: Any) -> Array:
    """The array without axes that lies in the memory of `x`, an element of a structured array."""
    owner = ultimate_owner(x)
    if not issubclass(type(owner), np.ndarray):
        return np.ndarray((), x.dtype, buffer=x)  # not writable
    return np.ndarray((), x.dtype, flat_bytes(owner), address_of(x) - extent(owner)[0])


def flat_bytes(x: Array) -> Array:
    """The bytes of `x`, which owns its memory, in the order of memory."""
    if not x.flags.c_contiguous:
        x = x.transpose(np.argsort([-s for s in x.strides], kind="stable"))
    return x.reshape(-1).view(np.uint8)


# -- elements ------------------------------------------------------------------------------------------


def fill(t: Array, values: list[Any]) -> None:
    for index, value in zip(np.ndindex(t.shape), values, strict=True):
        t[index] = value  # one by one: an assignment of a list would look into the values


def has_number_fields(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of `dtype` are structured, with fields of float or complex numbers."""
    if dtype.names is None:
        return False
    if dtype.hasobject:
        raise UnsupportedError(
            "a structured array with a field of objects",
            "derivatives of such a field are not kept",
            "keep the objects in a list",
        )
    return any(
        has_number_fields(field.base) or field.base.kind in "fc"
        for field in map(dtype.__getitem__, dtype.names)
    )


def number_views(x: Array) -> list[Array]:
    """The views of array `x` that hold numbers with a derivative: `x` itself, or its fields."""
    if x.dtype.kind in "fc":
        return [x]
    return [part for name in x.dtype.names or () for part in number_views(x[name])]
