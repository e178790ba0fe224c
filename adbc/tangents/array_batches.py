"""Batches: N tangents of one value, carried through one run of a function.

A `BatchedNumber` is the batch of a number, a `BatchedArray` that of an array of shape S: its `data` has the
shape ``(N,) + S``, lanes first, so that a view of the array is a view of the batch.  Containers and objects
hold batches as they hold tangents otherwise.  Zero is what it is without batches: None, 0.0 for a number.

Whatever is done with a batch is done with each lane, by definition: `Batch` takes part in NumPy's two
protocols, and what has no entry in the tables here is computed lane by lane and put together again.  So
formulas that were written for one tangent give N of them, and shapes, axes and broadcasting are those of one
lane.  What depends on the numbers in the lanes (a truth value, a float made of one) is answered if all lanes
agree, and raises `BatchError` otherwise, as does whatever would make an array of a batch unseen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import BatchError, InvalidTangentError
from adbc.tangents.array_memory import Array, address_of, extent, flat_bytes, ultimate_owner
from adbc.tangents.array_products import is_finite
from adbc.tangents.nothing import NO_TANGENT

__all__ = [
    "FUNCTIONS", "WRITERS", "Batch", "BatchedArray", "BatchedNumber", "aligned", "batch_like", "joined",
    "lane", "lanewise", "mismatch", "raised", "refused", "view_like", "width_in",
]  # fmt: skip

_ALL = slice(None)
_BASIC = (int, slice, type(None), type(Ellipsis))
_NUMBERS = (int, float, complex, np.number, np.bool_)


def refused(what: str) -> BatchError:
    return BatchError(
        f"{what} is asked of a batch of tangents",
        "the answer may differ between lanes, or C code would take the batch for one array",
        "take them one by one: call adbc.jvp or adbc.vjp without width=",
    )


def mismatch(n: int, m: int) -> InvalidTangentError:
    return InvalidTangentError(
        f"a batch of {n} tangents meets a batch of {m}: batches have one width in a call"
    )


class Batch:
    """N tangents of one value: `data` has a first axis of length N, and behind it those of the value."""

    __slots__ = ("__weakref__", "data")
    is_batch = True
    fitted_to: Any
    """fitted_to(x, fresh): as a batch of tangents of the array `x`; fresh: in memory of its own"""
    as_number: Any
    """as_number(cls, is_complex): as a batch of tangents of a number, of which each has the class `cls`"""
    remember_for: Any
    """remember_for(x, memo): lets `memo` say that the memory of the array `x` has its counterpart here"""
    strong_product: Any
    """strong_product(p, d): ``p * d``, but zero where one of them is zero"""
    strong_quotient: Any
    """strong_quotient(d, y): ``d / y``, but zero where `d` is zero or `y` infinite"""
    __hash__ = None  # type: ignore[assignment]  # equality is by lanes

    def __init__(self, data: Array) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.data!r})"

    # -- what one lane is

    @property
    def width(self) -> int:
        return len(self.data)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape[1:])

    @property
    def ndim(self) -> int:
        return self.data.ndim - 1

    @property
    def size(self) -> int:
        return int(np.prod(self.data.shape[1:], dtype=int))

    @property
    def real(self) -> Any:
        return self if self.data.dtype.kind != "c" else type(self)(self.data.real)

    @property
    def imag(self) -> Any:
        return type(self)(self.data.imag)

    # -- arithmetic

    def __add__(self, other: Any) -> Any:
        return _apply(np.add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _apply(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply(np.multiply, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _apply(np.divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply(np.divide, other, self)

    def __pow__(self, other: Any) -> Any:
        return _apply(np.power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _apply(np.power, other, self)

    def __matmul__(self, other: Any) -> Any:
        return _apply(np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _apply(np.matmul, other, self)

    def __neg__(self) -> Any:
        return type(self)(-self.data)

    def __pos__(self) -> Any:
        return type(self)(+self.data)

    def __abs__(self) -> Any:
        return type(self)(abs(self.data))

    def conjugate(self) -> Any:
        return self if self.data.dtype.kind != "c" else type(self)(self.data.conj())

    conj = conjugate

    # -- looks

    def __eq__(self, other: object) -> Any:
        if other is self:  # whether it is a number: NaN is not equal to itself
            return is_finite(self) or not bool(np.isnan(self.data).any())
        return _apply(np.equal, self, other)

    def __ne__(self, other: object) -> Any:
        return not self == other if other is self else _apply(np.not_equal, self, other)

    def __lt__(self, other: Any) -> Any:
        return _apply(np.less, self, other)

    def __le__(self, other: Any) -> Any:
        return _apply(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return _apply(np.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return _apply(np.greater_equal, self, other)

    def __or__(self, other: Any) -> Any:
        return _apply(np.bitwise_or, self, other)

    __ror__ = __or__

    def __and__(self, other: Any) -> Any:
        return _apply(np.bitwise_and, self, other)

    __rand__ = __and__

    def __invert__(self) -> Any:
        return _apply(np.invert, self)

    def __bool__(self) -> bool:
        if self.size == 1 and self.width:
            flags = self.data != 0
            if flags.all() or not flags.any():
                return bool(flags.flat[0])
        raise refused("a truth value")

    def has_nonzero(self) -> bool:
        """Whether any number in any lane is not zero."""
        return bool(self.data.any())

    def __float__(self) -> float:
        raise refused("a number")

    def __int__(self) -> int:
        raise refused("a number")

    def __complex__(self) -> complex:
        raise refused("a number")

    def __index__(self) -> int:
        raise refused("an index")

    def __iter__(self) -> Any:
        if not self.ndim:
            raise refused("a loop")
        return iter([self[i] for i in range(self.shape[0])])  # type: ignore[index]  # arrays have it

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise refused("one array")

    # -- NumPy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__":
            return _call_ufunc(ufunc, inputs, kwargs)
        if method == "at":
            if not isinstance(inputs[0], Batch):
                raise refused(f"{ufunc.__name__}.at into an array")
            return lanewise(ufunc.at, inputs, kwargs)
        return lanewise(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        special = FUNCTIONS.get(function)
        if special is not None:
            found = special(*args, **kwargs)
            if found is not NotImplemented:
                return found
        if function in WRITERS and not isinstance(args[0] if args else None, Batch):
            raise refused(f"to be written into an array by numpy.{function.__name__}")
        return lanewise(function, args, kwargs)

    def astype(self, dtype: Any, **others: Any) -> Any:
        return self if self.data.dtype == dtype and not others.get("copy", True) else type(self)(
            self.data.astype(dtype)
        )  # fmt: skip

    def item(self, *index: Any) -> Any:
        if not index:
            return BatchedNumber(np.array([lane.item() for lane in self.data], self.data.dtype))
        if len(index) == 1 and self.ndim == 1 and index[0].__class__ is not tuple:
            return BatchedNumber(self.data[:, index[0]].copy())
        return BatchedNumber(np.array([lane.item(*index) for lane in self.data], self.data.dtype))

    def copy(self, order: Any = "C") -> Any:
        return _lay_out(type(self), self.data, lambda lane: lane.copy(order))


def _quick(ufunc: Any) -> Callable[[Any, Any], Any]:
    """An operator of two numbers, of which the first is a batch: what most of the time is spent with."""

    def operate(self: Any, other: Any) -> Any:
        if other.__class__ is float:
            if other - other == 0.0 and other:
                return BatchedNumber(ufunc(self.data, other))
            with np.errstate(all="ignore"):  # arithmetic of Python's numbers does not warn
                return BatchedNumber(ufunc(self.data, other))
        if other.__class__ is BatchedNumber and len(other.data) == len(self.data):
            return BatchedNumber(ufunc(self.data, other.data))
        return _apply(ufunc, self, other)

    return operate


class BatchedNumber(Batch):
    """N tangents of a number."""

    __slots__ = ()
    __add__ = __radd__ = _quick(np.add)
    __sub__ = _quick(np.subtract)
    __mul__ = __rmul__ = _quick(np.multiply)
    __truediv__ = _quick(np.divide)

    def __getitem__(self, index: Any) -> Any:
        if index == ():
            return self
        raise refused("an element of a number")


class BatchedArray(Batch):
    """N tangents of an array."""

    __slots__ = ()

    @property
    def strides(self) -> tuple[int, ...]:
        return self.data.strides[1:]

    @property
    def base(self) -> Any:
        return self.data if self.data.base is None else self.data.base

    @property
    def flags(self) -> Any:
        return self.data[0].flags

    @property
    def itemsize(self) -> int:
        return self.data.itemsize

    @property
    def T(self) -> Any:  # as NumPy calls it
        axes = range(self.data.ndim - 1, 0, -1)
        return BatchedArray(self.data.transpose(0, *axes))

    @property
    def flat(self) -> Any:
        return _Flat(self)

    def __len__(self) -> int:
        if self.data.ndim == 1:
            raise TypeError("len() of unsized object")
        return int(self.data.shape[1])

    def __getitem__(self, index: Any) -> Any:
        cls = index.__class__
        if cls is int or cls is slice:
            found = self.data[:, index]
            return BatchedArray(found) if cls is slice or found.ndim > 1 else BatchedNumber(found.copy())
        if cls is tuple and {*map(type, index)} <= _BASIC_CLASSES:
            found = self.data[(_ALL, *index)]
            is_array = found.ndim > 1 or Ellipsis in index
            return BatchedArray(found) if is_array else BatchedNumber(found.copy())
        if cls is np.ndarray and (index.dtype.kind in "iu" or (index.dtype.kind == "b" and index.ndim)):
            found = self.data[:, index]
            if found.ndim == 1:
                return BatchedNumber(found)
            first = self.data[0][index]
            if first.strides == found.strides[1:]:
                return BatchedArray(found)
            made = batch_like(first, len(found))  # NumPy lays out what it gathers as it pleases
            made.data[...] = found
            return made
        return lanewise(operator.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        if value.__class__ is float and not value:  # in all lanes, wherever that is
            cls = index.__class__
            if cls is int or cls is slice or cls is np.ndarray:
                self.data[:, index] = value
                return
        if index.__class__ is tuple and {*map(type, index)} <= _BASIC_CLASSES:
            where: Any = (_ALL, *index)
        elif index.__class__ in _BASIC_CLASSES:
            where = (_ALL, index)
        else:
            lanewise(operator.setitem, (self, index, value), {})
            return
        target = self.data[where]
        if isinstance(value, Batch):
            if len(value.data) != len(self.data):
                raise mismatch(len(self.data), len(value.data))
            given = value.data
            if given.ndim > target.ndim:
                lanewise(operator.setitem, (self, index, value), {})
                return
            if given.dtype.kind == "c" and target.dtype.kind != "c":
                raise refused("the real part of a complex number")
            target[...] = raised(given, target.ndim - given.ndim)
            return
        if np.ndim(value) >= target.ndim:
            lanewise(operator.setitem, (self, index, value), {})
            return
        target[...] = value

    def __iadd__(self, other: Any) -> Any:
        return _into(np.add, self, other)

    def __isub__(self, other: Any) -> Any:
        return _into(np.subtract, self, other)

    def __imul__(self, other: Any) -> Any:
        return _into(np.multiply, self, other)

    def __itruediv__(self, other: Any) -> Any:
        return _into(np.divide, self, other)

    def under(self, x: Array, base: Array) -> BatchedArray:
        """The batch of tangents of `base`, an array that `x`, whose batch this is, is a view of."""
        return _under(self, x, base)

    def fill(self, value: Any) -> None:
        if isinstance(value, Batch):
            self[...] = value
        else:
            self.data.fill(value)


_BASIC_CLASSES = frozenset(_BASIC)


class _Flat:
    """``x.flat`` for a batch: elements by their number."""

    def __init__(self, batch: BatchedArray) -> None:
        self.batch = batch

    def __len__(self) -> int:
        return self.batch.size

    def __getitem__(self, index: Any) -> Any:
        return lanewise(_flat_item, (self.batch, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        lanewise(_set_flat_item, (self.batch, index, value), {})


def _flat_item(x: Array, index: Any) -> Any:
    return x.flat[index]


def _set_flat_item(x: Array, index: Any, value: Any) -> None:
    x.flat[index] = value


# -- lane by lane --------------------------------------------------------------------------------------------


def width_in(values: Any, found: int = -1) -> int:
    """The width of the batches in `values`, -1 if there are none; raises if they differ."""
    for x in values:
        if isinstance(x, Batch):
            n = len(x.data)
        elif x.__class__ is list or x.__class__ is tuple:
            n = width_in(x, found)
        elif x.__class__ is dict:
            n = width_in(x.values(), found)
        else:
            continue
        if n >= 0:
            if found >= 0 and n != found:
                raise mismatch(found, n)
            found = n
    return found


def lane(x: Any, n: int) -> Any:
    """Lane `n` of `x`, which may hold batches."""
    cls = x.__class__
    if cls is BatchedArray:
        return x.data[n] if x.data.ndim > 1 else x.data[n : n + 1].reshape(())
    if cls is BatchedNumber:
        return x.data[n]
    if cls is tuple or cls is list:
        return cls([lane(part, n) for part in x])
    if cls is dict:
        return {key: lane(part, n) for key, part in x.items()}
    return x


def _arrays_in(values: Any) -> list[Any]:
    """The batches of arrays in `values`."""
    found = []
    for x in values:
        if x.__class__ is BatchedArray:
            found.append(x)
        elif x.__class__ is list or x.__class__ is tuple:
            found += _arrays_in(x)
        elif x.__class__ is dict:
            found += _arrays_in(x.values())
    return found


def lanewise(function: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    """``function(*args, **kwargs)`` for each lane of the batches among the arguments, as a batch.

    The function does nothing but to compute, and to write into what it is given.  Where its results are views
    of lanes, what comes out is a view of the batch.
    """
    out = kwargs.get("out")
    if out is not None and not all(isinstance(x, Batch) for x in (out if type(out) is tuple else (out,))):
        raise refused("to be written into an array")
    width = width_in(kwargs.values(), width_in(args))
    results = [function(*lane(tuple(args), n), **lane(dict(kwargs), n)) for n in range(width)]
    if not results:
        raise refused("a result without lanes")
    if out is not None:
        return out
    return joined(results, _arrays_in([*args, *kwargs.values()]))


def joined(
    results: Sequence[Any], sources: Sequence[Any], made: list[tuple[Array, BatchedArray]] | None = None
) -> Any:
    """The batch of `results`, one for each lane; those that lie in the memory of lanes of `sources` are views
    of these.

    made: the new arrays of which batches have been made, in the first lane, with these; it gets more.
    """
    first = results[0]
    made = [] if made is None else made
    if issubclass(type(first), np.ndarray):
        if any(r.__class__ is not first.__class__ or r.shape != first.shape for r in results):
            raise refused("a result whose shape differs between lanes")
        for source in sources:
            if first.size and np.may_share_memory(first, lane(source, 0)):
                return view_like(source.data, first)
        if first.__class__ is not np.ndarray or first.dtype.kind not in "fcbiu":
            raise refused(f"a {type(first).__name__} of dtype {first.dtype}")
        for other, batch in made:
            if other is first:
                return batch
            if first.size and np.may_share_memory(first, other) and _share_memory(first, other):
                raise refused("to be two results in one memory that is new")
        made.append((first, BatchedArray(_stacked(results))))
        return made[-1][1]
    if issubclass(type(first), int | np.bool_ | np.integer) and all(r == first for r in results):
        return first
    if issubclass(type(first), _NUMBERS):
        return BatchedNumber(np.array(results))
    if first.__class__ is tuple or first.__class__ is list:
        return first.__class__([joined(parts, sources, made) for parts in zip(*results, strict=True)])
    if first is None or first is NO_TANGENT or all(r is first for r in results):
        return first
    raise refused(f"a {type(first).__name__}")


def _share_memory(x: Array, y: Array) -> bool:
    """Whether a byte belongs to both arrays, as far as that is found out without a long search."""
    try:
        return np.shares_memory(x, y, max_work=1000)  # type: ignore[arg-type]  # any number
    except np.exceptions.TooHardError:
        return True


def _stacked(lanes: Sequence[Array]) -> Array:
    """`lanes` as one array, in which each is laid out as the first."""
    first = lanes[0]
    data = batch_like(first, len(lanes)).data.astype(first.dtype, copy=False)
    for n, lane in enumerate(lanes):
        data[n] = lane
    return data


def view_like(data: Array, lane: Array) -> BatchedArray:
    """The view of the batch `data` that `lane` is of its first lane."""
    owner = ultimate_owner(data)
    flat = flat_bytes(owner) if owner.dtype != np.uint8 or owner.ndim > 1 else owner
    offset = address_of(lane) - extent(owner)[0]
    return BatchedArray(
        np.ndarray((len(data), *lane.shape), lane.dtype, flat, offset, (data.strides[0], *lane.strides))
    )


def _under(d: BatchedArray, x: Array, base: Array) -> BatchedArray:
    """The batch of tangents of `base`, an array that `x`, of which `d` is that, is a view of."""
    memory = ultimate_owner(d.data)
    flat, step = flat_bytes(memory), d.data.strides[0]
    offset = address_of(d.data) - extent(memory)[0] - (address_of(x) - address_of(base))
    low, high = extent(base)
    start = offset - (address_of(base) - low)
    if start < 0 or start + (len(d.data) - 1) * step + high - low > len(flat) or step < high - low:
        raise refused("the memory that it is a view of")
    return BatchedArray(
        np.ndarray((len(d.data), *base.shape), base.dtype, flat, offset, (step, *base.strides))
    )


def _lay_out(cls: type, data: Array, change: Callable[[Array], Array]) -> Any:
    """A new batch of what `change` makes of each lane."""
    if data.ndim == 1:
        return cls(data.copy())
    return cls(_stacked([change(lane) for lane in data])) if not data.flags.c_contiguous else cls(data.copy())


def batch_like(x: Array, width: int) -> BatchedArray:
    """A batch of zeros of this width, in which each lane is laid out in memory as the array `x`."""
    if x.flags.c_contiguous or not x.size:
        return BatchedArray(np.zeros((width, *x.shape), x.dtype))
    like = np.empty_like(x)
    order = np.argsort([-s for s in like.strides], kind="stable")
    data = np.zeros((width, *[like.shape[i] for i in order]), x.dtype)
    return BatchedArray(data.transpose(0, *[int(i) + 1 for i in np.argsort(order)]))


# -- elementwise functions -----------------------------------------------------------------------------------


def raised(data: Array, by: int) -> Array:
    """`data` with `by` more axes behind the first, of length 1."""
    return data if by <= 0 else data[(_ALL, *(None,) * by)]


def _is_number(x: Any) -> bool:
    return x.__class__ is BatchedNumber or issubclass(type(x), _NUMBERS)


def aligned(inputs: Sequence[Any]) -> tuple[list[Any], bool]:
    """The arrays that an elementwise function takes for `inputs`: lanes first, the other axes below each
    other; and whether the result is a number."""
    width = -1
    most = 0
    is_number = True
    for x in inputs:
        if x.__class__ is BatchedNumber or x.__class__ is BatchedArray:
            if width >= 0 and len(x.data) != width:
                raise mismatch(width, len(x.data))
            width = len(x.data)
            most = max(most, x.data.ndim - 1)
            is_number = is_number and x.__class__ is BatchedNumber
        elif not issubclass(type(x), _NUMBERS):
            x = np.asarray(x)
            most = max(most, x.ndim)
            is_number = False
    arrays = []
    for x in inputs:
        if x.__class__ is BatchedNumber or x.__class__ is BatchedArray:
            arrays.append(raised(x.data, most - x.data.ndim + 1))
        else:
            arrays.append(x)
    return arrays, is_number or not most


def _apply(ufunc: Any, *inputs: Any) -> Any:
    """An elementwise function of batches, arrays and numbers."""
    if ufunc is np.matmul:
        return FUNCTIONS[np.matmul](*inputs)
    if len(inputs) == 2:  # the most frequent cases first
        a, b = inputs
        if a.__class__ is BatchedNumber and (b.__class__ is float or b.__class__ is int):
            return BatchedNumber(ufunc(a.data, b))
        if a.__class__ is b.__class__ and a.data.shape == b.data.shape:
            return a.__class__(ufunc(a.data, b.data))
        if b.__class__ is BatchedNumber and (a.__class__ is float or a.__class__ is int):
            return BatchedNumber(ufunc(a, b.data))
        if not _is_operand(a) or not _is_operand(b):
            return NotImplemented
    arrays, is_number = aligned(inputs)
    return (BatchedNumber if is_number else BatchedArray)(ufunc(*arrays))


def _is_operand(x: Any) -> bool:
    return isinstance(x, (Batch, np.ndarray, *_NUMBERS, list, tuple))


def _into(ufunc: Any, target: BatchedArray, other: Any) -> BatchedArray:
    """``target op= other``."""
    arrays, _ = aligned((target, other))
    if arrays[0].ndim != target.data.ndim:
        raise refused("a result with more axes than the array that it is written to")
    ufunc(*arrays, out=target.data, casting="same_kind")
    return target


def _call_ufunc(ufunc: Any, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if ufunc is np.matmul or ufunc.signature is not None:
        if ufunc is np.matmul and not kwargs:
            return FUNCTIONS[np.matmul](*inputs)
        return lanewise(ufunc, inputs, kwargs)
    out = kwargs.get("out")
    where = kwargs.get("where", True)
    if isinstance(where, Batch) or (where is not True and out is None):
        return lanewise(ufunc, inputs, kwargs)
    if out is None:
        arrays, is_number = aligned(inputs)
        made = ufunc(*arrays, **kwargs)
        cls = BatchedNumber if is_number else BatchedArray
        return tuple(map(cls, made)) if type(made) is tuple else cls(made)
    (target,) = out if type(out) is tuple else (out,)
    if not isinstance(target, BatchedArray):
        raise refused(f"to be written into an array by numpy.{ufunc.__name__}")
    if not any(isinstance(x, Batch) for x in inputs):
        return lanewise(ufunc, inputs, kwargs)
    arrays, _ = aligned((*inputs, target))
    if arrays[-1].ndim != target.data.ndim or (where is not True and np.ndim(where) > target.ndim):
        return lanewise(ufunc, inputs, kwargs)
    ufunc(*arrays[:-1], **{**kwargs, "out": target.data})
    return target


WRITERS = frozenset({np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal})
"""Functions that write into their first argument."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""By function of NumPy, what does the same to all lanes at once, or gives `NotImplemented`; the module
`array_batch_functions` puts it here."""
