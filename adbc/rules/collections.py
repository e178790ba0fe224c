"""`collections.deque`: a queue costs one element to undo at either end."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.builtins.iteration import NEXT, making_iterator, next_frule, next_rrule
from adbc.rules.builtins.lists import getitem_frule, getitem_rrule, setitem_frule, setitem_rrule
from adbc.rules.classes import integer
from adbc.rules.deque_halves import APPEND, APPENDLEFT, POP, POPLEFT
from adbc.rules.sequences import check_constant, count_of, emptied, nothing, symbolic
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import fill_tangent, slot_increment, slot_rdata, slot_shadow, slot_tangent

__all__ = ["ROWS", "ends"]


_MAXLEN: Any = vars(deque)["maxlen"]
"""What reads it in C, past methods for attributes that the class of a deque has in Python."""


def _deque_first(cls: type, *rest: type) -> bool:
    return cls is deque


def _indexed(cls: type, index: type, *value: type) -> bool:
    return cls is deque and integer(index)


def _push(
    push: Callable[..., None],
    take_back: Callable[..., Any],
    refill: Callable[..., None],
    lost: int,
    halves: Sequence[Halves],
    when: Any,
) -> Primitive:
    """The row of adding at one end of a deque, which, if full, loses the element at index `lost`."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        a, v = args
        da, dv = dargs
        check_constant(a, da, dv)
        if da is not None:
            push(da, fill_tangent(v, dv))
        push(a, v)
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        a, v = args
        fa, fv = fargs
        check_constant(a, fa, fv)
        room = _MAXLEN.__get__(a)
        if room == 0:
            return None, None, nothing(2)
        size = deque.__len__(a)
        full = size == room
        # An index from the end would ask the class of the deque for a length.
        dropped = deque.__getitem__(a, lost % size) if full else None
        before = fa[lost] if full and fa is not None else None
        push(a, v)
        if fa is not None:
            push(fa, slot_tangent(v, fv))

        def push_pullback(bout: Any) -> Sequence[Any]:
            take_back(a)
            if full:
                refill(a, dropped)
            if fa is None:
                return None, None
            bv = slot_rdata(take_back(fa))
            if full:
                refill(fa, emptied(dropped, before))
            return None, None if fv is None else bv

        return None, None, push_pullback

    options: Any = {"when": when, "result": type(None), "leading": 1}
    return Primitive(push, frule=frule, rrule=rrule, is_fitted=True, halves=halves, **options)


def _take(
    take: Callable[..., Any], put_back: Callable[..., None], halves: Sequence[Halves], when: Any
) -> Primitive:
    """The row of removing an element of a deque at one end."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out = take(args[0])
        return out, None if dargs[0] is None else symbolic(take(dargs[0]))

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        a, fa = args[0], fargs[0]
        out = take(a)
        before = None if fa is None else take(fa)

        def take_pullback(bout: Any) -> Sequence[Any]:
            put_back(a, out)
            if fa is not None:
                t = emptied(out, before)
                put_back(fa, t if bout is None else slot_increment(t, bout))
            return (None,)

        return out, None if fa is None else slot_shadow(before), take_pullback

    return Primitive(take, frule=frule, rrule=rrule, is_fitted=True, halves=halves, when=when)


def _in_step(change: Callable[..., None]) -> Callable[..., tuple[Any, Any]]:
    """The frule of a change of a deque that is made to its tangent in the same way."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        change(*args)
        if dargs[0] is not None:
            change(dargs[0], *args[1:])
        return None, None

    return frule


def _permuting(change: Callable[..., None], undo: Callable[..., None], when: Any) -> Primitive:
    """The row of a change of the order of a deque, by a number maybe, which is undone by its inverse."""
    in_step = _in_step(change)

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return in_step((args[0], *map(operator.index, args[1:])), dargs)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        args = args[0], *map(operator.index, args[1:])  # an object that stands for a number is asked once
        in_step(args, fargs)

        def permuting_pullback(bout: Any) -> Sequence[Any]:
            undo(*args)
            if fargs[0] is not None:
                undo(fargs[0], *args[1:])
            return (None,) * len(args)

        return None, None, permuting_pullback

    return Primitive(change, frule=frule, rrule=rrule, when=when)


