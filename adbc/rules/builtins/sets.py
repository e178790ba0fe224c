"""Sets, which have no shadow: that of an element is found again by its address (`tangents.keys`).

A set finds its elements by value, so that the derivative of an active number has no place in one:
storing it is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import NO_FDATA, slot_increment, slot_shadow
from adbc.tangents.keys import keep_key, key_shadow, key_tangent

__all__ = ["ROWS"]

_ELEMENT = "an element of a set"


def _is_set(cls: type) -> bool:
    return cls in (set, frozenset)


def _set_first(cls: type, *rest: type) -> bool:
    return _is_set(cls)


def _any_set(cls: type, *rest: type) -> bool:
    return issubclass(cls, set)


def _sets(*classes: type) -> bool:
    return all(map(_is_set, classes))


def _only_set(*classes: type) -> bool:
    return classes == (set,)


def _keep_all(args: Args, derivatives: Args, part_of: Callable[[Any], Any]) -> list[Sequence[Any] | None]:
    """Take note that what is in `args` goes into a set; `part_of` makes a tangent or shadow of a slot's.

    Gives, for each argument, what comes back to its elements; None if nothing does.
    """
    found: list[Sequence[Any] | None] = []
    for values, f in zip(args, derivatives, strict=True):
        lost = None
        if f is not None and type(values) in (list, tuple):
            parts = [f] * len(values) if f is NO_FDATA else f
            lost = [keep_key(x, part_of(part), _ELEMENT) for x, part in zip(values, parts, strict=True)]
        found.append(None if lost is None or all(b is None for b in lost) else lost)
    return found


def _come_back(shadows: Args, lost: Sequence[Sequence[Any] | None]) -> list[Any]:
    """The rdata of arguments whose elements get `lost` (`_keep_all`): those in lists get it in place."""
    found: list[Any] = []
    for f, parts in zip(shadows, lost, strict=True):
        if parts is not None and type(f) is list:
            f[:] = map(slot_increment, f, parts)
            parts = None
        found.append(None if parts is None else tuple(parts))
    return found


def _changing(method: Any, many: bool) -> Primitive:
    """The row of a method that changes the set in place: undone by putting all elements back.

    many: whether the arguments are iterables of elements, rather than elements.
    """

    def check(args: Args, derivatives: Args, part_of: Callable[[Any], Any]) -> Sequence[Any]:
        if many:
            return _keep_all(args[1:], derivatives[1:], part_of)
        return [keep_key(x, f, _ELEMENT) for x, f in zip(args[1:], derivatives[1:], strict=True)]

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        check(args, dargs, symbolic)
        return method(*args), None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        lost = check(args, fargs, slot_shadow)
        target = args[0]
        before = set(target)  # by the hashes that are there, and without methods of a derived class
        out = method(*args)

        def set_pullback(bout: Any) -> Sequence[Any]:
            if set.__ne__(target, before):
                set.clear(target)
                set.update(target, before)
            return None, *(_come_back(fargs[1:], lost) if many else lost)

        return out, None, set_pullback

    return Primitive(method, frule=frule, rrule=rrule, when=_any_set if not many else _set_and_data)


def _set_and_data(cls: type, *others: type) -> bool:
    return issubclass(cls, set) and all(
        c in (set, frozenset, list, tuple, dict, str, bytes, range, type({}.keys())) for c in others
    )


def _adding(method: Any) -> Primitive:
    """The row of a method that adds one element: undone by discarding it if it was new."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        keep_key(args[1], dargs[1], _ELEMENT)
        return method(*args), None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        target, x = args
        lost = keep_key(x, fargs[1], _ELEMENT)
        new = not set.__contains__(target, x)
        method(target, x)

        def add_pullback(bout: Any) -> Sequence[Any]:
            if new:
                set.discard(target, x)
            return None, lost

        return None, None, add_pullback

    return Primitive(method, frule=frule, rrule=rrule, when=lambda cls, element: issubclass(cls, set))


def _in_place(function: Any) -> Primitive:
    """The row of ``a |= b`` or its kin, whose result is the set itself, which has no shadow."""
    row = _changing(function, many=True)
    row.when = _sets
    return row


