"""Lists: subscripts, methods, concatenation.

The shadow of a list is the list of its elements' tangents.  The forwards pass changes the shadow's
*structure* in step with the list (which object sits where), never the numbers in it; the pullback
undoes both exactly.  What changes the length or the order does so to three lists at once: to the
list, to its shadow, and to a list of indices that thereby records where each slot came from
(`_Change`).  The commonest (subscripts with an int, append, extend, pop) are written out instead,
as they need not copy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import builtin_data, class_of_first, integer, list_like, overrides
from adbc.rules.elements import OF_LIST, of_elements
from adbc.rules.list_halves import APPEND, INSERT, POP, STORE, concatenating, copying, extending
from adbc.rules.sequences import (
    ITERABLES,
    Source,
    check_constant,
    emptied,
    gathered,
    nothing,
    out_of_step,
    plain_slice,
    refuse_constant,
    symbolic,
    tangents_of,
)
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import (
    MutableTangent,
    add,
    fill_tangent,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
)

__all__ = ["ROWS", "getitem_frule", "getitem_rrule", "setitem_frule", "setitem_rrule"]


def _rows(
    functions: Iterable[Any], frule: Any, rrule: Any, when: Any, result: Any = None, **more: Any
) -> list[Rule]:
    options = {"frule": frule, "rrule": rrule, "is_fitted": True, "when": when, "result": result, **more}
    return [Primitive(f, **options) for f in functions]


def _inlined(kind: str, rows: list[Rule]) -> list[Rule]:
    """Return `rows`, marked as ones that builders may write inline (`Rule.inline`)."""
    for row in rows:
        row.inline = kind
    return rows


def _mirrored(rows: list[Rule]) -> list[Rule]:
    """Return `rows`, marked as ones whose tangent builders may write inline (`Rule.mirrored`)."""
    for row in rows:
        row.mirrored = True
    return rows


def _with_halves(rows: list[Rule], halves: Sequence[Halves]) -> list[Rule]:
    for row in rows:
        row.halves = halves
    return rows


def _indexed(cls: type, index: type, *value: type) -> bool:
    return list_like(cls) and integer(index)


def _sliced(cls: type, index: type, *value: type) -> bool:
    return list_like(cls) and index is slice and all(c in ITERABLES for c in value)


# -- a[i] ---------------------------------------------------------------------------------------------


def getitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, i = args
    da = dargs[0]
    out = a[i]
    if da is None:
        return out, None
    if len(da) != len(a):
        raise out_of_step(a)
    return out, symbolic(da[i])


def getitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, i = args
    fa = fargs[0]
    out = a[i]
    if fa is None:
        return out, None, nothing(2)
    if len(fa) != len(a):
        raise out_of_step(a)

    def getitem_pullback(bout: Any) -> Sequence[Any]:
        if bout is not None:
            fa[i] = slot_increment(fa[i], bout)
        return None, None

    return out, slot_shadow(fa[i]), getitem_pullback


def _getslice_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    where = plain_slice(args[1])
    out = args[0][where]
    return out, [fill_tangent(x, None) for x in out] if dargs[0] is None else dargs[0][where]


_NOTHING = nothing(2)
_OBJECTS = frozenset({MutableTangent, list, dict})
"""The classes of tangents that are objects, whatever their primals are."""


def _getslice_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a: list[Any] = args[0]
    where = plain_slice(args[1])
    fa = fargs[0]
    out = a[where]
    if fa is None:
        return out, [slot_tangent(x, None) for x in out], nothing(2)
    fout = fa[where]
    if _OBJECTS.issuperset(map(type, fout)) and len(fout) == len(out):
        return out, fout, _NOTHING  # they keep their cotangents themselves
    fout = [emptied(x, t) for x, t in zip(out, fout, strict=True)]

    def getslice_pullback(bout: Any) -> Sequence[Any]:
        for i, t in zip(range(len(a))[where], fout, strict=True):
            r = slot_rdata(t)
            if r is not None:
                fa[i] = slot_increment(fa[i], r)
        return None, None

    return out, fout, getslice_pullback


def _getslice_forwards(a: Any, where: Any, fa: Any, fwhere: Any) -> tuple[Any, Any, Any]:
    out = a[plain_slice(where)]
    if (fa is None or len(fa) == len(a)) and _FLOATS.issuperset(map(type, out)):
        fout = [0.0] * len(out)
        return out, fout, None if fa is None else (fa, where, fout)
    out, fout, pullback = _getslice_rrule((a, where), (fa, fwhere))
    return out, fout, None if pullback is _NOTHING else pullback


def _getslice_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return None, None
    if saved.__class__ is not tuple:
        return saved(bout)  # type: ignore[no-any-return]  # a pullback
    fa, where, fout = saved
    places: Any = range(len(fa))
    for i, t in zip(places[where], fout, strict=True):
        s = fa[i]
        fa[i] = s + t if s.__class__ is float else slot_increment(s, t)
    return None, None


_FLOATS = frozenset({float})
_GETSLICE = (Halves(2, _getslice_forwards, _getslice_backwards),)


# -- a[i] = v -----------------------------------------------------------------------------------------


def setitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, i, v = args
    da, _, dv = dargs
    if da is None:
        refuse_constant(a, dv)
    a[i] = v
    if da is not None:
        da[i] = fill_tangent(v, dv)
    return None, None


def setitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, i, v = args
    fa, _, fv = fargs
    if fa is None:
        refuse_constant(a, fv)
    if not -len(a) <= i < len(a):
        a[i] = v  # for the error
    old = a[i]
    a[i] = v
    if fa is None:

        def constant_pullback(bout: Any) -> Sequence[Any]:
            a[i] = old
            return None, None, None

        return None, None, constant_pullback

    before = fa[i]
    if not (type(old) is float and type(v) is float):
        fa[i] = slot_tangent(v, fv)

    def setitem_pullback(bout: Any) -> Sequence[Any]:
        bv = slot_rdata(fa[i])
        fa[i] = emptied(old, before)
        a[i] = old
        return None, None, None if fv is None else bv

    return None, None, setitem_pullback


# -- changes of length and order ------------------------------------------------------------------------


class _Change:
    """A change of the list `a`, given as ``change(list, values)``, applied to it and to its shadow."""

    def __init__(
        self, a: list[Any], fa: Any, change: Callable[[list[Any], list[Any]], Any], new: Source
    ) -> None:
        if fa is None:
            refuse_constant(a, *new.shadows)
        self.a, self.fa, self.new = a, fa, new
        self.before = a[:]
        change(a, new.values)
        if fa is not None:
            self.shadows = fa[:]
            change(fa, new.tangents())
            # where each slot came from: an old index, or the bitwise complement of a new value's
            self.origin = list(range(len(self.before)))
            change(self.origin, [~k for k in range(len(new.values))])

    def undo(self) -> Any:
        """Put everything back; returns the rdata of the argument that held the new values."""
        a, fa = self.a, self.fa
        a[:] = self.before
        if fa is None:
            return None
        after = fa[:]
        fa[:] = [emptied(x, t) for x, t in zip(self.before, self.shadows, strict=True)]
        given: list[Any] = [None] * len(self.new.values)
        for t, origin in zip(after, self.origin, strict=True):
            r = slot_rdata(t)
            if r is None:
                continue
            if origin >= 0:
                fa[origin] = slot_increment(fa[origin], r)
            else:
                given[~origin] = add(given[~origin], r)
        return self.new.give(given)


_NO_VALUES: list[Any] = []


def _changing(function: Any, change: Callable[..., Any], when: Any) -> list[Rule]:
    """The rows of `function`, which changes a list, without new values, by ``change(list, *arguments)``."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        change(args[0], *args[1:])
        if dargs[0] is not None:
            change(dargs[0], *args[1:])
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        changed = _Change(args[0], fargs[0], lambda a, new: change(a, *args[1:]), Source((), None))

        def changing_pullback(bout: Any) -> Sequence[Any]:
            changed.undo()
            return (None,) * len(args)

        return None, None, changing_pullback

    return [Primitive(f, frule=frule, rrule=rrule, when=when) for f in function]


