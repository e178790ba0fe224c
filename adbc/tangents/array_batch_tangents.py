"""What the operations on tangents ask of batches: to fit a value, to be multiplied so that zero wins.

Formulas of rules and generated code ask it of tangents without knowing that they are batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import InvalidTangentError
from adbc.tangents import internal
from adbc.tangents.array_batches import (
    Batch,
    BatchedArray,
    BatchedNumber,
    aligned,
    batch_like,
    lane,
    mismatch,
    raised,
    refused,
)
from adbc.tangents.array_memory import Array, add_into, overlaps_itself
from adbc.tangents.array_products import are_finite, is_finite

__all__ = [
    "accumulate", "as_number", "fitted", "install", "own_array", "strong_product", "strong_quotient", "times",
    "visit",
]  # fmt: skip


def fitted(d: Batch, x: Array, fresh: bool) -> Any:
    """`d` as a batch of tangents of the array `x`, as `ArrayKind.project_array` does with one."""
    kind = x.dtype.kind
    if kind not in "fc":
        if kind in "OV":
            raise refused(f"to be the tangent of an array of dtype {x.dtype}")
        return None
    data = d.data
    if kind == "f" and data.dtype.kind == "c":
        data = data.real
    if d.shape != x.shape:
        data = unbroadcast_lanes(data, x.shape)
        fresh = True
    if not fresh and data.dtype == x.dtype and d.__class__ is BatchedArray:
        return BatchedArray(data) if data is not d.data else d
    made = batch_like(x, len(data))
    made.data[...] = data
    return made


def unbroadcast_lanes(data: Array, shape: tuple[int, ...]) -> Array:
    """The lanes in `data`, each summed over what broadcasting from `shape` has added, or repeated where
    `shape` is larger."""
    if data.ndim - 1 > len(shape):
        data = data.sum(axis=tuple(range(1, data.ndim - len(shape))))
    lead = len(shape) - data.ndim + 1
    axes = tuple(i for i, n in enumerate(data.shape[1:], 1) if n != 1 and shape[i - 1 + lead] == 1)
    if axes:
        data = data.sum(axis=axes, keepdims=True)
    try:
        return np.broadcast_to(raised(data, lead), (len(data), *shape))
    except ValueError:
        raise InvalidTangentError(
            f"an array of shape {data.shape[1:]} is given as the derivative of one of shape {shape}"
        ) from None


def accumulate(f: BatchedArray, x: Any, d: Any) -> None:
    """Let `f`, the batch of shadows of array `x`, grow by the cotangent `d`, a batch or what is one in all
    lanes."""
    if not isinstance(d, Batch):
        f.data += np.broadcast_to(np.asarray(internal.project(d, lane(f, 0))), f.data.shape)
        return
    if len(d.data) != len(f.data):
        raise mismatch(len(f.data), len(d.data))
    fit = fitted(d, lane(f, 0), False)
    if overlaps_itself(lane(f, 0)):
        for n in range(len(f.data)):
            add_into(f.data[n], fit.data[n])
    else:
        f.data += fit.data


def visit(walk: Any, t: Any, *others: Any) -> Any:
    """The result of a walk over tangents for the batch `t` of an array."""
    into = getattr(walk.leaf, "into", None) if walk.in_place else None
    if into is None:
        return walk.leaf(t, *others)
    if id(t) not in walk.memo:
        walk.register(t, t)
        into(t, *others)
    return t


def as_number(d: Batch, wanted: type, is_complex: bool) -> BatchedNumber:
    """`d` as a batch of tangents of a number whose tangents have the class `wanted`."""
    data = d.data
    if data.ndim > 1:
        data = data.reshape(len(data), -1).sum(axis=1)
    if not is_complex and data.dtype.kind == "c":
        data = data.real
    if d.__class__ is BatchedArray and np.may_share_memory(data, d.data):
        data = data.copy()  # a number stays what it is when the array is written to
    dtype = np.dtype(wanted)
    if data.dtype != dtype:
        data = data.astype(dtype)
    return d if data is d.data and d.__class__ is BatchedNumber else BatchedNumber(data)


def strong_product(p: Any, d: Any) -> Any:
    """``p * d``, but zero where one of them is zero."""
    product = p * d
    if is_finite(product):
        return product
    with np.errstate(all="ignore"):
        (a, b), _ = aligned((p, d))
        return type(product)(np.where((a == 0) | (b == 0), np.zeros((), product.dtype), product.data))


def times(p: Any, d: Any) -> Any:
    """``p * d``, as `tangents.multiply` has it, of what is likely to be an array and a batch of arrays."""
    if d.__class__ is BatchedArray and p.__class__ is np.ndarray and p.ndim < d.data.ndim:
        data = p * d.data
        if are_finite(data):
            return BatchedArray(data)
    return internal.multiply(p, d)


def own_array(d: Any, x: Array, source: Any) -> Any:
    """`d`, made of the batch `source`, as the batch of tangents of array `x` in memory of its own, laid out
    like `x`."""
    if d.__class__ is BatchedArray and d is not source:
        data = d.data
        if (
            data.base is None
            and data.dtype == x.dtype
            and data.shape[1:] == x.shape
            and (data.strides[1:] == x.strides)
        ):
            return d
    return internal.project(d, x, fresh=True)


def strong_quotient(d: Any, y: Any) -> Any:
    """``d / y``, but zero where `d` is zero or `y` infinite."""
    with np.errstate(all="ignore"):
        quotient = d / y
        if is_finite(quotient):
            return quotient
        (a, b), _ = aligned((d, y))
        is_zero = (a == 0) | (np.divide(1, b) == 0)
        return type(quotient)(np.where(is_zero, np.zeros((), quotient.dtype), quotient.data))


def install() -> None:
    """Give batches the methods by which they are asked."""
    Batch.fitted_to, Batch.as_number = fitted, as_number
    Batch.strong_product, Batch.strong_quotient = staticmethod(strong_product), staticmethod(strong_quotient)