def _making(function: Any, when: Any) -> Primitive:
    """The row of a function that makes a new set out of other iterables."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        _keep_all(args, dargs, symbolic)
        return function(*args), None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        lost = _keep_all(args, fargs, slot_shadow)
        return function(*args), None, lambda bout: _come_back(fargs, lost)

    return Primitive(function, frule=frule, rrule=rrule, when=when)


def _pop_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = args[0].pop()
    return out, symbolic(key_tangent(out))


def _pop_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    target = args[0]
    out = target.pop()

    def pop_pullback(bout: Any) -> Sequence[Any]:
        target.add(out)
        return (None,)

    return out, key_shadow(out), pop_pullback


def _data(*classes: type) -> bool:
    return all(c in (set, frozenset, list, tuple, dict, str, bytes, range, type({}.keys())) for c in classes)


def _collected(method: Any) -> Overlay:
    """The row of a method of sets for iterables of which code in Python may give the elements."""

    def of_any(target: Any, /, *others: Any) -> Any:
        given = []
        for x in others:
            given.append(plain_set(x) if isinstance(x, (set, frozenset)) else list(iter(x)))  # noqa: PERF401
        return method(target, *given)

    return Overlay(method, of_any, when=lambda cls, *rest: _is_set(cls) and not _data(*rest))


_COMBINING = ("union", "intersection", "difference", "symmetric_difference")


def _reduced(s: Any) -> Any:
    return type(s), (list(s),), None


def _derived_reduced(s: Any) -> Any:
    return type(s), (list(s),), s.__getstate__()


def _derived(cls: type, *rest: type) -> bool:
    return issubclass(cls, (set, frozenset)) and not _is_set(cls)


def new_set(cls: Any) -> Any:
    """A new instance of a class derived from set, made without its constructor."""
    return set.__new__(cls)


def _new(cls: Any, /, *args: Any, **named: Any) -> Any:
    return new_set(cls)


def _init(s: Any, iterable: Any = (), /) -> None:
    set.clear(s)
    set.update(s, iterable)


def plain_set(s: Any) -> Any:
    """What is in `s`, of a class derived from set or frozenset, for which C code asks none of its methods."""
    return set(s)


def _of_derived(cls: Any) -> Overlay:
    """The row of ``set(s)`` and ``frozenset(s)`` of an `s` of a class derived from either."""

    def of_derived(s: Any, /) -> Any:
        return cls(plain_set(s))

    return Overlay(cls, of_derived, when=lambda first, *rest: not rest and _derived(first), result=cls)


def _update(s: Any, /, *others: Any) -> None:
    for iterable in others:
        if isinstance(iterable, (set, frozenset)):
            set.update(s, plain_set(iterable))
        elif isinstance(iterable, (list, tuple)):
            set.update(s, [*iterable])
        else:
            for x in iterable:
                set.add(s, x)


ROWS: list[Rule] = [
    *(Overlay(cls.__reduce__, _reduced, when=_set_first) for cls in (set, frozenset)),
    *(Overlay(cls.__reduce__, _derived_reduced, when=_derived) for cls in (set, frozenset)),
    ZeroRule(new_set),
    ZeroRule(plain_set, result=set),
    *map(_of_derived, (set, frozenset)),
    Overlay(set.__new__, _new),
    Overlay(set.__init__, _init),
    Overlay(set.update, _update, when=lambda cls, *rest: _derived(cls) and not _data(*rest)),
    _adding(set.add),
    _adding(intrinsics._set_add_),
    _changing(set.discard, many=False),
    _changing(set.remove, many=False),
    _changing(set.clear, many=False),
    *(
        _changing(method, many=True)
        for method in (
            set.update, set.difference_update, set.intersection_update, set.symmetric_difference_update,
            intrinsics._set_update_,
        )
    ),
    *(_in_place(getattr(operator, name)) for name in ("iand", "ior", "ixor", "isub")),
    *(
        _making(function, _data)
        for function in (
            set, frozenset, *(getattr(cls, name) for cls in (set, frozenset) for name in _COMBINING),
        )
    ),
    *(
        _making(function, _sets)
        for function in (operator.and_, operator.or_, operator.xor, operator.sub, set.copy)
    ),
    *(
        ZeroRule(getattr(cls, name), when=_set_first, result=bool)
        for cls in (set, frozenset)
        for name in ("issubset", "issuperset", "isdisjoint", "__contains__")
    ),
    *(
        _collected(getattr(cls, name))
        for cls, names in (
            (set, ("difference_update", "intersection_update", "symmetric_difference_update")),
            *((cls, (*_COMBINING, "issubset", "issuperset", "isdisjoint")) for cls in (set, frozenset)),
        )
        for name in names
    ),
    Primitive(set.pop, frule=_pop_frule, rrule=_pop_rrule, when=_only_set),
]  # fmt: skip
