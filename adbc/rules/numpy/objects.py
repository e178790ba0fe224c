"""Arrays whose elements are not plain numbers: objects, and records of a structured array.

Such an array is read, written, iterated over, copied and seen through views.  What computes with it in C is
refused (`base.refuse_opaque`), for NumPy would call the operators of the objects unseen, unless these are
numbers (`object_numbers`).

The shadow of an array of objects holds the tangents of its elements, like that of a list; that of a
structured array is structured the same way, and a record is a window on it.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.sequences import Source, emptied, refuse_constant, symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    accumulate,
    fill_tangent,
    project,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
)
from adbc.tangents.array_memory import add_into, has_number_fields, number_views, record_array

__all__ = [
    "copied_objects",
    "give_records",
    "is_element",
    "objects_setitem_frule",
    "objects_setitem_rrule",
    "read_object",
    "record_rows",
    "records_setitem",
]


def _indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(np.ndindex(shape))


def _of_objects(values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The array of `shape` with these objects as elements, which NumPy does not look into."""
    made = np.empty(shape, object)
    for index, value in zip(_indices(shape), values, strict=True):
        made[index] = value
    return made


# -- arrays of objects: reading ------------------------------------------------------------------------


def is_element(u: Any, index: Any) -> bool:
    """Whether ``u[index]`` is one element of the array `u` of objects, which may be an array itself."""
    return not isinstance(np.broadcast_to(np.int8(0), u.shape)[index], np.ndarray)


def read_object(f: Any, index: Any, out: Any) -> tuple[Any, Any, Pullback]:
    """What an rrule returns that reads element `out` at `index` of an array of objects with shadow `f`."""

    def object_pullback(bout: Any) -> Sequence[Any]:
        if bout is not None:
            f[index] = slot_increment(f[index], bout)
        return None, None

    return out, slot_shadow(f[index]), object_pullback


def copied_objects(f: Any, out: Any, numbers: Any) -> tuple[Any, Callable[[], None]]:
    """The shadow of `out`, an array of objects copied from the places `numbers` (in the order of C) of the
    array with shadow `f`; and a function that adds to `f` what the shadow of `out` has received."""
    places = [np.unravel_index(k, f.shape) for k in np.ravel(numbers).tolist()]
    fout = _of_objects([emptied(x, f[k]) for x, k in zip(out.flat, places, strict=True)], out.shape)

    def give() -> None:
        for place, t in zip(places, fout.flat, strict=True):
            r = slot_rdata(t)
            if r is not None:
                f[place] = slot_increment(f[place], r)

    return fout, give


# -- arrays of objects: writing ------------------------------------------------------------------------


class _Values:
    """The values that are written into several elements of an array at once, one for each place."""

    def __init__(self, v: Any, fv: Any, shape: tuple[int, ...]) -> None:
        """Broadcast `v` to `shape`; fv: the shadow of `v`, or in forward mode its tangent."""
        self.v, self.fv, self.shape = v, fv, shape
        if isinstance(v, (list, tuple)):
            if np.ndim(np.asarray(v, object)) != 1:
                raise UnsupportedError(
                    "sequences of sequences are written into several elements of an array of objects",
                    "NumPy may take them apart there",
                    "write the elements one by one",
                )
            own: tuple[int, ...] = (len(v),)
        else:
            own = np.shape(v) if isinstance(v, np.ndarray) else ()
        while len(own) > len(shape) and own[0] == 1:
            own = own[1:]
        numbers = np.arange(int(np.prod(own, dtype=int))).reshape(own)
        self.count = numbers.size
        self.numbers = np.broadcast_to(numbers, shape).ravel().tolist()

    def tangents(self) -> list[Any]:
        """The tangent for each place, in forward mode."""
        v, d = self.v, self.fv
        if isinstance(v, np.ndarray):
            if d is None:
                parts = [fill_tangent(x, None) for x in v.astype(object).flat]
            else:
                parts = list(d.astype(object).flat)
        elif isinstance(v, (list, tuple)):
            parts = [fill_tangent(x, None if d is None else symbolic(d[i])) for i, x in enumerate(v)]
        else:
            parts = [fill_tangent(v, d)]
        return [parts[k] for k in self.numbers]

    def slots(self) -> list[Any]:
        """The slot tangent for each place, in reverse mode, with zeros for numbers."""
        v, f = self.v, self.fv
        if isinstance(v, np.ndarray) and v.dtype.kind == "O":
            parts = [slot_tangent(x, None if f is None else slot_shadow(t)) for x, t in self._pairs(v, f)]
        elif isinstance(v, np.ndarray):
            parts = [slot_tangent(x, None) for x in v.astype(object).flat]
        elif isinstance(v, (list, tuple)):
            parts = Source(v, f).tangents()
        else:
            parts = [slot_tangent(v, f)]
        return [parts[k] for k in self.numbers]

    def _pairs(self, v: Any, f: Any) -> list[tuple[Any, Any]]:
        return list(zip(v.flat, [None] * v.size if f is None else f.flat, strict=True))

    def give(self, terms: Sequence[Any]) -> Any:
        """Give the values the cotangents `terms` of their places; returns the rdata of the argument."""
        v, f = self.v, self.fv
        if f is None:
            return None
        sums: list[Any] = [None] * self.count
        for k, r in zip(self.numbers, terms, strict=True):
            if r is not None:
                sums[k] = r if sums[k] is None else sums[k] + r
        if isinstance(v, np.ndarray) and v.dtype.kind == "O":
            for index, r in zip(_indices(v.shape), sums, strict=True):
                if r is not None:
                    f[index] = slot_increment(f[index], r)
            return None
        if isinstance(v, np.ndarray):
            given = np.array([0.0 if r is None else r for r in sums]).reshape(v.shape)
            return accumulate(f, v, given)
        if isinstance(v, (list, tuple)):
            return Source(v, f).give(sums)
        return sums[0]


