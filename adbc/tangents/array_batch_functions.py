"""Functions and methods of NumPy on batches: those that are computed for all lanes at once.

Reductions shift their axes, products have one more axis in front, joins and moves of axes keep the first one.
What is not here is computed lane by lane (`array_batches.lanewise`), and so are calls with options that are
not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from adbc.tangents.array_batches import (
    FUNCTIONS,
    Batch,
    BatchedArray,
    BatchedNumber,
    aligned,
    batch_like,
    lanewise,
    mismatch,
    raised,
    width_in,
)

__all__ = ["install"]


def _matmul(a: Any, b: Any) -> Any:
    """``a @ b``."""
    m, n = np.ndim(a), np.ndim(b)
    made: Any = None
    if isinstance(a, Batch) and isinstance(b, Batch):
        if len(a.data) != len(b.data):
            raise mismatch(len(a.data), len(b.data))
        if m == n == 2:
            made = np.matmul(a.data, b.data)
    elif isinstance(a, Batch) and m in (1, 2) and n in (1, 2):
        made = np.matmul(a.data, b)
    elif isinstance(b, Batch) and m in (1, 2) and n == 2:
        made = np.matmul(a, b.data)
    elif isinstance(b, Batch) and n == 1 and m in (1, 2):
        made = np.matmul(b.data, np.asarray(a).T)
    if made is None:
        return lanewise(np.matmul, (a, b), {})
    return BatchedNumber(made) if m == n == 1 else BatchedArray(made)


def _dot(a: Any, b: Any, **kwargs: Any) -> Any:
    if kwargs or not {np.ndim(a), np.ndim(b)} <= {1, 2}:
        return NotImplemented
    return _matmul(a, b)


def _shifted(axis: Any, ndim: int) -> Any:
    """`axis` of one lane, as an axis of the batch."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    if issubclass(type(axis), tuple):
        return tuple([_shifted(a, ndim) for a in axis])
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim) if hasattr(np, "exceptions") else AxisError(axis, ndim)
    return axis % ndim + 1


def _reduction(function: Any) -> Callable[..., Any]:
    """A reduction along axes: those behind the first, if none are given."""

    def reduce(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **others: Any) -> Any:
        if out is not None or others.keys() - {"keepdims"} or not isinstance(a, BatchedArray):
            return NotImplemented
        keepdims = others.get("keepdims", False) is True
        made = function(a.data, axis=_shifted(axis, a.ndim), dtype=dtype, keepdims=keepdims)
        return BatchedArray(made) if made.ndim > 1 else BatchedNumber(made)

    return reduce


def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if out is not None or not isinstance(a, BatchedArray):
        return NotImplemented
    if axis is None:
        return BatchedArray(np.cumsum(a.data.reshape(len(a.data), -1), axis=1, dtype=dtype))
    return BatchedArray(np.cumsum(a.data, axis=_shifted(axis, a.ndim), dtype=dtype))


def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return a.copy(order)


def _array_like(dtype_of: Any) -> Callable[..., Any]:
    def like(a: Any, dtype: Any = None, **others: Any) -> Any:
        if dtype is not None or others or not isinstance(a, BatchedArray):
            return NotImplemented
        return batch_like(a.data[0], len(a.data))

    return like


def _moved(function: Any) -> Callable[..., Any]:
    """A function that names axes and moves them."""

    def move(a: Any, one: Any, other: Any) -> Any:
        if not isinstance(a, BatchedArray):
            return NotImplemented
        return BatchedArray(function(a.data, _shifted(one, a.ndim), _shifted(other, a.ndim)))

    return move


def _transpose(a: Any, *axes: Any) -> Any:
    if not isinstance(a, BatchedArray):
        return NotImplemented
    given = axes
    if len(axes) == 1 and not issubclass(type(axes[0]), int | np.integer):
        given = () if axes[0] is None else tuple(axes[0])  # an array of axes too
    if not given:
        return a.T
    return BatchedArray(a.data.transpose(0, *[_shifted(axis, a.ndim) for axis in given]))