def _rotate_back(a: Any, count: int = 1) -> None:
    deque.rotate(a, -count)


_clear_frule = _in_step(deque.clear)


def _clear_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, fa = args[0], fargs[0]
    values = [*deque.__iter__(a)]
    shadows = [] if fa is None else [*fa]
    _clear_frule(args, fargs)

    def clear_pullback(bout: Any) -> Sequence[Any]:
        deque.extend(a, values)
        if fa is not None:
            fa.extend([emptied(x, t) for x, t in zip(values, shadows, strict=True)])
        return (None,)

    return None, None, clear_pullback


def ends(when: Any, halves: bool = False) -> list[Rule]:
    """The rows of what adds and removes elements of a deque, and turns it round, without other methods of its
    class; `halves`: in two halves too, which ask the class."""
    of_ends = (APPEND, APPENDLEFT, POP, POPLEFT) if halves else ((),) * 4
    return [
        _push(deque.append, deque.pop, deque.appendleft, 0, of_ends[0], when),
        _push(deque.appendleft, deque.popleft, deque.append, -1, of_ends[1], when),
        _take(deque.pop, deque.append, of_ends[2], when),
        _take(deque.popleft, deque.appendleft, of_ends[3], when),
        _permuting(deque.rotate, _rotate_back, when),
        _permuting(deque.reverse, deque.reverse, when),
        Primitive(deque.clear, frule=_clear_frule, rrule=_clear_rrule, when=when),
    ]


def empty_deque(maxlen: Any) -> Any:
    """A new deque without elements."""
    return deque(maxlen=maxlen)


def _empty_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return deque(maxlen=args[0]), deque(maxlen=args[0])


def _empty_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    return deque(maxlen=args[0]), deque(maxlen=args[0]), nothing(1)


def _deque(iterable: Any = (), maxlen: Any = None) -> Any:
    out = empty_deque(maxlen)
    if type(iterable) is tuple and not iterable:
        return out
    for x in iterable:
        out.append(x)
    return out


def _extend(a: Any, iterable: Any, /) -> None:
    for x in list(iterable) if iterable is a else iterable:
        a.append(x)


def _extendleft(a: Any, iterable: Any, /) -> None:
    for x in list(iterable) if iterable is a else iterable:
        a.appendleft(x)


def _copy(a: Any, /) -> Any:
    return deque(a, a.maxlen)


def _insert(a: Any, index: Any, value: Any, /) -> None:
    length = len(a)
    if length == a.maxlen:
        raise IndexError("deque already at its maximum size")
    if index >= length:
        a.append(value)
    elif index <= -length or index == 0:
        a.appendleft(value)
    else:
        a.rotate(-index)
        if index < 0:
            a.append(value)
        else:
            a.appendleft(value)
        a.rotate(index)


def refuse_missing(method: Any, value: Any) -> None:
    """Raise what `deque.remove` or `deque.index` raises for a value that is not there."""
    method(deque(), value)


def _place(a: Any, value: Any, start: Any, stop: Any) -> int:
    index = 0
    for x in a:
        if index >= stop:
            break
        if index >= start and (x is value or x == value):
            return index
        index += 1  # noqa: SIM113  # what is differentiated had better be simple
    return -1


def _bound(index: int, length: int) -> int:
    return max(index + length, 0) if index < 0 else index


def _index(a: Any, value: Any, start: Any = 0, stop: Any = None, /) -> int:
    length = len(a)
    found = _place(a, value, _bound(start, length), length if stop is None else _bound(stop, length))
    if found < 0:
        refuse_missing(deque.index, value)
    return found


