"""Classes derived from `collections.deque`: how they are made, and what the methods that they inherit do.

The methods are C code, which calls none of those that a class has in Python.  So what changes a deque does it
by the methods of `deque` itself here, and what only reads goes on with a plain deque of the elements.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules import collections
from adbc.rules.builtins.iteration import making_iterator
from adbc.rules.builtins.past_methods import PastMethods
from adbc.rules.classes import inherits, integer, overrides
from adbc.rules.sequences import emptied
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule

__all__ = ["ROWS"]


def _derived(cls: type, *rest: type) -> bool:
    return issubclass(cls, deque) and cls is not deque


def _counted(cls: type, *rest: type) -> bool:
    """Whether an instance of a derived class is true if it has elements."""
    return _derived(cls) and not (overrides(cls, "__bool__") or overrides(cls, "__len__"))


def _walked(name: str) -> Any:
    """A `when` that holds for a derived class which has the method `name` of deques."""
    return lambda cls, *rest: not rest and _derived(cls) and inherits(cls, name, deque)


# -- making them ----------------------------------------------------------------------------------------


def new_deque(cls: Any) -> Any:
    """A new instance of `cls`, a class derived from deque, made without its constructor."""
    return deque.__new__(cls)


def _new(cls: Any, /, *args: Any, **named: Any) -> Any:
    return new_deque(cls)


_MAXLEN: Any = vars(deque)["maxlen"]
"""What reads it in C, past methods for attributes that the class of a deque has in Python."""


def room_of(a: Any) -> Any:
    """How many elements deque `a` may have, None if as many as there are."""
    return _MAXLEN.__get__(a)


def make_room(a: Any, maxlen: Any) -> None:
    """Empty deque `a`, and let it have `maxlen` elements at most."""
    deque.__init__(a, (), maxlen)


def _make_room_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    make_room(*args)
    if dargs[0] is not None:
        make_room(dargs[0], args[1])
    return None, None


def _make_room_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, fa = args[0], fargs[0]
    values, before = [*deque.__iter__(a)], room_of(a)
    shadows = [] if fa is None else [*fa]
    _make_room_frule(args, fargs)

    def room_pullback(bout: Any) -> Sequence[Any]:
        deque.__init__(a, values, before)
        if fa is not None:
            deque.__init__(fa, [emptied(x, t) for x, t in zip(values, shadows, strict=True)], before)
        return None, None

    return None, None, room_pullback


def _init(a: Any, iterable: Any = (), maxlen: Any = None) -> None:
    make_room(a, maxlen)
    deque.extend(a, iterable)


# -- what changes them ----------------------------------------------------------------------------------


class _Plain(PastMethods):
    """A deque whose class has methods written in Python, used without them."""

    __slots__ = ()

    base = deque

    def __len__(self) -> int:
        return deque.__len__(self.it)


def item(a: Any, index: Any) -> Any:
    """The element of a deque at `index`, which is not negative."""
    return deque.__getitem__(a, index)


def put_item(a: Any, index: Any, value: Any) -> None:
    """Set the element of a deque at `index`, which is not negative."""
    deque.__setitem__(a, index, value)


def _on_plain(function: Any, row: Primitive) -> Rule:
    """The row of `function`, of any deque, like `row`, of an operator on plain ones."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return row.frule((_Plain(args[0]), *args[1:]), dargs, kwargs)

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        return row.rrule((_Plain(args[0]), *args[1:]), fargs, kwargs)

    return Primitive(function, frule=frule, rrule=rrule, is_fitted=True)


def _subscripts() -> list[Rule]:
    rows = {row.function: row for row in collections.ROWS if isinstance(row, Primitive)}
    return [_on_plain(item, rows[operator.getitem]), _on_plain(put_item, rows[operator.setitem])]


def _place(a: Any, index: Any) -> int:
    """The place that `index` is in deque `a`, which is asked for its length, as C code does, if that is
    negative."""
    if index >= 0:
        return index  # type: ignore[no-any-return]  # an int
    index = index + len(a)
    if index < 0:
        raise IndexError("deque index out of range")
    return index  # type: ignore[no-any-return]