def _setslice_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, where, values = args
    plain_slice(where)
    da, _, dvalues = dargs
    if da is None:
        refuse_constant(a, dvalues)
    tangents = tangents_of(values, dvalues)
    a[where] = values
    if da is not None:
        da[where] = tangents
    return None, None


def _setslice_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, where, values = args
    plain_slice(where)

    def change(target: list[Any], new: list[Any]) -> None:
        target[where] = new

    changed = _Change(a, fargs[0], change, Source(values, fargs[2]))
    return None, None, lambda bout: (None, None, changed.undo())


def _insert_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, i, v = args
    da, _, dv = dargs
    check_constant(a, da, dv)
    type(a).insert(a, i, v)
    if da is not None:
        da.insert(i, fill_tangent(v, dv))
    return None, None


def _insert_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, i, v = args
    fa, _, fv = fargs
    check_constant(a, fa, fv)
    at = max(0, len(a) + i) if i < 0 else min(i, len(a))
    type(a).insert(a, at, v)
    if fa is not None:
        fa.insert(at, slot_tangent(v, fv))

    def insert_pullback(bout: Any) -> Sequence[Any]:
        del a[at]
        bv = None if fa is None else slot_rdata(fa.pop(at))
        return None, None, None if fv is None else bv

    return None, None, insert_pullback


