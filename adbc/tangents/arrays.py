"""NumPy: numbers of every width, arrays, views.

The shadow of an array has its dtype, shape and memory layout; the shadow of a view is the same view
of the shadow of the array that owns the memory.  What counts as the owner is the end of the chain of
bases; where that end is a foreign buffer (bytes, a mapped file), the buffer's whole extent gets a shadow.
So two views that overlap have shadows that overlap in the same way, whatever their dtypes.

This is the only module of the package that imports NumPy.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents import internal, typed_arrays
from adbc.tangents.internal import slot_increment, slot_rdata, slot_shadow
from adbc.tangents.iterators import MISSING, IndexIterator, ShadowIterator, Step, add_iterator
from adbc.tangents.nothing import NO_FDATA, NO_TANGENT
from adbc.tangents.protocol import INACTIVE, KINDS, RESOLVERS, Kind, Refused
from adbc.tangents.scalars import ScalarKind
from adbc.tangents.walk import DifferWalk, MakeWalk, PerturbWalk, TangentWalk, add_structure

__all__ = [
    "ArrayKind", "FlatIterator", "add_into", "extent", "flat_bytes", "has_number_fields", "number_views",
    "overlaps_itself", "record_array", "ultimate_owner",
]  # fmt: skip

Array = np.ndarray[Any, Any]


# -- memory ----------------------------------------------------------------------------------------


def _address(x: Array) -> int:
    return int(x.__array_interface__["data"][0])


def extent(x: Array) -> tuple[int, int]:
    """The first byte of `x` and the one after its last."""
    low = high = _address(x)
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
        base = owner.base if isinstance(owner, np.ndarray) else getattr(owner, "base", None)
        if isinstance(owner, memoryview):
            base = owner.obj
        if base is None or base is owner:  # a record that is part of no array says that it is its own
            return owner
        owner = base


class _Region:
    """The memory of an owner and its counterpart of the same size."""

    def __init__(self, owner: Any, first: Array, copy: bool, twin: Array | None = None) -> None:
        self.owner = owner
        if isinstance(owner, np.ndarray):
            self.low, self.high = extent(owner)
            self.twin = self._like(owner, copy) if twin is None else twin
            return
        try:
            flat = np.frombuffer(owner, np.uint8)
        except (TypeError, ValueError, BufferError):
            # Its extent is out of sight: what can be seen of it is the outermost array.
            outer = first
            while isinstance(outer.base, np.ndarray):
                outer = outer.base
            self.low, self.high = extent(outer)
            self.twin = self._bytes(outer, copy)
            return
        self.low, self.high = extent(flat)
        if twin is None:
            twin = flat.copy() if copy else np.zeros(flat.shape, np.uint8)
        self.twin = twin

    def _like(self, owner: Array, copy: bool) -> Array:
        twin: Array = np.zeros_like(owner, order="K", subok=False)
        if twin.strides == owner.strides or owner.size == 0:
            if copy:
                twin[...] = owner
            return twin
        return self._bytes(owner, copy)

    def _bytes(self, owner: Array, copy: bool) -> Array:
        if owner.dtype.hasobject:
            raise UnsupportedError(
                "an array of objects with gaps in its memory has no counterpart: copy it first"
            )
        twin = np.zeros(self.high - self.low, np.uint8)
        if copy:
            view: Array = np.ndarray(
                owner.shape, owner.dtype, twin, _address(owner) - self.low, owner.strides
            )
            view[...] = owner
        return twin

    def view(self, x: Array) -> Array:
        """The view of the counterpart that `x` is of the original."""
        if x is self.owner and x.shape == self.twin.shape and x.dtype == self.twin.dtype:
            return self.twin
        if x.size == 0:
            return np.zeros(x.shape, x.dtype)
        low, high = extent(x)
        if low < self.low or high > self.high:
            raise UnsupportedError(
                "two arrays share a foreign buffer whose extent cannot be seen: copy the arrays first"
            )
        if x.dtype.hasobject:
            return _object_view(self.twin, self.owner, x)
        return np.ndarray(x.shape, x.dtype, self._flat(), _address(x) - self.low, x.strides)

    def _flat(self) -> Array:
        """The counterpart as bytes, in the order of memory."""
        return flat_bytes(self.twin)


def _object_view(twin: Array, owner: Array, x: Array) -> Array:
    """A view of an array of objects; these cannot be made from bytes."""
    flat = twin.transpose(np.argsort([-s for s in twin.strides], kind="stable")).reshape(-1)
    start = (_address(x) - extent(owner)[0]) // x.itemsize
    stop_at_start: Array = flat[start:]
    return np.lib.stride_tricks.as_strided(stop_at_start, x.shape, x.strides)


def _region(memo: dict[Any, Any], x: Array, copy: bool) -> _Region:
    owner = ultimate_owner(x)
    key = ("memory", id(owner))
    found = memo.get(key)
    if found is None:
        found = memo[key] = (owner, _Region(owner, x, copy))
    region: _Region = found[1]
    return region


def _share(walk: Any, x: Array, owner: Any, *others: Any) -> None:
    """Let the counterpart of the memory of `x` be that of its owner, where that has a tangent of its own."""
    if (
        isinstance(owner, np.ndarray)
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
            owner, _Region(owner, x, copy=False, twin=np.frombuffer(twin, np.uint8))
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


def _places(x: Array) -> Array:
    """The address of each element."""
    places: Array = np.full((), _address(x), np.int64)
    for axis, (n, s) in enumerate(zip(x.shape, x.strides, strict=True)):
        steps = np.arange(n, dtype=np.int64) * s
        places = places + steps.reshape((n,) + (1,) * (x.ndim - axis - 1))
    return np.broadcast_to(places, x.shape)


def add_into(f: Array, d: Any) -> None:
    """``f += d``, where elements of `f` that share a place receive the sum of what is for them."""
    if overlaps_itself(f):
        d = np.broadcast_to(d, f.shape)
        places, index = np.unique(_places(f), return_inverse=True)
        total = np.zeros(places.shape, f.dtype)
        np.add.at(total, index.reshape(-1), d.reshape(-1))
        old = np.zeros(places.shape, f.dtype)
        old[index.reshape(-1)] = f.reshape(-1)
        f[...] = (old + total)[index].reshape(f.shape)
    else:
        f += d


# -- kinds -----------------------------------------------------------------------------------------


def _generator(source: Any) -> np.random.Generator:
    return np.random.default_rng(source.getrandbits(64)) if isinstance(source, random.Random) else source


_UNKNOWN = (None, None)


class ArrayKind(Kind):
    """Arrays, told apart by dtype."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return np.ndarray

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
        _share(walk, x, owner)
        t = _region(walk.memo, x, copy=False).view(x)
        walk.register(x, t)
        if x.dtype.kind == "O":
            walk.later(lambda: _fill(t, [walk(c) for c in x.flat]))
        elif walk.source is not None:
            draw = _generator(walk.source).standard_normal
            for part in number_views(t):
                part[...] = (
                    draw(part.shape) + 1j * draw(part.shape) if part.dtype.kind == "c" else draw(part.shape)
                )
        return t

    def zeros(self, x: Array) -> Array:
        """The zero tangent of an array that owns its memory, outside of any walk."""
        return np.zeros_like(x)

    def summed(self, d: Array, shape: tuple[int, ...]) -> Array:
        """`d` with broadcasting from `shape` undone."""
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
        owner, twin = ultimate_owner(x), ultimate_owner(t)
        key = ("memory", id(owner))
        if (
            key in memo
            or not isinstance(owner, np.ndarray)
            or not isinstance(twin, np.ndarray)
            or x.size == 0
        ):
            return
        (low, high), (start, stop) = extent(owner), extent(twin)
        if stop - start == high - low and _address(x) - low == _address(t) - start:
            memo[key] = (owner, _Region(owner, x, copy=False, twin=twin))

    def perturb(self, x: Array, t: Any, walk: PerturbWalk) -> Any:
        if not self.is_active(x):
            return x
        if type(t) is not np.ndarray or t.shape != x.shape or t.dtype != x.dtype:
            raise InvalidTangentError(
                f"not a tangent of an array of shape {x.shape} and dtype {x.dtype}: {t!r}"
            )
        _share(walk, x, ultimate_owner(x), ultimate_owner(t))
        y = _region(walk.memo, x, copy=True).view(x)
        walk.register(x, y)
        if x.dtype.kind == "O":
            walk.later(lambda: _fill(y, [walk(c, d) for c, d in zip(x.flat, t.flat, strict=True)]))
        else:
            for moved, old, change in zip(*map(number_views, (y, x, t)), strict=True):
                moved[...] = old + change
        return y

    def difference(self, p: Array, q: Array, walk: DifferWalk) -> Any:
        if not self.is_active(p):
            return NO_TANGENT
        if p.shape != q.shape or p.dtype != q.dtype:
            raise InvalidTangentError("no difference between arrays of different shape or dtype")
        _share(walk, p, ultimate_owner(p), ultimate_owner(q))
        t = _region(walk.memo, p, copy=False).view(p)
        walk.register(p, t)
        if p.dtype.kind == "O":
            walk.later(lambda: _fill(t, [walk(c, d) for c, d in zip(p.flat, q.flat, strict=True)]))
        else:
            for change, new, old in zip(*map(number_views, (t, p, q)), strict=True):
                change[...] = new - old
        return t

    def locate(self, x: Array) -> tuple[int, int, tuple[int, ...], str]:
        """The owner of the memory of `x`, and where in it `x` lies."""
        owner = ultimate_owner(x)
        memory = owner if isinstance(owner, np.ndarray) else np.frombuffer(owner, np.uint8)
        return id(owner), _address(x) - extent(memory)[0], x.strides, x.dtype.str

    def overlap(self, x: Array, y: Array) -> int | None:
        """How far `y` starts behind `x` if they have memory in common, else None."""
        return _address(y) - _address(x) if np.shares_memory(x, y) else None

    def project_array(self, d: Any, x: Array, fresh: bool) -> Any:
        kind = x.dtype.kind
        if kind not in "fcO":
            return None if not has_number_fields(x.dtype) else d.copy() if fresh else d
        if type(d) is not np.ndarray:
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
    return d if d.shape == shape else np.array(np.broadcast_to(d, shape))