def _check_one(one: bool, v: Any) -> None:
    if one and isinstance(v, np.ndarray) and v.ndim == 0:
        raise UnsupportedError(
            "an array without axes is written into an array of objects",
            "adbc has no rule for that form",
            "write v[()]",
        )


def objects_setitem_frule(args: Args, dargs: Args) -> tuple[Any, Any]:
    """The frule of ``u[index] = v`` for an array `u` of objects."""
    u, index, v = args
    du, _, dv = dargs
    if du is None:
        refuse_constant(u, dv)
        u[index] = v
        return None, None
    places = np.arange(u.size).reshape(u.shape)[index]
    if is_element(u, index):
        _check_one(True, v)
        u[index] = v
        du[index] = fill_tangent(v, dv)
        return None, None
    tangents = _Values(v, dv, places.shape).tangents()
    u[index] = v
    for k, t in zip(places.ravel().tolist(), tangents, strict=True):
        du[np.unravel_index(k, du.shape)] = t
    return None, None


def objects_setitem_rrule(args: Args, fargs: Args) -> tuple[Any, Any, Pullback]:
    """The rrule of ``u[index] = v`` for an array `u` of objects."""
    u, index, v = args
    fu, _, fv = fargs
    if fu is None:
        refuse_constant(u, fv)
    places = np.arange(u.size).reshape(u.shape)[index]
    one = not isinstance(places, np.ndarray)
    _check_one(one, v)
    where = [np.unravel_index(k, u.shape) for k in np.ravel(places).tolist()]
    old = [u[k] for k in where]
    before = None if fu is None else [fu[k] for k in where]
    values = None if one else _Values(v, fv, places.shape)
    slots = [] if fu is None else [slot_tangent(v, fv)] if values is None else values.slots()
    u[index] = v
    if fu is not None:
        for k, t in zip(where, slots, strict=True):
            fu[k] = t

    def setitem_pullback(bout: Any) -> Sequence[Any]:
        if fu is None or before is None:
            for k, x in zip(where, old, strict=True):
                u[k] = x
            return None, None, None
        terms: list[Any] = []
        for k in reversed(where):  # of a repeated place only the last value stays
            terms.append(slot_rdata(fu[k]))
            fu[k] = emptied(u[k], fu[k])
        terms.reverse()
        for k, x, t in zip(where, old, before, strict=True):
            u[k] = x
            fu[k] = emptied(x, t)
        if fv is None:
            return None, None, None
        return None, None, terms[0] if values is None else values.give(terms)

    return None, None, setitem_pullback


# -- structured arrays ---------------------------------------------------------------------------------


def give_records(f: Any, d: Any) -> None:
    """Add `d`, the cotangent of a structured array, to its shadow `f`."""
    for part, of_part in zip(number_views(f), number_views(d), strict=True):
        add_into(part, of_part)


def field_of(record: Any, field: Any) -> Any:
    """The field of `record` (by name or number) as an array that lies where the field does."""
    return record_array(record)[record.dtype.names[field] if isinstance(field, int) else field]


def _getitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    record, field = args
    dr = dargs[0]
    out = np.void.__getitem__(record, field)
    return out, None if dr is None or not _has_numbers(out) else dr[field]


def _has_numbers(x: Any) -> bool:
    return x.dtype.kind in "fc" or has_number_fields(x.dtype) if hasattr(x, "dtype") else False


def _getitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    record, field = args
    fr = fargs[0]
    out = np.void.__getitem__(record, field)
    if fr is None or not _has_numbers(out):
        return out, None, lambda bout: (None, None)
    if isinstance(out, (np.ndarray, np.void)):
        return out, fr[field], lambda bout: (None, None)
    f = field_of(fr, field)

    def field_pullback(bout: Any) -> Sequence[Any]:
        if bout is not None:
            f[...] += project(bout, out)
        return None, None

    return out, NO_FDATA, field_pullback


