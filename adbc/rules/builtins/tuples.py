"""Tuples, plain and named.

A tuple has no address: its shadow is the tuple of its elements' shadows (None if all are), and what
it is owed comes back as a tuple of rdata.  A named tuple's are an `FData` and an `RData` with its
fields, so the rules for those go through the same code with other wrapping.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.intrinsics import EXHAUSTED
from adbc.rules.classes import builtin_data, has, inherits, integer, overrides
from adbc.rules.elements import OF_TUPLE, of_elements
from adbc.rules.list_halves import unpacking
from adbc.rules.sequences import ITERABLES, Source, fail, plain_slice, symbolic, tangents_of
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import NO_TANGENT, RData, add, fill_tangent, slot_rdata

__all__ = ["ROWS", "tuple_shadow", "tuple_tangent"]


def tuple_shadow(shadows: Sequence[Any]) -> Any:
    """The shadow of a tuple of values whose shadows are given."""
    return tuple(shadows) if any(f is not None for f in shadows) else None


def tuple_tangent(values: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The tangent of a tuple of `values`, given theirs: None if all of these are zero."""
    if all(d is None for d in tangents):
        # a mutable element with a zero tangent came with it; what came with None is constant
        return None
    return tuple([fill_tangent(v, d) for v, d in zip(values, tangents, strict=True)])


def _index(x: Any, fdata: Any, i: Any) -> Any:
    """The element at `i` of `fdata`, the shadow or tangent of tuple `x`; None if there is none."""
    if fdata is None or fdata is NO_TANGENT:
        return None
    if isinstance(fdata, tuple):
        return fdata[i]
    return getattr(fdata, type(x)._fields[i], None)


def _rdata(x: Any, parts: list[Any]) -> Any:
    """The rdata of tuple `x` with these parts."""
    if all(r is None for r in parts):
        return None
    fields = getattr(type(x), "_fields", None)
    return tuple(parts) if fields is None else RData(**dict(zip(fields, parts, strict=True)))


def _elements(x: Any, fdata: Any) -> list[Any]:
    return [_index(x, fdata, i) for i in range(len(x))]


def _getitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    x, i = args
    return x[i], symbolic(_index(x, dargs[0], i))


def _getitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    x, i = args
    width = len(args)

    def getitem_pullback(bout: Any) -> Sequence[Any]:
        if bout is None:
            return (None,) * width
        parts = [None] * len(x)
        parts[i] = bout
        return (_rdata(x, parts), *(None,) * (width - 1))

    return x[i], _index(x, fargs[0], i), getitem_pullback


def _getitem_forwards(x: Any, i: Any, fx: Any, fi: Any) -> tuple[Any, Any, Any]:
    if fx is None:
        return x[i], None, None
    return x[i], _index(x, fx, i), (x, i)


def _getitem_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None or bout is None:
        return None, None
    x, i = saved
    parts = [None] * len(x)
    parts[i] = bout
    return tuple(parts) if type(x) is tuple else _rdata(x, parts), None


_GETITEM = (Halves(2, _getitem_forwards, _getitem_backwards),)


def _getslice_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    x, where = args[0], plain_slice(args[1])
    out = x[where]
    return out, tuple_tangent(out, [symbolic(t) for t in _elements(x, dargs[0])[where]])


def _getslice_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    x: tuple[Any, ...] = args[0]
    where = plain_slice(args[1])

    def getslice_pullback(bout: Any) -> Sequence[Any]:
        if bout is None:
            return None, None
        parts = [None] * len(x)
        for i, r in zip(range(len(x))[where], bout, strict=True):
            parts[i] = r
        return _rdata(x, parts), None

    return x[where], tuple_shadow(_elements(x, fargs[0])[where]), getslice_pullback


def _add_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    x, y = args
    tangents = [symbolic(t) for z, d in zip(args, dargs, strict=True) for t in _elements(z, d)]
    out = x + y
    return out, tuple_tangent(out, tangents)


def _add_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    x, y = args
    fx, fy = fargs

    def add_pullback(bout: Any) -> Sequence[Any]:
        if bout is None:
            return None, None
        return _rdata(x, list(bout[: len(x)])), _rdata(y, list(bout[len(x) :]))

    return x + y, tuple_shadow(_elements(x, fx) + _elements(y, fy)), add_pullback


