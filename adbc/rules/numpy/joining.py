"""Rules of functions that join arrays, and of those that split one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import (
    SeparateRule,
    array_part,
    by_example,
    check_target,
    finish,
    gather_tangent,
    give,
    new_shadow,
    plain,
    refuse_opaque,
    refuse_text,
    refuse_text_of,
    write_tangent,
)
from adbc.rules.numpy.own_arrays import refuse_object
from adbc.rules.numpy.views import writable
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule
from adbc.tangents import NO_TANGENT, accumulate, fill_tangent, slot_tangent
from adbc.tangents.array_instances import bare
from adbc.tangents.duals import ArrayTangent
from adbc.tangents.fields import instance_fields
from adbc.tangents.internal import in_order
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]

Pieces = Callable[..., list[Any]]


def _cut(by: Any, sizes: Sequence[int], axis: int) -> list[Any]:
    """Cotangent `by` cut into pieces of these `sizes` along `axis`."""
    pieces, start = [], 0
    before = (slice(None),) * (axis % by.ndim)
    for size in sizes:
        pieces.append(by[(*before, slice(start, start + size))])
        start += size
    return pieces


def concatenate_pieces(by: Any, arrays: Sequence[Any], axis: Any = 0, **_: Any) -> list[Any]:
    if axis is None:
        return _cut(by, [np.size(x) for x in arrays], 0)
    return _cut(by, [np.shape(x)[axis] for x in arrays], axis)


def stack_pieces(by: Any, arrays: Sequence[Any], axis: Any = 0, **_: Any) -> list[Any]:
    before = (slice(None),) * (axis % by.ndim)
    return [by[(*before, i)] for i in range(len(arrays))]


def vstack_pieces(by: Any, arrays: Sequence[Any], **_: Any) -> list[Any]:
    return _cut(by, [np.shape(x)[0] if np.ndim(x) > 1 else 1 for x in arrays], 0)


def hstack_pieces(by: Any, arrays: Sequence[Any], **_: Any) -> list[Any]:
    axis = 1 if np.ndim(by) > 1 else 0
    return _cut(by, [np.shape(x)[axis] if np.ndim(x) > axis else 1 for x in arrays], axis)


def dstack_pieces(by: Any, arrays: Sequence[Any], **_: Any) -> list[Any]:
    return _cut(by, [np.shape(x)[2] if np.ndim(x) > 2 else 1 for x in arrays], 2)


def column_pieces(by: Any, arrays: Sequence[Any], **_: Any) -> list[Any]:
    return _cut(by, [np.shape(x)[1] if np.ndim(x) > 1 else 1 for x in arrays], 1)


def _check_objects(out: Any) -> None:
    """Raise if arrays of objects are joined, whose shadows would have to be found one by one."""
    if out.dtype.kind == "O":
        refuse_opaque(out)


def unseen(out: Any, shadow: Any) -> Any:
    """The shadow (or tangent) of `out`, whose array has `shadow`.

    If `out` is an instance of a subclass of ndarray, its class was told of it before there was anything in
    it, and without another instance, so that all it may have set is constant.
    """
    if type(out) is np.ndarray:
        return shadow
    fields = instance_fields(out)
    for name, value in fields:
        if not kind_of(type(value)).inactive and value != {}:
            raise UnsupportedError(
                f"a function of NumPy's makes a {type(out).__name__} of several arrays, and the class sets"
                f" attribute {name!r}, a {type(value).__name__}",
                "what the class does to a new instance is not followed there",
                "give it arrays, numpy.asarray(x), and make the instance of the result",
            )
    constants: dict[str, Any] = {
        name: NO_TANGENT if kind_of(type(value)).inactive else {} for name, value in fields
    }
    return ArrayTangent(NO_TANGENT if shadow is None else shadow, **constants)


def _joining_into(
    function: Any, pieces: Pieces
) -> tuple[Callable[..., tuple[Any, Any]], Callable[..., tuple[Any, Any, Pullback]]]:
    """The rules of both modes where the result is written into an array, the third argument."""

    def frule_into(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
        """The tangent of an array that is written into."""
        arrays, darrays = args[0], dargs[0]
        target, dtarget = check_target(args[2], dargs[2], darrays is not None)
        moved = None
        if darrays is not None and dtarget is not None:
            refuse_text(target, arrays)
            found = [
                np.zeros(np.shape(x)) if d is None else d
                for x, d in zip(arrays, _tangents(arrays, darrays), strict=True)
            ]
            moved = function(found, args[1])
        function(*args, **kwargs)
        write_tangent(dtarget, moved)
        return target, dtarget

    def rrule_into(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
        arrays, farrays = args[0], fargs[0]
        target, ftarget = check_target(args[2], fargs[2], farrays is not None)
        if farrays is not None:
            refuse_text(target, arrays)
            if isinstance(farrays, list | tuple):
                for x, f in zip(arrays, farrays, strict=True):
                    refuse_object(x, f)
        old = target.copy()
        function(*args, **kwargs)
        nothing = (None,) * (len(args) - 1)

        def overwriting_pullback(bout: Any) -> Sequence[Any]:
            target[...] = old
            if ftarget is None:
                return (None, *nothing)
            by = ftarget.copy()
            ftarget[...] = 0
            if farrays is None:
                return (None, *nothing)
            parts = pieces(by, arrays, args[1])
            parts = [np.reshape(d, np.shape(x)) for d, x in zip(parts, arrays, strict=True)]
            if isinstance(arrays, np.ndarray):
                return (give(farrays, arrays, np.array(parts)), *nothing)
            return (accumulate(farrays, arrays, parts), *nothing)

        return target, ftarget, overwriting_pullback

    return frule_into, rrule_into


def joining(function: Any, pieces: Pieces, name: str = "tup") -> Primitive:
    """The row of a function of a sequence of arrays; ``pieces(by, arrays, ...)`` takes a cotangent apart."""

    frule_into, rrule_into = _joining_into(function, pieces)

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        arrays, darrays = args[0], dargs[0]
        if len(args) > 2 and args[2] is not None:
            return frule_into(args, dargs, kwargs)
        out = function(*args, **kwargs)
        array = bare(out)
        if darrays is None:
            return out, unseen(out, finish(None, array))
        _check_objects(array)
        found = _tangents(arrays, darrays)
        if array.dtype.kind in "SUT":
            refuse_text_of(array, arrays, found)
            return out, unseen(out, finish(None, array))
        parts = [
            np.zeros(np.shape(x), array.dtype) if d is None else d for x, d in zip(arrays, found, strict=True)
        ]
        return out, unseen(out, finish(function(parts, *args[1:], **kwargs), array))

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        arrays, farrays = args[0], fargs[0]
        if len(args) > 2 and args[2] is not None:
            return rrule_into(args, fargs, kwargs)
        out = function(*args, **kwargs)
        array = bare(out)
        if farrays is not None:
            _check_objects(array)
            refuse_text(array, arrays)
            if isinstance(farrays, list | tuple):
                for x, f in zip(arrays, farrays, strict=True):
                    refuse_object(x, f)
        fout = new_shadow(array, farrays is not None)
        nothing = (None,) * (len(args) - 1)

        def joining_pullback(bout: Any) -> Sequence[Any]:
            if farrays is None or fout is None:
                return (None, *nothing)
            parts = pieces(fout, arrays, *args[1:], **kwargs)
            parts = [np.reshape(d, np.shape(x)) for d, x in zip(parts, arrays, strict=True)]
            if isinstance(arrays, np.ndarray):
                return (give(farrays, arrays, np.array(parts)), *nothing)
            return (accumulate(farrays, arrays, parts), *nothing)

        return out, unseen(out, fout), joining_pullback

    return by_example(Joining(function, frule=frule, rrule=rrule, when=plain, parameters=(name,)))


def _tangents(arrays: Any, darrays: Any) -> list[Any]:
    """The tangents of the arrays that are joined, None where they are zero."""
    pairs = list(zip(arrays, in_order(arrays, darrays), strict=True))
    for x, d in pairs:
        refuse_object(x, d)
    return [gather_tangent(x, array_part(d)) for x, d in pairs]


class Joining(Primitive):
    """The rule of a function of a sequence of arrays, with an array to write into as third argument."""

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        found, rest = super().bind(args, kwargs)
        if len(found) < 3 and rest.get("out") is not None:
            axis = found[1] if len(found) > 1 else rest.pop("axis", 0)
            found = (found[0], axis, rest.pop("out"))
        return found, rest


# -- the same, given one by one ----------------------------------------------------------------------------


class JoinedRule(SeparateRule):
    """The rule of ``joined(*arrays, **others)``, for whose work on a tuple of arrays there is `row`."""

    takes_values = 16  # with more arrays the formulas would be longer than the loop over them

    def __init__(self, joined: Callable[..., Any], row: Rule, pieces: Pieces) -> None:
        super().__init__(joined, lambda i: _piece(pieces, i), _pieces(pieces))
        self.row = row

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        darrays = None if all(d is None for d in dargs) else tuple(dargs)
        return self.row.frule((tuple(args),), (darrays,), kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        farrays = None if all(f is None for f in fargs) else tuple(fargs)
        out, fout, pullback = self.row.rrule((tuple(args),), (farrays,), kwargs)

        def joined_pullback(bout: Any) -> Sequence[Any]:
            (parts,) = pullback(bout)
            return (None,) * len(args) if parts is None else parts

        return out, fout, joined_pullback


def _pieces(pieces: Pieces) -> Callable[..., Any]:
    def joined_together(by: Any, y: Any, *arrays: Any, **others: Any) -> Any:
        return [d.reshape(np.shape(x)) for d, x in zip(pieces(by, arrays, **others), arrays, strict=True)]

    return joined_together


def _piece(pieces: Pieces, i: int) -> Callable[..., Any]:
    def joined_vjp(by: Any, y: Any, *arrays: Any, **others: Any) -> Any:
        return pieces(by, arrays, **others)[i].reshape(np.shape(arrays[i]))

    return joined_vjp


def _joined(row: Primitive, joined: Callable[..., Any], pieces: Pieces, *names: str) -> list[Rule]:
    row.joined, row.joined_names, row.joined_array = joined, names, np.asarray
    return [row, JoinedRule(joined, row, pieces)]


def concatenated(*arrays: Any, axis: Any = 0) -> Any:
    return np.concatenate(arrays, axis)


def stacked(*arrays: Any, axis: Any = 0) -> Any:
    return np.stack(arrays, axis)


def vstacked(*arrays: Any) -> Any:
    return np.vstack(arrays)


def hstacked(*arrays: Any) -> Any:
    return np.hstack(arrays)


def dstacked(*arrays: Any) -> Any:
    return np.dstack(arrays)


def column_stacked(*arrays: Any) -> Any:
    return np.column_stack(arrays)


def _twin(x: Any) -> Any:
    """The shadow of the array that is made of the list or tuple `x`; None if it has no numbers for one."""
    whole = np.asarray(x)
    _check_objects(whole)
    return np.zeros(whole.shape, whole.dtype) if whole.dtype.kind in "fc" else None


def splitting(function: Any, name: str = "ary") -> Primitive:
    """The row of a function that gives several views of one array, or of the one that it makes of a list."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        dx = gather_tangent(args[0], dargs[0])
        outs = function(*args, **kwargs)
        if dx is None:
            douts = [fill_tangent(y, None) for y in outs]
        else:
            douts = [writable(d) for d in function(dx, *args[1:], **kwargs)]
        return outs, type(outs)(douts)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        x, f = args[0], fargs[0]
        is_made = isinstance(x, list | tuple)
        outs = function(*args, **kwargs)
        nothing = (None,) * len(args)
        twin = f if f is None or not is_made else _twin(x)
        if twin is None:
            fouts = None if type(outs) is tuple else [slot_tangent(y, None) for y in outs]
            return outs, fouts, lambda bout: nothing
        fouts = type(outs)(writable(part) for part in function(twin, *args[1:], **kwargs))
        if not is_made:
            return outs, fouts, lambda bout: nothing
        return outs, fouts, lambda bout: (give(f, x, twin), *nothing[1:])

    return Primitive(function, frule=frule, rrule=rrule, when=plain, parameters=(name,))