def _getitem(a: Any, index: Any, /) -> Any:
    return item(a, _place(a, index))


def _setitem(a: Any, index: Any, value: Any, /) -> None:
    put_item(a, _place(a, index), value)


def _delitem(a: Any, index: Any, /) -> None:
    index = _place(a, index)
    item(a, index)  # for its error
    _remove_at(a, index)


def _remove_at(a: Any, index: Any) -> None:
    deque.rotate(a, -index)
    deque.popleft(a)
    deque.rotate(a, index)


def _at_index(operation: Any, name: str, body: Any) -> list[Rule]:
    """The rows of a subscript by the `operation` of an instance and the method `name` of deques."""
    by_operator = lambda cls, index, *value: _indexed(cls, index) and not overrides(cls, name)  # noqa: E731
    return [
        Overlay(operation, body, when=by_operator),
        Overlay(getattr(deque, name), body, when=_indexed),
    ]


def _indexed(cls: type, index: type, *value: type) -> bool:
    return _derived(cls) and integer(index)


def _extend(a: Any, iterable: Any, /) -> None:
    for x in list(deque.__iter__(a)) if iterable is a else iterable:
        deque.append(a, x)


def _extendleft(a: Any, iterable: Any, /) -> None:
    for x in list(deque.__iter__(a)) if iterable is a else iterable:
        deque.appendleft(a, x)


def _iadd(a: Any, iterable: Any, /) -> Any:
    _extend(a, iterable)
    return a


def _insert(a: Any, index: Any, value: Any, /) -> None:
    length = deque.__len__(a)
    if length == room_of(a):
        raise IndexError("deque already at its maximum size")
    if index >= length:
        deque.append(a, value)
    elif index <= -length or index == 0:
        deque.appendleft(a, value)
    else:
        deque.rotate(a, -index)
        if index < 0:
            deque.append(a, value)
        else:
            deque.appendleft(a, value)
        deque.rotate(a, index)


def _remove(a: Any, value: Any, /) -> None:
    _remove_at(a, deque.index(plain(a), value))


def _imul(a: Any, times: Any, /) -> Any:
    times, size = operator.index(times), deque.__len__(a)
    if times == 1 or not size:
        return a
    if times <= 0:
        deque.clear(a)
        return a
    values = [item(a, 0)] if size == 1 else list(a)  # these are asked of its class, by C code too
    room = room_of(a)
    if room is not None and times * size > room:
        times = (room + size - 1) // size
    for _ in range(times - 1):
        _extend(a, values)
    return a


# -- what reads them ------------------------------------------------------------------------------------


def plain(a: Any) -> Any:
    """The elements of a deque, as a plain one."""
    return deque(deque.__iter__(a), room_of(a))


def _reading(method: Any) -> Overlay:
    """The row of a `method` that only reads: it does the same with a plain deque."""

    def body(a: Any, /, *args: Any) -> Any:
        return method(plain(a), *args)

    return Overlay(method, body, when=_derived)


def _comparing(name: str, mirrored: str) -> list[Rule]:
    """The rows of a comparison of deques by the operator and the method `name`; `mirrored`: what the right
    operand is asked."""
    compare, method = getattr(operator, name), f"__{name}__"

    def body(a: Any, other: Any, /) -> Any:
        if not issubclass(type(other), deque):
            return NotImplemented
        return compare(plain(a), plain(other))

    def when(left: type, right: type) -> bool:
        if not (issubclass(left, deque) and issubclass(right, deque) and (_derived(left) or _derived(right))):
            return False
        return not (overrides(left, method) or overrides(right, f"__{mirrored}__"))

    return [Overlay(getattr(deque, method), body, when=_derived), Overlay(compare, body, when=when)]


def _like(a: Any) -> Any:
    """A new deque of the class of `a`, made of its elements."""
    room = room_of(a)
    return type(a)(a) if room is None else type(a)(a, room)