def _append_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, v = args
    da, dv = dargs
    if da is None:
        refuse_constant(a, dv)
    type(a).append(a, v)
    if da is not None:
        da.append(fill_tangent(v, dv))
    return None, None


def _append_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, v = args
    fa, fv = fargs
    if fa is None:
        refuse_constant(a, fv)
    type(a).append(a, v)
    if fa is not None:
        fa.append(slot_tangent(v, fv))

    def append_pullback(bout: Any) -> Sequence[Any]:
        del a[-1]
        bv = None if fa is None else slot_rdata(fa.pop())
        return None, None if fv is None else bv

    return None, None, append_pullback


def _extend(returns: bool) -> tuple[Any, Any]:
    """The pair of rules of ``a += values`` if it `returns` the list, else of ``a.extend(values)``."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        a, values = args
        da, dvalues = dargs
        if da is None:
            refuse_constant(a, dvalues)
        tangents = tangents_of(values, dvalues)
        type(a).extend(a, values)
        if da is not None:
            da.extend(tangents)
        return (a, da) if returns else (None, None)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        a, values = args
        fa, fvalues = fargs
        source = Source(values, fvalues)
        if fa is None:
            refuse_constant(a, *source.shadows)
        size = len(a)
        type(a).extend(a, source.values)
        if fa is not None:
            fa.extend(source.tangents())

        def extend_pullback(bout: Any) -> Sequence[Any]:
            del a[size:]
            if fa is None:
                return None, None
            terms = [slot_rdata(t) for t in fa[size:]]
            del fa[size:]
            return None, source.give(terms)

        return (a, fa, extend_pullback) if returns else (None, None, extend_pullback)

    return frule, rrule


def _pop_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, where = args[0], args[1:]
    if dargs[0] is not None and len(dargs[0]) != len(a):
        raise out_of_step(a)
    out = type(a).pop(a, *where)
    return out, None if dargs[0] is None else symbolic(dargs[0].pop(*where))


def _pop_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, where = args[0], args[1:]
    fa = fargs[0]
    at = operator.index(where[0]) if where else -1
    if fa is not None and len(fa) != len(a):
        raise out_of_step(a)
    out = type(a).pop(a, at)
    if at < 0:
        at += len(a) + 1
    before = None if fa is None else fa.pop(at)

    def pop_pullback(bout: Any) -> Sequence[Any]:
        type(a).insert(a, at, out)
        if fa is not None:
            t = emptied(out, before)
            fa.insert(at, t if bout is None else slot_increment(t, bout))
        return (None,) * len(args)

    return out, None if fa is None else slot_shadow(before), pop_pullback


def _remove(a: list[Any], value: Any, /) -> None:
    # an overlay: which element it is does not depend smoothly on anything
    del a[a.index(value)]


def _imul_change(times: int) -> Callable[[list[Any], list[Any]], None]:
    def change(target: list[Any], new: list[Any]) -> None:
        target *= times

    return change


def _imul_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, times = args
    a *= times
    da = dargs[0]
    if da is not None:
        da *= times
    return a, da


def _imul_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, times = args
    changed = _Change(a, fargs[0], _imul_change(times), Source((), None))

    def imul_pullback(bout: Any) -> Sequence[Any]:
        changed.undo()
        return None, None

    return a, fargs[0], imul_pullback


# -- new lists ----------------------------------------------------------------------------------------


def _concatenate_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return args[0] + args[1], tangents_of(args[0], dargs[0]) + tangents_of(args[1], dargs[1])


def _concatenate_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = args[0] + args[1]
    fout, give = gathered(out, [Source(x, f) for x, f in zip(args, fargs, strict=True)])
    return out, fout, lambda bout: give()


def _repeated_floats(size: int, shadow: Any, count: int) -> tuple[Any, Any]:
    """The shadow of `count` floats, which are those of a list of that `size`, with that `shadow`, over and
    over again, and the pullback."""
    fout = [0.0] * count

    def floats_pullback(bout: Any) -> Sequence[Any]:
        if shadow is not None and fout:
            for i in range(size):
                shadow[i] = shadow[i] + sum(fout[i::size])
        return None, None

    return fout, floats_pullback


def _repeat(which: int) -> tuple[Any, Any]:
    """The pair of rules of ``a * n`` (if `which` is 0) or of ``n * a`` (if it is 1), for a list `a`."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        a, times = args[which], args[1 - which]
        return a * times, tangents_of(a, dargs[which]) * times

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        a, times = args[which], args[1 - which]
        out = a * times
        if set(map(type, a)) == {float}:
            return out, *_repeated_floats(len(a), fargs[which], len(out))
        source = Source(a, fargs[which])
        fout = [t for _ in range(times) for t in source.tangents()]

        def repeat_pullback(bout: Any) -> Sequence[Any]:
            size = len(source.values)
            for start in range(0, len(fout), size or 1):
                source.give([slot_rdata(t) for t in fout[start : start + size]])
            return None, None

        return out, fout, repeat_pullback

    return frule, rrule