_SMALL = 8192
"""Of up to so many numbers, sums along rows or columns are quicker as products with a vector."""
_FEW = 128
"""Up to so many are added one by one without a loss of digits that matters."""


def _ones(count: int, dtype: np.dtype[Any]) -> Array:
    ones = np.empty(count, dtype)
    ones.fill(1.0)
    return ones


def _fill(t: Array, values: list[Any]) -> None:
    for index, value in zip(np.ndindex(t.shape), values, strict=True):
        t[index] = value  # one by one: an assignment of a list would look into the values


def has_number_fields(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of `dtype` are structured, with fields of float or complex numbers."""
    if dtype.names is None:
        return False
    if dtype.hasobject:
        raise UnsupportedError(
            "a structured array with a field of objects cannot be differentiated: keep the objects in a list"
        )
    return any(
        has_number_fields(field.base) or field.base.kind in "fc"
        for field in map(dtype.__getitem__, dtype.names)
    )


def number_views(x: Array) -> list[Array]:
    """The parts of `x` that hold numbers with a derivative: itself, or its fields."""
    if x.dtype.kind in "fc":
        return [x]
    return [part for name in x.dtype.names or () for part in number_views(x[name])]


# -- tangents that are arrays -----------------------------------------------------------------------


class _ObjectArray:
    """Arrays of tangents and arrays of numbers, as a `TangentWalk` meets them."""

    def __call__(self, walk: TangentWalk, t: Array, *others: Any) -> Any:
        for s in others:
            if type(s) is not np.ndarray or s.shape != t.shape or s.dtype != t.dtype:
                raise InvalidTangentError(
                    f"an array of shape {t.shape} and dtype {t.dtype} does not go with {s!r}"
                )
        found = walk.memo.get(id(t))
        if found is not None:
            return found[1]
        if not walk.in_place:
            _share(walk, t, *map(ultimate_owner, (t, *others)))
        target = t if walk.in_place else _region(walk.memo, t, copy=False).view(t)
        walk.register(t, target)
        if t.dtype.kind == "O":
            walk.later(lambda: _fill(target, _visit_slots(walk, t, others)))
        else:
            rows = zip(*map(number_views, (target, t, *others)), strict=True)
            walk.arrays += [(target, t, others) for target, t, *others in rows]
            walk.finish = _finish
        return target


def _visit_slots(walk: TangentWalk, t: Array, others: Any) -> list[Any]:
    """The results for the slots of an array of objects; slots that several views share are visited once."""
    results = []
    columns = (t.flat, *(s.flat for s in others))
    for place, *row in zip(_places(t).flat, *columns, strict=True):
        key = ("slot", int(place))
        if key not in walk.memo:
            walk.memo[key] = (t, walk(*row))
        results.append(walk.memo[key][1])
    return results


def _finish(walk: Any) -> None:
    """Treat all arrays of the walk: first compute, then write, since they may overlap."""
    reduce = getattr(walk.leaf, "reduce_arrays", None)
    if reduce is not None:
        reduce(_without_repeats([(t, *others) for _, t, others in walk.arrays]))
        return
    combine = walk.leaf.on_arrays  # see `operations`
    if len(walk.arrays) == 1:
        target, t, others = walk.arrays[0]
        into = getattr(walk.leaf, "into", None)
        if into is not None and not overlaps_itself(t):
            into(t, *others)
            return
        target[...] = combine(t, *others)
        return
    results = [(target, combine(t, *others)) for target, t, others in walk.arrays]
    for target, result in results:
        target[...] = result


def _without_repeats(rows: list[tuple[Array, ...]]) -> list[tuple[Array, ...]]:
    """The rows with each place in memory only once, judged by the first array of each row."""
    owners = [id(ultimate_owner(row[0])) for row in rows]
    if len(set(owners)) == len(owners) and not any(overlaps_itself(row[0]) for row in rows):
        return rows
    parts: list[tuple[Array, ...]] = []
    for row in rows:
        if row[0].dtype.kind == "c":  # a complex number is two places: one may be seen as a real view
            parts.append(tuple([a.real for a in row]))
            parts.append(tuple([a.imag for a in row]))
        else:
            parts.append(row)
    seen: Array = np.zeros(0, np.int64)
    result = []
    for row in parts:
        places, first = np.unique(_places(row[0]), return_index=True)
        new = first[~np.isin(places, seen)]
        seen = np.union1d(seen, places)
        result.append(tuple([a.reshape(-1)[new] for a in row]))
    return result


# -- hooks of the flat protocol ----------------------------------------------------------------------


def _multiply(p: Any, d: Any) -> Any:
    with np.errstate(invalid="ignore"):
        product = p * d
    if np.all(np.isfinite(p)):
        return product
    return np.where(d == 0, np.zeros((), np.result_type(product)), product)


def _fresh(out: Array) -> Any:
    """Zeros like `out`, the quick way, if it is an array of numbers that owns memory without gaps."""
    if out.base is not None or out.dtype.kind not in "fc":
        return None
    twin = np.zeros_like(out)
    return twin if twin.strides == out.strides else None


def _accumulate(f: Array, x: Any, d: Any) -> None:
    if type(d) is not np.ndarray or d.shape != f.shape or d.dtype != f.dtype:
        d = KIND.project_array(d, x, False)
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
    _fill(
        result, [slot_increment(a, b) for a, b in zip(f.flat, np.broadcast_to(d, f.shape).flat, strict=True)]
    )
    return result


class ArrayIterator(ShadowIterator):
    """Over the first axis of an array of numbers: shadows of numbers, or views of the shadow."""

    __slots__ = ("container", "index", "stride")

    def __init__(self, container: Array, start: int, stride: int) -> None:
        self.container, self.index, self.stride = container, start, stride

    def step(self, value: Any = MISSING) -> Step:
        container, index = self.container, self.index
        self.index = index + self.stride
        t = container[index]
        if container.ndim > 1 or container.dtype.kind == "V":
            return t, None, t

        def sink(r: Any) -> None:
            container[index] += r

        return NO_FDATA, sink, t


class ObjectArrayIterator(IndexIterator):
    """Over an array of objects with one axis, or over views of one with more."""

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

        def sink(r: Any) -> None:
            array.flat[index] = slot_increment(array.flat[index], r)

        return slot_shadow(t), None if slot_rdata(t) is None else sink, t


class FlatKind(Kind):
    """``x.flat``, which knows its array and where it is."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return FlatIterator

    def make(self, x: Any, walk: MakeWalk) -> Any:
        array = walk(x.base)
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
    """Elements of structured arrays: windows on the memory of the array, as their tangents are."""

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


def record_array(x: Any) -> Array:
    """The array without axes that lies where record `x` does."""
    owner = ultimate_owner(x)
    if not isinstance(owner, np.ndarray):
        return np.ndarray((), x.dtype, buffer=x)  # not writable
    return np.ndarray((), x.dtype, flat_bytes(owner), _address(x) - extent(owner)[0])


def flat_bytes(x: Array) -> Array:
    """The bytes of `x`, which owns its memory, in the order of memory."""
    if not x.flags.c_contiguous:
        x = x.transpose(np.argsort([-s for s in x.strides], kind="stable"))
    return x.reshape(-1).view(np.uint8)


class MemoryviewKind(Kind):
    """Memoryviews: windows, whose tangent is the array that shows the tangent of what they show."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return np.ndarray

    def shown(self, x: memoryview) -> Array | None:
        """The array that `x` shows if it is one of numbers."""
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


def _visit_record(walk: TangentWalk, t: Any, *others: Any) -> Any:
    result = walk(*map(record_array, (t, *others)))
    return t if walk.in_place else result[()]


def _visit_typed(walk: TangentWalk, target: Any, t: Any, others: Any) -> None:
    """An `array.array` among the tangents: one array of numbers more, which views may overlap."""
    dtype = np.dtype(t.typecode)
    walk.arrays.append(
        tuple([np.frombuffer(x, dtype) for x in (target, t)]) + ([np.frombuffer(s, dtype) for s in others],)
    )
    walk.finish = _finish


def _visit_flat(walk: TangentWalk, t: FlatIterator, *others: Any) -> Any:
    array = walk(t.array, *[s.array for s in others])
    return t if array is t.array else FlatIterator(array, t.index)


def _iterate(shadow: Array, reverse: bool) -> ShadowIterator:
    cls = ObjectArrayIterator if shadow.dtype.kind == "O" else ArrayIterator
    return cls(shadow, len(shadow) - 1 if reverse else 0, -1 if reverse else 1)


def _resolve(cls: type) -> Kind | None:
    if issubclass(cls, np.inexact):
        return ScalarKind(cls)
    if cls is np.void:
        return RecordKind()
    if issubclass(cls, np.generic):
        return INACTIVE
    if issubclass(cls, np.ndarray):
        return Refused(
            f"{cls.__module__}.{cls.__qualname__} is a subclass of ndarray, whose operations may mean "
            "something else than those of arrays (a mask, units): convert it with numpy.asarray first"
        )
    if issubclass(cls, np.flatiter):
        return FlatKind()
    if issubclass(cls, np.nditer | np.broadcast):
        return Refused(f"a {cls.__name__} walks over memory out of sight: loop over the array itself")
    return None


KIND = ArrayKind()


def _install() -> None:
    KINDS[np.ndarray] = KIND
    KINDS[memoryview] = MemoryviewKind()
    internal.ARRAY_FRESH[np.ndarray] = _fresh
    RESOLVERS.insert(0, _resolve)
    add_structure(np.ndarray, _ObjectArray())
    internal.ARRAY_MULTIPLY[np.ndarray] = _multiply
    internal.ARRAY_REDUCE[np.ndarray] = np.sum
    internal.ARRAY_FINITE[np.ndarray] = lambda t: bool(np.all(np.isfinite(t)))
    internal.ARRAY_ACCUMULATE[np.ndarray] = _accumulate
    add_iterator(np.ndarray, _iterate)
    for cls in (ArrayIterator, ObjectArrayIterator):
        add_structure(cls, lambda walk, t, *others: t)
    add_structure(FlatIterator, _visit_flat)
    add_structure(np.void, _visit_record)
    typed_arrays.visit_shared = _visit_typed


_install()
