"""Rules of functions that rearrange an array: views where NumPy gives views, copies where it copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import (
    ArrayRule,
    ViewRule,
    any_active,
    plain,
    refuse_opaque,
)
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule
from adbc.tangents import fill_tangent, fresh_shadow, fresh_tangent
from adbc.tangents.arrays import extent, ultimate_owner

__all__ = ["ROWS", "linear"]


def linear(function: Any, names: str, vjp: Callable[..., Any], **options: Any) -> ArrayRule:
    """A row of a function that is linear in its first argument and gives new memory."""

    def jvp(d: Any, y: Any, x: Any, **others: Any) -> Any:
        return function(d, **others)

    return ArrayRule(function, names, jvp=[jvp], vjp=[vjp], **options)


def back_by_number(function: Any) -> Callable[..., Any]:
    """The transpose of a function that only moves, repeats or drops elements (and fills with zeros)."""

    def vjp(by: Any, y: Any, x: Any, **others: Any) -> Any:
        numbers = function(np.arange(1, np.size(x) + 1).reshape(np.shape(x)), **others)
        d = np.zeros(np.size(x) + 1, np.asarray(by).dtype)
        np.add.at(d, np.ravel(numbers), np.ravel(by))
        return d[1:].reshape(np.shape(x))

    return vjp


# -- attributes ------------------------------------------------------------------------------------------


def real_view(x: Any) -> Any:
    return x.real


def imag_view(x: Any) -> Any:
    return x.imag


def transposed(x: Any) -> Any:
    return x.T


def matrix_transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def _real_back(by: Any, x: Any) -> Any:
    return by


def _imag_back(by: Any, x: Any) -> Any:
    """Of a real array the imaginary part is a constant."""
    return 1j * by


class _PartRule(ViewRule):
    """`.real` and `.imag`: of a real array, the array itself and a constant zero."""

    def _constant(self, x: Any) -> bool:
        return self.view is imag_view and not np.iscomplexobj(x)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        if self._constant(args[0]):
            out = self.view(args[0])
            return out, fresh_tangent(out)
        return super().frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        if self._constant(args[0]):
            out = self.view(args[0])
            return out, fresh_shadow(out, active=False), lambda bout: (None,)
        return super().rrule(args, fargs, kwargs)


# -- views -----------------------------------------------------------------------------------------------


def _same_shape(by: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return np.reshape(by, np.shape(x))


def _reshape_back(by: Any, x: Any, *args: Any, order: Any = "C", **kwargs: Any) -> Any:
    """The inverse of a reshape that copied."""
    if order not in ("C", "F"):
        order = "F" if np.isfortran(x) else "C"
    return np.reshape(by, np.shape(x), order=order)


def _function_reshape_back(by: Any, x: Any, shape: Any = None, order: Any = "C", **kwargs: Any) -> Any:
    return _reshape_back(by, x, order=order)


class _StridedRule(ViewRule):
    """``as_strided``: the result says itself where its elements are, relative to the first of `x`."""

    def _shadow(self, x: Any, f: Any, out: Any, args: Args, kwargs: Kwargs) -> Any:
        refuse_opaque(x)
        owner, twin = ultimate_owner(x), ultimate_owner(f)
        if isinstance(owner, np.ndarray) and isinstance(twin, np.ndarray):
            (low, high), (first, last), (start, stop) = extent(out), extent(owner), extent(twin)
            shift = extent(f)[0] - extent(x)[0]
            if first <= low and high <= last and start <= low + shift and high + shift <= stop:
                return np.lib.stride_tricks.as_strided(f, out.shape, out.strides)
        raise UnsupportedError(
            "as_strided over memory that the array is only a part of, or that lies outside of it: apply it to"
            " the whole array"
        )


def typed(row: ViewRule, result: str) -> ViewRule:
    """`row`, which says what it returns."""
    row.result = result
    return row


VIEWS: list[Rule] = [
    ViewRule(np.reshape, back=_function_reshape_back),
    ViewRule(np.ndarray.reshape, back=_reshape_back),
    ViewRule(np.ravel),
    ViewRule(np.ndarray.ravel),
    ViewRule(np.ndarray.flatten),
    typed(ViewRule(np.transpose), "transposed"),
    typed(ViewRule(np.ndarray.transpose), "transposed"),
    ViewRule(np.ndarray.T, view=transposed),
    ViewRule(np.swapaxes),
    ViewRule(np.ndarray.swapaxes),
    ViewRule(np.moveaxis),
    ViewRule(np.rollaxis),
    ViewRule(np.expand_dims, back=_same_shape),
    ViewRule(np.squeeze, back=_same_shape),
    ViewRule(np.ndarray.squeeze, back=_same_shape),
    ViewRule(np.diagonal),
    ViewRule(np.ndarray.diagonal),
    ViewRule(np.broadcast_to, parameters=("array",), back=lambda by, x, *args, **kwargs: by),
    ViewRule(np.flip),
    ViewRule(np.fliplr, parameters=("m",)),
    ViewRule(np.flipud, parameters=("m",)),
    ViewRule(np.lib.stride_tricks.sliding_window_view, parameters=("x",)),
    _StridedRule(np.lib.stride_tricks.as_strided, parameters=("x",)),
    ViewRule(np.rot90, parameters=("m",)),
    _PartRule(np.ndarray.real, view=real_view, back=_real_back),
    _PartRule(np.ndarray.imag, view=imag_view, back=_imag_back),
    _PartRule(np.generic.real, view=real_view, back=_real_back),
    _PartRule(np.generic.imag, view=imag_view, back=_imag_back),
    _PartRule(np.real, view=real_view, back=_real_back, parameters=("val",)),
    _PartRule(np.imag, view=imag_view, back=_imag_back, parameters=("val",)),
]
if hasattr(np.ndarray, "mT"):
    VIEWS.append(ViewRule(np.ndarray.mT, view=matrix_transposed))
if hasattr(np, "matrix_transpose"):
    VIEWS.append(ViewRule(np.matrix_transpose, parameters=("x",)))
if hasattr(np, "permute_dims") and np.permute_dims is not np.transpose:
    VIEWS.append(ViewRule(np.permute_dims))


# -- several arrays at once: atleast_1d and its kin, broadcast_arrays ----------------------------------------


def _each(function: Any) -> Rule:
    """``atleast_1d`` and its kin: a view of one array, a tuple of views of several."""
    one = ViewRule(function, back=_same_shape)

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        if len(args) == 1:
            return one.frule(args, dargs)
        pairs = [one.frule((x,), (dx,)) for x, dx in zip(args, dargs, strict=True)]
        return tuple(y for y, _ in pairs), tuple(fill_tangent(y, dy) for y, dy in pairs)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        if len(args) == 1:
            return one.rrule(args, fargs)
        triples = [one.rrule((x,), (f,)) for x, f in zip(args, fargs, strict=True)]

        def each_pullback(bout: Any) -> Sequence[Any]:
            return [pullback(None)[0] for _, _, pullback in triples]

        shadows = tuple(f for _, f, _ in triples)
        return tuple(y for y, _, _ in triples), shadows if any_active(shadows) else None, each_pullback

    return Primitive(function, frule=frule, rrule=rrule, when=plain)


# -- copies ----------------------------------------------------------------------------------------------


def roll_vjp(by: Any, y: Any, x: Any, shift: Any = 0, axis: Any = None, **others: Any) -> Any:
    back = tuple(-s for s in shift) if isinstance(shift, (tuple, list)) else np.negative(shift)
    return np.roll(by, back, axis)


def tril_vjp(by: Any, y: Any, m: Any, k: Any = 0, **others: Any) -> Any:
    return np.tril(by, k)


def triu_vjp(by: Any, y: Any, m: Any, k: Any = 0, **others: Any) -> Any:
    return np.triu(by, k)


def trace_vjp(by: Any, y: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, **others: Any) -> Any:
    d = np.zeros(np.shape(a), np.asarray(by).dtype)
    diagonal = np.diagonal(d, offset, axis1, axis2)
    diagonal.flags.writeable = True
    diagonal += np.asarray(by)[..., None]
    return d


def trace_jvp(d: Any, y: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, **others: Any) -> Any:
    return np.trace(d, offset, axis1, axis2)


def diff_vjp(by: Any, y: Any, a: Any, n: Any = 1, axis: Any = -1, **others: Any) -> Any:
    if (
        others.get("prepend", np._NoValue) is not np._NoValue
        or others.get("append", np._NoValue) is not np._NoValue
    ):
        raise UnsupportedError("np.diff with prepend= or append=: concatenate first")
    d = np.moveaxis(by, axis, -1)
    for _ in range(n):
        edge = np.zeros_like(d[..., :1]) if d.shape[-1] else np.zeros((*d.shape[:-1], 1), d.dtype)
        d = np.concatenate([edge, d], axis=-1) - np.concatenate([d, edge], axis=-1)
    return np.moveaxis(d, -1, axis) if np.size(y) else np.zeros(np.shape(a))


def diff_jvp(d: Any, y: Any, a: Any, n: Any = 1, axis: Any = -1, **others: Any) -> Any:
    diff_vjp(np.zeros((1,) * np.ndim(a)), np.zeros(0), a, 0, axis, **others)
    return np.diff(d, n, axis)


COPIES: list[Rule] = [
    linear(np.roll, "a shift axis", roll_vjp),
    linear(np.repeat, "a repeats axis", back_by_number(np.repeat)),
    linear(np.tile, "A reps", back_by_number(np.tile)),
    linear(np.ndarray.repeat, "a repeats axis", back_by_number(np.ndarray.repeat)),
    linear(np.tril, "m k", tril_vjp),
    linear(np.triu, "m k", triu_vjp),
    linear(np.diagflat, "v k", back_by_number(np.diagflat)),
    ArrayRule(np.trace, "a offset axis1 axis2 dtype out", jvp=[trace_jvp], vjp=[trace_vjp],
              defaults={"offset": 0, "axis1": 0, "axis2": 1}),
    ArrayRule(np.ndarray.trace, "a offset axis1 axis2 dtype out", jvp=[trace_jvp], vjp=[trace_vjp],
              defaults={"offset": 0, "axis1": 0, "axis2": 1}),
    ArrayRule(np.diff, "a n axis", jvp=[diff_jvp], vjp=[diff_vjp]),
    ViewRule(np.diag, parameters=("v",)),
]  # fmt: skip

ROWS: list[Rule] = [*VIEWS, _each(np.atleast_1d), _each(np.atleast_2d), _each(np.atleast_3d), *COPIES]