def _copy_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return list(args[0]), tangents_of(args[0], dargs[0])


def _copy_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = list(args[0])
    fout, give = gathered(out, [Source(args[0], fargs[0])])
    return out, fout, lambda bout: give()


def _delete(a: list[Any], where: Any) -> None:
    del a[where]


def _two_lists(*classes: type) -> bool:
    return len(classes) == 2 and all(map(list_like, classes))


def _list_times(cls: type, other: type, *rest: type) -> bool:
    return list_like(cls) and integer(other)


def _times_list(cls: type, other: type, *rest: type) -> bool:
    return list_like(other) and integer(cls)


def _unless(names: tuple[str, ...], when: Callable[..., bool]) -> Callable[..., bool]:
    """The predicate `when` for an operator, which asks methods of these names first if they are in Python."""
    return lambda left, right: (
        when(left, right) and not any(overrides(cls, name) for cls in (left, right) for name in names)
    )


def _list_and_iterable(*classes: type) -> bool:
    return len(classes) == 2 and list_like(classes[0]) and classes[1] in ITERABLES


def _list_and_numbers(cls: type, other: type) -> bool:
    """Whether ``a += b`` of these classes adds as NumPy does, whose objects are numbers first of all."""
    return list_like(cls) and hasattr(other, "__array_interface__") and hasattr(other, "__radd__")


