"""Rules of functions that rearrange an array: views where NumPy gives views, copies where it copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.formulas import Formula
from adbc.rules.numpy.base import (
    ArrayRule,
    any_active,
    finish,
    gather,
    gather_tangent,
    give,
    new_shadow,
    plain,
    refuse_opaque,
    shaped,
)
from adbc.rules.numpy.views import FieldRule, ViewRule, numbered
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule
from adbc.tangents import fill_tangent, fresh_shadow, fresh_tangent
from adbc.tangents.array_memory import extent, ultimate_owner

__all__ = ["ROWS", "linear"]


def linear(function: Any, names: str, vjp: Formula | Callable[..., Any], **options: Any) -> ArrayRule:
    """The row of a function that is linear in its first argument and gives new memory."""

    def jvp(d: Any, y: Any, x: Any, **others: Any) -> Any:
        return function(d, **others)

    return ArrayRule(function, names, jvp=[jvp], vjp=[vjp], **options)


def back_by_number(function: Any) -> Callable[..., Any]:
    """The vjp of a function that only moves, repeats or drops elements (and fills with zeros)."""

    def vjp(by: Any, y: Any, x: Any, **others: Any) -> Any:
        numbers = function(numbered(x), **others)
        d = np.zeros(np.size(x) + 1, np.asarray(by).dtype)
        np.add.at(d, np.ravel(numbers), np.ravel(by))
        return d[1:].reshape(np.shape(x))

    return vjp


# -- attributes ------------------------------------------------------------------------------------------


def real_view(x: Any) -> Any:
    return gather(x).real


def imag_view(x: Any) -> Any:
    return gather(x).imag


def transposed(x: Any) -> Any:
    return x.T


def matrix_transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def _real_back(by: Any, x: Any) -> Any:
    return by


def _imag_back(by: Any, x: Any) -> Any:
    """The cotangent of a complex array from that of its imaginary part."""
    return 1j * by


class _PartRule(ViewRule):
    """The rule of `.real` and `.imag`, which are, of a real array, the array itself and a constant zero."""

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


# -- cotangents where nobody sees that the result is a view -----------------------------------------------


def reshaped_back(by: Any, shape: tuple[int, ...], /, **others: Any) -> Any:
    return by.reshape(shape)


def transposed_back(by: Any, shape: tuple[int, ...], /, axes: Any = None, **others: Any) -> Any:
    """The cotangent of a transpose; `others` are further axes, if these are given one by one."""
    if others:
        axes = (axes, *others.values())
    if axes is None:
        return by.T
    order = [0] * len(axes)
    for i, axis in enumerate(axes):
        order[axis] = i
    return by.transpose(order)


def swapped_back(by: Any, shape: tuple[int, ...], /, axis1: Any, axis2: Any) -> Any:
    return by.swapaxes(axis1, axis2)


def moved_back(by: Any, shape: tuple[int, ...], /, source: Any, destination: Any) -> Any:
    return np.moveaxis(by, destination, source)


def flipped_back(by: Any, shape: tuple[int, ...], /, axis: Any = None) -> Any:
    return np.flip(by, axis)


def fliplr_back(by: Any, shape: tuple[int, ...], /) -> Any:
    return by[:, ::-1]


def flipud_back(by: Any, shape: tuple[int, ...], /) -> Any:
    return by[::-1]


def matrix_transposed_back(by: Any, shape: tuple[int, ...], /) -> Any:
    return by.swapaxes(-1, -2)


def diagonal_back(by: Any, shape: tuple[int, ...], /, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    d = np.zeros(shape, by.dtype)
    diagonal = np.diagonal(d, offset, axis1, axis2)
    diagonal.flags.writeable = True
    diagonal[...] = by
    return d


def diag_back(by: Any, shape: tuple[int, ...], /, k: Any = 0) -> Any:
    return np.diagonal(by, k) if len(shape) == 1 else diagonal_back(by, shape, k)


def broadcast_back(by: Any, out: Any, x: Any, shape: Any) -> Any:
    return by


def imag_back(by: Any, out: Any, x: Any) -> Any:
    return 1j * by


RESHAPED = shaped(reshaped_back)
TRANSPOSED = shaped(transposed_back)


# -- views -----------------------------------------------------------------------------------------------


def _same_shape(by: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return np.reshape(by, np.shape(x))


def _reshape_back(by: Any, x: Any, *args: Any, order: Any = "C", **kwargs: Any) -> Any:
    """The cotangent of `x` from `by`, that of a reshape of `x` that copied."""
    if order not in ("C", "F"):
        order = "F" if np.isfortran(x) else "C"
    return np.reshape(by, np.shape(x), order=order)


def _function_reshape_back(by: Any, x: Any, shape: Any = None, order: Any = "C", **kwargs: Any) -> Any:
    return _reshape_back(by, x, order=order)


class _StridedRule(ViewRule):
    """The rule of ``as_strided``: the result says where its elements are, relative to the first of `x`."""

    def _shadow(self, x: Any, f: Any, out: Any, args: Args, kwargs: Kwargs) -> Any:
        refuse_opaque(x)
        owner, twin = ultimate_owner(x), ultimate_owner(f)
        if isinstance(owner, np.ndarray) and isinstance(twin, np.ndarray):
            (low, high), (first, last), (start, stop) = extent(out), extent(owner), extent(twin)
            shift = extent(f)[0] - extent(x)[0]
            if first <= low and high <= last and start <= low + shift and high + shift <= stop:
                return np.lib.stride_tricks.as_strided(f, out.shape, out.strides)
        raise UnsupportedError(
            "as_strided over memory that the array is only a part of, or that lies outside of it",
            "that memory has no derivative of its own here",
            "apply it to the whole array",
        )


def typed(row: ViewRule, result: str) -> ViewRule:
    """Return `row`, with `result` as the class or type of what it returns."""
    row.result = result
    return row


VIEWS: list[Rule] = [
    ViewRule(np.reshape, back=_function_reshape_back, names="a shape", against=RESHAPED),
    ViewRule(np.ndarray.reshape, back=_reshape_back, names="a i j k l m n", against=RESHAPED),
    ViewRule(np.ravel, names="a", against=RESHAPED),
    ViewRule(np.ndarray.ravel, names="a", against=RESHAPED),
    ViewRule(np.ndarray.flatten, names="a", against=RESHAPED, window=False),
    typed(ViewRule(np.transpose, names="a axes", against=TRANSPOSED), "transposed"),
    typed(ViewRule(np.ndarray.transpose, names="a axes j k l m n", against=TRANSPOSED), "transposed"),
    ViewRule(np.ndarray.T, view=transposed),
    FieldRule(np.ndarray.getfield),
    ViewRule(np.swapaxes, names="a axis1 axis2", against=shaped(swapped_back)),
    ViewRule(np.ndarray.swapaxes, names="a axis1 axis2", against=shaped(swapped_back)),
    ViewRule(np.moveaxis, names="a source destination", against=shaped(moved_back)),
    ViewRule(np.rollaxis),
    ViewRule(np.expand_dims, back=_same_shape, names="a axis", against=RESHAPED),
    ViewRule(np.squeeze, back=_same_shape, names="a axis", against=RESHAPED),
    ViewRule(np.ndarray.squeeze, back=_same_shape, names="a axis", against=RESHAPED),
    ViewRule(np.diagonal, names="a offset axis1 axis2", against=shaped(diagonal_back), parts=True),
    ViewRule(np.ndarray.diagonal, names="a offset axis1 axis2", against=shaped(diagonal_back), parts=True),
    ViewRule(
        np.broadcast_to,
        parameters=("array",),
        back=lambda by, x, *args, **kwargs: by,
        names="array shape",
        against=broadcast_back,
    ),
    ViewRule(np.flip, names="m axis", against=shaped(flipped_back)),
    ViewRule(np.fliplr, parameters=("m",), names="m", against=shaped(fliplr_back)),
    ViewRule(np.flipud, parameters=("m",), names="m", against=shaped(flipud_back)),
    ViewRule(np.lib.stride_tricks.sliding_window_view, parameters=("x",)),
    _StridedRule(np.lib.stride_tricks.as_strided, parameters=("x",)),
    ViewRule(np.rot90, parameters=("m",)),
    _PartRule(np.ndarray.real, view=real_view, back=_real_back),
    _PartRule(np.ndarray.imag, view=imag_view, back=_imag_back),
    _PartRule(np.generic.real, view=real_view, back=_real_back),
    _PartRule(np.generic.imag, view=imag_view, back=_imag_back),
    _PartRule(np.real, view=real_view, back=_real_back, parameters=("val",), names="val", against=1),
    _PartRule(np.imag, view=imag_view, back=_imag_back, parameters=("val",), names="val", against=imag_back),
]
if hasattr(np.ndarray, "mT"):
    VIEWS.append(ViewRule(np.ndarray.mT, view=matrix_transposed))
if hasattr(np, "matrix_transpose"):
    VIEWS.append(
        ViewRule(np.matrix_transpose, parameters=("x",), names="x", against=shaped(matrix_transposed_back))
    )
if hasattr(np, "permute_dims") and np.permute_dims is not np.transpose:
    VIEWS.append(ViewRule(np.permute_dims))

for _row in VIEWS:
    if _row.function in (np.transpose, np.ndarray.transpose, np.ndarray.T):
        _row.moves = "transpose"
    elif getattr(_row.function, "__name__", "") in ("reshape", "ravel", "flatten", "squeeze", "expand_dims"):
        _row.moves = "reshape"


# -- several arrays at once: atleast_1d and its kin, broadcast_arrays ----------------------------------------


def _each(function: Any) -> Rule:
    """The row of ``atleast_1d`` or its kin: a view of one array, a tuple of views of several."""
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


def roll_back(by: Any, shape: tuple[int, ...], /, shift: Any = 0, axis: Any = None, **others: Any) -> Any:
    back = tuple(-s for s in shift) if isinstance(shift, (tuple, list)) else np.negative(shift)
    return np.roll(by, back, axis)


def tril_back(by: Any, shape: tuple[int, ...], /, k: Any = 0, **others: Any) -> Any:
    return np.tril(by, k)


def triu_back(by: Any, shape: tuple[int, ...], /, k: Any = 0, **others: Any) -> Any:
    return np.triu(by, k)


def trace_back(
    by: Any, shape: tuple[int, ...], /, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, **others: Any
) -> Any:
    return diagonal_back(np.asarray(by)[..., None], shape, offset, axis1, axis2)


def trace_jvp(d: Any, y: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, **others: Any) -> Any:
    return np.trace(d, offset, axis1, axis2)


def _check_diff(n: Any) -> None:
    if n == 0:
        raise UnsupportedError(
            "np.diff with n=0", "it gives the array itself, and no differences", "leave the call out"
        )


def diff_vjp(by: Any, y: Any, a: Any, n: Any = 1, axis: Any = -1, **others: Any) -> Any:
    _check_diff(n)
    d = np.moveaxis(by, axis, -1)
    for _ in range(n):
        edge = np.zeros_like(d[..., :1]) if d.shape[-1] else np.zeros((*d.shape[:-1], 1), d.dtype)
        d = np.concatenate([edge, d], axis=-1) - np.concatenate([d, edge], axis=-1)
    return np.moveaxis(d, -1, axis) if np.size(y) else np.zeros(np.shape(a))


def diff_jvp(d: Any, y: Any, a: Any, n: Any = 1, axis: Any = -1, **others: Any) -> Any:
    _check_diff(n)
    return np.diff(d, n, axis)


class _DiffRule(ArrayRule):
    """The rule of ``np.diff``, which may be given numbers or arrays to put before and behind the array."""

    def __init__(self) -> None:
        nothing = {"prepend": np._NoValue, "append": np._NoValue}
        super().__init__(
            np.diff,
            "a n axis prepend append",
            jvp=[diff_jvp],
            vjp=[diff_vjp],
            defaults={"n": 1, "axis": -1, **nothing},
        )
        self.active = [0, 3, 4]
        self.parameters = self.names

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return count <= 3 and not {"prepend", "append"} & set(keywords)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        if len(args) <= 3:
            return super().frule(args, dargs, kwargs)
        out = np.diff(*args)
        if not any_active(dargs):
            return out, fresh_tangent(out)
        _check_diff(args[1])
        refuse_opaque(out)
        parts, _ = _parts_of_diff(args)
        tangents = [
            np.zeros(part.shape) if (d := gather_tangent(args[i], dargs[i])) is None else part * 0 + d
            for i, part in parts
        ]
        dout = np.diff(np.concatenate(tangents, axis=args[2]), args[1], args[2])
        return out, finish(dout, out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        if len(args) <= 3:
            return super().rrule(args, fargs, kwargs)
        out = np.diff(*args)
        active = any_active(fargs)
        fout = new_shadow(out, active)
        if active:
            _check_diff(args[1])
            refuse_opaque(out)

        def diff_pullback(bout: Any) -> Sequence[Any]:
            by = fout if isinstance(fout, np.ndarray) else bout
            result: list[Any] = [None] * len(args)
            if by is None or not active:
                return result
            n, axis = args[1:3]
            parts, ends = _parts_of_diff(args)
            whole = diff_vjp(by, out, np.concatenate([part for _, part in parts], axis=axis), n, axis)
            for (i, part), d in zip(parts, np.split(whole, ends, axis=axis), strict=True):
                if fargs[i] is not None:
                    given = np.shape(args[i])
                    result[i] = give(fargs[i], args[i], d if given == part.shape else d.sum())
            return result

        return out, fout, diff_pullback


def _parts_of_diff(args: Args) -> tuple[list[tuple[int, Any]], Any]:
    """What ``np.diff(*args)`` joins, with the places in `args`, and where the parts end but the last."""
    axis, whole = args[2], np.asarray(args[0])
    parts = []
    for i in (3, 0, 4):
        if i < len(args) and args[i] is not np._NoValue:
            part = np.asarray(args[i])
            if i and part.ndim == 0:
                shape = list(whole.shape)
                shape[axis] = 1
                part = np.broadcast_to(part, shape)
            parts.append((i, part))
    return parts, np.cumsum([part.shape[axis] for _, part in parts])[:-1]


def repeat_vjp(by: Any, y: Any, x: Any, repeats: Any = 1, axis: Any = None, **others: Any) -> Any:
    """The cotangent of ``repeat``: the sum over the copies of each element, which lie side by side."""
    if type(repeats) is not int:
        return _repeat_by_number(by, y, x, repeats=repeats, axis=axis, **others)
    shape = np.shape(x)
    if axis is None:
        return (
            by.reshape(-1, repeats).sum(axis=-1).reshape(shape) if repeats > 0 else np.zeros(shape, by.dtype)
        )
    if not shape:
        return by.sum()
    axis %= len(shape)
    return by.reshape(*shape[: axis + 1], repeats, *shape[axis + 1 :]).sum(axis=axis + 1)


_repeat_by_number = back_by_number(np.repeat)


def tile_vjp(by: Any, y: Any, x: Any, reps: Any = 1, **others: Any) -> Any:
    """The cotangent of ``tile``: the sum of the copies."""
    counts = tuple(reps) if np.ndim(reps) else (reps,)
    n = max(len(counts), np.ndim(x))
    counts = (1,) * (n - len(counts)) + tuple(max(count, 0) for count in counts)  # a negative one is none
    shape = (1,) * (n - np.ndim(x)) + np.shape(x)
    apart = [size for pair in zip(counts, shape, strict=True) for size in pair]
    return by.reshape(apart).sum(axis=tuple(range(0, 2 * n, 2))).reshape(np.shape(x))


TRACE = shaped(trace_back)

COPIES: list[Rule] = [
    linear(np.roll, "a shift axis", shaped(roll_back)),
    linear(np.repeat, "a repeats axis", repeat_vjp),
    linear(np.tile, "A reps", tile_vjp),
    linear(np.ndarray.repeat, "a repeats axis", repeat_vjp),
    linear(np.tril, "m k", shaped(tril_back)),
    linear(np.triu, "m k", shaped(triu_back)),
    linear(np.diagflat, "v k", back_by_number(np.diagflat)),
    ArrayRule(np.trace, "a offset axis1 axis2 dtype out", jvp=[trace_jvp], vjp=[TRACE],
              defaults={"offset": 0, "axis1": 0, "axis2": 1}),
    ArrayRule(np.ndarray.trace, "a offset axis1 axis2 dtype out", jvp=[trace_jvp], vjp=[TRACE],
              defaults={"offset": 0, "axis1": 0, "axis2": 1}),
    _DiffRule(),
    ViewRule(np.diag, parameters=("v",), names="v k", against=shaped(diag_back), parts=True),
]  # fmt: skip

ROWS: list[Rule] = [*VIEWS, _each(np.atleast_1d), _each(np.atleast_2d), _each(np.atleast_3d), *COPIES]