def _reshape(a: Any, *shape: Any, **others: Any) -> Any:
    if others or not isinstance(a, BatchedArray) or not a.data[0].flags.c_contiguous:
        return NotImplemented
    wanted = shape[0] if len(shape) == 1 else shape
    wanted = tuple(wanted) if issubclass(type(wanted), list | tuple) else (wanted,)
    if not all(issubclass(type(n), int | np.integer) for n in wanted):
        return NotImplemented
    if -1 in wanted:
        known = -int(np.prod(wanted, dtype=int))
        if known <= 0:
            return NotImplemented
        wanted = tuple([a.size // known if n == -1 else n for n in wanted])
    return BatchedArray(a.data.reshape(len(a.data), *wanted))


def _ravel(a: Any, order: str = "C") -> Any:
    return NotImplemented if order != "C" else _reshape(a, a.size)


def _join(function: Any, is_new_axis: bool) -> Callable[..., Any]:
    """``concatenate`` and ``stack``."""

    def join(parts: Any, axis: Any = 0, out: Any = None, **others: Any) -> Any:
        if out is not None or others or axis is None or not issubclass(type(parts), list | tuple):
            return NotImplemented
        ndim = np.ndim(parts[0]) + is_new_axis
        width = width_in(parts)
        arrays = [
            x.data if isinstance(x, Batch) else np.broadcast_to(x, (width, *np.shape(x))) for x in parts
        ]
        return BatchedArray(function(arrays, axis=_shifted(axis, ndim)))

    return join


def _broadcast_to(a: Any, shape: Any, subok: bool = False) -> Any:
    if not isinstance(a, Batch):
        return NotImplemented
    shape = (shape,) if issubclass(type(shape), int) else tuple(shape)
    return BatchedArray(np.broadcast_to(raised(a.data, len(shape) - a.ndim), (len(a.data), *shape)))


def _where(*args: Any) -> Any:
    if len(args) != 3:
        return NotImplemented
    arrays, _ = aligned(args)
    return BatchedArray(np.where(*arrays))


def _copyto(target: Any, source: Any, casting: str = "same_kind", where: Any = True) -> Any:
    if not isinstance(target, BatchedArray) or isinstance(where, Batch) or np.ndim(where) > target.ndim:
        return NotImplemented
    if np.ndim(source) > target.ndim:
        return NotImplemented
    given = source.data if isinstance(source, Batch) else source
    if isinstance(source, Batch):
        if len(given) != target.width:
            raise mismatch(target.width, len(given))
        given = raised(given, target.ndim - source.ndim)
    np.copyto(target.data, given, casting=casting, where=where)  # type: ignore[arg-type]  # a name of NumPy's
    return None


def _einsum(subscripts: Any, *operands: Any, **others: Any) -> Any:
    batches = [i for i, x in enumerate(operands) if isinstance(x, Batch)]
    if not issubclass(type(subscripts), str) or "out" in others or len(batches) != 1 or "." in subscripts:
        return NotImplemented
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    free = next((c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in subscripts), None)
    if not arrow or free is None:
        return NotImplemented
    parts = given.split(",")
    parts[batches[0]] = free + parts[batches[0]]
    arrays = [x.data if isinstance(x, Batch) else x for x in operands]
    made = np.einsum(f"{','.join(parts)}->{free}{result}", *arrays, **others)
    return BatchedArray(made) if made.ndim > 1 else BatchedNumber(made.copy())


def _squeeze(a: Any, axis: Any = None) -> Any:
    if not isinstance(a, BatchedArray):
        return NotImplemented
    if axis is None:
        axis = tuple(i for i, n in enumerate(a.shape) if n == 1)
    return BatchedArray(np.squeeze(a.data, _shifted(axis, a.ndim)))


def _expand_dims(a: Any, axis: Any) -> Any:
    if not isinstance(a, BatchedArray):
        return NotImplemented
    more = len(axis) if issubclass(type(axis), tuple) else 1
    return BatchedArray(np.expand_dims(a.data, _shifted(axis, a.ndim + more)))


def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if not isinstance(a, BatchedArray):
        return NotImplemented
    if axis is None:
        if np.ndim(shift) or a.ndim == 0:
            return NotImplemented
        flat = np.roll(a.data.reshape(len(a.data), -1), shift, 1)
        return BatchedArray(flat.reshape(a.data.shape))
    return BatchedArray(np.roll(a.data, shift, _shifted(axis, a.ndim)))


def _solve(a: Any, b: Any) -> Any:
    """``numpy.linalg.solve(a, b)`` of one matrix, which is factorised once."""
    if isinstance(a, Batch) or not isinstance(b, BatchedArray) or np.ndim(a) != 2 or b.ndim not in (1, 2):
        return NotImplemented
    if b.ndim == 1:
        return BatchedArray(np.ascontiguousarray(np.linalg.solve(a, b.data.T).T))
    width, rows, columns = b.data.shape
    found = np.linalg.solve(a, b.data.transpose(1, 0, 2).reshape(rows, width * columns))
    return BatchedArray(np.ascontiguousarray(found.reshape(rows, width, columns).transpose(1, 0, 2)))


def _looks(name: str) -> Callable[..., Any]:
    return lambda a, *others: getattr(a, name) if isinstance(a, Batch) and not others else NotImplemented


def _result_type(*given: Any) -> Any:
    return np.result_type(*[x.data if isinstance(x, Batch) else x for x in given])


FUNCTIONS.update(
    {
        np.shape: _looks("shape"),
        np.ndim: _looks("ndim"),
        np.size: _looks("size"),
        np.real: _looks("real"),
        np.result_type: _result_type,
        np.iscomplexobj: lambda a: a.dtype.kind == "c",
        np.isrealobj: lambda a: a.dtype.kind != "c",
        np.dot: _dot,
        np.sum: _reduction(np.sum),
        np.mean: _reduction(np.mean),
        np.cumsum: _cumsum,
        np.copy: _copy,
        np.zeros_like: _array_like(np.zeros_like),
        np.moveaxis: _moved(np.moveaxis),
        np.swapaxes: _moved(np.swapaxes),
        np.transpose: _transpose,
        np.reshape: _reshape,
        np.ravel: _ravel,
        np.squeeze: _squeeze,
        np.expand_dims: _expand_dims,
        np.broadcast_to: _broadcast_to,
        np.concatenate: _join(np.concatenate, False),
        np.stack: _join(np.stack, True),
        np.where: _where,
        np.copyto: _copyto,
        np.einsum: _einsum,
        np.matmul: _matmul,
        np.roll: _roll,
        np.linalg.solve: _solve,
    }
)


def _method(name: str) -> Any:
    """A method of batches that does to each lane what the method `name` of arrays does."""
    bare, special = getattr(np.ndarray, name), FUNCTIONS.get(getattr(np, name, None))

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if special is not None:
            found = special(self, *args, **kwargs)
            if found is not NotImplemented:
                return found
        return lanewise(bare, (self, *args), kwargs)

    method.__name__ = name
    return method


_METHODS = (
    "sum", "mean", "cumsum", "swapaxes", "transpose", "reshape", "ravel", "squeeze", "dot", "prod", "cumprod",
    "take", "repeat", "diagonal", "trace", "clip", "round", "compress", "choose", "var", "std", "max", "min",
    "any", "all", "argmax", "argmin", "argsort", "searchsorted", "nonzero", "flatten", "view",
)  # fmt: skip


def install() -> None:
    """Give batches the methods of arrays."""
    for name in _METHODS:
        setattr(Batch, name, _method(name))