def _unequal(name: str) -> Rule:
    """The row of a comparison for equality of a deque of a derived class with what is none."""
    method = f"__{name}__"

    def when(left: type, right: type) -> bool:
        if issubclass(left, deque) == issubclass(right, deque) or not (_derived(left) or _derived(right)):
            return False
        return not (overrides(left, method) or overrides(right, method))

    return ZeroRule(getattr(operator, name), when=when, result=bool)


def _add(a: Any, other: Any, /) -> Any:
    if not issubclass(type(other), deque):
        raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
    out = _like(a)
    _extend(out, other)
    return out


def _mul(a: Any, times: Any, /) -> Any:
    times = operator.index(times)
    out = _like(a)
    deque.__imul__(out, times)
    return out


def _rmul(times: Any, a: Any, /) -> Any:
    return _mul(a, times)


_OPERATING = (
    (operator.iadd, "__iadd__", _iadd),
    (operator.imul, "__imul__", _imul),
)


def _in_place(function: Any, name: str, body: Any) -> Overlay:
    """The row of an operator that changes its first argument, whose class has no method for it in Python."""
    return Overlay(function, body, when=lambda cls, *rest: _derived(cls) and not overrides(cls, name))


def _two(left: type, right: type) -> bool:
    """Whether ``left + right`` joins two deques in C, one of which is of a derived class."""
    if not (issubclass(left, deque) and issubclass(right, deque) and (_derived(left) or _derived(right))):
        return False
    return not any(overrides(cls, name) for cls in (left, right) for name in ("__add__", "__radd__"))


def _multiplied(cls: type, times: type) -> bool:
    return _derived(cls) and integer(times) and not any(overrides(cls, n) for n in ("__mul__", "__rmul__"))


ROWS: list[Rule] = [
    ZeroRule(new_deque),
    ZeroRule(room_of),
    Primitive(make_room, frule=_make_room_frule, rrule=_make_room_rrule),
    Overlay(deque.__new__, _new),
    Overlay(deque.__init__, _init),
    *collections.ends(_derived),
    *_subscripts(),
    making_iterator(deque.__iter__, _derived),
    *(making_iterator(f, _walked("__iter__")) for f in (intrinsics._iter_, iter)),
    making_iterator(reversed, _walked("__reversed__"), backwards=True),
    making_iterator(deque.__reversed__, _derived, backwards=True),
    ZeroRule(deque.__len__, when=_derived, result=int),
    ZeroRule(bool, when=_counted, result=bool),
    Overlay(deque.extend, _extend, when=_derived),
    Overlay(deque.extendleft, _extendleft, when=_derived),
    Overlay(deque.insert, _insert, when=_derived),
    Overlay(deque.remove, _remove, when=_derived),
    *_at_index(operator.getitem, "__getitem__", _getitem),
    *_at_index(operator.setitem, "__setitem__", _setitem),
    *_at_index(operator.delitem, "__delitem__", _delitem),
    Overlay(deque.__iadd__, _iadd, when=_derived),
    Overlay(deque.__imul__, _imul, when=_derived),
    *(_in_place(*row) for row in _OPERATING),
    Overlay(operator.add, _add, when=_two),
    Overlay(operator.mul, _mul, when=_multiplied),
    Overlay(operator.mul, _rmul, when=lambda times, cls: _multiplied(cls, times)),
    *(Overlay(f, _like, when=_derived) for f in (deque.copy, deque.__copy__)),
    Overlay(deque.__add__, _add, when=_derived),
    *(Overlay(f, _mul, when=_derived) for f in (deque.__mul__, deque.__rmul__)),
    *map(_reading, (deque.index, deque.count, deque.__contains__)),
    *_comparing("eq", "eq"),
    *_comparing("ne", "ne"),
    _unequal("eq"),
    _unequal("ne"),
    *_comparing("lt", "gt"),
    *_comparing("gt", "lt"),
    *_comparing("le", "ge"),
    *_comparing("ge", "le"),
]
"""The rows of classes derived from `deque`."""