def _added(a: Any, b: Any, /) -> Any:
    return a + b


def _only_list(*classes: type) -> bool:
    return len(classes) == 1 and list_like(classes[0])


def _inserts(cls: type, index: type, *value: type) -> bool:
    return list_like(cls) and integer(index)


def _pops(cls: type, *index: type) -> bool:
    return list_like(cls) and all(map(integer, index))


def _deletes(cls: type, index: type) -> bool:
    return list_like(cls) and (index is slice or integer(index))


def _searches(cls: type, value: type, *rest: type) -> bool:
    return list_like(cls) and builtin_data(value)


def _first_list(cls: type, *rest: type) -> bool:
    return list_like(cls)


_PRODUCTS = ("__mul__", "__rmul__")
_EXTEND, _IADD = _extend(returns=False), _extend(returns=True)

_STORING = (operator.setitem, list.__setitem__)
_STORE = setitem_frule, setitem_rrule
_APPENDING = (list.append, intrinsics._list_append_)
_APPEND = _append_frule, _append_rrule

ROWS: list[Rule] = [
    *of_elements(
        OF_LIST,
        *_inlined(
            "load", _rows((operator.getitem, list.__getitem__), getitem_frule, getitem_rrule, _indexed)
        ),
    ),
    *_mirrored(
        _with_halves(
            _rows((operator.getitem, list.__getitem__), _getslice_frule, _getslice_rrule, _sliced, list),
            _GETSLICE,
        )
    ),
    *_inlined("store", _rows(_STORING, *_STORE, _indexed, leading=2, halves=STORE)),
    *_rows(_STORING, _setslice_frule, _setslice_rrule, _sliced, leading=2, asks_rest=True),
    *_changing((operator.delitem, list.__delitem__), _delete, _deletes),
    *_inlined("append", _rows(_APPENDING, *_APPEND, _first_list, leading=1, halves=APPEND)),
    *_with_halves(
        _rows((list.extend, intrinsics._list_extend_), *_EXTEND, _list_and_iterable),
        extending(_EXTEND[1], returns=False),
    ),
    *_with_halves(
        _rows((operator.iadd, list.__iadd__, operator.iconcat), *_IADD, _list_and_iterable, class_of_first),
        extending(_IADD[1], returns=True),
    ),
    Overlay(operator.iadd, _added, when=_list_and_numbers),
    *_with_halves(_rows((list.insert,), _insert_frule, _insert_rrule, _inserts, leading=2), INSERT),
    *_with_halves(_rows((list.pop,), _pop_frule, _pop_rrule, _pops), POP),
    *_changing((list.clear,), lambda a: type(a).clear(a), _only_list),
    *_changing((list.reverse,), lambda a: type(a).reverse(a), _only_list),
    *_rows((operator.imul, list.__imul__), _imul_frule, _imul_rrule, _list_times, class_of_first),
    *(
        row
        for function, when in [
            (operator.add, _unless(("__add__", "__radd__"), _two_lists)),
            (list.__add__, _two_lists),
            (operator.concat, _two_lists),
        ]
        for row in _with_halves(
            _mirrored(_rows((function,), _concatenate_frule, _concatenate_rrule, when, list)),
            concatenating(_concatenate_rrule),
        )
    ),
    *_mirrored(_rows((operator.mul,), *_repeat(0), _unless(_PRODUCTS, _list_times), list)),
    *_mirrored(_rows((list.__mul__,), *_repeat(0), _list_times, list)),
    *_mirrored(_rows((operator.mul,), *_repeat(1), _unless(_PRODUCTS, _times_list), list)),
    *_with_halves(
        _mirrored(_rows((list.copy,), _copy_frule, _copy_rrule, _only_list, list)), copying(_copy_rrule)
    ),
    Overlay(list.remove, _remove, when=_first_list),
    ZeroRule(list.index, when=_searches, result=int),
    ZeroRule(list.count, when=_searches, result=int),
]
