"""Rules of subscripts on arrays: ``u[idx]`` and ``u[idx] = v``.

Basic indices give views, whose shadow is the same view of the shadow; a NumPy scalar read from an
array is a number of its own.  Advanced indices give copies; a cotangent goes back to every
occurrence of a repeated index.  Of repeated indices in a write only one value survives, and only
that one receives a cotangent.
"""

from __future__ import annotations

import operator
from array import array as TypedArray
from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.functions import stands_for_another
from adbc.rules.classes import overrides, stands_for_position
from adbc.rules.formulas import FormulaCall
from adbc.rules.numpy.base import (
    array_part,
    before_update,
    before_write,
    by_example,
    check_writable,
    converting,
    gather,
    gather_tangent,
    give,
    is_carried,
    is_sequence,
    new_shadow,
    plain,
    refuse_text,
    shaped,
)
from adbc.rules.numpy.object_numbers import written_tangent
from adbc.rules.numpy.objects import (
    copied_objects,
    is_element,
    objects_setitem_frule,
    objects_setitem_rrule,
    read_object,
    record_rows,
    records_setitem,
)
from adbc.rules.numpy.views import is_view, writable
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule
from adbc.tangents import NO_FDATA, add, fresh_shadow, fresh_tangent, project
from adbc.tangents.array_instances import bare
from adbc.tangents.array_memory import has_number_fields, number_views, overlaps_itself
from adbc.tangents.duals import ArrayTangent

__all__ = ["ROWS", "add_at", "mutating"]


def mutating(row: Rule) -> Rule:
    """Return `row`, marked as one that changes an argument."""
    row.mutates = True
    return row


def inlined(kind: str, row: Rule) -> Rule:
    """Return `row`, marked as one that builders may write inline (`Rule.inline`)."""
    row.inline = kind
    return row


def add_at(target: Any, index: Any, d: Any) -> None:
    """``target[index] += d``, once for each occurrence of an index."""
    if _may_repeat(index) or 0 in target.strides:
        np.add.at(target, index, d)
    else:
        target[index] += d


def _may_repeat(index: Any) -> bool:
    """Whether `index` holds numbers of elements, which may be repeated; a mask never is."""
    if type(index) is np.ndarray:
        return index.ndim > 0 and index.dtype.kind != "b"
    parts = index if type(index) is tuple else (index,)
    for part in parts:
        kind = type(part)
        if kind is int or kind is slice or part is None or part is Ellipsis or kind is bool:
            continue
        if np.ndim(part) > 0 and np.asarray(part).dtype.kind != "b":
            return True
    return False


# -- reading ---------------------------------------------------------------------------------------------


def subscript_back(by: Any, shape: tuple[int, ...], /, index: Any) -> Any:
    """The cotangent of an array of `shape` from `by`, that of its elements at `index`: else zero."""
    if type(index) is tuple and _takes_all(index):
        return by.reshape(shape)
    d = np.zeros(shape, by.dtype)
    if _may_repeat(index):
        np.add.at(d, index, by)
    else:
        d[index] = by
    return d


def _takes_all(index: tuple[Any, ...]) -> bool:
    """Whether `index` only puts in new axes."""
    return all([part is None or (type(part) is slice and part == _WHOLE) for part in index])  # noqa: C419


_WHOLE = slice(None)


def subscript_into(shadow: Any, by: Any, index: Any) -> None:
    if shadow is not None and by is not None:  # on some ways nothing was done with the elements
        add_at(shadow, index, by)


SUBSCRIPT = shaped(subscript_back, into=subscript_into)


class SubscriptRule(Primitive):
    """The rule of ``x[index]`` for an array `x`."""

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        return FormulaCall((SUBSCRIPT,), (0,), (("index", 1),), window=True, parts=True)


def _array_read(cls: type, index: type) -> bool:
    return cls is np.ndarray and not stands_for_position(index)


def getitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    u, index = args
    du = dargs[0]
    out = u[index]
    if not isinstance(out, np.ndarray) or (u.dtype.kind == "O" and is_element(u, index)):
        if du is None:
            return out, fresh_tangent(out) if u.dtype.kind in "fc" else None
        return out, du[index] if u.dtype.kind != "O" else symbolic(du[index])
    if du is None:
        return out, None if is_view(out, u) else fresh_tangent(out)
    if is_view(out, u):
        return out, writable(du[index])
    return out, du[index]


def getitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    u, index = args
    fu = fargs[0]
    out = u[index]
    if fu is None:
        if isinstance(out, np.ndarray) and not is_view(out, u) and u.dtype.kind != "O":
            return out, fresh_shadow(out, active=False), _nothing2
        return out, None, _nothing2
    if not isinstance(out, np.ndarray) or (u.dtype.kind == "O" and is_element(u, index)):
        if u.dtype.kind == "O":
            return read_object(fu, index, out)
        if u.dtype.kind == "V":  # a record is a window on the array
            return out, fu[index], _nothing2

        def element_pullback(bout: Any) -> Sequence[Any]:
            if bout is not None:
                fu[index] += project(bout, out)
            return None, None

        return out, NO_FDATA, element_pullback
    if is_view(out, u):
        return out, writable(fu[index]), _nothing2
    if u.dtype.kind == "O":
        fout, give_back = copied_objects(fu, out, np.arange(u.size).reshape(u.shape)[index])
    else:
        fout = new_shadow(out, True)

    def gather_pullback(bout: Any) -> Sequence[Any]:
        if u.dtype.kind == "O":
            give_back()
        elif not out.size:
            pass  # may be a field, which no number of an element stands for
        elif u.dtype.kind == "V":
            for part, of_part in zip(number_views(fu), number_views(fout), strict=True):
                add_at(part, index, of_part)
        else:
            add_at(fu, index, fout)
        return None, None

    return out, fout, gather_pullback


def _nothing2(bout: Any) -> Sequence[Any]:
    return None, None


# -- writing ---------------------------------------------------------------------------------------------


def _is_made_array(value: type) -> bool:
    """Whether NumPy asks methods for the numbers of a `value` that it writes: in Python, or of a proxy."""
    return overrides(value, "__array__") or is_sequence(value) or stands_for_another(value)


def _array_write(cls: type, index: type, value: type) -> bool:
    return cls is np.ndarray and not stands_for_position(index) and not _is_made_array(value)


def _converting_write(cls: type, index: type, value: type) -> bool:
    return cls is np.ndarray and not stands_for_position(index) and _is_made_array(value)


def written(u: Any, index: Any, value: Any) -> None:
    """``u[index] = value``, as it is."""
    u[index] = value


def set_converted(u: Any, index: Any, value: Any, /) -> None:
    """``u[index] = value`` of a value that methods of its own make an array, or a number where one element
    is set."""
    if u.dtype.kind == "O":
        written(u, index, value)
    elif is_element(u, index):
        u[index] = _NUMBERS.get(u.dtype.kind, int)(value)
    else:
        u[index] = np.asarray(value, u.dtype)


_NUMBERS: dict[str, Any] = {"f": float, "c": complex}
"""What makes a number for an array, by the kind of its elements."""


def same_view(target: Any, index: Any, value: Any) -> bool:
    """Whether `value` is ``target[index]`` itself, as after ``target[index] += 1``."""
    if type(value) is not np.ndarray or not np.may_share_memory(target, value):
        return False
    there = target[index]
    return (
        isinstance(there, np.ndarray)
        and there.dtype == value.dtype
        and there.shape == value.shape
        and there.strides == value.strides
        and there.__array_interface__["data"] == value.__array_interface__["data"]
    )


def shown(v: Any, f: Any) -> tuple[Any, Any]:
    """The value `v` and its shadow (or tangent), as arrays if `v` is an `array.array`."""
    return (np.asarray(v), None if f is None else np.asarray(f)) if type(v) is TypedArray else (v, f)


def _without_class(v: Any, f: Any) -> tuple[Any, Any]:
    """The value `v` and its shadow (or tangent), as arrays if `v` is an instance of a subclass."""
    return (bare(v), array_part(f)) if type(f) is ArrayTangent else (v, f)


def setitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    u, index, v = args
    du, _, dv = dargs
    if u.dtype.kind == "O":
        return objects_setitem_frule(args, dargs)
    if has_number_fields(u.dtype):
        v, dv = _without_class(v, dv)
        records_setitem((u, index, v), (du, None, dv), setitem_frule)
        return None, None
    v, dv = shown(v, written_tangent(v, gather_tangent(v, dv)))
    check_writable(u, du, dv is not None)
    if dv is not None:
        refuse_text(u, v)
    u[index] = v
    if du is not None:
        if dv is None:
            du[index] = 0
        else:
            du[index] = np.real(dv) if np.iscomplexobj(dv) and not np.iscomplexobj(du) else dv
    return None, None


def setitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    u, index, v = args
    fu, _, fv = fargs
    if u.dtype.kind == "O":
        return objects_setitem_rrule(args, fargs)
    if has_number_fields(u.dtype):
        if same_view(u, index, v):
            return None, None, _nothing3
        v, fv = _without_class(v, fv)
        done = records_setitem((u, index, v), (fu, None, fv), setitem_rrule)
        return None, None, _records_pullback(done, v)
    v, fv = shown(v, fv)
    check_writable(u, fu, is_carried(fv))
    if is_carried(fv):
        refuse_text(u, v)
    if same_view(u, index, v):
        u[index] = v
        return None, None, _nothing3
    index = kept_index(index, u)
    old = u[index]
    if isinstance(old, np.ndarray) and is_view(old, u):
        old = old.copy()
    u[index] = v

    def setitem_pullback(bout: Any) -> Sequence[Any]:
        u[index] = old
        if fu is None:
            return None, None, None
        bv = None
        if fv is not None:
            b = fu[index]
            if isinstance(b, np.ndarray):
                b = b.copy() if is_view(b, fu) else b
                if _may_repeat(index):
                    b = np.where(_survives(u, index), b, 0)
        fu[index] = 0
        if fv is not None:
            bv = give(fv, v, _as_value(b, gather(v)))
        return None, None, bv

    return None, None, setitem_pullback


def kept_index(index: Any, u: Any) -> Any:
    """The `index` as it is before anything is written into `u`, with whose memory it may be made: it is read
    again on the way back (``mask[mask] = flags``)."""
    if isinstance(index, np.ndarray):
        return index.copy() if np.may_share_memory(index, u) else index
    return tuple(kept_index(i, u) for i in index) if type(index) is tuple else index


def write_part(u: Any, du: Any, index: Any, dv: Any) -> None:
    """Write `dv`, the tangent of an array or a number, None for zero, where that was written into `u`: at
    ``du[index]``, a view."""
    if du is None or overlaps_itself(u):
        check_writable(u, du, dv is not None)
    if du is not None:
        du[index] = 0 if dv is None else dv


def _records_pullback(done: Any, v: Any) -> Pullback:
    """The pullback of a write of several fields, made of those of the single fields in `done`."""

    def records_pullback(bout: Any) -> Sequence[Any]:
        terms: list[Any] = [None] * len(v) if isinstance(v, tuple) else [None]
        for place, (_, _, pullback) in reversed(done):
            term = pullback(None)[2]
            place = 0 if place is None else place
            terms[place] = add(terms[place], term)
        return None, None, tuple(terms) if isinstance(v, tuple) else terms[0]

    return records_pullback


def _nothing3(bout: Any) -> Sequence[Any]:
    return None, None, None


def _as_value(b: Any, v: Any) -> Any:
    """The cotangent of value `v`, which may have more leading axes than the elements written, of length 1."""
    while np.ndim(b) < np.ndim(v):
        b = np.expand_dims(b, 0)
    return b


def _survives(u: Any, index: Any) -> Any:
    """For each element that is written to ``u[index]``, whether it stays: the last one at its place does."""
    winner = np.zeros(u.shape, np.intp)
    order = np.arange(winner[index].size).reshape(winner[index].shape)
    winner[index] = order
    return winner[index] == order


