"""Sets, which hold inactive elements only.

A set finds its elements by value, so that the derivative of an active number has no place in one:
storing it is refused.  Objects may be members (a set of visited nodes), but when they are taken out
again it must be by a way that knows their shadows, so that is refused instead.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.sequences import check_key, nothing
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Rule, ZeroRule

__all__ = ["ROWS"]

_ELEMENT = "an element of a set"


def _is_set(cls: type) -> bool:
    return cls in (set, frozenset)


def _set_first(cls: type, *rest: type) -> bool:
    return _is_set(cls)


def _sets(*classes: type) -> bool:
    return all(map(_is_set, classes))


def _only_set(*classes: type) -> bool:
    return classes == (set,)


def _check_active(values: Any, derivative: Any) -> None:
    if derivative is not None and type(values) in (list, tuple):
        for x in values:
            check_key(x, 0.0 if type(x) in (float, complex) else None, _ELEMENT)


def _changing(method: Any, many: bool) -> Primitive:
    """The row of a method that changes the set in place: undone by putting all elements back.

    many: whether the arguments are iterables of elements, rather than elements.
    """

    def check(args: Args, derivatives: Args) -> None:
        for x, f in zip(args[1:], derivatives[1:], strict=True):
            if many:
                _check_active(x, f)
            else:
                check_key(x, f, _ELEMENT)

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        check(args, dargs)
        return method(*args), None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        check(args, fargs)
        target = args[0]
        before = target.copy()
        out = method(*args)

        def set_pullback(bout: Any) -> Sequence[Any]:
            if target != before:
                target.clear()
                target.update(before)
            return (None,) * len(args)

        return out, None, set_pullback

    return Primitive(method, frule=frule, rrule=rrule, when=_set_first if not many else _set_and_data)


def _set_and_data(*classes: type) -> bool:
    return classes[0] is set and all(
        c in (set, frozenset, list, tuple, dict, str, bytes, range, type({}.keys())) for c in classes[1:]
    )


def _adding(method: Any) -> Primitive:
    """The row of a method that adds one element: undone by discarding it if it was new."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        check_key(args[1], dargs[1], _ELEMENT)
        return method(*args), None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        target, x = args
        check_key(x, fargs[1], _ELEMENT)
        new = x not in target
        method(target, x)

        def add_pullback(bout: Any) -> Sequence[Any]:
            if new:
                target.discard(x)
            return None, None

        return None, None, add_pullback

    return Primitive(method, frule=frule, rrule=rrule, when=lambda cls, element: cls is set)


def _in_place(function: Any) -> Primitive:
    """The row of ``a |= b`` or its kin, whose result is the set itself, which has no shadow."""
    row = _changing(function, many=True)
    row.when = _sets
    return row


def _making(function: Any, when: Any) -> Primitive:
    """The row of a function that makes a new set out of other iterables."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        for x, d in zip(args, dargs, strict=True):
            _check_active(x, d)
        return function(*args), None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        for x, f in zip(args, fargs, strict=True):
            _check_active(x, f)
        return function(*args), None, nothing(len(args))

    return Primitive(function, frule=frule, rrule=rrule, when=when)


def _pop(target: Any) -> Any:
    out = target.pop()
    if type(out) not in (int, str, bool, float, bytes, tuple, type(None)):
        target.add(out)
        raise UnsupportedError(
            f"a {type(out).__name__} is taken out of a set",
            "a set keeps no derivative of what it holds",
            "keep such objects in a list, or as values of a dict",
        )
    return out


def _pop_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return _pop(args[0]), None


def _pop_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    target = args[0]
    out = _pop(target)

    def pop_pullback(bout: Any) -> Sequence[Any]:
        target.add(out)
        return (None,)

    return out, None, pop_pullback


def _data(*classes: type) -> bool:
    return all(c in (set, frozenset, list, tuple, dict, str, bytes, range, type({}.keys())) for c in classes)


ROWS: list[Rule] = [
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
            set, frozenset, set.union, set.intersection, set.difference, set.symmetric_difference,
            frozenset.union, frozenset.intersection, frozenset.difference,
        )
    ),
    *(
        _making(function, _sets)
        for function in (operator.and_, operator.or_, operator.xor, operator.sub, set.copy)
    ),
    *(
        ZeroRule(method, when=_set_first, result=bool)
        for method in (set.issubset, set.issuperset, set.isdisjoint, set.__contains__)
    ),
    Primitive(set.pop, frule=_pop_frule, rrule=_pop_rrule, when=_only_set),
]  # fmt: skip