def _record_setitem(rule: Callable[..., Any]) -> Callable[..., Any]:
    def set_field(args: Args, derivatives: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        record, field, v = args
        fr = derivatives[0]
        target = field_of(record, field)
        if not target.flags.writeable:
            raise UnsupportedError(
                "the copy of a record is written to",
                "it has no memory that a derivative could be found by",
                "keep it in an array: a[i:i + 1].copy()",
            )
        return rule(
            (target, Ellipsis, v), (None if fr is None else field_of(fr, field), None, derivatives[2])
        )

    return set_field


def _copy_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return args[0].copy(), None if dargs[0] is None else record_array(dargs[0]).copy()[()]


def _copy_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    out = args[0].copy()
    f = fargs[0]
    if f is None:
        return out, None, lambda bout: (None,)
    fout = np.zeros((), out.dtype)

    def copy_pullback(bout: Any) -> Sequence[Any]:
        give_records(record_array(f), fout)
        return (None,)

    return out, fout[()], copy_pullback


def record_rows(setitem_frule: Any, setitem_rrule: Any) -> list[Rule]:
    """The rows of records; their fields are written as arrays, by the frule and rrule given."""
    return [
        Primitive(operator.getitem, frule=_getitem_frule, rrule=_getitem_rrule, when=_record),
        Primitive(np.void.__getitem__, frule=_getitem_frule, rrule=_getitem_rrule),
        ZeroRule(field_at),
        Overlay(np.void.getfield, _getfield),
        Overlay(np.void.setfield, _setfield),
        Overlay(np.ndarray.setfield, _setfield_of_all),
        Primitive(
            operator.setitem,
            frule=_record_setitem(setitem_frule),
            rrule=_record_setitem(setitem_rrule),
            when=lambda cls, *rest: issubclass(cls, np.void),
        ),
        *(
            Primitive(f, frule=_copy_frule, rrule=_copy_rrule, when=_record)
            for f in (np.generic.copy, np.generic.__copy__)
        ),
        Overlay(np.generic.__deepcopy__, _deepcopy, when=_record),
        *(Overlay(f, _iterate, when=_record) for f in (intrinsics._iter_, builtins.iter)),
    ]


def _iterate(record: Any, /) -> Any:
    values: list[Any] = []
    for i in range(len(record)):
        values.append(record[i])  # noqa: PERF401  # before 3.12 a comprehension is a function
    return iter(values)


def _deepcopy(record: Any, memo: Any = None, /) -> Any:
    return record.copy()


def field_at(x: Any, dtype: Any, offset: int) -> str:
    """The name of the field of `x`, a record or an array of such, that lies at `offset`.

    Raises `UnsupportedError` if what lies there is not a field of that dtype.
    """
    for name, field in (x.dtype.fields or {}).items():
        if field[0] == np.dtype(dtype) and field[1] == offset:
            return str(name)
    raise UnsupportedError(
        f"bytes of a {type(x).__name__} are read or written as {np.dtype(dtype)}",
        "the bytes mean something else there",
        "use the fields by their names, x['name']",
    )


def _getfield(record: Any, dtype: Any, offset: Any = 0, /) -> Any:
    return np.void.__getitem__(record, field_at(record, dtype, offset))


def _setfield(record: Any, value: Any, dtype: Any, offset: Any = 0, /) -> None:
    record[field_at(record, dtype, offset)] = value


def _setfield_of_all(x: Any, value: Any, dtype: Any, offset: Any = 0, /) -> None:
    if x.dtype.names is None and x.dtype == np.dtype(dtype) and offset == 0:
        x.view(np.ndarray)[...] = value  # all of the element
    else:
        x.view(np.ndarray)[field_at(x, dtype, offset)][...] = value


def _record(cls: type, *rest: type) -> bool:
    return cls is np.void


def records_setitem(args: Args, derivatives: Args, rule: Callable[..., Any]) -> list[tuple[int | None, Any]]:
    """Apply `rule` to each field written by ``u[index] = v`` to a structured array `u`; returns pairs of the
    index of the field's value in `v` (None: `v` itself, or memory of its own) and what `rule` gives."""
    u, index, v = args
    fu, _, fv = derivatives
    if isinstance(index, str):
        return [(None, rule((u[index], Ellipsis, v), (None if fu is None else fu[index], None, fv)))]
    names = u.dtype.names
    of_records = isinstance(v, (np.ndarray, np.void)) and v.dtype.names is not None
    if isinstance(v, list) or (isinstance(v, np.ndarray) and not of_records and v.dtype.kind in "OV"):
        raise UnsupportedError(
            "a list is written into a structured array",
            "adbc has no rule for that form",
            "write the fields one by one: u['name'] = values",
        )
    done = []
    for k, name in enumerate(names):
        place, value, f = None, v, fv
        if of_records:
            field = v.dtype.names[k]
            read = field_of if isinstance(v, np.void) else operator.getitem
            value, f = read(v, field), None if fv is None else read(fv, field)
        elif isinstance(v, tuple):
            place, value = k, v[k]
            f = fv[k] if type(fv) is tuple else fv
        shadow = None if fu is None else fu[name]
        if f is NO_TANGENT:
            f = None
        if not _has_numbers(u[name]):
            shadow = f = None
        done.append((place, rule((u[name], index, value), (shadow, None, f))))
    return done