# -- whole arrays: fill, copyto, put -----------------------------------------------------------------------


def _check_fill(u: Any, value: Any) -> None:
    if u.dtype.kind == "O" and isinstance(value, (np.ndarray, list, tuple)):
        raise UnsupportedError(
            "an array of objects is filled with one container",
            "all elements would be one object",
            "write the elements in a loop",
        )


def fill_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    _check_fill(*args[:2])
    return setitem_frule((args[0], Ellipsis, args[1]), (dargs[0], None, dargs[1]), kwargs)


def fill_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    _check_fill(*args[:2])
    _, _, pullback = setitem_rrule((args[0], Ellipsis, args[1]), (fargs[0], None, fargs[1]), kwargs)

    def fill_pullback(bout: Any) -> Sequence[Any]:
        _, _, bv = pullback(None)
        return None, bv

    return None, None, fill_pullback


def copyto_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    target, source, *rest = args
    dtarget, dsource = dargs[:2]
    where = rest[1] if len(rest) > 1 else kwargs.get("where", True)
    dsource = written_tangent(source, gather_tangent(source, dsource))
    check_writable(target, dtarget, dsource is not None)
    if dsource is not None:
        refuse_text(target, source)
    np.copyto(*args, **kwargs)
    if dtarget is not None:
        if dsource is not None and np.iscomplexobj(dsource) and not np.iscomplexobj(dtarget):
            dsource = np.real(dsource)
        np.copyto(dtarget, 0 if dsource is None else dsource, where=where, casting="unsafe")
    return None, None


def copyto_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    target, source, *rest = args
    ftarget, fsource = fargs[:2]
    where = rest[1] if len(rest) > 1 else kwargs.get("where", True)
    check_writable(target, ftarget, is_carried(fsource))
    if is_carried(fsource):
        refuse_text(target, source)
    old = target.copy()
    np.copyto(*args, **kwargs)

    def copyto_pullback(bout: Any) -> Sequence[Any]:
        target[...] = old
        bsource = None
        if ftarget is not None:
            b = np.where(where, ftarget, 0)
            np.copyto(ftarget, 0, where=where)
            if fsource is not None:
                bsource = give(fsource, source, _as_value(b, gather(source)))
        return (None, bsource, *(None for _ in rest))

    return None, None, copyto_pullback


def _fill_when(cls: type, *rest: type) -> bool:
    return cls is np.ndarray and plain(*rest)


def _resize(*_: Any) -> Any:
    raise UnsupportedError(
        "an array is resized in place",
        "records of what was computed refer to its memory",
        "make another: np.resize(x, shape), or np.zeros(shape) and a slice of it",
    )


_READ = by_example(
    inlined(
        "load",
        SubscriptRule(
            operator.getitem, frule=getitem_frule, rrule=getitem_rrule, is_fitted=True, when=_array_read
        ),
    )
)
_READ.follows_first = True
_WRITE = Primitive(
    operator.setitem, frule=setitem_frule, rrule=setitem_rrule, is_fitted=True, when=_array_write
)

_WRITE.save = before_update
_WRITE.save_part = before_write
_WRITE.write_tangent = write_part

ROWS: list[Rule] = [
    *record_rows(setitem_frule, setitem_rrule),
    _READ,
    inlined("store", converting(mutating(_WRITE), 2)),
    mutating(Primitive(written, frule=setitem_frule, rrule=setitem_rrule, is_fitted=True)),
    Overlay(operator.setitem, set_converted, when=_converting_write),
    converting(
        mutating(
            Primitive(
                np.ndarray.fill,
                frule=fill_frule,
                rrule=fill_rrule,
                when=_fill_when,
                parameters=("a", "value"),
            )
        ),
        1,
    ),
    mutating(Primitive(np.ndarray.resize, frule=_resize, rrule=_resize)),
    mutating(
        Primitive(np.copyto, frule=copyto_frule, rrule=copyto_rrule, parameters=("dst", "src"), when=plain)
    ),
]