def _delitem(a: Any, index: Any, /) -> None:
    a[index]  # for its error
    a.rotate(-index)
    a.popleft()
    a.rotate(index)


def _remove(a: Any, value: Any, /) -> None:
    found = _place(a, value, 0, len(a))
    if found < 0:
        refuse_missing(deque.remove, value)
    _delitem(a, found)


def _iadd(a: Any, iterable: Any, /) -> Any:
    a.extend(iterable)
    return a


def _add(a: Any, b: Any, /) -> Any:
    out = deque(a, a.maxlen)
    out.extend(b)
    return out


def _imul(a: Any, times: Any, /) -> Any:
    if times <= 0:
        a.clear()
    else:
        values = list(a)
        for _ in range(times - 1):
            a.extend(values)
    return a


def _mul(a: Any, times: Any, /) -> Any:
    return _imul(deque(a, a.maxlen), times)


def _rmul(times: Any, a: Any, /) -> Any:
    return _imul(deque(a, a.maxlen), times)


def _two(*classes: type) -> bool:
    return classes == (deque, deque)


def _with_integer(cls: type, other: type) -> bool:
    return cls is deque and integer(other)


def _integer_with(other: type, cls: type) -> bool:
    return cls is deque and integer(other)


_ITERATOR: type = type(iter(deque()))
_REVERSED: type = type(reversed(deque()))

ROWS: list[Rule] = [
    Primitive(operator.getitem, frule=getitem_frule, rrule=getitem_rrule, is_fitted=True, when=_indexed),
    Primitive(operator.setitem, frule=setitem_frule, rrule=setitem_rrule, is_fitted=True, when=_indexed),
    *ends(_deque_first, halves=True),
    Primitive(empty_deque, frule=_empty_frule, rrule=_empty_rrule, result=deque),
    Overlay(deque, _deque, result=deque),
    Overlay(deque.extend, _extend, when=_deque_first),
    Overlay(deque.extendleft, _extendleft, when=_deque_first),
    *(Overlay(f, _copy, when=_deque_first, result=deque) for f in (deque.copy, deque.__copy__)),
    ZeroRule(refuse_missing),
    Overlay(deque.insert, _insert, when=_deque_first),
    Overlay(deque.remove, _remove, when=_deque_first),
    Overlay(deque.index, _index, when=_deque_first, result=int),
    Overlay(deque.count, count_of, when=_deque_first, result=int),
    *(Overlay(f, _delitem, when=_indexed) for f in (operator.delitem, deque.__delitem__)),
    *(Overlay(f, _iadd, when=_deque_first) for f in (operator.iadd, deque.__iadd__)),
    *(Overlay(f, _add, when=_two, result=deque) for f in (operator.add, deque.__add__)),
    *(Overlay(f, _mul, when=_with_integer, result=deque) for f in (operator.mul, deque.__mul__)),
    Overlay(operator.mul, _rmul, when=_integer_with, result=deque),
    *(Overlay(f, _imul, when=_with_integer) for f in (operator.imul, deque.__imul__)),
    *(ZeroRule(getattr(operator, n), when=_two, result=bool) for n in ("eq", "ne", "lt", "le", "gt", "ge")),
    ZeroRule(bool, when=_deque_first, result=bool),
    ZeroRule(operator.contains, when=_deque_first, result=bool),
    *(
        making_iterator(
            f,
            when=lambda cls, *rest: not rest and cls in (deque, _ITERATOR, _REVERSED),
            result=lambda cls: _ITERATOR if cls is deque else cls,
        )
        for f in (intrinsics._iter_, iter)
    ),
    making_iterator(reversed, when=_deque_first, backwards=True, result=_REVERSED),
    Primitive(
        intrinsics._next_,
        frule=next_frule,
        rrule=next_rrule,
        is_fitted=True,
        halves=NEXT,
        when=lambda cls: cls in (_ITERATOR, _REVERSED),
    ),
]