def _repeat(which: int) -> tuple[Any, Any]:
    """The pair of rules of ``x * n`` (if `which` is 0) or of ``n * x`` (if it is 1), for a tuple `x`."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        x, times = args[which], args[1 - which]
        out = x * times
        return out, tuple_tangent(out, [symbolic(t) for t in _elements(x, dargs[which])] * times)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        x, times = args[which], args[1 - which]
        shadows = _elements(x, fargs[which])

        def repeat_pullback(bout: Any) -> Sequence[Any]:
            if bout is None:
                return None, None
            size = len(x)
            parts = list(bout[:size])
            for i in range(size, len(bout)):
                parts[i % size] = add(parts[i % size], bout[i])
            given = _rdata(x, parts)
            return (given, None) if which == 0 else (None, given)

        return x * times, tuple_shadow(shadows * times), repeat_pullback

    return frule, rrule


# -- making and taking apart ----------------------------------------------------------------------------


def _tuple_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    x = args[0]
    return tuple(x), tuple_tangent(x, _tangents(x, dargs[0]))


def _tangents(x: Any, d: Any) -> list[Any]:
    """The tangents of the elements of `x`, None for zero; only lists and tuples have active ones."""
    if d is None or not isinstance(x, (list, tuple)):
        return [None] * len(x)
    return [symbolic(t) for t in (d if isinstance(d, (list, tuple)) else _elements(x, d))]


def _tuple_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    source = Source(args[0], fargs[0])
    rest = (None,) * (len(args) - 1)

    def tuple_pullback(bout: Any) -> Sequence[Any]:
        return (None if bout is None else source.give(bout), *rest)

    return tuple(source.values), tuple_shadow(source.shadows), tuple_pullback


def _unpack_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = intrinsics._unpack_(*args)
    return out, tuple_tangent(out, _tangents(args[0], dargs[0]))


def _unpack_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    intrinsics._unpack_(*args)  # for its errors
    return _tuple_rrule(args, fargs, kwargs)


def _unpack_ex_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    sequence, before, after = args
    out = intrinsics._unpack_ex_(sequence, before, after)
    tangents, end = tangents_of(sequence, dargs[0]), len(sequence) - after
    return out, (*tangents[:before], tangents[before:end], *tangents[end:])


def _unpack_ex_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    sequence, before, after = args
    out = intrinsics._unpack_ex_(sequence, before, after)
    source, end = Source(sequence, fargs[0]), len(sequence) - after
    starred = source.tangents()[before:end]

    def unpack_ex_pullback(bout: Any) -> Sequence[Any]:
        given = (None,) * (before + 1 + after) if bout is None else bout
        middle = [slot_rdata(t) for t in starred]
        return source.give((*given[:before], *middle, *given[before + 1 :])), None, None

    return out, (*source.shadows[:before], starred, *source.shadows[end:]), unpack_ex_pullback


def _unpack_ex_any(sequence: Any, before: int, after: int) -> tuple[Any, ...]:
    """`intrinsics._unpack_ex_` step by step: Python code that hands out the elements sees the same."""
    if not hasattr(type(sequence), "__iter__") and not hasattr(type(sequence), "__getitem__"):
        fail(intrinsics._unpack_ex_, sequence, before, after)
    iterator = iter(sequence)
    first: list[Any] = []
    while len(first) < before:
        value = intrinsics._next_(iterator)
        if value is EXHAUSTED:
            fail(intrinsics._unpack_ex_, first, before, after)
        first.append(value)
    rest = list(iterator)
    if len(rest) < after:
        fail(intrinsics._unpack_ex_, first + rest, before, after)
    end = len(rest) - after
    return (*first, rest[:end], *rest[end:])


def _unpack_any(sequence: Any, count: int) -> tuple[Any, ...]:
    if not hasattr(type(sequence), "__iter__") and not hasattr(type(sequence), "__getitem__"):
        fail(intrinsics._unpack_, sequence, count)
    values: list[Any] = []
    for value in sequence:
        values.append(value)
        if len(values) > count:
            break  # no more are taken: there may be any number of them
    return intrinsics._unpack_(values, count)


def _unpack_container(sequence: Any, count: int) -> tuple[Any, ...]:
    return intrinsics._unpack_(list(sequence), count)


def _is_container(cls: type, count: type) -> bool:
    """Whether instances of `cls` hold as many elements as C code says, and no Python code hands them out."""
    return has(cls, "__len__") and not any(
        overrides(cls, name) for name in ("__len__", "__iter__", "__getitem__", "__length_hint__")
    )


def _project_any(cls: type, *index: type) -> bool:
    return cls is tuple or issubclass(cls, tuple)


def _named(cls: type) -> bool:
    return issubclass(cls, tuple) and (cls is tuple or inherits(cls, "__getitem__", tuple))


def _indexed(cls: type, index: type) -> bool:
    return _named(cls) and integer(index)


def _sliced(cls: type, index: type) -> bool:
    return _named(cls) and index is slice


def _joins(cls: type) -> bool:
    """Whether ``+`` of an instance is that of tuples, on either side and in place."""
    return _named(cls) and not any(overrides(cls, name) for name in ("__add__", "__radd__", "__iadd__"))


def _repeats(cls: type) -> bool:
    """Whether ``*`` of an instance is that of tuples, on either side and in place."""
    return _named(cls) and not any(overrides(cls, name) for name in ("__mul__", "__rmul__", "__imul__"))


def _two(*classes: type) -> bool:
    return all(map(_joins, classes))


def _times(cls: type, other: type, *rest: type) -> bool:
    return _repeats(cls) and integer(other)


def _times_reflected(cls: type, other: type, *rest: type) -> bool:
    return _repeats(other) and integer(cls)


def _is_indexed_in_c(cls: type, *rest: type) -> bool:
    return cls is list or cls is tuple


def _iterable(cls: type, *rest: type) -> bool:
    return cls in ITERABLES and cls is not dict and cls is not set


def _searches(cls: type, value: type, *rest: type) -> bool:
    return cls is tuple and builtin_data(value)


def _pairs(
    functions: Sequence[Any],
    frule: Any,
    rrule: Any,
    when: Any,
    result: Any = None,
    halves: Sequence[Halves] = (),
) -> list[Rule]:
    return [
        Primitive(f, frule=frule, rrule=rrule, is_fitted=True, halves=halves, when=when, result=result)
        for f in functions
    ]


ROWS: list[Rule] = [
    ZeroRule(fail),
    *of_elements(
        OF_TUPLE,
        *_pairs(
            (operator.getitem, tuple.__getitem__), _getitem_frule, _getitem_rrule, _indexed, halves=_GETITEM
        ),
    ),
    *_pairs((operator.getitem, tuple.__getitem__), _getslice_frule, _getslice_rrule, _sliced, tuple),
    *_pairs((intrinsics._project_,), _getitem_frule, _getitem_rrule, _project_any),
    *_pairs(
        (operator.add, operator.iadd, operator.concat, tuple.__add__), _add_frule, _add_rrule, _two, tuple
    ),
    *_pairs((operator.mul, operator.imul, tuple.__mul__), *_repeat(0), _times, tuple),
    *_pairs((operator.mul, operator.imul), *_repeat(1), _times_reflected, tuple),
    *_pairs((intrinsics._list_to_tuple_,), _tuple_frule, _tuple_rrule, lambda cls: cls is list, tuple),
    *_pairs(
        (intrinsics._unpack_,),
        _unpack_frule,
        _unpack_rrule,
        _iterable,
        tuple,
        halves=unpacking(_unpack_rrule),
    ),
    Overlay(intrinsics._unpack_, _unpack_container, when=_is_container, result=tuple),
    Overlay(intrinsics._unpack_, _unpack_any, result=tuple),
    *_pairs((intrinsics._unpack_ex_,), _unpack_ex_frule, _unpack_ex_rrule, _is_indexed_in_c, tuple),
    Overlay(intrinsics._unpack_ex_, _unpack_ex_any, result=tuple),
    ZeroRule(tuple.index, when=_searches, result=int),
    ZeroRule(tuple.count, when=_searches, result=int),
]
