"""``x.flat``: an array read and written element by element, in the order of C.

The shadow of the iterator is the shadow of the array, at the place where the iterator is
(`tangents.array_iterators.FlatIterator`).  A value that is written is repeated, or cut off, as NumPy does it:
which of its elements stands where is found by sending their numbers the same way.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.builtins.iteration import next_frule, next_rrule
from adbc.rules.classes import stands_for_position
from adbc.rules.numpy.base import (
    array_part,
    check_writable,
    gather,
    gather_tangent,
    give,
    is_plain,
    new_shadow,
    refuse_opaque,
)
from adbc.rules.numpy.indexing import mutating
from adbc.rules.numpy.object_numbers import written_tangent
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import NO_FDATA, NO_TANGENT, fresh_tangent, project
from adbc.tangents.array_iterators import FlatIterator

__all__ = ["ROWS"]


def _nothing(bout: Any) -> Sequence[Any]:
    return (None,)


def _flat_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = args[0].flat
    dx = array_part(dargs[0])
    return out, None if dx is None else FlatIterator(dx, 0)


def _flat_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return *_flat_frule(args, fargs), _nothing


def _refuse_instance(x: Any) -> None:
    """Raise if `x`, which comes out of an iterator with a derivative, is an instance of a subclass: the
    shadow of the iterator has only the shadow of the array."""
    if isinstance(x, np.ndarray) and type(x) is not np.ndarray:
        raise UnsupportedError(
            f"the iterator x.flat of a {type(x).__name__} gives another",
            "adbc has no rule for that form",
            "iterate over the array: np.asarray(x).flat",
        )


def _base_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    if dargs[0] is not None:
        _refuse_instance(args[0].base)
    return args[0].base, None if dargs[0] is None else dargs[0].array


def _base_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return *_base_frule(args, fargs), _nothing


# -- reading ---------------------------------------------------------------------------------------------


def _places(it: Any, index: Any) -> Any:
    """The places, in the order of C, of the elements that ``it[index]`` gives."""
    places = np.arange(it.base.size)
    return np.atleast_1d(places[index] if isinstance(index, int) else places.flat[index])


def _line(x: Any, places: Any) -> tuple[Any, Any]:
    """`x` and the subscript of its elements at `places`; an array without an axis is seen with one."""
    seen = x if x.ndim else x.reshape(1)
    return seen, np.unravel_index(places, seen.shape)


def _getitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    it, index = args
    out = it[index]
    if dargs[0] is None:
        return out, fresh_tangent(out)
    refuse_opaque(it.base)
    _refuse_instance(out)
    dargs[0].index = it.index  # a subscript sends the iterator back to the start
    return out, dargs[0].array.flat[index]


def _getitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    it, index = args
    out = it[index]
    if fargs[0] is None:
        return out, new_shadow(out, False), lambda bout: (None, None)
    refuse_opaque(it.base)
    _refuse_instance(out)
    f = fargs[0].array
    fargs[0].index = it.index  # a subscript sends the iterator back to the start
    if not isinstance(out, np.ndarray):

        def element_pullback(bout: Any) -> Sequence[Any]:
            if bout is not None:
                f.flat[index] = f.flat[index] + project(bout, out)
            return None, None

        return out, NO_FDATA, element_pullback
    fout = new_shadow(out, True)

    def gather_pullback(bout: Any) -> Sequence[Any]:
        np.add.at(*_line(f, _places(it, index)), fout.reshape(-1))
        return None, None

    return out, fout, gather_pullback


# -- writing ---------------------------------------------------------------------------------------------


def _numbers(it: Any, index: Any, value: Any) -> tuple[Any, Any]:
    """The places that ``it[index] = value`` writes to, and for each the number of the element of `value`."""
    overlaps = isinstance(value, np.ndarray) and np.may_share_memory(it.base, value)
    # What is assigned itself does not change.
    if overlaps and not _is_itself_whole(it.base, index, value):
        raise UnsupportedError(
            "x.flat is assigned values that lie in the memory of x",
            "they change while they are read",
            "assign a copy of them: x.flat = v.copy()",
        )
    places = _places(it, index)
    return places, np.resize(np.arange(np.size(value)), places.shape)


def _is_itself_whole(x: Any, index: Any, value: Any) -> bool:
    """Whether ``x.flat[index] = value`` writes all elements of `x` to where they are."""
    return (
        type(index) is slice
        and index == slice(None)
        and value.dtype == x.dtype
        and value.shape == x.shape
        and value.strides == x.strides
        and value.__array_interface__["data"] == x.__array_interface__["data"]
    )


def _setitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    it, index, v = args
    f = None if dargs[0] is None else dargs[0].array
    dv = written_tangent(v, gather_tangent(v, dargs[2]))
    check_writable(it.base, f, dv is not None)
    places, numbers = _numbers(it, index, v)
    it[index] = v
    if f is not None:
        dargs[0].index = it.index
    if f is not None and places.size:
        new: Any = 0 if dv is None else np.ravel(dv)[numbers]
        seen, where = _line(f, places)
        seen[where] = np.real(new) if not np.iscomplexobj(f) else new
    return None, None


def _setitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    it, index, v = args
    f, fv = None if fargs[0] is None else fargs[0].array, fargs[2]
    check_writable(it.base, f, fv is not None)
    places, numbers = _numbers(it, index, v)
    x, where = _line(it.base, places)
    old = x[where]
    it[index] = v
    if f is not None:
        fargs[0].index = it.index

    def flat_pullback(bout: Any) -> Sequence[Any]:
        x[where] = old
        if f is None:
            return None, None, None
        given_back, _ = _line(f, places)
        b = given_back[where]
        given_back[where] = 0
        if fv is None or not places.size:
            return None, None, None
        last = np.zeros(x.size, np.intp)
        last[places] = np.arange(places.size)  # of repeated places only the last value stays
        given = np.zeros(np.size(v), b.dtype)
        np.add.at(given, numbers, np.where(last[places] == np.arange(places.size), b, 0))
        return None, None, give(fv, v, given.reshape(np.shape(gather(v))))

    return None, None, flat_pullback


def _assign(x: Any, value: Any, /) -> None:
    """The body of ``x.flat = value``."""
    x.flat[:] = value


def _copied(it: Any, /) -> Any:
    return it[:]


def _itself(it: Any, /) -> Any:
    return it


def _array_of(it: Any, *args: Any, **kwargs: Any) -> Any:
    """``np.array(x.flat, ...)``."""
    return np.array(it[:], *args, **kwargs)


def _shown_as(convert: Any) -> Any:
    """The body of `convert`, ``np.asarray`` or its like, of ``x.flat``: the memory of `x`, where that lies in
    the order of the iterator."""

    def body(it: Any, *args: Any, **kwargs: Any) -> Any:
        x = it.base
        if not x.flags.c_contiguous:
            raise UnsupportedError(
                f"numpy.{convert.__name__} is asked for an array of x.flat, where x is not contiguous",
                "what is written into it comes to stand in x when it dies",
                "take a copy, x.ravel()",
            )
        return convert(x.reshape(-1), *args, **kwargs)

    return body


# -- setting parts of complex arrays ----------------------------------------------------------------------


def _set_real(x: Any, value: Any, /) -> None:
    x.real[...] = value


def _set_imag(x: Any, value: Any, /) -> None:
    if not np.iscomplexobj(x):
        raise TypeError("array does not have imaginary part to set")
    x.imag[...] = value


def _geometry(name: str, write: Any) -> Rule:
    """The row of `write`, which sets the shape, strides or dtype of an array in place.

    An array's shadow keeps its own, which others may have too, and code that knows the number of axes keeps
    that; the shadow of an instance of a subclass belongs to the instance alone, and may get another array.
    """
    read = vars(np.ndarray)[name].__get__

    def set_both(args: Args, derivatives: Args) -> tuple[Any, Any]:
        x, value = args
        shadow = derivatives[0]
        part = getattr(shadow, "array", shadow)
        old = read(x)
        write(x, value)
        has_part = part is not None and part is not NO_TANGENT
        if old == read(x) or not (has_part or (type(x) is np.ndarray and _is_told_by_type(name, old, x))):
            return old, None
        if type(x) is np.ndarray or name != "shape":
            write(x, old)
            raise UnsupportedError(
                f"the {name} of an array that is differentiated, or its number of axes, is set in place",
                "its derivative would keep the old one",
                "use x = x.reshape(shape), or make a view",
            )
        shadow.array = part.reshape(read(x))  # type: ignore[union-attr]  # there is a part
        return old, part

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        set_both(args, dargs)
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        old, part = set_both(args, fargs)

        def geometry_pullback(bout: Any) -> Sequence[Any]:
            write(args[0], old)
            if part is not None:
                fargs[0].array = part
            return None, None

        return None, None, geometry_pullback

    return mutating(Primitive(write, frule=frule, rrule=rrule, when=_is_any_array))


def _is_told_by_type(name: str, old: Any, x: Any) -> bool:
    """Whether what was set in array `x` is something else for code that knows the dtype and the number of
    axes beforehand, where `old` was there before."""
    return name == "dtype" or (name == "shape" and len(old) != x.ndim)


def _is_any_array(cls: type, *value: type) -> bool:
    return issubclass(cls, np.ndarray)


def _setter(name: str) -> Any:
    """The method of arrays that sets attribute `name`."""
    return vars(np.ndarray)[name].__set__


def _is_array(cls: type, *value: type) -> bool:
    return cls is np.ndarray


def _is_like_array(cls: type) -> bool:
    # The elements of an instance of a subclass are those of an array; its slices are refused.
    return issubclass(cls, np.ndarray)


def _read(cls: type, index: type) -> bool:
    return cls is np.flatiter and not stands_for_position(index)


def _written(cls: type, index: type, value: type) -> bool:
    return cls is np.flatiter and is_plain(value) and not stands_for_position(index)


def _flat(cls: type, *rest: type) -> bool:
    return cls is np.flatiter


ROWS: list[Rule] = [
    Primitive(np.ndarray.flat, frule=_flat_frule, rrule=_flat_rrule, when=_is_like_array),
    Primitive(np.flatiter.base, frule=_base_frule, rrule=_base_rrule),
    Primitive(operator.getitem, frule=_getitem_frule, rrule=_getitem_rrule, when=_read),
    mutating(Primitive(operator.setitem, frule=_setitem_frule, rrule=_setitem_rrule, when=_written)),
    Overlay(_setter("flat"), _assign, when=_is_array),
    Overlay(_setter("real"), _set_real, when=_is_array),
    Overlay(_setter("imag"), _set_imag, when=_is_array),
    *(_geometry(name, _setter(name)) for name in ("shape", "strides", "dtype")),
    *(
        _geometry(name, getattr(np.ndarray, f"_set_{name}"))  # for NumPy itself, from 2.5 on
        for name in ("shape", "dtype")
        if hasattr(np.ndarray, f"_set_{name}")
    ),
    *(Overlay(f, _itself, when=_flat) for f in (intrinsics._iter_, builtins.iter)),
    Primitive(intrinsics._next_, frule=next_frule, rrule=next_rrule, when=_flat),
    Overlay(np.flatiter.copy, _copied),
    *(Overlay(f, _array_of, when=_flat) for f in (np.array, np.copy)),
    *(Overlay(f, _shown_as(f), when=_flat) for f in (np.asarray, np.asanyarray)),
    *(ZeroRule(getattr(operator, n), when=_flat) for n in ("eq", "ne", "lt", "le", "gt", "ge")),
]