def unstacked(x: Any, axis: Any = 0) -> Any:
    """The arrays of which an array of several axes consists."""
    return np.unstack(x, axis=axis)


def _unstack(x: Any, /, *, axis: Any = 0) -> Any:
    if np.ndim(x) == 1 and axis in (0, -1):  # it consists of numbers, which are no views
        return tuple([y for y in np.asarray(x)])  # noqa: C416  # an array has more than one iterator
    return unstacked(x, axis)


ROWS: list[Rule] = [
    *_joined(joining(np.concatenate, concatenate_pieces, "arrays"), concatenated, concatenate_pieces, "axis"),
    *_joined(joining(np.stack, stack_pieces, "arrays"), stacked, stack_pieces, "axis"),
    *_joined(joining(np.vstack, vstack_pieces), vstacked, vstack_pieces),
    *_joined(joining(np.hstack, hstack_pieces), hstacked, hstack_pieces),
    *_joined(joining(np.dstack, dstack_pieces), dstacked, dstack_pieces),
    *_joined(joining(np.column_stack, column_pieces), column_stacked, column_pieces),
    splitting(np.split),
    splitting(np.array_split),
    splitting(np.hsplit),
    splitting(np.vsplit),
    splitting(np.dsplit),
]
_INNER = getattr(np.concatenate, "__wrapped__", None)
if _INNER is not None:  # what `np.block` calls
    ROWS.append(joining(_INNER, concatenate_pieces, "arrays"))
if hasattr(np, "unstack"):
    ROWS += [splitting(unstacked, "x"), Overlay(np.unstack, _unstack)]
